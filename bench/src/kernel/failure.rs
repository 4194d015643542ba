//! Errors of emulated kernels, as text.

use drystone_emulated::Failed;

/// The error for people.
pub fn say(failed: Failed) -> String {
    match failed {
        Failed::Missing(what) => format!("there is no {what}"),
        Failed::Wrong(why) => why,
    }
}
