//! A connection to NATS that is there.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use async_nats::message::OutboundMessage;
use async_nats::{Client, Message, Subscriber};
use futures_util::{Sink, StreamExt};

use super::bell::Bell;
use super::engine::{Connected, Engine, Task, Unfinished};
use super::envelope::HEADER;

/// Most bytes of a stream in a message.
const LARGEST: usize = 256 * 1024;

/// See the head of this file.
pub(super) struct Open {
    engine: Rc<Engine>,
    pub(super) client: Client,
    pub(super) bell: Arc<Bell>,
    pub(super) waker: Waker,
    inbox: Subscriber,
    /// What this program's own subjects begin with.
    pub(super) prefix: String,
    pub(super) unfinished: Unfinished,
    /// Most bytes of a message.
    pub(super) most: usize,
    /// Most bytes of a stream in a message.
    pub(super) largest: u64,
}

impl Open {
    /// The engine has made a connection; the bell is the session's.
    pub(super) fn new(engine: Rc<Engine>, bell: Arc<Bell>, connected: Connected) -> Open {
        let Connected { client, inbox, prefix, unfinished } = connected;
        let most = client.server_info().max_payload.max(2 * HEADER);
        let (waker, largest) = (Waker::from(bell.clone()), (most - HEADER).min(LARGEST) as u64);
        Open { engine, client, bell, waker, inbox, prefix, unfinished, most, largest }
    }

    /// Has the engine do something; the session goes on when it is done.
    pub(super) fn begin<T: Send + 'static>(&self, work: impl Future<Output = T> + Send + 'static) -> Task<T> {
        self.engine.begin(&self.bell, work)
    }

    /// The next message to one of this program's own subjects.
    pub(super) fn next(&mut self) -> Option<Message> {
        match self.inbox.poll_next_unpin(&mut Context::from_waker(&self.waker)) {
            Poll::Ready(message) => message,
            Poll::Pending => None,
        }
    }

    /// Whether the engine takes one more message; if not, it rings the bell when it does.
    pub(super) fn has_room(&mut self) -> bool {
        let client = Pin::new(&mut self.client);
        // If it has ended, the message will be lost, and the bell will say so.
        !client.poll_ready(&mut Context::from_waker(&self.waker)).is_pending()
    }

    /// Gives the engine a message; there must be room.
    pub(super) fn put(&mut self, message: OutboundMessage) {
        let _ = Pin::new(&mut self.client).start_send(message);
    }

    /// Ends it after what was said last.
    pub(super) fn finish(self) {
        self.engine.finish(&self.client, self.unfinished);
    }
}
