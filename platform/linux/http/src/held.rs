//! Bounds of what a server keeps for its clients: parts of requests that have come, and answers that aren't taken yet.
//!
//! * [`Holdings`] counts the bytes for all connections to an address together; [`Held`] is a share of them.
//! * [`Pace`] ends a connection whose client takes no more of an answer; [`Given`] is the body of such an answer.

use std::cell::Cell;
use std::convert::Infallible;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use hyper::body::{Body, Bytes, Frame, SizeHint};

use super::task::Clock;

/// Most bytes that are held for all clients.
const MOST: usize = 256 << 20;

/// Bytes of each share that don't count, so that clients that hold much don't keep small requests out.
const SMALL: usize = 16 << 10;

/// Bytes of an answer that are given to the connection at once.
const PIECE: usize = 64 << 10;

/// The bytes that are held at an address.
#[derive(Clone, Default)]
pub(super) struct Holdings(Rc<Cell<usize>>);

/// A share of them.
pub(super) struct Held {
    all: Holdings,
    bytes: usize,
}

impl Holdings {
    /// A new share, of no bytes.
    pub(super) fn hold(&self) -> Held {
        Held { all: self.clone(), bytes: 0 }
    }
}

impl Held {
    /// Makes the share so many bytes. `false`: there is no room for them.
    pub(super) fn set(&mut self, bytes: usize) -> bool {
        let bytes = bytes.saturating_sub(SMALL);
        let others = self.all.0.get() - self.bytes;
        if bytes > self.bytes && others + bytes > MOST {
            return false;
        }
        self.all.0.set(others + bytes);
        self.bytes = bytes;
        true
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.all.0.set(self.all.0.get() - self.bytes);
    }
}

/// How a connection's client takes its answers.
#[derive(Clone, Default)]
pub(super) struct Pace(Rc<Taking>);

#[derive(Default)]
struct Taking {
    /// How many answers are under way.
    answers: Cell<usize>,
    /// When a piece was taken last, or an answer begun.
    last: Cell<Option<Instant>>,
}

impl Pace {
    /// The result of a connection's work; `None`: its client has taken nothing of an answer for so long.
    pub(super) async fn keep<T>(
        &self,
        patience: Duration,
        clock: &Clock,
        work: impl Future<Output = T>,
    ) -> Option<T> {
        let mut work = pin!(work);
        loop {
            if let Some(value) = clock.within(patience, work.as_mut()).await {
                return Some(value);
            }
            let is_slow = self.0.last.get().is_none_or(|last| last.elapsed() >= patience);
            if self.0.answers.get() > 0 && is_slow {
                return None;
            }
        }
    }
}

/// An answer's body. It counts as held until the client has taken it.
pub(super) struct Given {
    rest: Bytes,
    /// If it is given in several pieces.
    slow: Option<(Held, Pace)>,
}

impl Given {
    /// A body of which the share is kept until it is taken.
    pub(super) fn new(rest: Bytes, held: Held, pace: &Pace) -> Given {
        let slow = (rest.len() > PIECE).then(|| (held, pace.clone()));
        if let Some((_, pace)) = &slow {
            pace.0.answers.set(pace.0.answers.get() + 1);
            pace.0.last.set(Some(Instant::now()));
        }
        Given { rest, slow }
    }
}

impl From<Bytes> for Given {
    fn from(rest: Bytes) -> Given {
        Given { rest, slow: None }
    }
}

impl Body for Given {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Given>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.rest.is_empty() {
            return Poll::Ready(None);
        }
        if let Some((_, pace)) = &self.slow {
            pace.0.last.set(Some(Instant::now()));
        }
        let most = if self.slow.is_some() { PIECE } else { usize::MAX };
        let length = self.rest.len().min(most);
        let piece = self.rest.split_to(length);
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.rest.len() as u64)
    }
}

impl Drop for Given {
    fn drop(&mut self) {
        if let Some((_, pace)) = &self.slow {
            pace.0.answers.set(pace.0.answers.get() - 1);
        }
    }
}
