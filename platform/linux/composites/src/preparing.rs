//! Programs that take long to prepare: one after the other, by a helper thread, so that nobody waits for it but who has
//! sent one.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Weak;
use std::sync::Arc;

use drystone_extension::composite::{Hash, Prepared, Refusal};

use super::port::Ports;
use super::{Kept, Server, Session};
use drystone_reactor::{Errand, weakly};

/// Bytes of a program that takes no longer than a turn of a run does.
const SHORT: usize = 2 << 10;

/// Who waits for them.
#[derive(Default)]
pub(super) struct Preparing {
    next: RefCell<VecDeque<Sent>>,
    /// What is being prepared.
    now: RefCell<Option<(Sent, Work)>>,
}

/// The bytes of a program, and who has sent it.
struct Sent {
    by: Weak<Session>,
    program: Arc<[u8]>,
    hash: Hash,
    /// With what it shall begin with.
    kept: Kept,
}

type Work = Errand<Result<Prepared<Ports>, Refusal>>;

impl Server {
    /// Remembers a program that a session has sent, which is told its hash: at once, or when it has been prepared.
    pub(super) fn remember(&self, session: &Session, program: &[u8]) {
        let mut server = self.server.borrow_mut();
        // What is too long is refused before it is looked at.
        if program.len() <= SHORT || program.len() > self.limits.program {
            let hash = server.remember(program);
            drop(server);
            return session.remembered(hash);
        }
        let hash = Hash::of(program);
        let is_known = server.program(hash).is_some();
        let bytes = program.len() + session.asked_bytes();
        let refused = server.may_keep(session.client, bytes).err();
        drop(server);
        if is_known {
            return session.remembered(Ok(hash));
        }
        if let Some(refusal) = refused {
            return session.remembered(Err(refusal));
        }
        let kept = self.keep(session.client, bytes);
        let sent = Sent { by: session.me.clone(), program: program.into(), hash, kept };
        let mut next = self.preparing.next.borrow_mut();
        // Else who begins sessions only to end them could have any number of programs lie here.
        next.retain(|sent| sent.by.strong_count() > 0);
        next.push_back(sent);
        drop(next);
        self.prepare_next();
    }

    fn prepare_next(&self) {
        while self.preparing.now.borrow().is_none() {
            let next = self.preparing.next.borrow_mut().pop_front();
            let Some(sent) = next else { return };
            let Some(session) = sent.by.upgrade() else { continue };
            // Somebody else may have sent it, too.
            if self.server.borrow().program(sent.hash).is_some() {
                let hash = sent.hash;
                drop(sent);
                session.remembered(Ok(hash));
                continue;
            }
            let (program, limits) = (sent.program.clone(), self.limits);
            let work = move || Prepared::of(&program, &limits);
            let done = weakly(&self.me, |composites| composites.prepared());
            match Errand::begin_for(&self.reactor, "preparing", done, work) {
                Ok(work) => drop(self.preparing.now.replace(Some((sent, work)))),
                Err(error) => session.remembered(Err(format!("the server has no thread: {error}").into())),
            }
        }
    }

    /// The helper thread has done its work.
    fn prepared(&self) {
        let result = self.preparing.now.borrow().as_ref().and_then(|(_, work)| work.result());
        let Some(result) = result else { return };
        let Some((sent, _)) = self.preparing.now.take() else { return };
        let Sent { by, program, hash, kept } = sent;
        drop(kept);
        let learnt = result.map(|prepared| self.server.borrow_mut().learn(hash, program.len(), prepared));
        by.upgrade().inspect(|session| session.remembered(learnt.map(|()| hash)));
        self.prepare_next();
    }
}
