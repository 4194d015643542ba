//! Faults between programs that are joined by HTTP, ONC RPC and datagrams: very many clients; clients that never read,
//! send garbage or are disconnected; sides that are killed or absent. Nothing hangs, other clients are served, and
//! nothing leaks: the server's descriptors and memory are counted.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::peer::{Peer, Running};
use crate::{DRYSTONE, complaint, drystone, printed, status};
use drystone_golden::free_port;

const SERVER: &str = "
COMPONENT Main;
INTERFACE Echo;
  { IN Say(n: INTEGER; x: TEXT) OUT Heard(n: INTEGER; x: TEXT) | IN Fill(n: INTEGER) OUT Filled(x: TEXT) }
END Echo;
COMPONENT Host OFFERS Echo;
  IMPLEMENTATION Echo;
  VARIABLE n: INTEGER; x: TEXT;
  BEGIN
    WHILE ?ANY DO
      IF ?Say THEN
        ?Say(n, x); !Heard(n + 1, x)
      ELSE
        ?Fill(n); x := \"0123456789abcdef\";
        WHILE LENGTH(x) < MIN(n, 1000000) DO x := x + x END;
        !Filled(x)
      END
    END
  END Echo;
END Host;
VARIABLE host: Host;
BEGIN
  NEW(host); EXPORT(Echo(host), \"NAME\") BY ; WRITE(\"ready\"); WRITELINE; PASSIVATE(600000)
END Main;
";

const CLIENT: &str = "
COMPONENT Main;
INTERFACE Echo;
  { IN Say(n: INTEGER; x: TEXT) OUT Heard(n: INTEGER; x: TEXT) | IN Fill(n: INTEGER) OUT Filled(x: TEXT) }
END Echo;
COMPONENT Guest REQUIRES Echo;
  VARIABLE i, n: INTEGER; x: TEXT;
ACTIVITY
  FOR i := 1 TO ROUNDS DO Echo!Say(i, \"hello\"); Echo?Heard(n, x); ASSERT((n = i + 1) AND (x = \"hello\")) END
END Guest;
COMPONENT {ISOLATED} Box;
  VARIABLE guest[i: INTEGER]: Guest; i: INTEGER;
  BEGIN
    FOR i := 1 TO GUESTS DO NEW(guest[i]); CONNECT(Echo(guest[i]), \"NAME\") BY END;
    FOR i := 1 TO GUESTS DO DELETE(guest[i]) END;
    WRITE(\"all\"); WRITELINE
  END Box;
VARIABLE box: Box;
BEGIN NEW(box); DELETE(box); WRITE(\"on\"); WRITELINE END Main;
";

/// How two programs are joined.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Joint {
    Http,
    Socket,
    Onc,
    OncUdp,
    Udp,
}

const ALL: [Joint; 5] = [Joint::Http, Joint::Socket, Joint::Onc, Joint::OncUdp, Joint::Udp];

impl Joint {
    fn name(self, port: u16) -> String {
        let (scheme, path) = match self {
            Joint::Http | Joint::Socket => ("http", "/echo"),
            Joint::Onc => ("onc", ""),
            Joint::OncUdp => ("onc+udp", ""),
            Joint::Udp => ("udp", ""),
        };
        format!("{scheme}://127.0.0.1:{port}{path}")
    }

    fn is_of_datagrams(self) -> bool {
        matches!(self, Joint::OncUdp | Joint::Udp)
    }

    /// A BY with this option added.
    fn by(self, option: &str) -> String {
        let (factory, own) = match self {
            Joint::Http => ("Http", ""),
            Joint::Socket => ("Http", "socket: TRUE"),
            Joint::Onc | Joint::OncUdp => ("Onc", "program: 536870913"),
            Joint::Udp => ("Udp", "patience: 20000"),
        };
        let options = [own, option];
        let options: Vec<&str> = options.into_iter().filter(|option| !option.is_empty()).collect();
        format!("BY {factory}({})", options.join(", "))
    }
}

/// A running server.
struct Served {
    joint: Joint,
    port: u16,
    server: Peer,
    _folder: TempDir,
}

fn serve(joint: Joint) -> Served {
    let port = free_port();
    let text = SERVER.replace("NAME", &joint.name(port)).replace(" BY ", &format!(" {} ", joint.by("")));
    let folder = crate::folder_with(&text);
    let mut server = Peer::start(folder.path(), DRYSTONE, &["run", "program.dry"]);
    assert_eq!(server.line(), "ready");
    Served { joint, port, server, _folder: folder }
}

fn client(joint: Joint, port: u16, guests: usize, rounds: usize, option: &str) -> TempDir {
    let text = CLIENT.replace("NAME", &joint.name(port)).replace(" BY ", &format!(" {} ", joint.by(option)));
    crate::folder_with(&text.replace("GUESTS", &guests.to_string()).replace("ROUNDS", &rounds.to_string()))
}

impl Served {
    /// Serves so many clients, and checks that all are answered.
    fn answers(&self, guests: usize, rounds: usize) {
        let folder = client(self.joint, self.port, guests, rounds, "");
        let output = drystone(folder.path(), &["run", "program.dry"]);
        let joint = self.joint;
        assert_eq!(
            (printed(&output).as_str(), status(&output)),
            ("all\non\n", 0),
            "{joint:?}: {}",
            complaint(&output)
        );
    }

    fn descriptors(&self) -> usize {
        self.server.descriptors()
    }

    /// Resident memory in kilobytes.
    fn memory(&self) -> u64 {
        self.server.memory()
    }

    /// Waits until there are no more descriptors than that.
    fn forgets(&self, before: usize) {
        let until = Instant::now() + Duration::from_secs(20);
        while self.descriptors() > before {
            let left = self.descriptors();
            assert!(Instant::now() < until, "{:?}: {left} descriptors, there were {before}", self.joint);
            sleep(Duration::from_millis(20));
        }
    }

    /// Waits until it takes no more memory than that, in kilobytes.
    fn shrinks(&self, most: u64) {
        let until = Instant::now() + Duration::from_secs(20);
        while self.memory() > most {
            let now = self.memory();
            assert!(
                Instant::now() < until,
                "{:?}: {now} kilobytes, at most {most} were expected",
                self.joint
            );
            sleep(Duration::from_millis(50));
        }
    }

    fn connect(&self) -> TcpStream {
        TcpStream::connect(("127.0.0.1", self.port)).expect("it listens")
    }

    /// The beginning of a client's messages.
    fn words(&self) -> Vec<u8> {
        match self.joint {
            Joint::Http => {
                b"POST /echo/Fill HTTP/1.1\r\nHost: localhost\r\nContent-Length: 13\r\n\r\n{\"n\":1000000}"
                    .to_vec()
            }
            Joint::Socket => [SOCKET, &frame(b"{\"Fill\":{\"n\":1000000}}")].concat(),
            Joint::Onc | Joint::OncUdp => {
                let call = self.call();
                [&(1 << 31 | call.len() as u32).to_be_bytes()[..], &call].concat()
            }
            Joint::Udp => [0, 7, 2, 0, 1_000_000].iter().flat_map(|word: &u32| word.to_be_bytes()).collect(),
        }
    }

    /// A call of ONC RPC.
    fn call(&self) -> Vec<u8> {
        let words: [u32; 12] = [7, 0, 2, 0x2000_0001, 1, 2, 0, 0, 0, 0, 0, 1_000_000];
        words.iter().flat_map(|word| word.to_be_bytes()).collect()
    }
}

/// How a WebSocket begins.
const SOCKET: &[u8] =
    b"GET /echo HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
    Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

/// A text as a client's frame of a WebSocket.
fn frame(text: &[u8]) -> Vec<u8> {
    [&[0x81, 0x80 | text.len() as u8, 0, 0, 0, 0], text].concat()
}

/// Pseudo-random numbers, the same each time.
pub fn random(seed: u64) -> impl FnMut() -> u64 {
    let mut x = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move || {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        x
    }
}

/// The number of simultaneous clients: `DRYSTONE_GUESTS`, by default ten thousand.
fn guests() -> usize {
    std::env::var("DRYSTONE_GUESTS").ok().and_then(|guests| guests.parse().ok()).unwrap_or(10_000)
}

fn crowd(joint: Joint) {
    let served = serve(joint);
    served.answers(10, 1);
    let descriptors = served.descriptors();
    served.answers(guests(), 1);
    served.forgets(descriptors);
    let memory = served.memory();
    served.answers(guests(), 1);
    served.forgets(descriptors);
    // The number at the same time varies; if memory leaked, it would be twice as much.
    served.shrinks(memory + memory / 2);
}

#[test]
fn ten_thousand_requests_come_by_http() {
    crowd(Joint::Http);
}

#[test]
fn ten_thousand_websockets_come() {
    crowd(Joint::Socket);
}

#[test]
fn ten_thousand_calls_come_by_onc() {
    crowd(Joint::Onc);
}

#[test]
fn ten_thousand_calls_come_by_datagrams() {
    crowd(Joint::OncUdp);
}

#[test]
fn ten_thousand_requests_come_by_udp() {
    crowd(Joint::Udp);
}

#[test]
fn who_never_reads_is_waited_for_and_others_are_not() {
    for joint in [Joint::Http, Joint::Socket, Joint::Onc] {
        let served = serve(joint);
        served.answers(10, 1);
        let (descriptors, memory) = (served.descriptors(), served.memory());
        let mut silent: Vec<TcpStream> = (0..20).map(|_| served.connect()).collect();
        for client in &mut silent {
            client.set_nonblocking(true).expect("it is a socket");
            // As many as fit: each of these is answered by a megabyte.
            let words = served.words();
            let asks =
                if joint == Joint::Socket { frame(b"{\"Fill\":{\"n\":1000000}}") } else { words.clone() };
            let _ = client.write_all(&words);
            for _ in 0..200 {
                let _ = client.write_all(&asks);
            }
        }
        sleep(Duration::from_millis(500));
        served.answers(10, 10);
        // Each client has its answer in transit, some of its requests, and no more.
        let most = memory + 20 * 8 * 1024;
        assert!(served.memory() < most, "{joint:?}: {} kilobytes, {memory} before", served.memory());
        drop(silent);
        served.forgets(descriptors);
        served.answers(10, 10);
    }
}

#[test]
fn garbage_and_what_is_cut_off_harm_nobody_else() {
    for joint in ALL {
        let served = serve(joint);
        served.answers(10, 1);
        let (descriptors, memory) = (served.descriptors(), served.memory());
        let words = served.words();
        for seed in 0..200 {
            let mut next = random(seed);
            let garbage: Vec<u8> = (0..next() % 2000).map(|_| next() as u8).collect();
            let mut broken = words.clone();
            let at = next() as usize % broken.len();
            broken[at] ^= 1 << (next() % 8);
            let cut = &words[..next() as usize % words.len()];
            for bytes in [&garbage[..], &broken, cut] {
                if joint.is_of_datagrams() {
                    let socket = UdpSocket::bind("127.0.0.1:0").expect("there are ports");
                    let _ = socket.send_to(bytes, ("127.0.0.1", served.port));
                } else {
                    let mut client = served.connect();
                    let _ = client.write_all(bytes);
                    client.set_read_timeout(Some(Duration::from_millis(1))).expect("it is no zero");
                    // Half of them read an answer; the other half resets the connection.
                    if seed % 2 == 0 {
                        let _ = client.read(&mut [0; 4096]);
                    }
                }
            }
        }
        served.answers(10, 10);
        served.forgets(descriptors);
        served.shrinks(memory + 16 * 1024);
    }
}

fn begun(folder: &TempDir) -> Running {
    Running::start(folder.path(), &["run", "program.dry"])
}

#[test]
fn a_server_that_is_killed_ends_its_communications_only() {
    for joint in [Joint::Http, Joint::Socket, Joint::Onc] {
        let served = serve(joint);
        let folder = client(joint, served.port, 10, 100_000_000, "");
        let client = begun(&folder);
        sleep(Duration::from_millis(500));
        drop(served);
        let output = client.output();
        assert_eq!(
            (printed(&output).as_str(), status(&output)),
            ("on\n", 0),
            "{joint:?}: {}",
            complaint(&output)
        );
    }
}

#[test]
fn clients_that_are_killed_leave_nothing() {
    for joint in ALL {
        let served = serve(joint);
        served.answers(10, 1);
        let descriptors = served.descriptors();
        let folder = client(joint, served.port, 100, 100_000_000, "");
        let mut clients: Vec<Running> = (0..3).map(|_| begun(&folder)).collect();
        sleep(Duration::from_millis(500));
        for client in &mut clients {
            client.kill().expect("it runs");
            client.wait().expect("it ends");
        }
        served.forgets(descriptors);
        served.answers(10, 1);
    }
}

#[test]
fn nobody_there_is_said_so() {
    for joint in ALL {
        let folder = client(joint, free_port(), 3, 1, "");
        let output = drystone(folder.path(), &["run", "program.dry"]);
        assert_eq!(
            (printed(&output).as_str(), status(&output)),
            ("on\n", 0),
            "{joint:?}: {}",
            complaint(&output)
        );
        assert!(complaint(&output).contains("Connection refused"), "{joint:?}: {}", complaint(&output));
    }
}

#[test]
fn a_server_that_says_nothing_is_given_up_at_the_deadline() {
    for joint in ALL {
        let (listener, socket) = (TcpListener::bind("127.0.0.1:0"), UdpSocket::bind("127.0.0.1:0"));
        let (listener, socket) = (listener.expect("there are ports"), socket.expect("there are ports"));
        let address = if joint.is_of_datagrams() { socket.local_addr() } else { listener.local_addr() };
        let port = address.expect("it has one").port();
        // A WebSocket must be open before messages can be sent.
        if joint == Joint::Socket {
            continue;
        }
        let folder = client(joint, port, 3, 1, "deadline: 200");
        let begun = Instant::now();
        let output = drystone(folder.path(), &["run", "program.dry"]);
        assert_eq!(
            (printed(&output).as_str(), status(&output)),
            ("on\n", 0),
            "{joint:?}: {}",
            complaint(&output)
        );
        let why = format!("{}: there was no answer in 200 ms", joint.name(port));
        assert!(complaint(&output).contains(&why), "{joint:?}: {}", complaint(&output));
        assert!(begun.elapsed() < Duration::from_secs(8), "{joint:?}: {:?}", begun.elapsed());
    }
}

#[test]
fn requests_that_are_given_up_leave_no_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there are ports");
    let port = listener.local_addr().expect("it has one").port();
    let folder = client(Joint::Http, port, 3, 1, "deadline: 200");
    let file = folder.path().join("program.dry");
    let text = fs::read_to_string(&file).expect("it is there");
    fs::write(&file, text.replace("END Main", "; PASSIVATE(600000) END Main")).expect("it can be written");
    let mut program = Peer::start(folder.path(), DRYSTONE, &["run", "program.dry"]);
    assert_eq!(program.line(), "on");
    for _ in 0..3 {
        let (mut request, _) = listener.accept().expect("it has come");
        request.set_read_timeout(Some(Duration::from_secs(10))).expect("it can be set");
        request.read_to_end(&mut Vec::new()).expect("its end comes while the program goes on");
    }
}
