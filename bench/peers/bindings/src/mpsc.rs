//! A pair of tokio's channels between two threads, each with a runtime of its own.

use std::thread;

use tokio::sync::mpsc::{Receiver, Sender, channel};

use crate::work::{Outcome, TEXT, Work, runtime, timed};

/// Messages that may be on their way: four times as many as with a worker of Drystone.
const CAPACITY: usize = 1024;

enum Message {
    Ask(i64),
    Put(i64),
    Text(Vec<u8>),
    Last,
}

pub fn measure(work: Work, n: i64) -> Outcome<()> {
    let (requests, there) = channel(CAPACITY);
    let (back, mut replies) = channel(CAPACITY);
    let server = thread::spawn(move || runtime().map(|runtime| runtime.block_on(serve(there, back))).is_ok());
    runtime()?.block_on(timed(n, async |n| talk(work, n, &requests, &mut replies).await))?;
    drop(requests);
    if server.join().is_ok_and(|served| served) { Ok(()) } else { Err("the server failed".into()) }
}

async fn serve(mut requests: Receiver<Message>, replies: Sender<i64>) {
    let mut sum = 0;
    while let Some(message) = requests.recv().await {
        let reply = match message {
            Message::Ask(x) => Some(x + 1),
            Message::Last => Some(std::mem::take(&mut sum)),
            Message::Put(x) => {
                sum += x;
                None
            }
            Message::Text(text) => {
                sum += text.len() as i64;
                None
            }
        };
        if let Some(reply) = reply
            && replies.send(reply).await.is_err()
        {
            break;
        }
    }
}

async fn talk(work: Work, n: i64, requests: &Sender<Message>, replies: &mut Receiver<i64>) -> Outcome<i64> {
    let mut sum = 0;
    for i in 1..=n {
        match work {
            Work::Ask => {
                requests.send(Message::Ask(i)).await?;
                sum += replies.recv().await.ok_or("no answer")?;
            }
            Work::Put => requests.send(Message::Put(i)).await?,
            Work::Text => requests.send(Message::Text(vec![0; TEXT])).await?,
        }
    }
    if work != Work::Ask {
        requests.send(Message::Last).await?;
        sum = replies.recv().await.ok_or("no answer")?;
    }
    Ok(sum)
}
