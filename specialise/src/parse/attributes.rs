//! Attributes of functions, parameters and results, as far as [`crate::ir`] has them.

use super::cursor::{Cursor, Parsed};
use super::lexer::Token;
use super::types::Types;
use crate::ir::{Effects, Extension, ParamAttributes, Type};
use std::collections::HashMap;

/// The attributes of a function or a call.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Said {
    pub(super) memory: Option<Effects>,
    pub(super) noreturn: bool,
}

/// `attributes #1 = { ... }`, by number.
pub(super) type Groups = HashMap<u32, Said>;

impl Said {
    fn merge(&mut self, other: Said) {
        self.memory = other.memory.or(self.memory);
        self.noreturn |= other.noreturn;
    }

    /// Reads one attribute if there is one here.
    pub(super) fn attribute(&mut self, cursor: &mut Cursor, groups: &Groups) -> Parsed<Found> {
        match cursor.token() {
            Token::Group(number) => {
                cursor.advance();
                self.merge(groups.get(&number).copied().unwrap_or_default());
            }
            Token::Text(_) => {
                cursor.advance();
                if cursor.take('=') {
                    cursor.advance();
                }
            }
            Token::Word("memory") => {
                cursor.advance();
                self.memory = Some(memory(cursor)?);
            }
            Token::Word(word) if OF_FUNCTIONS.contains(&word) => {
                cursor.advance();
                match word {
                    "noreturn" => self.noreturn = true,
                    "readnone" => self.memory = Some(Effects::None),
                    "readonly" => self.memory = Some(Effects::Read),
                    "argmemonly" => self.memory = Some(Effects::Arguments),
                    _ => {}
                }
                if cursor.take('=') {
                    cursor.advance();
                }
                if cursor.token() == Token::Mark('(') {
                    cursor.skip_brackets();
                }
            }
            _ => return Ok(Found::Nothing),
        }
        Ok(Found::One)
    }
}

#[derive(PartialEq, Eq)]
pub(super) enum Found {
    One,
    Nothing,
}

/// Attributes that may stand in a group, or at a call without a group.
const OF_FUNCTIONS: [&str; 64] = [
    "allockind",
    "allocsize",
    "alignstack",
    "alwaysinline",
    "argmemonly",
    "builtin",
    "cold",
    "convergent",
    "coro_only_destroy_when_complete",
    "disable_sanitizer_instrumentation",
    "fn_ret_thunk_extern",
    "hot",
    "hybrid_patchable",
    "inaccessiblememonly",
    "inlinehint",
    "jumptable",
    "minsize",
    "mustprogress",
    "naked",
    "nobuiltin",
    "nocallback",
    "nocf_check",
    "nodivergencesource",
    "noduplicate",
    "nofree",
    "noimplicitfloat",
    "noinline",
    "nomerge",
    "nonlazybind",
    "noprofile",
    "norecurse",
    "noredzone",
    "noreturn",
    "nosanitize_bounds",
    "nosanitize_coverage",
    "nosync",
    "nounwind",
    "null_pointer_is_valid",
    "optdebug",
    "optforfuzzing",
    "optnone",
    "optsize",
    "presplitcoroutine",
    "readnone",
    "readonly",
    "returns_twice",
    "safestack",
    "sanitize_address",
    "sanitize_hwaddress",
    "sanitize_memory",
    "sanitize_memtag",
    "sanitize_numerical_stability",
    "sanitize_thread",
    "shadowcallstack",
    "skipprofile",
    "speculatable",
    "speculative_load_hardening",
    "ssp",
    "sspreq",
    "sspstrong",
    "strictfp",
    "uwtable",
    "vscale_range",
    "willreturn",
];

/// How an access touches one of the kinds of memory that `memory(...)` names.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Touch {
    None,
    Read,
    Write,
}

