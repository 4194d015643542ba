//! `drystone run --platform pc`: runs an image in QEMU as if it were a process. The machine's serial line is standard
//! input and output, its messages go to standard error, and its exit status is the program's.

use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Sender};
use std::thread;

use rustix::process::Signal;

use crate::output::{Status, fail, say};

/// QEMU's emulation of a PC.
const QEMU: &str = "qemu-system-x86_64";

/// What a terminal sends when nothing more will come.
const END: u8 = 4;

/// The line by which the image says that it now reads standard input.
const READY: &[u8] = b"\x1eready\n";

/// The beginning of the line in which the image gives its exit status.
const STATUS: &[u8] = b"\x1estatus ";

/// The machine's memory, unless the user sets it.
const MEMORY: usize = 1 << 30;

/// How an image runs.
pub struct Machine<'a> {
    /// The image.
    pub image: &'a Path,
    /// The program's arguments.
    pub arguments: Vec<Vec<u8>>,
    /// Most bytes for the program.
    pub memory: Option<usize>,
    /// The image is a system: its arguments are joined without quotes, because it knows none.
    pub is_system: bool,
}

impl Machine<'_> {
    /// Runs it; its status.
    pub fn run(&self) -> Result<i32, Status> {
        let mut emulator = Command::new(QEMU);
        emulator.args(["-M", "microvm,auto-kernel-cmdline=off", "-accel", "tcg", "-cpu", "max"]);
        emulator.args([
            "-nodefaults",
            "-no-user-config",
            "-no-reboot",
            "-display",
            "none",
            "-serial",
            "stdio",
        ]);
        emulator.args(["-device", "isa-debug-exit,iobase=0xf4,iosize=4"]);
        emulator.args([
            "-chardev",
            "file,id=errors,path=/dev/stderr",
            "-device",
            "isa-debugcon,iobase=0xe9,chardev=errors",
        ]);
        // A machine needs more memory than its program may take.
        let megabytes = self.memory.unwrap_or(0).saturating_add(64 << 20).max(MEMORY).div_ceil(1 << 20);
        emulator.arg("-m").arg(format!("{megabytes}M"));
        emulator.arg("-kernel").arg(self.image).arg("-append").arg(self.command_line()?);
        emulator.stdin(Stdio::piped()).stderr(Stdio::piped());
        end_with_this_process(&mut emulator);
        let mut child = emulator.spawn().map_err(|error| match error.kind() {
            ErrorKind::NotFound => fail(format_args!(
                "{QEMU} was not found: install QEMU (Debian and Ubuntu: apt-get install qemu-system-x86)"
            )),
            _ => fail(format_args!("{QEMU} cannot be run: {error}")),
        })?;
        let input = child.stdin.take().expect("it is piped");
        let (ready, begins) = mpsc::channel();
        // The thread ends with the process: a blocked read of standard input can't be cancelled.
        thread::spawn(move || begins.recv().map(|()| pass(input)));
        let status = read_messages(BufReader::new(child.stderr.take().expect("it is piped")), &ready);
        let ended = child.wait().map_err(|error| fail(format_args!("{QEMU}: {error}")))?;
        match status {
            Some(status) => Ok(status),
            None => Err(fail(format_args!("the machine ended without a word ({QEMU}: {ended})"))),
        }
    }

    fn command_line(&self) -> Result<String, Status> {
        let mut words = Vec::new();
        if let Some(memory) = self.memory.filter(|_| !self.is_system) {
            words.push(format!("DRYSTONE_MEMORY={memory}"));
        }
        for argument in &self.arguments {
            let text = std::str::from_utf8(argument)
                .map_err(|_| fail("QEMU passes arguments on only if they are UTF-8"))?;
            if self.is_system {
                words.push(text.into());
                continue;
            }
            words.push(format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'")));
        }
        // QEMU splits its options at commas only where they have several parts.
        Ok(words.join(" "))
    }
}

/// The machine ends with this process.
fn end_with_this_process(emulator: &mut Command) {
    let tie = || Ok(rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?);
    // SAFETY: a system call between fork and exec, which allocates nothing.
    unsafe { emulator.pre_exec(tie) };
}

/// Passes standard input on, and its end.
fn pass(mut to: ChildStdin) {
    let mut bytes = [0; 4096];
    loop {
        let count = io::stdin().lock().read(&mut bytes).unwrap_or(0);
        let some = if count == 0 { &[END][..] } else { &bytes[..count] };
        if to.write_all(some).and_then(|()| to.flush()).is_err() {
            return;
        }
        if count == 0 {
            // Keeps the pipe open: QEMU goes on reading and must find it empty, not at its end.
            std::mem::forget(to);
            return;
        }
    }
}

/// Shows the machine's messages, except those meant for this command, and returns the exit status that they give.
fn read_messages(mut from: impl BufRead, ready: &Sender<()>) -> Option<i32> {
    let mut status = None;
    let mut line = Vec::new();
    while from.read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
        // What the program has written before need not end with a line.
        match line.windows(STATUS.len()).rposition(|part| part == STATUS) {
            Some(at) => {
                let (before, said) = line.split_at(at);
                say(String::from_utf8_lossy(before));
                let said = String::from_utf8_lossy(&said[STATUS.len()..]);
                status = said.trim().parse::<i64>().ok().map(|it| it as i32)
            }
            None if line == READY => _ = ready.send(()),
            None => say(String::from_utf8_lossy(&line)),
        }
        line.clear();
    }
    status
}
