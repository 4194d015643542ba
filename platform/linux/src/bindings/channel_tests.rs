//! Channels between threads and between processes, asleep and awake.

use std::cell::RefCell;
use std::rc::Rc;
use std::thread;
use std::time::{Duration, Instant};

use drystone_kortex::domain::{Home, Served};

use super::*;

/// One side of a conversation, which rests as the home does.
struct Party {
    line: Rc<Line>,
    reactor: Rc<Reactor>,
}

struct Line(RefCell<End>);

impl Served for Line {
    fn end(&self) -> &RefCell<End> {
        &self.0
    }

    fn has_mail(&self) -> bool {
        false
    }

    fn serve(&self) {}

    fn abandon(&self) {}
}

impl Party {
    fn new(offer: Offer, trust: Trust) -> Party {
        let reactor = Reactor::new().unwrap();
        let line = Rc::new(Line(RefCell::new(offer.open(trust, &reactor).unwrap())));
        reactor.rings().add(line.clone());
        Party { line, reactor }
    }

    /// Rests until there is news.
    fn rest(&self) {
        self.reactor.wait(None, &mut |_| {});
    }

    /// Writes all of the bytes, resting when there is no room. Bytes that arrive meanwhile are added to `come`.
    fn say(&self, mut bytes: &[u8], come: &mut Vec<u8>) {
        while !bytes.is_empty() {
            let written = self.line.0.borrow_mut().write(bytes).unwrap();
            bytes = &bytes[written..];
            self.line.0.borrow_mut().starve(!bytes.is_empty());
            self.hear(come);
            self.line.0.borrow_mut().tell();
            if !bytes.is_empty() {
                self.rest();
            }
        }
    }

    fn hear(&self, come: &mut Vec<u8>) {
        let mut end = self.line.0.borrow_mut();
        end.read(&mut |bytes| come.extend(bytes)).unwrap();
        end.tell();
    }

    /// Rests until `bytes` bytes have arrived.
    fn hear_all(&self, bytes: usize, come: &mut Vec<u8>) {
        self.hear(come);
        while come.len() < bytes {
            self.rest();
            self.hear(come);
        }
    }
}

/// Echoes what arrives, until the other side closes.
fn echo(party: &Party) {
    let mut come = Vec::new();
    loop {
        party.hear(&mut come);
        if come.is_empty() && party.line.0.borrow_mut().sign() == 1 {
            return;
        }
        if come.is_empty() {
            party.rest();
        }
        let said = std::mem::take(&mut come);
        party.say(&said, &mut come);
    }
}

/// Sends batches of many sizes, some much larger than the ring, and receives them back.
fn talk(party: &Party, batches: usize) {
    let mut size = 1usize;
    for batch in 0..batches {
        size = (size * 7 + 3) % if batch % 50 == 0 { 2_000_000 } else { 500 } + 1;
        let said: Vec<u8> = (0..size).map(|i| (i * 31 + batch) as u8).collect();
        let mut come = Vec::new();
        party.say(&said, &mut come);
        party.hear_all(said.len(), &mut come);
        assert!(come == said, "batch {batch}");
        if batch % 97 == 0 {
            thread::sleep(Duration::from_millis(1));
        }
    }
    party.line.0.borrow_mut().show(1);
}

#[test]
fn two_threads_hear_what_they_say_whether_they_sleep_or_not() {
    let (here, there) = pair().unwrap();
    let other = thread::spawn(move || echo(&Party::new(there, Trust::SameProgram)));
    talk(&Party::new(here, Trust::SameProgram), 3000);
    other.join().unwrap();
}

/// Runs `child` in a process of its own while `parent` runs here.
fn with_child(child: impl FnOnce(), parent: impl FnOnce(i32)) {
    // SAFETY: the child only runs this and ends; it takes no lock that another thread of the tests may have held.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(child));
        // SAFETY: nothing of the parent's is to be ended.
        unsafe { libc::_exit(done.is_err() as i32) };
    }
    parent(pid);
    let mut status = 0;
    // SAFETY: our own child.
    unsafe { libc::waitpid(pid, &mut status, 0) };
}

#[test]
fn two_processes_hear_what_they_say_whether_they_sleep_or_not() {
    let (here, there) = pair().unwrap();
    with_child(|| echo(&Party::new(there, Trust::None)), |_| talk(&Party::new(here, Trust::None), 3000));
}

#[test]
fn memory_cannot_be_taken_away() {
    let (here, there) = pair().unwrap();
    let _end = here.open(Trust::None, &Reactor::new().unwrap()).unwrap();
    // SAFETY: plain numbers.
    assert_eq!(unsafe { libc::ftruncate(there.memory.as_raw_fd(), 0) }, -1);
}

/// Measurements for developers: `cargo test --release -p drystone-linux channel -- --ignored --nocapture`.
#[test]
#[ignore = "measures"]
fn round_trips_of_two_processes() {
    const ROUNDS: usize = 50_000;
    for _ in 0..5 {
        let (here, there) = pair().unwrap();
        let child = || echo(&Party::new(there, Trust::None));
        with_child(child, |_| {
            let party = Party::new(here, Trust::None);
            let mut come = Vec::new();
            let mut start = Instant::now();
            for round in 0..ROUNDS + 100 {
                if round == 100 {
                    start = Instant::now();
                }
                come.clear();
                party.say(&[1; 16], &mut come);
                party.hear_all(16, &mut come);
            }
            println!("{:.2} us", start.elapsed().as_secs_f64() * 1e6 / ROUNDS as f64);
            party.line.0.borrow_mut().show(1);
        });
    }
}
