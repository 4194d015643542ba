//! A connection to an HTTP service that is being made: the host's name is looked up, its addresses are tried one after
//! another, and for an `https:` name both sides look whether they believe each other.

use std::cell::RefCell;
use std::io;
use std::mem::replace;
use std::rc::{Rc, Weak};
use std::time::{Duration, Instant};

use super::io::Io;
use super::service::Service;
use drystone_net::dial::{Addresses, connect};
use drystone_net::place::{Search, search};
use drystone_net::socket::Socket;
use drystone_reactor::reason;
use drystone_reactor::{Handler, Time};

/// How long one address may take, and the looking up of addresses.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long TLS may take, which is much work for a server to which many come at once.
const MORE_PATIENCE: Duration = Duration::from_secs(30);

/// See the head of this file.
pub(super) struct Dial {
    me: Weak<Dial>,
    service: Rc<Service>,
    state: RefCell<State>,
}

struct State {
    step: Step,
    addresses: Addresses,
    until: Instant,
    time: Option<Time>,
    /// Who gets the connection.
    then: Option<Box<Then>>,
}

type Then = dyn FnOnce(Result<Io, String>);

enum Step {
    Searching(Search),
    Connecting(Rc<Socket>),
    Greeting(Io),
    Over,
}

/// How far it has come.
enum Progress {
    /// It has to wait.
    Waits(Step),
    /// On to the next one at once.
    Goes(Step),
    Done(Io),
    /// Another address is tried, if there is one.
    Failed(String),
    /// There is none.
    Over(String),
}

impl Dial {
    /// Begins; `then` is called once, unless this is given up: perhaps before this returns.
    pub(super) fn begin(service: &Rc<Service>, then: impl FnOnce(Result<Io, String>) + 'static) -> Rc<Dial> {
        let state = State {
            step: Step::Over,
            addresses: Addresses::new(Vec::new(), ""),
            until: Instant::now(),
            time: None,
            then: Some(Box::new(then)),
        };
        let dial = Rc::new_cyclic(|me| Dial {
            me: me.clone(),
            service: service.clone(),
            state: RefCell::new(state),
        });
        let begun = dial.search();
        dial.follow(begun);
        dial
    }

    /// Nobody wants the connection any more.
    pub(super) fn give_up(&self) {
        let then = self.state.borrow_mut().then.take();
        drop(then);
        let step = replace(&mut self.state.borrow_mut().step, Step::Over);
        self.leave(&step);
    }

    fn search(self: &Rc<Dial>) -> Progress {
        let (place, port) = (self.service.place.clone(), self.service.port);
        if place.numeric().is_some() {
            return match place.look_up(port) {
                Ok(addresses) => self.next(Addresses::new(addresses, "there is no address")),
                Err(error) => Progress::Failed(reason(&error)),
            };
        }
        self.hurry(PATIENCE);
        match search(&self.service.reactor, self.clone(), move || place.look_up(port)) {
            Ok(search) => Progress::Waits(Step::Searching(search)),
            Err(error) => Progress::Failed(reason(&error)),
        }
    }

    /// From now on there is so much time.
    fn hurry(&self, patience: Duration) {
        let state = &mut *self.state.borrow_mut();
        let reactor = &self.service.reactor;
        if let Some(time) = state.time.take() {
            reactor.cancel(time);
        }
        state.until = Instant::now() + patience;
        state.time = Some(reactor.at(state.until, Rc::new(Late(self.me.clone()))));
    }

    /// Tries the next address; if there is none, this is over for the reason that the last one gave.
    fn next(self: &Rc<Dial>, mut addresses: Addresses) -> Progress {
        let reactor = &self.service.reactor;
        let begun = addresses.next(|address| connect(reactor, address));
        let Some(socket) = begun else { return Progress::Over(addresses.why().into()) };
        reactor.handle(socket.source(), self.clone());
        self.hurry(PATIENCE);
        self.state.borrow_mut().addresses = addresses;
        Progress::Goes(Step::Connecting(socket))
    }

    /// The addresses that are left.
    fn others(&self) -> Addresses {
        replace(&mut self.state.borrow_mut().addresses, Addresses::new(Vec::new(), ""))
    }

    /// Goes on as far as it can.
    fn go_on(self: &Rc<Dial>, step: Step) -> Progress {
        let is_late = self.state.borrow().until <= Instant::now();
        let wait = |step: Step, why: &str| {
            if is_late {
                self.leave(&step);
                return Progress::Failed(why.into());
            }
            Progress::Waits(step)
        };
        match step {
            Step::Searching(search) => match search.result() {
                None => wait(Step::Searching(search), "its address isn't found in ten seconds"),
                Some(Ok(addresses)) => {
                    let why_none = format!("{} has no address", self.service.place.host);
                    self.next(Addresses::new(addresses, &why_none))
                }
                Some(Err(error)) => Progress::Failed(reason(&error)),
            },
            Step::Connecting(socket) => match socket.connected() {
                None => wait(Step::Connecting(socket), "no connection in ten seconds"),
                Some(Ok(())) => match self.service.channel() {
                    Ok(channel) => {
                        self.hurry(MORE_PATIENCE);
                        Progress::Goes(Step::Greeting(Io::new(&self.service.reactor, socket, channel)))
                    }
                    Err(why) => {
                        self.leave(&Step::Connecting(socket));
                        Progress::Failed(why)
                    }
                },
                Some(Err(error)) => {
                    self.leave(&Step::Connecting(socket));
                    Progress::Failed(reason(&error))
                }
            },
            Step::Greeting(mut io) => match io.greet() {
                Ok(true) => Progress::Done(io),
                Ok(false) => wait(Step::Greeting(io), "no TLS in thirty seconds"),
                Err(error) => {
                    self.leave(&Step::Greeting(io));
                    Progress::Failed(said(&error))
                }
            },
            Step::Over => Progress::Waits(Step::Over),
        }
    }

    fn follow(self: &Rc<Dial>, mut progress: Progress) {
        loop {
            progress = match progress {
                Progress::Waits(step) => return self.state.borrow_mut().step = step,
                Progress::Goes(step) => self.go_on(step),
                Progress::Done(io) => return self.end(Ok(io)),
                Progress::Over(why) => return self.end(Err(why)),
                Progress::Failed(why) => {
                    let mut addresses = self.others();
                    addresses.fail(why);
                    self.next(addresses)
                }
            };
        }
    }

    fn end(&self, result: Result<Io, String>) {
        let (then, time) = {
            let state = &mut *self.state.borrow_mut();
            (state.then.take(), state.time.take())
        };
        if let Some(time) = time {
            self.service.reactor.cancel(time);
        }
        if let Some(then) = then {
            then(result);
        }
    }

    /// What this step had is not needed.
    fn leave(&self, step: &Step) {
        if let Step::Connecting(socket) | Step::Greeting(Io { socket, .. }) = step {
            socket.close();
            self.service.reactor.unhandle(socket.source());
        }
    }
}

/// Why TLS did not come about.
fn said(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => "it has ended the connection instead of answering by TLS".into(),
        _ => error.get_ref().map_or_else(|| reason(error), |tls| format!("TLS: {tls}")),
    }
}

impl Handler for Dial {
    fn ready(&self) {
        let Some(me) = self.me.upgrade() else { return };
        let step = replace(&mut self.state.borrow_mut().step, Step::Over);
        me.follow(me.go_on(step));
    }
}

/// The time is over, if it is still needed.
struct Late(Weak<Dial>);

impl Handler for Late {
    fn ready(&self) {
        if let Some(dial) = self.0.upgrade() {
            dial.ready();
        }
    }
}
