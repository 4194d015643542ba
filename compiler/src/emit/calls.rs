//! Calls of the runtime's entry points, and tests of their results.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{FuncRef, InstBuilder, Value, types};
use cranelift_module::{FuncId, Module};

use super::Build;
use crate::dispatch::count;
use crate::dispatch::trusted;
use crate::mir::{BlockId, EntryPoint, Failure, Machine, Reg};
use crate::offset;

impl<M: Module> Build<'_, '_, M> {
    /// Calls an entry point with arguments of the right types, and widens the result. Does not test for failure.
    pub(super) fn call_entry(&mut self, entry: &'static EntryPoint, arguments: &[Value]) -> Option<Value> {
        let id = self.functions.entries[entry.name];
        let function = self.import(id);
        let mut all = vec![self.worker, self.process];
        all.truncate(entry.given);
        all.extend(arguments);
        let call = self.builder.ins().call(function, &all);
        let result = self.builder.inst_results(call).first().copied()?;
        Some(match entry.result {
            Some(Machine::I32) => self.builder.ins().sextend(types::I64, result),
            _ => result,
        })
    }

    /// Calls an entry point in an unusual case, through its shim, and widens the result.
    pub(super) fn call_unusual(&mut self, entry: &'static EntryPoint, arguments: &[Value]) -> Option<Value> {
        let id = self.functions.unusual[entry.name];
        let function = self.import(id);
        let mut all = vec![self.worker, self.process];
        all.truncate(entry.given);
        all.extend(arguments);
        self.builder.ins().call(function, &all);
        entry.result?;
        Some(self.builder.ins().load(types::I64, trusted(), self.worker, offset::ANSWER))
    }

    /// Loads arguments from registers, narrowed where the entry point wants it.
    pub(super) fn arguments(&mut self, entry: &'static EntryPoint, registers: &[Reg]) -> Vec<Value> {
        let mut values = Vec::new();
        for (&reg, &machine) in registers.iter().zip(entry.arguments) {
            let value = self.get(reg);
            values.push(match machine {
                Machine::I32 => self.builder.ins().ireduce(types::I32, value),
                _ => value,
            });
        }
        values
    }

    /// A value that is not 0 if the result of an entry point means failure; `None` if it cannot fail.
    pub(super) fn is_failure(&mut self, failure: Failure, result: Value) -> Option<Value> {
        let failed = match failure {
            Failure::Never => return None,
            Failure::NotZero => return Some(result),
            Failure::Zero => 0,
            Failure::MinusOne => -1,
            Failure::Two => 2,
            Failure::Smallest => i64::MIN,
        };
        Some(self.builder.ins().icmp_imm_s(IntCC::Equal, result, failed))
    }

    /// Leaves the function if the result means failure.
    pub(super) fn check_failure(&mut self, failure: Failure, result: Option<Value>) {
        let Some(failed) = result.and_then(|result| self.is_failure(failure, result)) else { return };
        let leave = self.leave_block();
        let go_on = self.builder.create_block();
        self.builder.ins().brif(failed, leave, &[], go_on, &[]);
        self.builder.switch_to_block(go_on);
    }

    /// Adds to a counter of the worker.
    pub(super) fn count(&mut self, counter: i32, by: i64) {
        count(&mut self.builder, self.worker, counter, by);
    }

    pub(super) fn segment_function(&mut self, cut: usize, at: BlockId) -> FuncRef {
        let id = self.functions.ids[&(cut, at)];
        self.import(id)
    }

    pub(super) fn import(&mut self, id: FuncId) -> FuncRef {
        if let Some(&function) = self.imported.get(&id) {
            return function;
        }
        let function = self.module.declare_func_in_func(id, self.builder.func);
        self.imported.insert(id, function);
        function
    }
}
