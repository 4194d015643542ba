//! Constants, and constant expressions that can be folded to one.

use super::cursor::{Cursor, Parsed};
use super::fold;
use super::lexer::{Token, bytes, plain};
use super::types::Types;
use crate::account::Room;
use crate::ir::{Binary, Cast, Const, Type};
use std::collections::HashMap;
use std::rc::Rc;

/// Bytes of memory for an element of a constant: in the growing list, and in the final one.
const ELEMENT_BYTES: u64 = 3 * size_of::<Const>() as u64;

/// The greatest nesting of constants.
pub(super) const DEPTH: u32 = 128;

/// The meaning of a name at link time.
#[derive(Clone, Debug, Default)]
pub(super) struct Symbol {
    /// Its address; `None` if [`crate::ir`] can't express it.
    pub(super) value: Option<Const>,
    /// The reason why code that mentions the symbol can't be read.
    pub(super) trouble: Option<Rc<str>>,
}

pub(super) type Symbols = HashMap<Rc<str>, Symbol>;

/// The context in which a symbol is mentioned.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Mention {
    /// In code, which needs complete knowledge of the symbol.
    Use,
    /// In data, which needs only its address.
    Address,
}

/// The tables needed to read constants.
#[derive(Clone, Copy)]
pub(super) struct Constants<'f> {
    pub(super) types: &'f Types,
    pub(super) symbols: &'f Symbols,
    pub(super) mention: Mention,
    /// The count of the memory that constants take.
    pub(super) room: &'f Room,
}

/// One step of a `getelementptr`.
pub(super) enum Step {
    /// Bytes for each unit of the index.
    Scale(i64),
    /// Bytes, independent of the index.
    Offset(i64),
}

