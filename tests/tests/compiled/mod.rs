//! The compiled system, as its users meet it: the command `drystone run FILE`.

#![allow(dead_code, reason = "each test file uses its own part")]

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use drystone_tests::expected;

/// How long one program may run.
const PATIENCE: Duration = Duration::from_secs(90);

/// The command.
pub struct Drystone(PathBuf);

/// How many workers a program has, and how they share its components.
#[derive(Clone, Copy, Debug)]
pub struct Workers {
    cores: usize,
    /// Components go to other workers and come home all the time, whatever that costs.
    is_restless: bool,
}

/// A program whose result doesn't depend on the order of what happens has the same on all of these.
pub const WORKERS: [Workers; 5] = [
    Workers { cores: 1, is_restless: false },
    Workers { cores: 2, is_restless: false },
    Workers { cores: 2, is_restless: true },
    Workers { cores: 3, is_restless: true },
    Workers { cores: 8, is_restless: true },
];

impl Drystone {
    /// `DRYSTONE_BIN`, else the newest `drystone` that was built beside this test.
    pub fn find() -> Option<Drystone> {
        if let Some(path) = std::env::var_os("DRYSTONE_BIN") {
            return Some(Drystone(path.into()));
        }
        let test = std::env::current_exe().ok()?;
        let target = test
            .ancestors()
            .find(|folder| folder.join("debug").is_dir() || folder.join("release").is_dir())?;
        let built = ["release/drystone", "debug/drystone"].map(|path| target.join(path));
        let built = built.into_iter().filter(|path| path.is_file());
        built.max_by_key(|path| path.metadata().and_then(|data| data.modified()).ok()).map(Drystone)
    }

    /// To be given arguments.
    pub fn command(&self) -> Command {
        Command::new(&self.0)
    }

    /// The same on these workers.
    pub fn run_on(&self, program: &Path, workers: Workers) -> String {
        let mut command = Command::new(&self.0);
        command.env("DRYSTONE_RESTLESS", if workers.is_restless { "1" } else { "0" });
        run(command, program, &["--cores", &workers.cores.to_string()])
    }

    /// Compiles and runs a program, and describes its outcome like an `.expected` file.
    pub fn run(&self, program: &Path, options: &[&str]) -> String {
        run(Command::new(&self.0), program, options)
    }
}

fn run(mut command: Command, program: &Path, options: &[&str]) -> String {
    let started = Instant::now();
    let mut child = command
        .arg("run")
        .args(options)
        .arg(program.file_name().expect("a program is a file"))
        .current_dir(program.parent().expect("a program is in a folder"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the drystone binary runs");
    let output = drain(child.stdout.take().expect("piped"));
    let errors = drain(child.stderr.take().expect("piped"));
    let status = loop {
        match child.try_wait().expect("a child can be waited for") {
            Some(status) => break status.code().map_or(-1, i64::from),
            None if started.elapsed() > PATIENCE => {
                let _ = child.kill();
                let _ = child.wait();
                break -2;
            }
            None => std::thread::sleep(Duration::from_millis(1)),
        }
    };
    let output = output.join().expect("a reader ends");
    let errors = errors.join().expect("a reader ends");
    let mut outcome = expected::of_process(&output, status, &String::from_utf8_lossy(&errors));
    // Killed, a fault of the system itself, or refused: not something that a program does.
    if !(0..=100).contains(&status) || (status == 2 && output.is_empty()) {
        outcome += &String::from_utf8_lossy(&errors);
    }
    outcome
}

fn drain(mut from: impl Read + Send + 'static) -> std::thread::JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut all = Vec::new();
        let _ = from.read_to_end(&mut all);
        all
    })
}
