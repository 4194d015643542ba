//! A server of `programs/` in a process of its own, as its users meet it.

#![allow(dead_code, reason = "each test file uses its own part")]

use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use crate::compiled::Drystone;

/// Where the programs are.
pub fn programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../programs")
}

/// The server, at a port of its own.
pub struct Server {
    pub child: Child,
    pub address: SocketAddr,
    errors: Arc<Mutex<String>>,
}

impl Server {
    /// `None` if there is no binary.
    pub fn start(program: &str) -> Option<Server> {
        Server::of(&programs().join(program).with_extension("dry"))
    }

    /// The same for a program that is elsewhere.
    pub fn of(program: &Path) -> Option<Server> {
        let Some(drystone) = Drystone::find() else {
            drystone_golden::skipped("no drystone binary (set DRYSTONE_BIN)");
            return None;
        };
        let address = SocketAddr::from(([127, 0, 0, 1], drystone_golden::free_port()));
        let mut command = drystone.command();
        command.arg("run").arg(program).arg(address.to_string());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the drystone binary runs");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("text");
        assert_eq!(line, format!("listening on {address}\n"));
        let errors = Arc::new(Mutex::new(String::new()));
        let stderr = BufReader::new(child.stderr.take().expect("piped"));
        let collected = errors.clone();
        thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                eprintln!("{line}");
                *collected.lock().unwrap() += &(line + "\n");
            }
        });
        Some(Server { child, address, errors })
    }

    /// A connection whose reads don't wait for ever.
    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).expect("the server accepts");
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a socket");
        stream
    }

    /// Bytes of memory that it uses now.
    pub fn memory(&self) -> usize {
        let status = self.file("status");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("it lives");
        line.trim_end_matches("kB").trim().parse::<usize>().expect("a number") * 1024
    }

    /// The same as soon as it is as wanted, or else after some time.
    pub fn memory_when(&self, limit: Duration, is_wanted: impl Fn(usize) -> bool) -> usize {
        let begin = Instant::now();
        while !is_wanted(self.memory()) && begin.elapsed() < limit {
            thread::sleep(Duration::from_millis(50));
        }
        self.memory()
    }

    /// Processor time that it has used, in ticks of 10 ms.
    pub fn ticks(&self) -> u64 {
        let stat = self.file("stat");
        let fields: Vec<_> = stat[stat.rfind(')').expect("a name")..].split(' ').collect();
        fields[12].parse::<u64>().expect("user time") + fields[13].parse::<u64>().expect("system time")
    }

    fn file(&self, name: &str) -> String {
        std::fs::read_to_string(format!("/proc/{}/{name}", self.child.id())).expect("it lives")
    }

    /// What it has written to standard error.
    pub fn complaints(&self) -> String {
        self.errors.lock().unwrap().clone()
    }

    /// Waits until it has written this to standard error.
    pub fn reports(&self, text: &str) {
        until(text, || self.complaints().contains(text));
    }
}

/// Waits until something holds that must.
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < Duration::from_secs(20), "waited in vain: {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
