//! Collections do what a `BTreeMap` does, whatever is done to them.

mod adaptation;
mod arrays;
mod memory;
mod model;

use proptest::prelude::*;

fn config() -> ProptestConfig {
    let cases = if cfg!(miri) { 4 } else { 200 };
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

const LENGTH: usize = if cfg!(miri) { 80 } else { 1500 };

proptest! {
    #![proptest_config(config())]

    #[test]
    fn any_operations_do_the_same_as_on_a_btreemap(bytes in prop::collection::vec(any::<u8>(), 0..LENGTH)) {
        model::run(&bytes);
    }

    #[test]
    fn number_keys_do_the_same_as_on_a_btreemap(bytes in prop::collection::vec(any::<u8>(), 0..LENGTH)) {
        model::run(&[&[0, 0], &bytes[..]].concat());
    }

    #[test]
    fn high_trees_do_the_same_as_a_btreemap(bytes in prop::collection::vec(any::<u8>(), 0..LENGTH)) {
        model::run(&[&[8, 0], &bytes[..]].concat());
    }

    #[test]
    fn text_keys_do_the_same_as_on_a_btreemap(bytes in prop::collection::vec(any::<u8>(), 0..LENGTH)) {
        model::run(&[&[4, 2], &bytes[..]].concat());
    }
}