impl Constants<'_> {
    /// Reads a type and a constant of that type.
    pub(super) fn typed(&self, cursor: &mut Cursor) -> Parsed<Const> {
        self.typed_at(cursor, 0)
    }

    /// Reads a constant of a type.
    pub(super) fn read(&self, cursor: &mut Cursor, ty: &Type) -> Parsed<Const> {
        self.value(cursor, ty, 0)
    }

    fn typed_at(&self, cursor: &mut Cursor, depth: u32) -> Parsed<Const> {
        let ty = self.types.read(cursor)?;
        self.value(cursor, &ty, depth)
    }

    fn value(&self, cursor: &mut Cursor, ty: &Type, depth: u32) -> Parsed<Const> {
        if depth >= DEPTH {
            return Err(cursor.unsupported(format!("constants nested more than {DEPTH} deep")));
        }
        let at = *cursor;
        let value = match cursor.token() {
            Token::Number(digits) => {
                let value = number(digits, ty).map_err(|what| cursor.wrong(what))?;
                cursor.advance();
                value
            }
            Token::Word(word) => self.word(cursor, word, ty, depth)?,
            Token::Global(name) => {
                let value = self.symbol(cursor, name)?;
                cursor.advance();
                value
            }
            Token::Bytes(inner) => {
                cursor.advance();
                Const::Bytes(bytes(inner).into())
            }
            Token::Mark('[' | '{' | '<') => self.aggregate(cursor, ty, depth)?,
            _ => return Err(cursor.wrong("a value is expected")),
        };
        if value.ty() != *ty {
            return Err(at.wrong("a constant of another type is expected"));
        }
        Ok(value)
    }

    /// The constant that a symbol's name stands for.
    pub(super) fn symbol(&self, cursor: &Cursor, name: &str) -> Parsed<Const> {
        let name = plain(name);
        let Some(symbol) = self.symbols.get(&*name) else {
            return Err(cursor.wrong(format!("there is no `@{name}`")));
        };
        match (&symbol.value, &symbol.trouble) {
            (Some(value), None) => Ok(value.clone()),
            (Some(value), Some(_)) if self.mention == Mention::Address => Ok(value.clone()),
            (_, trouble) => {
                let trouble = trouble.as_deref().unwrap_or("it is not known");
                Err(cursor.unsupported(format!("`@{name}`: {trouble}")))
            }
        }
    }

    fn word(&self, cursor: &mut Cursor, word: &str, ty: &Type, depth: u32) -> Parsed<Const> {
        let at = *cursor;
        cursor.advance();
        let unsupported = |what: String| at.unsupported(what);
        Ok(match word {
            "null" => Const::Null,
            "true" | "false" => Const::int(1, u128::from(word == "true")),
            "undef" | "poison" => Const::Undef(ty.clone()),
            "zeroinitializer" => fold::zero(ty),
            "splat" => {
                cursor.expect('(')?;
                let element = self.typed_at(cursor, depth + 1)?;
                cursor.expect(')')?;
                let Type::Vector(count, _) = ty else { return Err(at.wrong("`splat` is a vector")) };
                Const::Aggregate(ty.clone(), vec![element; *count as usize].into())
            }
            "dso_local_equivalent" | "no_cfi" => self.value(cursor, ty, depth + 1)?,
            "getelementptr" => self.address(cursor, depth)?,
            "ptrtoint" | "inttoptr" | "bitcast" | "trunc" | "zext" | "sext" => {
                cursor.skip_words(&["nuw", "nsw", "nneg"]);
                cursor.expect('(')?;
                let from = self.typed_at(cursor, depth + 1)?;
                cursor.expect_word("to")?;
                let to = self.types.read(cursor)?;
                cursor.expect(')')?;
                let cast = cast(word).ok_or_else(|| at.wrong("a conversion is expected"))?;
                fold::cast(cast, from, &to).map_err(unsupported)?
            }
            "select" => {
                let [condition, yes, no] = self.arguments(cursor, depth)?;
                match condition {
                    Const::Int { value: 0, .. } => no,
                    Const::Int { .. } => yes,
                    _ => return Err(at.unsupported("a constant that depends on addresses")),
                }
            }
            _ => {
                let Some(operation) = binary(word) else {
                    return Err(at.unsupported(format!("the constant `{word}`")));
                };
                cursor.skip_words(&["nuw", "nsw", "exact", "disjoint"]);
                let [left, right] = self.arguments(cursor, depth)?;
                fold::binary(operation, left, right).map_err(unsupported)?
            }
        })
    }

    fn arguments<const COUNT: usize>(&self, cursor: &mut Cursor, depth: u32) -> Parsed<[Const; COUNT]> {
        let mut found = Vec::with_capacity(COUNT);
        cursor.expect('(')?;
        for position in 0..COUNT {
            if position > 0 {
                cursor.expect(',')?;
            }
            found.push(self.typed_at(cursor, depth + 1)?);
        }
        cursor.expect(')')?;
        found.try_into().map_err(|_| cursor.wrong("more values are expected"))
    }

    /// `getelementptr inbounds (i8, ptr @x, i64 4)`, after its first word.
    fn address(&self, cursor: &mut Cursor, depth: u32) -> Parsed<Const> {
        let at = *cursor;
        skip_address_flags(cursor);
        cursor.expect('(')?;
        let ty = self.types.read(cursor)?;
        cursor.expect(',')?;
        let base = self.typed_at(cursor, depth + 1)?;
        let (mut steps, mut offset) = (Steps::of(ty), 0i64);
        while cursor.take(',') {
            skip_address_flags(cursor);
            let index = self.typed_at(cursor, depth + 1)?;
            let Some(index) = fold::signed(&index) else {
                return Err(at.unsupported("an address that depends on another address"));
            };
            match steps.next(Some(index)).map_err(|what| cursor.wrong(what))? {
                Step::Scale(scale) => offset = offset.wrapping_add(scale.wrapping_mul(index)),
                Step::Offset(bytes) => offset = offset.wrapping_add(bytes),
            }
        }
        cursor.expect(')')?;
        fold::offset(base, offset).map_err(|what| at.unsupported(what))
    }

    fn aggregate(&self, cursor: &mut Cursor, ty: &Type, depth: u32) -> Parsed<Const> {
        let at = *cursor;
        let ends: &[char] = match cursor.advance() {
            Token::Mark('[') => &[']'],
            Token::Mark('{') => &['}'],
            _ if cursor.take('{') => &['}', '>'],
            _ => &['>'],
        };
        let mut elements = Vec::new();
        while cursor.token() != Token::Mark(ends[0]) {
            if !elements.is_empty() {
                cursor.expect(',')?;
            }
            self.room.take(ELEMENT_BYTES).map_err(|what| cursor.wrong(what))?;
            elements.push(self.typed_at(cursor, depth + 1)?);
        }
        for end in ends {
            cursor.expect(*end)?;
        }
        let fits = match ty {
            Type::Array(count, element) => {
                *count == elements.len() as u64 && elements.iter().all(|found| found.ty() == **element)
            }
            Type::Vector(count, element) => {
                *count as usize == elements.len() && elements.iter().all(|found| found.ty() == **element)
            }
            Type::Struct { fields, .. } => {
                fields.len() == elements.len()
                    && fields.iter().zip(&elements).all(|(field, found)| found.ty() == *field)
            }
            _ => false,
        };
        if !fits {
            return Err(at.wrong("these elements do not make a value of the type"));
        }
        Ok(Const::Aggregate(ty.clone(), elements.into()))
    }
}

