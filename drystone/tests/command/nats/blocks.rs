//! Blocks that are shipped over NATS.

use std::io;
use std::net::TcpListener;
use std::sync::{Arc, OnceLock};

use drystone_client::composite::VarTable;
use drystone_client::composite::builder::{Builder, sequence};
use drystone_client::{Error, Outcome};

use super::*;
use crate::folder_with;
use crate::servers::{file_server, key_value};
use crate::shipped::{SERVER, TELLER, requirements, server, serving_at, work};

fn is_shipped(program: &str, connected: &str) -> bool {
    requirements(program, connected).iter().any(|it| it.starts_with("COMPOSITE of nats:"))
}

#[test]
fn a_block_is_shipped_over_nats() {
    let Some(nats) = Nats::start(false) else { return };
    let name = nats.name("count");
    let connected = format!("EXPORT(Count(host), \"{name}\"); CONNECT(Count(guest), \"{name}\")");
    assert!(is_shipped(TELLER, &connected), "{:?}", requirements(TELLER, &connected));
    assert!(is_shipped(TELLER, &format!("{connected} BY Nats(capacity: 2)")));
    assert!(!is_shipped(TELLER, &format!("{connected} BY Monitored()")));
    // Too many bytes to be checked at once.
    let long = "Count?Then(n)".to_string() + &"; n := n * 2; n := n DIV 2".repeat(200);
    assert!(is_shipped(&TELLER.replace("Count?Then(n)", &long), &connected));
}

#[test]
fn a_block_over_two_connects_is_not_for_they_may_have_two_servers() {
    let Some(nats) = Nats::start(false) else { return };
    let name = nats.name("count");
    let program = TELLER.replace("REQUIRES Count;", "REQUIRES Count[2];").replace(
        "Count!Next(n); Count?Then(n)",
        "Count[1]!Next(n); Count[1]?Then(n); Count[2]!Next(n - 1); Count[2]?Then(n)",
    );
    let connect = |slot: usize| format!("CONNECT(Count[{slot}](guest), \"{name}\")");
    let connected = format!("EXPORT(Count(host), \"{name}\"); {}; {}", connect(1), connect(2));
    assert!(!is_shipped(&program, &connected));
}

#[test]
fn systems_are_worked_on_over_nats() {
    let Some(nats) = Nats::start(true) else { return };
    let folder = tempfile::tempdir().expect("there are temporary folders");
    let data = "a line of it\n".repeat(200_000);
    fs::write(folder.path().join("lines"), &data).expect("there is room");
    let name = nats.name("office.files");
    let _files = serving_at(&name, file_server(), folder.path(), &["folder=."], "shelf");
    let on_files = |arguments: &str| work("OnFiles.dry", &["../files/Shelf.dry"], &name, arguments);
    assert_eq!(on_files("count lines"), (format!("200000 800000 {}", data.len()), 0));
    assert_eq!(on_files("copy lines copy"), (format!("1 files, {} bytes", data.len()), 0));
    assert_eq!(fs::read(folder.path().join("copy")).expect("it is there"), data.as_bytes());
    assert_eq!(on_files("copy none x"), ("No such file or directory".into(), 1));
    let name = nats.name("office.store");
    let _store = serving_at(&name, key_value(), folder.path(), &["redis="], "store");
    let on_store = |arguments: &str| work("OnStore.dry", &["../keyvalue/Store.dry"], &name, arguments);
    assert_eq!(on_store("transfer a b 1"), ("a isn't there".into(), 1));
}

const CLIENT: &str = "
COMPONENT Main;
INTERFACE Count; { IN Next(n: INTEGER) OUT Then(n: INTEGER) } END Count;
COMPONENT Guest REQUIRES Count;
VARIABLE i, n: INTEGER;
BEGIN
  n := FIRST;
  FOR i := 1 TO TIMES DO
    IF i > 1 THEN PASSIVATE(8000) END;
    BEGIN {COMPOSITE} Count!Next(n); Count?Then(n) END;
    WRITE(n); WRITELINE
  END
