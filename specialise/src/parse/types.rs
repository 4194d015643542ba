//! Types. A named type is read at its first mention, wherever in the file it is defined.

use super::cursor::{Cursor, Fail, Parsed};
use super::lexer::{Token, plain};
use crate::ir::Type;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// The greatest nesting of types, and the greatest number of parts of a type. C programs stay far below both, and every
/// walk through a type ends soon.
const DEPTH: u32 = 64;
const PARTS: u64 = 1 << 16;
/// The greatest length of a vector: no machine has longer ones.
const LANES: u32 = 1 << 12;
/// The greatest size of a value, which exceeds the address space of a process.
const BYTES: u64 = 1 << 47;

/// A type, and the costs of walking through it.
#[derive(Clone, Debug)]
struct Measured {
    ty: Type,
    depth: u32,
    parts: u64,
}

/// The named types of a file.
#[derive(Debug)]
pub(super) struct Types {
    text: Rc<str>,
    /// The position of each definition, after the word `type`.
    starts: HashMap<Rc<str>, usize>,
    known: RefCell<HashMap<Rc<str>, State>>,
}

#[derive(Debug)]
enum State {
    Reading,
    Read(Result<Measured, Fail>),
}

impl Types {
    pub(super) fn new(text: Rc<str>) -> Self {
        Types { text, starts: HashMap::new(), known: RefCell::default() }
    }

    /// Records the position of a named type's definition.
    pub(super) fn declare(&mut self, name: Rc<str>, start: usize) {
        self.starts.insert(name, start);
    }

    /// Reads a type.
    pub(super) fn read(&self, cursor: &mut Cursor) -> Parsed<Type> {
        // A fast path for scalars: most types are scalars.
        if let Token::Word(word) = cursor.token()
            && !matches!(cursor.second(), Token::Mark('*') | Token::Word("addrspace"))
            && let Some(ty) = scalar(word)
        {
            cursor.advance();
            return Ok(ty);
        }
        Ok(self.measured(cursor, 0)?.ty)
    }

    fn measured(&self, cursor: &mut Cursor, depth: u32) -> Parsed<Measured> {
        if depth >= DEPTH {
            return Err(cursor.unsupported(format!("types nested more than {DEPTH} deep")));
        }
        let found = match cursor.token() {
            Token::Word(word) => self.word(cursor, word)?,
            Token::Local(name) => {
                let found =
                    self.named(&plain(name), depth).map_err(|fail| Fail { at: cursor.at(), ..fail })?;
                cursor.advance();
                found
            }
            Token::Mark('[') => {
                cursor.advance();
                let count = cursor.number::<u64>()?;
                cursor.expect_word("x")?;
                let element = self.measured(cursor, depth + 1)?;
                cursor.expect(']')?;
                if count.checked_mul(element.ty.layout().size).is_none_or(|size| size > BYTES) {
                    return Err(cursor.unsupported("an array larger than any memory"));
                }
                outer(Type::Array(count, Rc::new(element.ty)), element.depth, element.parts)
            }
            Token::Mark('{') => self.fields(cursor, depth, Packing::Natural)?,
            Token::Mark('<') if cursor.second() == Token::Mark('{') => {
                cursor.advance();
                let found = self.fields(cursor, depth, Packing::Packed)?;
                cursor.expect('>')?;
                found
            }
            Token::Mark('<') => self.vector(cursor, depth)?,
            _ => return Err(cursor.wrong("a type is expected")),
        };
        if depth + found.depth > DEPTH || found.parts > PARTS {
            return Err(cursor.unsupported("a type of too many parts"));
        }
        if depth > 0 && found.ty == Type::Void {
            return Err(cursor.wrong("`void` is no part of anything"));
        }
        if cursor.token() == Token::Mark('*') {
            return Err(cursor.wrong("a typed pointer: this is not read, compile with clang 16 to 19"));
        }
        Ok(found)
    }

