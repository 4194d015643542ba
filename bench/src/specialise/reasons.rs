//! Why targets are missed, as far as it is known: from the machine code, with what would help.

/// The reason for a row that misses its target.
pub fn of(row: &str) -> Option<&'static str> {
    let reason = match row {
        "avx2 reply array 100" => {
            "the residual code, like the generic code, reads as many numbers as the reply says that it \
             holds, in a loop of vectors with a remainder; the hand-written code asks for 100 first and then \
             has no loop"
        }
        "cranelift stub to frame" => {
            "lwIP folds the checksum after each of its steps, hand-written code once, and Cranelift simplifies less of \
             that than C compilers do"
        }
        "cranelift reply" => {
            "Cranelift saves all registers that any branch needs at the entry, here for one that replies hardly ever \
             take; C compilers save them in that branch"
        }
        "cranelift list" => {
            "the loop is not rotated, so there is one more jump for each element, and whether there is a next one \
             becomes a number before its bytes are swapped"
        }
        "cranelift pair" | "cranelift union" | "cranelift string" | "cranelift bpf filter udp" => {
            "Cranelift makes a frame in every function (push, mov, mov, pop), which shows in a function as \
             short as these"
        }
        _ => return None,
    };
    Some(reason)
}
