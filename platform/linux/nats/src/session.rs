//! What a program has at one NATS: a connection while it is needed, with its streams and its users. When the connection
//! is cut, all streams are lost, and the next use connects again; exported names are exported again as soon as that can
//! be done. `traffic` is what comes and goes over the connection, `requests` what its users ask for.

mod requests;
mod traffic;

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_nats::message::OutboundMessage;
use drystone_kortex::peer::Composites;
use drystone_reactor::{Reactor, weakly};

use super::access::Access;
use super::bell::Bell;
use super::engine::{Connected, Engine, Engines, Task};
use super::open::Open;
use super::partner::Partners;
use super::register::Found;
use super::users::{Stream, User};

/// The pause before the next try to connect, while a connection is needed though nobody waits for it: at first, and at
/// most.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// See the head of this file.
pub(super) struct Session {
    me: Weak<Session>,
    pub(super) reactor: Rc<Reactor>,
    engines: Engines,
    access: Access,
    /// Runs the blocks that are shipped over streams.
    pub(super) composites: Option<Rc<dyn Composites>>,
    /// The reactor's source that the bell signals.
    source: usize,
    /// A source that stands for output that waits.
    rest: usize,
    stage: RefCell<Stage>,
    /// Before the next try to connect.
    pause: Cell<Duration>,
    /// The last number of a stream.
    last: Cell<u64>,
    streams: RefCell<HashMap<u64, Weak<dyn Stream>>>,
    /// Streams that only the session keeps.
    served: RefCell<HashMap<u64, Rc<dyn Stream>>>,
    users: RefCell<Vec<Weak<dyn User>>>,
    /// Where names are served, as far as that has been asked for.
    places: RefCell<HashMap<String, Place>>,
    /// A stream waits for a place.
    seeks: Cell<bool>,
    partners: Partners,
    /// The next beat is on its way.
    beats: Cell<bool>,
    /// Messages that belong to no stream's bytes.
    outbox: RefCell<VecDeque<OutboundMessage>>,
    /// Streams that have something to send.
    ready: RefCell<VecDeque<Rc<dyn Stream>>>,
    /// Streams whose other side has to take some first.
    stuck: RefCell<Vec<Rc<dyn Stream>>>,
}

/// Where a name is served.
enum Place {
    Asked(Task<Found>),
    Known(Found),
}

enum Stage {
    Idle,
    Connecting(Rc<Engine>, Arc<Bell>, Task<Result<Connected, String>>),
    Open(Box<Open>),
}

impl Session {
    /// Without a connection yet.
    pub(super) fn new(
        reactor: &Rc<Reactor>,
        engines: &Engines,
        composites: &Option<Rc<dyn Composites>>,
        access: Access,
    ) -> Rc<Session> {
        let session = Rc::new_cyclic(|me| Session {
            me: me.clone(),
            reactor: reactor.clone(),
            engines: engines.clone(),
            access,
            composites: composites.clone(),
            source: reactor.source(),
            rest: reactor.source(),
            stage: RefCell::new(Stage::Idle),
            pause: Cell::new(FIRST_PAUSE),
            last: Cell::default(),
            streams: RefCell::default(),
            served: RefCell::default(),
            users: RefCell::default(),
            places: RefCell::default(),
            seeks: Cell::default(),
            partners: Partners::default(),
            beats: Cell::default(),
            outbox: RefCell::default(),
            ready: RefCell::default(),
            stuck: RefCell::default(),
        });
        reactor.handle(session.source, weakly(&session.me, |session| session.go_on()));
        session
    }

    /// Begins to connect, if there is no connection.
    fn connect(&self) -> Result<(), String> {
        if matches!(*self.stage.borrow(), Stage::Idle) {
            let engine = self.engines.get(&self.reactor)?;
            let bell = engine.bell(self.source);
            let task = engine.connect(self.access.clone(), &bell);
            *self.stage.borrow_mut() = Stage::Connecting(engine, bell, task);
        }
        Ok(())
    }

    /// Tries once more to connect.
    fn try_again(&self) {
        if self.is_needed()
            && let Err(why) = self.connect()
        {
            self.cut(&why);
        }
    }

    /// The bell has rung.
    fn go_on(&self) {
        let connected = match &*self.stage.borrow() {
            Stage::Idle => return,
            Stage::Connecting(_, _, task) => task.poll(),
            Stage::Open(_) => None,
        };
        match connected.map(|connected| connected.and_then(|connected| connected)) {
            Some(Ok(connected)) => self.open(connected),
            Some(Err(why)) => return self.cut(&why),
            None => {}
        }
        self.read();
        self.write_all();
        self.reactor.drain(self.rest);
    }

    /// There is a connection.
    fn open(&self, connected: Connected) {
        let Stage::Connecting(engine, bell, _) = self.stage.replace(Stage::Idle) else { return };
        let open = Open::new(engine, bell, connected);
        self.users().iter().for_each(|user| user.opened(&open));
        *self.stage.borrow_mut() = Stage::Open(Box::new(open));
        self.pause.set(FIRST_PAUSE);
        self.streams().iter().for_each(|stream| stream.ask());
        self.write_later();
    }

    /// The connection is lost, or couldn't be made.
    fn cut(&self, why: &str) {
        let stage = self.stage.replace(Stage::Idle);
        self.partners.clear();
        let (ready, stuck) = (self.ready.take(), self.stuck.take());
        self.streams().iter().for_each(|stream| stream.lose(why));
        self.users().iter().for_each(|user| user.lost(why));
        self.places.borrow_mut().clear();
        self.outbox.borrow_mut().clear();
        drop((stage, ready, stuck, self.served.take()));
        self.reactor.drain(self.rest);
        if self.is_needed() {
            let pause = self.pause.get();
            self.reactor.at(Instant::now() + pause, weakly(&self.me, |session| session.try_again()));
            self.pause.set((pause * 2).min(LONGEST_PAUSE));
        }
    }

    /// Whether there has to be a connection though nobody waits for one.
    fn is_needed(&self) -> bool {
        self.users().iter().any(|user| user.needs_connection())
    }

    /// Waits for a connection, if there is none.
    ///
    /// # Errors
    /// A sentence says why there is none.
    pub(super) fn connect_now(&self) -> Result<(), String> {
        self.connect()?;
        let connected = match &*self.stage.borrow() {
            Stage::Connecting(_, _, task) => task.wait().and_then(|connected| connected),
            _ => return Ok(()),
        };
        connected.map(|connected| self.open(connected)).inspect_err(|why| self.cut(why))
    }

    /// Does something with the connection, if there is one.
    fn with_open<T>(&self, act: impl FnOnce(&mut Open) -> T) -> Option<T> {
        match &mut *self.stage.borrow_mut() {
            Stage::Open(open) => Some(act(open)),
            _ => None,
        }
    }

    /// Whether there is a connection.
    pub(super) fn is_open(&self) -> bool {
        matches!(*self.stage.borrow(), Stage::Open(_))
    }

    fn streams(&self) -> Vec<Rc<dyn Stream>> {
        self.streams.borrow().values().filter_map(Weak::upgrade).collect()
    }

    fn users(&self) -> Vec<Rc<dyn User>> {
        let users = &mut *self.users.borrow_mut();
        users.retain(|user| user.strong_count() > 0);
        users.iter().filter_map(Weak::upgrade).collect()
    }

    /// The program has ended: the connection goes after what was said last.
    pub(super) fn end(&self) {
        self.users().iter().for_each(|user| user.end());
        if let Stage::Open(open) = self.stage.replace(Stage::Idle) {
            open.finish();
        }
    }
}
