//! All executors agree on a program, in one slice and in many.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::executors::agree;

#[test]
fn all_executors_do_the_same() {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(2000);
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let compared = std::cell::Cell::new(0);
    let bytes = || proptest::collection::vec(any::<u8>(), 0..400);
    let result = runner.run(&(bytes(), bytes()), |(bytes, values)| {
        compared.set(compared.get() + u32::from(agree(&bytes, &values)));
        Ok(())
    });
    result.unwrap();
    assert!(compared.get() > cases / 2, "only {} of {cases} came to an end", compared.get());
}
