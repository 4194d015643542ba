//! A queue of programs that take long to prepare. A helper thread prepares one after the other, so that only the client
//! that has sent a program waits for it.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::rc::{Rc, Weak};
use alloc::sync::Arc;
use core::cell::{Cell, RefCell};

use drystone_extension::composite::{Hash, Refusal};
use drystone_kortex::peer::ClientId;

use super::engine::{Engine, Kept};
use super::platform::{Preparation, Prepared};

/// Bytes of a program whose preparation takes no longer than a run's turn.
const SHORT: usize = 2 << 10;

/// The sender of a program.
pub(crate) trait Sender {
    /// The program is remembered with this hash, or refused.
    fn remembered(&self, program: Result<Hash, Refusal>);
}

/// The queue of programs that are to be prepared.
pub(crate) struct Preparing {
    me: Weak<Preparing>,
    engine: Rc<Engine>,
    next: RefCell<VecDeque<Sent>>,
    /// The helper thread is busy.
    is_busy: Cell<bool>,
}

/// A program in the queue.
struct Sent {
    by: Weak<dyn Sender>,
    program: Arc<[u8]>,
    hash: Hash,
    /// Charges its bytes and those of its first run's input.
    kept: Kept,
}

impl Preparing {
    /// A queue for this engine's programs.
    pub(crate) fn new(engine: Rc<Engine>) -> Rc<Preparing> {
        Rc::new_cyclic(|me| Preparing {
            me: me.clone(),
            engine,
            next: RefCell::default(),
            is_busy: Cell::default(),
        })
    }

    /// Remembers a program. If the result is `None`, the program is prepared first, and the sender is told later; until
    /// then `beside` more bytes are charged to the client.
    pub(crate) fn remember(
        &self,
        program: &[u8],
        client: ClientId,
        beside: usize,
        sender: Weak<dyn Sender>,
    ) -> Option<Result<Hash, Refusal>> {
        let mut server = self.engine.server();
        // A program that is too long is refused before anything else is done with it.
        if program.len() <= SHORT || program.len() > self.engine.limits.program {
            return Some(server.remember(program));
        }
        let hash = Hash::of(program);
        if server.program(hash).is_some() {
            return Some(Ok(hash));
        }
        let bytes = program.len() + beside;
        if let Err(refusal) = server.may_keep(client, bytes) {
            return Some(Err(refusal));
        }
        drop(server);
        let kept = self.engine.keep(client, bytes);
        let sent = Sent { by: sender, program: program.into(), hash, kept };
        let mut next = self.next.borrow_mut();
        // Otherwise a client that begins communications only to end them could fill the queue.
        next.retain(|sent| sent.by.strong_count() > 0);
        next.push_back(sent);
        drop(next);
        self.prepare_next();
        None
    }

    fn prepare_next(&self) {
        while !self.is_busy.get() {
            let next = self.next.borrow_mut().pop_front();
            let Some(sent) = next else { return };
            let Some(sender) = sent.by.upgrade() else { continue };
            // Another client may have sent the same program meanwhile.
            if self.engine.server().program(sent.hash).is_some() {
                let hash = sent.hash;
                drop(sent);
                sender.remembered(Ok(hash));
                continue;
            }
            let preparation = Preparation { program: sent.program.clone(), limits: self.engine.limits };
            let me = self.me.clone();
            let then = move |prepared| {
                me.upgrade().inspect(|me| me.prepared(sent, prepared));
            };
            self.is_busy.set(true);
            if let Err(why) = self.engine.platform.prepare(preparation, Box::new(then)) {
                self.is_busy.set(false);
                sender.remembered(Err(why.into()));
            }
        }
    }

    /// The helper thread has finished this program.
    fn prepared(&self, sent: Sent, Prepared(prepared): Prepared) {
        self.is_busy.set(false);
        let Sent { by, program, hash, kept } = sent;
        drop(kept);
        let learnt = prepared.map(|prepared| self.engine.server().learn(hash, program.len(), prepared));
        by.upgrade().inspect(|sender| sender.remembered(learnt.map(|()| hash)));
        self.prepare_next();
    }
}
