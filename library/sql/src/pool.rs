//! The connections that a program has to one database. A request takes a free one, or waits until there is one; a
//! transaction keeps its own.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::mem::take;
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::time::{Duration, Instant};

use drystone_reactor::{Errand, Expectation, Handler, Reactor, Time, weakly};
use drystone_runtime::far::Waker;

use crate::answer::Answer;
use crate::connection::{Connection, Database, State};
use crate::failure::Failure;
use crate::request::Asked;
use crate::threads::Threads;

/// How much longer than its own patience a database may take to say that it has none.
const GRACE: Duration = Duration::from_secs(2);

/// See the head of this file.
pub struct Pool {
    me: Weak<Pool>,
    reactor: Rc<Reactor>,
    threads: Rc<Threads>,
    database: Arc<dyn Database>,
    /// Connections at most.
    most: usize,
    /// How long a request waits for one.
    patience: Duration,
    state: RefCell<Connections>,
}

#[derive(Default)]
struct Connections {
    free: Vec<Box<dyn Connection>>,
    /// All, also those that are being made.
    count: usize,
    waiting: VecDeque<Waiting>,
}

/// A request without a connection.
struct Waiting {
    session: Rc<RefCell<Session>>,
    asked: Asked,
    until: Instant,
    alarm: Time,
    _expectation: Expectation,
}

/// What the pool knows of one client.
#[derive(Default)]
pub struct Session {
    pub pump: Option<Waker>,
    /// The connection of its transaction, while no request uses it.
    pub pinned: Option<Box<dyn Connection>>,
    pub answer: Option<Answer>,
    pub has_ended: bool,
}

/// The connection, if there is one now, and the answer.
type Outcome = (Option<Box<dyn Connection>>, Answer);

impl Pool {
    pub fn new(
        reactor: &Rc<Reactor>,
        threads: &Rc<Threads>,
        database: Arc<dyn Database>,
        most: usize,
        patience: Duration,
    ) -> Rc<Pool> {
        Rc::new_cyclic(|me| Pool {
            me: me.clone(),
            reactor: reactor.clone(),
            threads: threads.clone(),
            database,
            most,
            patience,
            state: RefCell::default(),
        })
    }

    /// A client has asked.
    pub fn ask(&self, session: &Rc<RefCell<Session>>, asked: Asked) {
        let pinned = session.borrow_mut().pinned.take();
        let Some(connection) = pinned.or_else(|| self.state.borrow_mut().free.pop()) else {
            return self.ask_without(session, asked);
        };
        self.go_on(session, connection, asked);
    }

    /// There is no free connection.
    fn ask_without(&self, session: &Rc<RefCell<Session>>, asked: Asked) {
        let until = Instant::now() + self.patience;
        {
            let state = &mut *self.state.borrow_mut();
            if state.count == self.most {
                let (session, _expectation) = (session.clone(), self.reactor.expect());
                let alarm = self.reactor.at(until, weakly(&self.me, |pool| pool.expire()));
                state.waiting.push_back(Waiting { session, asked, until, alarm, _expectation });
                return;
            }
            state.count += 1;
        }
        self.run(session, None, asked);
    }

    /// Carries a request out at once if it is short.
    fn go_on(&self, session: &Rc<RefCell<Session>>, mut connection: Box<dyn Connection>, asked: Asked) {
        let answer = match asked.read() {
            Ok(request) => connection.now(&request),
            Err(failure) => Some(Answer::failed(&failure)),
        };
        match answer {
            Some(answer) => self.finish(session, (Some(connection), answer)),
            None => self.run(session, Some(connection), asked),
        }
    }

    /// Has a thread carry a request out, by a new connection if there is none.
    pub fn run(&self, session: &Rc<RefCell<Session>>, connection: Option<Box<dyn Connection>>, asked: Asked) {
        let (database, is_open) = (self.database.clone(), connection.is_some());
        let work = move || -> Outcome {
            let mut connection = match connection.map_or_else(|| database.open(), Ok) {
                Ok(connection) => connection,
                Err(failure) => return (None, Answer::failed(&failure)),
            };
            let answer = asked.read().map(|request| connection.run(&request));
            (Some(connection), answer.into())
        };
        let (errand, work) = Errand::new(&self.reactor, work);
        let pool = self.me.upgrade().expect("it is used");
        let (source, session) = (errand.source(), session.clone());
        let (errand, expectation) = (RefCell::new(Some(errand)), self.reactor.expect());
        let job = Rc::new(Job { pool, session, errand, alarm: Cell::new(None), _expectation: expectation });
        self.reactor.handle(source, job.clone());
        // To connect, and then to do what is asked.
        let patience = if is_open { self.patience } else { 2 * self.patience } + GRACE;
        let late = weakly(&Rc::downgrade(&job), |job| job.give_up());
        job.alarm.set(Some(self.reactor.at(Instant::now() + patience, late)));
        self.threads.begin(work);
    }

