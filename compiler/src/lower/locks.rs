//! The component's lock: taken by blocks and expressions, given up by AWAIT.

use drystone_language::program::*;
use drystone_language::source::Span;

use super::Lower;
use super::scope::Runs;
use crate::awaited::EVERYTHING;
use crate::classify::BodyKey;
use crate::entries;
use crate::mir::{Address, Base, EntryPoint, Inst, Op, Reg, RegType, SuspensionOp, Terminator};

impl Lower<'_, '_> {
    /// Whether a block takes the lock that it asks for: it is not held, and this is no condition.
    pub(super) fn may_take_lock(&self) -> bool {
        self.lock.mode().is_none() && !self.code.in_condition
    }

    /// Takes the lock; `written` has the bits of what may be written until its release.
    pub(super) fn take_lock(&mut self, mode: LockMode, written: u64, span: Span) {
        let location = self.location(span);
        self.code.suspend(SuspensionOp::Lock(mode), location);
        self.lock.take(mode, written);
        self.lock_of_handlers(&entries::KEEP);
    }

    /// Releases the lock that was taken here.
    pub(super) fn release_lock(&mut self, span: Span) {
        let location = self.location(span);
        let (mode, written) = self.lock.release();
        self.lock_of_handlers(&entries::GIVE_BACK);
        self.code.suspend(SuspensionOp::Unlock { mode, written }, location);
    }

    /// Holds the lock while something is evaluated.
    pub(super) fn locked<T>(
        &mut self,
        mode: LockMode,
        inner: &Expression,
        evaluate: impl FnOnce(&mut Self) -> T,
    ) -> T {
        if !self.may_take_lock() {
            return evaluate(self);
        }
        let written = self.unit.awaited.written_in(inner);
        self.take_lock(mode, written, inner.span);
        let value = evaluate(self);
        self.release_lock(inner.span);
        value
    }

    /// `AWAIT(condition, limit)`. An alarm wakes the process when the time is up; then it tests the condition once
    /// more.
    pub(super) fn timed_await(&mut self, condition: &Expression, limit: &Expression, span: Span) -> Reg {
        let limit = self.value(limit);
        let holds = self.code.reg(RegType::Int);
        let now = self.value(condition);
        self.code.inst(Inst::Copy { to: holds, from: now });
        let [try_limit, wait, done] = [(); 3].map(|()| self.code.new_block());
        self.code.end(Terminator::Branch { condition: holds, yes: done, no: try_limit });
        self.code.start(try_limit);
        let zero = self.code.int(0);
        let may_wait = self.code.op(Op::Less, zero, limit);
        self.code.end(Terminator::Branch { condition: may_wait, yes: wait, no: done });
        self.code.start(wait);
        let location = self.location(span);
        self.code.suspend(SuspensionOp::Home, location);
        let deadline = self.code.call(&entries::DEADLINE, vec![limit]);
        let alarm = self.code.call(&entries::ALARM, vec![deadline]);
        self.await_condition(condition, true, span, |lower| {
            let holds = lower.value(condition);
            let late = lower.code.call(&entries::IS_PAST, vec![deadline]);
            lower.code.op(Op::Or, holds, late)
        });
        self.code.perform(&entries::ALARM_OVER, vec![deadline, alarm]);
        let then = self.value(condition);
        self.code.inst(Inst::Copy { to: holds, from: then });
        self.code.go(done);
        self.code.start(done);
        holds
    }

    /// Waits until what `test` computes holds: the condition, or one that only this process knows (`is_own`). It is
    /// tested by processes that release the lock; by this process itself, if that may take long.
    pub(super) fn await_condition(
        &mut self,
        condition: &Expression,
        is_own: bool,
        span: Span,
        test: impl FnOnce(&mut Self) -> Reg,
    ) {
        let location = self.location(span);
        let mut dependence = self.unit.awaited.dependence(self.unit.program, self.scope.template, condition);
        dependence.common &= !is_own;
        // Under a caller's lock nobody here knows what the caller has written.
        let written = self.lock.written().unwrap_or(EVERYTHING);
        if self.unit.facts.takes_long(self.unit.program, condition) {
            self.code.begin_segment();
            let again = self.code.current();
            self.lock.watches = dependence.watches;
            let holds = test(self);
            self.lock.watches = false;
            self.code.suspend(SuspensionOp::AwaitTested { holds, again, dependence, written }, location);
            return;
        }
        let entry = self.code.new_block();
        self.code.suspend(SuspensionOp::Await { condition: entry, dependence, written }, location);
        let after = self.code.current();
        let in_condition = std::mem::replace(&mut self.code.in_condition, true);
        self.lock.watches = dependence.watches;
        self.code.start(entry);
        let answer = test(self);
        self.code.end(Terminator::Answer(answer));
        self.lock.watches = false;
        self.code.in_condition = in_condition;
        self.code.start(after);
    }

    /// Takes (`KEEP`) or releases (`GIVE_BACK`) the lock that keeps away this component's handlers, which may run
    /// elsewhere.
    fn lock_of_handlers(&mut self, entry: &'static EntryPoint) {
        let Runs::Body(BodyKey::Service(id, number)) = self.scope.runs else { return };
        if !self.unit.program.components[id.index()].implementations[number].handler {
            return;
        }
        let (begin, _) = self.unit.layouts.instances[id.index()].kept.expect("it has handlers");
        let of = Address { base: Base::Instance, offset: begin as i32, byte: false };
        let kept = self.code.address(of);
        self.code.perform(entry, vec![kept]);
    }
}
