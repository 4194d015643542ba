//! Linkage and calling convention: the words before a variable's type or a function's body.

use super::attributes::{self, Found, Groups, Said};
use super::cursor::{Cursor, Fail, Kind, Parsed};
use super::lexer::{Token, plain};
use super::types::Types;
use crate::ir::{Code, Effects, Function, Param, ParamAttributes, Type};
use std::rc::Rc;

/// The linkage of a name: how other modules see it.
#[derive(Clone, Debug, Default)]
pub(super) struct Header {
    pub(super) internal: bool,
    /// Whether other modules may override a definition; `replaced` tells whether a different definition may do so.
    pub(super) weak: bool,
    replaced: bool,
    /// Whether the name is bound to the definition in the same executable or shared object.
    local: bool,
    /// Whether the definition is elsewhere.
    pub(super) declaration: bool,
    pub(super) thread_local: bool,
    /// The reason why [`crate::ir`] can't express it.
    pub(super) trouble: Option<Rc<str>>,
}

impl Header {
    /// Whether a different definition may take the place of this one when the program runs. `preempted` tells whether
    /// definitions in other shared objects count.
    pub(super) fn is_replaceable(&self, preempted: bool) -> bool {
        self.replaced || preempted && !self.local && !self.internal
    }
}

/// Reads the words before `global`, `constant`, `alias`, or the type of a function.
pub(super) fn linkage(cursor: &mut Cursor) -> Parsed<Header> {
    let mut header = Header::default();
    while let Token::Word(word) = cursor.token() {
        match word {
            "private" | "internal" => header.internal = true,
            "weak" | "linkonce" | "common" => (header.weak, header.replaced) = (true, true),
            "weak_odr" | "linkonce_odr" | "available_externally" => header.weak = true,
            "external" => header.declaration = true,
            "extern_weak" => (header.declaration, header.weak) = (true, true),
            "thread_local" => {
                cursor.advance();
                header.thread_local = true;
                if cursor.token() == Token::Mark('(') {
                    cursor.skip_brackets();
                }
                continue;
            }
            "addrspace" => {
                cursor.advance();
                if cursor.number_in_parentheses()? != 0 {
                    header.trouble = Some("another address space".into());
                }
                continue;
            }
            "dso_local" | "hidden" | "protected" => header.local = true,
            "appending"
            | "dso_preemptable"
            | "default"
            | "dllimport"
            | "dllexport"
            | "unnamed_addr"
            | "local_unnamed_addr"
            | "externally_initialized" => {}
            _ => break,
        }
        cursor.advance();
    }
    Ok(header)
}

/// A function without its body.
pub(super) struct Declared {
    pub(super) function: Function,
    /// Its `trouble` includes constructs after the header that can't be expressed.
    pub(super) header: Header,
    /// The place where the body begins.
    pub(super) body: Option<usize>,
}

/// The calling conventions of C functions on x86-64. Between functions of one module, the differences do not matter.
pub(super) const CONVENTIONS: [&str; 5] = ["ccc", "fastcc", "coldcc", "tailcc", "preserve_nonecc"];

/// Reads `define ..` or `declare ..`.
pub(super) fn function(cursor: &mut Cursor, types: &Types, groups: &Groups) -> Parsed<Declared> {
    let defined = match cursor.advance() {
        Token::Word("define") => true,
        Token::Word("declare") => false,
        _ => return Err(cursor.wrong("`define` or `declare` is expected")),
    };
    metadata(cursor);
    let mut header = linkage(cursor)?;
    let before = *cursor;
    let (signature, trouble) = match signature(cursor, types) {
        Ok(signature) => (signature, header.trouble.take()),
        Err(fail) if fail.kind == Kind::Unsupported => {
            *cursor = before;
            (unknown_signature(cursor, &fail)?, Some(fail.what.into()))
        }
        Err(fail) => return Err(fail),
    };
    let (said, body) = match trouble {
        None => behind(cursor, groups, defined)?,
        Some(_) => (Said::default(), None),
    };
    let function = Function {
        name: signature.name,
        params: signature.params,
        result: signature.result,
        result_extension: signature.attributes.extension,
        variadic: signature.variadic,
        internal: header.internal && trouble.is_none(),
        memory: said.memory.unwrap_or(Effects::Any),
        noreturn: said.noreturn,
        code: Code::Declared,
        comment: String::new(),
    };
    header.trouble = trouble;
    Ok(Declared { function, header, body })
}

