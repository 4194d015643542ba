//! The service Output: what goes into a connection. `Write` hands bytes over, to be sent together with what follows
//! soon; while 64 KiB wait to be sent the service takes no more, so that a slow peer slows the writing component down
//! and not the memory fills. `Update` answers when the kernel has everything. `Finish` ends sending and `Close` ends
//! both ways, after what was written; a connection that is closed or deleted may take ten seconds more to send the
//! rest, but whoever waits for it, also another client, doesn't any longer. Writes after a failure or the end are
//! dropped; `Update` says why.

use std::rc::Rc;

use drystone_runtime::native::{Context, Service, Value, Values};

use super::socket::{FULL, Socket};
use crate::interfaces::Output;
use crate::reactor::Direction;

/// A client that writes.
pub(super) struct Writer {
    socket: Rc<Socket>,
    /// It has asked for an answer when everything is sent.
    update: bool,
}

impl Writer {
    pub(super) fn new(socket: Rc<Socket>) -> Writer {
        Writer { socket, update: false }
    }

    fn go_on(&mut self, cx: &mut Context<'_, Output>) {
        let unsent = self.socket.unsent();
        if !self.socket.closed.get() && unsent > 0 && (self.update || unsent >= FULL) {
            self.socket.reactor.wait_for(cx.waiter(), Some((self.socket.source(), Direction::Write)), None);
            return cx.wait();
        }
        if std::mem::take(&mut self.update) {
            match self.socket.failure().or_else(|| (unsent > 0).then(|| "closed".to_string())) {
                Some(reason) => cx.send(Output::Failed, [Value::Text(reason.as_bytes())]),
                None => cx.send(Output::Done, []),
            }
        }
    }
}

impl Service for Writer {
    type Messages = Output;

    fn receive(&mut self, cx: &mut Context<'_, Output>, message: Output, values: Values<'_>) {
        match message {
            Output::Write => self.socket.write(values.text(0)),
            Output::Update => {
                self.update = true;
                self.socket.send(true);
            }
            Output::Finish => self.socket.finish(),
            Output::Close => return self.socket.close(),
            _ => {}
        }
        self.go_on(cx);
    }

    fn ready(&mut self, cx: &mut Context<'_, Output>) {
        self.go_on(cx);
    }
}
