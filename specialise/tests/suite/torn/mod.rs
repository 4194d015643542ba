//! Torn modules: some words are missing, or replaced by words from elsewhere in the module.

mod any;

use std::fs;
use std::path::Path;

use drystone_tests::random::Random;

/// Texts of modules, by the folders that have some.
fn modules() -> Vec<String> {
    let folders = ["ir", "passes", "passes/machine"]
        .map(|name| Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name));
    let paths = folders.iter().flat_map(|folder| fs::read_dir(folder).expect("a folder of modules"));
    let paths = paths.map(|entry| entry.expect("an entry of the folder").path());
    let modules = paths.filter(|path| path.extension().is_some_and(|end| end == "ll"));
    modules.map(|path| fs::read_to_string(path).expect("a module")).collect()
}

#[test]
fn whole_modules_are_read_again_as_the_same() {
    modules().iter().for_each(|module| any::check(module));
}

#[test]
fn torn_modules_are_read_or_refused() {
    let modules = modules();
    for seed in 0..500 {
        let random = &mut Random::new(seed);
        let module = random.pick(&modules);
        let mut words: Vec<&str> = module.split_inclusive(|c: char| !c.is_alphanumeric()).collect();
        for _ in 0..random.range(1, 6) {
            let (from, to) = (random.below(words.len()), random.below(words.len()));
            words[to] = if random.one_in(3) { "" } else { words[from] };
        }
        any::check(&words.concat());
    }
}
