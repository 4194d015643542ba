//! Linux's own means for two processes of one machine to talk, used by hand: the peers of `lrpc`. This process talks to
//! another one, started with `--other`, over that one's standard input and output. Both sleep whenever they have to
//! wait.
//!
//! # Soundness
//!
//! The memory of the futexes is mapped shared by both processes for as long as they live, and all of it is atomic.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};
use std::time::Instant;
use std::{hint, ptr};

use clap::{Args, ValueEnum};
use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::mm::{MapFlags, ProtFlags, mmap};
use rustix::thread::futex;

use super::work::{TEXT, Work};
use crate::places;

/// What is measured.
#[derive(Args)]
pub struct Crossing {
    /// Between two processes.
    way: Way,
    /// What is said.
    work: Work,
    /// Messages that are measured, after a tenth of that.
    n: u32,
    /// The other process.
    #[arg(long, hide = true)]
    other: bool,
}

/// How two processes talk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Way {
    /// Two futexes in shared memory, which also holds the message. Only for [`Work::Ask`].
    Futex,
    /// The same, by polling instead of sleeping.
    Spin,
    /// A pair of Unix sockets.
    Unix,
    /// The same, with a system call for each message.
    UnixEach,
    /// Two pipes.
    Pipe,
    /// The same, with a system call for each message.
    PipeEach,
}

/// Bytes of a message before its contents, as in a frame of Drystone's. The first byte is 1 in the last message of a
/// run.
const HEAD: usize = 12;
/// Bytes of a read; and of a write, if no message is answered and messages aren't written one by one.
const BATCH: usize = 64 * 1024;

impl Way {
    /// The command that runs both sides.
    pub fn command(self, work: Work, n: u64) -> Command {
        let mut command = Command::new(places::executable());
        let way = self.to_possible_value().expect("all ways have names");
        command.args(["crossing", way.get_name(), work.word(), &n.to_string()]);
        command
    }
}

impl Crossing {
    /// Prints milliseconds and the sum, as all contenders do.
    pub fn run(self) -> Result<(), String> {
        let done = if self.other { self.answer() } else { self.ask() };
        done.map_err(|error| format!("{:?}: {error}", self.way))
    }

    fn ask(&self) -> io::Result<()> {
        match self.way {
            Way::Futex | Way::Spin => {
                let memory = memfd_create("futexes", MemfdFlags::CLOEXEC)?;
                ftruncate(&memory, size_of::<Words>() as u64)?;
                let mut other = self.start(memory.try_clone()?.into(), Stdio::null())?;
                let words = words(&memory)?;
                self.measure(|from, n| Ok(self.call(words, from, n)))?;
                other.wait()?;
            }
            Way::Unix | Way::UnixEach => {
                let (here, there) = UnixStream::pair()?;
                let other = self.start(OwnedFd::from(there).into(), Stdio::null())?;
                self.talk(here.try_clone()?, here, other)?;
            }
            Way::Pipe | Way::PipeEach => {
                let ((theirs, writer), (reader, answers)) = (io::pipe()?, io::pipe()?);
                let other = self.start(theirs.into(), answers.into())?;
                self.talk(reader, writer, other)?;
            }
        }
        Ok(())
    }

    fn start(&self, input: Stdio, output: Stdio) -> io::Result<Child> {
        let mut command = self.way.command(self.work, self.n.into());
        command.arg("--other").stdin(input).stdout(output).spawn()
    }

    /// `run` gets the number of the first message and how many there are.
    fn measure(&self, mut run: impl FnMut(u32, u32) -> io::Result<i64>) -> io::Result<()> {
        let warm = self.n / 10;
        run(1, warm)?;
        let start = Instant::now();
        let sum = run(warm + 1, self.n)?;
        let ms = start.elapsed().as_secs_f64() * 1000.0;
        println!("{}", serde_json::json!({"ms": ms, "sum": sum}));
        Ok(())
    }

    fn length(&self) -> usize {
        HEAD + if self.work == Work::Text { TEXT as usize } else { 8 }
    }

