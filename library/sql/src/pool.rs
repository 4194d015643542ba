//! The connections that a program has to one database. A request takes a free one, or waits until there is one; a
//! transaction keeps its own. Short writes are transactions, each waits for the disk, and only one can go on at a time:
//! while some are carried out others gather, which then go together.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::mem::{replace, take};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::time::{Duration, Instant};

use drystone_reactor::{Errand, Expectation, Handler, Reactor, Time, weakly};
use drystone_runtime::far::Waker;

use crate::answer::Answer;
use crate::connection::{Connection, Database, State, Tried, alone};
use crate::failure::Failure;
use crate::request::Asked;
use crate::threads::Threads;

/// How much longer than its own patience a database may take to say that it has none.
const GRACE: Duration = Duration::from_secs(2);

/// Writes that go together at most.
const GROUP: usize = 64;

/// How long requests that have waited are carried out at a stretch, before others of the program have their turn.
const STRETCH: Duration = Duration::from_millis(1);

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
    /// All, also those that are being made, but for those that are given up.
    count: usize,
    waiting: VecDeque<Waiting>,
    /// Short writes that wait for others.
    writes: VecDeque<Waiting>,
    /// Short writes are being carried out.
    is_writing: bool,
    /// Requests that wait are going on, or will in the next turn.
    are_let_in: bool,
}

impl Connections {
    /// What a request needs: a free connection, or the right to make one (`Some(None)`).
    fn room(&mut self, most: usize) -> Option<Option<Box<dyn Connection>>> {
        let free = self.free.pop();
        if free.is_none() {
            if self.count == most {
                return None;
            }
            self.count += 1;
        }
        Some(free)
    }
}

/// A request that waits.
struct Waiting {
    client: Client,
    asked: Asked,
    alarm: Time,
    _expectation: Expectation,
}

/// Who has asked, and until when an answer is waited for.
#[derive(Clone)]
struct Client {
    session: Rc<RefCell<Session>>,
    until: Instant,
}

/// What the pool knows of one client.
#[derive(Default)]
pub struct Session {
    pub pump: Option<Waker>,
    /// The connection of its transaction, while no request uses it.
    pub pinned: Option<Box<dyn Connection>>,
    pub answer: Option<Answer>,
    pub has_ended: bool,
    transaction: Transaction,
}

#[derive(Default, PartialEq, Eq)]
enum Transaction {
    #[default]
    None,
    Goes,
    /// Its connection is gone, or the database has rolled it back.
    Lost,
}

impl Session {
    /// The answer of a client whose transaction is lost. What it meant to do as a whole isn't done in part.
    fn refuse(&mut self, asked: &Asked) -> Option<Answer> {
        if self.transaction != Transaction::Lost {
            return None;
        }
        if asked.ends() {
            self.transaction = Transaction::None;
        }
        let is_well = asked.message == "Rollback";
        Some(if is_well { Answer::done() } else { Answer::failed(&Failure::aborted()) })
    }

    /// There is no connection with its transaction, if it had one.
    fn lose(&mut self) {
        if self.transaction == Transaction::Goes {
            self.transaction = Transaction::Lost;
        }
    }
}

