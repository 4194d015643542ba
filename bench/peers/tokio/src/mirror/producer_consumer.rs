//! ProducerConsumer: a bounded buffer is a monitor in which each producer and each consumer has a service of its own.

use std::collections::VecDeque;
use std::sync::Arc;

use kanal::{AsyncReceiver, AsyncSender};
use serde_json::json;
use tokio::sync::{Notify, oneshot};

use super::channel;
use crate::monitor::Monitor;
use crate::program::{Outcome, Program, expect};

pub const PROGRAM: Program = Program {
    name: "ProducerConsumer",
    // Producers, consumers, elements of each producer, capacity of the buffer.
    sizes: &[("n", 1), ("m", 1), ("k", 1_000_000), ("c", 10)],
    mirror: |sizes| Box::pin(run(sizes.count("n"), sizes.count("m"), sizes.number("k"), sizes.count("c"))),
};

struct BoundedBuffer {
    capacity: usize,
    producers: usize,
    room: Notify,
    elements: Notify,
    state: Monitor<Contents>,
}

#[derive(Default)]
struct Contents {
    elements: VecDeque<i64>,
    finished: usize,
}

impl BoundedBuffer {
    /// Begins a service for a producer.
    fn data_acceptor(self: &Arc<Self>) -> AsyncSender<i64> {
        let (acceptor, elements) = channel();
        let buffer = self.clone();
        tokio::spawn(async move {
            while let Ok(x) = elements.recv().await {
                let put = |contents: &mut Contents| {
                    let has_room = contents.elements.len() < buffer.capacity;
                    has_room.then(|| contents.elements.push_back(x))
                };
                buffer.state.wait(&buffer.room, put).await;
                buffer.elements.notify_one();
            }
            buffer.state.lock().finished += 1;
            buffer.elements.notify_waiters();
        });
        acceptor
    }

    /// Begins a service for a consumer.
    fn data_source(self: &Arc<Self>) -> AsyncReceiver<i64> {
        let (elements, source) = channel();
        let buffer = self.clone();
        tokio::spawn(async move {
            let mut get = |contents: &mut Contents| match contents.elements.pop_front() {
                None if contents.finished < buffer.producers => None,
                end_or_element => Some(end_or_element),
            };
            while let Some(x) = buffer.state.wait(&buffer.elements, &mut get).await {
                buffer.room.notify_one();
                if elements.send(x).await.is_err() {
                    return;
                }
            }
        });
        source
    }
}

/// What a consumer received, or all of them.
#[derive(Default)]
pub struct Tally {
    pub count: i64,
    pub sum: i64,
}

impl Tally {
    pub fn check(&self, n: usize, k: i64) -> Result<(), String> {
        let n = n as i64;
        expect("count", self.count, n * k)?;
        expect("sum", self.sum, n * k * (k + 1) / 2)
    }
}

async fn run(n: usize, m: usize, k: i64, c: usize) -> Result<Outcome, String> {
    let buffer = Arc::new(BoundedBuffer {
        capacity: c,
        producers: n,
        room: Notify::new(),
        elements: Notify::new(),
        state: Monitor::new(Contents { elements: VecDeque::with_capacity(c), finished: 0 }),
    });
    for _ in 0..n {
        let acceptor = buffer.data_acceptor();
        tokio::spawn(async move {
            for x in 1..=k {
                if acceptor.send(x).await.is_err() {
                    return;
                }
            }
        });
    }
    let consumers: Vec<_> = (0..m)
        .map(|_| {
            let source = buffer.data_source();
            let (received, tally) = oneshot::channel();
            tokio::spawn(async move {
                let mut tally = Tally::default();
                while let Ok(x) = source.recv().await {
                    tally.count += 1;
                    tally.sum += x;
                }
                received.send(tally)
            });
            tally
        })
        .collect();
    let mut all = Tally::default();
    for tally in consumers {
        let tally = tally.await.map_err(|error| error.to_string())?;
        all.count += tally.count;
        all.sum += tally.sum;
    }
    all.check(n, k)?;
    // Each element is sent twice; beside them the ends of the elements, of the sources, and the tallies.
    let messages = n as i64 * k + all.count + n as i64 + 2 * m as i64;
    Ok(Outcome { messages, result: json!({"count": all.count, "sum": all.sum}) })
}
