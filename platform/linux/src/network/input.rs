//! The service Input: what comes from a connection, by lines or by number of bytes. A line ends with `\n` or `\r\n`,
//! which is left out; the last one may lack it. `Read(n)` gives what has come, from one byte to n; `Read(0)` an empty
//! text at once. A line of more than 64 KiB is a failure, so that a peer that sends no
//! line ends cannot fill the memory. `Limit` holds for the reads that follow: one that has to wait longer fails with
//! "timeout", and what had come stays for the next; no limit if it is 0 or less.

use std::rc::Rc;
use std::time::{Duration, Instant};

use drystone_runtime::native::{Context, Service, Value, Values};

use super::socket::Socket;
use crate::interfaces::Input;
use crate::reactor::Direction;
use crate::reason::reason;

/// Longest line.
const LINE: usize = 64 * 1024;

/// Why one that is longer fails.
const TOO_LONG: &[u8] = b"line too long";

/// A client that reads.
pub(super) struct Reader {
    socket: Rc<Socket>,
    limit: Option<Duration>,
    request: Request,
    deadline: Option<Instant>,
}

#[derive(Clone, Copy)]
enum Request {
    Line,
    AtMost(usize),
}

impl Reader {
    pub(super) fn new(socket: Rc<Socket>) -> Reader {
        Reader { socket, limit: None, request: Request::Line, deadline: None }
    }

    fn read(&mut self, cx: &mut Context<'_, Input>) {
        let socket = &*self.socket;
        let mut input = socket.input.borrow_mut();
        loop {
            if socket.closed.get() {
                return cx.send(Input::End, []);
            }
            let whole = match self.request {
                Request::Line => input.line().map(|line| match line.len() <= LINE {
                    true => cx.send(Input::Data, [Value::Text(line)]),
                    false => cx.send(Input::Failed, [Value::Text(TOO_LONG)]),
                }),
                Request::AtMost(max) => {
                    input.rest(max).map(|bytes| cx.send(Input::Data, [Value::Text(bytes)]))
                }
            };
            if whole.is_some() {
                return input.tidy();
            }
            if input.ended {
                match input.rest(usize::MAX) {
                    Some(line) => cx.send(Input::Data, [Value::Text(line)]),
                    None => cx.send(Input::End, []),
                }
                return input.tidy();
            }
            if input.len() > LINE {
                return cx.send(Input::Failed, [Value::Text(TOO_LONG)]);
            }
            let scratch = &mut *socket.reactor.scratch.borrow_mut();
            let room = match self.request {
                Request::AtMost(max) => max.min(scratch.len()),
                Request::Line => scratch.len(),
            };
            match socket.read(&mut scratch[..room]) {
                Ok(0) => input.ended = true,
                Ok(n) => match self.request {
                    // Nothing has come before, so it needn't pass through the buffer.
                    Request::AtMost(_) => return cx.send(Input::Data, [Value::Text(&scratch[..n])]),
                    Request::Line => input.append(&scratch[..n]),
                },
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                    if self.deadline.is_some_and(|deadline| deadline <= Instant::now()) {
                        return cx.send(Input::Failed, [Value::Text(b"timeout")]);
                    }
                    let source = Some((socket.source(), Direction::Read));
                    socket.reactor.wait_for(cx.waiter(), source, self.deadline);
                    return cx.wait();
                }
                Err(error) => return cx.send(Input::Failed, [Value::Text(reason(&error).as_bytes())]),
            }
        }
    }
}

impl Service for Reader {
    type Messages = Input;

    fn receive(&mut self, cx: &mut Context<'_, Input>, message: Input, values: Values<'_>) {
        match message {
            Input::Limit => {
                let limit = u64::try_from(values.integer(0)).ok().filter(|&limit| limit > 0);
                return self.limit = limit.map(Duration::from_millis);
            }
            Input::ReadLine => self.request = Request::Line,
            Input::Read => match usize::try_from(values.integer(0)) {
                // Nothing was asked for, so nobody has to wait for it.
                Ok(0) => return cx.send(Input::Data, [Value::Text(b"")]),
                Ok(max) => self.request = Request::AtMost(max),
                Err(_) => return cx.send(Input::Failed, [Value::Text(b"Negative number of bytes")]),
            },
            _ => return,
        }
        self.deadline = self.limit.and_then(|limit| Instant::now().checked_add(limit));
        self.read(cx);
    }

    fn ready(&mut self, cx: &mut Context<'_, Input>) {
        self.read(cx);
    }
}
