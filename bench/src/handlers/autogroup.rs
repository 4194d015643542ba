//! Turns off autogroups, by which Linux shares a processor between sessions instead of processes: with them, all busy
//! processes beside a server would count as one.

use std::fs;

const SETTING: &str = "/proc/sys/kernel/sched_autogroup_enabled";

/// Autogroups are off until this is dropped.
pub struct Alone {
    before: Option<String>,
}

impl Alone {
    /// Turns them off, if that is wanted.
    pub fn begin(wanted: bool) -> Result<Alone, String> {
        // A kernel without this setting has no autogroups.
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
