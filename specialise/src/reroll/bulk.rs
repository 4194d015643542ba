//! Chooses the replacement of a run: one call of `memset` or `memcpy` if the run fills or copies bytes without a gap,
//! otherwise a loop.

use super::counted::counted;
use super::draft::{Draft, Fresh};
use super::fit::{Fit, Slot, Source, operand};
use super::rewrite::{Change, Made};
use super::steps::{Steps, What};
use crate::ir::{Access, CallAttributes, Const, Effects, FunctionId, Instruction, Module, Op, Operand, Type};
use crate::tidy::{Known, Root, Roots, Surroundings, known_call};
use std::rc::Rc;

/// Fills, and copies without overlap, of at most this many bytes are not replaced: wide accesses serve them better.
const SMALL: i64 = 32;

/// The functions that replace whole runs.
#[derive(Clone, Copy, Debug)]
pub struct Bulk {
    /// `llvm.memcpy` with 64-bit length.
    pub copy: FunctionId,
    /// `llvm.memset` with 64-bit length.
    pub fill: FunctionId,
}

impl Bulk {
    /// Finds the functions in a module, or declares them there.
    pub fn declare(module: &mut Module) -> Bulk {
        let copy = [Type::Ptr, Type::Ptr, Type::WORD, Type::Int(1)];
        let fill = [Type::Ptr, Type::Int(8), Type::WORD, Type::Int(1)];
        Bulk {
            copy: module.declare("llvm.memcpy.p0.p0.i64", &copy, Type::Void, Effects::Arguments),
            fill: module.declare("llvm.memset.p0.i64", &fill, Type::Void, Effects::Arguments),
        }
    }
}

/// The context of the choice.
pub(super) struct Scene<'a> {
    /// The module.
    pub(super) around: &'a Surroundings<'a>,
    /// The objects that pointers point into.
    pub(super) roots: &'a Roots,
    /// The functions for bulk calls.
    pub(super) bulk: &'a Bulk,
}

/// The bytes that each repetition touches at one place.
#[derive(Clone)]
struct Stretch<'a> {
    /// The address of the first byte in the first repetition.
    slot: Slot<'a>,
    /// The index terms of the address.
    terms: Vec<Slot<'a>>,
    /// The number of bytes.
    size: i64,
}

/// The effect of a run on memory, if it has no other effect.
enum Meaning<'a> {
    /// It fills bytes with one value.
    Fill(Stretch<'a>, u8),
    /// It copies bytes.
    Copy(Stretch<'a>, Stretch<'a>),
}

/// The replacement of a run; `None` if the run stays as it is.
pub(super) fn choose(steps: &Steps, fit: &Fit, scene: &Scene, fresh: &mut Fresh) -> Option<Change> {
    let made = match meaning(steps, fit, scene) {
        Some(Meaning::Fill(to, _)) if whole(fit, &to) <= SMALL => return None,
        Some(Meaning::Copy(to, from)) if whole(fit, &to) <= SMALL && apart(fit, &to, &from, scene) => {
            return None;
        }
        Some(Meaning::Fill(to, byte)) => {
            let byte = Operand::Const(Const::int(8, u128::from(byte)));
            Made::Bulk(call(steps, fit, scene.bulk.fill, to, |_| byte, fresh))
        }
        Some(Meaning::Copy(to, from)) if apart(fit, &to, &from, scene) => {
            let from = |draft: &mut Draft| pointer(fit, &from, draft);
            Made::Bulk(call(steps, fit, scene.bulk.copy, to, from, fresh))
        }
        _ => counted(steps, fit, fresh),
    };
    Some(Change::new(steps, fit, made))
}

/// The number of bytes that a run touches.
fn whole(fit: &Fit, to: &Stretch) -> i64 {
    to.size.saturating_mul(fit.repetitions as i64)
}

/// Writes a bulk call.
fn call(
    steps: &Steps,
    fit: &Fit,
    callee: FunctionId,
    to: Stretch,
    second: impl FnOnce(&mut Draft) -> Operand,
    fresh: &mut Fresh,
) -> Vec<Instruction> {
    let place = steps.instruction(fit.start).place;
    let mut draft = Draft::new(fresh, place);
    let length = Operand::Const(Const::int(64, to.size as u128 * fit.repetitions as u128));
    let args =
        vec![pointer(fit, &to, &mut draft), second(&mut draft), length, Operand::Const(Const::int(1, 0))];
    let op = Op::Call {
        callee: Operand::Const(Const::Function(callee)),
        args,
        variadic: None,
        attributes: Rc::new(CallAttributes::default()),
    };
    draft.instructions.push(Instruction { result: None, ty: Type::Void, op, place });
    draft.instructions
}

