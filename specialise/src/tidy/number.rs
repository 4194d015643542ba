//! Renumbers the values of a function without gaps, in the order of their definitions.

use crate::ir::{Body, Operand, Type, ValueId};
use std::rc::Rc;

/// Renumbers all values; parameters keep their numbers.
pub(crate) fn number(body: &mut Body, params: usize) {
    let mut new: Vec<Option<ValueId>> = vec![None; body.types.len()];
    let mut types: Vec<Type> = Vec::new();
    let mut names: Vec<Rc<str>> = Vec::new();
    let none: Rc<str> = Rc::from("");
    let results = body.blocks.iter().flat_map(|block| &block.instructions).filter_map(|i| i.result);
    for old in (0..params.min(body.types.len())).map(|at| ValueId(at as u32)).chain(results) {
        let at = old.0 as usize;
        if new[at].is_some() {
            continue;
        }
        new[at] = Some(ValueId(types.len() as u32));
        types.push(body.types[at].clone());
        names.push(body.names.get(at).unwrap_or(&none).clone());
    }
    let mut undefined = |value: ValueId| {
        // Only unreachable code uses a value that is never computed; that value gets a number of its own.
        types.push(body.types[value.0 as usize].clone());
        ValueId(types.len() as u32 - 1)
    };
    for block in &mut body.blocks {
        for instruction in &mut block.instructions {
            instruction.result = instruction.result.and_then(|result| new[result.0 as usize]);
            instruction.op.operands_mut().for_each(|operand| renumber(operand, &mut new, &mut undefined));
        }
        if let Some(operand) = block.terminator.operand_mut() {
            renumber(operand, &mut new, &mut undefined);
        }
    }
    while names.last().is_some_and(|name| name.is_empty()) {
        names.pop();
    }
    body.types = types;
    body.names = names;
}

/// Gives an operand its new number.
fn renumber(
    operand: &mut Operand,
    new: &mut [Option<ValueId>],
    undefined: &mut impl FnMut(ValueId) -> ValueId,
) {
    if let Operand::Value(value) = operand {
        let old = *value;
        *value = *new[old.0 as usize].get_or_insert_with(|| undefined(old));
    }
}
