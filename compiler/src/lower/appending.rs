//! `t := t + x` appends to the text in place.

use drystone_language::program::*;
use drystone_language::source::Span;

use super::Lower;
use super::places::Target;
use super::texts::parts_of;
use crate::entries;
use crate::mir::*;
use crate::walk::{self, Visitor};

/// The variable that holds the text.
enum Cell {
    Known(Address),
    Found(Reg),
}

impl Lower<'_, '_> {
    /// Lowers an assignment that appends to the variable's own text; gives whether the assignment is one.
    pub(super) fn append(&mut self, place: &Place, value: &Expression) -> bool {
        let Some((read, parts)) = appended(place, value) else { return false };
        if !parts.iter().all(|part| is_quiet(part)) && !self.stays(place, &parts) {
            return false;
        }
        let target = self.prepare(place);
        // What is put behind it doesn't change it; if it waits or makes elements, this is a variable. And who may
        // change this text has its lock: the text's cell stays where it is.
        let cell = match &target {
            Target::Memory(address) => Cell::Known(*address),
            _ => Cell::Found(self.cell_to_change(&target, read)),
        };
        // Constants at the end needn't be put together with what is before them.
        let constants = parts.iter().rev().take_while(|part| matches!(part.kind, ExpressionKind::Text(_)));
        let (joined, alone) = parts.split_at(parts.len() - constants.count());
        self.append_joined(&cell, joined, value);
        alone.iter().for_each(|part| self.append_joined(&cell, &[part], value));
        self.code.drop_target(&target);
        true
    }

    /// Whether a text stays the same while the parts that are appended are evaluated.
    fn stays(&self, place: &Place, parts: &[&Expression]) -> bool {
        let PlaceKind::Variable(variable) = place.kind else { return false };
        let facts = &self.unit.facts;
        let awaits = |id: ProcedureId| facts.procedures[id.index()].awaits;
        facts.reaching.is_out_of_reach(self.unit.program, variable, self.code.procedure(), parts, awaits)
    }

    /// Appends parts, if there are any, to the text in a cell.
    fn append_joined(&mut self, cell: &Cell, parts: &[&Expression], value: &Expression) {
        if parts.is_empty() {
            return;
        }
        if let Some(character) = self.character_of(parts) {
            let (cell, at) = (self.cell(cell), self.location_register(value.span));
            self.code.call(&entries::TEXT_APPEND_CHARACTER, vec![cell, character, at]);
            return;
        }
        let more = match parts {
            [part] => self.text(part),
            _ => self.concatenated(parts, value),
        };
        let (cell, at) = (self.cell(cell), self.location_register(value.span));
        self.code.call(&entries::TEXT_APPEND, vec![cell, more.reg, at]);
        self.code.drop_text(more);
    }

    fn cell(&mut self, cell: &Cell) -> Reg {
        match *cell {
            Cell::Known(address) => self.code.address(address),
            Cell::Found(register) => register,
        }
    }

    /// The character that is appended, if the parts are a single one.
    fn character_of(&mut self, parts: &[&Expression]) -> Option<Reg> {
        let [Expression { kind, .. }] = parts else { return None };
        match kind {
            ExpressionKind::Builtin(Builtin::CharacterToText, character) => Some(self.value(&character[0])),
            ExpressionKind::Text(bytes) if bytes.len() == 1 => Some(self.code.int(i64::from(bytes[0]))),
            _ => None,
        }
    }
}

/// If `value` is the text in `place` with parts appended: where it reads that text, and the parts.
fn appended<'e>(place: &Place, value: &'e Expression) -> Option<(Span, Vec<&'e Expression>)> {
    let mut parts = parts_of(value);
    let ExpressionKind::Read(read) = &parts.remove(0).kind else { return None };
    let grows = !parts.is_empty() && is_same(read, place);
    grows.then_some((read.span, parts))
}

/// Whether two places are certainly the same, and evaluating them has no effects.
fn is_same(a: &Place, b: &Place) -> bool {
    match (&a.kind, &b.kind) {
        (PlaceKind::Variable(a), PlaceKind::Variable(b)) => a == b,
        (PlaceKind::Element(a, left), PlaceKind::Element(b, right)) => {
            a == b && left.iter().zip(right).all(|(left, right)| is_same_key(left, right))
        }
        (PlaceKind::Field(a, left), PlaceKind::Field(b, right)) => left == right && is_same(a, b),
        _ => false,
    }
}

fn is_same_key(a: &Expression, b: &Expression) -> bool {
    use ExpressionKind::*;
    match (&a.kind, &b.kind) {
        (Integer(a), Integer(b)) => a == b,
        (Character(a), Character(b)) => a == b,
        (Boolean(a), Boolean(b)) => a == b,
        (Text(a), Text(b)) => a == b,
        (Read(a), Read(b)) => matches!(a.kind, PlaceKind::Variable(_)) && is_same(a, b),
        _ => false,
    }
}

/// Whether evaluating an expression changes nothing and never waits.
fn is_quiet(expression: &Expression) -> bool {
    struct Quiet(bool);
    impl Visitor for Quiet {
        fn expression(&mut self, e: &Expression) {
            use ExpressionKind::*;
            self.0 &= matches!(
                e.kind,
                Boolean(_)
                    | Character(_)
                    | Integer(_)
                    | Real(_)
                    | Text(_)
                    | Read(_)
                    | Unary(..)
                    | Binary(..)
                    | Builtin(..)
            );
        }
    }
    let mut quiet = Quiet(true);
    walk::expression(&mut quiet, expression);
    quiet.0
}
