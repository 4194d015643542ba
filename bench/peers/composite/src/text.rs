//! The programs as engines of eBPF read them.

use crate::common::Work;

/// With r7 as the number of rounds, which something before it sets; the two calls are written as an engine wants them.
pub fn text(work: Work, read: &str, write: &str) -> String {
    match work {
        Work::Copy => format!(
            "mov r6, r1\nmov r8, 0\n\
             mov r1, 3\nmov r2, r6\nmov r3, 512\n{read}\nmov r1, 4\nmov r2, r6\nmov r3, r0\n{write}\n\
             add r8, r0\nadd r7, -1\njne r7, 0, -11\nmov r0, r8\nexit"
        ),
        Work::Instructions => {
            "mov r0, 1\nmul r0, 31\nadd r0, r7\nadd r7, -1\njne r7, 0, -4\nexit".to_string()
        }
    }
}
