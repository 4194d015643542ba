//! News: reporters send texts to a news centre, whose service for each customer sends that all of them.

use std::sync::{Arc, RwLock};

use kanal::{AsyncReceiver, AsyncSender};
use serde_json::json;
use tokio::sync::{Notify, oneshot};

use super::channel;
use crate::program::{Outcome, Program, expect};

pub const PROGRAM: Program = Program {
    name: "News",
    // Customers, reporters, texts of each reporter.
    sizes: &[("n", 1000), ("m", 10), ("k", 10)],
    mirror: |sizes| Box::pin(run(sizes.count("n"), sizes.count("m"), sizes.count("k"))),
};

/// Shared by all who got it.
pub type Text = Arc<str>;

/// Keeps all texts; reporters' services write under the lock, customers' services share it.
pub struct NewsCentre {
    reporters: usize,
    change: Notify,
    news: RwLock<News>,
}

/// What there is.
#[derive(Default)]
pub struct News {
    texts: Vec<Text>,
    finished: usize,
}

impl NewsCentre {
    pub fn new(reporters: usize) -> Arc<NewsCentre> {
        Arc::new(NewsCentre { reporters, change: Notify::new(), news: RwLock::default() })
    }

    /// Takes a text.
    pub fn publish(&self, text: Text) {
        self.news.write().expect("nobody panics with it").texts.push(text);
        self.change.notify_waiters();
    }

    /// Does without a reporter from now on.
    pub fn dismiss(&self) {
        self.news.write().expect("nobody panics with it").finished += 1;
        self.change.notify_waiters();
    }

    /// Waits for texts after the first so many, reads them, and tells whether they were the last.
    pub async fn read(&self, known: usize, mut read: impl FnMut(&[Text])) -> bool {
        loop {
            // Notices come from now on, so no change is missed.
            let notice = self.change.notified();
            {
                let news = self.news.read().expect("nobody panics with it");
                let is_complete = news.finished == self.reporters;
                if is_complete || news.texts.len() > known {
                    read(&news.texts[known..]);
                    return is_complete;
                }
            }
            notice.await;
        }
    }

    /// Begins a service for a reporter.
    fn desk(self: &Arc<Self>) -> AsyncSender<Text> {
        let (desk, texts) = channel();
        let centre = self.clone();
        tokio::spawn(async move {
            while let Ok(text) = texts.recv().await {
                centre.publish(text);
            }
            centre.dismiss();
        });
        desk
    }

    /// Begins a service for a customer.
    fn subscription(self: &Arc<Self>) -> AsyncReceiver<Text> {
        let (texts, subscription) = channel();
        let centre = self.clone();
        tokio::spawn(async move {
            let mut sent = 0;
            let mut batch = Vec::new();
            let mut is_complete = false;
            while !is_complete {
                is_complete = centre.read(sent, |new| batch.extend_from_slice(new)).await;
                sent += batch.len();
                for text in batch.drain(..) {
                    if texts.send(text).await.is_err() {
                        return;
                    }
                }
            }
        });
        subscription
    }
}

/// How many texts came; equal marks stand for equal texts in the same order.
#[derive(Default)]
pub struct Archive {
    pub count: i64,
    pub mark: i64,
}

impl Archive {
    pub fn add(&mut self, text: &str) {
        let [first, second, ..] = *text.as_bytes() else { return };
        self.count += 1;
        self.mark = (self.mark * 65536 + i64::from(first) * 256 + i64::from(second)) % 2_147_483_647;
    }
}

/// The text that is a reporter's i-th.
pub fn text(reporter: usize, i: usize) -> Text {
    let initial = |i| char::from(65 + i as u8);
    format!("{}{} is the latest news", initial(reporter), initial(i)).into()
}

/// How many texts were delivered, the same to all.
pub fn check(archives: &[Archive], each: usize) -> Result<i64, String> {
    for archive in archives {
        expect("texts of a customer", archive.count, each as i64)?;
        expect("mark", archive.mark, archives[0].mark)?;
    }
    Ok((archives.len() * each) as i64)
}

async fn run(n: usize, m: usize, k: usize) -> Result<Outcome, String> {
    let centre = NewsCentre::new(m);
    let customers: Vec<_> = (0..n)
        .map(|_| {
            let subscription = centre.subscription();
            let (received, archive) = oneshot::channel();
            tokio::spawn(async move {
                let mut archive = Archive::default();
                while let Ok(text) = subscription.recv().await {
                    archive.add(&text);
                }
                received.send(archive)
            });
            archive
        })
        .collect();
    for reporter in 0..m {
        let desk = centre.desk();
        let (assign, assignment) = oneshot::channel();
        tokio::spawn(async move {
            let Ok(reporter) = assignment.await else { return };
            for i in 0..k {
                if desk.send(text(reporter, i)).await.is_err() {
                    return;
                }
            }
        });
        assign.send(reporter).map_err(|_| "a reporter ended early")?;
    }
    let mut archives = Vec::with_capacity(n);
    for archive in customers {
        archives.push(archive.await.map_err(|error| error.to_string())?);
    }
    let delivered = check(&archives, m * k)?;
    // And the ends of the subscriptions, the archives; news, finished and the assignments.
    let messages = delivered + 2 * n as i64 + (m * k) as i64 + 2 * m as i64;
    Ok(Outcome { messages, result: json!({"delivered": delivered, "same": true}) })
}
