//! The lock of a component: its holders, and the processes that wait for it.

use std::collections::VecDeque;
use std::rc::Rc;

use drystone_language::program::{Expression, LockMode};

use super::identity::ProcessId;
use super::scope::Scope;

/// The holders of the lock, and the processes that wait for it.
#[derive(Default)]
pub(super) struct Monitor<'p> {
    pub writer: Option<ProcessId>,
    pub readers: usize,
    /// Waiting to enter, in order of arrival.
    pub queue: VecDeque<(ProcessId, LockMode)>,
    /// Waiting for a condition, in order of arrival.
    pub awaiting: Vec<Awaiter<'p>>,
    /// The process whose condition was true, and that enters after the last reader has left.
    pub pending: Option<ProcessId>,
    /// What conditions read has changed, though nobody had the lock.
    pub changed: bool,
}

/// A process that waits for a condition.
#[derive(Clone)]
pub(super) struct Awaiter<'p> {
    pub process: ProcessId,
    pub mode: LockMode,
    pub scope: Rc<Scope>,
    pub condition: &'p Expression,
}

impl Monitor<'_> {
    pub fn exclusive_waits(&self) -> bool {
        self.pending.is_some() || self.queue.iter().any(|(_, mode)| *mode == LockMode::Exclusive)
    }

    /// Removes from the queue the first process that waits to enter in this mode.
    pub fn next(&mut self, wanted: LockMode) -> Option<ProcessId> {
        let place = self.queue.iter().position(|(_, mode)| *mode == wanted)?;
        self.queue.remove(place).map(|(process, _)| process)
    }
}
