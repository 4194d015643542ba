//! What a program does when signals come: it ends, with its output written, unless some component watches.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{ChildStdout, Command, Output};
use std::thread;
use std::time::{Duration, Instant};

use drystone_golden::free_port;
use rustix::process::Signal;

use crate::peer::{Running, signal};
use crate::{DRYSTONE, complaint, drystone, folder_with, printed, programs, status};

/// A program that runs, whatever signals the tests ignore, and its output.
struct Watched {
    program: Running,
    output: BufReader<ChildStdout>,
}

impl Watched {
    fn start(folder: &Path, program: &str, arguments: &[&str]) -> Watched {
        let mut command = Command::new("env");
        let mut program = Running::of(
            command
                .args(["--default-signal", program])
                .args(arguments)
                .current_dir(folder)
                .env("DRYSTONE_CORES", "2"),
        );
        let output = BufReader::new(program.stdout.take().expect("it is a pipe"));
        Watched { program, output }
    }

    /// `drystone run` of a folder's program.
    fn run(folder: &Path, options: &[&str]) -> Watched {
        Watched::start(folder, DRYSTONE, &[&["run"], options, &["program.dry"]].concat())
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("it prints text");
        line.trim_end().into()
    }

    fn signal(&self, sent: Signal) {
        signal(self.program.id(), sent);
    }

    /// The rest of its output, its errors, and how it has ended.
    fn end(mut self) -> (String, Output) {
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).expect("it prints text");
        (rest, self.program.output())
    }
}

