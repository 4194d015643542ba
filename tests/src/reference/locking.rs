//! Takes and releases locks, and waits for conditions: section 6 of the language reference.

use std::future::Future;
use std::mem::take;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use drystone_language::program::{Expression, LockMode};

use super::identity::{Event, InstanceId, ProcessId};
use super::monitor::{Awaiter, Monitor};
use super::process::{Process, Step};
use super::scope::Scope;
use super::value::Value;
use super::world::{State, World};

impl<'p> State<'p> {
    pub(super) fn monitor(&mut self, instance: InstanceId) -> &mut Monitor<'p> {
        &mut self.instances.get_mut(&instance).expect("a process runs in an instance").monitor
    }

    /// Gives the lock to a process.
    fn grant(&mut self, instance: InstanceId, process: ProcessId, mode: LockMode) {
        let monitor = self.monitor(instance);
        match mode {
            LockMode::Exclusive => monitor.writer = Some(process),
            LockMode::Shared => monitor.readers += 1,
        }
        self.processes.get_mut(&process).expect("it waits for the lock").lock = Some(mode);
        self.wake(Event::Own(process));
    }

    /// Admits processes that may enter now: one whose condition is fulfilled, then EXCLUSIVE, then SHARED ones.
    fn admit(&mut self, instance: InstanceId) {
        let monitor = self.monitor(instance);
        if monitor.writer.is_some() {
            return;
        }
        if monitor.exclusive_waits() {
            if monitor.readers == 0 {
                let first = monitor.pending.take().or_else(|| monitor.next(LockMode::Exclusive));
                self.grant(instance, first.expect("an exclusive process waits"), LockMode::Exclusive);
            }
        } else {
            while let Some(process) = self.monitor(instance).next(LockMode::Shared) {
                self.grant(instance, process, LockMode::Shared);
            }
        }
    }
}

impl<'p> Process<'_, 'p> {
    /// Takes the component's lock unless the process has it. The result tells whether the lock must be released.
    pub async fn lock(&self, mode: LockMode) -> bool {
        if self.world.testing.get() || self.held_lock().is_some() {
            return false;
        }
        self.queue_for_lock(mode);
        self.wait_for_lock().await;
        true
    }

    /// Releases the lock.
    pub fn unlock(&self) {
        let mut state = self.world.state.borrow_mut();
        let record = state.processes.get_mut(&self.id).expect("the running process");
        let mode = record.lock.take().expect("only a held lock is released");
        let monitor = state.monitor(self.instance);
        match mode {
            LockMode::Exclusive => {
                monitor.writer = None;
                monitor.changed = false;
                drop(state);
                self.world.test_awaiting(self.instance);
            }
            LockMode::Shared => {
                monitor.readers -= 1;
                let are_due = monitor.readers == 0 && monitor.pending.is_none() && take(&mut monitor.changed);
                drop(state);
                if are_due {
                    self.world.test_awaiting(self.instance);
                }
            }
        }
        self.world.state.borrow_mut().admit(self.instance);
    }

    /// Releases the lock until the condition holds, then takes it again in the same mode.
    pub async fn await_condition(&self, scope: &Rc<Scope>, condition: &'p Expression) -> Step<()> {
        while !self.evaluate(scope, condition).await?.boolean() {
            let mode = self.held_lock().expect("checked: AWAIT stands in a block with the lock");
            let awaiter = Awaiter { process: self.id, mode, scope: scope.clone(), condition };
            self.world.state.borrow_mut().monitor(self.instance).awaiting.push(awaiter);
            self.unlock();
            self.wait_for_lock().await;
        }
        Ok(())
    }

    /// The same with a time limit. The result tells whether the condition holds.
    pub async fn await_until(&self, scope: &Rc<Scope>, condition: &'p Expression, limit: i64) -> Step<bool> {
        let deadline = self.world.state.borrow().time.saturating_add(limit.max(0));
        loop {
            if self.evaluate(scope, condition).await?.boolean() {
                return Ok(true);
            }
            if self.world.state.borrow().time >= deadline {
                return Ok(false);
            }
            let mode = self.held_lock().expect("checked: AWAIT stands in a block with the lock");
            let awaiter = Awaiter { process: self.id, mode, scope: scope.clone(), condition };
            let alarm = {
                let mut state = self.world.state.borrow_mut();
                let alarm = (deadline, state.fresh());
                state.sleeping.insert(alarm, self.id);
                state.monitor(self.instance).awaiting.push(awaiter);
                alarm
            };
            self.unlock();
            while self.held_lock().is_none() {
                self.wait(Event::Own(self.id)).await;
                if !self.world.state.borrow().sleeping.contains_key(&alarm) {
                    self.stop_awaiting(mode);
                }
            }
            self.world.state.borrow_mut().sleeping.remove(&alarm);
        }
    }

    /// The time limit of the process has passed: it now waits only for the lock, unless it has the lock or is about to
    /// get it.
    pub(super) fn stop_awaiting(&self, mode: LockMode) {
        let awaits = {
            let mut state = self.world.state.borrow_mut();
            let awaiting = &mut state.monitor(self.instance).awaiting;
            let before = awaiting.len();
            awaiting.retain(|other| other.process != self.id);
            awaiting.len() < before
        };
        if awaits {
            self.queue_for_lock(mode);
        }
    }

    pub fn held_lock(&self) -> Option<LockMode> {
        self.world.state.borrow().processes[&self.id].lock
    }

    fn queue_for_lock(&self, mode: LockMode) {
        let mut state = self.world.state.borrow_mut();
        state.monitor(self.instance).queue.push_back((self.id, mode));
        state.admit(self.instance);
    }

    async fn wait_for_lock(&self) {
        while self.held_lock().is_none() {
            self.wait(Event::Own(self.id)).await;
        }
    }
}