/// The lowest address that is touched.
fn pointer(fit: &Fit, stretch: &Stretch, draft: &mut Draft) -> Operand {
    let terms = stretch.terms.iter();
    let terms =
        terms.map(|term| (draft.fixed(term.first.what, term.first.number, Vec::new()), term.first.scale));
    let terms = terms.collect();
    draft.fixed(stretch.slot.first.what, u128::from(lowest(fit, stretch).cast_unsigned()), terms)
}

/// The offset of the lowest address that is touched.
fn lowest(fit: &Fit, stretch: &Stretch) -> i64 {
    let (first, last) = (stretch.slot.number(0), stretch.slot.number(fit.repetitions - 1));
    (first as u64).cast_signed().min((last as u64).cast_signed())
}

/// Whether no byte is written before it has been copied.
fn apart(fit: &Fit, to: &Stretch, from: &Stretch, scene: &Scene) -> bool {
    if same_anchor(to, from) {
        let distance = lowest(fit, to).abs_diff(lowest(fit, from));
        return distance >= to.size as u64 * fit.repetitions as u64;
    }
    let root = |stretch: &Stretch| match stretch.slot.first.what {
        What::Int(_) => Root::Unknown,
        what => scene.roots.of(&operand(what)),
    };
    !root(to).may_alias(root(from))
}

/// Whether two places differ only in their offset.
fn same_anchor(a: &Stretch, b: &Stretch) -> bool {
    let same = |a: &Slot, b: &Slot| a.source == b.source && a.first.scale == b.first.scale;
    same(&a.slot, &b.slot)
        && a.terms.len() == b.terms.len()
        && a.terms.iter().zip(&b.terms).all(|(a, b)| same(a, b) && a.first.number == b.first.number)
}

/// The effect of a run that only fills, or only copies, bytes that follow each other from repetition to repetition.
fn meaning<'a>(steps: &Steps<'a>, fit: &Fit<'a>, scene: &Scene) -> Option<Meaning<'a>> {
    let mut reader = Reader { slots: fit.slots.iter(), loads: Vec::new() };
    let mut fills: Vec<(Stretch, u8)> = Vec::new();
    let mut copies: Vec<(Stretch, Stretch)> = Vec::new();
    for position in 0..fit.period {
        let instruction = steps.instruction(fit.start + position);
        match &instruction.op {
            Op::Load { access: Access::Plain, .. } => {
                let (slot, terms) = reader.operand()?;
                let from = reader.stretch(slot, terms, &instruction.ty)?;
                if steps.is_used_from(fit.last(position), fit.end()) {
                    return None;
                }
                reader.loads.push((position, from));
            }
            Op::Store { value, access: Access::Plain, .. } => {
                let ((value_slot, none), (slot, terms)) = (reader.operand()?, reader.operand()?);
                let to = reader.stretch(slot, terms, &steps.body.type_of(value))?;
                match value_slot.source {
                    Source::Same(made)
                        if value_slot.first.number == 0 && value_slot.step == 0 && none.is_empty() =>
                    {
                        copies.push((to, reader.loaded(made)?));
                    }
                    Source::Always(_) => fills.push((to, reader.byte(&value_slot, value)?)),
                    _ => return None,
                }
            }
            op @ Op::Call { .. } => {
                let known = known_call(scene.around.module, op)?;
                let parts = [reader.operand()?, reader.operand()?, reader.operand()?, reader.operand()?];
                let [_, (to, to_terms), (second, second_terms), (length, _)] = parts;
                reader.operand()?;
                let bytes = match length.source {
                    Source::Always(What::Int(_)) if length.step == 0 => {
                        i64::try_from(length.first.number).ok()?
                    }
                    _ => return None,
                };
                let to = reader.bytes(to, to_terms, bytes)?;
                match known {
                    Known::Copy => copies.push((to, reader.bytes(second, second_terms, bytes)?)),
                    Known::Fill if second.step == 0 && matches!(second.first.what, What::Int(8)) => {
                        fills.push((to, second.first.number as u8));
                    }
                    _ => return None,
                }
            }
            _ => return None,
        }
    }
    if !reader.loads.is_empty() {
        return None; // loaded, but not stored
    }
    match (fills.is_empty(), copies.is_empty()) {
        (false, true) => {
            let byte = fills[0].1;
            let all_same = fills.iter().all(|(_, other)| *other == byte);
            let stretches: Vec<Stretch> = fills.into_iter().map(|(to, _)| to).collect();
            all_same.then(|| joined(fit, &stretches)).flatten().map(|to| Meaning::Fill(to, byte))
        }
        (true, false) => {
            let distance = |(to, from): &(Stretch, Stretch)| {
                to.slot.first.number.wrapping_sub(from.slot.first.number) as u64
            };
            let first = distance(&copies[0]);
            let turned = |(to, from): &(Stretch, Stretch)| to.slot.step != from.slot.step;
            if copies.iter().any(|copy| distance(copy) != first || turned(copy)) {
                return None;
            }
            let (to, from): (Vec<Stretch>, Vec<Stretch>) = copies.into_iter().unzip();
            Some(Meaning::Copy(joined(fit, &to)?, joined(fit, &from)?))
        }
        _ => None,
    }
}

