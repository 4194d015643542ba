//! Operands of suspension points, instructions and terminators: registers exist and have the right types, and a call
//! has as many arguments as its callee has parameters.

use super::spot::{At, Broken, Spot};
use crate::liveness;
use crate::mir::*;

use RegType::{Int, Real};

pub fn verify(code: &Code, codes: &[Code], first_variant: usize) -> Result<(), Broken> {
    let variants = &codes[first_variant..];
    let results = results(code, variants);
    let entry = Spot { code, block: BlockId(0), at: At::Beginning };
    code.parameters.iter().try_for_each(|&reg| exists(entry, reg))?;
    for (index, block) in code.blocks.iter().enumerate() {
        let spot = Spot { code, block: BlockId(index as u32), at: At::SuspensionPoint };
        // Types are looked up after this.
        let mut unknown = Ok(());
        liveness::visit(block, &mut |reg, _| {
            if unknown.is_ok() {
                unknown = exists(spot.at(At::Beginning), reg);
            }
        });
        unknown?;
        if let Some(point) = &block.suspension {
            operation(spot, &point.op)?;
        }
        for (number, inst) in block.instructions.iter().enumerate() {
            let spot = spot.at(At::Instruction(number));
            match inst {
                Inst::Result(to) => {
                    spot.require(number == 0, || "a result is taken after another instruction".to_string())?;
                    match results[index] {
                        Some(ty) => is(spot, *to, ty)?,
                        None => spot.broken("a result is taken where no function returns to")?,
                    }
                }
                _ => instruction(spot, inst, variants)?,
            }
        }
        end(spot.at(At::End), &block.end, variants)?;
    }
    Ok(())
}

/// For each block, the type of the result of a call that returns there.
fn results(code: &Code, variants: &[Code]) -> Vec<Option<RegType>> {
    let mut results = vec![None; code.blocks.len()];
    for block in &code.blocks {
        if let Terminator::CallProcedure { variant, then, .. } = block.end {
            results[then.0 as usize] = variants.get(variant).and_then(|callee| callee.result);
        }
    }
    results
}

fn operation(spot: Spot, op: &SuspensionOp) -> Result<(), Broken> {
    match op {
        SuspensionOp::Send { reach, payload, .. } | SuspensionOp::Receive { reach, payload, .. } => {
            way(spot, reach)?;
            pair(spot, *payload)
        }
        SuspensionOp::Test { reach, to, .. } | SuspensionOp::Input { reach, to, .. } => {
            way(spot, reach)?;
            is(spot, *to, Int)
        }
        SuspensionOp::Select { sources, until, to, .. } => {
            for source in sources {
                match source {
                    Source::Arrival { reach, .. } => way(spot, reach)?,
                    Source::Condition(reg) => is(spot, *reg, Int)?,
                }
            }
            until.iter().try_for_each(|reg| is(spot, *reg, Int))?;
            is(spot, *to, Int)
        }
        SuspensionOp::Call { to, entry, arguments } => call(spot, *to, entry, arguments),
        SuspensionOp::AwaitTested { holds, .. } => is(spot, *holds, Int),
        SuspensionOp::Lock(_)
        | SuspensionOp::Unlock { .. }
        | SuspensionOp::Home
        | SuspensionOp::Await { .. } => Ok(()),
    }
}

fn instruction(spot: Spot, instruction: &Inst, variants: &[Code]) -> Result<(), Broken> {
    match instruction {
        Inst::Int(to, _) | Inst::Base(to, _) | Inst::Symbol(to, _) => is(spot, *to, Int),
        Inst::Real(to, _) => is(spot, *to, Real),
        Inst::Copy { to, from } => is(spot, *to, type_of(spot, *from)),
        // Whatever a word is: records have values of all types.
        Inst::Word { record, .. } => is(spot, *record, Int),
        Inst::Count { to, sequence } => all(spot, &[*to, *sequence], Int),
        Inst::Place { to, cell, index, .. } => all(spot, &[*to, *cell, *index], Int),
        Inst::Length { to, text } | Inst::Bytes { to, text } => all(spot, &[*to, *text], Int),
        Inst::Op { to, op, a, b } => {
            let (takes, gives) = op.types();
            all(spot, &[*a, *b], takes)?;
            is(spot, *to, gives)
        }
        Inst::Checked { to, a, b, .. } => all(spot, &[*a, *b, *to], Int),
        Inst::Unary { to, operator, from } => {
            let (takes, gives) = operator.types();
            is(spot, *from, takes)?;
            is(spot, *to, gives)
        }
        Inst::Load { to: reg, from: at } | Inst::Store { to: at, value: reg } => {
            address(spot, at)?;
            if at.byte { is(spot, *reg, Int) } else { Ok(()) }
        }
        Inst::Address { to, of } => {
            address(spot, of)?;
            is(spot, *to, Int)
        }
        Inst::Require(reg, ..) => is(spot, *reg, Int),
        Inst::Call { to, entry, arguments } => {
            spot.require(!entry.suspends, || format!("{} may wait, and is no suspension point", entry.name))?;
            call(spot, *to, entry, arguments)
        }
        Inst::CallNative { to, variant, arguments } => {
            let callee = callee(spot, variants, *variant, arguments)?;
            spot.require(callee.native, || {
                format!("{} has a frame, and is called on the processor's stack", callee.name)
            })?;
            match (to, callee.result) {
                (Some(to), Some(ty)) => is(spot, *to, ty),
                (Some(_), None) => spot.broken(format!("{} has no result", callee.name)),
                (None, _) => Ok(()),
            }
        }
        Inst::Find { to, collection, .. } => {
            address(spot, collection)?;
            is(spot, *to, Int)
        }
        Inst::Watch { collection, .. } | Inst::Wrote { collection, .. } => address(spot, collection),
        Inst::Words(to, _) => is(spot, *to, Int),
        Inst::Room { payload, .. } | Inst::Sent { payload, .. } | Inst::Received { payload, .. } => {
            pair(spot, *payload)
        }
        Inst::Fail(..) | Inst::Result(_) => Ok(()),
    }
}

