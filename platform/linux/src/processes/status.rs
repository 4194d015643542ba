//! The service Process: how a process has ended, and signals to it.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::rc::Rc;
use std::task::Poll;
use std::time::{Duration, Instant};

use drystone_reactor::Direction;
use drystone_runtime::native::Caller;
use rustix::process::Signal;

use super::child::Child;
use crate::interfaces::process::{ProcessLater, WaitAnswer, WaitAtMostAnswer};

/// A client that asks for the status.
pub(super) struct Observer {
    child: Rc<Child>,
    /// The deadline of the waiting request.
    until: Option<Instant>,
}

/// How a process has ended.
enum End {
    Exited(i64),
    Killed(i64),
}

impl Observer {
    pub(super) fn new(child: Rc<Child>) -> Observer {
        Observer { child, until: None }
    }

    /// The process waits for the end, or the deadline.
    fn wait_on<T>(&self, caller: &Caller) -> Poll<T> {
        let (reactor, source) = self.child.watched();
        reactor.wait_for(caller.waiter(), Some((source, Direction::Read)), self.until);
        Poll::Pending
    }

    fn end(&self) -> Option<End> {
        self.child.status().map(|status: ExitStatus| match status.code() {
            Some(status) => End::Exited(status.into()),
            None => End::Killed(status.signal().unwrap_or_default().into()),
        })
    }
}

impl ProcessLater for Observer {
    fn wait(&mut self, caller: &Caller) -> Poll<WaitAnswer> {
        match self.end() {
            Some(End::Exited(status)) => Poll::Ready(WaitAnswer::Exited { status }),
            Some(End::Killed(signal)) => Poll::Ready(WaitAnswer::Killed { signal }),
            None => self.wait_on(caller),
        }
    }

    fn wait_at_most(&mut self, caller: &Caller, milliseconds: i64) -> Poll<WaitAtMostAnswer> {
        let limit = Duration::from_millis(u64::try_from(milliseconds).unwrap_or(0));
        let now = Instant::now();
        let until = self.until.take().or_else(|| now.checked_add(limit));
        match self.end() {
            Some(End::Exited(status)) => Poll::Ready(WaitAtMostAnswer::Exited { status }),
            Some(End::Killed(signal)) => Poll::Ready(WaitAtMostAnswer::Killed { signal }),
            None if until.is_some_and(|until| until <= now) => Poll::Ready(WaitAtMostAnswer::Running),
            None => {
                self.until = until;
                self.wait_on(caller)
            }
        }
    }

    fn terminate(&mut self, _: &Caller) -> Poll<()> {
        self.child.signal(Signal::TERM);
        Poll::Ready(())
    }

    fn kill(&mut self, _: &Caller) -> Poll<()> {
        self.child.signal(Signal::KILL);
        Poll::Ready(())
    }
}
