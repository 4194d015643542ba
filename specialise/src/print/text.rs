//! Text that both declarations and bodies use.

use std::fmt::Write;

use crate::ir::{Effects, Extension, ParamAttributes, Type};

/// Writes to a string, which never fails.
pub fn put(text: &mut String, what: std::fmt::Arguments) {
    let _ = text.write_fmt(what);
}

/// Writes each line of a comment after a semicolon.
pub fn comment(text: &mut String, lines: &str) {
    for line in lines.split(['\n', '\r']).filter(|line| !line.is_empty()) {
        put(text, format_args!("; {line}\n"));
    }
}

/// Writes the memory that a function accesses.
pub fn effects(text: &mut String, effects: Effects) {
    text.push_str(match effects {
        Effects::None => " memory(none)",
        Effects::Read => " memory(read)",
        Effects::ReadArguments => " memory(argmem: read)",
        Effects::Arguments => " memory(argmem: readwrite)",
        Effects::Inaccessible => " memory(inaccessiblemem: readwrite)",
        Effects::ArgumentsOrInaccessible => " memory(argmem: readwrite, inaccessiblemem: readwrite)",
        Effects::Any => "",
    });
}

/// Writes the attributes of a parameter or an argument, which follow its type.
pub fn attributes(text: &mut String, said: &ParamAttributes) {
    let pointee = |size| Type::Array(size, Type::Int(8).into());
    if let Some((size, align)) = said.byval {
        put(text, format_args!(" byval({}) align {align}", pointee(size)));
    }
    if let Some((size, align)) = said.sret {
        put(text, format_args!(" sret({}) align {align}", pointee(size)));
    }
    if let (Some(align), None, None) = (said.align, said.byval, said.sret) {
        put(text, format_args!(" align {align}"));
    }
    if let Some(extension) = said.extension {
        put(text, format_args!(" {}", spelled(extension).trim_end()));
    }
    let access = match (said.readonly, said.writeonly) {
        (true, true) => " readnone",
        (true, false) => " readonly",
        (false, true) => " writeonly",
        (false, false) => "",
    };
    text.push_str(access);
    for (holds, word) in [(said.noalias, " noalias"), (said.nocapture, " nocapture")] {
        if holds {
            text.push_str(word);
        }
    }
}

pub fn spelled(extension: Extension) -> &'static str {
    match extension {
        Extension::Zero => "zeroext ",
        Extension::Sign => "signext ",
    }
}
