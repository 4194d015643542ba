//! Bounds of what a server keeps for its clients: parts of requests that have come, and answers that aren't taken yet.
//!
//! * [`Holdings`] counts the bytes for all connections to an address together; [`Held`] is a share of them.
//! * [`Pace`] ends a connection whose client takes no more of an answer; [`Given`] is the body of such an answer.

use std::cell::Cell;
use std::error::Error;
use std::fmt;
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

/// An answer's body.
pub(super) enum Given {
    /// Counts as held until the client has taken it.
    Whole {
        rest: Bytes,
        /// If it is given in several pieces.
        slow: Option<(Held, Pace)>,
    },
    /// Comes piece by piece.
    Pieces {
        source: Source,
        pace: Pace,
        /// The client takes a piece.
        is_taking: bool,
    },
}

/// The next piece of a body; `None`: its end.
pub(super) type Source = Box<dyn FnMut() -> Poll<Option<Result<Bytes, CutOff>>>>;

/// A body has no end, because its source has gone.
#[derive(Debug)]
pub(super) struct CutOff;

impl fmt::Display for CutOff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the service has ended before the end of its answer")
    }
}

impl Error for CutOff {}

impl Pace {
    fn begin(&self) {
        self.0.answers.set(self.0.answers.get() + 1);
        self.touch();
    }

    fn touch(&self) {
        self.0.last.set(Some(Instant::now()));
    }

    fn end(&self) {
        self.0.answers.set(self.0.answers.get() - 1);
    }
}

impl Given {
    /// A body of which the share is kept until it is taken.
    pub(super) fn new(rest: Bytes, held: Held, pace: &Pace) -> Given {
        let slow = (rest.len() > PIECE).then(|| (held, pace.clone()));
        if let Some((_, pace)) = &slow {
            pace.begin();
        }
        Given::Whole { rest, slow }
    }

    /// A body that comes piece by piece.
    pub(super) fn pieces(source: Source, pace: &Pace) -> Given {
        Given::Pieces { source, pace: pace.clone(), is_taking: false }
    }
}

impl From<Bytes> for Given {
    fn from(rest: Bytes) -> Given {
        Given::Whole { rest, slow: None }
    }
}

impl Body for Given {
    type Data = Bytes;
    type Error = CutOff;

    fn poll_frame(
        mut self: Pin<&mut Given>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, CutOff>>> {
        match &mut *self {
            Given::Whole { rest, .. } if rest.is_empty() => Poll::Ready(None),
            Given::Whole { rest, slow } => {
                if let Some((_, pace)) = slow {
                    pace.touch();
                }
                let most = if slow.is_some() { PIECE } else { usize::MAX };
                let length = rest.len().min(most);
                Poll::Ready(Some(Ok(Frame::data(rest.split_to(length)))))
            }
            Given::Pieces { source, pace, is_taking } => {
                if std::mem::take(is_taking) {
                    pace.end();
                }
                let piece = source();
                if let Poll::Ready(Some(Ok(_))) = &piece {
                    *is_taking = true;
                    pace.begin();
                }
                piece.map(|piece| piece.map(|piece| piece.map(Frame::data)))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Given::Whole { rest, .. } if rest.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Given::Whole { rest, .. } => SizeHint::with_exact(rest.len() as u64),
            Given::Pieces { .. } => SizeHint::default(),
        }
    }
}

impl Drop for Given {
    fn drop(&mut self) {
        match self {
            Given::Whole { slow: Some((_, pace)), .. } | Given::Pieces { pace, is_taking: true, .. } => {
                pace.end();
            }
            _ => {}
        }
    }
}
