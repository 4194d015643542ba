//! Programs that take long to prepare: one after the other, by a helper thread, so that nobody waits for it but who has sent one.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::{Rc, Weak};
use std::sync::Arc;

use drystone_extension::composite::{Hash, Prepared, Refusal};

use super::port::Ports;
use super::{Composites, Session};
use crate::reactor::{Errand, Handler};

/// Bytes of a program that takes no longer than a turn of a run does.
const SHORT: usize = 2 << 10;

/// Who waits for one.
#[derive(Default)]
pub(super) struct Preparing {
    /// The next ones, whose programs these are.
    queue: RefCell<VecDeque<(Weak<Session>, Arc<[u8]>)>>,
    now: RefCell<Option<Now>>,
}

/// What is being prepared, and for whom.
struct Now {
    session: Weak<Session>,
    program: Arc<[u8]>,
    errand: Errand<Result<Prepared<Ports>, Refusal>>,
}

impl Composites {
    /// Remembers a program that a session has sent, which is told its hash: at once, or when it has been prepared.
    pub(super) fn remember(&self, session: &Session, program: &[u8]) {
        let mut server = self.server.borrow_mut();
        let is_known = || server.program(Hash::of(program)).is_some();
        if program.len() <= SHORT || is_known() {
            let hash = server.remember(program);
            drop(server);
            return session.remembered(hash);
        }
        drop(server);
        self.preparing.queue.borrow_mut().push_back((session.me.clone(), program.into()));
        self.prepare_next();
    }

    fn prepare_next(&self) {
        while self.preparing.now.borrow().is_none() {
            let next = self.preparing.queue.borrow_mut().pop_front();
            let Some((session, program)) = next else { return };
            let Some(waits) = session.upgrade() else { continue };
            let (bytes, limits) = (program.clone(), self.limits);
            let work = move || Prepared::of(&bytes, &limits);
            let done = Rc::new(Done(self.me.clone()));
            match Errand::begin_for(&self.reactor, "preparing", done, work) {
                Ok(errand) => drop(self.preparing.now.replace(Some(Now { session, program, errand }))),
                Err(error) => waits.remembered(Err(format!("the server has no thread: {error}").into())),
            }
        }
    }

    /// The helper thread has done its work.
    fn prepared(&self) {
        let result = self.preparing.now.borrow().as_ref().and_then(|now| now.errand.result());
        let Some(result) = result else { return };
        let Some(Now { session, program, .. }) = self.preparing.now.take() else { return };
        let hash = result.map(|prepared| self.server.borrow_mut().learn(&program, prepared));
        session.upgrade().inspect(|session| session.remembered(hash));
        self.prepare_next();
    }
}

struct Done(Weak<Composites>);

impl Handler for Done {
    fn ready(&self) {
        if let Some(composites) = self.0.upgrade() {
            composites.prepared();
        }
    }
}
