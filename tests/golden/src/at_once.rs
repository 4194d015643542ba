//! Several cases of one test at a time: generated ones, and files.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// After so many failures there is no use in more.
const ENOUGH: usize = 10;

/// Fails if any case does, with what each of them says. As many are tried at a time as there are processors. A panic of
/// `examine` is a failure of its case.
#[track_caller]
pub fn for_all<T>(cases: impl Iterator<Item = T> + Send, examine: impl Fn(T) -> Result<(), String> + Sync) {
    let cases = Mutex::new(cases);
    let failures = Mutex::new(Vec::new());
    let tried = AtomicUsize::new(0);
    let next = || cases.lock().expect("an iterator that doesn't panic").next();
    let work = || {
        while failures.lock().expect("nobody panics with it").len() < ENOUGH
            && let Some(case) = next()
        {
            tried.fetch_add(1, Ordering::Relaxed);
            if let Err(problem) = caught(|| examine(case)) {
                failures.lock().expect("nobody panics with it").push(problem);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, |cores| cores.get()) {
            scope.spawn(work);
        }
    });
    let (failures, tried) = (failures.into_inner().expect("nobody panics with it"), tried.into_inner());
    assert!(tried > 0, "there are no cases");
    assert!(failures.is_empty(), "{} of {tried} cases failed:\n{}", failures.len(), failures.join("\n"));
}

/// Fails if a generated case does; of those that fail, smaller ones are tried too. `examine` takes a seed and a size.
/// `DRYSTONE_SEED` says which seed is first.
#[track_caller]
pub fn for_all_seeds(cases: u64, size: usize, examine: impl Fn(u64, usize) -> Result<(), String> + Sync) {
    let first = number("DRYSTONE_SEED").unwrap_or(0);
    for_all(first..first + cases, |seed| {
        let examined =
            |size| caught(|| examine(seed, size)).map_err(|it| format!("seed {seed}, size {size}: {it}"));
        examined(size).map_err(|problem| (1..size).find_map(|size| examined(size).err()).unwrap_or(problem))
    });
}

/// How many generated cases there are: `DRYSTONE_CASES` says it, or else the given number.
pub fn generated_cases(usual: u64) -> u64 {
    number("DRYSTONE_CASES").unwrap_or(usual)
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

fn caught(examine: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
    catch_unwind(AssertUnwindSafe(examine)).unwrap_or_else(|_| Err("it panics".to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_that_panics_fails_alone() {
        let failed = catch_unwind(|| for_all(0..5, |case| if case == 3 { panic!("three") } else { Ok(()) }));
        let said = *failed.expect_err("a case failed").downcast::<String>().expect("a message");
        assert_eq!(said, "1 of 5 cases failed:\nit panics");
    }

    #[test]
    fn the_smallest_that_fails_is_named() {
        let failed = catch_unwind(|| {
            for_all_seeds(4, 4, |seed, size| if seed == 2 && size > 1 { Err("odd".into()) } else { Ok(()) });
        });
        let said = *failed.expect_err("a case failed").downcast::<String>().expect("a message");
        assert_eq!(said, "1 of 4 cases failed:\nseed 2, size 2: odd");
    }

    #[test]
    #[should_panic(expected = "there are no cases")]
    fn no_cases_are_no_test() {
        for_all(0..0, |_| Ok(()));
    }
}
