//! Kernels: small programs that do one thing N times, and how many instructions that takes.
//!
//! Each is built with two sizes, its own N and a larger one, and run under Valgrind's callgrind, which counts all
//! threads. One operation is the difference of the counts divided by the difference of the sizes, so what comes before
//! and after the loop doesn't count.
//!
//! Counts are the same in every run, except for the clock: the first tick may come in another segment of the program,
//! which costs some more or fewer instructions. N should be chosen for twenty million instructions in a run, beside
//! which that is nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tempfile::TempDir;

use super::record::rounded;
use crate::child::with_constant;
use crate::execute::execute;
use crate::{places, valgrind};

/// The ratio of the larger size to the kernel's own.
const LARGER: u64 = 6;

/// The timeout of building: the library of executables may have to be compiled first.
const MAKING: Duration = Duration::from_secs(1200);
/// The timeout of running: much more than that takes.
const RUNNING: Duration = Duration::from_secs(120);

/// A kernel; its name is its file's.
pub struct Kernel {
    /// Its name in the record.
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

    /// Its text with its own size, that size, and its text with the larger one.
    fn texts(&self) -> Result<(String, u64, String), String> {
        let fail = |problem: String| format!("{}: {problem}", self.source.display());
        let text = fs::read_to_string(&self.source).map_err(|error| fail(error.to_string()))?;
        let own = size(&text).ok_or_else(|| fail("no line `N = NUMBER;`".into()))?;
        let larger = with_constant(&text, "N", &(LARGER * own).to_string()).expect("it was just found");
        Ok((text, own, larger))
    }
}

/// The number in the line `N = NUMBER;`.
fn size(text: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.trim_start().strip_prefix("N = "))?;
    rest.split_once(';')?.0.parse().ok().filter(|&size| size > 0)
}

/// Counts instructions.
pub struct Counter {
    drystone: PathBuf,
    /// The folder for executables.
    folder: TempDir,
}

impl Counter {
    /// Checks for Valgrind and an up-to-date command.
    pub fn new() -> Result<Counter, String> {
        valgrind::find()?;
        let folder = tempfile::tempdir().map_err(|error| format!("no temporary folder: {error}"))?;
        let counter = Counter { drystone: places::drystone()?, folder };
        // Builds the library of executables once, so that the parallel builds don't wait for it.
        counter.executable("COMPONENT {ENTRYPOINT} Nothing; END Nothing;", "nothing")?;
        Ok(counter)
    }

    /// Instructions of one operation.
    pub fn operation(&self, kernel: &Kernel) -> Result<f64, String> {
        let (text, size, larger) = kernel.texts()?;
        let count = |text, file: &str| {
            self.instructions(text, file).map_err(|error| format!("{}: {error}", kernel.name))
        };
        let more =
            count(&larger, &format!("{}-larger", kernel.name))?.saturating_sub(count(&text, &kernel.name)?);
        Ok(rounded(more as f64 / ((LARGER - 1) * size) as f64))
    }

    fn executable(&self, text: &str, name: &str) -> Result<PathBuf, String> {
        let [source, executable] =
            ["dry", "out"].map(|extension| self.folder.path().join(name).with_extension(extension));
        fs::write(&source, text).map_err(|error| format!("{}: {error}", source.display()))?;
        let mut build = Command::new(&self.drystone);
        execute(build.arg("build").arg(&source).arg("-o").arg(&executable), 1, MAKING)?;
        Ok(executable)
    }

    /// The instructions of a whole run of a program, with files of this name.
    fn instructions(&self, text: &str, name: &str) -> Result<u64, String> {
        let executable = self.executable(text, name)?;
        let log = executable.with_extension("log");
        // On one core, the order of threads is always the same.
        valgrind::counted(&log, |valgrind| {
            execute(valgrind.arg(&executable).env("DRYSTONE_CORES", "1"), 1, RUNNING).map(drop)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_has_two_sizes() {
        let kernels = all(&places::kernels()).unwrap();
        assert!(!kernels.is_empty());
        for kernel in kernels {
            let (text, own, larger) = kernel.texts().unwrap();
            assert_eq!(size(&text), Some(own));
            assert_eq!(size(&larger), Some(LARGER * own));
        }
    }

    #[test]
    fn a_size_is_a_positive_number() {
        assert_eq!(size("CONSTANT\n  N = 600; (* times *)\n"), Some(600));
        assert_eq!(size("CONSTANT\n  N = 0;\n"), None);
        assert_eq!(size("CONSTANT\n  NN = 600;\n"), None);
    }
}
