//! TokenRing: a node has a service for its predecessor, which counts tokens under the node's lock and passes them on,
//! and one for the main program.

use std::sync::Arc;

use kanal::{AsyncReceiver, AsyncSender};
use serde_json::json;
use tokio::sync::{Notify, oneshot};

use super::channel;
use crate::monitor::Monitor;
use crate::program::{Outcome, Program, expect};

pub const PROGRAM: Program = Program {
    name: "TokenRing",
    // Nodes, rounds.
    sizes: &[("n", 1000), ("k", 1000)],
    mirror: |sizes| Box::pin(run(sizes.count("n"), sizes.number("k"))),
};

enum Transfer {
    Token,
    Finish,
}

enum Control {
    /// So many rounds; then it comes back.
    InjectToken(i64, oneshot::Sender<()>),
    Finish,
    GetCount(oneshot::Sender<i64>),
}

struct Node {
    successor: AsyncSender<Transfer>,
    change: Notify,
    state: Monitor<Count>,
}

#[derive(Default)]
struct Count {
    tokens: i64,
    /// Of the token that was injected here, else 0.
    rounds: i64,
    is_finished: bool,
}

impl Node {
    async fn serve_transfer(self: Arc<Self>, predecessor: AsyncReceiver<Transfer>) {
        while let Ok(Transfer::Token) = predecessor.recv().await {
            let goes_on = {
                let mut count = self.state.lock();
                count.tokens += 1;
                count.tokens != count.rounds
            };
            match goes_on {
                true if self.successor.send(Transfer::Token).await.is_err() => return,
                true => (),
                false => self.change.notify_one(),
            }
        }
        let goes_on = {
            let mut count = self.state.lock();
            count.is_finished = true;
            count.rounds == 0
        };
        self.change.notify_one();
        if goes_on {
            // The first node may have ended before its successor's successors.
            let _ = self.successor.send(Transfer::Finish).await;
        }
    }

    /// Ends early only if the main program does.
    async fn serve_control(self: Arc<Self>, control: AsyncReceiver<Control>) -> Option<()> {
        let mut request = control.recv().await.ok()?;
        if let Control::InjectToken(rounds, back) = request {
            self.state.lock().rounds = rounds;
            self.successor.send(Transfer::Token).await.ok()?;
            self.state.wait(&self.change, |count| (count.tokens == rounds).then_some(())).await;
            back.send(()).ok()?;
            let Control::Finish = control.recv().await.ok()? else { return None };
            self.successor.send(Transfer::Finish).await.ok()?;
            request = control.recv().await.ok()?;
        }
        let Control::GetCount(answer) = request else { return None };
        let tokens = self.state.wait(&self.change, |count| count.is_finished.then_some(count.tokens)).await;
        answer.send(tokens + 1).ok()
    }
}

pub async fn run(n: usize, k: i64) -> Result<Outcome, String> {
    let (transfers, predecessors): (Vec<_>, Vec<_>) = (0..n).map(|_| channel()).unzip();
    let successors = transfers.into_iter().cycle().skip(1);
    let mut controls = Vec::with_capacity(n);
    for (predecessor, successor) in predecessors.into_iter().zip(successors) {
        let node = Arc::new(Node { successor, change: Notify::new(), state: Monitor::default() });
        let (control, requests) = channel();
        tokio::spawn(node.clone().serve_transfer(predecessor));
        tokio::spawn(node.serve_control(requests));
        controls.push(control);
    }
    let hops = rotate(&controls, k).await.ok_or("a node ended early")?;
    expect("hops", hops, n as i64 * k + n as i64)?;
    Ok(Outcome { messages: hops + 3 + 2 * n as i64, result: json!({"hops": hops}) })
}

/// The number of hops.
async fn rotate(controls: &[AsyncSender<Control>], k: i64) -> Option<i64> {
    let first = controls.first()?;
    let (back, token) = oneshot::channel();
    first.send(Control::InjectToken(k, back)).await.ok()?;
    token.await.ok()?;
    first.send(Control::Finish).await.ok()?;
    let mut hops = 0;
    for control in controls {
        let (answer, count) = oneshot::channel();
        control.send(Control::GetCount(answer)).await.ok()?;
        hops += count.await.ok()?;
    }
    Some(hops)
}
