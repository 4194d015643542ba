//! Small functions between segments and the runtime, which convert between their calling conventions.

use std::collections::HashMap;

use cranelift_codegen::ir::{AbiParam, InstBuilder, MemFlagsData, Signature, Value, types};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::FunctionBuilder;
use cranelift_module::{FuncId, Linkage, Module};

use crate::dispatch::dispatch;
use crate::mir::EntryPoint;
use crate::signatures::{last_signature, resume_signature, unusual_signature};
use crate::workbench::Workbench;
use crate::{entries, offset};

/// The signature `(worker, process)` with which the scheduler calls.
fn plain_signature() -> Signature {
    let mut signature = Signature::new(CallConv::SystemV);
    signature.params.extend([AbiParam::new(types::I64), AbiParam::new(types::I64)]);
    signature
}

/// Defines a function with one block; `build` gets its parameters.
pub(crate) fn shim<M: Module>(
    module: &mut M,
    workbench: &mut Workbench,
    name: &str,
    signature: Signature,
    build: impl FnOnce(&mut M, &mut FunctionBuilder, &[Value]),
) -> FuncId {
    let id = module.declare_function(name, Linkage::Local, &signature).expect("a fresh name");
    workbench.define(module, id, signature, |module, mut builder| {
        let block = builder.create_block();
        builder.append_block_params_for_function_params(block);
        builder.switch_to_block(block);
        let parameters = builder.block_params(block).to_vec();
        build(module, &mut builder, &parameters);
        builder.seal_all_blocks();
        builder.finalize(module.target_config());
    });
    id
}

/// `enter(worker, process)`: from the scheduler's calling convention to that of resume functions.
pub(crate) fn enter<M: Module>(module: &mut M, workbench: &mut Workbench) -> FuncId {
    shim(module, workbench, "ds_enter", plain_signature(), |_, builder, parameters| {
        let resume = builder.ins().load(types::I64, MemFlagsData::trusted(), parameters[1], offset::RESUME);
        let signature = builder.import_signature(resume_signature());
        builder.ins().call_indirect(signature, resume, parameters);
        builder.ins().return_(&[]);
    })
}

/// The resume function of native processes: calls the runtime, then returns to the scheduler.
pub(crate) fn native<M: Module>(
    module: &mut M,
    workbench: &mut Workbench,
    entries: &HashMap<&'static str, FuncId>,
) -> FuncId {
    shim(module, workbench, "ds_native_shim", resume_signature(), |module, builder, parameters| {
        let native = module.declare_func_in_func(entries[entries::NATIVE.name], builder.func);
        builder.ins().call(native, parameters);
        builder.ins().return_(&[]);
    })
}

/// Shims for the unusual entry points. They keep all registers, and leave the answer in the worker.
pub(crate) fn unusual<M: Module>(
    module: &mut M,
    workbench: &mut Workbench,
    entries: &HashMap<&'static str, FuncId>,
) -> HashMap<&'static str, FuncId> {
    let mut make = |entry: &EntryPoint| {
        let name = format!("{}_unusual", entry.name);
        shim(module, workbench, &name, unusual_signature(entry), |module, builder, parameters| {
            let function = module.declare_func_in_func(entries[entry.name], builder.func);
            let call = builder.ins().call(function, parameters);
            if let Some(&answer) = builder.inst_results(call).first() {
                let answer = match builder.func.dfg.value_type(answer) {
                    types::I32 => builder.ins().sextend(types::I64, answer),
                    _ => answer,
                };
                builder.ins().store(MemFlagsData::trusted(), answer, parameters[0], offset::ANSWER);
            }
            builder.ins().return_(&[]);
        })
    };
    entries::UNUSUAL.iter().map(|entry| (entry.name, make(entry))).collect()
}

/// A shim for an entry point after which the process cannot go on: it switches to the next process.
pub(crate) fn last<M: Module>(
    module: &mut M,
    workbench: &mut Workbench,
    entries: &HashMap<&'static str, FuncId>,
    entry: &EntryPoint,
) -> FuncId {
    let name = format!("{}_last", entry.name);
    shim(module, workbench, &name, last_signature(entry), |module, builder, parameters| {
        let function = module.declare_func_in_func(entries[entry.name], builder.func);
        builder.ins().call(function, parameters);
        dispatch(builder, parameters[0]);
    })
}
