//! Dialling by TCP: the addresses that a host's name stands for are tried one after the other ([`Addresses`]); [`Dial`]
//! does all there is to do until there is a [`Stream`].

use std::cell::RefCell;
use std::io;
use std::mem::replace;
use std::net::SocketAddr;
use std::rc::{Rc, Weak};
use std::time::{Duration, Instant};
use std::vec;

use drystone_reactor::{Handler, Reactor, Time, reason, weakly};
use mio::net::TcpStream;

use crate::alive::keep_alive;
use crate::place::{Place, Search, search};
use crate::secure::{Channel, Dialer};
use crate::socket::Socket;
use crate::stream::Stream;

/// Those that haven't been tried, and why the last one was none.
pub struct Addresses {
    left: vec::IntoIter<SocketAddr>,
    why: String,
}

impl Addresses {
    /// All of them. If there are none at all, that is why.
    pub fn new(all: Vec<SocketAddr>, why_none: &str) -> Addresses {
        Addresses { left: all.into_iter(), why: why_none.into() }
    }

    /// Begins with the next one that doesn't fail at once. `None`: all have failed.
    pub fn next<T>(&mut self, begin: impl Fn(SocketAddr) -> Result<T, String>) -> Option<T> {
        for address in self.left.by_ref() {
            match begin(address) {
                Ok(begun) => return Some(begun),
                Err(why) => self.why = why,
            }
        }
        None
    }

    /// The one that was begun with has failed.
    pub fn fail(&mut self, why: String) {
        self.why = why;
    }

    /// Why the last one has failed.
    pub fn why(&self) -> &str {
        &self.why
    }
}

/// Begins to make a connection.
pub fn connect(reactor: &Rc<Reactor>, address: SocketAddr) -> Result<Rc<Socket>, String> {
    let socket = TcpStream::connect(address).and_then(|stream| {
        keep_alive(&stream);
        Socket::new(reactor.clone(), stream)
    });
    socket.map_err(|error| reason(&error))
}

/// To whom, and how.
pub struct Target {
    /// Where it is waited for.
    pub reactor: Rc<Reactor>,
    /// The host; its port isn't looked at.
    pub place: Place,
    /// The port.
    pub port: u16,
    /// `None`: without TLS.
    pub dialer: Option<Dialer>,
}

impl Target {
    /// What a new connection is enciphered by, if it is.
    fn channel(&self) -> Result<Option<Channel>, String> {
        self.dialer.as_ref().map(|dialer| dialer.dial(&self.place.host)).transpose()
    }
}

/// How long one address may take, and the looking up of addresses.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long TLS may take, which is much work for a server to which many come at once.
const MORE_PATIENCE: Duration = Duration::from_secs(30);

/// A connection that is being made: the host's name is looked up, its addresses are tried one after another, and with
/// TLS both sides look whether they believe each other.
pub struct Dial {
    me: Weak<Dial>,
    target: Target,
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

type Then = dyn FnOnce(Result<Stream, String>);

enum Step {
    Searching(Search),
    Connecting(Rc<Socket>),
    Greeting(Stream),
    Over,
}

/// How far it has come.
enum Progress {
    /// It has to wait.
    Waits(Step),
    /// On to the next one at once.
    Goes(Step),
    Done(Stream),
    /// Another address is tried, if there is one.
    Failed(String),
    /// There is none.
    Over(String),
}

impl Dial {
    /// Begins; `then` is called once, unless this is given up: perhaps before this returns.
    pub fn begin(target: Target, then: impl FnOnce(Result<Stream, String>) + 'static) -> Rc<Dial> {
        let state = State {
            step: Step::Over,
            addresses: Addresses::new(Vec::new(), ""),
            until: Instant::now(),
            time: None,
            then: Some(Box::new(then)),
        };
        let dial = Rc::new_cyclic(|me| Dial { me: me.clone(), target, state: RefCell::new(state) });
        let begun = dial.search();
        dial.follow(begun);
        dial
    }

