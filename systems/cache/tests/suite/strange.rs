//! Random input of clients: the fuzz target `memcached` with some thousand changes of its seeds.

use std::fs;
use std::path::Path;
use std::sync::Mutex;

use drystone_cache::Cache;
use drystone_cache::session::Session;

use crate::Random;
use crate::beside::Out;

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

#[test]
fn what_comes_in_pieces_means_the_same() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/memcached");
    let seeds = ["classic", "meta"].map(|name| fs::read(folder.join(name)).expect("it is there"));
    let mut random = Random(5);
    for seed in seeds.iter().cycle().take(20_000) {
        let mut text = seed.clone();
        for _ in 0..random.below(6) {
            let at = random.below(text.len());
            match random.below(4) {
                0 => text.truncate(at + 1),
                1 => text.insert(at, random.below(256) as u8),
                2 => text.extend_from_within(at..),
                _ => text[at] = [b' ', b'\r', b'\n', b'1', 0, 0xff][random.below(6)],
            }
        }
        // Long lines behave differently by how they arrive.
        text.truncate(2000);
        let (whole, pieces) = (said([&text[..]].into_iter()), said(text.chunks(1)));
        assert_eq!(
            whole.escape_ascii().to_string(),
            pieces.escape_ascii().to_string(),
            "{}",
            text.escape_ascii()
        );
    }
}
