//! Composite calls: the client in Python ships programs to servers that needed no change.

use std::path::Path;
use std::process::Command;

use drystone_client::composite::builder::{Builder, Text, repeat, sequence, text, while_};
use drystone_client::composite::{Fault, VarTable};
use drystone_client::{Error, Outcome, Stop, elements, held};

use crate::bindings::Server;
use crate::peer::Peer;
use crate::{DRYSTONE, complaint, drystone, folder_with, printed, status};
use drystone_golden::free_port;

const SERVER: &str = "
COMPONENT Main;
INTERFACE Store; { IN Put(key, x: TEXT) | IN Get(key: TEXT) ( OUT Value(x: TEXT) | OUT Missing ) } END Store;
INTERFACE Count; { IN Next(n: INTEGER) OUT Then(n: INTEGER) } END Count;
RECORD Nothing; END Nothing;
RECORD Place; name: TEXT; known: BOOLEAN; no: Nothing END Place;
RECORD Point; x: INTEGER; at: Place; weight: REAL END Point;
RECORD Entry; key: TEXT; sizes: SEQUENCE OF INTEGER; no: Nothing; p: Point; c: CHARACTER END Entry;
INTERFACE Shapes;
  { IN Put(p: Point; all: SEQUENCE OF Entry) OUT Got(all: SEQUENCE OF Entry; p: Point)
  | IN Deep(x: SEQUENCE OF SEQUENCE OF SEQUENCE OF REAL; e: SEQUENCE OF Nothing)
    OUT Back(x: SEQUENCE OF SEQUENCE OF SEQUENCE OF REAL; e: SEQUENCE OF Nothing)
  | IN Many(n: INTEGER) OUT Numbers(all: SEQUENCE OF INTEGER) }
END Shapes;
COMPONENT Host OFFERS Store, Count, Shapes;
  IMPLEMENTATION Shapes;
  VARIABLE p: Point; all: SEQUENCE OF Entry; x: SEQUENCE OF SEQUENCE OF SEQUENCE OF REAL; e: SEQUENCE OF Nothing;
    n: INTEGER; numbers: SEQUENCE OF INTEGER;
  BEGIN
    WHILE ?ANY DO
      IF ?Put THEN
        ?Put(p, all);
        APPEND(all, Entry(key: p.at.name, sizes: [p.x, -1], p: p));
        p.x := COUNT(all); p.at.known := ~p.at.known; !Got(all, p)
      ELSIF ?Deep THEN
        ?Deep(x, e); APPEND(x, []); APPEND(e, Nothing()); !Back(x, e)
      ELSE
        ?Many(n); NEW(numbers, n); IF n > 0 THEN numbers[n - 1] := n END; !Numbers(numbers)
      END
    END
  END Shapes;
  VARIABLE value[key: TEXT]: TEXT;
  IMPLEMENTATION Store;
  VARIABLE key, x: TEXT;
  BEGIN
    WHILE ?Put OR ?Get DO
      IF ?Put THEN ?Put(key, x); BEGIN {EXCLUSIVE} value[key] := x END
      ELSE
        ?Get(key);
        BEGIN {SHARED} IF EXISTS(value[key]) THEN !Value(value[key]) ELSE !Missing END END
      END
    END
  END Store;
  IMPLEMENTATION Count;
  VARIABLE n: INTEGER;
  BEGIN WHILE ?Next DO ?Next(n); !Then(n + 1) END END Count;
