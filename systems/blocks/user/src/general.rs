//! Measures programs that the kernel runs.

use crate::arrays::COUNTS;
use crate::programs::{FRAMES, NOTHING, learn, wire};
use crate::shipping::{ENDED, Request};
use counting::{measure, median, now};
use users::calls::{Number, call};
use users::say;

/// The same measures as for arrays.
pub fn measures() {
    let start = now();
    let nothing = learn(NOTHING);
    let taken = now() - start;
    let frames = learn(FRAMES);
    assert!(nothing >= 0 && frames >= 0, "{nothing} {frames}");
    say!("learn a program of {} bytes {taken}", NOTHING.len());
    let start = now();
    learn(NOTHING);
    say!("learn it again {}", now() - start);
    for (count, _) in COUNTS {
        let (values, mut results) = (wire([count as i64]), [[0; 8]]);
        let mut request = Request::new(&values, &mut results);
        assert_eq!(request.run(nothing).0, ENDED);
        assert_eq!(i64::from_be_bytes(results[0]), 42 * count as i64);
        say!("interp program {count} {}", measure(|| _ = Request::new(&values, &mut [[0; 8]]).run(nothing)));
        let mut results = [[0; 8]; 100];
        let without = measure(|| ());
        let taken = median(|| {
            let start = now();
            let (status, _) = Request::new(&values, &mut results).run(frames);
            let taken = now() - start;
            assert_eq!(status, ENDED);
            for frame in &results[..count] {
                assert_eq!(call(Number::ReleaseFrame, i64::from_be_bytes(*frame) as u64, 0), 0);
            }
            taken
        });
        say!("page frames {count} program {}", taken - without);
    }
}
