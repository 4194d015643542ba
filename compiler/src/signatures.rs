//! Calling conventions: signatures of generated functions and of the runtime's entry points.

use cranelift_codegen::ir::{AbiParam, Signature, Type, types};
use cranelift_codegen::isa::CallConv;

use crate::mir::{Code, EntryPoint, Machine, RegType};

/// Signature of a resume function.
pub(crate) fn resume_signature() -> Signature {
    let mut signature = Signature::new(CallConv::Tail);
    signature.params.extend([AbiParam::new(types::I64), AbiParam::new(types::I64)]);
    signature
}

/// Signature of a condition function.
pub(crate) fn condition_signature() -> Signature {
    let mut signature = Signature::new(CallConv::SystemV);
    signature.params.extend([AbiParam::new(types::I64), AbiParam::new(types::I64)]);
    signature.returns.push(AbiParam::new(types::I32));
    signature
}

/// Signature of a procedure on the processor's stack: the last result tells whether it has failed.
pub(crate) fn native_signature(code: &Code) -> Signature {
    let mut signature = Signature::new(CallConv::SystemV);
    signature.params.extend([AbiParam::new(types::I64), AbiParam::new(types::I64)]);
    signature
        .params
        .extend(code.parameters.iter().map(|reg| AbiParam::new(ir_type(code.registers[reg.0 as usize]))));
    signature.returns.extend(code.result.map(|ty| AbiParam::new(ir_type(ty))));
    signature.returns.push(AbiParam::new(types::I32));
    signature
}

/// Signature of a shim for an unusual entry point: it keeps all registers, and leaves the answer in the worker.
pub(crate) fn unusual_signature(entry: &EntryPoint) -> Signature {
    Signature { call_conv: CallConv::PreserveAll, returns: Vec::new(), ..entry_signature(entry) }
}

/// Signature of a shim for an entry point after which the process stops for now: it switches to the next process.
pub(crate) fn last_signature(entry: &EntryPoint) -> Signature {
    Signature { call_conv: CallConv::Tail, returns: Vec::new(), ..entry_signature(entry) }
}

/// Signature of an entry point of the runtime.
pub(crate) fn entry_signature(entry: &EntryPoint) -> Signature {
    let mut signature = Signature::new(CallConv::SystemV);
    signature.params.extend((0..entry.given).map(|_| AbiParam::new(types::I64)));
    signature.params.extend(entry.arguments.iter().map(|&machine| AbiParam::new(machine_type(machine))));
    signature.returns.extend(entry.result.map(|machine| AbiParam::new(machine_type(machine))));
    signature
}

fn machine_type(machine: Machine) -> Type {
    match machine {
        Machine::I32 => types::I32,
        Machine::I64 => types::I64,
        Machine::F64 => types::F64,
    }
}

pub(crate) fn ir_type(ty: RegType) -> Type {
    match ty {
        RegType::Int => types::I64,
        RegType::Real => types::F64,
    }
}
