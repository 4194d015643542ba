//! How one side of a channel sleeps without missing what the other does.
//!
//! Each side has a word in the shared memory that says whether it sleeps. Whoever has published something looks at the
//! other's word, and wakes it only if it does, by what their platform has for that. It must not be forgotten if the
//! sleeper, who has said that it sleeps, hasn't begun to.
//!
//! # Why no wake is lost
//!
//! Who goes to sleep stores "asleep", then has a `SeqCst` fence, then looks once more for news; who has news stores
//! them, has a `SeqCst` fence, then looks whether the other sleeps. The two fences have an order. If the sleeper's is
//! first, the other sees that it sleeps and wakes it; else the sleeper sees the news and doesn't go to sleep. Both may
//! happen, neither cannot.
//!
//! A peer that doesn't keep to that can wake for nothing, or not wake when it has news, which is as if it had none. It
//! can't keep a side asleep that anything else wants.

use core::sync::atomic::{AtomicU32, Ordering::*, fence};

const AWAKE: u32 = 0;
const ASLEEP: u32 = 1;

/// This side goes to sleep, unless it finds news when it looks once more, now.
pub(super) fn lie_down(word: &AtomicU32) {
    word.store(ASLEEP, Relaxed);
    fence(SeqCst);
}

/// This side is awake.
pub(super) fn get_up(word: &AtomicU32) {
    word.store(AWAKE, Relaxed);
}

/// There are news, published before this: whether the other side sleeps. It counts as awake from now on, and has to be
/// woken.
pub(super) fn knock(word: &AtomicU32) -> bool {
    fence(SeqCst);
    word.load(Relaxed) != AWAKE && word.swap(AWAKE, AcqRel) != AWAKE
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;
    use std::thread;

    use super::*;

    /// Under Miri, with its simulation of what processors do out of order, this fails if one of the fences is missing.
    #[test]
    fn either_the_news_are_seen_or_that_the_other_sleeps() {
        for _ in 0..if cfg!(miri) { 100 } else { 2000 } {
            let (word, news) = (AtomicU32::new(0), AtomicU64::new(0));
            thread::scope(|scope| {
                let sleeper = scope.spawn(|| {
                    lie_down(&word);
                    news.load(Relaxed) != 0
                });
                news.store(1, Relaxed);
                let was_asleep = knock(&word);
                assert!(sleeper.join().unwrap() || was_asleep);
            });
        }
    }
}
