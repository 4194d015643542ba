//! Linux shares a processor between sessions, not between processes, as long as it is told to: then busy processes
//! beside would count as one.

use std::fs;

const SETTING: &str = "/proc/sys/kernel/sched_autogroup_enabled";

/// Each process counts, until this is dropped.
pub struct Alone {
    before: Option<String>,
}

impl Alone {
    /// Says it to the kernel, if it is wanted.
    pub fn begin(wanted: bool) -> Result<Alone, String> {
        // A kernel that has no such setting has no such groups.
        let before = fs::read_to_string(SETTING).ok().filter(|before| wanted && before.trim() != "0");
        if before.is_some() {
            fs::write(SETTING, "0").map_err(|error| format!("{SETTING}: {error}"))?;
        }
        Ok(Alone { before })
    }
}

impl Drop for Alone {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            let _ = fs::write(SETTING, before);
        }
    }
}
