//! Dialling by TCP: a host's name is looked up, and its addresses are tried one after another until there is a
//! connection.

use std::cell::{Cell, RefCell};
use std::net::{IpAddr, SocketAddr};
use std::rc::{Rc, Weak};
use std::time::{Duration, Instant};
use std::{io, vec};

use drystone_reactor::{Reactor, Time, reason, weakly};
use mio::net::TcpStream;

use crate::alive::keep_alive;
use crate::place::{Addresses, Search, search};
use crate::socket::made;

/// How long one address may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long the look-up of addresses may take: the resolver gives each of its servers 5 s, and asks again.
pub const LOOK_UP: Duration = Duration::from_secs(30);

/// Why a look-up that takes longer is given up.
pub const NOT_FOUND: &str = "its address isn't found in thirty seconds";

/// A connection that is being made. Dropped before it is, it is given up.
pub struct Dial {
    me: Weak<Dial>,
    reactor: Rc<Reactor>,
    permit: Permit,
    step: RefCell<Step>,
    /// Addresses that haven't been tried.
    left: RefCell<vec::IntoIter<SocketAddr>>,
    until: Cell<Instant>,
    time: Cell<Option<Time>>,
    then: Box<Then>,
}

/// Says why a connection to an address is not allowed, if it isn't.
pub type Permit = fn(IpAddr) -> Result<(), String>;

type Then = dyn Fn(Result<TcpStream, String>);

enum Step {
    LookingUp(Search),
    Connecting(Attempt),
    /// All addresses have failed, the last one for this reason.
    Failed(String),
    Over,
}

impl Dial {
    /// Begins to make a connection to one of these addresses. `then` gets it, or a sentence that says why the last
    /// address has failed; not before this returns.
    pub fn begin(
        reactor: &Rc<Reactor>,
        addresses: Addresses,
        permit: Permit,
        then: impl Fn(Result<TcpStream, String>) + 'static,
    ) -> Rc<Dial> {
        let dial = Rc::new_cyclic(|me| Dial {
            me: me.clone(),
            reactor: reactor.clone(),
            permit,
            step: RefCell::new(Step::Over),
            left: RefCell::default(),
            until: Cell::new(Instant::now()),
            time: Cell::default(),
            then: Box::new(then),
        });
        match addresses {
            Addresses::Known(addresses) => dial.try_all(addresses),
            Addresses::Unknown(look_up) => dial.look_up(look_up),
        }
        dial
    }

    /// The connection that was made is of no use: tries the next address, and calls `then` again.
    pub fn try_next(&self, why: &str) {
        let mut why = why.to_string();
        while let Some(address) = self.next_address() {
            match self.connect(address) {
                Ok(attempt) => return self.wait(Step::Connecting(attempt), PATIENCE),
                Err(error) => why = error,
            }
        }
        self.wait(Step::Failed(why), Duration::ZERO);
    }

    fn look_up(&self, look_up: impl FnOnce() -> io::Result<Vec<SocketAddr>> + Send + 'static) {
        let handler = weakly(&self.me, |dial| dial.go_on());
        match search(&self.reactor, handler, look_up) {
            Ok(search) => self.wait(Step::LookingUp(search), LOOK_UP),
            Err(error) => self.try_next(&reason(&error)),
        }
    }

    fn try_all(&self, addresses: Vec<SocketAddr>) {
        *self.left.borrow_mut() = addresses.into_iter();
        self.try_next("it has no address");
    }

    fn next_address(&self) -> Option<SocketAddr> {
        self.left.borrow_mut().next()
    }

    fn connect(&self, address: SocketAddr) -> Result<Attempt, String> {
        (self.permit)(address.ip())?;
        let attempt = TcpStream::connect(address).and_then(|stream| Attempt::new(&self.reactor, stream));
        let attempt = attempt.map_err(|error| reason(&error))?;
        self.reactor.handle(attempt.source, weakly(&self.me, |dial| dial.go_on()));
        Ok(attempt)
    }

    /// Waits for this step, so long at most.
    fn wait(&self, step: Step, patience: Duration) {
        *self.step.borrow_mut() = step;
        self.forget_time();
        self.until.set(Instant::now() + patience);
        let time = self.reactor.at(self.until.get(), weakly(&self.me, |dial| dial.go_on()));
        self.time.set(Some(time));
    }

    fn forget_time(&self) {
        self.time.take().into_iter().for_each(|time| self.reactor.cancel(time));
    }

