//! Datagrams: clients and servers in the component language; a client in Python, written from the book; servers that
//! are absent, silent or of another interface; and strangers.

use std::fs;
use std::net::UdpSocket;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::peer::Peer;
use super::{DRYSTONE, complaint, drystone, folder_of, folder_with, printed, status};
use drystone_golden::free_port;

const FILES: &[(&str, &str)] = &[
    ("store.dry", include_str!("udp/store.dry")),
    ("server.dry", include_str!("udp/server.dry")),
    ("client.dry", include_str!("udp/client.dry")),
    ("client.py", include_str!("udp/client.py")),
];

/// What `client.dry` prints.
const ANSWERS: &str = "missing\nseven\nFALSE x -4 2.0\n65488\nlost\n10\nTRUE\nslept\nlost\nslept\n";

/// A folder with the programs, and what BY says at the client.
fn folder(by: &str) -> TempDir {
    folder_of(FILES.iter().map(|(name, text)| (*name, text.replace("(* BY *)", by))))
}

fn serve(folder: &Path, name: &str) -> Peer {
    let mut server = Peer::start(folder, DRYSTONE, &["run", "server.dry", name]);
    assert_eq!(server.line(), "ready");
    server
}

fn asked(folder: &Path, name: &str) -> String {
    let output = drystone(folder, &["run", "client.dry", name]);
    assert_eq!(status(&output), 0, "{}", complaint(&output));
    printed(&output)
}

#[test]
fn datagrams_join_two_programs() {
    let folder = folder("");
    for host in ["127.0.0.1", "localhost", "[::1]"] {
        let name = format!("udp://{host}:{}/", free_port());
        let _server = serve(folder.path(), &name);
        assert_eq!(asked(folder.path(), &name), ANSWERS, "{host}");
    }
}

#[test]
fn a_client_in_python_gets_what_the_book_says() {
    let folder = folder("");
    let described = drystone(folder.path(), &["describe", "store.dry", "Store", "--udp", "-o", "form"]);
    assert_eq!(status(&described), 0, "{}", complaint(&described));
    for (host, bare) in [("127.0.0.1", "127.0.0.1"), ("[::1]", "::1")] {
        let port = free_port().to_string();
        let mut server = serve(folder.path(), &format!("udp://{host}:{port}/"));
        let mut python = Command::new("python3");
        python.args(["-B", "client.py", bare, &port, "form"]).current_dir(folder.path());
        let Ok(output) = python.output() else { return drystone_golden::skipped("there is no python3") };
        assert_eq!(printed(&output), "all\n", "{}", complaint(&output));
        assert!(server.runs());
    }
}

#[test]
fn who_is_not_there_is_lost_at_once_and_who_is_silent_after_a_while() {
    let folder = folder("BY Udp(patience: 20000)");
    let begun = Instant::now();
    let name = format!("udp://127.0.0.1:{}/", free_port());
    assert!(asked(folder.path(), &name).starts_with("lost\nlost\nlost\n"));
    assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
    let folder = self::folder("BY Udp(patience: 50)");
    let silent = UdpSocket::bind("127.0.0.1:0").expect("there are ports");
    let name = format!("udp://{}/", silent.local_addr().expect("it has one"));
    assert!(asked(folder.path(), &name).starts_with("lost\nlost\nlost\n"));
}

/// Two servers at one address, one after the other, and a client that repeats its request until it is answered.
#[test]
fn a_request_is_made_again_if_it_is_said_so() {
    let folder = folder("BY Retried(messages: \"Get\", attempts: 10), Udp(patience: 300)");
    let port = free_port();
    let name = format!("udp://127.0.0.1:{port}/");
    let client = super::peer::Running::start(folder.path(), &["run", "client.dry", &name]);
    std::thread::sleep(Duration::from_millis(700));
    let _server = serve(folder.path(), &name);
    let output = client.output();
    assert!(printed(&output).starts_with("missing\nseven\n"), "{}{}", printed(&output), complaint(&output));
}

