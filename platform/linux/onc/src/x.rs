//! A service as an `.x` file, from which `rpcgen` makes clients and servers in C.

use std::fmt::Write;

use drystone_component::form::{Form, Kind};
use drystone_component::{Member, Parameter, members};

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
        let name = format!("{}_{kind}", name(service, message));
        Types { out, service, used }.print_members(&name, parameters, 0);
    }
}

/// Prints the types of values, each behind those that it consists of.
struct Types<'a> {
    out: &'a mut String,
    service: &'a Service,
    used: &'a mut Vec<String>,
}

impl Types<'_> {
    /// A structure of a message's values, or of those of a record in it.
    fn print_members(&mut self, name: &str, parameters: &[Parameter], within: usize) {
        let fields = members(parameters, within).map(|member| match member {
            Member::Value(field, parameter) => self.declaration(name, field, Form::of(parameter)),
            Member::Record(field, values) => {
                let ty = self.unused(format!("{name}_{field}"));
                self.print_members(&ty, values, within + field.len() + 1);
                declared(&ty, field, "")
            }
        });
        let fields: Vec<String> = fields.collect();
        self.print_fields(name, &fields);
    }

    fn print_fields(&mut self, name: &str, fields: &[String]) {
        let _ = writeln!(self.out, "\nstruct {name} {{");
        fields.iter().for_each(|field| self.out.push_str(&format!("    {field};\n")));
        self.out.push_str("};\n");
    }

    /// The name, or a longer one if it stands for something else: that of the record q in p is that of a record p_q,
    /// too.
    fn unused(&mut self, mut name: String) -> String {
        while self.used.contains(&name) {
            name.push('_');
        }
        self.used.push(name.clone());
        name
    }

    /// The declaration of a field. The names of new types begin with that of the structure.
    fn declaration(&mut self, within: &str, name: &str, form: Form<'_>) -> String {
        match form.kind() {
            Kind::Text => declared(self.text(), name, "<>"),
            Kind::Sequence(element) => {
                let ty = self.element(&format!("{within}_{name}"), element);
                declared(&ty, name, "<>")
            }
            Kind::Record(_) => declared(&self.element(&format!("{within}_{name}"), form), name, ""),
            _ => declared(&self.element(within, form), name, ""),
        }
    }

    /// The name of a type of one value. Where the language has none for it, it gets this one.
    fn element(&mut self, name: &str, form: Form<'_>) -> String {
        match form.kind() {
            Kind::Boolean => "bool".into(),
            Kind::Character => "unsigned int".into(),
            Kind::Integer if self.service.integers == Integers::Int => "int".into(),
            Kind::Integer => "hyper".into(),
            Kind::Real => "double".into(),
            Kind::Text => {
                let new = self.unused(format!("{name}_element"));
                let _ = writeln!(self.out, "\ntypedef {} {new}<>;", self.text());
                new
            }
            Kind::Sequence(element) => {
                let new = self.unused(format!("{name}_element"));
                let element = self.element(&new, element);
                let _ = writeln!(self.out, "\ntypedef {element} {new}<>;");
                new
            }
            Kind::Record(fields) => {
                let new = self.unused(name.into());
                let mut fields: Vec<String> =
                    fields.map(|(field, form)| self.declaration(&new, field, form)).collect();
                if fields.is_empty() {
                    fields.push("int nothing".into());
                }
                self.print_fields(&new, &fields);
                new
            }
        }
    }

    fn text(&self) -> &'static str {
        match self.service.texts {
            Texts::String => "string",
            Texts::Opaque => "opaque",
        }
    }
}

fn declared(ty: &str, name: &str, length: &str) -> String {
    format!("{ty} {}{length}", field_name(name))
}

fn field_name(name: &str) -> String {
    if TAKEN.contains(&name) { format!("{name}_") } else { name.into() }
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
