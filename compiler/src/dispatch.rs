//! Switching to the next ready process in generated code: shared by segments and shims.

use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value, types};
use cranelift_frontend::FunctionBuilder;

use crate::offset;
use crate::signatures::resume_signature;

/// Flags of an access to memory that is always there and aligned.
pub(crate) fn trusted() -> MemFlagsData {
    MemFlagsData::trusted()
}

/// Goes on with the next ready process, or returns to the scheduler.
pub(crate) fn dispatch(builder: &mut FunctionBuilder, worker: Value) {
    let next = builder.ins().load(types::I64, trusted(), worker, offset::READY_HEAD);
    let (some, run, none) = (builder.create_block(), builder.create_block(), builder.create_block());
    builder.set_cold_block(none);
    builder.ins().brif(next, some, &[], none, &[]);
    builder.switch_to_block(some);
    let attention = attention(builder, worker);
    builder.ins().brif(attention, none, &[], run, &[]);
    builder.switch_to_block(run);
    let after = builder.ins().load(types::I64, trusted(), next, offset::NEXT);
    builder.ins().store(trusted(), after, worker, offset::READY_HEAD);
    count(builder, worker, offset::SWITCHES, 1);
    let resume = builder.ins().load(types::I64, trusted(), next, offset::RESUME);
    let signature = builder.import_signature(resume_signature());
    builder.ins().return_call_indirect(signature, resume, &[worker, next]);
    builder.switch_to_block(none);
    builder.ins().return_(&[]);
}

/// Adds to a counter of the worker.
pub(crate) fn count(builder: &mut FunctionBuilder, worker: Value, counter: i32, by: i64) {
    let value = builder.ins().load(types::I64, trusted(), worker, counter);
    let value = builder.ins().iadd_imm_s(value, by);
    builder.ins().store(trusted(), value, worker, counter);
}

/// Loads what other threads write: the load must not be merged with another one.
pub(crate) fn attention(builder: &mut FunctionBuilder, worker: Value) -> Value {
    let address = builder.ins().iadd_imm_s(worker, offset::ATTENTION as i64);
    builder.ins().atomic_load(types::I32, MemFlagsData::trusted(), address)
}