impl<'p> World<'p> {
    /// After an EXCLUSIVE release: admits each SHARED process with a true condition, up to the first EXCLUSIVE process
    /// with a true condition.
    fn test_awaiting(&self, instance: InstanceId) {
        let awaiting = self.state.borrow_mut().monitor(instance).awaiting.clone();
        for awaiter in awaiting {
            if !self.fulfilled(instance, &awaiter) {
                continue;
            }
            let mut state = self.state.borrow_mut();
            let monitor = state.monitor(instance);
            if !monitor.awaiting.iter().any(|other| other.process == awaiter.process) {
                // It awaits several, and another one was true.
                continue;
            }
            monitor.awaiting.retain(|other| other.process != awaiter.process);
            match awaiter.mode {
                LockMode::Shared => state.grant(instance, awaiter.process, LockMode::Shared),
                LockMode::Exclusive => {
                    monitor.pending = Some(awaiter.process);
                    break;
                }
            }
        }
    }

    /// What conditions of a component read has changed, though nobody had its lock: they are tested when nobody has it.
    pub(super) fn changed(&self, instance: InstanceId) {
        let mut state = self.state.borrow_mut();
        let Monitor { writer, readers, pending, changed, .. } = state.monitor(instance);
        if writer.is_some() || *readers > 0 || pending.is_some() || self.testing.get() {
            *changed = true;
            return;
        }
        drop(state);
        self.test_awaiting(instance);
        self.state.borrow_mut().admit(instance);
    }

    /// Evaluates another process's condition, which cannot wait. An error counts as true; the other process then meets
    /// the error itself.
    fn fulfilled(&self, instance: InstanceId, awaiter: &Awaiter<'p>) -> bool {
        let other = Process { world: self, id: awaiter.process, instance };
        self.testing.set(true);
        let answer = {
            let evaluation = pin!(other.evaluate(&awaiter.scope, awaiter.condition));
            let mut evaluation = evaluation;
            evaluation.as_mut().poll(&mut Context::from_waker(Waker::noop()))
        };
        self.testing.set(false);
        match answer {
            Poll::Ready(Ok(Value::Boolean(answer))) => answer,
            Poll::Ready(_) => true,
            Poll::Pending => unreachable!("checked: a condition never waits"),
        }
    }
}
