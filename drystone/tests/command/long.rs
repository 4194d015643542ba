//! Other processes run during a long call of the runtime.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::{drystone, printed, status};

#[test]
fn what_others_change_meanwhile_is_seen() {
    let output = drystone(folder(), &["run", "--cores", "1", "joined.dry"]);
    assert_eq!((printed(&output).as_str(), status(&output)), ("done\n", 0));
}

/// Alone the call takes half a second, and beside another process twice that.
#[test]
fn a_long_call_goes_on_beside_one_that_computes() {
    let begin = Instant::now();
    let output = drystone(folder(), &["run", "--cores", "1", "neighbour.dry"]);
    assert_eq!((printed(&output).as_str(), status(&output)), ("FALSE2000000\n", 0));
    assert!(begin.elapsed() < Duration::from_secs(8), "{:?}", begin.elapsed());
}

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/command"))
}
