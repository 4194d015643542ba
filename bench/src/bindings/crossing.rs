//! What Linux offers two processes of one machine to talk by, used by hand: the peers of `lrpc`. This process talks to
//! another one, started with `--other`, whose standard input (and output) is the way between them; both sleep whenever
//! they have to wait.
//!
//! # Soundness
//!
//! The memory of the futexes is mapped shared by both processes for as long as they live, and all of it is atomic.

use std::fs::File;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;
use std::{env, hint};

use clap::{Args, ValueEnum};
use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::mm::{MapFlags, ProtFlags, mmap};
use rustix::thread::futex;

/// What is measured.
#[derive(Args)]
pub struct Crossing {
    /// Between two processes.
    way: Way,
    /// Messages that are measured.
    #[arg(long, default_value_t = 50_000)]
    rounds: u32,
    /// Messages without answers, where the way has room for several.
    #[arg(long)]
    stream: bool,
    /// Looks for what comes instead of sleeping (futexes only).
    #[arg(long)]
    spin: bool,
    /// The other process.
    #[arg(long, hide = true)]
    other: bool,
}

/// How two processes talk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Way {
    /// Two words in shared memory.
    Futex,
    /// A pair of Unix sockets.
    Unix,
    /// Two pipes.
    Pipe,
}

/// Bytes of a message: what a frame with one INTEGER has.
const MESSAGE: usize = 20;
/// Bytes that are read at once from a stream.
const BATCH: usize = 64 * 1024;

impl Crossing {
    /// Prints nanoseconds for each message (with its answer, unless it is a stream).
    pub fn run(self) -> Result<(), String> {
        let done = if self.other { self.answer().map(|()| None) } else { self.ask().map(Some) };
        if let Some(nanoseconds) = done.map_err(|error| format!("{:?}: {error}", self.way))? {
            println!("{nanoseconds:.1}");
        }
        Ok(())
    }

    fn ask(&self) -> io::Result<f64> {
        match self.way {
            Way::Futex => {
                let memory = memfd_create("futexes", MemfdFlags::CLOEXEC)?;
                ftruncate(&memory, size_of::<Words>() as u64)?;
                let mut other = self.start(memory.try_clone()?.into(), Stdio::null())?;
                let time = self.call(words(&memory)?);
                other.wait()?;
                Ok(time)
            }
            Way::Unix => {
                let (here, there) = UnixStream::pair()?;
                let other = self.start(OwnedFd::from(there).into(), Stdio::null())?;
                self.talk(here.try_clone()?, here, other)
            }
            Way::Pipe => {
                let ((theirs, writer), (reader, answers)) = (io::pipe()?, io::pipe()?);
                let other = self.start(theirs.into(), answers.into())?;
                self.talk::<PipeReader, PipeWriter>(reader, writer, other)
            }
        }
    }

    fn start(&self, input: Stdio, output: Stdio) -> io::Result<Child> {
        let mut command = Command::new(env::current_exe()?);
        let way = self.way.to_possible_value().expect("all ways have names");
        command.args(["crossing", way.get_name(), "--other"]).arg(format!("--rounds={}", self.rounds));
        command.args(self.stream.then_some("--stream")).args(self.spin.then_some("--spin"));
        command.stdin(input).stdout(output).spawn()
    }

    fn talk<R: Read, W: Write>(&self, mut reader: R, mut writer: W, mut other: Child) -> io::Result<f64> {
        let mut message = [1; MESSAGE];
        // The first message comes back when the other process is ready.
        writer.write_all(&message)?;
        reader.read_exact(&mut message)?;
        let start = Instant::now();
        for _ in 0..self.rounds {
            writer.write_all(&message)?;
            if !self.stream {
                reader.read_exact(&mut message)?;
            }
        }
        if self.stream {
            reader.read_exact(&mut message)?;
        }
        let time = start.elapsed();
        drop((reader, writer));
        other.wait()?;
        Ok(time.as_nanos() as f64 / f64::from(self.rounds))
    }

    fn answer(&self) -> io::Result<()> {
        let input = io::stdin().as_fd().try_clone_to_owned()?;
        match self.way {
            Way::Futex => {
                self.serve(words(&input)?);
                Ok(())
            }
            Way::Unix => self.reply(File::from(input.try_clone()?), File::from(input)),
            Way::Pipe => {
                let output = io::stdout().as_fd().try_clone_to_owned()?;
                self.reply(File::from(input), File::from(output))
            }
        }
    }

    fn reply(&self, mut reader: File, mut writer: File) -> io::Result<()> {
        let mut message = [0; MESSAGE];
        reader.read_exact(&mut message)?;
        writer.write_all(&message)?;
        if self.stream {
            let mut batch = vec![0; BATCH];
            let mut left = self.rounds as usize * MESSAGE;
            while left > 0 {
                left -= reader.read(&mut batch)?.min(left);
            }
            return writer.write_all(&message);
        }
        for _ in 0..self.rounds {
            reader.read_exact(&mut message)?;
            writer.write_all(&message)?;
        }
        Ok(())
    }

    /// Each word counts what its side has said.
    fn call(&self, words: &Words) -> f64 {
        say(&words.asked, 1);
        self.hear(&words.answered, 1);
        let start = Instant::now();
        for round in 2..self.rounds + 2 {
            say(&words.asked, round);
            self.hear(&words.answered, round);
        }
        start.elapsed().as_nanos() as f64 / f64::from(self.rounds)
    }

    fn serve(&self, words: &Words) {
        for round in 1..self.rounds + 2 {
            self.hear(&words.asked, round);
            say(&words.answered, round);
        }
    }

    fn hear(&self, word: &AtomicU32, round: u32) {
        while word.load(Ordering::Acquire) != round {
            if self.spin {
                hint::spin_loop();
            } else {
                // Whatever ends it, the word is looked at again.
                let _ = futex::wait(word, futex::Flags::empty(), round - 1, None);
            }
        }
    }
}

/// On cache lines of their own.
#[repr(C)]
struct Words {
    asked: AtomicU32,
    padding: [u64; 31],
    answered: AtomicU32,
}

fn words(memory: &OwnedFd) -> io::Result<&'static Words> {
    let access = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: see the head of this file; it is never unmapped.
    Ok(unsafe { &*mmap(ptr::null_mut(), size_of::<Words>(), access, MapFlags::SHARED, memory, 0)?.cast() })
}

fn say(word: &AtomicU32, round: u32) {
    word.store(round, Ordering::Release);
    let _ = futex::wake(word, futex::Flags::empty(), 1);
}