    fn talk(&self, mut reader: impl Read, writer: impl Write, mut other: Child) -> io::Result<()> {
        let each = matches!(self.way, Way::UnixEach | Way::PipeEach);
        let mut writer = BufWriter::with_capacity(if each { 0 } else { BATCH }, writer);
        let mut message = vec![0; self.length()];
        self.measure(|_, n| {
            let mut sum = 0;
            for x in 1..=i64::from(n) {
                set_number(&mut message, x);
                writer.write_all(&message)?;
                if self.work == Work::Ask {
                    writer.flush()?;
                    reader.read_exact(&mut message)?;
                    sum += number(&message);
                }
            }
            if self.work != Work::Ask {
                message[0] = 1;
                writer.write_all(&message)?;
                writer.flush()?;
                reader.read_exact(&mut message)?;
                sum = number(&message);
            }
            Ok(sum)
        })?;
        drop((reader, writer));
        other.wait()?;
        Ok(())
    }

    fn answer(&self) -> io::Result<()> {
        let input = io::stdin().as_fd().try_clone_to_owned()?;
        match self.way {
            Way::Futex | Way::Spin => {
                self.serve(words(&input)?);
                Ok(())
            }
            Way::Unix | Way::UnixEach => self.reply(File::from(input.try_clone()?), File::from(input)),
            Way::Pipe | Way::PipeEach => {
                let output = io::stdout().as_fd().try_clone_to_owned()?;
                self.reply(File::from(input), File::from(output))
            }
        }
    }

    /// Answers until the first process has closed its end.
    fn reply(&self, reader: File, mut writer: File) -> io::Result<()> {
        let mut reader = BufReader::with_capacity(BATCH, reader);
        let mut message = vec![0; self.length()];
        let mut sum = 0;
        while reader.read_exact(&mut message).is_ok() {
            let is_last = message[0] == 1;
            match self.work {
                Work::Ask => {
                    let x = number(&message);
                    set_number(&mut message, x + 1);
                    writer.write_all(&message)?;
                }
                _ if is_last => {
                    message[0] = 0;
                    set_number(&mut message, std::mem::take(&mut sum));
                    writer.write_all(&message)?;
                }
                Work::Put => sum += number(&message),
                Work::Text => sum += (message.len() - HEAD) as i64,
            }
        }
        Ok(())
    }

    /// Each side counts its messages in its word.
    fn call(&self, words: &Words, from: u32, n: u32) -> i64 {
        let mut sum = 0;
        for i in 0..n {
            self.say(&words.asked, from + i, i64::from(i) + 1);
            sum += self.hear(&words.answered, from + i);
        }
        sum
    }

    fn serve(&self, words: &Words) {
        for round in 1..=self.n + self.n / 10 {
            let x = self.hear(&words.asked, round);
            self.say(&words.answered, round, x + 1);
        }
    }

    fn say(&self, word: &Word, round: u32, value: i64) {
        word.value.store(value, Ordering::Relaxed);
        word.count.store(round, Ordering::Release);
        if self.way == Way::Futex {
            let _ = futex::wake(&word.count, futex::Flags::empty(), 1);
        }
    }

    fn hear(&self, word: &Word, round: u32) -> i64 {
        while word.count.load(Ordering::Acquire) != round {
            if self.way == Way::Spin {
                hint::spin_loop();
            } else {
                // Whatever the reason, the word is looked at again.
                let _ = futex::wait(&word.count, futex::Flags::empty(), round - 1, None);
            }
        }
        word.value.load(Ordering::Relaxed)
    }
}

fn number(message: &[u8]) -> i64 {
    i64::from_le_bytes(*message[HEAD..].first_chunk().expect("all messages have room for a number"))
}

fn set_number(message: &mut [u8], x: i64) {
    message[HEAD..HEAD + 8].copy_from_slice(&x.to_le_bytes());
}

/// Each on a cache line of its own.
#[repr(C, align(128))]
struct Word {
    count: AtomicU32,
    value: AtomicI64,
}

#[repr(C)]
struct Words {
    asked: Word,
    answered: Word,
}

fn words(memory: &OwnedFd) -> io::Result<&'static Words> {
    let access = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: see the head of this file; it is never unmapped.
    Ok(unsafe { &*mmap(ptr::null_mut(), size_of::<Words>(), access, MapFlags::SHARED, memory, 0)?.cast() })
}
