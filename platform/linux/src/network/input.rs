//! The service Input: reads from a connection or a pipe, by lines or by number of bytes. A line comes without its
//! end, `\n` or `\r\n`, which the last line may lack. `Read(n)` gives what has arrived, at least one byte and at
//! most n; `Read(0)` gives an empty text at once. A line of more than 64 KiB fails, so that a peer that sends no
//! line ends can't fill the memory. `Limit` sets a time limit for later reads; 0 or less means none. A read that
//! exceeds it fails with "timeout", and the bytes that have arrived stay for the next.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use std::task::Poll;
use std::time::{Duration, Instant};

use drystone_runtime::native::{Caller, Text};

use crate::interfaces::input::{InputLater, ReadAnswer, ReadLineAnswer};
use crate::lines::Lines;
use drystone_net::socket::Socket;
use drystone_reactor::{Direction, Reactor, reason};

/// Most bytes of a line.
const LINE: usize = 64 * 1024;

/// The reason for refusing a longer line.
const TOO_LONG: &[u8] = b"line too long";

/// The time limit that a program means; `None`: no limit.
pub(crate) fn limit(milliseconds: i64) -> Option<Duration> {
    let limit = u64::try_from(milliseconds).ok().filter(|&limit| limit > 0);
    limit.map(Duration::from_millis)
}

/// A connection or a pipe that a reactor watches.
pub(crate) trait Watched: 'static {
    /// The reactor.
    fn reactor(&self) -> &Rc<Reactor>;
    /// The reactor's source for it.
    fn source(&self) -> usize;
    /// Whether this side has closed it.
    fn is_closed(&self) -> bool;
}

/// What bytes come from.
pub(crate) trait Incoming: Watched {
    /// Reads what there is; 0 at the end. `WouldBlock`: nothing is there.
    fn read(&self, bytes: &mut [u8]) -> io::Result<usize>;
}

impl Watched for Socket {
    fn reactor(&self) -> &Rc<Reactor> {
        self.reactor()
    }

    fn source(&self) -> usize {
        self.source()
    }

    fn is_closed(&self) -> bool {
        self.is_closed()
    }
}

impl Incoming for Socket {
    fn read(&self, bytes: &mut [u8]) -> io::Result<usize> {
        self.read(bytes)
    }
}

/// A client that reads.
pub(crate) struct Reader<S> {
    stream: Rc<S>,
    input: Rc<RefCell<Lines>>,
    limit: Option<Duration>,
    /// If a request waits: its deadline, if it has one.
    waits: Option<Option<Instant>>,
}

#[derive(Clone, Copy)]
enum Request {
    Line,
    AtMost(usize),
}

/// The result of a request.
enum Got {
    Data(Text<'static>),
    End,
    Failed(Text<'static>),
}

impl<S: Incoming> Reader<S> {
    pub(crate) fn new(stream: Rc<S>, input: Rc<RefCell<Lines>>) -> Reader<S> {
        Reader { stream, input, limit: None, waits: None }
    }

    fn get(&mut self, caller: &Caller, request: Request) -> Poll<Got> {
        let deadline =
            self.waits.unwrap_or_else(|| self.limit.and_then(|limit| Instant::now().checked_add(limit)));
        let got = self.try_read(caller, request, deadline);
        self.waits = got.is_pending().then_some(deadline);
        got
    }

    fn try_read(&self, caller: &Caller, request: Request, deadline: Option<Instant>) -> Poll<Got> {
        let stream = &*self.stream;
        let mut input = self.input.borrow_mut();
        let failed = |reason: &[u8]| Poll::Ready(Got::Failed(caller.text(reason)));
        loop {
            if stream.is_closed() {
                return Poll::Ready(Got::End);
            }
            let whole = match request {
                Request::Line => input.line().map(|line| match line.len() <= LINE {
                    true => Got::Data(caller.text(line)),
                    false => Got::Failed(caller.text(TOO_LONG)),
                }),
                Request::AtMost(max) => input.rest(max).map(|bytes| Got::Data(caller.text(bytes))),
            };
            if let Some(got) = whole {
                input.tidy();
                return Poll::Ready(got);
            }
            if input.ended {
                let got = input.rest(usize::MAX).map_or(Got::End, |line| Got::Data(caller.text(line)));
                input.tidy();
                return Poll::Ready(got);
            }
            if input.len() > LINE {
                return failed(TOO_LONG);
            }
            let scratch = &mut *stream.reactor().scratch.borrow_mut();
            let room = match request {
                Request::AtMost(max) => max.min(scratch.len()),
                Request::Line => scratch.len(),
            };
            match stream.read(&mut scratch[..room]) {
                Ok(0) => input.ended = true,
                Ok(n) => match request {
                    // The buffer is empty, so the bytes needn't pass through it.
                    Request::AtMost(_) => return Poll::Ready(Got::Data(caller.text(&scratch[..n]))),
                    Request::Line => input.append(&scratch[..n]),
                },
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
                        return failed(b"timeout");
                    }
                    let source = Some((stream.source(), Direction::Read));
                    stream.reactor().wait_for(caller.waiter(), source, deadline);
                    return Poll::Pending;
                }
                Err(error) => return failed(reason(&error).as_bytes()),
            }
        }
    }
}

impl<S: Incoming> InputLater for Reader<S> {
    fn limit(&mut self, _: &Caller, milliseconds: i64) -> Poll<()> {
        self.limit = limit(milliseconds);
        Poll::Ready(())
    }

    fn read_line(&mut self, caller: &Caller) -> Poll<ReadLineAnswer<'_>> {
        self.get(caller, Request::Line).map(|got| match got {
            Got::Data(x) => ReadLineAnswer::Data { x },
            Got::End => ReadLineAnswer::End,
            Got::Failed(reason) => ReadLineAnswer::Failed { reason },
        })
    }

    fn read(&mut self, caller: &Caller, max: i64) -> Poll<ReadAnswer<'_>> {
        let got = match usize::try_from(max) {
            // No bytes were asked for, so there is no need to wait.
            Ok(0) => Poll::Ready(Got::Data(Text::Lent(b""))),
            Ok(max) => self.get(caller, Request::AtMost(max)),
            Err(_) => Poll::Ready(Got::Failed("Negative number of bytes".into())),
        };
        got.map(|got| match got {
            Got::Data(x) => ReadAnswer::Data { x },
            Got::End => ReadAnswer::End,
            Got::Failed(reason) => ReadAnswer::Failed { reason },
        })
    }
}
