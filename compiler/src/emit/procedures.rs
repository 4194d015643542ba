//! Calls of procedures: on the processor's stack, or with a frame in the process.

use cranelift_codegen::ir::{InstBuilder, Value, types};
use cranelift_module::Module;

use super::{Build, Form};
use crate::dispatch::trusted;
use crate::entries;
use crate::mir::{BlockId, Failure, LocationId, Reg, Symbol};
use crate::offset;

impl<M: Module> Build<'_, '_, M> {
    pub(super) fn call_native(&mut self, to: Option<Reg>, variant: usize, arguments: &[Reg]) {
        let cut = self.functions.first_variant + variant;
        let function = self.segment_function(cut, BlockId(0));
        let mut all = vec![self.worker, self.process];
        for &reg in arguments {
            let value = self.get(reg);
            all.push(value);
        }
        let call = self.builder.ins().call(function, &all);
        let results = self.builder.inst_results(call).to_vec();
        let failed = *results.last().expect("every procedure tells whether it failed");
        self.check_failure(Failure::NotZero, Some(failed));
        if let Some(to) = to {
            self.set(to, results[0]);
        }
    }

    pub(super) fn call_procedure(
        &mut self,
        variant: usize,
        arguments: &[Reg],
        outer: Option<Reg>,
        then: BlockId,
        location: LocationId,
    ) {
        let cut = self.functions.first_variant + variant;
        let description = self.symbol(&Symbol::Frame(cut));
        let location = self.builder.ins().iconst(types::I32, location as i64);
        let innermost = self.innermost_frame();
        let frame = self.call_entry(&entries::FRAME_NEW, &[innermost, description, location]);
        self.check_failure(Failure::Zero, frame);
        let frame = frame.expect("a frame");
        let cuts = self.functions.cuts;
        let callee = &cuts[cut];
        for (&argument, parameter) in arguments.iter().zip(&callee.code.parameters) {
            let value = self.get(argument);
            self.builder.ins().store(trusted(), value, frame, callee.slots[parameter] as i32);
        }
        if let Some(outer) = outer {
            let outer = self.get(outer);
            self.builder.ins().store(trusted(), outer, frame, offset::OUTER);
        }
        let after = self.segment_function(self.cut, then);
        let return_to = self.builder.ins().func_addr(types::I64, after);
        self.builder.ins().store(trusted(), return_to, frame, offset::RETURN_TO);
        self.save_for(then);
        let entry = self.segment_function(cut, BlockId(0));
        self.builder.ins().return_call(entry, &[self.worker, self.process]);
    }

    pub(super) fn return_from_procedure(&mut self, result: Option<Reg>) {
        if self.form == Form::Native {
            let mut results = Vec::new();
            if let Some(result) = result {
                let value = self.get(result);
                results.push(value);
            }
            results.push(self.builder.ins().iconst(types::I32, 0));
            self.builder.ins().return_(&results);
            return;
        }
        if let Some(result) = result {
            let value = self.get(result);
            self.builder.ins().store(trusted(), value, self.worker, offset::RESULT);
        }
        let return_to = self.builder.ins().load(types::I64, trusted(), self.frame, offset::RETURN_TO);
        let innermost = self.innermost_frame();
        self.call_entry(&entries::FRAME_END, &[innermost]);
        self.jump_to_address(return_to, self.process);
    }

    /// The address of the process's pointer to its innermost procedure frame.
    fn innermost_frame(&mut self) -> Value {
        let place = self.code().shape.frame;
        self.builder.ins().iadd_imm_s(self.process, i64::from(place))
    }
}
