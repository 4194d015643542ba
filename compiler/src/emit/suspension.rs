//! Suspension points. A suspension point begins its segment, so nothing has to be saved if the process waits.

use cranelift_codegen::ir::{Block, InstBuilder, Value, types};
use cranelift_module::Module;
use drystone_language::program::LockMode;
use drystone_runtime::layout::{
    EXCLUSIVE_BIT, LOCK_EXCLUSIVE, LOCK_NONE, LOCK_SHARED, LOCK_TESTS, QUEUED_BIT,
};

use super::Build;
use super::communication::Where;
use crate::awaited::Dependence;
use crate::dispatch::trusted;
use crate::entries;
use crate::mir::{BlockId, Failure, SuspensionOp, SuspensionPoint};
use crate::offset;

impl<M: Module> Build<'_, '_, M> {
    /// Translates the suspension point at the beginning of this segment.
    pub(super) fn suspend(&mut self, point: &SuspensionPoint) {
        let location = point.location;
        match &point.op {
            SuspensionOp::Send { reach, interface, message, payload } => {
                self.send(reach, *interface, *message, *payload, location)
            }
            SuspensionOp::Receive { reach, interface, message, payload } => {
                self.receive(reach, *interface, *message, *payload, location)
            }
            SuspensionOp::Test { reach, interface, side, question, to } => {
                self.test(reach, *interface, *side, *question, *to, location);
            }
            SuspensionOp::Input { reach, interface, side, pattern, to } => {
                self.input(reach, *interface, *side, *pattern, *to, location);
            }
            SuspensionOp::Select { sources, until, awaits, to } => {
                self.select(sources, *until, *awaits, *to, location);
            }
            SuspensionOp::Lock(LockMode::Exclusive) => self.lock_alone(Where::Entry),
            SuspensionOp::Lock(LockMode::Shared) => {
                self.or_else(
                    |build, slow| build.try_lock(LockMode::Shared, slow),
                    |build| {
                        let shared = build.builder.ins().iconst(types::I32, 0);
                        let status = build.call_unusual(&entries::LOCK, &[shared]).expect("a status");
                        build.wait_if(status);
                    },
                );
            }
            SuspensionOp::Unlock { mode, written } => self.unlock(*mode, *written),
            SuspensionOp::Home => {}
            SuspensionOp::Await { .. } => self.wait_for_condition(&point.op, Where::Entry),
            SuspensionOp::AwaitTested { .. } => self.wait_to_test_again(&point.op),
            SuspensionOp::Call { to, entry, arguments } => {
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

    /// Tries a further suspension point on the way. If the operation would wait, its own segment takes over.
    pub(super) fn try_suspension(&mut self, id: BlockId) {
        let point = self.code().block(id).suspension.as_ref().expect("only suspension points are tried");
        let slow = self.builder.create_block();
        self.builder.set_cold_block(slow);
        match &point.op {
            SuspensionOp::Send { reach, interface, message, payload } => {
                let communication = self.try_communication(reach, slow);
                let [place, word] =
                    self.try_send(Where::OnTheWay(id), communication, *interface, *message, slow);
                self.set(payload.communication, place);
                self.set(payload.word, word);
            }
            SuspensionOp::Receive { reach, interface, message, payload } => {
                let communication = self.try_communication(reach, slow);
                let word = self.try_receive(Where::OnTheWay(id), communication, *interface, *message, slow);
                self.set(payload.communication, communication);
                self.set(payload.word, word);
            }
            SuspensionOp::Test { reach, interface, side, question, to } => {
                let communication = self.try_communication(reach, slow);
                let answer =
                    self.try_test(Where::OnTheWay(id), communication, (*interface, *side), *question, slow);
                self.set(*to, answer);
            }
            SuspensionOp::Lock(LockMode::Exclusive) => self.lock_alone(Where::OnTheWay(id)),
            SuspensionOp::Lock(mode) => self.try_lock(*mode, slow),
            SuspensionOp::Unlock { mode, written } => self.unlock(*mode, *written),
            SuspensionOp::Home => {}
            SuspensionOp::Await { .. } => self.wait_for_condition(&point.op, Where::OnTheWay(id)),
            SuspensionOp::Input { .. }
            | SuspensionOp::Select { .. }
            | SuspensionOp::AwaitTested { .. }
            | SuspensionOp::Call { .. } => {
                unreachable!("these are not inlined")
            }
        }
        let done = self.builder.create_block();
        self.builder.ins().jump(done, &[]);
        self.builder.switch_to_block(slow);
        self.go_to_segment(id);
        self.builder.switch_to_block(done);
    }

    /// Tries an operation inline; if that fails, calls the runtime.
    fn or_else(&mut self, fast: impl FnOnce(&mut Self, Block), slow: impl FnOnce(&mut Self)) {
        let (slowly, done) = (self.builder.create_block(), self.builder.create_block());
        self.builder.set_cold_block(slowly);
        fast(self, slowly);
        self.builder.ins().jump(done, &[]);
        self.builder.switch_to_block(slowly);
        slow(self);
        self.builder.ins().jump(done, &[]);
        self.builder.switch_to_block(done);
    }

    /// Takes the lock exclusively. If another process has it, the runtime hands it over later.
    fn lock_alone(&mut self, point: Where) {
        self.or_else(
            |build, slow| build.try_lock(LockMode::Exclusive, slow),
            |build| {
                let held = build.builder.ins().load(types::I8, trusted(), build.process, offset::LOCK_HELD);
                let (ours, wait) = (build.builder.create_block(), build.builder.create_block());
                build.builder.ins().brif(held, ours, &[], wait, &[]);
                build.builder.switch_to_block(wait);
                build.resume_at(point);
                let exclusive = build.builder.ins().iconst(types::I32, 1);
                let lock = build.import(build.functions.wait_for_lock);
                build.builder.ins().return_call(lock, &[build.worker, build.process, exclusive]);
                build.builder.switch_to_block(ours);
            },
        );
    }

    /// Takes the lock if it is free. In shared mode: if no process has it exclusively and none is queued.
    fn try_lock(&mut self, mode: LockMode, slow: Block) {
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
            // After a wait, the lock has been handed over already, and other processes may share it.
            let held = self.builder.ins().uload8(types::I32, trusted(), self.process, offset::LOCK_HELD);
            busy = self.builder.ins().bor(busy, held);
        }
        let free = self.builder.create_block();
        self.builder.ins().brif(busy, slow, &[], free, &[]);
        self.builder.switch_to_block(free);
        self.builder.ins().store(trusted(), held, instance, offset::LOCK);
        let bits = self.builder.ins().iconst(types::I8, bits as i64);
        self.builder.ins().store(trusted(), bits, self.process, offset::LOCK_HELD);
    }

    /// Releases the lock, which never waits.
    fn unlock(&mut self, mode: LockMode, written: u64) {
        self.or_else(
            |build, slow| build.try_unlock(mode, slow),
            |build| {
                let written = build.builder.ins().iconst(types::I64, written as i64);
                build.call_unusual(&entries::UNLOCK, &[written]);
            },
        );
    }

    /// Releases the lock if no process is queued.
    fn try_unlock(&mut self, mode: LockMode, slow: Block) {
        let instance = self.instance();
        let lock = self.builder.ins().load(types::I32, trusted(), instance, offset::LOCK);
        let queued = self.builder.ins().band_imm_s(lock, QUEUED_BIT as i64);
        let alone = self.builder.create_block();
        self.builder.ins().brif(queued, slow, &[], alone, &[]);
        self.builder.switch_to_block(alone);
        let left = match mode {
            LockMode::Exclusive => self.builder.ins().iconst(types::I32, 0),
            LockMode::Shared => self.builder.ins().iadd_imm_s(lock, -1),
        };
        self.builder.ins().store(trusted(), left, instance, offset::LOCK);
        let none = self.builder.ins().iconst(types::I8, LOCK_NONE as i64);
        self.builder.ins().store(trusted(), none, self.process, offset::LOCK_HELD);
    }

    /// If the value is not 0, waits at this suspension point, or leaves after a fault.
    pub(super) fn wait_if(&mut self, value: Value) {
        let (wait, go_on) = (self.builder.create_block(), self.builder.create_block());
        self.builder.set_cold_block(wait);
        self.builder.ins().brif(value, wait, &[], go_on, &[]);
        self.builder.switch_to_block(wait);
        self.set_resume(self.entry);
        let leave = self.leave_block();
        self.builder.ins().jump(leave, &[]);
        self.builder.switch_to_block(go_on);
    }

    /// Waits at this suspension point if the result of an entry point says so.
    pub(super) fn wait_on(&mut self, failure: Failure, result: Value) {
        if let Some(wait) = self.is_failure(failure, result) {
            self.wait_if(wait);
        }
    }

    /// Tests the condition and waits while it is false.
    fn wait_for_condition(&mut self, op: &SuspensionOp, point: Where) {
        let &SuspensionOp::Await { condition, dependence, written } = op else {
            unreachable!("called for AWAIT only");
        };
        let answer = self.answer(condition);
        let (holds, waits) = (self.builder.create_block(), self.builder.create_block());
        self.builder.ins().brif(answer, holds, &[], waits, &[]);
        self.builder.switch_to_block(waits);
        self.resume_at(point);
        self.release_and_wait(condition, dependence, written);
        self.builder.switch_to_block(holds);
    }

    /// For a condition that the process tests itself. Goes on if it holds and the lock may be kept; otherwise waits
    /// until the condition is to be tested again.
    fn wait_to_test_again(&mut self, op: &SuspensionOp) {
        let &SuspensionOp::AwaitTested { holds, again, dependence, written } = op else {
            unreachable!("called for such an AWAIT only");
        };
        let answer = self.get(holds);
        let (is_true, waits) = (self.builder.create_block(), self.builder.create_block());
        self.builder.ins().brif(answer, is_true, &[], waits, &[]);
        self.builder.switch_to_block(waits);
        self.set_resume(again);
        self.release_and_wait(again, dependence, written);
        self.builder.switch_to_block(is_true);
        let tests = self.tests_condition();
        let (tell, go_on) = (self.builder.create_block(), self.builder.create_block());
        self.builder.ins().brif(tests, tell, &[], go_on, &[]);
        self.builder.switch_to_block(tell);
        self.set_resume(again);
        let status = self.call_entry(&entries::HOLDS, &[]);
        self.check_failure(entries::HOLDS.failure, status);
        self.builder.ins().jump(go_on, &[]);
        self.builder.switch_to_block(go_on);
    }

    /// Not 0 if the process holds the lock in order to test its condition.
    pub(super) fn tests_condition(&mut self) -> Value {
        let held = self.builder.ins().uload8(types::I32, trusted(), self.process, offset::LOCK_HELD);
        self.builder.ins().band_imm_s(held, i64::from(LOCK_TESTS))
    }

    /// Releases the lock until the condition holds, or until it is to be tested again.
    fn release_and_wait(&mut self, condition: BlockId, dependence: Dependence, written: u64) {
        let description = self.condition(condition, dependence);
        let slot = self.code().shape.condition as i32;
        self.builder.ins().store(trusted(), description, self.process, slot);
        let wait = self.import(self.functions.wait_for_condition);
        let written = self.builder.ins().iconst(types::I64, written as i64);
        self.builder.ins().return_call(wait, &[self.worker, self.process, written]);
    }

    /// The description of a condition for the runtime.
    fn condition(&mut self, condition: BlockId, dependence: Dependence) -> Value {
        let at = (self.cut, condition);
        let tests = self.the_cut().segment_at(condition).is_some_and(|segment| segment.is_condition);
        let function = tests.then(|| self.functions.ids[&at]);
        let data = self.functions.descriptors.condition(self.module, at, function, dependence);
        self.address_of_data(data)
    }

    /// Tests a condition inline.
    fn answer(&mut self, condition: BlockId) -> Value {
        let segment = self.the_cut().segment_at(condition).expect("it has been cut");
        let answer = self.builder.create_block();
        self.builder.append_block_param(answer, types::I64);
        self.answer_to = Some(answer);
        let (at, elements) = (self.at, std::mem::take(&mut self.elements));
        for &id in &segment.blocks {
            let block = self.builder.create_block();
            self.blocks.insert(id, block);
        }
        self.builder.ins().jump(self.blocks[&condition], &[]);
        for &id in &segment.blocks {
            self.builder.switch_to_block(self.blocks[&id]);
            self.instructions(id);
        }
        (self.at, self.elements, self.answer_to) = (at, elements, None);
        self.builder.switch_to_block(answer);
        self.builder.block_params(answer)[0]
    }
}
