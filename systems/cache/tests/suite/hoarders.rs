//! Hostile clients that request much and read nothing, or begin much and end nothing: the process stays small, and
//! other clients are served. Also the tests of other projects for memcached's protocol.

use std::io::{BufRead, BufReader, Read, Result, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::namespace::{alone, in_thread};

const PORT: u16 = 11411;
/// Megabytes of items and of values in transit; and the most memory besides, with some hundred threads.
const ITEMS: usize = 16;
const CLIENTS: usize = 8;
const ELSE: usize = 48;

struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Server {
    fn start() -> Server {
        let mut command = Command::new(env!("CARGO_BIN_EXE_drystone-cache"));
        command.args([
            "--port",
            &PORT.to_string(),
            "--memory",
            &ITEMS.to_string(),
            "--clients",
            &CLIENTS.to_string(),
        ]);
        let mut child = command.stdout(Stdio::piped()).spawn().expect("it was built");
        let mut line = String::new();
        let out = child.stdout.take().expect("it is piped");
        BufReader::new(out).read_line(&mut line).expect("it says that it listens");
        assert!(line.starts_with("listening"), "{line}");
        Server(child)
    }

    /// The peak of its memory in megabytes.
    fn peak(&self) -> usize {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.0.id())).expect("it lives");
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("it is told");
        line.trim().trim_end_matches(" kB").parse::<usize>().expect("it is a number") / 1024
    }
}

fn client() -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", PORT)).expect("it listens");
    stream.set_read_timeout(Some(Duration::from_secs(10))).expect("it can be");
    stream.set_write_timeout(Some(Duration::from_secs(10))).expect("it can be");
    stream
}

fn asked(stream: &mut TcpStream, text: &[u8], bytes: usize) -> Result<Vec<u8>> {
    stream.write_all(text)?;
    let mut said = vec![0; bytes];
    stream.read_exact(&mut said)?;
    Ok(said)
}

/// Another client soon stores a large value and gets it. Beside others with large values it may be disconnected, and
/// comes again.
fn is_served(value: &[u8]) {
    let begin = Instant::now();
    let mut attempts = 1;
    while let Err(why) = stores_and_gets(value) {
        assert!(attempts < 5, "{why}");
        attempts += 1;
    }
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
}

fn stores_and_gets(value: &[u8]) -> Result<()> {
    let mut other = client();
    let text = [format!("set other 0 0 {}\r\n", value.len()).as_bytes(), value, b"\r\n"].concat();
    assert_eq!(asked(&mut other, &text, 8)?, b"STORED\r\n");
    let head = format!("VALUE other 0 {}\r\n", value.len());
    let said = asked(&mut other, b"get other\r\n", head.len() + value.len() + 7)?;
    assert!(said.starts_with(head.as_bytes()) && said.ends_with(b"\r\nEND\r\n"));
    Ok(())
}

fn with_server(name: &str, deed: impl FnOnce(&[u8]) + Send + 'static) {
    in_thread(name, || {
        alone()?;
        let server = Server::start();
        let value = vec![b'v'; 1_000_000];
        is_served(&value);
        deed(&value);
        is_served(&value);
        let (peak, most) = (server.peak(), ITEMS + CLIENTS + ELSE);
        assert!(peak < most, "it had {peak} MB, more than {most}");
        Ok(())
    });
}

#[test]
fn who_asks_for_much_and_takes_nothing_costs_little() {
    with_server("cache-unread", |_| {
        let all = format!("get{}\r\n", " other".repeat(1000));
        let hoarders: Vec<TcpStream> = (0..150)
            .map(|_| {
                let mut hoarder = client();
                hoarder.write_all(all.as_bytes()).expect("it takes it");
                hoarder
            })
            .collect();
        std::thread::sleep(Duration::from_millis(500));
        drop(hoarders);
    });
}

#[test]
fn who_begins_much_and_ends_nothing_costs_little() {
    with_server("cache-unfinished", |value| {
        let mut begun: Vec<TcpStream> = (0..150).map(|_| client()).collect();
        for (number, stream) in begun.iter_mut().enumerate() {
            let begin = format!("set own{number} 0 0 {}\r\n", value.len());
            // It may be disconnected meanwhile.
            let _ = stream.write_all(begin.as_bytes()).and_then(|()| stream.write_all(&value[1..]));
        }
        is_served(value);
        let line = format!("get {}", "k ".repeat(30_000));
        let mut lines: Vec<TcpStream> = (0..150).map(|_| client()).collect();
        lines.iter_mut().for_each(|stream| drop(stream.write_all(line.as_bytes())));
    });
}

#[test]
fn who_is_silent_leaves_the_place_to_others() {
    with_server("cache-silent", |_| {
        let silent: Vec<TcpStream> = (0..1100).map(|_| client()).collect();
        let mut first = silent[0].try_clone().expect("it can be");
        assert_eq!(first.read(&mut [0; 1]).ok(), Some(0), "it should have been let go");
    });
}

/// libmemcached's own tests.
#[test]
fn memccapable_is_content() {
    in_thread("cache-memccapable", || {
        alone()?;
        let mut command = Command::new("memccapable");
        command.args(["-h", "127.0.0.1", "-p", &PORT.to_string(), "-a"]);
        let _server = Server::start();
        let output = command.output().map_err(|error| format!("memccapable: {error}"))?;
        let told = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && told.matches("[pass]").count() == 27, "{told}");
        Ok(())
    });
}