/// All stretches joined into one, if they follow each other without gaps, within a repetition and from one repetition
/// to the next.
fn joined<'a>(fit: &Fit, stretches: &[Stretch<'a>]) -> Option<Stretch<'a>> {
    let mut sorted: Vec<&Stretch> = stretches.iter().collect();
    let offset = |stretch: &Stretch| (stretch.slot.first.number as u64).cast_signed();
    sorted.sort_by_key(|stretch| offset(stretch));
    let first = (*sorted.first()?).clone();
    let mut end = offset(&first);
    for stretch in sorted {
        if offset(stretch) != end || stretch.slot.step != first.slot.step || !same_anchor(stretch, &first) {
            return None;
        }
        end = end.checked_add(stretch.size)?;
    }
    let size = end.checked_sub(offset(&first))?;
    let step = (first.slot.step as u64).cast_signed();
    let fits = i64::try_from(fit.repetitions).ok()?.checked_mul(size)?.checked_add(end).is_some();
    (fits && (step == size || step == -size)).then_some(Stretch { size, ..first })
}

/// Reads the operands of a group.
struct Reader<'r, 'a> {
    /// The operands still to be read.
    slots: std::slice::Iter<'r, Slot<'a>>,
    /// Loaded bytes that have not been stored, by position in the group.
    loads: Vec<(usize, Stretch<'a>)>,
}

impl<'a> Reader<'_, 'a> {
    /// The next operand, with its indices.
    fn operand(&mut self) -> Option<(Slot<'a>, Vec<Slot<'a>>)> {
        let slot = *self.slots.next()?;
        let terms = self.slots.by_ref().take(slot.first.terms as usize).copied().collect();
        Some((slot, terms))
    }

    /// The bytes that a value of a type occupies at an address.
    fn stretch(&self, slot: Slot<'a>, terms: Vec<Slot<'a>>, ty: &Type) -> Option<Stretch<'a>> {
        let size = ty.store_size();
        let whole = ty.is_scalar() && size * 8 == ty.bits();
        whole.then(|| self.bytes(slot, terms, i64::try_from(size).ok()?)).flatten()
    }

    /// The bytes at an address of which only the number changes between repetitions.
    fn bytes(&self, slot: Slot<'a>, terms: Vec<Slot<'a>>, size: i64) -> Option<Stretch<'a>> {
        let steady = terms.iter().all(|term| term.step == 0 && matches!(term.source, Source::Always(_)));
        let based = matches!(slot.source, Source::Always(What::Value(_) | What::Global(_)));
        (steady && based && size > 0).then_some(Stretch { slot, terms, size })
    }

    /// The bytes that a step of the group has loaded, for their only store.
    fn loaded(&mut self, position: usize) -> Option<Stretch<'a>> {
        let at = self.loads.iter().position(|(made, _)| *made == position)?;
        Some(self.loads.swap_remove(at).1)
    }

    /// The byte of which all bytes of a constant are copies.
    fn byte(&self, slot: &Slot<'a>, value: &Operand) -> Option<u8> {
        let (bits, number) = match (slot.first.what, value) {
            _ if slot.step != 0 => return None,
            (What::Int(bits), _) => (bits, slot.number(0)),
            (What::Fixed(Const::Null | Const::Zero(_)), _) => (8, 0),
            (What::Fixed(Const::Float(bits)), _) => (32, u128::from(*bits)),
            (What::Fixed(Const::Double(bits)), _) => (64, u128::from(*bits)),
            _ => return None,
        };
        let bytes = number.to_le_bytes();
        bytes[..bits as usize / 8].iter().all(|byte| *byte == bytes[0]).then_some(bytes[0])
    }
}
