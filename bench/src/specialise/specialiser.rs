//! The specialiser as its users have it: the command `drystone specialise`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use super::shell::run;
use crate::places;

/// The command, or why there is none.
pub struct Specialiser {
    command: Result<PathBuf, String>,
}

impl Specialiser {
    /// Builds it.
    pub fn obtain() -> Specialiser {
        Specialiser { command: places::drystone() }
    }

    /// Writes residual C; gives the time of the whole process, from reading the text on.
    pub fn specialise(&self, ir: &[PathBuf], context: &Path, output: &Path) -> Result<Duration, String> {
        let mut command = Command::new(self.command.as_ref()?);
        command.arg("specialise").args(ir).arg("--context").arg(context).arg("-o").arg(output);
        let start = Instant::now();
        run(&mut command)?;
        Ok(start.elapsed())
    }
}
