//! Instructions other than calls, one by one.

use super::constants::{Step, Steps, binary, cast, skip_address_flags};
use super::cursor::{Cursor, Parsed};
use super::fold;
use super::lexer::Token;
use super::reader::{Line, Reader, Trailing};
use crate::ir::{Access, Compare, Const, FloatCompare, Op, Operand, Terminator, Type};

/// Flags that only matter to an optimiser.
pub(super) const FLAGS: [&str; 14] = [
    "nuw", "nsw", "exact", "disjoint", "nneg", "samesign", "fast", "nnan", "ninf", "nsz", "arcp", "contract",
    "afn", "reassoc",
];

/// Reads the instruction that begins with this word.
pub(super) fn read(reader: &mut Reader, word: &str, at: Cursor) -> Parsed<(Line, Trailing)> {
    let line = match word {
        "load" => return load(reader),
        "store" => return store(reader),
        "alloca" => return alloca(reader),
        "getelementptr" => address(reader)?,
        "icmp" | "fcmp" => comparison(reader, word)?,
        "phi" => phi(reader)?,
        "select" => select(reader)?,
        "ret" | "br" | "switch" | "unreachable" => Line::End(terminator(reader, word)?),
        "extractvalue" | "insertvalue" => field(reader, word)?,
        "extractelement" | "insertelement" | "shufflevector" => element(reader, word)?,
        "atomicrmw" | "cmpxchg" | "fence" => atomic(reader, word)?,
        "fneg" | "freeze" => {
            reader.cursor.skip_words(&FLAGS);
            let (ty, value) = reader.typed()?;
            Line::Op(ty, if word == "fneg" { Op::FNeg(value) } else { Op::Freeze(value) })
        }
        _ => arithmetic(reader, word, at)?,
    };
    Ok((line, reader.trailing()?))
}

fn arithmetic(reader: &mut Reader, word: &str, at: Cursor) -> Parsed<Line> {
    reader.cursor.skip_words(&FLAGS);
    if let Some(operation) = binary(word) {
        let (ty, left) = reader.typed()?;
        reader.comma()?;
        let right = reader.operand(&ty)?;
        return Ok(Line::Op(ty, Op::Binary(operation, left, right)));
    }
    if let Some(cast) = cast(word) {
        let (_, from) = reader.typed()?;
        reader.cursor.expect_word("to")?;
        return Ok(Line::Op(reader.ty()?, Op::Cast(cast, from)));
    }
    Err(match word {
        "invoke" | "landingpad" | "resume" | "catchswitch" | "catchpad" | "cleanuppad" | "catchret"
        | "cleanupret" => at.unsupported(format!("exceptions (`{word}`)")),
        "indirectbr" | "callbr" => at.unsupported(format!("computed jumps (`{word}`)")),
        "va_arg" | "addrspacecast" => at.unsupported(format!("`{word}`")),
        _ => at.wrong(format!("`{word}` is no instruction")),
    })
}

/// The kind of an access, from the words before its type.
fn access(reader: &mut Reader) -> Access {
    let atomic = reader.cursor.take_word("atomic");
    match (atomic, reader.cursor.take_word("volatile")) {
        (true, _) => Access::Atomic,
        (false, true) => Access::Volatile,
        (false, false) => Access::Plain,
    }
}

/// Skips `syncscope("..") acquire`. Every ordering counts as the strictest.
fn ordering(reader: &mut Reader) {
    if reader.cursor.take_word("syncscope") {
        reader.cursor.skip_brackets();
    }
    reader.cursor.skip_words(&["unordered", "monotonic", "acquire", "release", "acq_rel", "seq_cst"]);
}

fn load(reader: &mut Reader) -> Parsed<(Line, Trailing)> {
    let access = access(reader);
    let ty = reader.ty()?;
    reader.comma()?;
    let from = reader.pointer()?;
    ordering(reader);
    let trailing = reader.trailing()?;
    let align = trailing.align.unwrap_or(ty.layout().align);
    Ok((Line::Op(ty, Op::Load { from, align, access }), trailing))
}