/// Writes and computes, without ever waiting.
const COMPUTES: &str = "COMPONENT A; VARIABLE x: INTEGER;
BEGIN
  WRITE(\"begun\"); WRITELINE; PASSIVATE(20); WRITE(\"before the end\");
  WHILE x >= 0 DO x := (x + 1) MOD 1000 END
END A;";

/// Writes and waits.
const WAITS: &str = "COMPONENT A;
BEGIN WRITE(\"begun\"); WRITELINE; PASSIVATE(20); WRITE(\"before the end\"); PASSIVATE(1000000) END A;";

const ENDING: [Signal; 5] = [Signal::TERM, Signal::INT, Signal::HUP, Signal::USR1, Signal::USR2];

fn ends_by(mut program: Watched, sent: Signal) {
    assert_eq!(program.line(), "begun");
    thread::sleep(Duration::from_millis(100));
    program.signal(sent);
    let (rest, output) = program.end();
    let ended = (rest.as_str(), output.status.signal(), complaint(&output));
    assert_eq!(ended, ("before the end", Some(sent.as_raw()), String::new()));
}

#[test]
fn a_program_that_watches_none_ends_with_its_output_written() {
    for text in [WAITS, COMPUTES] {
        let folder = folder_with(text);
        ENDING.into_iter().for_each(|sent| ends_by(Watched::run(folder.path(), &["--cores", "2"]), sent));
        ends_by(Watched::run(folder.path(), &["--control", "socket"]), Signal::TERM);
        assert!(!folder.path().join("socket").exists(), "the socket goes with the program");
    }
}

#[test]
fn so_does_an_executable() {
    let folder = folder_with(COMPUTES);
    let built = drystone(folder.path(), &["build", "program.dry"]);
    assert_eq!(status(&built), 0, "{}", complaint(&built));
    let program = folder.path().join("program");
    ends_by(Watched::start(folder.path(), &program.to_string_lossy(), &[]), Signal::TERM);
}

#[test]
fn a_shell_sees_the_usual_status() {
    let folder = folder_with(WAITS);
    let script = "\"$0\" run program.dry & sleep 0.8; kill -TERM $!; wait $!; echo \" status $?\"";
    let mut shell = Command::new("env");
    shell.args(["--default-signal", "sh", "-c", script, DRYSTONE]).current_dir(folder.path());
    let output = shell.output().expect("a shell runs");
    assert_eq!(printed(&output), "begun\nbefore the end status 143\n");
}

#[test]
fn a_signal_that_was_ignored_stays_so() {
    let folder = folder_with(
        "COMPONENT A; BEGIN WRITE(\"begun\"); WRITELINE; PASSIVATE(500); WRITE(\"whole\") END A;",
    );
    let mut command = Command::new("env");
    command.args(["--ignore-signal=HUP,INT", DRYSTONE, "run", "program.dry"]).current_dir(folder.path());
    let mut program = Running::of(&mut command);
    let mut output = BufReader::new(program.stdout.take().expect("it is a pipe"));
    let mut line = String::new();
    output.read_line(&mut line).expect("it prints text");
    for sent in [Signal::HUP, Signal::INT] {
        signal(program.id(), sent);
    }
    output.read_line(&mut line).expect("it prints text");
    assert_eq!((line.as_str(), status(&program.output())), ("begun\nwhole", 0));
}

#[test]
fn output_that_is_read_slowly_is_written_whole() {
    let folder = folder_with(
        "COMPONENT A; VARIABLE i: INTEGER;
         BEGIN FOR i := 1 TO 10000000 DO WRITE(i); WRITELINE; IF i = 40000 THEN PASSIVATE(1000000) END END END A;",
    );
    let mut program = Watched::run(folder.path(), &[]);
    assert_eq!(program.line(), "1");
    // More than pipes have room for.
    thread::sleep(Duration::from_millis(500));
    program.signal(Signal::TERM);
    program.signal(Signal::TERM);
    thread::sleep(Duration::from_millis(300));
    let (rest, output) = program.end();
    assert_eq!((rest.lines().count(), rest.lines().last()), (39_999, Some("40000")));
    assert_eq!(output.status.signal(), Some(Signal::TERM.as_raw()));
}

#[test]
fn after_halt_a_signal_does_not_wait_for_output() {
    let folder = folder_with(
        "COMPONENT A; VARIABLE i: INTEGER; BEGIN FOR i := 1 TO 20000 DO WRITE(i); WRITELINE END; HALT(3) END A;",
    );
    let mut program = Watched::run(folder.path(), &[]);
    assert_eq!(program.line(), "1");
    thread::sleep(Duration::from_millis(1000));
    let sent = Instant::now();
    program.signal(Signal::TERM);
    let output = program.program.output();
    assert_eq!(output.status.signal(), Some(Signal::TERM.as_raw()));
    assert!(sent.elapsed() < Duration::from_secs(5));
}

#[test]
fn output_that_nobody_reads_does_not_keep_it() {
    let folder = folder_with("COMPONENT A; BEGIN REPEAT WRITE(\"more\") UNTIL FALSE END A;");
    let mut program = Watched::run(folder.path(), &[]);
    program.output.fill_buf().expect("it writes");
    thread::sleep(Duration::from_millis(300));
    program.signal(Signal::TERM);
    thread::sleep(Duration::from_millis(1200));
    let begin = Instant::now();
    program.signal(Signal::TERM);
    let Watched { mut program, output } = program;
    let ended = program.wait().expect("it ends");
    assert_eq!(ended.signal(), Some(Signal::TERM.as_raw()), "a second one, later, ends it at once");
    assert!(begin.elapsed() < Duration::from_secs(5));
    drop(output);
}

/// Three components watch, two of them elsewhere if AT says so. All others compute.
const WATCH: &str = "COMPONENT Main REQUIRES Signals;
INTERFACE Heard; { OUT Name(x: TEXT) } END Heard;
COMPONENT Watcher OFFERS Heard REQUIRES Signals;
  IMPLEMENTATION Heard;
  VARIABLE n: INTEGER; more: BOOLEAN;
  BEGIN
    BEGIN {EXCLUSIVE} Signals!Watch; Signals?Watching END;
    !Name(\"ready\"); more := TRUE;
    WHILE more DO
      BEGIN {EXCLUSIVE}
        IF Signals?Terminate THEN Signals?Terminate; !Name(\"terminate\"); more := FALSE
        ELSIF Signals?Interrupt THEN Signals?Interrupt; !Name(\"interrupt\")
        ELSIF Signals?HangUp THEN Signals?HangUp; !Name(\"hang up\")
        ELSE Signals?User(n); !Name(\"user \" + TEXT(n)) END
      END
    END
  END Heard;
END Watcher;
COMPONENT Busy;
VARIABLE x: INTEGER;
BEGIN
ACTIVITY
  WHILE x < 100000000 DO x := x + 1 END
END Busy;
VARIABLE watcher[i: INTEGER]: Watcher; i: INTEGER; busy: Busy; x: TEXT;
BEGIN
  NEW(busy);
  NEW(watcher[0]); NEW(watcher[1]) AT \"WHERE:1\"; NEW(watcher[2]) AT \"WHERE:2\";
  FOR i := 0 TO 2 DO CONNECT(Signals(watcher[i]), Signals) END;
  REPEAT
    FOR i := 0 TO 2 DO watcher[i]?Name(x); WRITE(x); WRITE(\";\") END; WRITELINE
  UNTIL x = \"terminate\";
  WRITE(\"clean\")
END Main;";

#[test]
fn each_that_watches_is_told_of_each() {
    for place in ["local", "worker", "process"] {
        let folder = folder_with(&WATCH.replace("WHERE", place));
        let mut program = Watched::run(folder.path(), &[]);
        assert_eq!(program.line(), "ready;ready;ready;");
        let all = [
            (Signal::INT, "interrupt"),
            (Signal::HUP, "hang up"),
            (Signal::USR1, "user 1"),
            (Signal::USR2, "user 2"),
            (Signal::INT, "interrupt"),
            (Signal::TERM, "terminate"),
        ];
        for (sent, name) in all {
            program.signal(sent);
            assert_eq!(program.line(), format!("{name};{name};{name};"), "{place}");
        }
        let (rest, output) = program.end();
        assert_eq!(
            (rest.as_str(), status(&output), complaint(&output)),
            ("clean", 0, String::new()),
            "{place}"
        );
    }
}

#[test]
fn a_signal_to_a_whole_group_leaves_its_domains_for_the_shutdown() {
    let folder = folder_with(&WATCH.replace("WHERE", "process"));
    let mut program = Watched::start(folder.path(), "setsid", &[DRYSTONE, "run", "program.dry"]);
    assert_eq!(program.line(), "ready;ready;ready;");
    let group = rustix::process::Pid::from_child(&program.program);
    for (sent, name) in [(Signal::HUP, "hang up"), (Signal::TERM, "terminate")] {
        rustix::process::kill_process_group(group, sent).expect("it runs");
        assert_eq!(program.line(), format!("{name};{name};{name};"));
    }
    let (rest, output) = program.end();
    assert_eq!((rest.as_str(), status(&output), complaint(&output)), ("clean", 0, String::new()));
}

#[test]
fn a_watch_that_nobody_reads_holds_each_kind_once() {
    let folder = folder_with(
        "COMPONENT A REQUIRES Signals, Console; VARIABLE n: INTEGER; x: TEXT;
         BEGIN
           Signals!Watch; Signals?Watching; WRITE(\"ready\"); WRITELINE; PASSIVATE(1500);
           WHILE INPUT(Signals, User) DO Signals?User(n); WRITE(n); WRITELINE; PASSIVATE(20) END;
           WRITE(\"end\")
         END A;",
    );
    let mut program = Watched::run(folder.path(), &[]);
    assert_eq!(program.line(), "ready");
    for _ in 0..5000 {
        program.signal(Signal::USR1);
        program.signal(Signal::USR2);
    }
    let (rest, output) = program.end();
    // One is in the communication's buffer, one of each kind in the watch.
    assert!(rest.lines().count() <= 5 && rest.starts_with("1\n") && rest.contains("2\n"), "{rest}");
    assert!(rest.ends_with("end") && status(&output) == 0, "{rest}");
}

#[test]
fn a_watch_that_nobody_reads_ends_with_its_component() {
    let folder = folder_with(
        "COMPONENT Main REQUIRES Signals;
         COMPONENT Deaf REQUIRES Signals;
         BEGIN Signals!Watch; Signals?Watching
         END Deaf;
         VARIABLE deaf[i: INTEGER]: Deaf; i: INTEGER;
         BEGIN
           FOR i := 1 TO 100 DO NEW(deaf[i]); CONNECT(Signals(deaf[i]), Signals) END;
           WRITE(\"ready\"); WRITELINE; PASSIVATE(800);
           FOR i := 1 TO 100 DO DELETE(deaf[i]) END; WRITE(\"end\")
         END Main;",
    );
    let mut program = Watched::run(folder.path(), &[]);
    assert_eq!(program.line(), "ready");
    for sent in ENDING.into_iter().cycle().take(1000) {
        program.signal(sent);
        thread::sleep(Duration::from_micros(300));
    }
    let (rest, output) = program.end();
    assert_eq!((rest.as_str(), status(&output)), ("end", 0), "{}", complaint(&output));
}

#[test]
fn when_none_watches_any_more_signals_end_it_again() {
    let folder = folder_with(
        "COMPONENT Main REQUIRES Signals;
         COMPONENT Once REQUIRES Signals;
         BEGIN
           Signals!Watch; Signals?Watching; WRITE(\"ready\"); WRITELINE; Signals?Interrupt; WRITE(\"heard\"); WRITELINE
         END Once;
         VARIABLE once: Once;
         BEGIN
           NEW(once); CONNECT(Signals(once), Signals); DELETE(once);
           WRITE(\"over\"); WRITELINE; PASSIVATE(1000000)
         END Main;",
    );
    let mut program = Watched::run(folder.path(), &[]);
    assert_eq!(program.line(), "ready");
    program.signal(Signal::INT);
    assert_eq!((program.line(), program.line()), ("heard".into(), "over".into()));
    program.signal(Signal::INT);
    let (rest, output) = program.end();
    assert_eq!((rest.as_str(), output.status.signal()), ("", Some(Signal::INT.as_raw())));
}

#[test]
fn a_program_that_watches_ends_by_itself_too() {
    let folder = folder_with(
        "COMPONENT A REQUIRES Signals; BEGIN Signals!Watch; Signals?Watching; PASSIVATE(50); WRITE(\"end\") END A;",
    );
    let output = drystone(folder.path(), &["run", "program.dry"]);
    assert_eq!((printed(&output).as_str(), status(&output)), ("end", 0), "{}", complaint(&output));
}

#[test]
fn a_shutdown_may_take_its_time() {
    // A second signal, later, is one more message and ends nothing.
    let folder = folder_with(
        "COMPONENT A REQUIRES Signals;
         BEGIN
           Signals!Watch; Signals?Watching; WRITE(\"ready\"); WRITELINE; Signals?Terminate; PASSIVATE(1800);
           Signals?Terminate; WRITE(\"clean\"); HALT(7)
         END A;",
    );
    let mut program = Watched::run(folder.path(), &[]);
    assert_eq!(program.line(), "ready");
    program.signal(Signal::TERM);
    thread::sleep(Duration::from_millis(1300));
    program.signal(Signal::TERM);
    let (rest, output) = program.end();
    assert_eq!((rest.as_str(), status(&output)), ("clean", 7));
}

#[test]
fn files_that_were_written_are_whole_after_a_signal() {
    let folder = folder_with(
        "COMPONENT A REQUIRES FileSystem;
         BEGIN
           FileSystem!New(\"log\"); FileSystem?Done; FileSystem!WriteText(\"kept\");
           WRITE(\"begun\"); WRITELINE; PASSIVATE(1000000)
         END A;",
    );
    let mut program = Watched::run(folder.path(), &[]);
    assert_eq!(program.line(), "begun");
    program.signal(Signal::TERM);
    let (_, output) = program.end();
    assert_eq!(output.status.signal(), Some(Signal::TERM.as_raw()));
    assert_eq!(fs::read_to_string(folder.path().join("log")).expect("it is there"), "kept");
}

#[test]
fn a_server_answers_what_it_has_and_says_goodbye() {
    let (folder, port) = (tempfile::tempdir().expect("there are temporary folders"), free_port());
    let program = programs().join("Goodbye.dry");
    let arguments = ["run", program.to_str().expect("a plain path"), &format!("127.0.0.1:{port}")];
    let mut server = Watched::start(folder.path(), DRYSTONE, &arguments);
    assert_eq!(server.line(), format!("listening at 127.0.0.1:{port}"));
    let mut clients: Vec<_> = (0..20)
        .map(|_| BufReader::new(TcpStream::connect(("127.0.0.1", port)).expect("it listens")))
        .collect();
    let idle = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
    for (i, client) in clients.iter_mut().enumerate() {
        client.get_mut().write_all(format!("line {i}\n").as_bytes()).expect("it is there");
    }
    thread::sleep(Duration::from_millis(200));
    server.signal(Signal::TERM);
    for (i, client) in clients.iter_mut().enumerate() {
        let mut answer = String::new();
        client.read_to_string(&mut answer).expect("it ends");
        assert_eq!(answer, format!("line {i}\n"));
    }
    let (rest, output) = server.end();
    assert_eq!((rest.as_str(), complaint(&output).as_str(), status(&output)), ("goodbye\n", "closing\n", 0));
    drop(idle);
}
