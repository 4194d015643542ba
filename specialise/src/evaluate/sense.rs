//! Checks that a context makes sense: that its names exist, and that its facts are possible.

use super::error::Error;
use crate::context::{Argument, Content, ContentType, Context};
use crate::ir::{Code, Module, Param, Type};

/// Fails, with the reason, if a context does not make sense.
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
        if Some(name.as_str()) != param.name.as_deref()
            && param.name.as_ref().is_some_and(|name| context.argument.contains_key(&**name))
        {
            return Err(Error(format!("the context speaks twice of parameter {name}: by its name, too")));
        }
        check_argument(module, name, said, &param.ty)?;
        check_contents(module, name, said)?;
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

/// Checks that the name of the residual function is unused, and valid in C.
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

fn check_argument(module: &Module, name: &str, said: &Argument, ty: &Type) -> Result<(), Error> {
    let bytes = said.size.is_some() || said.align.is_some() || said.unaliased || !said.contents.is_empty();
    let wrong = match (ty, said.value, &said.symbol) {
        (Type::Ptr, None, Some(symbol)) if !is_there(module, symbol) => {
            format!("there is no {symbol} in the program")
        }
        (Type::Ptr, _, Some(_)) if bytes || said.value.is_some() => {
            "it is the address of its `symbol`, of which nothing more can be said".into()
        }
        (Type::Ptr, Some(value), None) if value != 0 => {
            "a pointer has no number but 0, the null pointer".into()
        }
        (Type::Ptr, Some(_), None) if bytes => "it can't be the null pointer and point to something".into(),
        (Type::Ptr, ..) if said.align.is_some_and(|align| !align.is_power_of_two()) => {
            "its alignment is no power of two".into()
        }
        (Type::Ptr, ..) => return Ok(()),
        (_, _, symbol) if bytes || symbol.is_some() => "it is no pointer".into(),
        (Type::Int(bits), Some(value), _) if !fits(value, *bits) => {
            format!("{value} does not fit into its {bits} bits")
        }
        (Type::Int(_), ..) | (_, None, _) => return Ok(()),
        _ => "it is no integer".into(),
    };
    Err(Error(format!("the context says of {name} what can't be: {wrong}")))
}

fn is_there(module: &Module, symbol: &str) -> bool {
    module.function(symbol).is_some() || module.global(symbol).is_some()
}

/// Checks that the contents of an argument lie within its size and do not overlap.
fn check_contents(module: &Module, name: &str, said: &Argument) -> Result<(), Error> {
    let mut contents: Vec<_> = said.contents.iter().collect();
    contents.sort_by_key(|content| content.at);
    let ends = contents.iter().map(|content| content.at.saturating_add(content.bytes()));
    let overlapping = ends.zip(contents.iter().skip(1)).find(|(end, next)| next.at < *end);
    if let Some((_, content)) = overlapping {
        return Err(Error(format!("the context says twice what {name} points to at {}", content.at)));
    }
    contents.into_iter().try_for_each(|content| check_content(module, name, said, content))
}

fn check_content(module: &Module, name: &str, said: &Argument, content: &Content) -> Result<(), Error> {
    let Content { at, ty, symbol, value, offset } = content;
    let wrong = match (ty, symbol, value) {
        (_, None, _) if *offset != 0 => Some("an `offset` is one from a `symbol`".into()),
        (ContentType::Ptr, Some(symbol), None) if !is_there(module, symbol) => {
            Some(format!("there is no {symbol} in the program"))
        }
        (ContentType::Ptr, Some(symbol), None) if *offset != 0 && module.function(symbol).is_some() => {
            Some(format!("{symbol} is a function, and there is nothing at an `offset` from it"))
        }
        (ContentType::Ptr, Some(_), None) | (ContentType::Ptr, None, None | Some(0)) => None,
        (ContentType::Ptr, ..) => Some("a pointer is to a `symbol`, or its `value` is 0".into()),
        (_, None, Some(value)) if fits(*value, ty.bits()) => None,
        (_, None, Some(value)) => Some(format!("{value} does not fit into {} bits", ty.bits())),
        _ => Some("an integer has a `value`, and no `symbol`".into()),
    };
    let size = content.bytes();
    let beyond = said.size.filter(|room| at.saturating_add(size) > *room);
    let beyond = beyond.map(|room| format!("{size} bytes from there are more than its size, {room}"));
    match wrong.or(beyond) {
        Some(wrong) => Err(Error(format!("what {name} points to, at {at}: {wrong}"))),
        None => Ok(()),
    }
}

/// Whether a number fits an integer of this many bits, signed or unsigned.
fn fits(value: i128, bits: u32) -> bool {
    bits >= 127 || (-(1i128 << (bits - 1))..1i128 << bits).contains(&value)
}
