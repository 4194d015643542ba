//! Dialling by TCP or TLS: a [`Dial`], and over the connection that it makes the TLS handshake. If that fails, the next
//! address is tried.

use std::cell::{Cell, RefCell};
use std::io;
use std::rc::{Rc, Weak};
use std::time::{Duration, Instant};

use drystone_reactor::{Reactor, Time, reason, weakly};
use mio::net::TcpStream;

use crate::dial::Dial;
use crate::place::Place;
use crate::secure::{Channel, Dialer};
use crate::socket::Socket;
use crate::stream::Stream;

/// How long the TLS handshake may take, which is much work for a server to which many come at once.
const PATIENCE: Duration = Duration::from_secs(30);

/// Whom to dial, and how.
pub struct Target {
    /// Where the connection is waited for.
    pub reactor: Rc<Reactor>,
    /// The host; its port isn't looked at.
    pub place: Place,
    /// The port.
    pub port: u16,
    /// `None`: without TLS.
    pub dialer: Option<Dialer>,
}

impl Target {
    fn channel(&self) -> Result<Option<Channel>, String> {
        self.dialer.as_ref().map(|dialer| dialer.dial(&self.place.host)).transpose()
    }
}

/// A stream that is being made. Dropped before it is, it is given up.
pub struct StreamDial {
    me: Weak<StreamDial>,
    target: Target,
    dial: Rc<Dial>,
    /// The stream whose handshake goes on.
    stream: RefCell<Option<Stream>>,
    until: Cell<Instant>,
    time: Cell<Option<Time>>,
    then: RefCell<Option<Box<Then>>>,
}

type Then = dyn FnOnce(Result<Stream, String>);

impl StreamDial {
    /// Begins to make a stream. `then` gets it, or a sentence that says why there is none; not before this returns.
    pub fn begin(target: Target, then: impl FnOnce(Result<Stream, String>) + 'static) -> Rc<StreamDial> {
        Rc::new_cyclic(|me: &Weak<StreamDial>| {
            let Target { reactor, place, port, .. } = &target;
            let dialled = {
                let me = me.clone();
                move |made| {
                    me.upgrade().inspect(|me| me.dialled(made));
                }
            };
            StreamDial {
                me: me.clone(),
                dial: Dial::begin(reactor, place.addresses(*port), |_| Ok(()), dialled),
                target,
                stream: RefCell::default(),
                until: Cell::new(Instant::now()),
                time: Cell::default(),
                then: RefCell::new(Some(Box::new(then))),
            }
        })
    }

    fn dialled(&self, made: Result<TcpStream, String>) {
        let stream = match made {
            Ok(stream) => stream,
            Err(why) => return self.end(Err(why)),
        };
        match self.stream(stream) {
            Ok(stream) if self.target.dialer.is_none() => self.end(Ok(stream)),
            Ok(stream) => {
                let reactor = &self.target.reactor;
                self.until.set(Instant::now() + PATIENCE);
                reactor.handle(stream.socket.source(), weakly(&self.me, |dial| dial.go_on()));
                self.time.set(Some(reactor.at(self.until.get(), weakly(&self.me, |dial| dial.go_on()))));
                *self.stream.borrow_mut() = Some(stream);
                self.go_on();
            }
            Err(why) => self.dial.try_next(&why),
        }
    }

    fn stream(&self, stream: TcpStream) -> Result<Stream, String> {
        let reactor = &self.target.reactor;
        let socket = Socket::new(reactor.clone(), stream).map_err(|error| reason(&error))?;
        Ok(Stream::new(reactor, socket, self.target.channel()?))
    }

    /// Goes on with the handshake.
    fn go_on(&self) {
        let Some(mut stream) = self.stream.take() else { return };
        let why = match stream.greet() {
            Ok(true) => {
                self.leave(&stream);
                return self.end(Ok(stream));
            }
            Ok(false) if Instant::now() < self.until.get() => {
                *self.stream.borrow_mut() = Some(stream);
                return;
            }
            Ok(false) => "no TLS in thirty seconds".to_string(),
            Err(error) => said(&error),
        };
        stream.socket.close();
        self.leave(&stream);
        self.dial.try_next(&why);
    }

    /// The handshake has ended.
    fn leave(&self, stream: &Stream) {
        self.target.reactor.unhandle(stream.socket.source());
        self.time.take().into_iter().for_each(|time| self.target.reactor.cancel(time));
    }

    fn end(&self, result: Result<Stream, String>) {
        let then = self.then.take();
        if let Some(then) = then {
            then(result);
        }
    }
}

impl Drop for StreamDial {
    fn drop(&mut self) {
        if let Some(stream) = self.stream.take() {
            stream.socket.close();
            self.leave(&stream);
        }
    }
}

/// Why the handshake has failed.
fn said(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => "it has ended the connection instead of answering by TLS".into(),
        _ => error.get_ref().map_or_else(|| reason(error), |tls| format!("TLS: {tls}")),
    }
}
