//! Eratosthenes whose numbers move by the hundred; a sieve tells its prime by being made.

use kanal::{AsyncReceiver, AsyncSender, bounded_async};
use serde_json::json;

use crate::mirror::eratosthenes::check;
use crate::program::Outcome;

/// Numbers that move at once.
const BATCH: usize = 100;

struct Batches {
    batch: Vec<i64>,
    next: AsyncSender<Vec<i64>>,
}

impl Batches {
    fn new() -> (Batches, AsyncReceiver<Vec<i64>>) {
        let (next, stream) = bounded_async(1);
        (Batches { batch: Vec::with_capacity(BATCH), next }, stream)
    }

    async fn send(&mut self, x: i64) {
        self.batch.push(x);
        if self.batch.len() == BATCH {
            self.flush().await;
        }
    }

    async fn flush(&mut self) {
        let batch = std::mem::replace(&mut self.batch, Vec::with_capacity(BATCH));
        // Who does not listen needs none.
        let _ = self.next.send(batch).await;
    }
}

pub async fn run(n: i64) -> Result<Outcome, String> {
    let (mut generator, mut stream) = Batches::new();
    tokio::spawn(async move {
        for x in 2..=n {
            generator.send(x).await;
        }
        generator.flush().await;
    });
    let (mut count, mut sum) = (0, 0);
    while let Ok(first) = stream.recv().await {
        let Some(&prime) = first.first() else { continue };
        count += 1;
        sum += prime;
        let (mut next, rest) = Batches::new();
        let before = std::mem::replace(&mut stream, rest);
        tokio::spawn(async move {
            let mut batch = first;
            loop {
                for x in batch {
                    if x % prime != 0 {
                        next.send(x).await;
                    }
                }
                match before.recv().await {
                    Ok(another) => batch = another,
                    Err(_) => return next.flush().await,
                }
            }
        });
    }
    check(n, count, sum)?;
    Ok(Outcome::uncounted(json!({"count": count, "sum": sum})))
}