fn store(reader: &mut Reader) -> Parsed<(Line, Trailing)> {
    let access = access(reader);
    let (ty, value) = reader.typed()?;
    reader.comma()?;
    let to = reader.pointer()?;
    ordering(reader);
    let trailing = reader.trailing()?;
    let align = trailing.align.unwrap_or(ty.layout().align);
    Ok((Line::Op(Type::Void, Op::Store { value, to, align, access }), trailing))
}

fn alloca(reader: &mut Reader) -> Parsed<(Line, Trailing)> {
    if let Token::Word(word @ ("inalloca" | "swifterror")) = reader.cursor.token() {
        return Err(reader.cursor.unsupported(format!("an `alloca` that is `{word}`")));
    }
    let ty = reader.ty()?;
    let layout = ty.layout();
    let count = match reader.more() {
        true => reader.typed()?.1,
        false => Operand::Const(Const::int(32, 1)),
    };
    let trailing = reader.trailing()?;
    let align = trailing.align.unwrap_or(layout.align);
    Ok((Line::Op(Type::Ptr, Op::Alloca { size: layout.size, count, align }), trailing))
}

fn address(reader: &mut Reader) -> Parsed<Line> {
    skip_address_flags(&mut reader.cursor);
    let mut steps = Steps::of(reader.ty()?);
    reader.comma()?;
    let (mut ty, base) = reader.typed()?;
    let (mut offset, mut terms) = (0i64, Vec::new());
    while reader.more() {
        let (index_ty, index) = reader.typed()?;
        let known = match &index {
            Operand::Const(constant) => fold::signed(constant),
            Operand::Value(_) => None,
        };
        let step = steps.next(known);
        match (reader.judge(step)?, known) {
            (Step::Offset(bytes), _) => offset = offset.wrapping_add(bytes),
            (Step::Scale(scale), Some(index)) => offset = offset.wrapping_add(scale.wrapping_mul(index)),
            (Step::Scale(0), None) => {}
            (Step::Scale(scale), None) => terms.push((index, scale)),
        }
        match index_ty {
            Type::Vector(count, _) => ty = Type::Vector(count, Type::Ptr.into()),
            Type::Int(bits) if bits > 64 => {
                return Err(reader.cursor.unsupported("an index of more than 64 bits"));
            }
            _ => {}
        }
    }
    Ok(Line::Op(ty, Op::Address { base, offset, terms }))
}

fn comparison(reader: &mut Reader, word: &str) -> Parsed<Line> {
    reader.cursor.skip_words(&FLAGS);
    let at = reader.cursor;
    let relation = reader.cursor.word()?;
    let (ty, left) = reader.typed()?;
    reader.comma()?;
    let right = reader.operand(&ty)?;
    let op = match word {
        "icmp" => compare(relation).map(|relation| Op::Compare(relation, left, right)),
        _ => float_compare(relation).map(|relation| Op::FloatCompare(relation, left, right)),
    };
    let op = op.ok_or_else(|| at.wrong(format!("`{relation}` compares nothing")))?;
    Ok(Line::Op(truth(&ty), op))
}

/// The type that results from comparing values of a type.
pub(super) fn truth(ty: &Type) -> Type {
    match ty {
        Type::Vector(count, _) => Type::Vector(*count, Type::Int(1).into()),
        _ => Type::Int(1),
    }
}

pub(super) fn compare(word: &str) -> Option<Compare> {
    Some(match word {
        "eq" => Compare::Eq,
        "ne" => Compare::Ne,
        "ugt" => Compare::Ugt,
        "uge" => Compare::Uge,
        "ult" => Compare::Ult,
        "ule" => Compare::Ule,
        "sgt" => Compare::Sgt,
        "sge" => Compare::Sge,
        "slt" => Compare::Slt,
        "sle" => Compare::Sle,
        _ => return None,
    })
}

