//! A process runs one program after the other: a test binary of its own, since it counts the process's files.

mod harness;

use drystone_linux::Options;
use harness::run;

#[test]
fn a_program_that_has_ended_leaves_no_file_open() {
    let files = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    let once = || run(&["Console"], Options::default(), |_| async {});
    once();
    let before = files();
    for _ in 0..10 {
        once();
    }
    assert_eq!(files(), before);
}