/// `(none)`, `(argmem: read, inaccessiblemem: readwrite)`
fn memory(cursor: &mut Cursor) -> Parsed<Effects> {
    let (mut arguments, mut inaccessible, mut other) = (None, None, Touch::None);
    cursor.expect('(')?;
    while !cursor.take(')') {
        match cursor.advance() {
            Token::Word(word) => other = touch(cursor, word)?,
            Token::Label(place) => {
                let word = cursor.word()?;
                let touched = touch(cursor, word)?;
                match place {
                    "argmem" => arguments = Some(touched),
                    "inaccessiblemem" => inaccessible = Some(touched),
                    // Kinds of memory from later versions of LLVM count as memory of any kind.
                    _ => other = other.max(touched),
                }
            }
            _ => return Err(cursor.wrong("what memory is touched is expected")),
        }
        cursor.take(',');
    }
    let (arguments, inaccessible) = (arguments.unwrap_or(other), inaccessible.unwrap_or(other));
    Ok(match (other, arguments, inaccessible) {
        (Touch::None, Touch::None, Touch::None) => Effects::None,
        (Touch::None, Touch::Read, Touch::None) => Effects::ReadArguments,
        (Touch::None, Touch::Write, Touch::None) => Effects::Arguments,
        (Touch::None, Touch::None, _) => Effects::Inaccessible,
        (Touch::None, _, _) => Effects::ArgumentsOrInaccessible,
        (Touch::Read, Touch::None | Touch::Read, Touch::None | Touch::Read) => Effects::Read,
        _ => Effects::Any,
    })
}

fn touch(cursor: &Cursor, word: &str) -> Parsed<Touch> {
    match word {
        "none" => Ok(Touch::None),
        "read" => Ok(Touch::Read),
        "write" | "readwrite" => Ok(Touch::Write),
        _ => Err(cursor.wrong("`none`, `read`, `write` or `readwrite` is expected")),
    }
}

/// The `{ ... }` of a group.
pub(super) fn group(cursor: &mut Cursor) -> Parsed<Said> {
    let mut said = Said::default();
    let none = Groups::new();
    cursor.expect('{')?;
    while !cursor.take('}') {
        if cursor.token() == Token::End {
            return Err(cursor.wrong("`}` is expected"));
        }
        if said.attribute(cursor, &none)? == Found::Nothing {
            cursor.advance();
        }
    }
    Ok(said)
}

/// The attributes of a parameter, an argument or a result.
pub(super) fn parameter(cursor: &mut Cursor, types: &Types) -> Parsed<ParamAttributes> {
    let mut said = ParamAttributes::default();
    // The alignment may stand before or after these.
    let (mut by_value, mut structure): (Option<Type>, Option<Type>) = (None, None);
    loop {
        match cursor.token() {
            Token::Text(_) => {
                cursor.advance();
                if cursor.take('=') {
                    cursor.advance();
                }
            }
            Token::Word(word) if OF_PARAMETERS.contains(&word) => {
                cursor.advance();
                match word {
                    "byval" => by_value = Some(in_parentheses(cursor, types)?),
                    "sret" => structure = Some(in_parentheses(cursor, types)?),
                    "noalias" => said.noalias = true,
                    "nocapture" => said.nocapture = true,
                    "captures" => said.nocapture |= cursor.second() == Token::Word("none"),
                    "readonly" => said.readonly = true,
                    "writeonly" => said.writeonly = true,
                    "readnone" => (said.readonly, said.writeonly) = (true, true),
                    "zeroext" => said.extension = Some(Extension::Zero),
                    "signext" => said.extension = Some(Extension::Sign),
                    "align" => said.align = Some(cursor.alignment()?),
                    "inalloca" | "preallocated" | "swifterror" => {
                        return Err(cursor.unsupported(format!("a parameter that is `{word}`")));
                    }
                    _ => {}
                }
                if cursor.token() == Token::Mark('(') {
                    cursor.skip_brackets();
                }
            }
            _ => break,
        }
    }
    let sized = |ty: Type| {
        let layout = ty.layout();
        (layout.size, said.align.unwrap_or(layout.align))
    };
    (said.byval, said.sret) = (by_value.map(sized), structure.map(sized));
    Ok(said)
}

fn in_parentheses(cursor: &mut Cursor, types: &Types) -> Parsed<Type> {
    cursor.expect('(')?;
    let ty = types.read(cursor)?;
    cursor.expect(')')?;
    Ok(ty)
}

const OF_PARAMETERS: [&str; 37] = [
    "noundef",
    "nonnull",
    "nocapture",
    "readonly",
    "noalias",
    "align",
    "dereferenceable",
    "signext",
    "zeroext",
    "writeonly",
    "readnone",
    "returned",
    "immarg",
    "byval",
    "sret",
    "allocalign",
    "allocptr",
    "byref",
    "captures",
    "dead_on_return",
    "dead_on_unwind",
    "dereferenceable_or_null",
    "elementtype",
    "inalloca",
    "initializes",
    "inreg",
    "nest",
    "noext",
    "nofpclass",
    "nofree",
    "preallocated",
    "range",
    "swiftasync",
    "swifterror",
    "swiftself",
    "writable",
    "alignstack",
];
