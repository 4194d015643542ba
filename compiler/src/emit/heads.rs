//! Operations that may wait, at the beginning of a segment: nothing has to be saved if they do.

use cranelift_codegen::ir::{InstBuilder, types};
use cranelift_module::Module;
use drystone_language::program::LockMode;

use super::{Build, offset, trusted};
use crate::entries;
use crate::mir::*;

impl<M: Module> Build<'_, '_, M> {
    pub(super) fn head(&mut self, head: &Head) {
        let place = head.place;
        match &head.op {
            HeadOp::Send { reach, interface, message, to } => self.send(reach, *interface, *message, *to, place),
            HeadOp::Receive { reach, interface, message, to } => self.receive(reach, *interface, *message, *to, place),
            HeadOp::Test { reach, interface, side, pattern, to } => {
                self.test(reach, *interface, *side, *pattern, *to, place);
            }
            HeadOp::Input { reach, interface, side, pattern, to } => {
                self.input(reach, *interface, *side, *pattern, *to, place);
            }
            HeadOp::Lock(mode) => {
                let exclusive = self.builder.ins().iconst(types::I32, (*mode == LockMode::Exclusive) as i64);
                let status = self.call_entry(&entries::LOCK, &[exclusive]).expect("a status");
                self.wait_if(status);
            }
            HeadOp::Unlock => {
                self.call_entry(&entries::UNLOCK, &[]);
            }
            HeadOp::Await(condition) => self.wait_for_condition(*condition),
            HeadOp::Call(to, entry, arguments) => {
                let arguments = self.arguments(entry, arguments);
                let result = self.call_entry(entry, &arguments);
                if let Some(result) = result {
                    self.wait_on(entry.failure, result);
                }
                if let (Some(to), Some(result)) = (to, result) {
                    self.set(*to, result);
                }
            }
        }
    }

    /// Waits here (or leaves after a fault) if the value is not 0.
    pub(super) fn wait_if(&mut self, value: cranelift_codegen::ir::Value) {
        let (wait, go_on) = (self.builder.create_block(), self.builder.create_block());
        self.builder.set_cold_block(wait);
        self.builder.ins().brif(value, wait, &[], go_on, &[]);
        self.builder.switch_to_block(wait);
        self.set_resume(self.entry);
        let leave = self.leave_block();
        self.builder.ins().jump(leave, &[]);
        self.builder.switch_to_block(go_on);
    }

    /// Waits here if the result of an entry point says so.
    pub(super) fn wait_on(&mut self, failure: Failure, result: cranelift_codegen::ir::Value) {
        use cranelift_codegen::ir::condcodes::IntCC;
        let wait = match failure {
            Failure::Never => return,
            Failure::NotZero => result,
            Failure::Zero => self.builder.ins().icmp_imm_s(IntCC::Equal, result, 0),
            Failure::MinusOne => self.builder.ins().icmp_imm_s(IntCC::Equal, result, -1),
            Failure::Two => self.builder.ins().icmp_imm_s(IntCC::Equal, result, 2),
            Failure::Smallest => self.builder.ins().icmp_imm_s(IntCC::Equal, result, i64::MIN),
        };
        self.wait_if(wait);
    }

    /// Tests the condition and waits while it is false.
    fn wait_for_condition(&mut self, condition: BlockId) {
        let function = self.segment_function(self.cut, condition);
        let call = self.builder.ins().call(function, &[self.worker, self.process]);
        let answer = self.builder.inst_results(call)[0];
        let (holds, other, waits) =
            (self.builder.create_block(), self.builder.create_block(), self.builder.create_block());
        let is_true = self.builder.ins().icmp_imm_s(cranelift_codegen::ir::condcodes::IntCC::Equal, answer, 1);
        self.builder.ins().brif(is_true, holds, &[], other, &[]);
        self.builder.switch_to_block(other);
        let leave = self.leave_block();
        self.builder.ins().brif(answer, leave, &[], waits, &[]);
        self.builder.switch_to_block(waits);
        let address = self.builder.ins().func_addr(types::I64, function);
        let slot = self.code().shape.condition as i32;
        self.builder.ins().store(trusted(), address, self.process, slot);
        self.set_resume(self.entry);
        let status = self.call_entry(&entries::AWAIT, &[]).expect("a status");
        let again = self.builder.create_block();
        self.builder.ins().brif(status, leave, &[], again, &[]);
        self.builder.switch_to_block(again);
        self.builder.ins().jump(holds, &[]);
        self.builder.switch_to_block(holds);
    }

    /// The process's own address is the communication of a service.
    pub(super) fn load_pointer(
        &mut self,
        base: cranelift_codegen::ir::Value,
        at: i32,
    ) -> cranelift_codegen::ir::Value {
        self.builder.ins().load(types::I64, trusted(), base, at)
    }

    /// Offsets used by the other files of this room.
    pub(super) fn communication_of_slot(&mut self, slot: cranelift_codegen::ir::Value) -> cranelift_codegen::ir::Value {
        self.load_pointer(slot, offset::COMMUNICATION)
    }
}
