//! Eratosthenes: a pipeline of sieves, each with a service for its stream and one for its prime, that grows by one
//! for each prime.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

use kanal::AsyncReceiver;
use serde_json::json;
use tokio::sync::oneshot;

use super::channel;
use crate::program::{Outcome, Program, expect};

pub const PROGRAM: Program = Program {
    name: "Eratosthenes",
    // The last number.
    sizes: &[("n", 10_000)],
    mirror: |sizes| Box::pin(run(sizes.number("n"))),
};

/// What all sieves did.
#[derive(Default)]
struct Counters {
    messages: AtomicI64,
    moved: AtomicI64,
}

struct Sieve {
    stream: AsyncReceiver<i64>,
    /// Comes to nothing if the sieve gets no number.
    discovery: oneshot::Receiver<i64>,
}

impl Sieve {
    fn new(before: AsyncReceiver<i64>, counters: Arc<Counters>) -> Sieve {
        let (next, stream) = channel();
        let (found, discovery) = oneshot::channel();
        tokio::spawn(async move {
            let Ok(prime) = before.recv().await else {
                counters.messages.fetch_add(2, Relaxed); // the stream's end and none
                return;
            };
            tokio::spawn(async move { found.send(prime) }); // the discovery's service
            let mut received = 1;
            while let Ok(x) = before.recv().await {
                received += 1;
                if x % prime != 0 && next.send(x).await.is_err() {
                    return;
                }
            }
            counters.moved.fetch_add(received, Relaxed);
            counters.messages.fetch_add(received + 2, Relaxed); // and the stream's end and the prime
        });
        Sieve { stream, discovery }
    }
}

async fn run(n: i64) -> Result<Outcome, String> {
    let counters = Arc::new(Counters::default());
    let (generator, numbers) = channel();
    tokio::spawn(async move {
        for x in 2..=n {
            if generator.send(x).await.is_err() {
                return;
            }
        }
    });
    let (mut count, mut sum) = (0, 0);
    let mut last = Sieve::new(numbers, counters.clone());
    while let Ok(prime) = last.discovery.await {
        count += 1;
        sum += prime;
        last = Sieve::new(last.stream, counters.clone());
    }
    // Its end is the end of all sieves' work.
    while last.stream.recv().await.is_ok() {}
    let moved = counters.moved.load(Relaxed);
    check(n, count, sum)?;
    if n == 10_000 {
        expect("numbers moved", moved, 777_860)?;
    }
    let result = json!({"count": count, "sum": sum, "moved": moved});
    Ok(Outcome { messages: counters.messages.load(Relaxed), result })
}

/// Only of the usual size is it known what must come out.
pub fn check(n: i64, count: i64, sum: i64) -> Result<(), String> {
    if n != 10_000 {
        return Ok(());
    }
    expect("primes", count, 1229)?;
    expect("sum", sum, 5_736_396)
}
