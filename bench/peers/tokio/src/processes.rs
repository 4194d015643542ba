//! What processes cost: their creation and their memory.

use std::time::Instant;

use kanal::{AsyncReceiver, AsyncSender};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::arguments::Arguments;
use crate::mirror::channel;
use crate::program::{Outcome, Program, expect};

pub const CREATION: Program = Program {
    name: "creation",
    // Components, one after another.
    sizes: &[("n", 1_000_000)],
    mirror: |sizes| Box::pin(create(sizes.number("n"))),
};

/// The smallest component with a service: it answers each number with the next.
struct Server {
    request: AsyncSender<i64>,
    answer: AsyncReceiver<i64>,
}

impl Server {
    fn new() -> Server {
        let ((request, requests), (answers, answer)) = (channel(), channel());
        tokio::spawn(async move {
            while let Ok(x) = requests.recv().await {
                if answers.send(x + 1).await.is_err() {
                    return;
                }
            }
        });
        Server { request, answer }
    }

    /// Sends a number and checks the answer.
    async fn round_trip(&self, x: i64) -> Result<(), String> {
        self.request.send(x).await.map_err(|error| error.to_string())?;
        expect("answer", self.answer.recv().await.map_err(|error| error.to_string())?, x + 1)
    }
}

async fn create(n: i64) -> Result<Outcome, String> {
    let start = Instant::now();
    for i in 0..n {
        Server::new().round_trip(i).await?;
    }
    let per_second = n as f64 / start.elapsed().as_secs_f64();
    Ok(Outcome { messages: 2 * n, result: json!({"per_second": per_second}) })
}

/// What resident memory grows by for each of many live servers.
pub fn bytes_per_process(runtime: &Runtime, arguments: &Arguments) -> Result<Value, String> {
    let n = arguments.sizes(&[("n", 1_000_000)])?.number("n").max(1);
    let living = runtime.spawn(async move {
        let before = resident()?;
        let mut servers = Vec::with_capacity(n as usize);
        for i in 0..n {
            let server = Server::new();
            server.round_trip(i).await?;
            servers.push(server);
        }
        let after = resident()?;
        drop(servers);
        Ok::<_, String>((after - before) as f64 / n as f64)
    });
    let bytes = runtime.block_on(living).map_err(|error| error.to_string())??;
    Ok(json!({"alive": n, "bytes": bytes}))
}

/// The resident memory of this process in bytes.
fn resident() -> Result<i64, String> {
    let status = std::fs::read_to_string("/proc/self/status").map_err(|error| error.to_string())?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes =
        line.and_then(|line| line.split_whitespace().next()).and_then(|text| text.parse::<i64>().ok());
    Ok(kilobytes.ok_or("no VmRSS in /proc/self/status")? * 1024)
}
