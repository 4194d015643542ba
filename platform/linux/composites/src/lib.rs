//! Composite calls that others ship here over Drystone's own protocol (paper 000). At the other end of each line
//! stands, under the name [`SERVICE`], who takes them: [`session`] is one client of it, [`port`] what a program of its
//! talks over. To the components that serve it the program is a client as any other, so they need know nothing of this.

mod port;
mod preparing;
mod session;
mod ships;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::rc::{Rc, Weak};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use drystone_component::Interface;
use drystone_component::wire::Handle;
use drystone_extension::composite::shipping::{self, SERVICE};
use drystone_extension::composite::{Event, InterpServer, Limits, Quota, RunId, Settings};
use drystone_kortex::Host;
use drystone_kortex::peer::{ClientId, Composites, Line, Service, Shipper};
use drystone_runtime::far::{Harbour, Reach, Shipment};

use self::port::Ports;
use self::preparing::Preparing;
use self::session::Session;
pub use self::ships::Ships;
use drystone_reactor::{Reactor, weakly};

/// Rounds of a turn, at most.
const SLICE: u64 = 4000;

/// Turns become longer until they take so much.
const SHORT: Duration = Duration::from_micros(50);

/// Turns become shorter until they take no more than that: it is what others wait for.
const LONG: Duration = Duration::from_micros(200);

/// Who has had turns at arrival rests for as long as they took, but no longer than this.
const REST: Duration = Duration::from_millis(1);

/// Bytes that programs take which are remembered.
const REMEMBERED: usize = 64 << 20;

/// Bytes of a program.
const LONGEST: usize = 64 << 10;

/// What a connection may have, besides the rounds for which it asks.
const QUOTA: Quota = Quota { rounds: 0, texts: 16 << 20, held: 32 << 20, runs: 16 };

/// Bytes that all connections' runs may hold together, and how many runs there may be.
const HELD: usize = 256 << 20;
const RUNS: usize = 4096;

/// The interface of the service.
fn interface() -> &'static Interface {
    static INTERFACE: LazyLock<Interface> = LazyLock::new(shipping::interface);
    &INTERFACE
}

/// As what who takes composite calls is known in each program.
pub fn service() -> Service {
    Service { name: SERVICE, interface: interface() }
}

/// What runs those that come by a protocol.
///
/// # Panics
/// The program takes none: each on Linux does.
pub fn composites(host: &Host) -> Rc<dyn Composites> {
    host.composites().expect("each program on Linux takes composite calls").clone()
}

/// What runs all programs that have come (the paper's InterpServer), and who is told what became of them.
pub struct Server {
    me: Weak<Server>,
    reactor: Rc<Reactor>,
    limits: Limits,
    server: RefCell<InterpServer<Ports>>,
    preparing: Preparing,
    sessions: RefCell<BTreeMap<RunId, Weak<Session>>>,
    clients: Cell<ClientId>,
    /// Those that can go on will have their turns.
    comes_back: Cell<bool>,
    /// When they may, unless nobody else has something to do: the program's processes have as much time as they.
    next: Cell<Instant>,
    /// Those for which something has changed during another one's turn.
    woken: RefCell<Vec<RunId>>,
    /// What was given up during a run's turn, and is to be counted so.
    given_up: RefCell<Vec<(ClientId, usize)>>,
}

/// Bytes that are kept for a client, and count as a run of its.
struct Kept {
    server: Weak<Server>,
    client: ClientId,
    bytes: usize,
}

impl Server {
    /// None has come so far.
    pub fn new(reactor: &Rc<Reactor>) -> Rc<Server> {
        let key = RandomState::new().build_hasher().finish();
        let limits = Limits { program: LONGEST, ..Limits::default() };
        let settings = Settings { limits, remembered: REMEMBERED, held: HELD, runs: RUNS, slice: SLICE, key };
        let server = RefCell::new(InterpServer::new(settings));
        Rc::new_cyclic(|me| Server {
            me: me.clone(),
            reactor: reactor.clone(),
            limits,
            server,
            preparing: Preparing::default(),
            sessions: RefCell::default(),
            clients: Cell::new(0),
            comes_back: Cell::new(false),
            next: Cell::new(Instant::now()),
            woken: RefCell::default(),
            given_up: RefCell::default(),
        })
    }

