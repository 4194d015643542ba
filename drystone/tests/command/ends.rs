//! The end of components: they end in an order without deadlocks, however they are connected; and a component that is
//! being deleted takes no new clients.

mod shapes;

use crate::bindings::{Server, with_echo};
use crate::faults::random;
use crate::places::{Place, places, platforms, writes_everywhere};
use crate::{complaint, drystone, folder_with, printed, status};
use drystone_golden::free_port;

/// The server is declared before its client, and both before what they need.
const OWN: &str = "
COMPONENT Main;
ECHO
COMPONENT Between OFFERS Echo REQUIRES Echo;
  IMPLEMENTATION Echo;
  VARIABLE n: INTEGER;
  BEGIN WHILE ?Say DO ?Say(n); BEGIN {EXCLUSIVE} Echo!Say(n); Echo?Heard(n) END; !Heard(n + 1) END END Echo;
END Between;
COMPONENT Guest REQUIRES Echo;
  VARIABLE n: INTEGER;
ACTIVITY
  Echo!Say(1); Echo?Heard(n); WRITE(n); WRITELINE
END Guest;
COMPONENT Shop OFFERS NamingContext;
  IMPLEMENTATION NamingContext;
  VARIABLE name: TEXT;
  BEGIN WHILE ?Resolve DO ?Resolve(name); !Name(\"local:\" + name) END END NamingContext;
END Shop;
VARIABLE shop: Shop; host: Host; between: Between; guest[i: INTEGER]: Guest; i: INTEGER;
BEGIN
  NEW(shop); EXPORT(NamingContext(shop), \"local:shop\");
  NEW(host); EXPORT(Echo(host), \"HOST\");
  NEW(between); CONNECT(Echo(between), \"TOHOST\"); EXPORT(Echo(between), \"BETWEEN\");
  FOR i := 1 TO 3 DO NEW(guest[i]); CONNECT(Echo(guest[i]), \"TOBETWEEN\") END
END Main;
";

#[test]
fn a_program_that_uses_its_own_names_ends() {
    let tcp = format!("tcp://127.0.0.1:{}/", free_port());
    let tcp = |name: &str| format!("{tcp}{name}");
    let local = |name: &str| format!("local:{name}");
    let shop = |name: &str| format!("local:shop/{name}");
    let names = [
        (local("host"), local("host"), local("between"), local("between")),
        (tcp("host"), tcp("host"), tcp("between"), tcp("between")),
        (local("host"), shop("host"), local("between"), shop("between")),
        (tcp("host"), tcp("host"), local("between"), shop("between")),
    ];
    for (host, to_host, between, to_between) in names {
        let text = with_echo(OWN)
            .replace("TOHOST", &to_host)
            .replace("HOST", &host)
            .replace("TOBETWEEN", &to_between)
            .replace("BETWEEN", &between);
        let output = drystone(folder_with(&text).path(), &["run", "program.dry"]);
        let said = (printed(&output), status(&output));
        assert_eq!(said, ("3\n3\n3\n".into(), 0), "{to_host}, {to_between}: {}", complaint(&output));
    }
}

#[test]
fn a_program_that_uses_its_own_names_ends_wherever_its_components_are() {
    let text = with_echo(OWN).replace("TOHOST", "local:host").replace("HOST", "local:host");
    let text = text.replace("TOBETWEEN", "local:shop/between").replace("BETWEEN", "local:between");
    let apart: [&[_]; 4] = [&["host"], &["between"], &["guest[i]"], &["host", "between", "guest[i]", "shop"]];
    writes_everywhere(&text, &apart, "3\n3\n3\n");
}

/// Names are used anywhere, and exports come late.
const ANYWHERE: &str = "
ECHO
COMPONENT Between OFFERS Echo REQUIRES Echo;
  IMPLEMENTATION Echo;
  VARIABLE n: INTEGER;
  BEGIN WHILE ?Say DO ?Say(n); BEGIN {EXCLUSIVE} Echo!Say(n); Echo?Heard(n) END; !Heard(n) END END Echo;
END Between;
COMPONENT Guest REQUIRES Echo;
  VARIABLE n, i: INTEGER;
ACTIVITY
  PASSIVATE(40); FOR i := 1 TO 2 DO Echo!Say(1); Echo?Heard(n); WRITE(n); WRITELINE; PASSIVATE(3) END
END Guest;
";

#[test]
fn programs_whose_components_find_each_other_by_names_end() {
    for platform in platforms() {
        let mut random = random(0x0e4d);
        for round in 0..60 {
            // A machine has no network, so only places are tried there.
            let is_apart = round >= 40;
            let places = if is_apart { PLACES } else { &[] };
            let ground = shapes::Ground { ports: ports(platform), places, is_rough: false };
            let shapes::Shape { program, printed: expected } = shapes::shape(&mut random, ground);
            if platform.is_bare() && !is_apart {
                continue;
            }
            let text = with_echo(&program.replacen("ECHO\n", ANYWHERE, 1));
            let output = platform.run_text(&text);
            let said = (printed(&output), status(&output));
            assert_eq!(said, (expected, 0), "{platform:?} {}\n{text}", complaint(&output));
        }
    }
}

/// Places for some components.
const PLACES: &[&str] = &["worker:1", "process:p", "user:q"];

/// Ports for exports beyond the program, if there is a network.
fn ports(platform: Place) -> Option<[u16; 2]> {
    (!platform.is_bare()).then(|| [free_port(), free_port()])
}

/// A failure may end other components, wherever they are; but nothing waits for ever, and nothing else breaks.
#[test]
fn programs_in_which_something_fails_end() {
    let bomb = "COMPONENT Bomb REQUIRES Echo;
  VARIABLE n, z: INTEGER;
ACTIVITY
  PASSIVATE(42); Echo!Say(1); Echo?Heard(n); z := n DIV z
END Bomb;
";
    let count = std::env::var("SHAPES").map_or(40, |count| count.parse().expect("a number"));
    for platform in platforms() {
        let mut random = random(std::env::var("SEED").map_or(0xb0b, |seed| seed.parse().expect("a number")));
        // A machine is slower, and boots each time.
        for _ in 0..if platform.is_bare() { count / 2 } else { count } {
            let ground = shapes::Ground { ports: ports(platform), places: PLACES, is_rough: true };
            let program = shapes::shape(&mut random, ground).program;
            let text = with_echo(&program.replacen("ECHO\n", &format!("{ANYWHERE}{bomb}"), 1));
            let output = platform.run_text(&text);
            let said = complaint(&output);
            let is_fine = [0, 1].contains(&status(&output)) && !said.contains("deadlock");
            assert!(is_fine, "{platform:?} {said}\n{text}");
        }
    }
}

/// A remote component communicates through its place here, which is ended together with its server, by force.
const THROUGH: &str = "
COMPONENT Main;
ECHO
COMPONENT Guest REQUIRES Echo;
  VARIABLE n: INTEGER;
ACTIVITY
  Echo!Say(1); Echo?Heard(n); PASSIVATE(60000)
END Guest;
COMPONENT {ISOLATED} Part;
  VARIABLE guest: Guest; host: Host; z: INTEGER;
ACTIVITY
  NEW(guest) AT \"PLACE\"; CONNECT(Echo(guest), \"local:echo\"); NEW(host); EXPORT(Echo(host), \"local:echo\");
  PASSIVATE(100); z := 1 DIV z
END Part;
VARIABLE part: Part;
BEGIN
  NEW(part)
END Main;
";

#[test]
fn who_talks_through_what_is_ended_by_force_ends_with_it() {
    for place in places() {
        let output = place.run_text(&with_echo(THROUGH));
        let said = complaint(&output);
        assert_eq!((printed(&output), status(&output)), (String::new(), 0), "{place:?}: {said}");
        assert!(said.starts_with("error: division by zero at program.dry:"), "{place:?}: {said}");
    }
}

const EVENTS: &str = "
COMPONENT Main;
INTERFACE Prices; { OUT Price(n: INTEGER) } END Prices;
COMPONENT Exchange OFFERS Prices;
  IMPLEMENTATION Prices;
  VARIABLE i: INTEGER;
  BEGIN FOR i := 1 TO SAID DO !Price(i) END END Prices;
END Exchange;
COMPONENT Trader REQUIRES Prices;
  VARIABLE n, sum: INTEGER;
ACTIVITY
  PASSIVATE(LATE); WHILE Prices?Price DO Prices?Price(n); INC(sum) END; WRITE(sum); WRITELINE
END Trader;
VARIABLE trader: Trader; exchange: Exchange;
BEGIN
  NEW(trader) APART; CONNECT(Prices(trader), \"event:prices\");
  NEW(exchange); EXPORT(Prices(exchange), \"event:prices\")
END Main;
";

#[test]
fn who_is_connected_to_events_hears_all_and_the_end_wherever_it_is() {
    let apart = places().map(|place| (place, " AT \"PLACE\"", 0, 3));
    let near = platforms().flat_map(|place| [(place, "", 0, 50), (place, "", 100, 3)]);
    for (place, at, late, said) in apart.chain(near) {
        let text = EVENTS.replace(" APART", at).replace("LATE", &late.to_string());
        let output = place.run_text(&text.replace("SAID", &said.to_string()));
        let heard = (printed(&output), status(&output));
        assert_eq!(heard, (format!("{said}\n"), 0), "{place:?}{at} {late}: {}", complaint(&output));
    }
}

/// A client that waits for its connection already, and an export before its server is connected.
const PATIENT: &str = "
COMPONENT Main;
ECHO
COMPONENT Relay OFFERS Echo REQUIRES Echo;
BEGIN PASSIVATE(20); CONNECT(Echo, Echo)
END Relay;
COMPONENT Guest REQUIRES Echo;
  VARIABLE n: INTEGER;
ACTIVITY
  Echo!Say(1); Echo?Heard(n); WRITE(n); WRITELINE
END Guest;
VARIABLE host: Host; relay: Relay; early, late: Guest;
BEGIN
  NEW(early); PASSIVATE(20);
  NEW(host); EXPORT(Echo(host), \"NAMEhost\");
  NEW(relay); CONNECT(Echo(relay), \"NAMEhost\") BY Monitored(); EXPORT(Echo(relay), \"NAMErelay\");
  CONNECT(Echo(early), \"NAMErelay\") BY Monitored();
  NEW(late); PASSIVATE(20); CONNECT(Echo(late), \"NAMEhost\")
END Main;
";

#[test]
fn who_waits_for_its_connection_goes_on_whatever_that_is() {
    let text = with_echo(PATIENT).replace("NAME", &format!("tcp://127.0.0.1:{}/", free_port()));
    let output = drystone(folder_with(&text).path(), &["run", "program.dry"]);
    assert_eq!((printed(&output), status(&output)), ("2\n2\n".into(), 0), "{}", complaint(&output));
    let apart: [&[_]; 4] = [&["host"], &["early", "late"], &["host", "early", "late"], &["relay"]];
    writes_everywhere(&with_echo(PATIENT).replace("NAME", "local:"), &apart, "2\n2\n");
}

/// Both a component that a process deletes and one that holds an export wait for their turn when the process is ended
/// by force.
const FORCED: &str = "
COMPONENT Main;
ECHO
INTERFACE Stop; { IN Now } END Stop;
COMPONENT First;
  VARIABLE host, other: Host;
BEGIN NEW(host); EXPORT(Echo(host), \"local:first\"); NEW(other)
END First;
COMPONENT Second;
  VARIABLE host, other: Host;
BEGIN NEW(host); EXPORT(Echo(host), \"local:second\"); NEW(other)
END Second;
COMPONENT {ISOLATED} Cage OFFERS Stop;
  VARIABLE zero: INTEGER;
  PROCEDURE P;
  VARIABLE first: First; second: Second;
  BEGIN NEW(first); NEW(second); PASSIVATE(30)
  END P;
  IMPLEMENTATION Stop;
  BEGIN ?Now; BEGIN {EXCLUSIVE} zero := 1 DIV zero END END Stop;
ACTIVITY P
END Cage;
COMPONENT Guest REQUIRES Echo;
  VARIABLE n: INTEGER;
ACTIVITY
  Echo!Say(1); IF Echo?Heard THEN Echo?Heard(n) END; PASSIVATE(200); \
    IF Echo?FINISH THEN WRITE(\"lost\") ELSE WRITE(\"there\") END; WRITELINE
END Guest;
COMPONENT Pair;
  PROCEDURE Q(n: INTEGER);
  VARIABLE one, two: Host;
  BEGIN NEW(one); NEW(two); PASSIVATE(1); IF n > 0 THEN Q(n - 1) END END Q;
ACTIVITY Q(20)
END Pair;
VARIABLE cage: Cage; one, two: Guest; pair[i: INTEGER]: Pair; i: INTEGER;
BEGIN
  NEW(cage); NEW(one); CONNECT(Echo(one), \"local:first\"); NEW(two); CONNECT(Echo(two), \"local:second\");
  PASSIVATE(100); cage!Now; FOR i := 1 TO 100 DO NEW(pair[i]) END
END Main;
";

#[test]
fn what_waits_for_its_turn_to_be_deleted_may_be_ended_by_force() {
    writes_everywhere(&with_echo(FORCED), &[&["host", "other"]], "lost\nlost\n");
}

const DELETING: &str = "
COMPONENT Main;
ECHO
VARIABLE host: Host;
BEGIN
  NEW(host); EXPORT(Echo(host), \"NAME\"); WRITE(\"ready\"); WRITELINE; PASSIVATE(500); DELETE(host)
END Main;
";

/// A client with a communication from before the deletion until long after its beginning, which tries to begin another
/// one.
const LATE: &str = "
COMPONENT Main;
INTERFACE Echo; { IN Say(n: INTEGER) OUT Heard(n: INTEGER) } END Echo;
COMPONENT Guest REQUIRES Echo;
  VARIABLE n: INTEGER;
BEGIN
  Echo!Say(1);
  IF Echo?Heard THEN Echo?Heard(n); WRITE(n) ELSE WRITE(\"lost\") END; WRITELINE;
ACTIVITY
  PASSIVATE(1500); Echo!Say(n); IF Echo?Heard THEN Echo?Heard(n); WRITE(n); WRITELINE END
END Guest;
VARIABLE early, late: Guest;
BEGIN
  NEW(early); CONNECT(Echo(early), \"NAME\"); PASSIVATE(1000);
  NEW(late); CONNECT(Echo(late), \"NAME\"); DELETE(early)
END Main;
";

#[test]
fn who_is_being_deleted_takes_no_new_clients() {
    let name = format!("tcp://127.0.0.1:{}/echo", free_port());
    let server = folder_with(&with_echo(DELETING).replace("NAME", &name));
    let mut server_runs = Server::start(server.path(), &["run", "program.dry"]);
    let output = drystone(folder_with(&LATE.replace("NAME", &name)).path(), &["run", "program.dry"]);
    assert_eq!((printed(&output), status(&output)), ("2\nlost\n3\n".into(), 0), "{}", complaint(&output));
    assert!(server_runs.ended().success(), "it ends with its last client");
}
