//! Shipped blocks do the same as blocks that aren't shipped.

mod absent;
mod blocks;

use crate::faults::random;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Output;

use drystone_client::Server;
use drystone_client::composite::VarTable;
use drystone_client::composite::builder::{Builder, sequence, text};
use tempfile::TempDir;

use crate::counted::Counted;
use crate::nats::Nats;
use crate::peer::Peer;
use crate::places::platforms;
use crate::servers::{file_server, key_value, system};
use crate::{DRYSTONE, complaint, drystone, folder_with, printed, status};
use drystone_golden::free_port;

/// A program's output, error and status.
fn summary(output: &Output) -> (String, Option<String>, i32) {
    let error = complaint(output).lines().find(|line| line.starts_with("error")).map(str::to_string);
    (printed(output), error, status(output))
}

#[test]
fn a_block_does_the_same_wherever_it_runs() {
    let count = std::env::var("BLOCKS").map_or(40, |count| count.parse().expect("a number"));
    let mut random = random(std::env::var("SEED").map_or(0x5a1b, |seed| seed.parse().expect("a number")));
    let (mut ended_well, mut refused) = (0, 0);
    let nats = Nats::start(false);
    let machine = platforms().find(|platform| platform.is_bare());
    for round in 0..count {
        // Without NATS, TCP is used again.
        let other = nats.as_ref().map(|nats| nats.name(&format!("round{round}.")));
        let tcp = || format!("tcp://127.0.0.1:{}/", free_port());
        let programs = blocks::programs(&mut random, [tcp(), other.unwrap_or_else(tcp)]);
        let [here, there, over_nats, apart] = programs
            .each_ref()
            .map(|program| summary(&drystone(folder_with(program).path(), &["run", "program.dry"])));
        assert_eq!(here, there, "{}", programs[1]);
        assert_eq!(here, over_nats, "{}", programs[2]);
        assert_eq!(here, apart, "{}", programs[3]);
        // On a machine, blocks aren't shipped, and do the same.
        if let Some(machine) = machine.filter(|_| round % 2 == 0) {
            assert_eq!(here, summary(&machine.run_text(&programs[3])), "{}", programs[3]);
        }
        ended_well += usize::from(here.2 == 0);
        // The compiler reports some divisions by zero.
        refused += usize::from(here.2 == 2);
    }
    assert!(ended_well > count / 4 && refused < count / 4, "{ended_well}, {refused} of {count}");
}

