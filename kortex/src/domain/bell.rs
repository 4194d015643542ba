//! Lets one side of a channel sleep without missing news from the other.
//!
//! Each side has a word in the shared memory that says whether it sleeps. A side that has published news reads the
//! other side's word, and wakes a sleeper by the platform's means. The platform must keep a wake-up for a sleeper that
//! has set its word but isn't asleep yet.
//!
//! # Why no wake-up is lost
//!
//! The sleeper stores "asleep", passes a `SeqCst` fence, then looks for news once more. The other side stores its news,
//! passes a `SeqCst` fence, then reads the sleeper's word. The two fences are ordered. If the sleeper's fence is first,
//! the other side sees that it sleeps, and wakes it. Otherwise the sleeper sees the news and stays awake. Both may
//! happen; at least one does.
//!
//! A peer that breaks these rules can cause a wake-up without news, or withhold one, which is as if it had no news. It
//! can't keep a side asleep that has news from elsewhere.

use core::sync::atomic::{AtomicU32, Ordering::*, fence};

const AWAKE: u32 = 0;
const ASLEEP: u32 = 1;

/// This side goes to sleep, unless its next look finds news.
pub(super) fn lie_down(word: &AtomicU32) {
    word.store(ASLEEP, Relaxed);
    fence(SeqCst);
}

/// This side is awake.
pub(super) fn get_up(word: &AtomicU32) {
    word.store(AWAKE, Relaxed);
}

/// Call after publishing news: returns whether the other side sleeps and has to be woken. It counts as awake from now
/// on.
pub(super) fn knock(word: &AtomicU32) -> bool {
    fence(SeqCst);
    word.load(Relaxed) != AWAKE && word.swap(AWAKE, AcqRel) != AWAKE
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;
    use std::thread;

    use super::*;

    /// Under Miri, which simulates the processor's reordering, this fails if one of the fences is missing.
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
