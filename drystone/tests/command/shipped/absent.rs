//! Blocks whose server is absent: they never arrive, so they do the same as blocks that aren't shipped.

use std::time::Duration;

use tempfile::TempDir;

use crate::nats::Nats;
use crate::peer::Peer;
use crate::shipped::{SERVER, server};
use crate::{DRYSTONE, complaint, drystone, folder_with, printed, status};
use drystone_golden::free_port;

/// Prints the server's answer now and then, or that there is no server.
const CLIENT: &str = "
COMPONENT Main;
INTERFACE Count; { IN Next(n: INTEGER) OUT Then(n: INTEGER) } END Count;
COMPONENT Guest REQUIRES Count;
VARIABLE i, n: INTEGER;
BEGIN
  FOR i := 1 TO TIMES DO
    n := 6;
    BEGIN HOW Count!Next(n); IF Count?Then THEN Count?Then(n) ELSE n := -1 END END;
    WRITE(n); WRITELINE; PASSIVATE(400)
  END
END Guest;
VARIABLE guest: Guest;
BEGIN NEW(guest); CONNECT(Count(guest), \"NAME\"); DELETE(guest) END Main;
";

fn client(how: &str, times: usize, name: &str) -> TempDir {
    let text = CLIENT.replace("HOW", how).replace("TIMES", &times.to_string());
    folder_with(&text.replace("NAME", name))
}

fn does_as_without(name: &str) {
    let [shipped, ordinary] = ["{COMPOSITE}", ""].map(|how| {
        let output = drystone(client(how, 1, name).path(), &["run", "program.dry"]);
        (printed(&output), status(&output), complaint(&output))
    });
    assert_eq!(shipped, ordinary, "{name}");
    assert_eq!((shipped.0.as_str(), shipped.1), ("-1\n", 0), "{name}: {}", shipped.2);
}

#[test]
fn a_block_whose_server_was_never_there_is_an_ordinary_one() {
    does_as_without(&format!("tcp://127.0.0.1:{}/count", free_port()));
    does_as_without("tcp://no.such.host.invalid:7000/count");
    if let Some(nats) = Nats::start(false) {
        does_as_without(&nats.name("nobody"));
    }
}

#[test]
fn blocks_outlive_their_server_and_find_the_next_one() {
    let name = format!("tcp://127.0.0.1:{}/count", free_port());
    let serve = || server(&SERVER.replace("MORE", ""), &name);
    let first = serve();
    let folder = client("{COMPOSITE}", 12, &name);
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