fn float_compare(word: &str) -> Option<FloatCompare> {
    Some(match word {
        "false" => FloatCompare::False,
        "oeq" => FloatCompare::Oeq,
        "ogt" => FloatCompare::Ogt,
        "oge" => FloatCompare::Oge,
        "olt" => FloatCompare::Olt,
        "ole" => FloatCompare::Ole,
        "one" => FloatCompare::One,
        "ord" => FloatCompare::Ord,
        "ueq" => FloatCompare::Ueq,
        "ugt" => FloatCompare::Ugt,
        "uge" => FloatCompare::Uge,
        "ult" => FloatCompare::Ult,
        "ule" => FloatCompare::Ule,
        "une" => FloatCompare::Une,
        "uno" => FloatCompare::Uno,
        "true" => FloatCompare::True,
        _ => return None,
    })
}

/// The input of a phi. It can't be computed by an instruction before the phi, because control is not in the block yet.
fn incoming_value(reader: &mut Reader, ty: &Type) -> Parsed<Operand> {
    match reader.cursor.token() {
        Token::Local(_) => reader.operand(ty),
        _ => Ok(Operand::Const(reader.constants.read(&mut reader.cursor, ty)?)),
    }
}

fn phi(reader: &mut Reader) -> Parsed<Line> {
    reader.cursor.skip_words(&FLAGS);
    let ty = reader.ty()?;
    let mut incoming = Vec::new();
    loop {
        reader.cursor.expect('[')?;
        let value = incoming_value(reader, &ty)?;
        reader.comma()?;
        incoming.push((value, reader.block()?));
        reader.cursor.expect(']')?;
        if !reader.more() {
            return Ok(Line::Op(ty, Op::Phi(incoming)));
        }
    }
}

fn select(reader: &mut Reader) -> Parsed<Line> {
    reader.cursor.skip_words(&FLAGS);
    let (_, condition) = reader.typed()?;
    reader.comma()?;
    let (ty, yes) = reader.typed()?;
    reader.comma()?;
    let no = reader.same(&ty)?;
    Ok(Line::Op(ty, Op::Select(condition, yes, no)))
}

fn terminator(reader: &mut Reader, word: &str) -> Parsed<Terminator> {
    Ok(match word {
        "ret" => {
            let ty = reader.ty()?;
            if ty != *reader.result {
                return Err(reader.cursor.wrong("the function gives something else"));
            }
            Terminator::Return(if ty == Type::Void { None } else { Some(reader.operand(&ty)?) })
        }
        "br" if reader.cursor.token() == Token::Word("label") => Terminator::Jump(reader.label()?),
        "br" => {
            let condition = bit(reader)?;
            reader.comma()?;
            let yes = reader.label()?;
            reader.comma()?;
            Terminator::Branch(condition, yes, reader.label()?)
        }
        "switch" => switch(reader)?,
        _ => Terminator::Unreachable,
    })
}

/// Reads `i1` and a value.
fn bit(reader: &mut Reader) -> Parsed<Operand> {
    match reader.typed()? {
        (Type::Int(1), bit) => Ok(bit),
        _ => Err(reader.cursor.wrong("an `i1` is expected before this")),
    }
}

fn switch(reader: &mut Reader) -> Parsed<Terminator> {
    let (ty, value) = reader.typed()?;
    reader.comma()?;
    let default = reader.label()?;
    reader.cursor.expect('[')?;
    let mut cases = Vec::new();
    while !reader.cursor.take(']') {
        let case = match reader.constants.typed(&mut reader.cursor)? {
            Const::Int { bits, value } if ty == Type::Int(bits) => value,
            _ => return Err(reader.cursor.wrong("an integer of the switched type is expected before this")),
        };
        reader.comma()?;
        cases.push((case, reader.label()?));
    }
    Ok(Terminator::Switch(value, default, cases))
}

