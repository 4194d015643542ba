//! Why targets are missed, as profiles tell.

/// For whoever reads the page.
pub fn of(row: &str) -> Option<&'static str> {
    let reason = match row {
        "build and verify" => {
            "some 15 000 instructions of the machine: the loop is gone through twice, because what is known of its variables has \
             to be widened once, and what is known before each branch is copied"
        }
        _ => return None,
    };
    Some(reason)
}