    /// A request has been carried out.
    fn finish(&self, session: &Rc<RefCell<Session>>, (connection, answer): Outcome) {
        let has_ended = session.borrow().has_ended;
        match connection.map(|connection| (connection.state(), connection)) {
            Some((State::InTransaction, connection)) if has_ended => {
                return self.run(session, Some(connection), Asked::rollback());
            }
            Some((State::InTransaction, connection)) => session.borrow_mut().pinned = Some(connection),
            Some((State::Free, connection)) => self.state.borrow_mut().free.push(connection),
            Some((State::Broken, connection)) => {
                // Whatever has broken it has broken those that nobody uses, too.
                let all: Vec<_> = {
                    let state = &mut *self.state.borrow_mut();
                    let all: Vec<_> = state.free.drain(..).chain([connection]).collect();
                    state.count -= all.len();
                    all
                };
                self.threads.begin(|| drop(all));
            }
            None => self.state.borrow_mut().count -= 1,
        }
        tell(session, answer);
        self.let_in();
    }

    /// Nobody waits for what a connection has done.
    fn leave(&self, connection: Option<Box<dyn Connection>>) {
        self.state.borrow_mut().count -= 1;
        self.threads.begin(|| drop(connection));
        self.let_in();
    }

    /// Requests that wait go on, as far as there are connections.
    fn let_in(&self) {
        loop {
            let (Waiting { session, asked, alarm, .. }, connection) = {
                let state = &mut *self.state.borrow_mut();
                if state.free.is_empty() && state.count == self.most {
                    return;
                }
                let Some(waiting) = state.waiting.pop_front() else { return };
                if waiting.session.borrow().has_ended {
                    continue;
                }
                let connection = state.free.pop();
                state.count += usize::from(connection.is_none());
                (waiting, connection)
            };
            self.reactor.cancel(alarm);
            match connection {
                Some(connection) => self.go_on(&session, connection, asked),
                None => self.run(&session, None, asked),
            }
        }
    }

    /// Answers requests that have waited too long.
    fn expire(&self) {
        let now = Instant::now();
        let late: Vec<Waiting> = {
            let waiting = &mut self.state.borrow_mut().waiting;
            let (late, still) = take(waiting).into_iter().partition(|it| it.until <= now);
            *waiting = still;
            Vec::from_iter::<VecDeque<Waiting>>(late)
        };
        for Waiting { session, .. } in late {
            let why = format!(
                "all {} connections have been in use for {} ms: the option connections allows more",
                self.most,
                self.patience.as_millis()
            );
            tell(&session, Answer::failed(&Failure::new(Failure::TIMEOUT, why)));
        }
    }
}

/// Answers a client, if it is still there.
fn tell(session: &Rc<RefCell<Session>>, answer: Answer) {
    let pump = {
        let session = &mut *session.borrow_mut();
        session.answer = Some(answer);
        session.pump.clone()
    };
    pump.iter().for_each(Waker::wake);
}

/// A client's request that a thread is at.
struct Job {
    pool: Rc<Pool>,
    session: Rc<RefCell<Session>>,
    /// `None` when it is done.
    errand: RefCell<Option<Errand<Outcome>>>,
    /// When the client is answered in any case; `None`: it has been.
    alarm: Cell<Option<Time>>,
    _expectation: Expectation,
}

impl Job {
    /// The thread takes too long, for a server that doesn't say anything: what it does is nobody's any more.
    fn give_up(&self) {
        if self.alarm.take().is_some() {
            let why = "the database has not answered in time, nor said why";
            tell(&self.session, Answer::failed(&Failure::new(Failure::AWAY, why)));
        }
    }
}

impl Handler for Job {
    fn ready(&self) {
        let outcome = self.errand.borrow().as_ref().and_then(Errand::result);
        let Some((connection, answer)) = outcome else { return };
        // Its source goes with it, and this handler.
        let errand = self.errand.take();
        match self.alarm.take() {
            Some(alarm) => {
                self.pool.reactor.cancel(alarm);
                self.pool.finish(&self.session, (connection, answer));
            }
            None => self.pool.leave(connection),
        }
        drop(errand);
    }
}
