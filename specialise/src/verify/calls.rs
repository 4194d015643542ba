//! Checks references of a body to its module: functions and variables must exist, and intrinsics must be called as
//! declared.

use super::fault::{Fault, Place, Subject};
use crate::ir::{BlockId, Const, Instruction, Module, Op, Operand};

pub(super) fn verify(subject: &Subject, module: &Module) -> Result<(), Fault> {
    for (place, instruction) in subject.instructions() {
        for operand in instruction.op.operands() {
            exists(module, operand).map_err(|what| subject.fault(place, what))?;
        }
        intrinsic(subject, module, instruction).map_err(|what| subject.fault(place, what))?;
    }
    for (at, block) in subject.body.blocks.iter().enumerate() {
        if let Some(operand) = block.terminator.operand() {
            let place = Place::Terminator(BlockId(at as u32));
            exists(module, operand).map_err(|what| subject.fault(place, what))?;
        }
    }
    Ok(())
}

fn exists(module: &Module, operand: &Operand) -> Result<(), String> {
    match operand {
        Operand::Const(constant) => is_there(module, constant),
        Operand::Value(_) => Ok(()),
    }
}

fn is_there(module: &Module, constant: &Const) -> Result<(), String> {
    match constant {
        Const::Global(id, _) if id.0 as usize >= module.globals.len() => {
            Err(format!("there is no global variable {}", id.0))
        }
        Const::Function(id) if id.0 as usize >= module.functions.len() => {
            Err(format!("there is no function {}", id.0))
        }
        Const::Aggregate(_, fields) => fields.iter().try_for_each(|field| is_there(module, field)),
        Const::Address(_, inner) | Const::Pointer(inner) => is_there(module, inner),
        _ => Ok(()),
    }
}

/// Checks that a call of an intrinsic matches the declaration.
fn intrinsic(subject: &Subject, module: &Module, instruction: &Instruction) -> Result<(), String> {
    let Op::Call { callee: Operand::Const(Const::Function(callee)), args, .. } = &instruction.op else {
        return Ok(());
    };
    let callee = &module.functions[callee.0 as usize];
    if !callee.name.starts_with("llvm.") {
        return Ok(());
    }
    let types = args.iter().map(|arg| subject.body.type_of(arg));
    let agrees = callee.params.iter().map(|param| param.ty.clone()).eq(types.take(callee.params.len()))
        && (callee.variadic || callee.params.len() == args.len());
    if !agrees {
        return Err(format!("the arguments are not those that `{}` takes", callee.name));
    }
    if callee.result != instruction.ty {
        return Err(format!("`{}` gives {}, not {}", callee.name, callee.result, instruction.ty));
    }
    Ok(())
}
