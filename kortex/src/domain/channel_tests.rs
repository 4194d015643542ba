//! Channels in this process's own memory, between threads that sleep until they are unparked. Runs under Miri, too.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::thread::{self, Thread};
use std::vec::Vec;

use super::*;

/// The memory of a channel that isn't mirrored.
pub(in crate::domain) struct Pages(Vec<Page>);

#[repr(C, align(4096))]
struct Page([AtomicU64; HEAD / 8]);

impl Pages {
    pub(in crate::domain) fn new(capacity: usize) -> Arc<Pages> {
        let count = Memory::bytes(capacity, false).div_ceil(HEAD);
        Arc::new(Pages((0..count).map(|_| Page([const { AtomicU64::new(0) }; HEAD / 8])).collect()))
    }

    fn memory(&self, capacity: usize) -> Memory {
        Memory { base: self.0.as_ptr().cast_mut().cast(), capacity, mirrored: false }
    }

    /// The end of a side. The other side is a thread.
    pub(in crate::domain) fn end(
        self: &Arc<Pages>,
        capacity: usize,
        side: usize,
        trust: Trust,
        other: Thread,
    ) -> End {
        let other = Box::new(Other(other, self.clone()));
        // SAFETY: the pages live as long as `other`; each test makes each end once.
        unsafe { End::new(self.memory(capacity), side, trust, other) }
    }
}

struct Other(Thread, #[expect(dead_code, reason = "it is kept")] Arc<Pages>);

impl Wake for Other {
    fn wake(&self) {
        self.0.unpark();
    }
}

/// Counts how often the other side is woken.
struct Counted(Arc<AtomicU64>, #[expect(dead_code, reason = "it is kept")] Arc<Pages>);

impl Wake for Counted {
    fn wake(&self) {
        self.0.fetch_add(1, Relaxed);
    }
}

/// Both ends of a channel, and how often the second side was woken.
pub(in crate::domain) fn counted(capacity: usize) -> (End, End, Arc<AtomicU64>) {
    let (pages, woken) = (Pages::new(capacity), Arc::default());
    let other = Box::new(Counted(Arc::clone(&woken), pages.clone()));
    // SAFETY: `other` keeps the memory, and each side has one end.
    let end = unsafe { End::new(pages.memory(capacity), 0, Trust::SameProgram, other) };
    (end, pages.end(capacity, 1, Trust::SameProgram, thread::current()), woken)
}

#[test]
fn who_sleeps_sees_little_and_is_woken_for_much_or_in_the_end() {
    let (mut end, mut other, woken) = counted(64 * 1024);
    let much = WORTH_WAKING as usize;
    other.lie_down();
    end.write(&vec![1; much - 1]).unwrap();
    end.tell_of_much();
    assert!(other.has_news() && end.has_to_tell());
    assert_eq!(woken.load(Relaxed), 0);
    end.write(&[2]).unwrap();
    end.tell_of_much();
    assert_eq!(woken.load(Relaxed), 1);
    assert!(!end.has_to_tell());
    other.get_up();
    assert_eq!(other.read(&mut |bytes| assert!(!bytes.is_empty())), Ok(true));
    other.lie_down();
    end.write(&[3]).unwrap();
    end.tell_of_much();
    assert_eq!(woken.load(Relaxed), 1);
    end.tell();
    assert_eq!(woken.load(Relaxed), 2);
}

/// Sleeps until there are news.
fn rest(end: &End) {
    loop {
        end.lie_down();
        if end.has_news() {
            return end.get_up();
        }
        thread::park();
        end.get_up();
    }
}

fn hear(end: &mut End, come: &mut Vec<u8>) {
    end.read(&mut |bytes| come.extend(bytes)).unwrap();
    end.tell();
}

/// Writes all of the bytes, resting when there is no room. Bytes that arrive meanwhile are added to `come`.
fn say(end: &mut End, mut bytes: &[u8], come: &mut Vec<u8>) {
    while !bytes.is_empty() {
        let written = end.write(bytes).unwrap();
        bytes = &bytes[written..];
        end.starve(!bytes.is_empty());
        hear(end, come);
        end.tell();
        if !bytes.is_empty() {
            rest(end);
        }
    }
}

/// Echoes what arrives, until the other side shows a sign.
fn echo(mut end: End) {
    let mut come = Vec::new();
    loop {
        hear(&mut end, &mut come);
        if come.is_empty() && end.sign() != 0 {
            return;
        }
        if come.is_empty() {
            rest(&end);
        }
        let said = mem::take(&mut come);
        say(&mut end, &said, &mut come);
    }
}

/// Sends batches of many sizes, some much larger than the ring, and receives them back.
fn talk(mut end: End, batches: usize, largest: usize) {
    let mut size = 1;
    for batch in 0..batches {
        size = (size * 7 + 3) % if batch % 10 == 0 { largest } else { 100 } + 1;
        let said: Vec<u8> = (0..size).map(|i| (i * 31 + batch) as u8).collect();
        let mut come = Vec::new();
        say(&mut end, &said, &mut come);
        hear(&mut end, &mut come);
        while come.len() < said.len() {
            rest(&end);
            hear(&mut end, &mut come);
        }
        assert!(come == said, "batch {batch}");
    }
    end.show(1);
}

#[test]
fn two_threads_hear_what_they_say_whether_they_sleep_or_not() {
    let (batches, largest) = if cfg!(miri) { (12, 600) } else { (3000, 50_000) };
    for trust in [Trust::SameProgram, Trust::None] {
        let pages = Pages::new(256);
        let here = thread::current();
        let (send, receive) = std::sync::mpsc::channel::<Thread>();
        let other = {
            let pages = pages.clone();
            thread::spawn(move || {
                let end = pages.end(256, 1, trust, here);
                send.send(thread::current()).unwrap();
                echo(end);
            })
        };
        talk(pages.end(256, 0, trust, receive.recv().unwrap()), batches, largest);
        other.join().unwrap();
    }
}

/// Whatever the other side writes into the first page, this side ends with an error or goes on, and never hangs.
#[test]
#[cfg_attr(miri, ignore = "Miri knows no atomic words that are written as parts of longer ones")]
fn a_peer_that_writes_nonsense_is_survived() {
    const CAPACITY: usize = 4096;
    let mut random = 88172645463325252_u64;
    for _ in 0..20_000 {
        let pages = Pages::new(CAPACITY);
        let mut end = pages.end(CAPACITY, 0, Trust::None, thread::current());
        for _ in 0..10 {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let word = &pages.0[0].0[random as usize % (size_of::<Header>() / 8)];
            word.store(if random.is_multiple_of(3) { random >> 20 & 0x1fff } else { random }, Relaxed);
            let mut bytes = 0;
            let read = end.read(&mut |some| bytes += some.len());
            assert!(bytes <= 2 * CAPACITY);
            if read.is_err() || end.write(&[7; 100]).is_err() {
                break;
            }
            end.tell();
            end.sign();
        }
    }
}
