//! Why targets are missed, from profiles.

/// The reason for the page, by row.
pub fn of(row: &str) -> Option<&'static str> {
    let reason = match row {
        "build and verify" => {
            "some 20 000 instructions of the machine: the loop is gone through twice, because what is known of its \
             variables has to be widened once, and what is known before each branch is copied"
        }
        "jit" => "building and verifying is more than half of it, writing machine code most of the rest",
        "break-even" => {
            "some 100 000 instructions of the machine to make a program ready, of which a third is the verifier's, \
             and the first call of a run begins a communication"
        }
        "dependent calls 100" => {
            "the key-value server's desk asks its store by three messages for each call, between processes that take \
             turns; the program itself says and takes its values without a process of its own"
        }
        _ if row.starts_with("file copy") => {
            "data is copied four times on its way from the file to the file: into a text of the server, the \
             program's, another of the server, and the file; and seven calls cost more than the rest where the file \
             is short"
        }
        _ => return None,
    };
    Some(reason)
}
