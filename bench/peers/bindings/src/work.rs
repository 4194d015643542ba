//! What clients do, and how long that takes.

use std::error::Error;
use std::time::Instant;

/// Bytes of a text.
pub const TEXT: usize = 100;

/// What goes wrong is told, and ends it.
pub type Outcome<T> = Result<T, Box<dyn Error>>;

/// What a client does.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Work {
    Ask,
    Put,
    Text,
}

/// A runtime of one thread: that is quicker than several, where there is one connection.
pub fn runtime() -> Outcome<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_current_thread().enable_all().build()?)
}

/// Does `once` a tenth of the work, then all of it, and prints how long that took.
pub async fn timed(n: i64, mut once: impl AsyncFnMut(i64) -> Outcome<i64>) -> Outcome<()> {
    once(n / 10).await?;
    let start = Instant::now();
    let sum = once(n).await?;
    let ms = start.elapsed().as_secs_f64() * 1000.0;
    println!("{}", serde_json::json!({"ms": ms, "sum": sum}));
    Ok(())
}
