//! What a server holds for its clients: what has come of requests, and answers that aren't taken yet. It is bounded for
//! all connections to an address together.

use std::cell::Cell;
use std::convert::Infallible;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use hyper::body::{Body, Bytes, Frame, SizeHint};

use super::task::Clock;

/// Bytes that may be held for all clients.
const MOST: usize = 256 << 20;

/// Bytes that don't count, so that who holds all doesn't keep others from what is small.
const SMALL: usize = 16 << 10;

/// Bytes that are given at once.
const PIECE: usize = 64 << 10;

/// All that is held at an address.
#[derive(Clone, Default)]
pub(super) struct Holdings(Rc<Cell<usize>>);

/// What is held of something.
pub(super) struct Held {
    all: Holdings,
    bytes: usize,
}

impl Holdings {
    /// Nothing yet.
    pub(super) fn hold(&self) -> Held {
        Held { all: self.clone(), bytes: 0 }
    }
}

impl Held {
    /// It is so many bytes now. `false`: there is no room for them.
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
    /// Answers of which something is left.
    answers: Cell<usize>,
    /// When a piece was taken last, or an answer begun.
    last: Cell<Option<Instant>>,
}

impl Pace {
    /// What comes of a connection, unless its client takes no piece of an answer for so long.
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

/// An answer's body, on its way.
pub(super) struct Given {
    rest: Bytes,
    /// If there is more than a piece.
    slow: Option<(Held, Pace)>,
}

impl Given {
    /// It is held until it is taken.
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
