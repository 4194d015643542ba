//! Programs that take long to prepare: a helper thread does that, one after the other, so that only the clients that
//! have sent them wait for it.

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

/// The client that has sent a program.
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

#[cfg(test)]
mod tests {
    use alloc::string::String;

    use super::*;
    use crate::engine::QUOTA;
    use crate::platform::Platform;

    type Then = Box<dyn FnOnce(Prepared)>;

    /// A helper thread that does something when it is told to.
    #[derive(Default)]
    struct Helper(RefCell<VecDeque<(Preparation, Then)>>);

    impl Helper {
        fn has_work(&self) -> bool {
            !self.0.borrow().is_empty()
        }

        fn work(&self) {
            let (preparation, then) = self.0.borrow_mut().pop_front().expect("there is work");
            then(preparation.run());
        }
    }

    impl Platform for Helper {
        fn now(&self) -> u64 {
            0
        }

        fn call_at_the_latest(&self, _: u64, _: Rc<dyn Fn()>) {}

        fn prepare(&self, preparation: Preparation, then: Then) -> Result<(), String> {
            assert!(!self.has_work(), "it has one at a time");
            self.0.borrow_mut().push_back((preparation, then));
            Ok(())
        }
    }

    /// How many of its programs were refused.
    #[derive(Default)]
    struct Refused(Cell<usize>);

    impl Sender for Refused {
        fn remembered(&self, program: Result<Hash, Refusal>) {
            self.0.set(self.0.get() + usize::from(program.is_err()));
        }
    }

    #[test]
    fn long_programs_are_prepared_one_after_the_other_for_clients_that_are_still_there() {
        let helper = Rc::<Helper>::default();
        let engine = Engine::new(helper.clone(), 0);
        engine.server().admit(0, QUOTA);
        let preparing = Preparing::new(engine);
        let send = |byte: u8, sender: &Rc<Refused>| {
            let sender: Rc<dyn Sender> = sender.clone();
            preparing.remember(&[byte; SHORT + 1], 0, 0, Rc::downgrade(&sender))
        };
        let clients: [Rc<Refused>; 3] = Default::default();
        assert!(clients.iter().zip(0..).all(|(client, byte)| send(byte, client).is_none()));
        let [first, gone, last] = clients;
        drop(gone);
        helper.work();
        assert_eq!((first.0.get(), last.0.get()), (1, 0));
        helper.work();
        assert_eq!((first.0.get(), last.0.get(), helper.has_work()), (1, 1, false));
        let sender: Rc<dyn Sender> = last;
        let short = preparing.remember(b"short", 0, 0, Rc::downgrade(&sender));
        assert!(short.is_some_and(|program| program.is_err()));
    }
}
