//! Hostile clients that speak the protocols of bindings correctly.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::peer::Peer;
use crate::{DRYSTONE, folder_with};
use drystone_golden::free_port;

const LISTENER: &str = "
COMPONENT Main;
INTERFACE Talk;  { IN Say(x: TEXT) }  END Talk;
COMPONENT Host OFFERS Talk;
  IMPLEMENTATION Talk;
  BEGIN PASSIVATE(600000) END Talk;
END Host;
VARIABLE host: Host;
BEGIN
  NEW(host); EXPORT(Talk(host), \"tcp://127.0.0.1:PORT/talk\"); WRITE(\"ready\"); WRITELINE; PASSIVATE(600000)
END Main;
";

/// A program that listens at a port, and its folder.
fn listener() -> (Peer, u16, TempDir) {
    let port = free_port();
    let folder = folder_with(&LISTENER.replace(":PORT", &format!(":{port}")));
    let mut server = Peer::start(folder.path(), DRYSTONE, &["run", "program.dry"]);
    assert_eq!(server.line(), "ready");
    (server, port, folder)
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}

fn frame(kind: u32, communication: u32, body: &[u8]) -> Vec<u8> {
    [words(&[body.len() as u32, kind << 16, communication]), body.to_vec()].concat()
}

/// The fingerprint of Talk, see docs/src/wire.md.
fn fingerprint() -> [u8; 16] {
    let identity = b"Talk\nIN Say TEXT\n. 0>0\n\n";
    let mut hash: u128 = 0x6c62272e07bb014262b821756295c58d;
    for byte in identity {
        hash = (hash ^ u128::from(*byte)).wrapping_mul(0x1000000000000000000013b);
    }
    hash.to_be_bytes()
}

/// Sends this much in each of so many communications, where nobody receives.
fn says(port: u16, communications: u32, length: usize) -> TcpStream {
    let mut stranger = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
    let hello = [words(&[16, 1 << 16 | 1, 0x4472_7973]), words(&[16, 1 << 18, 1 << 20, 1 << 16])].concat();
    stranger.write_all(&hello).expect("it reads");
    let body = [words(&[length as u32]), vec![b'x'; length]].concat();
    let name = [&fingerprint()[..], &words(&[4]), b"talk"].concat();
    for number in (0..2 * communications).step_by(2) {
        let open = frame(2, number, &name);
        // The first message is taken at once, the second never.
        let said = [open, frame(4, number, &words(&[0])), frame(4, number, &body)].concat();
        if stranger.write_all(&said).is_err() {
            break;
        }
    }
    stranger
}

/// The last bytes that a stranger receives within this time.
fn hears(mut stranger: TcpStream, patience: Duration) -> String {
    stranger.set_read_timeout(Some(patience)).expect("it is no zero");
    let mut answer = Vec::new();
    // The connection may have been closed.
    let _ = stranger.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer[answer.len().saturating_sub(100)..]).into_owned()
}

#[test]
fn what_nobody_takes_is_bounded_for_a_connection() {
    let (mut server, port, _folder) = listener();
    let descriptors = server.descriptors();
    for _ in 0..2 {
        let why = hears(says(port, 2000, 1 << 20), Duration::from_secs(20));
        assert!(why.ends_with("more bytes have come than were granted"), "{why}");
    }
    // Nobody has received what came over them.
    let until = Instant::now() + Duration::from_secs(20);
    while server.descriptors() > descriptors {
        assert!(Instant::now() < until, "{} descriptors, there were {descriptors}", server.descriptors());
        sleep(Duration::from_millis(20));
    }
    // With a limit for each communication only, it would be two gigabytes.
    assert!(server.runs() && server.peak() < 400 * 1024, "{} kilobytes", server.peak());
}

/// With many connections, the one that holds most is closed and its memory freed; the other ones stay.
#[test]
fn what_nobody_takes_is_bounded_for_all_connections() {
    let (mut server, port, _folder) = listener();
    let modest = says(port, 2, 1 << 20);
    let strangers: Vec<_> = (0..16).map(|_| says(port, 50, 1 << 20)).collect();
    let is_let_go =
        |stranger| hears(stranger, Duration::from_millis(300)).contains("waits over all connections");
    let told = strangers.into_iter().map(is_let_go).filter(|told| *told).count();
    // Some of them are left.
    assert!((4..16).contains(&told), "{told} were let go");
    assert!(!is_let_go(modest), "who holds little stays");
    assert!(server.runs() && server.peak() < 700 * 1024, "{} kilobytes", server.peak());
}
