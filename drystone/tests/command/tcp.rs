//! `tcp:` names: errors if a side is missing or ends, and a client in another language that was written from the book's
//! page on the protocol. The tests of all factories are in `bindings`.

use std::fs;
use std::io::Write;
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use drystone_golden::free_port;
use tempfile::TempDir;

use crate::bindings::Server;
use crate::certificates::{authority, certify};
use crate::domains::{SEEN, SEQUENCES};
use crate::peer::Running;
use crate::{complaint, drystone, folder_of, printed, status};

const TALK: &str =
    "INTERFACE Talk;  { IN Say(x: TEXT; n: INTEGER) OUT Heard(x: TEXT; n: INTEGER) }  END Talk;";

const SERVER: &str = "
COMPONENT Main;
TALK
COMPONENT Host OFFERS Talk;
  IMPLEMENTATION Talk;
  VARIABLE x: TEXT; n: INTEGER;
  BEGIN WHILE ?Say DO ?Say(x, n); !Heard(\"You said \" + x, n + 1) END END Talk;
END Host;
VARIABLE host: Host;
BEGIN
  NEW(host); EXPORT(Talk(host), \"tcp://127.0.0.1:PORT/talk\"); WRITE(\"ready\"); WRITELINE; PASSIVATE(600000)
END Main;
";

const CLIENT: &str = "
COMPONENT Main;
TALK
COMPONENT Guest REQUIRES Talk;
  VARIABLE i: INTEGER; x: TEXT; n: INTEGER;
ACTIVITY
  FOR i := 1 TO COUNT DO Talk!Say(\"hello\", i); Talk?Heard(x, n) END
END Guest;
COMPONENT {ISOLATED} Box;
  VARIABLE guest: Guest;
  BEGIN NEW(guest); CONNECT(Talk(guest), \"tcp://127.0.0.1:PORT/talk\"); DELETE(guest); WRITE(\"all\"); \
    WRITELINE END Box;
VARIABLE box: Box;
BEGIN NEW(box); DELETE(box); WRITE(\"on\"); WRITELINE END Main;
";

#[test]
fn sequences_cross_whole() {
    let port = free_port();
    let folder = tempfile::tempdir().expect("there are temporary folders");
    let server = format!(
        "{SEQUENCES} COMPONENT {{ENTRYPOINT}} Main; VARIABLE g: Glass;
         BEGIN NEW(g); EXPORT(Mirror(g), \"tcp://127.0.0.1:{port}/mirror\"); WRITE(\"ready\"); WRITELINE;
           PASSIVATE(600000) END Main;"
    );
    let client = format!(
        "{SEQUENCES} COMPONENT {{ENTRYPOINT}} Main; VARIABLE v: Viewer;
         BEGIN NEW(v); CONNECT(Mirror(v), \"tcp://127.0.0.1:{port}/mirror\") END Main;"
    );
    for (file, text) in [("server.dry", server), ("client.dry", client)] {
        fs::write(folder.path().join(file), text).expect("a temporary folder can be written");
    }
    let _server = Server::start(folder.path(), &["run", "server.dry"]);
    let output = drystone(folder.path(), &["run", "client.dry"]);
    assert_eq!(printed(&output), SEEN, "{}", complaint(&output));
}

/// A folder with both programs.
fn folder(port: u16, count: &str) -> TempDir {
    let filled =
        |text: &str| text.replace("TALK", TALK).replace(":PORT", &format!(":{port}")).replace("COUNT", count);
    folder_of([("server.dry", filled(SERVER)), ("client.dry", filled(CLIENT))])
}

fn server(folder: &Path) -> Server {
    Server::start(folder, &["run", "server.dry"])
}

fn client(folder: &Path) -> Output {
    drystone(folder, &["run", "client.dry"])
}

/// A client that goes on for long, in the background.
fn begun(folder: &Path) -> Running {
    Running::start(folder, &["run", "client.dry"])
}

/// The client in Python; `None`: there is no Python here.
fn python(port: u16, arguments: &[&str]) -> Option<Output> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wire/client.py");
    let mut command = Command::new("python3");
    command.arg(script).args([&port.to_string(), "talk"]).args(arguments);
    let output = command.output();
    if output.is_err() {
        drystone_golden::skipped("there is no python3");
    }
    output.ok()
}

#[test]
fn clients_in_another_language_need_the_document_only() {
    let port = free_port();
    let folder = folder(port, "10");
    let _server = server(folder.path());
    let Some(output) = python(port, &["describe"]) else { return };
    let identity = "Talk\nIN Say TEXT INTEGER\nOUT Heard TEXT INTEGER\n. 0>1\n 1>0\n\nTrue\n";
    assert_eq!(printed(&output), identity, "{}", complaint(&output));
    let output = python(port, &["talk", "1000"]).expect("there was one");
    assert_eq!(printed(&output), "talked 1000\n", "{}", complaint(&output));
}

#[test]
fn garbage_ends_its_own_connection() {
    let port = free_port();
    let folder = folder(port, "1000");
    let server = server(folder.path());
    let descriptors = || fs::read_dir(format!("/proc/{}/fd", server.id())).expect("it runs").count();
    let before = descriptors();
    for seed in 0..20 {
        let Some(output) = python(port, &["garbage", &seed.to_string()]) else { return };
        assert_eq!((status(&output), printed(&output)), (1, String::new()), "{}", complaint(&output));
    }
    let silent = python(port, &["silent"]).expect("there was one");
    assert_eq!(status(&silent), 1, "{}", complaint(&silent));
    let output = client(folder.path());
    assert_eq!((printed(&output), status(&output)), ("all\non\n".into(), 0), "{}", complaint(&output));
    let deadline = Instant::now() + Duration::from_secs(10);
    while descriptors() > before {
        assert!(Instant::now() < deadline, "connections are left over");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_flood_holds_nobody_up() {
    let port = free_port();
    let folder = folder(port, "1000");
    let _server = server(folder.path());
    let stop = Arc::new(AtomicBool::new(false));
    let floods: Vec<_> = (0..2)
        .map(|_| {
            let stop = stop.clone();
            std::thread::spawn(move || {
                while !stop.load(Relaxed) {
                    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else { continue };
                    while !stop.load(Relaxed) && stream.write_all(&[0xff; 1 << 18]).is_ok() {}
                }
            })
        })
        .collect();
    std::thread::sleep(Duration::from_millis(300));
    let start = Instant::now();
    let output = client(folder.path());
    stop.store(true, Relaxed);
    for flood in floods {
        flood.join().expect("it ends");
    }
    assert_eq!((printed(&output), status(&output)), ("all\non\n".into(), 0), "{}", complaint(&output));
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

#[test]
fn a_server_that_is_killed_ends_its_communications_only() {
    let port = free_port();
    let folder = folder(port, "100000000");
    let server = server(folder.path());
    let client = begun(folder.path());
    std::thread::sleep(Duration::from_millis(500));
    drop(server);
    let output = client.output();
    assert_eq!((printed(&output), status(&output)), ("on\n".into(), 0), "{}", complaint(&output));
}

/// Repeated, so that in some rounds a request is pending when the server ends.
#[test]
fn a_request_is_made_again_until_its_server_is_back() {
    let port = free_port();
    let folder = folder(port, "20000");
    let path = folder.path().join("client.dry");
    let program = fs::read_to_string(&path).expect("it was written");
    let retried = "/talk\") BY Retried(messages: \"Say\", attempts: 12, pause: 5)";
    fs::write(&path, program.replace("/talk\")", retried)).expect("a temporary folder can be written");
    let mut server = server(folder.path());
    let mut client = begun(folder.path());
    for _ in 0..3 {
        std::thread::sleep(Duration::from_millis(100));
        drop(server);
        std::thread::sleep(Duration::from_millis(100));
        server = self::server(folder.path());
    }
    let until = Instant::now() + Duration::from_secs(30);
    while client.try_wait().expect("it is a process of this one's").is_none() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(20));
    }
    let _ = client.kill();
    let output = client.output();
    assert_eq!((printed(&output), status(&output)), ("all\non\n".into(), 0), "{}", complaint(&output));
}

#[test]
fn a_client_that_is_killed_leaves_nothing() {
    let port = free_port();
    let folder = folder(port, "100000000");
    let server = server(folder.path());
    let descriptors = || fs::read_dir(format!("/proc/{}/fd", server.id())).expect("it runs").count();
    let before = descriptors();
    let mut clients: Vec<Running> = (0..5).map(|_| begun(folder.path())).collect();
    std::thread::sleep(Duration::from_millis(500));
    for client in &mut clients {
        client.kill().expect("it runs");
        client.wait().expect("it ends");
    }
    let deadline = Instant::now() + Duration::from_secs(10);
    while descriptors() > before {
        assert!(Instant::now() < deadline, "connections are left over");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_server_that_is_not_there_ends_its_communications_only() {
    let folder = folder(free_port(), "1");
    let output = client(folder.path());
    assert_eq!((printed(&output), status(&output)), ("on\n".into(), 0), "{}", complaint(&output));
}

#[test]
fn names_are_looked_at_when_they_are_used() {
    let said = |name: &str, by: &str| {
        let text = CLIENT.replace("TALK", TALK).replace("COUNT", "1").replace("{ISOLATED} ", "");
        let text = text.replace("VARIABLE guest", "VARIABLE nothing: TEXT; guest");
        let folder =
            crate::folder_with(&text.replace("\"tcp://127.0.0.1:PORT/talk\")", &format!("\"{name}\") {by}")));
        complaint(&drystone(folder.path(), &["run", "program.dry"]))
    };
    let foreign = "tcp://10.1.2.3:7000/talk: without certificates only this machine's own addresses";
    let many = "tcp://127.0.0.1:7000/talk: capacity is from 1 to 1000000";
    for (name, by, expected) in [
        ("tcp://10.1.2.3:7000/talk", "", foreign),
        ("tcp://127.0.0.1:7000/talk", "BY Tcp(capacity: LENGTH(nothing))", many),
        (
            "tcp://127.0.0.1:7000/talk",
            "BY Tcp(certificate: \"x\", key: \"x\")",
            "certificate, key and authority go together",
        ),
        (
            "tcp://127.0.0.1:7000/talk",
            "BY Tcp(certificate: \"x\", key: \"x\", authority: \"y\")",
            "authority: \"y\": No such file",
        ),
        ("nats://127.0.0.1:1/talk", "BY Nats(authority: \"y\")", "authority: \"y\": No such file"),
        ("tcp://127.0.0.1:70000/talk", "", "70000 is no port: they are 1 to 65535"),
    ] {
        let said = said(name, by);
        assert!(said.contains(expected), "{name}: {said}");
    }
}

/// Puts a BY behind a name.
fn by(folder: &Path, file: &str, who: &str) {
    let path = folder.join(file);
    let text = fs::read_to_string(&path).expect("it is there");
    let options = format!("certificate: \"{who}.pem\", key: \"{who}.key\", authority: \"{who}-ca.pem\"");
    fs::write(path, text.replace("/talk\")", &format!("/talk\") BY Tcp({options})")))
        .expect("it can be written");
}

#[test]
fn both_sides_show_certificates() {
    let port = free_port();
    let folder = folder(port, "1000");
    let (ours, theirs) = (authority(), authority());
    certify(folder.path(), "server", &ours);
    certify(folder.path(), "client", &ours);
    // The client trusts the server, but not vice versa.
    certify(folder.path(), "stranger", &theirs);
    fs::write(folder.path().join("stranger-ca.pem"), &ours.1).expect("a temporary folder can be written");
    // The client doesn't trust the server.
    certify(folder.path(), "doubter", &ours);
    fs::write(folder.path().join("doubter-ca.pem"), &theirs.1).expect("a temporary folder can be written");
    by(folder.path(), "server.dry", "server");
    let _server = server(folder.path());
    let plain = fs::read_to_string(folder.path().join("client.dry")).expect("it is there");
    for (who, expected) in [
        ("client", "all\non\n"),
        ("stranger", "on\n"),
        ("doubter", "on\n"),
        ("", "on\n"),
        ("client", "all\non\n"),
    ] {
        fs::write(folder.path().join("client.dry"), &plain).expect("it can be written");
        if !who.is_empty() {
            by(folder.path(), "client.dry", who);
        }
        let output = client(folder.path());
        assert_eq!(
            (printed(&output).as_str(), status(&output)),
            (expected, 0),
            "{who}: {}",
            complaint(&output)
        );
    }
}

/// A connection lasts when a name isn't exported any more, and finds what is exported by that name later.
#[test]
fn what_is_exported_anew_is_found_over_a_connection_that_lasts() {
    let text = "INTERFACE Ask; IN Question OUT Answer(n: INTEGER) END Ask;
         COMPONENT Server OFFERS Ask;
           IMPLEMENTATION Ask; BEGIN ?Question; !Answer(1) END Ask;
         END Server;
         COMPONENT Client REQUIRES Ask; VARIABLE answered, lost: INTEGER;
           PROCEDURE TalkOnce; VARIABLE n: INTEGER;
           BEGIN
             Ask!Question;
             IF Ask?Answer THEN Ask?Answer(n); INC(answered) ELSE INC(lost) END;
             PASSIVATE(5)
           END TalkOnce;
         ACTIVITY
           REPEAT TalkOnce UNTIL answered > 0;
           lost := 0; REPEAT TalkOnce UNTIL lost > 0;
           answered := 0; REPEAT TalkOnce UNTIL answered > 3;
           WRITE(\"found anew\"); HALT(0)
         END Client;
         COMPONENT Main; VARIABLE s: Server; c: Client; i: INTEGER;
         BEGIN
           NEW(c); CONNECT(Ask(c), \"tcp://127.0.0.1:FREE/x\");
           FOR i := 1 TO 100 DO
             NEW(s); EXPORT(Ask(s), \"tcp://127.0.0.1:FREE/x\"); PASSIVATE(100); DELETE(s); PASSIVATE(100)
           END
         END Main;"
        .replace("FREE", &free_port().to_string());
    let output = drystone(crate::folder_with(&text).path(), &["run", "program.dry"]);
    assert_eq!((printed(&output).as_str(), status(&output)), ("found anew", 0), "{}", complaint(&output));
}
