//! Why something could not be measured.

use drystone_emulated::Failed;

/// For people.
pub fn say(failed: Failed) -> String {
    match failed {
        Failed::Missing(what) => format!("there is no {what}"),
        Failed::Wrong(why) => why,
    }
}
