//! The client's side: in its own network namespace, starts a server in another one, sends requests, and measures the
//! answers.

use std::io::ErrorKind;
use std::net::UdpSocket;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use clap::Args;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use super::far::{ADDRESS, CLIENT, ip, quiet};
use super::work::{FLOODED, Work};
use crate::execute::last;
use crate::places;
use crate::processes::busy::Busy;
use crate::statistics::{percentile, sorted};

/// The time that a server may take to start.
const BEGINNING: Duration = Duration::from_secs(20);
/// The time that it may take to answer among many others.
const PATIENCE: Duration = Duration::from_secs(5);

/// Asks a server, and prints a line of JSON.
#[derive(Args)]
pub struct Near {
    /// What is asked.
    work: Work,
    /// Requests.
    requests: u64,
    /// So many at once.
    window: usize,
    /// Programs that keep the server's processor busy.
    busy: usize,
    /// Datagrams for somebody else before each request.
    flood: usize,
    /// The server.
    #[arg(trailing_var_arg = true, required = true)]
    server: Vec<String>,
}

/// Ends with this value.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        // It can only have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Near {
    /// Fails on a wrong answer.
    pub fn run(&self) -> Result<(), String> {
        ip("link set lo up")?;
        let all = sched_getaffinity(None).map_err(|error| error.to_string())?;
        let far = last(&all, 1);
        let own = others(&all, &far);
        let (server, busy) = on(&far, || Ok((self.server(&far)?, Busy::several(self.busy)?)))?;
        sched_setaffinity(None, &own).map_err(|error| error.to_string())?;
        let socket = self.connected(&server)?;
        let flood = (connected_to(FLOODED)?, self.flood);
        let mut asking = Asking { work: self.work, socket, flood, waiting: Vec::new(), begin: 0 };
        asking.prepare()?;
        // The first requests don't count.
        let warm = self.requests / 10;
        asking.ask(warm, self.window)?;
        let begin = Instant::now();
        let times = sorted(&asking.ask(self.requests, self.window)?);
        let rate = self.requests as f64 / begin.elapsed().as_secs_f64();
        drop((server, busy));
        let at = |part| percentile(&times, part).unwrap_or(0.0);
        println!(r#"{{"median":{},"p99":{},"rate":{rate}}}"#, at(0.5), at(0.99));
        Ok(())
    }

    fn server(&self, far: &CpuSet) -> Result<Server, String> {
        let processor = (0..CpuSet::MAX_CPU).find(|&number| far.is_set(number)).unwrap_or(0);
        let mut command = Command::new("unshare");
        command.args(["--net", "--mount"]).arg(places::executable()).arg("far");
        command.args([std::process::id().to_string(), processor.to_string()]).arg("--").args(&self.server);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let child = command.process_group(0).spawn().map_err(|error| format!("unshare: {error}"))?;
        Ok(Server(child))
    }

    /// A socket to the server, once that has answered.
    fn connected(&self, _: &Server) -> Result<UdpSocket, String> {
        let begin = Instant::now();
        while ip(&format!("addr add {CLIENT}/24 dev near")).is_err() {
            if begin.elapsed() > BEGINNING {
                return Err("the server's side of the network doesn't begin".into());
            }
            sleep(Duration::from_millis(20));
        }
        quiet("near");
        ip("link set near up")?;
        let failed = |error: std::io::Error| error.to_string();
        let socket = connected_to(self.work.port())?;
        socket.set_read_timeout(Some(Duration::from_millis(100))).map_err(failed)?;
        let (mut is_answered, mut buffer) = (false, [0; 2048]);
        while !is_answered {
            if begin.elapsed() > BEGINNING {
                return Err("the server doesn't answer".into());
            }
            // An error here means that the server doesn't listen yet.
            let _ = socket.send(&self.work.greeting());
            is_answered = socket.recv(&mut buffer).is_ok();
            if !is_answered {
                sleep(Duration::from_millis(10));
            }
        }
        socket.set_nonblocking(true).map_err(failed)?;
        Ok(socket)
    }
}

/// A client that polls, so that only the server is measured.
struct Asking {
    work: Work,
    socket: UdpSocket,
    /// A socket to the flooded port, and the number of datagrams before each request.
    flood: (UdpSocket, usize),
    /// The pending requests' numbers, and when they were sent.
    waiting: Vec<(u64, Instant)>,
    /// The number of the next request.
    begin: u64,
}

impl Asking {
    fn prepare(&mut self) -> Result<(), String> {
        for number in 0..self.work.preparations() {
            let (request, wanted) = self.work.preparation(number);
            self.send(&request)?;
            let mut answer = self.heard()?;
            while self.work.is_greeting(&answer) {
                answer = self.heard()?;
            }
            if answer != wanted {
                return Err(format!("wrong: {}", String::from_utf8_lossy(&answer)));
            }
        }
        Ok(())
    }

    /// Sends requests; returns the microseconds of each answer.
    fn ask(&mut self, requests: u64, window: usize) -> Result<Vec<f64>, String> {
        let end = self.begin + requests;
        let mut times = Vec::with_capacity(requests as usize);
        while (times.len() as u64) < requests {
            while self.waiting.len() < window && self.begin < end {
                let request = self.work.request(self.begin);
                self.waiting.push((self.begin, Instant::now()));
                self.begin += 1;
                let (flooded, count) = &self.flood;
                for _ in 0..*count {
                    // A datagram without room is dropped.
                    let _ = flooded.send(&[7; 8]);
                }
                self.send(&request)?;
            }
            let answer = self.heard()?;
            let answered = self.work.number_of(&answer);
            let place = self.waiting.iter().position(|(number, _)| Some(*number as u16) == answered);
            // The late answer to a greeting.
            let Some(place) = place else { continue };
            let (number, sent) = self.waiting.remove(place);
            times.push(sent.elapsed().as_nanos() as f64 * 1e-3);
            if !self.work.is_answer(number, &answer) {
                return Err(format!("request {number}, wrong: {}", String::from_utf8_lossy(&answer)));
            }
        }
        Ok(times)
    }

    fn send(&self, request: &[u8]) -> Result<(), String> {
        self.socket.send(request).map(drop).map_err(|error| error.to_string())
    }

    fn heard(&self) -> Result<Vec<u8>, String> {
        let mut buffer = [0; 2048];
        let begin = Instant::now();
        loop {
            match self.socket.recv(&mut buffer) {
                Ok(length) => return Ok(buffer[..length].to_vec()),
                Err(error) if error.kind() != ErrorKind::WouldBlock => return Err(error.to_string()),
                Err(_) if begin.elapsed() > PATIENCE => return Err("an answer is missing".into()),
                Err(_) => std::hint::spin_loop(),
            }
        }
    }
}

fn connected_to(port: u16) -> Result<UdpSocket, String> {
    let socket =
        UdpSocket::bind((CLIENT, 0)).and_then(|socket| socket.connect((ADDRESS, port)).map(|()| socket));
    socket.map_err(|error| error.to_string())
}

/// Does something on some processors, which children inherit.
fn on<T>(processors: &CpuSet, deed: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    sched_setaffinity(None, processors).map_err(|error| error.to_string())?;
    deed()
}

fn others(all: &CpuSet, without: &CpuSet) -> CpuSet {
    let mut rest = CpuSet::new();
    for number in (0..CpuSet::MAX_CPU).filter(|&number| all.is_set(number) && !without.is_set(number)) {
        rest.set(number);
    }
    if rest.count() == 0 { *all } else { rest }
}
