//! Small programs that do one thing N times, and how many instructions it takes them.
//!
//! Each is made into an executable with two sizes and run under Valgrind's callgrind, which counts what all threads
//! execute, the same in every run but for the ticks of the clock. What the larger size takes more, divided by how much
//! larger it is, is one operation; what comes before and after the loop does not count.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tempfile::TempDir;

use super::record::rounded;
use crate::child::with_constant;
use crate::execute::execute;
use crate::places;

/// The two sizes; their difference makes the costs of a tick small beside what is counted.
const SIZES: [u32; 2] = [20_000, 120_000];

/// Much more than a kernel takes, here for building or running it.
const LIMIT: Duration = Duration::from_secs(120);

/// A kernel: its name is that of the file.
pub struct Kernel {
    /// As it stands in the record.
    pub name: String,
    source: PathBuf,
}

/// All kernels of a folder, by name.
pub fn all(folder: &Path) -> Result<Vec<Kernel>, String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let files = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let programs = files.filter(|path| path.extension().is_some_and(|extension| extension == "dry"));
    let mut kernels: Vec<_> = programs.filter_map(Kernel::from).collect();
    kernels.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(kernels)
}

impl Kernel {
    fn from(source: PathBuf) -> Option<Kernel> {
        Some(Kernel { name: source.file_stem()?.to_str()?.to_string(), source })
    }

    fn text(&self, size: u32) -> Result<String, String> {
        let text = fs::read_to_string(&self.source);
        let text = text.map_err(|error| format!("{}: {error}", self.source.display()))?;
        with_constant(&text, "N", &size.to_string())
            .ok_or_else(|| format!("{}: no constant N", self.source.display()))
    }
}

/// What counts instructions.
pub struct Counter {
    drystone: PathBuf,
    /// Where executables are made.
    folder: TempDir,
}

impl Counter {
    /// Finds what it needs: Valgrind, and a command that is up to date.
    pub fn new() -> Result<Counter, String> {
        find_valgrind()?;
        let folder = tempfile::tempdir().map_err(|error| format!("no temporary folder: {error}"))?;
        Ok(Counter { drystone: places::drystone()?, folder })
    }

    /// Instructions of one operation.
    pub fn operation(&self, kernel: &Kernel) -> Result<f64, String> {
        let [small, large] = SIZES;
        let more = self.instructions(kernel, large)?.saturating_sub(self.instructions(kernel, small)?);
        Ok(rounded(more as f64 / f64::from(large - small)))
    }

    /// Those of a whole run.
    fn instructions(&self, kernel: &Kernel, size: u32) -> Result<u64, String> {
        let [source, executable, log] = ["dry", "out", "log"]
            .map(|extension| self.folder.path().join("kernel").with_extension(extension));
        fs::write(&source, kernel.text(size)?).map_err(|error| format!("{}: {error}", source.display()))?;
        execute(Command::new(&self.drystone).arg("build").arg(&source).arg("-o").arg(&executable), 1, LIMIT)?;
        // On one core nothing depends on which of two threads is first.
        let mut valgrind = Command::new("valgrind");
        valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(log_file(&log));
        let run = execute(valgrind.arg(&executable).env("DRYSTONE_CORES", "1"), 1, LIMIT);
        let told = fs::read_to_string(&log).unwrap_or_default();
        run.map_err(|error| format!("{}: {error}\n{told}", kernel.name))?;
        collected(&told).ok_or_else(|| format!("{}: Valgrind tells no number:\n{told}", kernel.name))
    }
}

fn find_valgrind() -> Result<(), String> {
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
    fn every_kernel_has_a_size() {
        let kernels = all(&places::kernels()).unwrap();
        assert!(!kernels.is_empty());
        assert!(kernels.iter().all(|kernel| kernel.text(7).unwrap().contains("N = 7;")));
    }

    #[test]
    fn the_number_is_found_in_what_valgrind_tells() {
        let log = "==1== Command: ./kernel\n==1== Events    : Ir\n==1== Collected : 1058389\n==1==\n";
        assert_eq!(collected(log), Some(1_058_389));
        assert_eq!(collected("==1== Command: ./kernel\n"), None);
    }
}