    /// Something is kept for a client: what it may hold becomes less until the result is dropped.
    fn keep(&self, client: ClientId, bytes: usize) -> Kept {
        self.server.borrow_mut().keep(client, bytes);
        Kept { server: self.me.clone(), client, bytes }
    }

    /// Nobody wants to know what becomes of a run.
    fn forget(&self, run: RunId) {
        self.sessions.borrow_mut().remove(&run);
        let discarded = self.server.borrow_mut().discard(run);
        drop(discarded);
    }

    /// A run begins, or is resumed: at once, unless so many did that the program's processes have had too little time.
    fn begin(&self, run: RunId) {
        if self.next.get() <= Instant::now() + LONG { self.wake(run) } else { self.come_back() }
    }

    /// Something has changed for a run that waited for it: it goes on at once, before those that only compute.
    fn wake(&self, run: RunId) {
        if self.server.try_borrow().is_err() {
            // Another one has the turn.
            return self.woken.borrow_mut().push(run);
        }
        self.take_turn(|server| Some((run, server.turn_of(run))));
    }

    /// Some run has a turn.
    fn take_turn(
        &self,
        turn: impl FnOnce(&mut InterpServer<Ports>) -> Option<(RunId, Option<Event<Ports>>)>,
    ) {
        let begin = Instant::now();
        let turn = turn(&mut self.server.borrow_mut());
        let took = begin.elapsed();
        let rest = self.next.get().max(begin) + 2 * took;
        self.next.set(rest.min(begin + took + REST));
        if let Some((run, event)) = turn {
            if took > LONG {
                self.server.borrow_mut().shorten(run);
            } else if took < SHORT {
                self.server.borrow_mut().lengthen(run);
            }
            self.tell(run, event);
        }
        self.come_back();
    }

    fn tell(&self, run: RunId, event: Option<Event<Ports>>) {
        if let Some(event) = event {
            self.session(run).inspect(|session| session.tell(event));
        }
    }

    fn session(&self, run: RunId) -> Option<Rc<Session>> {
        self.sessions.borrow().get(&run).and_then(Weak::upgrade)
    }

    /// It is the programs' turn again.
    fn come_back_now(&self) {
        self.comes_back.set(false);
        self.take_turn(InterpServer::turn);
    }

    /// Goes on when the program's processes, and what comes from outside, have had their turns.
    fn come_back(&self) {
        for (client, bytes) in self.given_up.take() {
            self.server.borrow_mut().give_up(client, bytes);
        }
        for run in self.woken.take() {
            let session = self.session(run).filter(|session| session.goes_on());
            session.inspect(|_| self.server.borrow_mut().wake(run));
        }
        if !self.server.borrow().is_idle() && !self.comes_back.replace(true) {
            self.reactor
                .at_the_latest(self.next.get(), weakly(&self.me, |composites| composites.come_back_now()));
        }
    }
}

impl Composites for Server {
    fn service(&self) -> Service {
        service()
    }

    fn admit(&self) -> ClientId {
        let client = self.clients.get();
        self.clients.set(client + 1);
        self.server.borrow_mut().admit(client, QUOTA);
        client
    }

    fn dismiss(&self, client: ClientId) {
        let gone = self.server.borrow_mut().dismiss(client);
        drop(gone);
    }

    fn take(&self, client: ClientId, line: &Rc<dyn Line>, handle: Handle) -> Rc<dyn Shipper> {
        let composites = self.me.upgrade().expect("it is used through it");
        Session::new(line, &composites, client, handle)
    }

    fn ship(&self, taker: Box<dyn Reach>, harbour: Harbour<'_>, shipment: Shipment<'_>) -> Box<dyn Reach> {
        Box::new(Ships::new(taker, harbour, shipment))
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        let Some(server) = self.server.upgrade() else { return };
        match server.server.try_borrow_mut() {
            Ok(mut server) => server.give_up(self.client, self.bytes),
            Err(_) => server.given_up.borrow_mut().push((self.client, self.bytes)),
        }
    }
}
