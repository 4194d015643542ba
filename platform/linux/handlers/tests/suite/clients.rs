//! Clients of a counter, with many requests under way, and the invariants of the counter when they have ended.

use std::collections::HashSet;
use std::io::ErrorKind;
use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::there::FAR;

/// So many at a time.
const CLIENTS: u64 = 2;
/// Requests under way of each.
const WINDOW: usize = 64;
/// What isn't answered by then is taken to be lost.
const PATIENCE: Duration = Duration::from_millis(200);

/// Then it is answered by nobody.
const LOST_IN_A_ROW: usize = 10;
const LONGEST: Duration = Duration::from_secs(60);

/// What became of all requests.
#[derive(Default)]
pub struct Tally {
    /// Numbers that were added, with the sums that were the answers.
    pub answers: Vec<(u64, u64)>,
    /// Numbers that may have been added: nobody has said so.
    pub unsure: Vec<u64>,
}

/// Has clients add numbers until somebody says that it is over. Answers are counted as they come.
pub fn ask_until(over: &Arc<AtomicBool>, answered: &Arc<AtomicU64>) -> Tally {
    let (over, begin) = (over.clone(), Instant::now());
    let goes_on = move |_| {
        assert!(begin.elapsed() < LONGEST, "it isn't over");
        !over.load(Ordering::Relaxed)
    };
    ask(goes_on, answered)
}

/// For as long as that is wanted of a client that has asked so often.
fn ask(goes_on: impl Fn(u64) -> bool + Send + Sync + 'static, answered: &Arc<AtomicU64>) -> Tally {
    let goes_on = Arc::new(goes_on);
    let clients = (0..CLIENTS).map(|client| {
        let (goes_on, answered) = (goes_on.clone(), answered.clone());
        thread::spawn(move || asks(client, &*goes_on, &answered))
    });
    let clients: Vec<_> = clients.collect();
    let mut all = Tally::default();
    for client in clients {
        let Tally { answers, unsure } = client.join().expect("it passes");
        all.answers.extend(answers);
        all.unsure.extend(unsure);
    }
    all
}

/// Until so many were asked altogether.
pub fn ask_times(count: u64) -> Tally {
    ask(move |asked| asked < count / CLIENTS, &Arc::default())
}

fn asks(client: u64, goes_on: &dyn Fn(u64) -> bool, answered: &AtomicU64) -> Tally {
    let socket = UdpSocket::bind("0.0.0.0:0").expect("there is a port");
    socket.set_read_timeout(Some(PATIENCE)).expect("it can be");
    socket.connect((FAR, 7000)).expect("there is a way");
    let (mut waiting, mut lost) = (HashSet::new(), HashSet::new());
    let mut answers = Vec::new();
    let (mut asked, mut silent) = (0, 0);
    loop {
        if waiting.len() < WINDOW && goes_on(asked) {
            let tag = client << 32 | asked;
            socket.send(&[number(tag), tag].map(u64::to_be_bytes).concat()).expect("it goes out");
            waiting.insert(tag);
            asked += 1;
            continue;
        }
        if waiting.is_empty() {
            return Tally { answers, unsure: lost.into_iter().map(number).collect() };
        }
        let mut answer = [0; 17];
        match socket.recv(&mut answer) {
            Ok(length) => {
                assert_eq!(length, 16);
                let [sum, tag] =
                    [0, 8].map(|at| u64::from_be_bytes(answer[at..at + 8].try_into().expect("8 bytes")));
                assert!(
                    waiting.remove(&tag) || lost.remove(&tag),
                    "{tag} wasn't asked, or is answered twice"
                );
                answers.push((number(tag), sum));
                answered.fetch_add(1, Ordering::Relaxed);
                silent = 0;
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock && silent < LOST_IN_A_ROW => {
                lost.extend(waiting.drain());
                silent += 1;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => panic!("nobody answers: {error}"),
        }
    }
}

/// What a request adds.
fn number(tag: u64) -> u64 {
    tag % 1000 + 1
}

/// A counter in the end, and how often it was added to.
#[derive(Clone, Copy, Debug)]
pub struct Counter {
    /// Where it began: its sums are known by their two highest bits.
    pub begin: u64,
    pub sum: u64,
    pub times: u64,
}

impl Tally {
    /// What was acknowledged was added, each number to the sum before; what wasn't may have been, and nothing else. How
    /// many each counter has acknowledged.
    pub fn agrees_with(&self, counters: &[Counter]) -> Vec<u64> {
        let unsure: u64 = self.unsure.iter().sum();
        let acknowledged = counters.iter().map(|counter| {
            let mut its: Vec<_> =
                self.answers.iter().filter(|(_, sum)| sum >> 62 == counter.begin >> 62).collect();
            its.sort_unstable_by_key(|(_, sum)| *sum);
            let (mut last, mut between) = (counter.begin, 0);
            for (number, sum) in its.iter().copied() {
                assert!(sum - last >= *number, "{number} made {sum} of {last}");
                between += sum - last - number;
                last = *sum;
            }
            between += counter.sum - last;
            assert!(between <= unsure, "{between} were added, and only {unsure} may have been: {counter:?}");
            let times = its.len() as u64;
            let most = times + self.unsure.len() as u64;
            assert!((times..=most).contains(&counter.times), "{times} to {most} times: {counter:?}");
            times
        });
        let acknowledged: Vec<u64> = acknowledged.collect();
        assert_eq!(acknowledged.iter().sum::<u64>(), self.answers.len() as u64, "nobody else has answered");
        let (lost, all) = (self.unsure.len(), self.unsure.len() + self.answers.len());
        assert!(lost * 20 <= all, "{lost} of {all} were lost");
        acknowledged
    }
}
