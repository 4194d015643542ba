//! Counts instructions by Valgrind's callgrind, of all threads.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;

/// The instructions of a run. `run` completes the given command, which begins with Valgrind, and runs it.
pub fn instructions(run: impl FnOnce(&mut Command) -> Result<(), String>) -> Result<u64, String> {
    find()?;
    let folder = tempfile::tempdir().map_err(|error| format!("no temporary folder: {error}"))?;
    counted(&folder.path().join("run.log"), run)
}

/// The same, with Valgrind's log in this file.
pub fn counted(log: &Path, run: impl FnOnce(&mut Command) -> Result<(), String>) -> Result<u64, String> {
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(log_file(log));
    let run = run(&mut valgrind);
    let told = fs::read_to_string(log).unwrap_or_default();
    run.map_err(|error| format!("{error}\n{told}"))?;
    collected(&told).ok_or_else(|| format!("Valgrind tells no number:\n{told}"))
}

/// Checks that Valgrind is installed, or says how to get it.
pub fn find() -> Result<(), String> {
    match Command::new("valgrind").arg("--version").output() {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Err("no valgrind: install it (Debian and Ubuntu: apt-get install valgrind)".into())
        }
        Err(error) => Err(format!("valgrind cannot be run: {error}")),
    }
}

fn log_file(path: &Path) -> String {
    format!("--log-file={}", path.display())
}

/// The number in `==4711== Collected : 1058389`.
fn collected(log: &str) -> Option<u64> {
    let line = log.lines().find(|line| line.contains("Collected"))?;
    line.rsplit_once(':')?.1.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_is_found_in_what_valgrind_tells() {
        let log = "==1== Command: ./kernel\n==1== Events    : Ir\n==1== Collected : 1058389\n==1==\n";
        assert_eq!(collected(log), Some(1_058_389));
        assert_eq!(collected("==1== Command: ./kernel\n"), None);
    }
}
