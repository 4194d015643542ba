//! The command: its memory for a large zone, and reading a zone again after a change or on request.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::UdpSocket;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::{ZONE, query};

/// Longer than it takes to notice a new zone on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server, which ends with the test.
struct Server {
    child: Child,
    socket: UdpSocket,
}

impl Server {
    fn start(zone: &Path) -> Server {
        let port =
            UdpSocket::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).expect("a port").port();
        let mut command = Command::new(env!("CARGO_BIN_EXE_drystone-dns"));
        command.arg(zone).args(["--port", &port.to_string()]).stdout(Stdio::piped());
        let mut child = command.spawn().expect("it was built");
        let mut line = String::new();
        let out = child.stdout.take().expect("it is piped");
        BufReader::new(out).read_line(&mut line).expect("it says that it listens");
        assert!(line.starts_with("listening"), "{line}");
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
        socket.connect(("127.0.0.1", port)).expect("it is known");
        socket.set_read_timeout(Some(Duration::from_secs(10))).expect("it can be");
        Server { child, socket }
    }

    /// The last byte of its answer: of the address, if that was the question.
    fn asked(&self, name: &str) -> u8 {
        self.socket.send(&query(1, name, 1, None)).expect("it goes out");
        let mut buffer = [0; 2048];
        let length = self.socket.recv(&mut buffer).expect("it is answered");
        buffer[length - 1]
    }

    fn says_soon(&self, name: &str, last: u8) {
        let begin = Instant::now();
        while self.asked(name) != last {
            assert!(begin.elapsed() < PATIENCE, "{name} isn't {last}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_large_zone_takes_little_memory() {
    let folder = tempfile::tempdir().expect("there is room");
    let file = folder.path().join("zone");
    let hosts: String =
        (0..200_000).map(|host| format!("host{host} A 10.0.{}.{}\n", host >> 8 & 255, host & 255)).collect();
    fs::write(&file, format!("{ZONE}\n{hosts}")).expect("it can be written");
    let server = Server::start(&file);
    assert_eq!(server.asked("host199999.example.com"), 63);
    let status = fs::read_to_string(format!("/proc/{}/status", server.child.id())).expect("it lives");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("it is told");
    let peak: u32 = peak.trim().trim_end_matches(" kB").parse().expect("it is a number");
    // nsd takes 106 MB.
    assert!(peak < 106_000, "{peak} kB");
}

#[test]
fn a_zone_is_read_again_when_it_has_changed_and_when_that_is_wished() {
    let folder = tempfile::tempdir().expect("there is room");
    let file = folder.path().join("zone");
    let write = |address: u32| {
        fs::write(&file, ZONE.replace("192.0.2.53", &format!("192.0.2.{address}")))
            .expect("it can be written");
    };
    write(53);
    let server = Server::start(&file);
    assert_eq!(server.asked("ns1.example.com"), 53);
    write(54);
    server.says_soon("ns1.example.com", 54);
    // The change can't be noticed: length and time are the same as before.
    let seen = fs::metadata(&file).and_then(|it| it.modified()).expect("it has a time");
    write(55);
    fs::File::options().write(true).open(&file).and_then(|it| it.set_modified(seen)).expect("it can be set");
    std::thread::sleep(Duration::from_millis(1500));
    assert_eq!(server.asked("ns1.example.com"), 54);
    let hangup = Command::new("sh").arg("-c").arg(format!("kill -HUP {}", server.child.id())).status();
    assert!(hangup.expect("there is a shell").success());
    server.says_soon("ns1.example.com", 55);
}
