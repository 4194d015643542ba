//! Programs that run during a test, and end with it.

use std::io::{BufRead, BufReader};
use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::DRYSTONE;

/// Sends a signal to a running process. Not every machine has the command `kill`.
pub fn signal(id: u32, signal: Signal) {
    let process = i32::try_from(id).ok().and_then(Pid::from_raw).expect("processes have such numbers");
    kill_process(process, signal).expect("it runs");
}

/// A command with pipes for its output. It ends with the test at the latest.
pub struct Running(Option<Child>);

impl Running {
    /// Starts it in a folder.
    pub fn start(folder: &Path, arguments: &[&str]) -> Running {
        Running::of(Command::new(DRYSTONE).args(arguments).current_dir(folder))
    }

    /// Starts a command.
    pub fn of(command: &mut Command) -> Running {
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        Running(Some(child.expect("the command runs")))
    }

    /// Its output, once it has ended by itself.
    pub fn output(mut self) -> Output {
        let child = self.0.take().expect("it is there until then");
        child.wait_with_output().expect("it ends")
    }
}

impl Deref for Running {
    type Target = Child;

    fn deref(&self) -> &Child {
        self.0.as_ref().expect("it is there until its output is asked for")
    }
}

impl DerefMut for Running {
    fn deref_mut(&mut self) -> &mut Child {
        self.0.as_mut().expect("it is there until its output is asked for")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            // It may have ended by itself.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// A program that serves until the test is over.
pub struct Peer {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Peer {
    /// Starts it in a folder.
    pub fn start(folder: &Path, program: &str, arguments: &[&str]) -> Peer {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(folder).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap_or_else(|error| panic!("{program}: {error}"));
        let output = BufReader::new(child.stdout.take().expect("it is a pipe"));
        Peer { child, output }
    }

    /// The next line that it prints; empty if it has ended.
    pub fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("it prints text");
        line.trim_end().to_string()
    }

    /// The number of its process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// How many descriptors it has.
    pub fn descriptors(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.id())).expect("it runs").count()
    }

    /// Its resident memory in kilobytes.
    pub fn memory(&self) -> u64 {
        self.kilobytes("VmRSS:")
    }

    /// Its peak of resident memory.
    pub fn peak(&self) -> u64 {
        self.kilobytes("VmHWM:")
    }

    fn kilobytes(&self, what: &str) -> u64 {
        let text = std::fs::read_to_string(format!("/proc/{}/status", self.id())).expect("it runs");
        let line = text.lines().find_map(|line| line.strip_prefix(what)).expect("it has memory");
        line.trim().trim_end_matches(" kB").parse().expect("a number of kilobytes")
    }

    /// Whether it still runs.
    pub fn runs(&mut self) -> bool {
        self.child.try_wait().expect("it can be asked").is_none()
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether a command is installed; if not, says that the test is skipped.
pub fn installed(command: &str) -> bool {
    let found = std::env::var_os("PATH").is_some_and(|path| {
        let mut folders = std::env::split_paths(&path).chain(["/usr/sbin".into()]);
        folders.any(|folder| folder.join(command).is_file())
    });
    if !found {
        drystone_golden::skipped(&format!("no {command} here"));
    }
    found
}