/// What a thread has done: the connection, if there is one now, the answers, and the requests after those.
type Outcome = (Option<Box<dyn Connection>>, Vec<Answer>, Vec<Asked>);

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
        let refused = session.borrow_mut().refuse(&asked);
        if let Some(answer) = refused {
            return tell(session, answer);
        }
        let pinned = {
            let session = &mut *session.borrow_mut();
            if asked.ends() {
                // Unless the database says otherwise.
                session.transaction = Transaction::None;
            }
            session.pinned.take()
        };
        if pinned.is_some() {
            return self.start(session, pinned, asked);
        }
        let room = {
            let state = &mut *self.state.borrow_mut();
            if state.waiting.is_empty() { state.room(self.most) } else { None }
        };
        match room {
            Some(connection) => self.start(session, connection, asked),
            None => self.wait(session, asked),
        }
    }

    /// A request waits for a connection.
    fn wait(&self, session: &Rc<RefCell<Session>>, asked: Asked) {
        let waiting = self.waiting(self.client(session), asked);
        self.state.borrow_mut().waiting.push_back(waiting);
    }

    /// A client that asks now.
    fn client(&self, session: &Rc<RefCell<Session>>) -> Client {
        Client { session: session.clone(), until: Instant::now() + self.patience }
    }

    fn waiting(&self, client: Client, asked: Asked) -> Waiting {
        let alarm = self.reactor.at(client.until, weakly(&self.me, |pool| pool.expire()));
        Waiting { client, asked, alarm, _expectation: self.reactor.expect() }
    }

    /// A short write gathers with others. It doesn't need the connection.
    fn gather(&self, session: &Rc<RefCell<Session>>, connection: Box<dyn Connection>, asked: Asked) {
        let waiting = self.waiting(self.client(session), asked);
        {
            let state = &mut *self.state.borrow_mut();
            state.writes.push_back(waiting);
            state.free.push(connection);
        }
        self.let_in();
    }

    /// Carries a request out by this connection, or by a new one.
    fn start(&self, session: &Rc<RefCell<Session>>, connection: Option<Box<dyn Connection>>, asked: Asked) {
        match connection {
            Some(connection) => self.go_on(session, connection, asked),
            None => self.run(session, None, asked),
        }
    }

    /// Carries a request out at once if it is short.
    fn go_on(&self, session: &Rc<RefCell<Session>>, mut connection: Box<dyn Connection>, asked: Asked) {
        let tried = match asked.read() {
            Ok(request) => connection.now(&request),
            Err(failure) => Tried::Done(Answer::failed(&failure)),
        };
        match tried {
            Tried::Done(answer) => self.finish(session, Some(connection), answer),
            Tried::Long => self.run(session, Some(connection), asked),
            Tried::Write => self.gather(session, connection, asked),
        }
    }

    /// Has a thread carry a request out, by a new connection if there is none.
    pub fn run(&self, session: &Rc<RefCell<Session>>, connection: Option<Box<dyn Connection>>, asked: Asked) {
        self.have_done(vec![self.client(session)], connection, vec![asked], false);
    }

    /// Has a thread carry requests out: one, or short writes.
    fn have_done(
        &self,
        clients: Vec<Client>,
        connection: Option<Box<dyn Connection>>,
        mut asked: Vec<Asked>,
        are_writes: bool,
    ) {
        let (database, is_open) = (self.database.clone(), connection.is_some());
        let work = move || -> Outcome {
            // What panics loses its connection, and no more.
            let done =
                catch_unwind(AssertUnwindSafe(|| carry_out(&*database, connection, &asked, are_writes)));
            let (connection, answers) = done.unwrap_or_else(|_| {
                let why = "the request could not be carried out, by a fault in drystone";
                (None, asked.iter().map(|_| Answer::failed(&Failure::new("XX000", why))).collect())
            });
            let rest = asked.split_off(answers.len());
            (connection, answers, rest)
        };
        let (errand, work) = Errand::new(&self.reactor, work);
        let pool = self.me.upgrade().expect("it is used");
        let source = errand.source();
        let (errand, expectation) = (RefCell::new(Some(errand)), self.reactor.expect());
        let job = Rc::new(Job { pool, clients, are_writes, errand, waits: Cell::new(None) });
        self.reactor.handle(source, job.clone());
        // To connect, and then to do what is asked.
        let patience = if is_open { self.patience } else { 2 * self.patience } + GRACE;
        let late = weakly(&Rc::downgrade(&job), |job| job.give_up());
        job.waits.set(Some((self.reactor.at(Instant::now() + patience, late), expectation)));
        self.threads.begin(work);
    }

    /// Short writes have been carried out, the first ones of these clients'.
    fn finish_writes(&self, clients: &[Client], (connection, answers, rest): Outcome) {
        let left = clients[answers.len()..].iter().zip(rest);
        let left: Vec<_> = left.map(|(client, asked)| self.waiting(client.clone(), asked)).collect();
        {
            let state = &mut *self.state.borrow_mut();
            state.is_writing = false;
            left.into_iter().rev().for_each(|waiting| state.writes.push_front(waiting));
        }
        let mut done = clients.iter().zip(answers);
        let last = done.next_back();
        done.for_each(|(client, answer)| tell(&client.session, answer));
        if let Some((client, answer)) = last {
            self.finish(&client.session, connection, answer);
        }
    }

    /// A request has been carried out.
    fn finish(
        &self,
        session: &Rc<RefCell<Session>>,
        connection: Option<Box<dyn Connection>>,
        answer: Answer,
    ) {
        let has_ended = session.borrow().has_ended;
        let connection = connection.map(|connection| (connection.state(), connection));
        if !matches!(connection, Some((State::InTransaction, _))) {
            session.borrow_mut().lose();
        }
        match connection {
            Some((State::InTransaction, connection)) if has_ended => {
                return self.run(session, Some(connection), Asked::rollback());
            }
            Some((State::InTransaction, connection)) => {
                let session = &mut *session.borrow_mut();
                (session.pinned, session.transaction) = (Some(connection), Transaction::Goes);
            }
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

    /// Requests that wait go on, as far as there are connections. Those that are carried out at once come back here,
    /// and leave the rest to whoever let them in.
    fn let_in(&self) {
        if !replace(&mut self.state.borrow_mut().are_let_in, true) {
            self.let_some_in();
        }
    }

    /// Lets requests in, for some time.
    fn let_some_in(&self) {
        let begin = Instant::now();
        loop {
            if let Some((clients, connection, asked)) = self.next_writes() {
                self.have_done(clients, connection, asked, true);
            } else if let Some((Waiting { client, asked, alarm, .. }, connection)) = self.next() {
                self.reactor.cancel(alarm);
                self.start(&client.session, connection, asked);
            } else {
                break;
            }
            if begin.elapsed() > STRETCH {
                self.reactor.at(Instant::now(), weakly(&self.me, |pool| pool.let_some_in()));
                return;
            }
        }
        self.state.borrow_mut().are_let_in = false;
    }

    /// The next short writes, if they can go on.
    #[expect(clippy::type_complexity, reason = "they are taken apart at once")]
    fn next_writes(&self) -> Option<(Vec<Client>, Option<Box<dyn Connection>>, Vec<Asked>)> {
        let state = &mut *self.state.borrow_mut();
        let oldest = state.writes.front().filter(|_| !state.is_writing)?.client.until;
        // Who has waited for longer is tried first: it may be a short write, too.
        let mut there = state.waiting.iter().filter(|waiting| !waiting.client.session.borrow().has_ended);
        if there.next().is_some_and(|waiting| waiting.client.until < oldest) {
            return None;
        }
        let connection = state.room(self.most)?;
        let count = state.writes.len().min(GROUP);
        let next = state.writes.drain(..count);
        let next = next.map(|Waiting { client, asked, alarm, .. }| {
            self.reactor.cancel(alarm);
            (client, asked)
        });
        let (clients, asked) = next.unzip();
        state.is_writing = true;
        Some((clients, connection, asked))
    }

    /// The next request that can go on, with what it needs.
    fn next(&self) -> Option<(Waiting, Option<Box<dyn Connection>>)> {
        let state = &mut *self.state.borrow_mut();
        while state.waiting.front().is_some_and(|waiting| waiting.client.session.borrow().has_ended) {
            let waiting = state.waiting.pop_front()?;
            self.reactor.cancel(waiting.alarm);
        }
        state.waiting.front()?;
        let connection = state.room(self.most)?;
        Some((state.waiting.pop_front()?, connection))
    }

    /// Answers requests that have waited too long.
    fn expire(&self) {
        let (most, patience) = (self.most, self.patience.as_millis());
        let why = format!(
            "all {most} connections have been in use for {patience} ms: the option connections allows more"
        );
        self.expire_in(|state| &mut state.waiting, &why);
        self.expire_in(|state| &mut state.writes, &format!("writes of others have taken {patience} ms"));
    }

    /// The same in one queue, whose first has waited for the longest.
    fn expire_in(&self, queue: fn(&mut Connections) -> &mut VecDeque<Waiting>, why: &str) {
        let now = Instant::now();
        let next = || queue(&mut self.state.borrow_mut()).pop_front_if(|it| it.client.until <= now);
        while let Some(Waiting { client, .. }) = next() {
            tell(&client.session, Answer::failed(&Failure::new(Failure::TIMEOUT, why)));
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let free = take(&mut self.state.get_mut().free);
        // The last of a file writes what isn't in it yet, and a server is told.
        if !free.is_empty() {
            self.threads.begin_last(|| drop(free));
        }
    }
}

/// Carries requests out, on a thread: the first ones, at least one.
fn carry_out(
    database: &dyn Database,
    connection: Option<Box<dyn Connection>>,
    asked: &[Asked],
    are_writes: bool,
) -> (Option<Box<dyn Connection>>, Vec<Answer>) {
    let mut connection = match connection.map_or_else(|| database.open(), Ok) {
        Ok(connection) => connection,
        Err(failure) => return (None, asked.iter().map(|_| Answer::failed(&failure)).collect()),
    };
    let answers = match asked {
        [only] if !are_writes => vec![alone(&mut *connection, only)],
        all => connection.write(all),
    };
    (Some(connection), answers)
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

/// Clients' requests that a thread is at.
struct Job {
    pool: Rc<Pool>,
    clients: Vec<Client>,
    are_writes: bool,
    /// `None` when it is done.
    errand: RefCell<Option<Errand<Outcome>>>,
    /// When they are answered in any case; `None`: they have been.
    waits: Cell<Option<(Time, Expectation)>>,
}

impl Job {
    /// The server is silent: the clients are answered, and the thread's result will be dropped. Another connection may
    /// take the place of this one.
    fn give_up(&self) {
        if self.waits.take().is_some() {
            for Client { session, .. } in &self.clients {
                session.borrow_mut().lose();
                let why = "the database has not answered in time, nor said why";
                tell(session, Answer::failed(&Failure::new(Failure::AWAY, why)));
            }
            {
                let state = &mut *self.pool.state.borrow_mut();
                state.count -= 1;
                state.is_writing &= !self.are_writes;
            }
            self.pool.let_in();
        }
    }
}

impl Handler for Job {
    fn ready(&self) {
        let outcome = self.errand.borrow().as_ref().and_then(Errand::result);
        let Some(outcome) = outcome else { return };
        // Its source goes with it, and this handler.
        let errand = self.errand.take();
        match self.waits.take() {
            Some((alarm, _expectation)) => {
                self.pool.reactor.cancel(alarm);
                if self.are_writes {
                    self.pool.finish_writes(&self.clients, outcome);
                } else {
                    let (connection, mut answers, _) = outcome;
                    self.pool.finish(&self.clients[0].session, connection, answers.remove(0));
                }
            }
            None => self.pool.threads.begin(|| drop(outcome)),
        }
        drop(errand);
    }
}

#[cfg(test)]
mod tests {
    use drystone_component::wire::put_opaque;

    use super::*;
    use crate::request::Request;

    /// What is carried out at once is a Rollback. A Script panics, and an Execute hangs.
    struct Fake(State);

    impl Database for () {
        fn open(&self) -> Result<Box<dyn Connection>, Failure> {
            Ok(Box::new(Fake(State::Free)))
        }
    }

    impl Connection for Fake {
        fn now(&mut self, request: &Request<'_>) -> Tried {
            match request {
                Request::Rollback => Tried::Done(Answer::done()),
                _ => Tried::Long,
            }
        }

        fn write(&mut self, all: &[Asked]) -> Vec<Answer> {
            vec![alone(self, &all[0])]
        }

        fn run(&mut self, request: &Request<'_>) -> Answer {
            match request {
                Request::Script(_) => panic!("it is told to"),
                Request::Execute(_) => std::thread::sleep(Duration::from_secs(30)),
                Request::Begin => self.0 = State::InTransaction,
                _ => {}
            }
            Answer::done()
        }

        fn state(&self) -> State {
            self.0
        }
    }

    /// A pool with one connection.
    fn pool(patience: Duration) -> (Rc<Reactor>, Rc<Pool>) {
        let reactor = Reactor::new().expect("the system has files");
        let pool = Pool::new(&reactor, &Rc::new(Threads::new()), Arc::new(()), 1, patience);
        (reactor, pool)
    }

    /// Asks, and waits for what it is answered.
    fn asked(
        reactor: &Reactor,
        pool: &Pool,
        session: &Rc<RefCell<Session>>,
        message: &'static str,
    ) -> Answer {
        let mut values = Vec::new();
        put_opaque(&mut values, b"");
        put_opaque(&mut values, &[0; 4]);
        pool.ask(session, Asked { message, values });
        loop {
            if let Some(answer) = session.borrow_mut().answer.take() {
                return answer;
            }
            reactor.wait(Some(Duration::from_secs(1)), &mut |_| {});
        }
    }

    #[test]
    fn however_many_wait_they_go_on_one_after_another() {
        let (reactor, pool) = pool(Duration::from_secs(60));
        let sessions: Vec<Rc<RefCell<Session>>> = (0..100_000).map(|_| Rc::default()).collect();
        for session in &sessions {
            pool.ask(session, Asked::rollback());
        }
        for session in &sessions {
            while session.borrow().answer.is_none() {
                reactor.wait(Some(Duration::from_secs(1)), &mut |_| {});
            }
        }
    }

    #[test]
    fn what_panics_or_hangs_takes_no_connection_from_others() {
        let (reactor, pool) = pool(Duration::from_millis(100));
        let (one, other) = (Rc::default(), Rc::default());
        let failed = |answer: Answer, code: &str| {
            assert_eq!((answer.message, &answer.values[4..9]), ("Failed", code.as_bytes()));
        };
        failed(asked(&reactor, &pool, &one, "Script"), "XX000");
        assert_eq!(asked(&reactor, &pool, &one, "Begin").message, "Done");
        failed(asked(&reactor, &pool, &other, "Rollback"), Failure::TIMEOUT);
        failed(asked(&reactor, &pool, &one, "Execute"), Failure::AWAY);
        assert_eq!(asked(&reactor, &pool, &other, "Rollback").message, "Done");
        // Its transaction was with the connection that hangs.
        failed(asked(&reactor, &pool, &one, "Execute"), Failure::ABORTED);
        failed(asked(&reactor, &pool, &one, "Commit"), Failure::ABORTED);
        assert_eq!(asked(&reactor, &pool, &one, "Begin").message, "Done");
    }
}
