//! Runs compilers, and programs with a time limit. Tests that find no clang say so and pass.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A C compiler that takes GCC's options, by the path of its command.
pub struct Compiler(pub PathBuf);

/// How long a compiler or a program may take: far more than any needs.
const PATIENCE: Duration = Duration::from_secs(120);

impl Compiler {
    /// The clang whose IR is read, if there is one.
    pub fn clang() -> Option<Compiler> {
        let found = ["clang-16", "clang-19", "clang"].iter().find_map(|name| Compiler::named(name));
        if found.is_none() {
            drystone_golden::skipped("there is no clang-16, clang-19 or clang in PATH");
        }
        found
    }

    /// A compiler by its command.
    pub fn named(name: &str) -> Option<Compiler> {
        let path = std::env::var_os("PATH")?;
        std::env::split_paths(&path).map(|folder| folder.join(name)).find(|path| path.is_file()).map(Compiler)
    }

    /// Makes LLVM IR of a C file, as the specialiser wants it.
    pub fn to_ir(&self, source: &Path, ir: &Path) -> Result<(), String> {
        let mut command = Command::new(&self.0);
        command
            .args(["-O1", "-g", "-fno-discard-value-names", "-w", "-S", "-emit-llvm"])
            .arg(source)
            .arg("-o")
            .arg(ir);
        finished(command)
    }

    /// Makes a program of C, IR and object files.
    pub fn link(&self, flags: &[&str], inputs: &[PathBuf], program: &Path) -> Result<(), String> {
        let mut command = Command::new(&self.0);
        command.args(flags).arg("-w").args(inputs).arg("-o").arg(program);
        finished(command)
    }
}

/// Runs a compiler; its complaints, if it fails.
fn finished(command: Command) -> Result<(), String> {
    let outcome = run(command)?;
    if outcome.success { Ok(()) } else { Err(outcome.text) }
}

/// How a program ended.
pub struct Outcome {
    /// Whether its status was 0.
    pub success: bool,
    /// What it wrote, standard output first.
    pub text: String,
}

/// Runs a command to its end, or for as long as the patience lasts.
pub fn run(mut command: Command) -> Result<Outcome, String> {
    let shown = format!("{command:?}");
    // Files take any amount of output without somebody who reads at the same time.
    let problem = |error: std::io::Error| format!("{shown}: {error}");
    let output =
        [tempfile::NamedTempFile::new().map_err(problem)?, tempfile::NamedTempFile::new().map_err(problem)?];
    let [out, errors] = &output;
    let mut child = command
        .stdin(Stdio::null())
        .stdout(out.reopen().map_err(problem)?)
        .stderr(errors.reopen().map_err(problem)?)
        .spawn()
        .map_err(problem)?;
    let start = Instant::now();
    let mut pause = Duration::from_micros(500);
    let status = loop {
        if let Some(status) = child.try_wait().map_err(problem)? {
            break status;
        }
        if start.elapsed() > PATIENCE {
            child.kill().and_then(|()| child.wait()).map_err(problem)?;
            return Err(format!("{shown} does not end within {} s", PATIENCE.as_secs()));
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(10));
    };
    let read = |file: &tempfile::NamedTempFile| std::fs::read(file.path()).map_err(problem);
    let mut text = String::from_utf8_lossy(&read(out)?).into_owned();
    text += &String::from_utf8_lossy(&read(errors)?);
    if !status.success() {
        text += &format!("{status} from {shown}\n");
    }
    Ok(Outcome { success: status.success(), text })
}
