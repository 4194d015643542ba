//! ProducerConsumer without a buffer besides the channel; a consumer takes all that is there at once.

use serde_json::json;

use crate::mirror::producer_consumer::Tally;
use crate::program::Outcome;

pub async fn run(n: usize, m: usize, k: i64, c: usize) -> Result<Outcome, String> {
    let (elements, buffer) = kanal::bounded_async(c);
    for _ in 0..n {
        let elements = elements.clone();
        tokio::spawn(async move {
            for x in 1..=k {
                if elements.send(x).await.is_err() {
                    return;
                }
            }
        });
    }
    drop(elements);
    let consumers: Vec<_> = (0..m)
        .map(|_| {
            let buffer = buffer.clone();
            tokio::spawn(async move {
                let mut tally = Tally::default();
                let mut batch = Vec::with_capacity(c + n);
                while let Ok(x) = buffer.recv().await {
                    batch.push(x);
                    // Fails if there will be no more, which is soon noticed.
                    let _ = buffer.drain_into(&mut batch);
                    tally.count += batch.len() as i64;
                    tally.sum += batch.drain(..).sum::<i64>();
                }
                tally
            })
        })
        .collect();
    drop(buffer);
    let mut all = Tally::default();
    for tally in consumers {
        let tally = tally.await.map_err(|error| error.to_string())?;
        all.count += tally.count;
        all.sum += tally.sum;
    }
    all.check(n, k)?;
    Ok(Outcome::uncounted(json!({"count": all.count, "sum": all.sum})))
}
