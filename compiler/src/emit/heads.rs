//! Operations that may wait, at the beginning of a segment: nothing has to be saved if they do.

use cranelift_codegen::ir::{InstBuilder, types};
use cranelift_module::Module;
use drystone_language::program::LockMode;
use drystone_runtime::layout::{EXCLUSIVE_BIT, LOCK_EXCLUSIVE, LOCK_NONE, LOCK_SHARED, QUEUED_BIT};

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
            HeadOp::Lock(mode) => self.lock(*mode),
            HeadOp::Unlock(mode) => self.unlock(*mode),
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

    /// Takes the lock here if nobody has it (or, to share it, nobody has it alone and nobody is queued).
    fn lock(&mut self, mode: LockMode) {
        let instance = self.instance();
        let lock = self.builder.ins().load(types::I32, trusted(), instance, offset::LOCK);
        let (busy, held, bits) = match mode {
            LockMode::Exclusive => {
                let held = self.builder.ins().bor_imm_s(lock, EXCLUSIVE_BIT as i32 as i64);
                (!QUEUED_BIT, held, LOCK_EXCLUSIVE)
            }
            LockMode::Shared => {
                let held = self.builder.ins().iadd_imm_s(lock, 1);
                (EXCLUSIVE_BIT | QUEUED_BIT, held, LOCK_SHARED)
            }
        };
        let mut busy = self.builder.ins().band_imm_s(lock, busy as i32 as i64);
        if mode == LockMode::Shared {
            // After a wait it has been handed over already, and others may share it too.
            let held = self.builder.ins().uload8(types::I32, trusted(), self.process, offset::LOCK_HELD);
            busy = self.builder.ins().bor(busy, held);
        }
        let (slow, free, done) =
            (self.builder.create_block(), self.builder.create_block(), self.builder.create_block());
        self.builder.set_cold_block(slow);
        self.builder.ins().brif(busy, slow, &[], free, &[]);
        self.builder.switch_to_block(free);
        self.builder.ins().store(trusted(), held, instance, offset::LOCK);
        let bits = self.builder.ins().iconst(types::I8, bits as i64);
        self.builder.ins().store(trusted(), bits, self.process, offset::LOCK_HELD);
        self.builder.ins().jump(done, &[]);
        self.builder.switch_to_block(slow);
        let exclusive = self.builder.ins().iconst(types::I32, (mode == LockMode::Exclusive) as i64);
        let status = self.call_entry(&entries::LOCK, &[exclusive]).expect("a status");
        self.wait_if(status);
        self.builder.ins().jump(done, &[]);
        self.builder.switch_to_block(done);
    }

    /// Releases the lock here if nobody is queued.
    fn unlock(&mut self, mode: LockMode) {
        let instance = self.instance();
        let lock = self.builder.ins().load(types::I32, trusted(), instance, offset::LOCK);
        let queued = self.builder.ins().band_imm_s(lock, QUEUED_BIT as i64);
        let (slow, alone, done) =
            (self.builder.create_block(), self.builder.create_block(), self.builder.create_block());
        self.builder.set_cold_block(slow);
        self.builder.ins().brif(queued, slow, &[], alone, &[]);
        self.builder.switch_to_block(alone);
        let left = match mode {
            LockMode::Exclusive => self.builder.ins().iconst(types::I32, 0),
            LockMode::Shared => self.builder.ins().iadd_imm_s(lock, -1),
        };
        self.builder.ins().store(trusted(), left, instance, offset::LOCK);
        let none = self.builder.ins().iconst(types::I8, LOCK_NONE as i64);
        self.builder.ins().store(trusted(), none, self.process, offset::LOCK_HELD);
        self.builder.ins().jump(done, &[]);
        self.builder.switch_to_block(slow);
        self.call_entry(&entries::UNLOCK, &[]);
        self.builder.ins().jump(done, &[]);
        self.builder.switch_to_block(done);
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

}