END Guest;
VARIABLE guest: Guest;
BEGIN NEW(guest); CONNECT(Count(guest), \"NAME\"); DELETE(guest) END Main;
";

fn client(name: &str, first: usize, times: usize) -> TempDir {
    let text = CLIENT.replace("NAME", name).replace("FIRST", &first.to_string());
    folder_with(&text.replace("TIMES", &times.to_string()))
}

/// The error of a client whose block is lost by `deed` while it waits for the answer.
fn lost_by(nats: &mut Nats, deed: impl FnOnce(&mut Nats, Peer)) -> String {
    let name = nats.name("count");
    let (mut server, _folder) = server(&SERVER.replace("MORE", ""), &name);
    let folder = client(&name, 1001, 1);
    let client = Running::start(folder.path(), &["run", "program.dry"]);
    assert_eq!(server.line(), "asked");
    deed(nats, server);
    let output = client.output();
    assert_ne!(status(&output), 0);
    complaint(&output)
}

#[test]
fn a_block_is_lost_with_what_it_needs() {
    let Some(mut nats) = Nats::start(true) else { return };
    let said = complaint(&drystone(client(&nats.name("nobody"), 1, 1).path(), &["run", "program.dry"]));
    // The server was there all the time.
    assert!(said.contains("nobody is there for nobody") && !said.contains("shipped"), "{said}");
    let said = lost_by(&mut nats, |_, server| drop(server));
    assert!(said.contains("the block was shipped, and is lost: nats://"), "{said}");
    assert!(said.contains("its program is not there any more"), "{said}");
    let said = lost_by(&mut nats, |nats, _| nats.stop());
    assert!(said.contains("the block was shipped, and is lost: nats://"), "{said}");
    assert!(said.contains("the connection to NATS is cut"), "{said}");
}

#[test]
fn a_block_that_a_server_refuses_is_an_ordinary_one() {
    let Some(nats) = Nats::start(false) else { return };
    let name = nats.name("count");
    let text =
        SERVER.replace("MORE", "").replace("OUT Then(n: INTEGER) }", "OUT Then(n: INTEGER) | IN Other }");
    let (_server, _folder) = server(&text, &name);
    let output = drystone(client(&name, 6, 1).path(), &["run", "program.dry"]);
    assert_eq!((printed(&output).as_str(), status(&output)), ("7\n", 0), "{}", complaint(&output));
}

#[test]
fn a_block_goes_on_with_another_server_when_its_own_has_gone_between() {
    let Some(nats) = Nats::start(true) else { return };
    let name = nats.name("count");
    let connected = format!("EXPORT(Count(host), \"{name}\"); CONNECT(Count(guest), \"{name}\")");
    assert!(is_shipped(TELLER, &connected));
    let text = SERVER.replace("MORE", "");
    let (first, _folder) = server(&text, &name);
    let folder = client(&name, 6, 2);
    let mut client = Peer::start(folder.path(), DRYSTONE, &["run", "program.dry"]);
    assert_eq!(client.line(), "7");
    // The second server doesn't know the block's program.
    let (_second, _folder) = server(&text, &name);
    drop(first);
    assert_eq!(client.line(), "8");
}

/// A bridge from a TCP port, which is returned, to the exporter of a subject.
fn bridge(nats: u16, subject: &'static str) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there are ports");
    let port = listener.local_addr().expect("it is bound").port();
    thread::spawn(move || carry(&listener.accept()?.0, nats, subject));
    port
}

fn envelope(kind: u32, sent: u64, bytes: &[u8]) -> Vec<u8> {
    // Received bytes are acknowledged only by the megabyte.
    [b"DryN", &kind.to_be_bytes()[..], &sent.to_be_bytes(), &[0; 8], bytes].concat()
}

fn carry(mut client: &TcpStream, nats: u16, subject: &str) -> io::Result<()> {
    let mut stream = TcpStream::connect(("127.0.0.1", nats))?;
    stream.write_all(b"CONNECT {\"verbose\":false,\"headers\":true}\r\nSUB _INBOX.bridge.1 1\r\n")?;
    let there = Arc::new(OnceLock::new());
    let back = {
        let (there, reader, client) =
            (there.clone(), BufReader::new(stream.try_clone()?), client.try_clone()?);
        thread::spawn(move || carry_back(reader, client, &there))
    };
    let (mut bytes, mut sent) = (vec![0; 64 * 1024], 0);
    loop {
        let count = client.read(&mut bytes)?;
        if count == 0 {
            stream.shutdown(Shutdown::Both)?;
            return back.join().expect("it reads until then");
        }
        let (kind, subject) = if sent == 0 { (1, subject) } else { (2, there.wait().as_str()) };
        let payload = envelope(kind, sent, &bytes[..count]);
        write!(stream, "PUB {subject} _INBOX.bridge.1 {}\r\n", payload.len())?;
        stream.write_all(&[&payload, &b"\r\n"[..]].concat())?;
        sent += count as u64;
    }
}

fn carry_back(mut reader: impl BufRead, mut client: TcpStream, there: &OnceLock<String>) -> io::Result<()> {
    let mut line = String::new();
    while reader.read_line(&mut line)? > 0 {
        if let ["MSG", _, _, from, length] = line.split_whitespace().collect::<Vec<_>>()[..] {
            let mut payload = vec![0; length.parse::<usize>().expect("a length") + 2];
            reader.read_exact(&mut payload)?;
            there.get_or_init(|| from.to_string());
            if payload[7] == 2 {
                client.write_all(&payload[24..payload.len() - 2])?;
            }
        }
        line.clear();
    }
    Ok(())
}

#[test]
fn a_block_reaches_what_is_exported_at_its_subject_and_nothing_else() {
    let Some(nats) = Nats::start(false) else { return };
    let text = SERVER.replace("MORE", &format!("EXPORT(Count(host), \"{}\");", nats.name("secret")));
    let (_server, _folder) = server(&text, &nats.name("count"));
    let mut server = drystone_client::Server::connect(("127.0.0.1", bridge(nats.port, "count"))).unwrap();
    let vars = Builder::new();
    let count = vars.communication(&server.describe("count").unwrap());
    let n = vars.both::<i64>();
    let program = vars.program(sequence([count.call("Next", (n,), "Then", (n,))])).unwrap();
    let table = || VarTable::of(&program).unwrap();
    let refused = server.run(&program, &["secret"], table(), 1000).unwrap_err();
    assert!(matches!(&refused, Error::Refused(why) if why == "nothing is exported as secret"), "{refused}");
    let outcome = server.run(&program, &["count"], table(), 1000).unwrap();
    assert!(matches!(&outcome, Outcome::Ended(table) if table.value(n) == Some(1)), "{outcome:?}");
    assert!(server.describe("secret").is_err());
}