    /// Something may have come of the step.
    fn go_on(&self) {
        let is_late = self.until.get() <= Instant::now();
        let step = self.step.replace(Step::Over);
        match step {
            Step::LookingUp(search) => match search.result() {
                Some(Ok(addresses)) => self.try_all(addresses),
                Some(Err(error)) => self.try_next(&reason(&error)),
                None if is_late => self.try_next(NOT_FOUND),
                None => *self.step.borrow_mut() = Step::LookingUp(search),
            },
            Step::Connecting(attempt) => {
                let late = || io::Error::new(io::ErrorKind::TimedOut, "no connection in ten seconds");
                match made(&attempt.stream).or_else(|| is_late.then(|| Err(late()))) {
                    Some(Ok(())) => self.end(Ok(attempt.unwatch())),
                    Some(Err(error)) => {
                        attempt.unwatch();
                        self.try_next(&reason(&error));
                    }
                    None => *self.step.borrow_mut() = Step::Connecting(attempt),
                }
            }
            Step::Failed(why) => self.end(Err(why)),
            Step::Over => {}
        }
    }

    fn end(&self, result: Result<TcpStream, String>) {
        self.forget_time();
        (self.then)(result);
    }
}

impl Drop for Dial {
    fn drop(&mut self) {
        self.forget_time();
        if let Step::Connecting(attempt) = self.step.replace(Step::Over) {
            attempt.unwatch();
        }
    }
}

/// A connection that the kernel makes; the reactor watches it until it is [unwatched](Self::unwatch).
struct Attempt {
    reactor: Rc<Reactor>,
    stream: TcpStream,
    source: usize,
}

impl Attempt {
    fn new(reactor: &Rc<Reactor>, mut stream: TcpStream) -> io::Result<Attempt> {
        keep_alive(&stream);
        let source = reactor.watch(&mut stream)?;
        Ok(Attempt { reactor: reactor.clone(), stream, source })
    }

    fn unwatch(mut self) -> TcpStream {
        self.reactor.unwatch(self.source, &mut self.stream);
        self.stream
    }
}

#[cfg(test)]
mod tests {
    use std::mem::take;
    use std::net::TcpListener;

    use super::*;

    /// What dialling these addresses comes to.
    fn dialled(addresses: Addresses, permit: Permit) -> Result<SocketAddr, String> {
        let reactor = Reactor::new().expect("there is epoll");
        let result = Rc::<RefCell<Option<Result<TcpStream, String>>>>::default();
        let _expected = reactor.expect();
        let _dial = Dial::begin(&reactor, addresses, permit, {
            let result = result.clone();
            move |made| *result.borrow_mut() = Some(made)
        });
        assert!(result.borrow().is_none(), "it is not said before it has begun");
        loop {
            reactor.wait(Some(PATIENCE), &mut |_| {});
            if let Some(result) = take(&mut *result.borrow_mut()) {
                return result.map(|stream| stream.peer_addr().expect("it is connected"));
            }
        }
    }

    /// An address at which nobody listens.
    fn vacant() -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").expect("there is a port");
        listener.local_addr().expect("it is bound")
    }

    #[test]
    fn addresses_are_tried_in_order_until_one_answers() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("there is a port");
        let there = listener.local_addr().expect("it is bound");
        let all = vec![vacant(), there, vacant()];
        assert_eq!(dialled(Addresses::Known(all.clone()), |_| Ok(())), Ok(there));
        assert_eq!(dialled(Addresses::Unknown(Box::new(move || Ok(all))), |_| Ok(())), Ok(there));
    }

    #[test]
    fn the_last_failure_is_why() {
        let refused = Err("Connection refused".to_string());
        assert_eq!(dialled(Addresses::Known(vec![vacant(), vacant()]), |_| Ok(())), refused);
        let permit: Permit = |address| if address.is_ipv6() { Err("not this one".into()) } else { Ok(()) };
        let last = SocketAddr::from(([0, 0, 0, 0, 0, 0, 0, 1], 1));
        assert_eq!(dialled(Addresses::Known(vec![vacant(), last]), permit), Err("not this one".into()));
        assert_eq!(dialled(Addresses::Known(Vec::new()), permit), Err("it has no address".into()));
        let unknown = Addresses::Unknown(Box::new(|| Err(io::Error::other("no such name"))));
        assert_eq!(dialled(unknown, permit), Err("no such name".into()));
    }
}
