//! Whatever a client of the cache says, whole lines end, and in pieces it means the same.
#![no_main]

use std::sync::Mutex;

use drystone_cache::Cache;
use drystone_cache::session::{Client, Session};
use libfuzzer_sys::fuzz_target;

#[derive(Default)]
struct Out(Vec<u8>);

impl Client for Out {
    fn out(&mut self) -> &mut Vec<u8> {
        &mut self.0
    }

    fn send(&mut self) -> bool {
        true
    }

    fn reserve(&mut self, _: usize) -> bool {
        true
    }
}

fn said<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Vec<u8> {
    let cache = Mutex::new(Cache::new(1 << 20, None));
    let (mut session, mut out) = (Session::default(), Out::default());
    for piece in pieces {
        if !session.hear(&cache, piece, &mut out) {
            break;
        }
    }
    out.0
}

fuzz_target!(|text: &[u8]| {
    // Clocks, and this process's number; and long lines, which are told apart by how they come.
    let is_timed =
        [&b"stats"[..], b"me "].iter().any(|word| text.windows(word.len()).any(|part| part == *word));
    if is_timed || text.len() > 2000 {
        return;
    }
    let whole = said([text].into_iter());
    assert_eq!(whole, said(text.chunks(1)));
});