/// The type of a member of an aggregate value.
fn part(ty: &Type, path: &[u32]) -> Option<Type> {
    path.iter().try_fold(ty.clone(), |ty, index| match ty {
        Type::Struct { fields, .. } => fields.get(*index as usize).cloned(),
        Type::Array(count, element) => (u64::from(*index) < count).then(|| (*element).clone()),
        _ => None,
    })
}

fn field(reader: &mut Reader, word: &str) -> Parsed<Line> {
    let (ty, whole) = reader.typed()?;
    let new = match word {
        "insertvalue" => {
            reader.comma()?;
            Some(reader.typed()?)
        }
        _ => None,
    };
    let mut path = Vec::new();
    while reader.more() {
        path.push(reader.cursor.number()?);
    }
    let found = part(&ty, &path).filter(|_| !path.is_empty());
    let found = found.ok_or_else(|| reader.cursor.wrong("there is no such field"))?;
    match new {
        None => Ok(Line::Op(found, Op::ExtractValue(whole, path))),
        Some((new_ty, new)) if new_ty == found => Ok(Line::Op(ty, Op::InsertValue(whole, new, path))),
        Some(_) => Err(reader.cursor.wrong("the field has another type")),
    }
}

fn element(reader: &mut Reader, word: &str) -> Parsed<Line> {
    let (ty, vector) = reader.typed()?;
    let Type::Vector(_, inner) = &ty else {
        return Err(reader.cursor.wrong("a vector is expected before this"));
    };
    reader.comma()?;
    match word {
        "extractelement" => {
            let (_, index) = reader.typed()?;
            Ok(Line::Op((**inner).clone(), Op::ExtractElement(vector, index)))
        }
        "insertelement" => {
            let new = reader.same(inner)?;
            reader.comma()?;
            let (_, index) = reader.typed()?;
            Ok(Line::Op(ty, Op::InsertElement(vector, new, index)))
        }
        _ => {
            let other = reader.same(&ty)?;
            reader.comma()?;
            let order = order(reader)?;
            let ty = Type::Vector(order.len() as u32, inner.clone());
            Ok(Line::Op(ty, Op::Shuffle(vector, other, order)))
        }
    }
}

/// Reads the constant vector with the positions of the chosen elements.
fn order(reader: &mut Reader) -> Parsed<Vec<i32>> {
    let ty = reader.ty()?;
    let Type::Vector(count, _) = ty else {
        return Err(reader.cursor.wrong("a vector of positions is expected before this"));
    };
    let position = |constant: &Const| fold::signed(constant).map_or(-1, |position| position as i32);
    Ok(match reader.constants.read(&mut reader.cursor, &ty)? {
        Const::Aggregate(_, elements) => elements.iter().map(position).collect(),
        Const::Undef(_) => vec![-1; count as usize],
        _ => vec![0; count as usize],
    })
}

fn atomic(reader: &mut Reader, word: &str) -> Parsed<Line> {
    reader.cursor.skip_words(&["weak", "volatile"]);
    match word {
        "fence" => {
            ordering(reader);
            Ok(Line::Op(Type::Void, Op::Fence))
        }
        "atomicrmw" => {
            let operation = reader.cursor.word()?;
            let to = reader.pointer()?;
            reader.comma()?;
            let (ty, value) = reader.typed()?;
            ordering(reader);
            Ok(Line::Op(ty, Op::AtomicUpdate(operation.into(), to, value)))
        }
        _ => {
            let at = reader.pointer()?;
            reader.comma()?;
            let (ty, expected) = reader.typed()?;
            reader.comma()?;
            let new = reader.same(&ty)?;
            ordering(reader);
            let ty = Type::Struct { fields: [ty, Type::Int(1)].into(), packed: false };
            Ok(Line::Op(ty, Op::CompareExchange(at, expected, new)))
        }
    }
}