fn end(spot: Spot, end: &Terminator, variants: &[Code]) -> Result<(), Broken> {
    match end {
        Terminator::Branch { condition: reg, .. } | Terminator::Answer(reg) => is(spot, *reg, Int),
        Terminator::CallProcedure { variant, arguments, outer, .. } => {
            let callee = callee(spot, variants, *variant, arguments)?;
            spot.require(!callee.native, || {
                format!("{} has no frame, and is called as if it might wait", callee.name)
            })?;
            spot.require(callee.shape == spot.code.shape, || {
                format!("{} looks for frames elsewhere in the process", callee.name)
            })?;
            outer.map_or(Ok(()), |outer| is(spot, outer, Int))
        }
        Terminator::Return(Some(reg)) => match spot.code.result {
            Some(ty) => is(spot, *reg, ty),
            None => spot.broken("it declares no result"),
        },
        Terminator::Goto(_) | Terminator::Return(None) | Terminator::Finish(_) | Terminator::Unreachable => {
            Ok(())
        }
    }
}

/// The callee, if these arguments fit.
fn callee<'v>(
    spot: Spot,
    variants: &'v [Code],
    variant: usize,
    arguments: &[Reg],
) -> Result<&'v Code, Broken> {
    let Some(callee) = variants.get(variant) else {
        return spot.broken(format!("there is no procedure variant {variant}"));
    };
    count(spot, &callee.name, callee.parameters.len(), arguments)?;
    for (&argument, parameter) in arguments.iter().zip(&callee.parameters) {
        is(spot, argument, callee.registers[parameter.0 as usize])?;
    }
    Ok(callee)
}

/// A call of an entry point.
fn call(spot: Spot, to: Option<Reg>, entry: &EntryPoint, arguments: &[Reg]) -> Result<(), Broken> {
    count(spot, entry.name, entry.arguments.len(), arguments)?;
    for (&argument, &machine) in arguments.iter().zip(entry.arguments) {
        is(spot, argument, held_as(machine))?;
    }
    match (to, entry.result) {
        (Some(to), Some(machine)) => is(spot, to, held_as(machine)),
        (Some(_), None) => spot.broken(format!("{} has no result", entry.name)),
        (None, _) => Ok(()),
    }
}

fn held_as(machine: Machine) -> RegType {
    match machine {
        Machine::I32 | Machine::I64 => Int,
        Machine::F64 => Real,
    }
}

fn count(spot: Spot, name: &str, parameters: usize, arguments: &[Reg]) -> Result<(), Broken> {
    spot.require(parameters == arguments.len(), || {
        format!("{name} takes {parameters} arguments and gets {}", arguments.len())
    })
}

fn way(spot: Spot, reach: &Reach) -> Result<(), Broken> {
    match reach {
        Reach::Service | Reach::Required(_) => Ok(()),
        Reach::Indexed { k: reg, .. } | Reach::Held { instance: reg, .. } => is(spot, *reg, Int),
        Reach::HeldSlot { instance, slot } => all(spot, &[*instance, *slot], Int),
    }
}

fn pair(spot: Spot, payload: Payload) -> Result<(), Broken> {
    all(spot, &[payload.communication, payload.word], Int)
}

fn address(spot: Spot, address: &Address) -> Result<(), Broken> {
    let size = if address.byte { 1 } else { 8 };
    match address.base {
        Base::Reg(reg) => is(spot, reg, Int),
        Base::Frame => {
            let fits = address.offset >= 0 && address.offset + size <= spot.code.frame_size as i32;
            spot.require(fits, || format!("{} lies outside the frame", address.offset))
        }
        Base::Process | Base::Instance => {
            spot.require(address.offset >= 0, || format!("{} lies before its base", address.offset))
        }
    }
}

fn all(spot: Spot, registers: &[Reg], ty: RegType) -> Result<(), Broken> {
    registers.iter().try_for_each(|&reg| is(spot, reg, ty))
}

fn is(spot: Spot, reg: Reg, ty: RegType) -> Result<(), Broken> {
    spot.require(type_of(spot, reg) == ty, || format!("{reg} is not {ty:?}"))
}

fn type_of(spot: Spot, reg: Reg) -> RegType {
    spot.code.registers[reg.0 as usize]
}

fn exists(spot: Spot, reg: Reg) -> Result<(), Broken> {
    let there = (reg.0 as usize) < spot.code.registers.len();
    spot.require(there, || format!("there is no {reg}"))
}
