//! What a program has at one NATS: a connection, when it is needed, with its lines and what it offers there. When the
//! connection is cut, all lines are lost, and the next use connects again; what is offered is offered again as soon as
//! that can be done. `traffic` is what comes and goes over it, `users` who uses it.

mod traffic;
mod users;

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::future::Future;
use std::mem::replace;
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::task::Waker;
use std::time::{Duration, Instant};

use async_nats::message::OutboundMessage;
use async_nats::{Client, Subscriber};
use drystone_kortex::peer::Composites;

use super::access::Access;
use super::bell::Bell;
use super::engine::{Connected, Engine, Engines, Task, Unfinished};
use super::envelope::HEADER;
use super::event::{Ear, Voice};
use super::export::Export;
use super::link::Link;
use super::partner::Partners;
use super::register::Found;
use drystone_reactor::{Reactor, weakly};

/// Most bytes in a message.
const LARGEST: usize = 256 * 1024;

/// How long to wait before the next try to connect, for the sake of what is offered: at first, and at most.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// See the head of this file.
pub(super) struct Session {
    me: Weak<Session>,
    pub(super) reactor: Rc<Reactor>,
    engines: Engines,
    access: Access,
    pub(super) composites: Rc<dyn Composites>,
    /// Where the bell is heard.
    source: usize,
    /// Stands for what can't be sent yet.
    rest: usize,
    stage: RefCell<Stage>,
    pause: Cell<Duration>,
    numbers: Cell<u64>,
    lines: RefCell<HashMap<u64, Weak<Link>>>,
    /// Those that nobody else keeps.
    served: RefCell<HashMap<u64, Rc<Link>>>,
    exports: RefCell<Vec<Weak<Export>>>,
    /// Who listens to events, and who says them.
    ears: RefCell<Vec<Weak<Ear>>>,
    voices: RefCell<Vec<Weak<Voice>>>,
    /// Where names are served, as far as that has been asked for.
    places: RefCell<HashMap<String, Place>>,
    /// Some line waits for one.
    seeks: Cell<bool>,
    partners: Partners,
    beats: Cell<bool>,
    outbox: RefCell<VecDeque<OutboundMessage>>,
    /// Lines with something to send, and those of which the other side has to take some first.
    ready: RefCell<VecDeque<Rc<Link>>>,
    stuck: RefCell<Vec<Rc<Link>>>,
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

/// A connection that is there.
pub(super) struct Open {
    engine: Rc<Engine>,
    pub(super) client: Client,
    bell: Arc<Bell>,
    waker: Waker,
    inbox: Subscriber,
    pub(super) prefix: String,
    pub(super) unfinished: Unfinished,
    /// Most bytes of a message, and of a line in one.
    most: usize,
    largest: u64,
}

impl Open {
    /// Lets the engine do something; the session goes on when it is done.
    pub(super) fn begin<T: Send + 'static>(&self, work: impl Future<Output = T> + Send + 'static) -> Task<T> {
        self.engine.begin(&self.bell, work)
    }
}

impl Session {
    pub(super) fn new(
        reactor: &Rc<Reactor>,
        engines: &Engines,
        composites: &Rc<dyn Composites>,
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
            numbers: Cell::default(),
            lines: RefCell::default(),
            served: RefCell::default(),
            exports: RefCell::default(),
            ears: RefCell::default(),
            voices: RefCell::default(),
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

    /// It is time to try once more to connect.
    fn try_again(&self) {
        if self.is_needed()
            && let Err(why) = self.connect()
        {
            self.cut(&why);
        }
    }

    /// Goes on with whatever it is at.
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

    /// There is a connection: all who have waited for it begin.
    fn open(&self, connected: Connected) {
        let Connected { client, inbox, prefix, unfinished } = connected;
        let Stage::Connecting(engine, bell, _) = replace(&mut *self.stage.borrow_mut(), Stage::Idle) else {
            return;
        };
        let most = client.server_info().max_payload.max(2 * HEADER);
        let (waker, largest) = (Waker::from(bell.clone()), (most - HEADER).min(LARGEST) as u64);
        let open = Open { engine, client, bell, waker, inbox, prefix, unfinished, most, largest };
        self.exports().iter().for_each(|export| export.offer(&open));
        alive(&self.ears).iter().for_each(|ear| ear.ask(&open));
        *self.stage.borrow_mut() = Stage::Open(Box::new(open));
        self.pause.set(FIRST_PAUSE);
        self.lines().iter().for_each(|link| link.ask());
        self.write_later();
    }

    /// The connection is no more, or couldn't be made.
    fn cut(&self, why: &str) {
        let stage = replace(&mut *self.stage.borrow_mut(), Stage::Idle);
        self.partners.clear();
        let (ready, stuck) = (self.ready.take(), self.stuck.take());
        self.lines().iter().for_each(|link| link.lose(why));
        alive(&self.ears).iter().for_each(|ear| ear.lose(why));
        self.ears.borrow_mut().clear();
        self.places.borrow_mut().clear();
        self.outbox.borrow_mut().clear();
        drop((stage, ready, stuck, self.served.take()));
        self.reactor.drain(self.rest);
        let exports = self.exports();
        exports.iter().for_each(|export| export.away());
        if self.is_needed() {
            self.reactor
                .at(Instant::now() + self.pause.get(), weakly(&self.me, |session| session.try_again()));
            self.pause.set((self.pause.get() * 2).min(LONGEST_PAUSE));
        }
    }

    /// Whether it is to be there although nobody waits for it.
    fn is_needed(&self) -> bool {
        !self.exports().is_empty() || !alive(&self.voices).is_empty()
    }

    /// Waits for a connection, if there is none.
    ///
    /// # Errors
    /// There can't be one.
    pub(super) fn connect_now(&self) -> Result<(), String> {
        self.connect()?;
        let connected = match &*self.stage.borrow() {
            Stage::Connecting(_, _, task) => task.wait().and_then(|connected| connected),
            _ => return Ok(()),
        };
        connected.map(|connected| self.open(connected)).inspect_err(|why| self.cut(why))
    }

    fn waker(&self) -> Option<Waker> {
        match &*self.stage.borrow() {
            Stage::Open(open) => Some(open.waker.clone()),
            _ => None,
        }
    }

    fn lines(&self) -> Vec<Rc<Link>> {
        self.lines.borrow().values().filter_map(Weak::upgrade).collect()
    }

    fn exports(&self) -> Vec<Rc<Export>> {
        alive(&self.exports)
    }

    pub(super) fn is_open(&self) -> bool {
        matches!(*self.stage.borrow(), Stage::Open(_))
    }

    /// The program has ended: the connection goes after what was said last.
    pub(super) fn end(&self) {
        self.exports().iter().for_each(|export| export.away());
        let stage = replace(&mut *self.stage.borrow_mut(), Stage::Idle);
        if let Stage::Open(open) = stage {
            open.engine.finish(&open.client, open.unfinished);
        }
    }
}

/// Those that are still there.
fn alive<T>(all: &RefCell<Vec<Weak<T>>>) -> Vec<Rc<T>> {
    let all = &mut *all.borrow_mut();
    all.retain(|one| one.strong_count() > 0);
    all.iter().filter_map(Weak::upgrade).collect()
}
