//! Blocks whose server isn't there: nobody has heard of them, so they do what they would do without being shipped.

use std::time::Duration;

use crate::nats::Nats;
use crate::peer::Peer;
use crate::tcp::port;
use crate::{DRYSTONE, complaint, drystone, folder_with, printed, status};

const SERVER: &str = "
COMPONENT Main;
INTERFACE Count; { IN Next(n: INTEGER) OUT Then(n: INTEGER) } END Count;
COMPONENT Host OFFERS Count;
  IMPLEMENTATION Count;
  VARIABLE n: INTEGER;
  BEGIN WHILE ?Next DO ?Next(n); !Then(n + 1) END END Count;
END Host;
VARIABLE host: Host;
BEGIN NEW(host); EXPORT(Count(host), \"NAME\"); WRITE(\"ready\"); WRITELINE; PASSIVATE(600000) END Main;
";

/// Says what the server says, or that there is none.
const CLIENT: &str = "
COMPONENT Main;
INTERFACE Count; { IN Next(n: INTEGER) OUT Then(n: INTEGER) } END Count;
COMPONENT Guest REQUIRES Count;
VARIABLE n: INTEGER;
BEGIN
  n := 6;
  BEGIN HOW Count!Next(n); IF Count?Then THEN Count?Then(n) ELSE n := -1 END END;
  WRITE(n); WRITELINE
END Guest;
VARIABLE guest: Guest;
BEGIN NEW(guest); CONNECT(Count(guest), \"NAME\"); DELETE(guest) END Main;
";

/// The same client many times in one program, by the same connection.
const OFTEN: &str = "
COMPONENT Main;
INTERFACE Count; { IN Next(n: INTEGER) OUT Then(n: INTEGER) } END Count;
COMPONENT Guest REQUIRES Count;
VARIABLE i, n: INTEGER;
BEGIN
  FOR i := 1 TO 12 DO
    n := 6;
    BEGIN {COMPOSITE} Count!Next(n); IF Count?Then THEN Count?Then(n) ELSE n := -1 END END;
    WRITE(n); WRITELINE; PASSIVATE(400)
  END
END Guest;
VARIABLE guest: Guest;
BEGIN NEW(guest); CONNECT(Count(guest), \"NAME\"); DELETE(guest) END Main;
";

fn does_as_without(name: &str) {
    let [shipped, ordinary] = ["{COMPOSITE}", ""].map(|how| {
        let text = CLIENT.replace("HOW", how).replace("NAME", name);
        let output = drystone(folder_with(&text).path(), &["run", "program.dry"]);
        (printed(&output), status(&output), complaint(&output))
    });
    assert_eq!(shipped, ordinary, "{name}");
    assert_eq!((shipped.0.as_str(), shipped.1), ("-1\n", 0), "{name}: {}", shipped.2);
}

#[test]
fn a_block_whose_server_was_never_there_is_an_ordinary_one() {
    does_as_without(&format!("tcp://127.0.0.1:{}/count", port()));
    does_as_without("tcp://no.such.host.invalid:7000/count");
    if let Some(nats) = Nats::start(false) {
        does_as_without(&nats.name("nobody"));
    }
}

#[test]
fn blocks_outlive_their_server_and_find_the_next_one() {
    let name = format!("tcp://127.0.0.1:{}/count", port());
    let serve = || {
        let folder = folder_with(&SERVER.replace("NAME", &name));
        let mut server = Peer::start(folder.path(), DRYSTONE, &["run", "program.dry"]);
        assert_eq!(server.line(), "ready");
        (server, folder)
    };
    let first = serve();
    let folder = folder_with(&OFTEN.replace("NAME", &name));
    let mut client = Peer::start(folder.path(), DRYSTONE, &["run", "program.dry"]);
    assert_eq!([client.line(), client.line()], ["7", "7"]);
    drop(first);
    let gone = std::iter::from_fn(|| Some(client.line())).find(|line| line == "-1");
    assert!(gone.is_some());
    std::thread::sleep(Duration::from_millis(100));
    let _second = serve();
    let found =
        std::iter::from_fn(|| Some(client.line()).filter(|line| !line.is_empty())).find(|line| line == "7");
    assert!(found.is_some());
}