pub(super) fn skip_address_flags(cursor: &mut Cursor) {
    loop {
        cursor.skip_words(&["inbounds", "nusw", "nuw", "nsw"]);
        if !cursor.take_word("inrange") {
            return;
        }
        cursor.skip_brackets();
    }
}

/// The types that the indices of a `getelementptr` step through.
pub(super) struct Steps {
    ty: Type,
    first: bool,
}

impl Steps {
    pub(super) fn of(ty: Type) -> Self {
        Steps { ty, first: true }
    }

    /// The effect of the next index. Its value must be known if it selects a field.
    pub(super) fn next(&mut self, index: Option<i64>) -> Result<Step, String> {
        if std::mem::take(&mut self.first) {
            return Ok(Step::Scale(self.ty.layout().size as i64));
        }
        let (step, inner) = match &self.ty {
            Type::Array(_, element) => (Step::Scale(element.layout().size as i64), (**element).clone()),
            Type::Vector(_, element) => (Step::Scale(element.bits().div_ceil(8) as i64), (**element).clone()),
            Type::Struct { fields, .. } => {
                let field =
                    index.and_then(|index| usize::try_from(index).ok()).filter(|at| *at < fields.len());
                let field = field.ok_or("there is no such field")?;
                (Step::Offset(self.ty.offsets()[field] as i64), fields[field].clone())
            }
            _ => return Err("an index into something that has no elements".into()),
        };
        self.ty = inner;
        Ok(step)
    }
}

pub(super) fn cast(word: &str) -> Option<Cast> {
    Some(match word {
        "trunc" => Cast::Trunc,
        "zext" => Cast::ZExt,
        "sext" => Cast::SExt,
        "fptrunc" => Cast::FpTrunc,
        "fpext" => Cast::FpExt,
        "fptoui" => Cast::FpToUi,
        "fptosi" => Cast::FpToSi,
        "uitofp" => Cast::UiToFp,
        "sitofp" => Cast::SiToFp,
        "ptrtoint" => Cast::PtrToInt,
        "inttoptr" => Cast::IntToPtr,
        "bitcast" => Cast::BitCast,
        _ => return None,
    })
}

pub(super) fn binary(word: &str) -> Option<Binary> {
    Some(match word {
        "add" => Binary::Add,
        "sub" => Binary::Sub,
        "mul" => Binary::Mul,
        "udiv" => Binary::UDiv,
        "sdiv" => Binary::SDiv,
        "urem" => Binary::URem,
        "srem" => Binary::SRem,
        "shl" => Binary::Shl,
        "lshr" => Binary::LShr,
        "ashr" => Binary::AShr,
        "and" => Binary::And,
        "or" => Binary::Or,
        "xor" => Binary::Xor,
        "fadd" => Binary::FAdd,
        "fsub" => Binary::FSub,
        "fmul" => Binary::FMul,
        "fdiv" => Binary::FDiv,
        "frem" => Binary::FRem,
        _ => return None,
    })
}

/// A number as a constant of a type.
fn number(digits: &str, ty: &Type) -> Result<Const, String> {
    let wrong = || format!("`{digits}` is no number of its type");
    match ty {
        Type::Int(bits) => {
            let value = match digits.strip_prefix('-') {
                Some(digits) => digits.parse::<u128>().map_err(|_| wrong())?.wrapping_neg(),
                None => digits.parse::<u128>().map_err(|_| wrong())?,
            };
            Ok(Const::int(*bits, value))
        }
        Type::Double => double_bits(digits).map(Const::Double).ok_or_else(wrong),
        Type::Float => double_bits(digits).and_then(fold::narrow).map(Const::Float).ok_or_else(wrong),
        _ => Err(wrong()),
    }
}

/// The bits of a double, in LLVM's spelling; it spells floats in the same way.
fn double_bits(digits: &str) -> Option<u64> {
    if let Some(hex) = digits.strip_prefix("0x") {
        return u64::from_str_radix(hex, 16).ok();
    }
    digits.parse::<f64>().ok().map(f64::to_bits)
}
