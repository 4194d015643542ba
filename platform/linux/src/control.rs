//! The control socket: inspects and changes a running program (`drystone run --control SOCKET`). A client sends one
//! line of JSON, and receives one:
//!
//! * `{"inspect": N}`: the program as it is now, at most N components;
//! * `{"rebind": {"path": .., "interface": .., "slot": 1, "name": .., "by": .., "within": MILLISECONDS}}`: gives a
//!   connection another binding, as soon as its protocol allows. The answer is `{}` on success, or `{"error": ..}`. If
//!   a word in the request is unknown, the error has it as `"instead_of"`, with the `"known"` words. With a time limit,
//!   the rebind fails after that time. If it takes longer than a second, a line `{"waits": ..}` comes before the answer
//!   and says for what. It is given up if the client disconnects.
//!
//! # Soundness
//!
//! The runtime calls questions with its home worker, on whose thread this runs, while the scheduler has control.

mod file;
mod request;
mod view;

use std::cell::{Cell, RefCell};
use std::io::{self, Read, Write};
use std::path::Path;
use std::rc::{Rc, Weak};
use std::time::{Duration, Instant};

use drystone_kortex::composed::Monitors;
use drystone_runtime::binding::{Pending, goes_on, rebind, withdraw};
use drystone_runtime::inspect::Unknown;
use drystone_runtime::layout::Worker;
use mio::net::{UnixListener, UnixStream};
use serde_json::{Value, json};

use crate::questions::Questions;
use drystone_net::entry::{BREATH, Room, accept_all};
use drystone_reactor::reason;
use drystone_reactor::{Drain, Handler, Reactor, weakly};
use file::File;
pub(crate) use request::Request;
use request::Wanted;

/// Longest request.
const LONGEST: usize = 64 * 1024;

/// A client that waits longer is told what for.
const PATIENCE: Duration = Duration::from_secs(1);

/// The socket. Its file is removed when it is dropped.
pub(crate) struct Control {
    me: Weak<Control>,
    file: File,
    shared: Rc<Shared>,
    listener: RefCell<UnixListener>,
    source: usize,
}

struct Shared {
    reactor: Rc<Reactor>,
    monitors: Rc<Monitors>,
    questions: Rc<Questions>,
}

impl Control {
    /// Listens at a path.
    ///
    /// # Errors
    /// Says why the socket can't be made.
    pub(crate) fn new(
        path: &Path,
        reactor: Rc<Reactor>,
        monitors: Rc<Monitors>,
        questions: &Rc<Questions>,
    ) -> Result<Rc<Control>, String> {
        let failed = |error: io::Error| format!("{}: {}", path.display(), reason(&error));
        let (mut listener, file) = File::listen(path).map_err(|error| match error.kind() {
            io::ErrorKind::AddrInUse => format!("{}: {}", path.display(), file::in_whose_way(path)),
            _ => failed(error),
        })?;
        let source = reactor.watch(&mut listener).map_err(failed)?;
        questions.expect();
        let shared = Rc::new(Shared { reactor: reactor.clone(), monitors, questions: questions.clone() });
        let listener = RefCell::new(listener);
        let control = Rc::new_cyclic(|me| Control { me: me.clone(), file, shared, listener, source });
        reactor.handle(source, control.clone());
        Ok(control)
    }

    /// The program has ended.
    pub(crate) fn end(&self) {
        self.shared.reactor.unwatch(self.source, &mut *self.listener.borrow_mut());
        self.file.remove();
    }
}

impl Handler for Control {
    fn ready(&self) {
        let accept = || self.listener.borrow().accept().and_then(|(stream, _)| self.admit(stream));
        if accept_all(accept) == Room::None {
            self.shared.reactor.at(Instant::now() + BREATH, weakly(&self.me, |control| control.ready()));
        }
    }
}

impl Control {
    fn admit(&self, mut stream: UnixStream) -> io::Result<()> {
        let source = self.shared.reactor.watch(&mut stream)?;
        let client = Client {
            shared: self.shared.clone(),
            source,
            stream: RefCell::new(stream),
            request: RefCell::default(),
            has_asked: Cell::default(),
            rebind: RefCell::default(),
            is_answered: Cell::default(),
            answer: RefCell::default(),
            gone: Cell::new(false),
        };
        let client = Rc::new_cyclic(|me| Ready { me: me.clone(), client });
        self.shared.reactor.handle(source, client);
        Ok(())
    }
}

/// A client's connection.
struct Client {
    shared: Rc<Shared>,
    source: usize,
    stream: RefCell<UnixStream>,
    request: RefCell<Vec<u8>>,
    /// Its request is complete.
    has_asked: Cell<bool>,
    /// The rebind that the client waits for.
    rebind: RefCell<Pending>,
    /// The answer is complete.
    is_answered: Cell<bool>,
    /// The rest of the answer, which the client hasn't read.
    answer: RefCell<Vec<u8>>,
    /// The client isn't watched any more, and its source may be reused. Its request may still be under way.
    gone: Cell<bool>,
}

struct Ready {
    me: Weak<Ready>,
    client: Client,
}