struct Signature {
    name: Rc<str>,
    params: Vec<Param>,
    result: Type,
    attributes: ParamAttributes,
    variadic: bool,
}

fn signature(cursor: &mut Cursor, types: &Types) -> Parsed<Signature> {
    convention(cursor)?;
    let attributes = attributes::parameter(cursor, types)?;
    let result = types.read(cursor)?;
    let name = name(cursor)?;
    let (params, variadic) = parameters(cursor, types)?;
    Ok(Signature { name, params, result, attributes, variadic })
}

/// Skips the calling convention. Conventions that only clang's own runtimes use are refused.
pub(super) fn convention(cursor: &mut Cursor) -> Parsed<()> {
    cursor.skip_words(&CONVENTIONS);
    match cursor.token() {
        Token::Word(word) if word == "cc" || word.ends_with("cc") || word.starts_with("cc") => {
            Err(cursor.unsupported(format!("the calling convention `{word}`")))
        }
        _ => Ok(()),
    }
}

/// Reads only the name of a function, if its parameters or result can't be expressed.
fn unknown_signature(cursor: &mut Cursor, fail: &Fail) -> Parsed<Signature> {
    while !matches!(cursor.token(), Token::Global(_) | Token::End) {
        cursor.advance();
    }
    let name = name(cursor).map_err(|_| fail.clone())?;
    let attributes = ParamAttributes::default();
    Ok(Signature { name, params: Vec::new(), result: Type::Void, attributes, variadic: true })
}

fn name(cursor: &mut Cursor) -> Parsed<Rc<str>> {
    let Token::Global(name) = cursor.token() else {
        return Err(cursor.wrong("the name of a function is expected"));
    };
    cursor.advance();
    Ok(plain(name).into())
}

fn parameters(cursor: &mut Cursor, types: &Types) -> Parsed<(Vec<Param>, bool)> {
    let mut found = Vec::new();
    cursor.expect('(')?;
    if cursor.take(')') {
        return Ok((found, false));
    }
    loop {
        if cursor.token() == Token::Ellipsis {
            cursor.advance();
            cursor.expect(')')?;
            return Ok((found, true));
        }
        let ty = types.read(cursor)?;
        if ty == Type::Void {
            return Err(cursor.wrong("a parameter is not `void`"));
        }
        let attributes = attributes::parameter(cursor, types)?;
        let mut name = None;
        if let Token::Local(spelling) = cursor.token() {
            cursor.advance();
            let numbered = spelling.bytes().all(|byte| byte.is_ascii_digit());
            name = (!numbered).then(|| plain(spelling).into());
        }
        found.push(Param { ty, name, attributes });
        if cursor.take(')') {
            return Ok((found, false));
        }
        cursor.expect(',')?;
    }
}

/// Reads the attributes between the parameters and the body.
fn behind(cursor: &mut Cursor, groups: &Groups, defined: bool) -> Parsed<(Said, Option<usize>)> {
    let mut said = Said::default();
    loop {
        if said.attribute(cursor, groups)? == Found::One {
            continue;
        }
        match cursor.token() {
            Token::Mark('{') if defined => return Ok((said, Some(cursor.at()))),
            _ if !defined => return Ok((said, None)),
            Token::End | Token::Label(_) => return Err(cursor.wrong("`{` is expected")),
            // Sections, alignment, personality, metadata.
            Token::Mark('(') => cursor.skip_brackets(),
            _ => {
                cursor.advance();
            }
        }
    }
}

/// Skips any number of `!name !1`.
fn metadata(cursor: &mut Cursor) {
    while let Token::Metadata(_) = cursor.token() {
        cursor.advance();
    }
}