    fn word(&self, cursor: &mut Cursor, word: &str) -> Parsed<Measured> {
        let Some(ty) = scalar(word) else {
            return Err(if word == "opaque" {
                cursor.wrong("an opaque type has no values")
            } else if word.starts_with('i') && word[1..].bytes().all(|byte| byte.is_ascii_digit()) {
                cursor.unsupported(format!("an integer of more than 128 bits, `{word}`"))
            } else if UNSUPPORTED.contains(&word) {
                cursor.unsupported(format!("the type `{word}`"))
            } else {
                cursor.wrong(format!("a type is expected, not `{word}`"))
            });
        };
        cursor.advance();
        if cursor.take_word("addrspace") && cursor.number_in_parentheses()? != 0 {
            return Err(cursor.unsupported("pointers to other address spaces"));
        }
        Ok(Measured { ty, depth: 1, parts: 1 })
    }

    fn fields(&self, cursor: &mut Cursor, depth: u32, packing: Packing) -> Parsed<Measured> {
        cursor.expect('{')?;
        let (mut fields, mut deepest, mut parts, mut size) = (Vec::new(), 0, 1, 0u64);
        while !cursor.take('}') {
            if !fields.is_empty() {
                cursor.expect(',')?;
            }
            let field = self.measured(cursor, depth + 1)?;
            deepest = deepest.max(field.depth);
            parts += field.parts;
            let layout = field.ty.layout();
            size = size.saturating_add(layout.size).saturating_add(layout.align);
            if size > BYTES || parts > PARTS {
                return Err(cursor.unsupported("a structure larger than any memory"));
            }
            fields.push(field.ty);
        }
        let packed = matches!(packing, Packing::Packed);
        Ok(outer(Type::Struct { fields: fields.into(), packed }, deepest, parts))
    }

    fn vector(&self, cursor: &mut Cursor, depth: u32) -> Parsed<Measured> {
        cursor.expect('<')?;
        if cursor.token() == Token::Word("vscale") {
            return Err(cursor.unsupported("vectors of unknown length"));
        }
        let count = cursor.number::<u32>()?;
        cursor.expect_word("x")?;
        let element = self.measured(cursor, depth + 1)?;
        cursor.expect('>')?;
        if count > LANES {
            return Err(cursor.unsupported(format!("vectors of more than {LANES} elements")));
        }
        if !element.ty.is_scalar() || count == 0 {
            return Err(cursor.wrong("a vector has one or more integers, floats or pointers"));
        }
        Ok(outer(Type::Vector(count, Rc::new(element.ty)), element.depth, element.parts))
    }

    fn named(&self, name: &str, depth: u32) -> Parsed<Measured> {
        let wrong = |what| Fail { at: 0, what, kind: super::cursor::Kind::Wrong };
        match self.known.borrow().get(name) {
            Some(State::Reading) => return Err(wrong(format!("the type `%{name}` contains itself"))),
            Some(State::Read(found)) => return found.clone(),
            None => {}
        }
        let Some((name, start)) = self.starts.get_key_value(name) else {
            return Err(wrong(format!("there is no type `%{name}`")));
        };
        self.known.borrow_mut().insert(name.clone(), State::Reading);
        let mut cursor = Cursor::new(&self.text, *start);
        let found = if cursor.token() == Token::Word("opaque") {
            Ok(Measured { ty: Type::Struct { fields: Rc::new([]), packed: false }, depth: 1, parts: 1 })
        } else {
            self.measured(&mut cursor, depth + 1)
        };
        self.known.borrow_mut().insert(name.clone(), State::Read(found.clone()));
        found
    }
}

#[derive(Clone, Copy)]
enum Packing {
    Natural,
    Packed,
}

fn outer(ty: Type, depth: u32, parts: u64) -> Measured {
    Measured { ty, depth: depth + 1, parts: parts + 1 }
}

const UNSUPPORTED: [&str; 11] = [
    "half",
    "bfloat",
    "x86_fp80",
    "fp128",
    "ppc_fp128",
    "x86_mmx",
    "x86_amx",
    "label",
    "metadata",
    "token",
    "target",
];

fn scalar(word: &str) -> Option<Type> {
    match word {
        "ptr" => Some(Type::Ptr),
        "i32" => Some(Type::Int(32)),
        "i64" => Some(Type::Int(64)),
        "void" => Some(Type::Void),
        "float" => Some(Type::Float),
        "double" => Some(Type::Double),
        _ => {
            let bits = word.strip_prefix('i')?.parse().ok()?;
            (1..=128).contains(&bits).then_some(Type::Int(bits))
        }
    }
}