/// A server that reports requests for more than a thousand, and doesn't answer them.
pub const SERVER: &str = "
COMPONENT Main;
INTERFACE Count; { IN Next(n: INTEGER) OUT Then(n: INTEGER) } END Count;
COMPONENT Host OFFERS Count;
  IMPLEMENTATION Count;
  VARIABLE n: INTEGER;
  BEGIN
    WHILE ?Next DO
      ?Next(n);
      IF n > 1000 THEN WRITE(\"asked\"); WRITELINE; PASSIVATE(600000) END;
      !Then(n + 1)
    END
  END Count;
END Host;
VARIABLE host: Host;
BEGIN
  NEW(host); EXPORT(Count(host), \"NAME\"); MORE WRITE(\"ready\"); WRITELINE; PASSIVATE(600000)
END Main;
";

/// Starts it, exported by a name.
pub fn server(text: &str, name: &str) -> (Peer, TempDir) {
    let folder = folder_with(&text.replace("NAME", name));
    let mut server = Peer::start(folder.path(), DRYSTONE, &["run", "program.dry"]);
    assert_eq!(server.line(), "ready");
    (server, folder)
}

pub const TELLER: &str = "
COMPONENT Main;
INTERFACE Count; { IN Next(n: INTEGER) OUT Then(n: INTEGER) } END Count;
COMPONENT Host OFFERS Count;
  IMPLEMENTATION Count;
  VARIABLE n: INTEGER;
  BEGIN WHILE ?Next DO ?Next(n); !Then(n + 1) END END Count;
END Host;
COMPONENT Guest REQUIRES Count;
  VARIABLE i, n: INTEGER;
ACTIVITY
  FOR i := 1 TO 3 DO
    BEGIN {COMPOSITE} WHILE n < 100 * i DO Count!Next(n); Count?Then(n) END END
  END;
  WRITE(n); WRITELINE; PASSIVATE(600000)
END Guest;
VARIABLE host: Host; guest: Guest;
BEGIN
  NEW(host); NEW(guest); CONNECTED
END Main;
";

/// The requirements of a guest that has finished, as `inspect` shows them; the program is a [`TELLER`].
pub fn requirements(program: &str, connected: &str) -> Vec<String> {
    let folder = folder_with(&program.replace("CONNECTED", connected));
    let mut program = Peer::start(folder.path(), DRYSTONE, &["run", "--control", "socket", "program.dry"]);
    assert_eq!(program.line(), "300");
    let shown = printed(&drystone(folder.path(), &["inspect", "socket"]));
    shown.lines().filter_map(|line| line.trim().strip_prefix("requires ").map(str::to_string)).collect()
}

#[test]
fn a_block_is_shipped_where_that_is_possible() {
    let port = free_port();
    let name = format!("tcp://127.0.0.1:{port}/count");
    let far = format!("EXPORT(Count(host), \"{name}\"); CONNECT(Count(guest), \"{name}\")");
    let is_shipped = |connected: &str| {
        requirements(TELLER, connected).iter().any(|it| it.starts_with("COMPOSITE of tcp:"))
    };
    assert!(is_shipped(&far), "{:?}", requirements(TELLER, &far));
    for kept in [
        "CONNECT(Count(guest), host)".to_string(),
        far.clone() + " BY Monitored()",
        far.clone() + " BY Retried(messages: \"Next\")",
    ] {
        assert!(!is_shipped(&kept), "{kept}: {:?}", requirements(TELLER, &kept));
    }
}

/// A thousand calls with records and sequences, of which 100000 numbers come back; and an error in the midst of them.
const VALUES: &str = "
RECORD Nothing; END Nothing;
RECORD Place; name: TEXT; no: Nothing END Place;
RECORD Step; at: Place; n: INTEGER; names: SEQUENCE OF SEQUENCE OF TEXT END Step;
COMPONENT Main;
INTERFACE Walk;
  { IN Go(from: Step; all: SEQUENCE OF Step) OUT Came(to: Step; all: SEQUENCE OF Step)
  | IN Fill(n: INTEGER) OUT Filled(all: SEQUENCE OF INTEGER)
  | IN Add(all: SEQUENCE OF INTEGER) OUT Sum(n: INTEGER) }
END Walk;
COMPONENT Host OFFERS Walk;
  IMPLEMENTATION Walk;
  VARIABLE step: Step; all: SEQUENCE OF Step; numbers: SEQUENCE OF INTEGER; n, i: INTEGER;
  BEGIN
    WHILE ?ANY DO
      CASE ? OF
      | Go(from, steps):
        step := from; all := steps; INC(step.n);
        IF COUNT(all) < 3 THEN APPEND(all, step) END;
        IF step.n = 1 THEN APPEND(step.names, [\"deep\"]); APPEND(step.names, []) END;
        !Came(step, all)
      | Fill(n): NEW(numbers, n); !Filled(numbers)
      | Add(numbers): n := COUNT(numbers); FOR i := 0 TO COUNT(numbers) - 1 DO n := n + numbers[i] END; !Sum(n)
      END
    END
  END Walk;
END Host;
COMPONENT Guest REQUIRES Walk;
VARIABLE step, last: Step; all: SEQUENCE OF Step; numbers: SEQUENCE OF INTEGER; i, n, sum: INTEGER;
ACTIVITY
  step.at.name := \"begin\";
  BEGIN {COMPOSITE}
    FOR i := 1 TO 1000 DO Walk!Go(step, all); Walk?Came(step, all) END;
    last := Step(n: step.n, at: step.at, names: step.names); n := COUNT(all) + last.n; step := Step();
    Walk!Fill(100000); Walk?Filled(numbers); Walk!Add(numbers); Walk?Sum(sum)
  END;
  WRITE(n); WRITE(sum); WRITE(COUNT(numbers)); WRITE(step = Step()); WRITE(last.at.name); WRITE(COUNT(last.names));
  WRITE(last.names[0] = [\"deep\"]); WRITE(all[2].n); WRITELINE;
  BEGIN {COMPOSITE}
    Walk!Go(step, []); Walk?Came(step, all); ASSERT(step.n + COUNT(all) = 7)
  END
END Guest;
VARIABLE host: Host; guest: Guest;
BEGIN NEW(host); NEW(guest); CONNECTIONS END Main;
";

#[test]
fn records_and_sequences_are_shipped_and_come_back() {
    let port = free_port();
    let way = Counted::way_to(port);
    let far = format!(
        "EXPORT(Walk(host), \"tcp://127.0.0.1:{port}/walk\"); \
         CONNECT(Walk(guest), \"tcp://127.0.0.1:{}/walk\")",
        way.port
    );
    let near = "CONNECT(Walk(guest), host)";
    let [here, there] = [near, &far].map(|connections| {
        let program = VALUES.replace("CONNECTIONS", connections);
        summary(&drystone(folder_with(&program).path(), &["run", "program.dry"]))
    });
    assert_eq!(here, there);
    assert_eq!(here.0, "1003100000100000TRUEbegin2TRUE3\n");
    assert!(here.1.expect("it fails").contains("assertion failed"));
    // The numbers come back; nothing else takes so much, and the calls would take twice as much by themselves.
    let bytes = way.bytes();
    assert!((800_000..850_000).contains(&bytes), "{bytes} bytes went by way of the client");
}

/// Without shipping, the clients call, and notice no difference.
#[test]
fn a_server_may_take_no_blocks() {
    let folder = tempfile::tempdir().expect("there are temporary folders");
    let redis = format!("127.0.0.1:{}", free_port());
    let options = [&format!("redis={redis}"), "composites=no"];
    let (_server, name) = serving(key_value(), folder.path(), &options, "store");
    let mut other = TcpStream::connect(redis).expect("it listens");
    other.write_all(b"MSET a 100 n:1 1\r\nQUIT\r\n").expect("it reads");
    let mut said = String::new();
    other.read_to_string(&mut said).expect("it answers");
    assert_eq!(said, "+OK\r\n+OK\r\n");
    let mut client = Server::connect(name[6..].split('/').next().unwrap()).expect("it listens");
    let (vars, store) = (Builder::new(), client.describe("store").unwrap());
    let put = vars.communication(&store).call("Set", (text("a"), text("0")), "Done", ());
    let program = vars.program(sequence([put])).unwrap();
    let table = VarTable::of(&program).unwrap();
    let refused = client.run(&program, &["store"], table, 1000);
    assert!(refused.is_err(), "{refused:?}");
    let work = |arguments: &str| work("OnStore.dry", &["../keyvalue/Store.dry"], &name, arguments);
    assert_eq!(work("transfer a b 30"), ("1".into(), 0));
    assert_eq!(work("raise n: 10"), ("1".into(), 0));
    assert_eq!(work("follow b"), ("30 after 1 steps".into(), 0));
}

/// A server of `systems/` at a new name of this kind.
fn serving(program: &Path, folder: &Path, arguments: &[&str], kind: &str) -> (Peer, String) {
    let name = format!("tcp://127.0.0.1:{}/{kind}", free_port());
    (serving_at(&name, program, folder, arguments, kind), name)
}

/// The same at a given name.
pub fn serving_at(name: &str, program: &Path, folder: &Path, arguments: &[&str], kind: &str) -> Peer {
    let named = format!("{kind}={name}");
    let arguments = [arguments, &[&named]].concat();
    let mut server = Peer::start(folder, program.to_str().expect("a plain path"), &arguments);
    assert_eq!(server.line(), "ready");
    server
}

/// The output and status of a program of `systems/composites`.
pub fn work(program: &str, interfaces: &[&str], name: &str, arguments: &str) -> (String, i32) {
    let files = ["run", program].into_iter().chain(interfaces.iter().copied());
    let arguments: Vec<_> = files.chain([name]).chain(arguments.split(' ')).collect();
    let output = drystone(&system("composites"), &arguments);
    assert_eq!(complaint(&output), "");
    (printed(&output).trim_end().to_string(), status(&output))
}

#[test]
fn files_are_worked_on_where_they_are() {
    let folder = tempfile::tempdir().expect("there are temporary folders");
    let at = |name: &str| folder.path().join(name);
    fs::create_dir_all(at("a/b/c")).expect("it is empty");
    let lines: String = (0..200_000).map(|n| format!("{n} is  a\tnumber\n")).collect();
    fs::write(at("a/lines"), &lines).expect("there is room");
    fs::write(at("a/b/c/one"), "one").expect("there is room");
    fs::write(at("a/b/none"), "").expect("there is room");
    let (_server, name) = serving(file_server(), folder.path(), &["folder=."], "shelf");
    let work = |arguments: &str| work("OnFiles.dry", &["../files/Shelf.dry"], &name, arguments);
    let size = lines.len();
    assert_eq!(work("count a/lines"), (format!("200000 800000 {size}"), 0));
    assert_eq!(work("copy a/lines copy"), (format!("1 files, {size} bytes"), 0));
    assert_eq!(fs::read(at("copy")).expect("it is there"), lines.as_bytes());
    assert_eq!(work("tree a t"), (format!("3 files, {} bytes", size + 3), 0));
    for name in ["lines", "b/c/one", "b/none"] {
        assert_eq!(fs::read(at("a").join(name)).unwrap(), fs::read(at("t").join(name)).unwrap(), "{name}");
    }
    assert_eq!(work("copy none x"), ("No such file or directory".into(), 1));
    assert_eq!(work("copy ../x y"), ("not a name within the folder".into(), 1));
    assert_eq!(work("tree a t"), ("File exists".into(), 1));
    assert_eq!(work("tree a").1, 2);
    // A file that is overwritten while it is read, or grows while it is copied, would never end.
    for (what, to) in
        [("copy copy", "./copy"), ("copy t//lines", "t/./lines"), ("tree a", "a/b/new"), ("tree t", "t/")]
    {
        let said = format!("{to} is, or is in, what is to be copied");
        assert_eq!(work(&format!("{what} {to}")), (said, 1));
    }
    assert_eq!(fs::read(at("copy")).expect("it is there"), lines.as_bytes());
    assert_eq!(work("tree a/b a/bb"), ("2 files, 3 bytes".into(), 0));
}

#[test]
fn a_file_goes_from_server_to_server_and_not_by_way_of_the_client() {
    let [here, there] = [(); 2].map(|()| tempfile::tempdir().expect("there are temporary folders"));
    let data: Vec<u8> = (0..4_000_000_u32).map(|n| (n.wrapping_mul(n) >> 7) as u8).collect();
    fs::write(here.path().join("old"), &data).expect("there is room");
    let (second, its_name) = serving(file_server(), there.path(), &["folder=."], "shelf");
    let options = ["folder=.", &format!("second={its_name}")];
    let (_first, name) = serving(file_server(), here.path(), &options, "shelf");
    let port = name.split([':', '/']).nth(4).and_then(|port| port.parse().ok()).expect("a port");
    let way = Counted::way_to(port);
    let name = format!("tcp://127.0.0.1:{}/shelf", way.port);
    let work = |arguments: &str| work("OnTwo.dry", &["../files/Shelf.dry"], &name, arguments);
    assert_eq!(work("old new"), (format!("{} bytes", data.len()), 0));
    assert!(fs::read(there.path().join("new")).expect("it is there") == data);
    assert!(way.bytes() < 10_000, "{} bytes went by way of the client", way.bytes());
    assert_eq!(work("none new"), ("No such file or directory".into(), 1));
    assert_eq!(work("old ../new"), ("not a name within the folder".into(), 1));
    drop(second);
    assert_eq!(work("old new"), ("the second server isn't there".into(), 1));
}

#[test]
fn what_is_stored_is_worked_on_where_it_is() {
    let folder = tempfile::tempdir().expect("there are temporary folders");
    let (_server, name) = serving(key_value(), folder.path(), &["redis="], "store");
    let work = |arguments: &str| work("OnStore.dry", &["../keyvalue/Store.dry"], &name, arguments);
    assert_eq!(work("transfer a b 1"), ("a isn't there".into(), 1));
    // Writing creates a missing file.
    let mut server = Server::connect(name[6..].split('/').next().unwrap()).expect("it listens");
    let store = server.describe("store").unwrap();
    let vars = Builder::new();
    let store = vars.communication(&store);
    let put = |key: &str, x: &str| store.call("Set", (text(key), text(x)), "Done", ());
    let values = [
        ("a", "100"),
        ("n:1", "1"),
        ("n:2", "2"),
        ("w", "a"),
        ("in", "circle"),
        ("circle", "back"),
        ("back", "circle"),
    ];
    let program = vars.program(sequence(values.map(|(key, x)| put(key, x)))).unwrap();
    let table = VarTable::of(&program).unwrap();
    server.run(&program, &["store"], table, 1000).unwrap();
    assert_eq!(work("transfer a b 30"), ("1".into(), 0));
    assert_eq!(work("transfer a b 71"), ("a holds 70 only".into(), 1));
    assert_eq!(work("transfer a w 7"), ("value is not an integer or out of range".into(), 1));
    assert_eq!(work("transfer w a 7"), ("w holds no number".into(), 1));
    assert_eq!(work("raise n: 10"), ("2".into(), 0));
    assert_eq!(work("follow w"), ("70 after 2 steps".into(), 0));
    assert_eq!(work("follow n:2"), ("12 after 1 steps".into(), 0));
    assert_eq!(work("follow b"), ("30 after 1 steps".into(), 0));
    assert_eq!(work("follow in"), ("back leads back to itself".into(), 1));
}
