//! Records the reasons why a path stayed in a loop or left it.

use super::state::State;
use super::value::Value;
use crate::ir::{BlockId, Body, Const, Op, Operand};

impl State {
    /// Notes the values that decided whether to leave the loops that a branch may leave.
    pub fn note_exit(&mut self, condition: &Operand, known: bool, targets: &[BlockId]) {
        let frame = self.top();
        if frame.loops.is_empty() {
            return;
        }
        let flow = frame.flow.clone();
        let leaves = |header| targets.iter().any(|target| !flow.is_in(*target, header));
        if !frame.loops.iter().any(|round| leaves(round.header)) {
            return;
        }
        let mut reasons = Vec::new();
        if known {
            let body = frame.body.clone();
            let definitions = flow.definitions(&body);
            known_leaves(&body, definitions, &frame.values.clone(), condition, 8, &mut reasons);
        }
        for round in frame.loops.elements().iter_mut().filter(|round| leaves(round.header)) {
            if known {
                round.reasons.extend(reasons.iter().cloned());
            } else {
                round.dynamic_exit = true;
            }
        }
    }
}

/// The known values from which a condition was computed.
fn known_leaves(
    body: &Body,
    definitions: &[Option<(usize, usize)>],
    values: &[Value],
    operand: &Operand,
    depth: u32,
    into: &mut Vec<Const>,
) {
    let Operand::Value(value) = operand else { return };
    let computed = definitions[value.0 as usize]
        .map(|(block, index)| &body.blocks[block].instructions[index].op)
        .filter(|op| {
            matches!(op, Op::Binary(..) | Op::Compare(..) | Op::Cast(..) | Op::Select(..) | Op::Freeze(_))
        });
    match computed {
        Some(op) if depth > 0 => {
            for operand in op.operands() {
                known_leaves(body, definitions, values, operand, depth - 1, into);
            }
        }
        _ => match &values[value.0 as usize] {
            Value::Const(constant) => into.push(constant.clone()),
            Value::Pointer(object, offset) | Value::Address(object, offset) => {
                into.push(Const::int(128, u128::from(object.0) << 64 | u128::from(*offset as u64)));
            }
            _ => {}
        },
    }
}
