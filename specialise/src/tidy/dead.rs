//! Removes dead values, and objects that are written and never read.

use super::calls::{Known, known_call};
use super::roots::{Root, Roots};
use super::surroundings::Surroundings;
use crate::ir::{Access, Body, Compare, Const, Instruction, Op, Operand, ValueId};

/// Removes dead objects, then dead values.
pub(crate) fn remove(body: &mut Body, around: &Surroundings) {
    remove_objects(body, around);
    remove_values(body, around);
}

/// How an instruction uses the objects that its operands point into.
enum Use<'a> {
    /// It only changes the object at this address, or marks its lifetime, and can be removed with it.
    Tends(&'a Operand),
    /// It computes an address in the object.
    Derives,
    /// It tests whether the allocation succeeded.
    Asks,
    /// Any other use.
    Needs,
}

/// How an instruction uses the object that its operand points into.
fn usage<'a>(instruction: &'a Instruction, around: &Surroundings) -> Use<'a> {
    match &instruction.op {
        Op::Store { to, access: Access::Plain, .. } => Use::Tends(to),
        Op::Address { .. } => Use::Derives,
        Op::Compare(Compare::Eq | Compare::Ne, _, Operand::Const(Const::Null)) => Use::Asks,
        op @ Op::Call { args, .. } => match known_call(around.module, op) {
            Some(Known::Copy | Known::Fill | Known::Free) => Use::Tends(&args[0]),
            Some(Known::Lifetime) => args.last().map_or(Use::Needs, Use::Tends),
            _ => Use::Needs,
        },
        _ => Use::Needs,
    }
}

/// Removes local objects that no code reads, with all writes to them.
fn remove_objects(body: &mut Body, around: &Surroundings) {
    let roots = Roots::new(body, around);
    // Parameters have roots like local objects, but other functions may read the memory that they point to.
    let dying = |operand: &Operand| match roots.of(operand) {
        Root::Private(object) if object.0 as usize >= around.params.len() => Some(object),
        _ => None,
    };
    let mut needed = vec![false; body.types.len()];
    let mut need = |operand: &Operand| {
        if let Some(object) = dying(operand) {
            needed[object.0 as usize] = true;
        }
    };
    for block in &body.blocks {
        for instruction in &block.instructions {
            match usage(instruction, around) {
                Use::Tends(object) => {
                    let object = std::ptr::from_ref(object);
                    instruction.op.operands().filter(|o| !std::ptr::eq(*o, object)).for_each(&mut need);
                }
                Use::Derives => {}
                // A removed allocation counts as successful. A test of success compares the pointer itself with null,
                // not a derived address.
                Use::Asks => {
                    let is_derived = |operand: &&Operand| {
                        dying(operand).is_some_and(|object| **operand != Operand::Value(object))
                    };
                    instruction.op.operands().filter(is_derived).for_each(&mut need);
                }
                Use::Needs => instruction.op.operands().for_each(&mut need),
            }
        }
        block.terminator.operand().into_iter().for_each(&mut need);
    }
    let dead = |operand: &Operand| dying(operand).filter(|object| !needed[object.0 as usize]);
    for block in &mut body.blocks {
        block.instructions.retain_mut(|instruction| {
            let goes = match usage(instruction, around) {
                Use::Tends(object) => dead(object).is_some(),
                Use::Derives | Use::Asks | Use::Needs => false,
            };
            if goes {
                return false;
            }
            if let Op::Compare(compare, asked, Operand::Const(Const::Null)) = &instruction.op
                && dead(asked).is_some()
            {
                let there = u128::from(*compare == Compare::Ne);
                instruction.op = Op::Freeze(Operand::Const(Const::int(1, there)));
            }
            !instruction.result.is_some_and(|result| is_dead_allocation(instruction, result, &dead, around))
        });
    }
}

/// Whether an instruction allocates an object that is being removed.
fn is_dead_allocation(
    instruction: &Instruction,
    result: ValueId,
    dead: &impl Fn(&Operand) -> Option<ValueId>,
    around: &Surroundings,
) -> bool {
    let makes = matches!(instruction.op, Op::Alloca { .. })
        || known_call(around.module, &instruction.op) == Some(Known::Allocate);
    makes && dead(&Operand::Value(result)) == Some(result)
}

/// Removes values on which no effect depends.
fn remove_values(body: &mut Body, around: &Surroundings) {
    let mut made: Vec<Option<(u32, u32)>> = vec![None; body.types.len()];
    let mut waiting: Vec<ValueId> = Vec::new();
    let mut live = vec![false; body.types.len()];
    let wake = |operand: &Operand, live: &mut Vec<bool>, waiting: &mut Vec<ValueId>| {
        if let Operand::Value(value) = operand
            && !std::mem::replace(&mut live[value.0 as usize], true)
        {
            waiting.push(*value);
        }
    };
    for (block_at, block) in body.blocks.iter().enumerate() {
        for (at, instruction) in block.instructions.iter().enumerate() {
            if let Some(result) = instruction.result {
                made[result.0 as usize] = Some((block_at as u32, at as u32));
            }
            if has_effect(instruction, around) {
                instruction.op.operands().for_each(|operand| wake(operand, &mut live, &mut waiting));
            }
        }
        block.terminator.operand().into_iter().for_each(|o| wake(o, &mut live, &mut waiting));
    }
    while let Some(value) = waiting.pop() {
        if let Some((block, at)) = made[value.0 as usize] {
            let op = &body.blocks[block as usize].instructions[at as usize].op;
            op.operands().for_each(|operand| wake(operand, &mut live, &mut waiting));
        }
    }
    for block in &mut body.blocks {
        block.instructions.retain(|instruction| {
            has_effect(instruction, around)
                || instruction.result.is_some_and(|result| live[result.0 as usize])
        });
    }
}

/// Whether an instruction does more than compute its result.
fn has_effect(instruction: &Instruction, around: &Surroundings) -> bool {
    match &instruction.op {
        Op::Load { access, .. } => *access != Access::Plain,
        Op::Store { .. } | Op::AtomicUpdate(..) | Op::CompareExchange(..) | Op::Fence => true,
        op @ Op::Call { args, .. } => match known_call(around.module, op) {
            Some(Known::Pure) => false,
            Some(Known::Copy | Known::Fill) => args[2].known_int() != Some(0),
            _ => true,
        },
        _ => false,
    }
}
