//! Writes [`crate::ir`] as LLVM IR text that clang 16 to 19 read.
//!
//! Comments become lines that begin with `;`. Source places are not printed. A function whose body can't be read is
//! printed as a declaration, with the reason before it.

mod body;
mod constants;
mod names;
mod text;

pub(crate) use names::Names;

use crate::ir::{Const, Function, FunctionId, Global, Module};
use constants::Typed;
use names::Spelling;
use std::collections::HashSet;
use text::{attributes, comment, effects, put, spelled};

/// Writes a module as LLVM IR text.
pub fn print(module: &Module) -> String {
    let mut text = String::from("target triple = \"x86_64-pc-linux-gnu\"\n\n");
    let aliases: HashSet<&str> = module.aliases.iter().map(|alias| &*alias.name).collect();
    for global in module.globals.iter().filter(|global| !aliases.contains(&*global.name)) {
        variable(&mut text, module, global);
    }
    for alias in &module.aliases {
        let weak = weakness(module, &alias.name);
        if is_defined(module, &alias.target) {
            let target = Typed(module, &alias.target);
            put(&mut text, format_args!("@{} = {weak}alias i8, {target}\n", Spelling(&alias.name)));
        } else {
            put(
                &mut text,
                format_args!("; @{} names something that is not defined here\n", Spelling(&alias.name)),
            );
        }
    }
    for (id, code) in module.functions.iter().enumerate() {
        if !aliases.contains(&*code.name) {
            function(&mut text, module, FunctionId(id as u32));
        }
    }
    text
}

/// The linkage of a definition that other modules may override.
fn weakness(module: &Module, name: &str) -> &'static str {
    match (module.weak.contains(name), module.replaceable.contains(name)) {
        (false, _) => "",
        (true, true) => "weak ",
        (true, false) => "weak_odr ",
    }
}

fn is_defined(module: &Module, target: &Const) -> bool {
    match target {
        Const::Function(id) => matches!(module.body(*id), Ok(Some(_))),
        Const::Global(id, _) => module.globals[id.0 as usize].initial.is_some(),
        _ => true,
    }
}

fn variable(text: &mut String, module: &Module, global: &Global) {
    let weak = weakness(module, &global.name);
    let linkage = match &global.initial {
        None if !weak.is_empty() => "extern_weak ",
        None => "external ",
        // The linker joins these lists.
        Some(_) if global.name.starts_with("llvm.") => "appending ",
        Some(_) if global.internal => "internal ",
        Some(_) => weak,
    };
    let thread = if global.thread_local { "thread_local " } else { "" };
    let kind = if global.constant { "constant" } else { "global" };
    put(text, format_args!("@{} = {linkage}{thread}{kind} ", Spelling(&global.name)));
    match &global.initial {
        Some(initial) => put(text, format_args!("{}", Typed(module, initial))),
        None => put(text, format_args!("{}", global.ty)),
    }
    if global.name.starts_with("llvm.") && global.name.ends_with("used") {
        text.push_str(", section \"llvm.metadata\"");
    }
    put(text, format_args!(", align {}\n", global.align));
}

fn function(text: &mut String, module: &Module, id: FunctionId) {
    let function = &module.functions[id.0 as usize];
    text.push('\n');
    comment(text, &function.comment);
    let body = module.body(id).unwrap_or_else(|unsupported| {
        comment(text, &unsupported.to_string());
        None
    });
    let weak = weakness(module, &function.name);
    let Some(body) = body else {
        put(text, format_args!("declare {}", if weak.is_empty() { "" } else { "extern_weak " }));
        signature(text, function, |_, _| {});
        text.push('\n');
        return;
    };
    let linkage = if function.internal { "internal " } else { weak };
    put(text, format_args!("define {linkage}"));
    let names = names::Names::of(function, &body);
    signature(text, function, |text, position| put(text, format_args!(" {}", names.values[position])));
    text.push_str(" {\n");
    body::print(text, module, &body, &names);
    text.push_str("}\n");
}

fn signature(text: &mut String, function: &Function, name: impl Fn(&mut String, usize)) {
    let extension = function.result_extension.map_or("", spelled);
    put(text, format_args!("{extension}{} @{}(", function.result, Spelling(&function.name)));
    for (position, param) in function.params.iter().enumerate() {
        put(text, format_args!("{}{}", if position > 0 { ", " } else { "" }, param.ty));
        attributes(text, &param.attributes);
        name(text, position);
    }
    match (function.variadic, function.params.is_empty()) {
        (true, true) => text.push_str("...)"),
        (true, false) => text.push_str(", ...)"),
        (false, _) => text.push(')'),
    }
    if function.noreturn {
        text.push_str(" noreturn");
    }
    effects(text, function.memory);
}
