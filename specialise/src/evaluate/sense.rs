//! Whether a context makes sense: what it names must be there, and what it says must be possible.

use super::Error;
use crate::context::{Argument, Content, Context};
use crate::ir::{Code, Module, Param, Type};

/// Says what is wrong with a context, if something is.
pub(super) fn check(module: &Module, context: &Context, params: &[Param]) -> Result<(), Error> {
    check_result(module, context)?;
    for (name, said) in &context.argument {
        let known = params
            .iter()
            .enumerate()
            .find(|(at, p)| p.name.as_deref() == Some(name) || at.to_string() == *name);
        let Some((_, param)) = known else {
            let names: Vec<_> = params.iter().map(|param| param.name.as_deref().unwrap_or("?")).collect();
            let names = names.join(", ");
            return Err(Error(format!("{} has no parameter {name}; it has: {names}", context.entry)));
        };
        check_argument(name, said, &param.ty)?;
        for content in &said.contents {
            check_content(module, name, said, content)?;
        }
    }
    if let Some(name) = context.global.keys().find(|name| module.global(name).is_none()) {
        return Err(Error(format!(
            "there is no global variable {name} in the program; if it is in the source, the compiler has removed it"
        )));
    }
    match context.keep.iter().find(|name| module.function(name).is_none()) {
        Some(name) => {
            Err(Error(format!("there is no function {name} in the program, which the context keeps")))
        }
        None => Ok(()),
    }
}

/// The residual function has a name that C can write and that is free.
fn check_result(module: &Module, context: &Context) -> Result<(), Error> {
    let name = context.residual_name();
    let fits = |(at, c): (usize, char)| c == '_' || c.is_ascii_alphabetic() || at > 0 && c.is_ascii_digit();
    if name.is_empty() || !name.chars().enumerate().all(fits) {
        return Err(Error(format!("the residual function can't be called `{name}`, which is no name in C")));
    }
    let function = module.function(&name).map(|id| &module.functions[id.0 as usize]);
    let defined = function.is_some_and(|function| !matches!(function.code, Code::Declared));
    if defined || module.global(&name).is_some() {
        return Err(Error(format!(
            "the residual function can't be called {name}: the program has one already"
        )));
    }
    if context.keep.contains(&context.entry) {
        return Err(Error(format!("the context keeps {name}, the entry itself", name = context.entry)));
    }
    Ok(())
}

fn check_argument(name: &str, said: &Argument, ty: &Type) -> Result<(), Error> {
    let pointer = said.symbol.is_some() || said.size.is_some() || said.align.is_some() || said.unaliased;
    let wrong = match (ty, said.value) {
        (Type::Int(bits), Some(value)) if !fits(value, *bits) => {
            format!("{value} does not fit into its {bits} bits")
        }
        (Type::Ptr, Some(value)) if value != 0 => "a pointer has no number but 0, the null pointer".into(),
        (Type::Ptr, _) if said.align.is_some_and(|align| !align.is_power_of_two()) => {
            "its alignment is no power of two".into()
        }
        (Type::Ptr, Some(_)) if pointer => "it can't be the null pointer and point to something".into(),
        (Type::Int(_), _) if pointer || !said.contents.is_empty() => "it is no pointer".into(),
        _ => return Ok(()),
    };
    Err(Error(format!("the context says of {name} what can't be: {wrong}")))
}

fn check_content(module: &Module, name: &str, said: &Argument, content: &Content) -> Result<(), Error> {
    let symbol = content.symbol.iter().find(|s| module.function(s).is_none() && module.global(s).is_none());
    if let Some(symbol) = symbol {
        return Err(Error(format!("what {name} points to: there is no {symbol} in the program")));
    }
    let at = content.at;
    let bits = ["i8", "i16", "i32", "i64"].iter().position(|kind| *kind == content.kind).map(|at| 8 << at);
    let size = match (bits, content.value) {
        (Some(bits), Some(value)) if !fits(value, bits) => {
            return Err(Error(format!(
                "what {name} points to, at {at}: {value} does not fit into {bits} bits"
            )));
        }
        (Some(bits), Some(_)) => u64::from(bits) / 8,
        _ if content.kind == "ptr" => 8,
        _ => {
            return Err(Error(format!(
                "what {name} points to, at {at}: the type must be i8, i16, i32 or i64 with a value, or ptr"
            )));
        }
    };
    match said.size {
        Some(room) if at.saturating_add(size) > room => Err(Error(format!(
            "what {name} points to, at {at}: {size} bytes from there are more than its size, {room}"
        ))),
        _ => Ok(()),
    }
}

/// Whether a number is one of so many bits, with a sign or without.
fn fits(value: i128, bits: u32) -> bool {
    bits >= 127 || (-(1i128 << (bits - 1))..1i128 << bits).contains(&value)
}
