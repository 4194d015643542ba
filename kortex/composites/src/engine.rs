//! Schedules the runs of all clients beside the program's own processes.
//!
//! * [`Engine`] holds the runs and the programs (`extension`'s [`InterpServer`]). A run that something has changed for
//!   has its turn at once; other runs get turns that leave the processes as much time as the runs.
//! * [`Client`] is told the outcome of its run.
//! * [`Kept`] charges bytes to a client's quota for as long as it exists.

use alloc::collections::BTreeMap;
use alloc::rc::{Rc, Weak};
use alloc::vec::Vec;
use core::cell::{Cell, RefCell, RefMut};

use drystone_extension::composite::{Event, InterpServer, Limits, Quota, RunId, Settings};
use drystone_kortex::peer::ClientId;

use super::platform::Platform;
use super::ports::Ports;

/// Most rounds of a turn.
const SLICE: u64 = 4000;

/// Nanoseconds: shorter turns are lengthened.
const SHORT: u64 = 50_000;

/// Nanoseconds: longer turns are shortened, because the rest of the program waits for them.
const LONG: u64 = 200_000;

/// Nanoseconds: after a turn, the runs pause for as long as the turn took, at most this.
const REST: u64 = 1_000_000;

/// Most bytes of remembered programs.
const REMEMBERED: usize = 64 << 20;

/// Most bytes of a program.
const LONGEST: usize = 64 << 10;

/// A client's quota, except its rounds, which the client asks for.
pub(crate) const QUOTA: Quota = Quota { rounds: 0, texts: 16 << 20, held: 32 << 20, runs: 16 };

/// Most bytes that the runs of all clients hold together. Below: the most runs.
const HELD: usize = 256 << 20;
const RUNS: usize = 4096;

/// Runs programs for clients.
pub(crate) struct Engine {
    me: Weak<Engine>,
    pub(crate) platform: Rc<dyn Platform>,
    pub(crate) limits: Limits,
    server: RefCell<InterpServer<Ports>>,
    clients: RefCell<BTreeMap<RunId, Weak<dyn Client>>>,
    /// Takes the next turn.
    turn: Rc<dyn Fn()>,
    /// Whether the platform has been asked to call `turn`.
    turn_comes: Cell<bool>,
    /// Nanoseconds: when the next turn is due. It comes sooner if the program has nothing else to do.
    next: Cell<u64>,
    /// Runs for which something changed during another run's turn.
    woken: RefCell<Vec<RunId>>,
    /// Bytes of [`Kept`]s that were dropped during a turn.
    given_up: RefCell<Vec<(ClientId, usize)>>,
}

/// The client of a run.
pub(crate) trait Client {
    /// Tells the outcome of the run.
    fn tell(&self, event: Event<Ports>);

    /// Whether the run can go on without being resumed by its client.
    fn goes_on(&self) -> bool;
}

/// Bytes that are kept for a client. They count as one of its runs.
pub(crate) struct Kept {
    engine: Weak<Engine>,
    client: ClientId,
    bytes: usize,
}

impl Engine {
    /// An engine without clients. `key` is a number that nobody can guess.
    pub(crate) fn new(platform: Rc<dyn Platform>, key: u64) -> Rc<Engine> {
        let limits = Limits { program: LONGEST, ..Limits::default() };
        let settings = Settings { limits, remembered: REMEMBERED, held: HELD, runs: RUNS, slice: SLICE, key };
        let next = Cell::new(platform.now());
        Rc::new_cyclic(|me: &Weak<Engine>| {
            let engine = me.clone();
            let turn = Rc::new(move || {
                engine.upgrade().inspect(|engine| engine.take_next_turn());
            });
            Engine {
                me: me.clone(),
                platform,
                limits,
                server: RefCell::new(InterpServer::new(settings)),
                clients: RefCell::default(),
                turn,
                turn_comes: Cell::new(false),
                next,
                woken: RefCell::default(),
                given_up: RefCell::default(),
            }
        })
    }

    /// Programs, runs and quotas.
    ///
    /// # Panics
    /// Panics during a run's turn.
    pub(crate) fn server(&self) -> RefMut<'_, InterpServer<Ports>> {
        self.server.borrow_mut()
    }

    /// Charges bytes to a client until the result is dropped.
    pub(crate) fn keep(&self, client: ClientId, bytes: usize) -> Kept {
        self.server().keep(client, bytes);
        Kept { engine: self.me.clone(), client, bytes }
    }

    /// Tells this client the outcome of the run from now on.
    pub(crate) fn add(&self, run: RunId, client: Weak<dyn Client>) {
        self.clients.borrow_mut().insert(run, client);
    }

    /// Discards a run, if it hasn't ended.
    pub(crate) fn forget(&self, run: RunId) {
        self.clients.borrow_mut().remove(&run);
        let discarded = self.server().discard(run);
        // The borrow has ended: dropping the run's communications may wake other runs.
        drop(discarded);
    }

    /// Begins or resumes a run. It has its turn at once, unless the program's processes have had too little time.
    pub(crate) fn begin(&self, run: RunId) {
        if self.next.get() <= self.platform.now() + LONG { self.wake(run) } else { self.come_back() }
    }

    /// Wakes a run that something has changed for. It has its turn at once, before runs that only compute.
    pub(crate) fn wake(&self, run: RunId) {
        if self.server.try_borrow().is_err() {
            return self.woken.borrow_mut().push(run);
        }
        self.take_turn(|server| Some((run, server.turn_of(run))));
    }

    /// Gives a run its turn, and adapts the length of its next one.
    fn take_turn(
        &self,
        turn: impl FnOnce(&mut InterpServer<Ports>) -> Option<(RunId, Option<Event<Ports>>)>,
    ) {
        let begin = self.platform.now();
        let turn = turn(&mut self.server());
        let end = self.platform.now();
        let took = end - begin;
        let rest = self.next.get().max(begin) + 2 * took;
        self.next.set(rest.min(end + REST));
        if let Some((run, event)) = turn {
            if took > LONG {
                self.server().shorten(run);
            } else if took < SHORT {
                self.server().lengthen(run);
            }
            self.tell(run, event);
        }
        self.come_back();
    }

    fn tell(&self, run: RunId, event: Option<Event<Ports>>) {
        if let Some(event) = event {
            self.client(run).inspect(|client| client.tell(event));
        }
    }

    fn client(&self, run: RunId) -> Option<Rc<dyn Client>> {
        self.clients.borrow().get(&run).and_then(Weak::upgrade)
    }

    fn take_next_turn(&self) {
        self.turn_comes.set(false);
        self.take_turn(InterpServer::turn);
    }

    /// Handles the changes that came during the turn. If a run can go on, asks for the next turn, after the program's
    /// processes and events from outside have had theirs.
    fn come_back(&self) {
        for (client, bytes) in self.given_up.take() {
            self.server().give_up(client, bytes);
        }
        for run in self.woken.take() {
            if self.client(run).is_some_and(|client| client.goes_on()) {
                self.server().wake(run);
            }
        }
        if !self.server.borrow().is_idle() && !self.turn_comes.replace(true) {
            self.platform.call_at_the_latest(self.next.get(), self.turn.clone());
        }
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        let Some(engine) = self.engine.upgrade() else { return };
        match engine.server.try_borrow_mut() {
            Ok(mut server) => server.give_up(self.client, self.bytes),
            Err(_) => engine.given_up.borrow_mut().push((self.client, self.bytes)),
        }
    }
}
