//! Blocks that are shipped do what they do where they aren't.

mod blocks;

use crate::faults::random;
use crate::peer::Peer;
use crate::tcp::port;
use crate::{DRYSTONE, complaint, drystone, folder_with, printed, status};

#[test]
fn a_block_does_the_same_wherever_it_runs() {
    let count = std::env::var("BLOCKS").map_or(40, |count| count.parse().expect("a number"));
    let mut random = random(std::env::var("SEED").map_or(0x5a1b, |seed| seed.parse().expect("a number")));
    let (mut ended_well, mut refused) = (0, 0);
    for _ in 0..count {
        let programs = blocks::programs(&mut random, port());
        let [here, there, apart] = programs.each_ref().map(|program| {
            let output = drystone(folder_with(program).path(), &["run", "program.dry"]);
            let error = complaint(&output).lines().find(|line| line.starts_with("error")).map(str::to_string);
            (printed(&output), error, status(&output))
        });
        assert_eq!(here, there, "{}", programs[1]);
        assert_eq!(here, apart, "{}", programs[2]);
        ended_well += usize::from(here.2 == 0);
        // The compiler sees some divisions by zero.
        refused += usize::from(here.2 == 2);
    }
    assert!(ended_well > count / 4 && refused < count / 4, "{ended_well}, {refused} of {count}");
}

const TELLER: &str = "
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

/// What `inspect` says of the requirements of a guest that has done its work.
fn requirements(connected: &str) -> Vec<String> {
    let folder = folder_with(&TELLER.replace("CONNECTED", connected));
    let mut program = Peer::start(folder.path(), DRYSTONE, &["run", "--control", "socket", "program.dry"]);
    assert_eq!(program.line(), "300");
    let shown = printed(&drystone(folder.path(), &["inspect", "socket"]));
    shown.lines().filter_map(|line| line.trim().strip_prefix("requires ").map(str::to_string)).collect()
}

#[test]
fn a_block_is_shipped_where_that_is_possible() {
    let port = port();
    let name = format!("tcp://127.0.0.1:{port}/count");
    let far = format!("EXPORT(Count(host), \"{name}\"); CONNECT(Count(guest), \"{name}\")");
    let is_shipped =
        |connected: &str| requirements(connected).iter().any(|it| it.starts_with("COMPOSITE of tcp:"));
    assert!(is_shipped(&far), "{:?}", requirements(&far));
    for kept in [
        "CONNECT(Count(guest), host)".to_string(),
        far.clone() + " BY Monitored()",
        far.clone() + " BY Retried(messages: \"Next\")",
    ] {
        assert!(!is_shipped(&kept), "{kept}: {:?}", requirements(&kept));
    }
}
