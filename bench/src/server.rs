//! A server in a process of its own, pinned to one processor; its clients have the others.

use std::fs;
use std::io::{self, BufRead, BufReader};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::thread::{sched_getaffinity, sched_setaffinity};

use crate::execute::last;

/// The time that a server may take to start.
const PATIENCE: Duration = Duration::from_secs(10);

/// A server with a known address. It runs until this is dropped.
pub struct Server {
    process: Listening,
    /// Where it listens.
    pub address: SocketAddr,
}

/// The process of a server, with any address. It runs until this is dropped.
pub struct Listening(Child);

impl Listening {
    /// Starts a command on so many processors; its first line says that it listens, or is ready.
    pub fn start(mut command: Command, cores: usize) -> Result<Listening, String> {
        let name = command.get_program().display().to_string();
        let fail = |error: std::io::Error| format!("{name}: {error}");
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut process = Listening::spawn(command, cores).map_err(fail)?;
        let output = process.0.stdout.take().expect("standard output is a pipe");
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line).map_err(fail)?;
        match line.starts_with("listening") || line.starts_with("ready") {
            true => Ok(process),
            false => Err(format!("{name}: {line}")),
        }
    }

    /// The process's id.
    pub fn id(&self) -> u32 {
        self.0.id()
    }

    /// Starts a command on so many processors.
    fn spawn(mut command: Command, cores: usize) -> io::Result<Listening> {
        let all = sched_getaffinity(None)?;
        sched_setaffinity(None, &last(&all, cores))?;
        let child = command.spawn();
        let restored = sched_setaffinity(None, &all);
        let process = Listening(child?);
        restored?;
        Ok(process)
    }

    /// Starts a command without output on so many processors, and waits until it listens at that address.
    pub fn start_silent(
        mut command: Command,
        address: SocketAddr,
        cores: usize,
    ) -> Result<Listening, String> {
        let name = command.get_program().display().to_string();
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let process = Listening::spawn(command, cores).map_err(|error| format!("{name}: {error}"))?;
        let start = Instant::now();
        while TcpStream::connect(address).is_err() {
            if start.elapsed() > PATIENCE {
                return Err(format!("{name} doesn't answer"));
            }
            thread::sleep(Duration::from_millis(10));
        }
        Ok(process)
    }
}

impl Server {
    /// Starts a command with an address as its last word; its first line says that it listens there.
    pub fn start(mut command: Command) -> Result<Server, String> {
        let address = free_address()?;
        command.arg(address.to_string());
        Ok(Server { process: Listening::start(command, 1)?, address })
    }

    /// The processor time that it has used.
    pub fn processor_time(&self) -> Duration {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.process.0.id())).unwrap_or_default();
        // Behind the command's name, which may contain anything: user and system time, in hundredths of a second.
        let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields).split_whitespace();
        let ticks = fields.skip(11).take(2).filter_map(|field| field.parse::<u64>().ok());
        Duration::from_millis(10 * ticks.sum::<u64>())
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        // It can only have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The system chooses a port; it stays free for a while.
pub fn free_address() -> Result<SocketAddr, String> {
    let free = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr());
    free.map_err(|error| format!("a free port: {error}"))
}
