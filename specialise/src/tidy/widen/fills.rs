//! Stores of constants.

use super::pieces::{Pieces, overlaps, parts, range};
use super::room::Room;
use crate::ir::{Const, Op, Operand, Type};
use crate::tidy::memory::Place;

/// A store of a constant.
#[derive(Clone, Copy)]
pub(super) struct Constant {
    /// The position in the block.
    pub(super) position: usize,
    /// The bits that it stores.
    pub(super) bits: u64,
}

/// Stores of constants at one anchor.
pub(super) struct Fill {
    /// The place of the first store.
    pub(super) place: Place,
    /// The stores.
    pub(super) pieces: Pieces<Constant>,
}

impl Fill {
    /// Whether an access overlaps the stored bytes.
    pub(super) fn clashes(&self, place: &Place) -> bool {
        match (place.anchor == self.place.anchor, range(place)) {
            (true, Some((from, to))) => overlaps(&self.pieces, from, to),
            _ => self.place.root.may_alias(place.root),
        }
    }

    /// Writes the group as wider stores.
    pub(super) fn settle(self, widths: &[i64], room: &mut Room) {
        for (width, part) in parts(&self.pieces, widths) {
            let start = part[0].0;
            let bits = part.iter().fold(0, |bits, (at, piece)| bits | piece.bits << ((at - start) * 8));
            let last = part.iter().map(|(_, piece)| piece.position).max().unwrap_or_default();
            let first = room.old[part[0].1.position].clone();
            part.iter().for_each(|(_, piece)| room.old[piece.position] = None);
            room.old[last] = first.map(|mut store| {
                if let Op::Store { value, .. } = &mut store.op {
                    *value = Operand::Const(Const::int(width as u32 * 8, u128::from(bits)));
                }
                store
            });
        }
    }
}

/// The little-endian bits of a constant of at most eight bytes.
pub(super) fn bits(value: &Operand) -> Option<u64> {
    match value {
        Operand::Const(Const::Int { bits: 8 | 16 | 32 | 64, value }) => Some(*value as u64),
        Operand::Const(Const::Float(bits)) => Some(u64::from(*bits)),
        Operand::Const(Const::Zero(Type::Int(8 | 16 | 32 | 64))) => Some(0),
        _ => None,
    }
}