impl Handler for Ready {
    fn ready(&self) {
        let Some(me) = self.me.upgrade() else { return };
        match self.client.read() {
            Ok(None) => {}
            Ok(Some(request)) => self.client.shared.questions.ask(move |worker| me.act(worker, &request)),
            Err(_) => self.client.leave(),
        }
    }
}

impl Ready {
    fn act(&self, worker: *mut Worker, request: &[u8]) {
        match Request::read(request) {
            Some(Request::Inspect(most)) => {
                self.answer(view::program(worker, most, &self.client.shared.monitors))
            }
            Some(Request::Rebind(wanted)) => self.bind(worker, wanted),
            None => self.answer(json!({"error": "a request is {\"inspect\": N} or {\"rebind\": {..}}"})),
        }
    }

    fn bind(&self, worker: *mut Worker, wanted: Wanted) {
        let Some(me) = self.me.upgrade().filter(|me| !me.client.gone.get()) else { return };
        let told = move |outcome: Result<(), Unknown>| {
            me.answer(outcome.map_or_else(|why| refused(&why), |()| json!({})));
        };
        // SAFETY: see the head of this file.
        let pending = unsafe { rebind(worker, wanted.what, Box::new(told)) };
        *self.client.rebind.borrow_mut() = pending;
        if let Some(within) = wanted.within {
            let limit = Limit { client: self.me.clone(), within, until: Instant::now() + within };
            self.client.shared.reactor.at(Instant::now() + PATIENCE.min(within), Rc::new(limit));
        }
    }

    fn answer(&self, answer: Value) {
        self.client.is_answered.set(true);
        self.say(answer);
    }

    fn say(&self, what: Value) {
        let Some(me) = self.me.upgrade().filter(|me| !me.client.gone.get()) else { return };
        self.client.answer.borrow_mut().extend_from_slice(format!("{what}\n").as_bytes());
        self.client.shared.reactor.drain_later(self.client.source, me);
    }
}

fn refused(why: &Unknown) -> Value {
    let Unknown { why, instead_of, known } = why;
    match known.as_slice() {
        [] => json!({ "error": why }),
        known => json!({ "error": why, "instead_of": instead_of, "known": known }),
    }
}

/// The time limit of a rebind.
struct Limit {
    client: Weak<Ready>,
    within: Duration,
    until: Instant,
}

impl Handler for Limit {
    fn ready(&self) {
        let Some(me) = self.client.upgrade().filter(|me| me.client.rebind.borrow().waits()) else { return };
        let Limit { ref client, within, until } = *self;
        let limit = Limit { client: client.clone(), within, until };
        let shared = me.client.shared.clone();
        shared.questions.ask(move |worker| limit.look(worker, &me));
    }
}

impl Limit {
    fn look(self, worker: *mut Worker, me: &Ready) {
        let pending = me.client.rebind.borrow().clone();
        // SAFETY: see the head of this file.
        let Some(why) = (unsafe { goes_on(worker, &pending) }) else { return };
        if Instant::now() < self.until {
            me.say(json!({ "waits": why }));
            me.client.shared.reactor.at(self.until, Rc::new(self));
        } else {
            // SAFETY: see the head of this file.
            unsafe { withdraw(worker, &pending) };
            let limit = self.within.as_secs_f64();
            me.answer(
                json!({ "error": format!("it was not done within {limit} s, and will not be: {why}") }),
            );
        }
    }
}

impl Drain for Ready {
    fn drain(&self) -> bool {
        let client = &self.client;
        loop {
            let mut answer = client.answer.borrow_mut();
            if answer.is_empty() {
                if client.is_answered.get() {
                    break;
                }
                return true;
            }
            let written = client.stream.borrow_mut().write(&answer);
            match written {
                Ok(0) => break,
                Ok(count) => drop(answer.drain(..count)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return false,
                Err(_) => break,
            }
        }
        client.leave();
        true
    }

    fn give_up(&self) {
        self.client.leave();
    }
}

impl Client {
    /// Reads the request; `None`: it isn't complete yet.
    fn read(&self) -> io::Result<Option<Vec<u8>>> {
        let mut request = self.request.borrow_mut();
        let mut bytes = [0; 4096];
        loop {
            let stream = &mut *self.stream.borrow_mut();
            match stream.read(&mut bytes) {
                // The client may still read. If it doesn't, this is an error.
                Ok(0) if self.has_asked.get() => return stream.write(&[]).map(|_| None),
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                // Only one request is allowed for each connection.
                Ok(_) if self.has_asked.get() => return Err(io::ErrorKind::InvalidData.into()),
                Ok(count) => request.extend_from_slice(&bytes[..count]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
            if request.ends_with(b"\n") {
                self.has_asked.set(true);
                return Ok(Some(std::mem::take(&mut *request)));
            }
            if request.len() > LONGEST {
                return Err(io::ErrorKind::InvalidData.into());
            }
        }
    }

    fn leave(&self) {
        if self.gone.replace(true) {
            return;
        }
        let rebind = self.rebind.take();
        if rebind.waits() {
            // SAFETY: see the head of this file.
            self.shared.questions.ask(move |worker| unsafe { withdraw(worker, &rebind) });
        }
        let _ = self.stream.borrow().shutdown(std::net::Shutdown::Both);
        self.shared.reactor.unwatch(self.source, &mut *self.stream.borrow_mut());
    }
}
