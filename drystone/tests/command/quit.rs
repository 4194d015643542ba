//! On SIGQUIT a program shows what its processes wait for, and goes on.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::Command;

use rustix::process::Signal;

use crate::peer::{Running, signal};
use crate::{DRYSTONE, complaint, drystone, folder_with, status};

/// One process waits for an answer that never comes, three compute.
const PROGRAM: &str = "COMPONENT Main;
INTERFACE I; { IN Ask(x: INTEGER) OUT Answer(x: INTEGER) } END I;
COMPONENT Server OFFERS I;
  IMPLEMENTATION I;
  VARIABLE x: INTEGER;
  BEGIN WHILE ?Ask DO ?Ask(x); PASSIVATE(100000000); !Answer(x) END END I;
END Server;
COMPONENT Client REQUIRES I;
VARIABLE x: INTEGER;
BEGIN
ACTIVITY
  I!Ask(1); I?Answer(x)
END Client;
COMPONENT Busy;
VARIABLE x: INTEGER;
BEGIN
ACTIVITY
  WHILE x >= 0 DO x := (x + 1) MOD 1000 END
END Busy;
VARIABLE server: Server; client: Client; busy[i: INTEGER]: Busy; i: INTEGER;
BEGIN
  NEW(server); NEW(client); CONNECT(I(client), server);
  FOR i := 1 TO BUSY DO NEW(busy[i]) END;
  PASSIVATE(50); WRITE(\"ready\"); WRITELINE;
  PASSIVATE(WAIT); HALT(3)
END Main;
";

const SEEN: [&str; 3] = [
    "in Main, BEGIN, which waits for its time",
    "at program.dry:6:32 in Main.server, interface I, which waits for its time",
    "at program.dry:12:13 in Main.client, BEGIN, which waits for a message from Main.server",
];

/// Starts a program, sends it SIGQUIT twice, and returns its output and status.
fn asked(folder: &Path, program: &str, arguments: &[&str]) -> (String, i32) {
    // The tests may run in the background with the signal ignored, which children inherit.
    let mut command = Command::new("env");
    command.args(["--default-signal=QUIT", program]).args(arguments);
    let mut program = Running::of(command.current_dir(folder).env("DRYSTONE_CORES", "2"));
    let mut ready = String::new();
    let mut output = BufReader::new(program.stdout.take().expect("it is a pipe"));
    let mut errors = BufReader::new(program.stderr.take().expect("it is a pipe"));
    output.read_line(&mut ready).expect("it prints text");
    assert_eq!(ready, "ready\n");
    let mut shown = String::new();
    for _ in 0..2 {
        signal(program.id(), Signal::QUIT);
        let mut head = String::new();
        errors.read_line(&mut head).expect("it prints text");
        let count = head.split(' ').next().and_then(|count| count.parse::<usize>().ok());
        (0..count.expect("it shows how many there are")).for_each(|_| {
            errors.read_line(&mut shown).expect("it prints text");
        });
    }
    errors.read_to_string(&mut shown).expect("it prints text");
    (shown, status(&program.output()))
}

fn is_shown_twice((shown, status): (String, i32), busy: usize) {
    for part in SEEN {
        assert_eq!(shown.matches(part).count(), 2, "{part}: {shown}");
    }
    assert_eq!(shown.matches(", which can run").count(), 2 * busy, "{shown}");
    assert_eq!(status, 3, "it goes on: {shown}");
}

#[test]
fn all_that_wait_are_shown_on_any_number_of_processors() {
    for busy in [0, 3] {
        let text = PROGRAM.replace("BUSY", &busy.to_string()).replace("WAIT", "1500");
        let folder = folder_with(&text);
        for cores in ["1", "2", "4"] {
            let arguments = ["run", "--cores", cores, "program.dry"];
            is_shown_twice(asked(folder.path(), DRYSTONE, &arguments), busy);
        }
    }
}

#[test]
fn a_built_program_shows_it_too() {
    let folder = folder_with(&PROGRAM.replace("BUSY", "2").replace("WAIT", "1500"));
    let built = drystone(folder.path(), &["build", "program.dry"]);
    assert_eq!(status(&built), 0, "{}", complaint(&built));
    let program = folder.path().join("program");
    is_shown_twice(asked(folder.path(), &program.to_string_lossy(), &[]), 2);
}

#[test]
fn a_socket_for_control_is_there_afterwards() {
    let folder = folder_with(&PROGRAM.replace("BUSY", "1").replace("WAIT", "1500"));
    let arguments = ["run", "--control", "socket", "program.dry"];
    is_shown_twice(asked(folder.path(), DRYSTONE, &arguments), 1);
    assert!(fs::metadata(folder.path().join("socket")).is_err(), "it goes with the program");
}