END Host;
VARIABLE host: Host;
BEGIN
  NEW(host); EXPORT(Store(host), \"tcp://127.0.0.1:PORT/store\"); EXPORT(Count(host), \"tcp://127.0.0.1:PORT/count\");
  EXPORT(Shapes(host), \"tcp://127.0.0.1:PORT/shapes\");
  WRITE(\"ready\"); WRITELINE; PASSIVATE(600000)
END Main;
";

#[test]
fn programs_in_python_run_at_a_server_that_knows_nothing_of_them() {
    let port = free_port();
    let folder = folder_with(&SERVER.replace(":PORT", &format!(":{port}")));
    let _server = Server::start(folder.path(), &["run", "program.dry"]);
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../clients/python/tests/test_composite.py");
    let mut python = Command::new("python3");
    python.arg("-B").arg(tests).env("PORT", port.to_string());
    let Ok(output) = python.output() else { return drystone_golden::skipped("there is no python3") };
    assert_eq!(status(&output), 0, "{}", complaint(&output));
}

#[test]
fn programs_in_rust_run_there_too() {
    let port = free_port();
    let folder = folder_with(&SERVER.replace(":PORT", &format!(":{port}")));
    let _server = Server::start(folder.path(), &["run", "program.dry"]);
    let mut server = drystone_client::Server::connect(("127.0.0.1", port)).expect("it listens");
    let (store, count) = (server.describe("store").unwrap(), server.describe("count").unwrap());

    let vars = Builder::new();
    let (store, count) = (vars.communication(&store), vars.communication(&count));
    let (n, told, divisor) = (vars.both::<i64>(), vars.out::<Text>(), vars.both::<i64>());
    let program = vars.program(sequence([
        repeat(&vars, 100, count.call("Next", (n,), "Then", (n,))),
        store.send("Put", (text("n"), n.to_text())),
        store.call("Get", (text("n"),), "Value", (told,)),
        n.set((n + 0).div(divisor)),
    ]));
    let program = program.unwrap();
    let table = || {
        let mut table = VarTable::of(&program).unwrap();
        table.assign(n, 7).unwrap();
        table
    };
    for _ in 0..3 {
        let stopped = server.run(&program, &["store", "count"], table(), 1000).unwrap();
        let Outcome::Stopped { why, mut table, .. } = stopped else { panic!("{stopped:?}") };
        assert_eq!(
            (why, table.value(told)),
            (Stop::Fault(Fault::DivisionByZero), Some(Text::from(&b"107"[..])))
        );
        table.assign(divisor, 2).unwrap();
        let ended = server.resume(table, true, 1000).unwrap();
        assert_eq!(ended.table().value(n), Some(53), "{ended:?}");
    }

    let vars = Builder::new();
    let n = vars.out::<i64>();
    let endless = vars.program(while_(true, n.set(n + 1))).unwrap();
    let stopped = server.run(&endless, &[], VarTable::of(&endless).unwrap(), 500).unwrap();
    assert!(matches!(stopped, Outcome::Stopped { why: Stop::Budget, .. }), "{stopped:?}");
    // The stopped run is discarded.
    let refused = server.run(&program, &["store", "nothing"], table(), 1000).unwrap_err();
    let is_told = matches!(&refused, Error::Refused(why) if why == "nothing is exported as nothing");
    assert!(is_told, "{refused}");
    assert!(server.run(&program, &["store", "count"], table(), 1000).is_ok());
}

#[test]
fn programs_in_rust_hold_sequences_in_texts() {
    let port = free_port();
    let folder = folder_with(&SERVER.replace(":PORT", &format!(":{port}")));
    let _server = Server::start(folder.path(), &["run", "program.dry"]);
    let mut server = drystone_client::Server::connect(("127.0.0.1", port)).expect("it listens");
    let shapes = server.describe("shapes").unwrap();
    // The values of the record come first.
    let form = shapes.form(0, 4).map(|form| form.text().to_string());
    let point = "(x:i,at:(name:t,known:b,no:()),weight:r)";
    assert_eq!(form, Some(format!("[(key:t,sizes:[i,no:(),p:{point},c:c)")));

    type Entry = (Text, Vec<i64>, (), (i64, (Text, bool, ()), f64), u8);
    let vars = Builder::new();
    let shapes = vars.communication(&shapes);
    let (x, known, weight) = (vars.both::<i64>(), vars.local::<bool>(), vars.local::<f64>());
    let (name, all) = (vars.both::<Text>(), vars.both::<Text>());
    let put = shapes.call("Put", (x, name, known, weight, all), "Got", (all, x, name, known, weight));
    let program = vars.program(sequence([put])).unwrap();
    let mut table = VarTable::of(&program).unwrap();
    table.assign(name, Text::from(&b"n"[..])).unwrap();
    table.assign(all, held::<Entry>(&[])).unwrap();
    let ended = server.run(&program, &["shapes"], table, 1000).unwrap();
    let got = elements::<Entry>(&ended.table().value(all).unwrap()).unwrap();
    let name = || Text::from(&b"n"[..]);
    assert_eq!(got, [(name(), vec![0, -1], (), (0, (name(), false, ()), 0.0), 0)]);
    assert_eq!(ended.table().value(x), Some(1));
}

#[test]
fn long_programs_of_many_clients_become_ready_beside_each_other() {
    let port = free_port();
    let folder = folder_with(&SERVER.replace(":PORT", &format!(":{port}")));
    let _server = Server::start(folder.path(), &["run", "program.dry"]);
    let client = |number: i64| {
        let mut server = drystone_client::Server::connect(("127.0.0.1", port)).expect("it listens");
        let vars = Builder::new();
        let (n, divisor) = (vars.both::<i64>(), vars.both::<i64>());
        let mut steps: Vec<_> = (0..500).map(|step| n.set((n * 3 + step * number).modulo(1000))).collect();
        steps.push(n.set(n.div(divisor)));
        let program = vars.program(sequence(steps)).unwrap();
        let sum = (0..500).fold(7, |n, step| (n * 3 + step * number) % 1000);
        for divisor_now in [1, 0, 1] {
            let mut table = VarTable::of(&program).unwrap();
            table.assign(n, 7).unwrap();
            table.assign(divisor, divisor_now).unwrap();
            let outcome = server.run(&program, &[], table, 10_000).unwrap();
            assert_eq!(matches!(outcome, Outcome::Ended(_)), divisor_now == 1, "{outcome:?}");
            assert_eq!(outcome.table().value(n), Some(sum));
        }
        // A program that is refused when it is checked.
        let vars = Builder::new();
        let n = vars.both::<i64>();
        let steps: Vec<_> = (0..5000).map(|step| n.set(n + step)).collect();
        let program = vars.program(sequence(steps)).unwrap();
        let refused = server.run(&program, &[], VarTable::of(&program).unwrap(), 10_000).unwrap_err();
        assert!(matches!(&refused, Error::Refused(why) if why.contains("split it")), "{refused}");
    };
    std::thread::scope(|scope| {
        let clients: Vec<_> = (1..9).map(|number| scope.spawn(move || client(number))).collect();
        clients.into_iter().for_each(|client| client.join().unwrap());
    });
}

/// The interface, as the book has it.
const SERVICE: &str = "INTERFACE CompositeCalls;
  { IN Run(program, names, table: TEXT; rounds: INTEGER)
    { OUT Stopped(fault, location: INTEGER; why, table: TEXT) IN Resume(table: TEXT; rounds: INTEGER) }
    ( OUT Ended(table: TEXT) | OUT Unknown | OUT Refused(why: TEXT) ) }
END CompositeCalls;
";

const CLIENT: &str = "
COMPONENT Main;
SERVICE
COMPONENT Client REQUIRES CompositeCalls;
VARIABLE why: TEXT;
BEGIN
  CompositeCalls!Run(\"no program\", \"\\x00\\x00\\x00\\x00\", \"\", 100);
  IF CompositeCalls?Refused THEN CompositeCalls?Refused(why); WRITE(why) ELSE WRITE(\"else\") END; WRITELINE;
  CompositeCalls!Run(\"01234567890123456789012345678901\", \"\\x00\\x00\\x00\\x00\", \"\", 100);
  CompositeCalls?Unknown; WRITE(\"unknown\"); WRITELINE
END Client;
VARIABLE client: Client;
BEGIN
  NEW(client); CONNECT(CompositeCalls(client), \"tcp://127.0.0.1:PORT/drystone:composite\")
END Main;
";

/// A client of the service, in which the line `SERVICE` stands for the interface, prints this and succeeds.
#[track_caller]
fn client_writes(client: &str, expected: &str) {
    let port = format!(":{}", free_port());
    let folder = folder_with(&SERVER.replace(":PORT", &port));
    let _server = Server::start(folder.path(), &["run", "program.dry"]);
    let client = client.replacen("SERVICE\n", SERVICE, 1).replace(":PORT", &port);
    let output = drystone(folder_with(&client).path(), &["run", "program.dry"]);
    assert_eq!((printed(&output).as_str(), status(&output)), (expected, 0), "{}", complaint(&output));
}

#[test]
fn the_service_has_the_interface_that_the_book_says() {
    client_writes(CLIENT, "these bytes are no program: they don't begin as one\nunknown\n");
}

/// The clients ship programs that take all memory that they can get, and keep it after they have stopped.
#[test]
fn clients_that_hoard_leave_room_for_others() {
    let port = free_port();
    let folder = folder_with(&SERVER.replace(":PORT", &format!(":{port}")));
    let mut server = Peer::start(folder.path(), DRYSTONE, &["run", "program.dry"]);
    assert_eq!(server.line(), "ready");
    let connect = || drystone_client::Server::connect(("127.0.0.1", port)).expect("it listens");
    let vars = Builder::new();
    let all = vars.local::<Text>();
    let hoarder =
        vars.program(sequence([all.set(text("0123456789abcdef")), while_(true, all.set(all + all))]));
    let hoarder = hoarder.unwrap();
    let hoard = |client: &mut drystone_client::Server| {
        let stopped = client.run(&hoarder, &[], VarTable::of(&hoarder).unwrap(), 10_000_000).unwrap();
        assert!(
            matches!(stopped, Outcome::Stopped { why: Stop::Fault(Fault::OutOfMemory), .. }),
            "{stopped:?}"
        );
    };
    let before = server.memory();
    let mut hoarders: Vec<_> = (0..60).map(|_| connect()).collect();
    hoarders.iter_mut().for_each(hoard);
    let more = server.memory() - before;
    assert!(more < 400 << 10, "{more} kB");
    // A new client still gets a little memory.
    let vars = Builder::new();
    let (n, told) = (vars.local::<i64>(), vars.out::<Text>());
    let small = vars
        .program(repeat(&vars, 1000, sequence([n.set(n + 1), told.set(told + text("0123456789"))])))
        .unwrap();
    let ended = connect().run(&small, &[], VarTable::of(&small).unwrap(), 100_000).unwrap();
    assert!(
        matches!(&ended, Outcome::Ended(table) if table.value(told).is_some_and(|it| it.len() == 10_000))
    );
    drop(hoarders);
}

/// Slow programs to prepare, more than one connection may have.
const CROWD: &str = "
COMPONENT Main;
SERVICE
INTERFACE Told; OUT Told(why: TEXT) END Told;
COMPONENT Client OFFERS Told REQUIRES CompositeCalls;
  VARIABLE program, why: TEXT; told: BOOLEAN;
  IMPLEMENTATION Told;
  BEGIN {SHARED} AWAIT(told); !Told(why) END Told;
  VARIABLE i: INTEGER; said: TEXT;
ACTIVITY
  program := \"no program, which takes some time to be found out\";
  FOR i := 1 TO 10 DO program := program + program END;
  CompositeCalls!Run(program, \"\\x00\\x00\\x00\\x00\", \"\", 100);
  CompositeCalls?Refused(said);
  BEGIN {EXCLUSIVE} why := said; told := TRUE END
END Client;
VARIABLE client[i: INTEGER]: Client; i, tooMany: INTEGER; why: TEXT;
BEGIN
  FOR i := 1 TO 100 DO
    NEW(client[i]); CONNECT(CompositeCalls(client[i]), \"tcp://127.0.0.1:PORT/drystone:composite\")
  END;
  FOR i := 1 TO 100 DO
    client[i]?Told(why);
    IF FIND(why, \"a client may have 16 runs at once\", 0) = 0 THEN INC(tooMany)
    ELSE ASSERT(FIND(why, \"these bytes are no program\", 0) = 0) END
  END;
  WRITE((tooMany > 0) AND (tooMany <= 84)); WRITELINE
END Main;
";

#[test]
fn programs_that_wait_to_be_prepared_are_counted() {
    client_writes(CROWD, "TRUE\n");
}

#[test]
fn a_server_may_take_no_composites() {
    let port = free_port();
    let server = SERVER.replace(":PORT/count\")", ":PORT/count\") BY Tcp(composites: FALSE)");
    let folder = folder_with(&server.replace(":PORT", &format!(":{port}")));
    let _server = Server::start(folder.path(), &["run", "program.dry"]);
    let mut server = drystone_client::Server::connect(("127.0.0.1", port)).expect("it listens");
    assert!(server.describe("store").is_ok());
    let vars = Builder::new();
    let n = vars.out::<i64>();
    let program = vars.program(n.set(1)).unwrap();
    let refused = server.run(&program, &[], VarTable::of(&program).unwrap(), 100);
    assert!(refused.is_err(), "{refused:?}");
}