const OTHER: &str = "
IMPORT store;
COMPONENT Main;
  COMPONENT Guest REQUIRES store.Other;
  VARIABLE x: TEXT;
  BEGIN Other!Get(\"a\"); Other?Value(x) END Guest;
VARIABLE guest: Guest;
BEGIN NEW(guest); CONNECT(store.Other(guest), \"NAME\") END Main;
";

#[test]
fn a_client_of_another_interface_is_refused() {
    let folder = folder("");
    let name = format!("udp://127.0.0.1:{}/", free_port());
    let _server = serve(folder.path(), &name);
    fs::write(folder.path().join("other.dry"), OTHER.replace("NAME", &name)).expect("it can be written");
    let output = drystone(folder.path(), &["run", "other.dry"]);
    let why = format!("{name}: the server has another interface, of form 0x");
    assert!(status(&output) == 1 && complaint(&output).contains(&why), "{}", complaint(&output));
}

/// A server that answers requests by `reply`.
fn answers_by(socket: UdpSocket, reply: impl Fn(&[u8]) -> Vec<Vec<u8>> + Send + 'static) {
    std::thread::spawn(move || {
        let mut bytes = [0; 65_536];
        while let Ok((length, client)) = socket.recv_from(&mut bytes) {
            for reply in reply(&bytes[..length]) {
                let _ = socket.send_to(&reply, client);
            }
        }
    });
}

const GUEST: &str = "
COMPONENT Main;
INTERFACE Echo; { IN Say(n: INTEGER) OUT Heard(n: INTEGER) } END Echo;
COMPONENT Guest REQUIRES Echo;
  VARIABLE n: INTEGER;
BEGIN
  Echo!Say(5);
  IF Echo?Heard THEN Echo?Heard(n); WRITE(n) ELSE WRITE(\"lost\") END;
  WRITELINE
END Guest;
VARIABLE guest: Guest;
BEGIN NEW(guest); CONNECT(Echo(guest), \"NAME\") BY Udp(patience: 300) END Main;
";

/// A reply with the request's head, another message, and some bytes.
fn reply(request: &[u8], message: u32, parameters: &[u8]) -> Vec<u8> {
    [&request[..8], &message.to_be_bytes(), parameters].concat()
}

/// The replies to a request.
type Replies = Box<dyn Fn(&[u8]) -> Vec<Vec<u8>> + Send>;

#[test]
fn only_the_reply_that_was_asked_for_counts() {
    let right = |request: &[u8]| reply(request, 1, &7u64.to_be_bytes());
    let changed = move |request: &[u8], at: usize| {
        let mut reply = right(request);
        reply[at] ^= 1;
        reply
    };
    let run = |replies: Replies| {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("there are ports");
        let name = format!("udp://{}/", socket.local_addr().expect("it has one"));
        answers_by(socket, replies);
        let folder = folder_with(&GUEST.replace("NAME", &name));
        let output = drystone(folder.path(), &["run", "program.dry"]);
        assert_eq!(status(&output), 0, "{}", complaint(&output));
        printed(&output)
    };
    // Replies of another interface or number, malformed ones and duplicates are ignored.
    let passed_over = move |request: &[u8]| {
        let garbage = vec![request[..11].to_vec(), changed(request, 3), changed(request, 7)];
        [garbage, vec![right(request), right(request)]].concat()
    };
    assert_eq!(run(Box::new(passed_over)), "7\n");
    for (message, parameters) in [(1, &b"1234"[..]), (0, &[0; 8]), (9, &[]), (u32::MAX, &[])] {
        assert_eq!(run(Box::new(move |request| vec![reply(request, message, parameters)])), "lost\n");
    }
    assert_eq!(run(Box::new(|_| vec![])), "lost\n");
}

#[test]
fn what_a_name_cannot_be_is_said() {
    for (statement, why) in [
        ("EXPORT(Echo(host), \"udp://0.0.0.0:FREE/\")", "by BY Udp(open: TRUE)"),
        ("EXPORT(Echo(host), scheme + \"//127.0.0.1:FREE/echo\")", "a port is for one interface"),
        ("EXPORT(Echo(host), scheme + \"//127.0.0.1/\")", "a port is needed"),
        ("EXPORT(Chat(host), \"udp://127.0.0.1:FREE/\")", "is no interface of requests and replies"),
        (
            "EXPORT(Echo(host), \"udp://127.0.0.1:FREE/\"); EXPORT(Other(host), \"udp://127.0.0.1:FREE/\")",
            "in use",
        ),
    ] {
        let text = REFUSED.replace("STATEMENT", statement).replace("FREE", &free_port().to_string());
        let output = drystone(folder_with(&text).path(), &["run", "program.dry"]);
        assert!(
            status(&output) > 0 && complaint(&output).contains(why),
            "{statement}: {}",
            complaint(&output)
        );
    }
    let open = REFUSED
        .replace("STATEMENT", "EXPORT(Echo(host), \"udp://0.0.0.0:FREE/\") BY Udp(open: TRUE); HALT(0)");
    let output = drystone(
        folder_with(&open.replace("FREE", &free_port().to_string())).path(),
        &["run", "program.dry"],
    );
    assert_eq!(status(&output), 0, "{}", complaint(&output));
}

const REFUSED: &str = "
COMPONENT Main;
INTERFACE Echo; { IN Say(n: INTEGER) OUT Heard(n: INTEGER) } END Echo;
INTERFACE Other; { IN Ask OUT Answer } END Other;
INTERFACE Chat; { OUT Word(n: INTEGER) } END Chat;
COMPONENT Host OFFERS Echo, Other, Chat;
  IMPLEMENTATION Echo; VARIABLE n: INTEGER; BEGIN WHILE ?Say DO ?Say(n); !Heard(n) END END Echo;
  IMPLEMENTATION Other; BEGIN WHILE ?Ask DO ?Ask; !Answer END END Other;
  IMPLEMENTATION Chat; BEGIN !Word(1) END Chat;
END Host;
VARIABLE host: Host; scheme: TEXT;
BEGIN NEW(host); scheme := \"udp:\"; STATEMENT END Main;
";

const BUSY: &str = "
COMPONENT Main;
INTERFACE Note; { IN Note(n: INTEGER) } END Note;
COMPONENT Host OFFERS Note;
  IMPLEMENTATION Note; VARIABLE n: INTEGER; BEGIN WHILE ?Note DO ?Note(n) END END Note;
END Host;
VARIABLE host: Host; i: INTEGER;
BEGIN
  NEW(host); EXPORT(Note(host), \"udp://127.0.0.1:FREE/\"); WRITE(\"ready\"); WRITELINE;
  FOR i := 1 TO 50 DO PASSIVATE(10) END;
  WRITE(\"on\"); WRITELINE; HALT(0)
END Main;
";

#[test]
fn who_sends_without_a_pause_leaves_others_their_turn() {
    let port = free_port();
    let folder = folder_with(&BUSY.replace("FREE", &port.to_string()));
    let described = drystone(folder.path(), &["describe", "program.dry", "Note", "--udp"]);
    let form = printed(&described)
        .lines()
        .next()
        .and_then(|line| line.split_once(" 0x"))
        .map(|(_, form)| u32::from_str_radix(form, 16).expect("it is a number"));
    let request = |form: u32| [&form.to_be_bytes()[..], &[0; 8], &7u64.to_be_bytes()].concat();
    let (good, strange) = (request(form.expect("it is told")), request(0));
    let mut server = Peer::start(folder.path(), DRYSTONE, &["run", "program.dry"]);
    assert_eq!(server.line(), "ready");
    std::thread::spawn(move || {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("there are ports");
        while socket.send_to(&good, ("127.0.0.1", port)).is_ok() {
            let _ = socket.send_to(&strange, ("127.0.0.1", port));
        }
    });
    let begun = Instant::now();
    assert_eq!(server.line(), "on");
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
}
