//! A service as an `.x` file, from which `rpcgen` makes clients and servers in C.

use std::fmt::Write;

use drystone_component::{Member, Parameter, Type, members};

use super::options::Texts;
use super::service::Service;
use drystone_net::xdr::Integers;

/// Keywords of C and of `rpcgen`'s language, which can't be names.
const TAKEN: &[&str] = &[
    "auto",
    "bool",
    "break",
    "case",
    "char",
    "const",
    "continue",
    "default",
    "do",
    "double",
    "else",
    "enum",
    "extern",
    "float",
    "for",
    "goto",
    "hyper",
    "if",
    "inline",
    "int",
    "long",
    "opaque",
    "program",
    "quadruple",
    "register",
    "restrict",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "string",
    "struct",
    "switch",
    "typedef",
    "union",
    "unsigned",
    "version",
    "void",
    "volatile",
    "while",
];

/// The `.x` file.
pub fn print(service: &Service) -> String {
    let interface = service.interface.name.get();
    let mut out = format!("/* {interface}, as `drystone describe` writes it. */\n");
    let mut answers: Vec<usize> = Vec::new();
    let mut used = names(service);
    for call in &service.calls.calls {
        print_struct(&mut out, service, &mut used, call.message, "call");
        answers.extend(&call.answers);
    }
    answers.sort_unstable();
    answers.dedup();
    answers.into_iter().for_each(|answer| print_struct(&mut out, service, &mut used, answer, "answer"));
    for call in service.calls.calls.iter().filter(|call| call.answers.len() > 1) {
        print_union(&mut out, service, call.message, &call.answers);
    }
    print_program(&mut out, service);
    out
}

fn name(service: &Service, message: usize) -> String {
    let message = &service.interface.messages.get()[message];
    format!("{}_{}", service.interface.name.get(), message.name.get())
}

/// All names but those of records.
fn names(service: &Service) -> Vec<String> {
    let of_message = |message| {
        let name = name(service, message);
        ["", "_call", "_answer", "_result"].map(|kind| format!("{name}{kind}"))
    };
    (0..service.interface.messages.get().len()).flat_map(of_message).collect()
}

/// The type of a message's parameters; `void` if it has none.
fn type_name(service: &Service, message: usize, kind: &str) -> String {
    match service.parameters(message) {
        [] => "void".into(),
        _ => format!("{}_{kind}", name(service, message)),
    }
}

fn print_struct(out: &mut String, service: &Service, used: &mut Vec<String>, message: usize, kind: &str) {
    let parameters = service.parameters(message);
    if !parameters.is_empty() {
        print_members(out, service, used, &format!("{}_{kind}", name(service, message)), parameters, 0);
    }
}

/// A structure of a message's values, or of those of a record in it, behind those of the records in it.
fn print_members(
    out: &mut String,
    service: &Service,
    used: &mut Vec<String>,
    name: &str,
    parameters: &[Parameter],
    within: usize,
) {
    let mut fields = String::new();
    for member in members(parameters, within) {
        match member {
            Member::Value(field, parameter) => print_field(&mut fields, service, field, parameter),
            Member::Record(field, values) => {
                let ty = unused(used, format!("{name}_{field}"));
                print_members(out, service, used, &ty, values, within + field.len() + 1);
                let _ = writeln!(fields, "    {ty} {};", field_name(field));
            }
        }
    }
    let _ = writeln!(out, "\nstruct {name} {{\n{fields}}};");
}

/// The name, or a longer one if it stands for something else: that of the record q in p is that of a record p_q, too.
fn unused(used: &mut Vec<String>, mut name: String) -> String {
    while used.contains(&name) {
        name.push('_');
    }
    used.push(name.clone());
    name
}

fn field_name(name: &str) -> String {
    if TAKEN.contains(&name) { format!("{name}_") } else { name.into() }
}

fn print_field(out: &mut String, service: &Service, name: &str, parameter: &Parameter) {
    let name = field_name(name);
    let _ = match (parameter.ty, service.integers) {
        (Type::Boolean, _) => writeln!(out, "    bool {name};"),
        (Type::Character, _) => writeln!(out, "    unsigned int {name};"),
        (Type::Integer, Integers::Int) => writeln!(out, "    int {name};"),
        (Type::Integer, Integers::Hyper) => writeln!(out, "    hyper {name};"),
        (Type::Real, _) => writeln!(out, "    double {name};"),
        (Type::Text, _) if service.texts == Texts::String => writeln!(out, "    string {name}<>;"),
        (Type::Text, _) => writeln!(out, "    opaque {name}<>;"),
        (Type::Component | Type::Sequence, _) => unreachable!("a service carries data only"),
    };
}

fn print_union(out: &mut String, service: &Service, message: usize, answers: &[usize]) {
    let _ = writeln!(out, "\nunion {}_result switch (int answer) {{", name(service, message));
    for (place, &answer) in answers.iter().enumerate() {
        let ty = type_name(service, answer, "answer");
        let field = field_name(service.interface.messages.get()[answer].name.get());
        let field = if ty == "void" { String::new() } else { format!(" {field}") };
        let _ = writeln!(out, "case {place}:\n    {ty}{field};");
    }
    out.push_str("};\n");
}

fn print_program(out: &mut String, service: &Service) {
    let interface = service.interface.name.get();
    let _ = writeln!(out, "\nprogram {interface}_rpc_program {{\n    version {interface}_rpc_version {{");
    for (call, procedure) in service.calls.calls.iter().zip(&service.procedures) {
        let result = match call.answers.as_slice() {
            [] => "void".into(),
            [answer] => type_name(service, *answer, "answer"),
            _ => format!("{}_result", name(service, call.message)),
        };
        let argument = type_name(service, call.message, "call");
        let name = procedure_name(service, call.message);
        let _ = writeln!(out, "        {result} {name}({argument}) = {procedure};");
    }
    let _ = writeln!(out, "    }} = {};\n}} = {:#x};", service.version, service.program);
}

/// `rpcgen` makes C functions whose names are in lower case: names that differ only in case get numbers.
fn procedure_name(service: &Service, message: usize) -> String {
    let ours = name(service, message);
    let earlier = service.calls.calls.iter().map(|call| call.message).take_while(|&other| other != message);
    match earlier.filter(|&other| name(service, other).eq_ignore_ascii_case(&ours)).count() {
        0 => ours,
        same => format!("{ours}_{}", same + 1),
    }
}