    /// Nobody wants the connection any more.
    pub fn give_up(&self) {
        let then = self.state.borrow_mut().then.take();
        drop(then);
        let step = replace(&mut self.state.borrow_mut().step, Step::Over);
        self.leave(&step);
    }

    fn search(self: &Rc<Dial>) -> Progress {
        let (place, port) = (self.target.place.clone(), self.target.port);
        if place.numeric().is_some() {
            return match place.look_up(port) {
                Ok(addresses) => self.next(Addresses::new(addresses, "there is no address")),
                Err(error) => Progress::Failed(reason(&error)),
            };
        }
        self.hurry(PATIENCE);
        match search(&self.target.reactor, self.clone(), move || place.look_up(port)) {
            Ok(search) => Progress::Waits(Step::Searching(search)),
            Err(error) => Progress::Failed(reason(&error)),
        }
    }

    /// From now on there is so much time.
    fn hurry(&self, patience: Duration) {
        let state = &mut *self.state.borrow_mut();
        let reactor = &self.target.reactor;
        if let Some(time) = state.time.take() {
            reactor.cancel(time);
        }
        state.until = Instant::now() + patience;
        state.time = Some(reactor.at(state.until, weakly(&self.me, |dial| dial.ready())));
    }

    /// Tries the next address; if there is none, this is over for the reason that the last one gave.
    fn next(self: &Rc<Dial>, mut addresses: Addresses) -> Progress {
        let reactor = &self.target.reactor;
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
                    let why_none = format!("{} has no address", self.target.place.host);
                    self.next(Addresses::new(addresses, &why_none))
                }
                Some(Err(error)) => Progress::Failed(reason(&error)),
            },
            Step::Connecting(socket) => match socket.connected() {
                None => wait(Step::Connecting(socket), "no connection in ten seconds"),
                Some(Ok(())) => match self.target.channel() {
                    Ok(channel) => {
                        self.hurry(MORE_PATIENCE);
                        Progress::Goes(Step::Greeting(Stream::new(&self.target.reactor, socket, channel)))
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
            Step::Greeting(mut stream) => match stream.greet() {
                Ok(true) => Progress::Done(stream),
                Ok(false) => wait(Step::Greeting(stream), "no TLS in thirty seconds"),
                Err(error) => {
                    self.leave(&Step::Greeting(stream));
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
                Progress::Done(stream) => return self.end(Ok(stream)),
                Progress::Over(why) => return self.end(Err(why)),
                Progress::Failed(why) => {
                    let mut addresses = self.others();
                    addresses.fail(why);
                    self.next(addresses)
                }
            };
        }
    }

    fn end(&self, result: Result<Stream, String>) {
        let (then, time) = {
            let state = &mut *self.state.borrow_mut();
            (state.then.take(), state.time.take())
        };
        if let Some(time) = time {
            self.target.reactor.cancel(time);
        }
        if let Some(then) = then {
            then(result);
        }
    }

    /// What this step had is not needed.
    fn leave(&self, step: &Step) {
        if let Step::Connecting(socket) | Step::Greeting(Stream { socket, .. }) = step {
            socket.close();
            self.target.reactor.unhandle(socket.source());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_tried_in_order_and_the_last_failure_is_why() {
        let address = |port| SocketAddr::from(([127, 0, 0, 1], port));
        let mut addresses = Addresses::new((1..5).map(address).collect(), "there is none");
        let begin = |address: SocketAddr| match address.port() {
            odd if odd % 2 == 1 => Err(format!("not {odd}")),
            even => Ok(even),
        };
        assert_eq!(addresses.next(begin), Some(2));
        assert_eq!(addresses.why(), "not 1");
        addresses.fail("2 has gone".into());
        assert_eq!(addresses.why(), "2 has gone");
        assert_eq!((addresses.next(begin), addresses.next(begin)), (Some(4), None));
        assert_eq!(Addresses::new(Vec::new(), "there is none").why(), "there is none");
    }
}
