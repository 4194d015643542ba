//! Inspecting and changing a running program: `--control`, `inspect`, `rebind`.

use std::io::{BufRead, BufReader, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::peer::{Peer, Running};
use crate::{DRYSTONE, complaint, drystone, folder_with, printed, status};

/// Servers that answer, and one that says that it is enough.
const HOSTS: &str = "
INTERFACE Greet; { IN Name(x: INTEGER) OUT Greeting(x: INTEGER) } END Greet;
COMPONENT Host OFFERS Greet;
  VARIABLE n: INTEGER;
  IMPLEMENTATION Greet;
  VARIABLE x: INTEGER;
  BEGIN WHILE ?Name DO ?Name(x); BEGIN {EXCLUSIVE} INC(n) END; !Greeting(x + 1) END END Greet;
FINALLY WRITE(\"answered \" + TEXT(n) + \"\\n\")
END Host;
COMPONENT Last OFFERS Greet;
  IMPLEMENTATION Greet;
  VARIABLE x: INTEGER;
  BEGIN WHILE ?Name DO ?Name(x); !Greeting(0) END END Greet;
END Last;
";

/// A program of that name with these servers and the given rest.
pub fn with_hosts(name: &str, rest: &str) -> TempDir {
    folder_with(&format!("\nCOMPONENT {name};{HOSTS}{}", rest.trim_start()))
}

/// Two servers, both exported, and clients of the first that send requests without a pause, until a third server
/// answers with 0.
pub const BUSY: &str = "
COMPONENT Guest REQUIRES Greet;
VARIABLE x, i: INTEGER;
BEGIN
  REPEAT INC(i); Greet!Name(i); Greet?Greeting(x); ASSERT((x = i + 1) OR (x = 0)) UNTIL x = 0;
  WRITE(\"asked \" + TEXT(i) + \"\\n\")
END Guest;
VARIABLE h: Host; g[i: INTEGER]: Host; last: Last; guest[i: INTEGER]: Guest; i: INTEGER;
BEGIN
  NEW(h); NEW(g[2]); NEW(last); EXPORT(Greet(last), \"local:last\");
  EXPORT(Greet(h), \"local:one\"); EXPORT(Greet(g[2]), \"local:two\");
  FOR i := 1 TO 3 DO NEW(guest[i]); CONNECT(Greet(guest[i]), \"local:one\") END;
  FOR i := 1 TO 3 DO DELETE(guest[i]) END
END Busy;
";

pub fn start(folder: &Path) -> Running {
    let program = Running::start(folder, &["run", "--control", "socket", "program.dry"]);
    let until = Instant::now() + Duration::from_secs(20);
    while UnixStream::connect(folder.join("socket")).is_err() {
        assert!(Instant::now() < until, "the program listens");
        std::thread::sleep(Duration::from_millis(2));
    }
    program
}

/// Waits until `inspect` shows this, such as a component's path: the socket listens before the program begins.
pub fn wait_for(folder: &Path, what: &str) {
    let until = Instant::now() + Duration::from_secs(20);
    let is_there = || ask(folder, r#"{"inspect": 100}"#).is_some_and(|answer| answer.contains(what));
    while !is_there() {
        assert!(Instant::now() < until, "{what} is there");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// The program's answer; `None`: it has ended.
pub fn ask(folder: &Path, request: &str) -> Option<String> {
    let mut stream = UnixStream::connect(folder.join("socket")).ok()?;
    writeln!(stream, "{request}").ok()?;
    let mut answer = String::new();
    BufReader::new(stream).read_line(&mut answer).ok()?;
    (!answer.is_empty()).then_some(answer)
}

/// How often clients are bound anew: 2000 times, or as DRYSTONE_REBINDS says. Each takes some milliseconds, as the
/// program is busy.
fn rebinds() -> usize {
    std::env::var("DRYSTONE_REBINDS").ok().and_then(|rebinds| rebinds.parse().ok()).unwrap_or(2000)
}

/// Rebinds a client; returns the program's answer.
fn rebind(folder: &Path, guest: usize, name: &str, by: &str) -> Option<String> {
    let request = format!(
        "{{\"rebind\": {{\"path\": \"Busy.guest[{guest}]\", \"interface\": \"Greet\", \"slot\": 1, \
         \"name\": \"local:{name}\", \"by\": \"{by}\"}}}}"
    );
    ask(folder, &request)
}

/// The sum of all counts with this name.
fn total(printed: &str, name: &str) -> u64 {
    let counts = printed.lines().filter_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok());
    counts.sum()
}

#[test]
fn clients_that_never_pause_are_bound_anew_and_lose_no_message() {
    let folder = with_hosts("Busy", BUSY);
    let mut program = start(folder.path());
    wait_for(folder.path(), "Busy.guest[3]");
    let number_of_rebinds = rebinds();
    let plan = |number: usize| match number.checked_sub(number_of_rebinds) {
        None => (number % 3 + 1, ["two", "one"][number / 3 % 2], ["", "Monitored;0;"][number / 6 % 2]),
        Some(rest) => (rest + 1, "last", ""),
    };
    let wrong = (0..number_of_rebinds + 3).find_map(|number| {
        let (guest, name, by) = plan(number);
        let answer = rebind(folder.path(), guest, name, by);
        (answer.as_deref() != Some("{}\n")).then_some((number, answer))
    });
    if wrong.is_some() {
        // Otherwise it would run for ever.
        let _ = program.kill();
    }
    let output = program.output();
    let printed = printed(&output);
    assert_eq!(wrong, None, "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(status(&output), 0, "{}", String::from_utf8_lossy(&output.stderr));
    // The last server answers each of the three once.
    assert_eq!(total(&printed, "asked"), total(&printed, "answered") + 3, "{printed}");
    assert!(printed.matches("answered").count() == 2 && !printed.contains("answered 0"), "{printed}");
}

/// `drystone inspect socket | true`: its output is never read.
fn inspected_by_nobody(folder: &Path) -> Output {
    let (reader, writer) = std::io::pipe().expect("there are pipes");
    drop(reader);
    let mut command = Command::new(DRYSTONE);
    command.args(["inspect", "socket"]).current_dir(folder).stdout(writer);
    command.stderr(Stdio::piped()).spawn().and_then(Child::wait_with_output).expect("the command runs")
}

#[test]
fn a_running_program_is_shown() {
    let folder = with_hosts("Busy", BUSY);
    let program = start(folder.path());
    let shown = drystone(folder.path(), &["inspect", "socket"]);
    // A client that has closed its sending side still reads its answer.
    let mut half = UnixStream::connect(folder.path().join("socket")).expect("the program listens");
    writeln!(half, "{{\"inspect\": 20}}").and_then(|()| half.shutdown(Shutdown::Write)).expect("it is there");
    let mut answer = String::new();
    let _ = BufReader::new(half).read_line(&mut answer);
    let refused = drystone(folder.path(), &["rebind", "socket", "Busy.nobody", "Greet", "local:two"]);
    let unread = inspected_by_nobody(folder.path());
    drop(program);
    assert_eq!((status(&unread), complaint(&unread).as_str()), (0, ""), "nobody reads what is shown");
    assert!(answer.contains("Busy.guest[2]"), "{answer}");
    assert_eq!(status(&shown), 0);
    let shown = printed(&shown);
    let whom = "runs BEGIN: waits for its message to be received by Busy.h";
    let waits = [whom, "runs BEGIN: waits for a message from Busy.h", "runs BEGIN: can run"];
    assert!(waits.iter().any(|line| shown.contains(line)), "{shown}");
    for line in ["Busy.guest[2]: Guest", "requires Greet of Busy.h, talking", "offers Greet to 3"] {
        assert!(shown.contains(line), "{line} in\n{shown}");
    }
    assert_eq!(status(&refused), 1);
}

/// Clients whose requirements were passed on by other components, at any depth.
const PASSED: &str = "
COMPONENT Guest REQUIRES Greet;
VARIABLE x, i: INTEGER;
BEGIN
  REPEAT
    INC(i); Greet!Name(i); Greet?Greeting(x); ASSERT((x = i + 1) OR (x = 0));
    IF i MOD 100 = 0 THEN PASSIVATE(1) END
  UNTIL x = 0;
  WRITE(\"asked \" + TEXT(i) + \"\\n\")
END Guest;
COMPONENT Inner REQUIRES Greet;
VARIABLE guest: Guest;
BEGIN NEW(guest); CONNECT(Greet(guest), Greet); DELETE(guest) END Inner;
COMPONENT Outer REQUIRES Greet;
VARIABLE inner: Inner;
BEGIN NEW(inner); CONNECT(Greet(inner), Greet); DELETE(inner) END Outer;
VARIABLE one, two: Host; last: Last; outer: Outer;
BEGIN
  NEW(one); NEW(two); NEW(last);
  EXPORT(Greet(last), \"local:last\"); EXPORT(Greet(one), \"local:one\"); EXPORT(Greet(two), \"local:two\");
  NEW(outer); CONNECT(Greet(outer), \"local:one\"); DELETE(outer)
END Passed;
";

#[test]
fn what_was_passed_on_is_bound_anew_while_it_is_used() {
    let folder = with_hosts("Passed", PASSED);
    let mut program = start(folder.path());
    let rebind = |slot: &str, number: usize, name: &str| {
        let by = ["", "Monitored;0;"][number / 6 % 2];
        let request = format!(
            "{{\"rebind\": {{\"path\": \"{slot}\", \"interface\": \"Greet\", \"name\": \"local:{name}\", \
             \"by\": \"{by}\"}}}}"
        );
        ask(folder.path(), &request).unwrap_or_default()
    };
    let other = |number: usize| ["two", "one"][number / 3 % 2];
    // A requirement that was passed on is rebound where its holder pauses; otherwise the reason is given.
    let passers = ["Passed.outer", "Passed.outer.inner"];
    let answers: Vec<_> = (0..400).map(|number| rebind(passers[number % 2], number, other(number))).collect();
    // A component that communicates itself is rebound at any time.
    let mut own: Vec<_> =
        (0..200).map(|number| rebind("Passed.outer.inner.guest", number, other(number))).collect();
    own.push(rebind("Passed.outer.inner.guest", 0, "last"));
    let wrong = own.iter().find(|answer| *answer != "{}\n");
    if wrong.is_some() {
        let _ = program.kill();
    }
    let output = program.output();
    let printed = printed(&output);
    assert_eq!(wrong, None, "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(status(&output), 0, "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(total(&printed, "asked"), total(&printed, "answered") + 1, "{printed}");
    let refusal =
        |answer: &str| answer.contains(" has passed Greet on to a component that talks through it now");
    assert!(answers.iter().all(|answer| answer == "{}\n" || refusal(answer)), "{answers:?}");
    assert!(answers.iter().any(|answer| answer == "{}\n"), "it never made a pause");
}

#[test]
fn whatever_is_asked_of_it_harms_no_program() {
    let folder = folder_with(SLOW);
    let program = start(folder.path());
    let long = "x".repeat(100_000);
    let deep = "[".repeat(60_000);
    let odd = [
        "",
        "{}",
        "[]",
        "null",
        "{\"inspect\": -1}",
        "{\"inspect\": 1e300}",
        "{\"rebind\": {}}",
        "{\"rebind\": {\"path\": \"Slow.guest\", \"interface\": \"Greet\", \"slot\": 18446744073709551615, \
         \"name\": \"local:two\"}}",
        "{\"rebind\": {\"path\": \"\", \"interface\": \"\", \"slot\": 0, \"name\": \"\", \"by\": \";;9\"}}",
        "{\"rebind\": {\"path\": \"Slow.guest\", \"interface\": \"Greet\", \"name\": \"\\u0000\"}}",
        "{\"rebind\": {\"path\": \"Slow.guest\", \"interface\": \"Greet\", \"name\": \"local:two\", \"by\": \
         \"A;99999999999;\"}}",
        &long,
        &deep,
    ];
    for request in odd {
        let answer = ask(folder.path(), request);
        assert!(
            answer.is_none_or(|answer| answer.contains("error")),
            "{}",
            &request[..request.len().min(100)]
        );
    }
    let most = ask(folder.path(), "{\"inspect\": 18446744073709551615}").unwrap_or_default();
    drop(program);
    assert!(most.contains("Slow.guest"), "{most}");
}

/// A client that waits long for its first answer, and is rebound meanwhile.
pub const SLOW: &str = "
COMPONENT Slow;
INTERFACE Greet; { IN Name(x: INTEGER) OUT Greeting(x: INTEGER) } END Greet;
COMPONENT Host OFFERS Greet;
  IMPLEMENTATION Greet;
  VARIABLE x: INTEGER;
  BEGIN WHILE ?Name DO ?Name(x); PASSIVATE(1500); !Greeting(x + 1) END END Greet;
END Host;
COMPONENT Guest REQUIRES Greet;
VARIABLE x, i: INTEGER;
BEGIN FOR i := 1 TO 40 DO Greet!Name(i); Greet?Greeting(x) END END Guest;
VARIABLE h, other: Host; guest: Guest;
BEGIN
  NEW(h); NEW(other); EXPORT(Greet(h), \"local:one\"); EXPORT(Greet(other), \"local:two\");
  NEW(guest); CONNECT(Greet(guest), \"local:one\"); DELETE(guest)
END Slow;
";

#[test]
fn who_leaves_before_its_answer_takes_no_other_client_with_it() {
    let folder = folder_with(SLOW);
    let program = start(folder.path());
    // The client has begun.
    wait_for(folder.path(), "for its time");
    let connect = || UnixStream::connect(folder.path().join("socket")).expect("the program listens");
    let mut leaver = connect();
    let request =
        "{\"rebind\": {\"path\": \"Slow.guest\", \"interface\": \"Greet\", \"name\": \"local:two\"}}";
    writeln!(leaver, "{request}").expect("it listens");
    std::thread::sleep(Duration::from_millis(300));
    drop(leaver);
    std::thread::sleep(Duration::from_millis(300));
    // These get its place.
    let others = [connect(), connect()];
    std::thread::sleep(Duration::from_millis(2500));
    let answers = others.map(|mut other| {
        other.set_read_timeout(Some(Duration::from_secs(5))).expect("it can be set");
        writeln!(other, "{{\"inspect\": 10}}").ok();
        let mut answer = String::new();
        let _ = BufReader::new(other).read_line(&mut answer);
        answer
    });
    drop(program);
    // What it had asked for is cancelled.
    assert!(answers.iter().all(|answer| answer.contains("\"to\":\"Slow.h\"")), "{answers:?}");
}

/// A client without a server, which checks that; and a component elsewhere that requests another.
pub const APART: &str = "
COMPONENT Apart;
INTERFACE Greet; { IN Name(x: TEXT) OUT Greeting(x: TEXT) } END Greet;
COMPONENT Host OFFERS Greet;
  IMPLEMENTATION Greet;
  VARIABLE x: TEXT;
  BEGIN WHILE ?Name DO ?Name(x); !Greeting(x) END END Greet;
END Host;
COMPONENT Relay OFFERS Greet REQUIRES Greet;
  IMPLEMENTATION Greet;
  VARIABLE x: TEXT;
  BEGIN WHILE ?Name DO ?Name(x); BEGIN {EXCLUSIVE} Greet!Name(x); Greet?Greeting(x) END; !Greeting(x) END END Greet;
END Relay;
COMPONENT Careful REQUIRES Greet;
VARIABLE x: TEXT;
BEGIN Greet!Name(\"x\"); IF Greet?Greeting THEN Greet?Greeting(x) END; WRITE(\"done\"); WRITELINE; PASSIVATE(1000000)
END Careful;
VARIABLE host: Host; relay: Relay; careful, other: Careful;
BEGIN
  NEW(host); NEW(relay) AT \"process:store\"; CONNECT(Greet(relay), host);
  NEW(careful); CONNECT(Greet(careful), \"tcp://127.0.0.1:1/nobody\");
  NEW(other); CONNECT(Greet(other), relay);
  PASSIVATE(1000000)
END Apart;
";

#[test]
fn what_is_elsewhere_is_shown_with_its_traffic_and_why_it_was_lost() {
    let folder = folder_with(APART);
    let arguments = ["run", "--control", "socket", "program.dry"];
    let mut program = Peer::start(folder.path(), DRYSTONE, &arguments);
    assert_eq!([program.line(), program.line()], ["done", "done"]);
    let shown = drystone(folder.path(), &["inspect", "socket"]);
    let shown = printed(&shown);
    for lines in [
        "Apart.relay: Relay AT process:store\n    offers Greet to 1\n    requires Greet of Apart.host\n",
        "Apart.other: Careful\n    requires Greet of Apart.relay, talking\n",
        "binding process:store, interface Greet of Apart.relay: 1 communications, 1 open, 0 lost\n    \
         sent 1 messages (1 bytes), received 1 messages (1 bytes)\n",
        "export process:store, interface Greet of Apart.relay: 1 communications, 1 open, 0 lost\n    \
         sent 1 messages (1 bytes), received 1 messages (1 bytes)\n",
        "binding tcp://127.0.0.1:1/nobody, interface Greet of Apart.careful: 1 communications, 0 open, 1 lost\n",
        "    lost last: tcp://127.0.0.1:1/nobody: Connection refused\n",
    ] {
        assert!(shown.contains(lines), "{lines} in\n{shown}");
    }
}

#[test]
fn what_is_monitored_has_its_whole_name() {
    let name = format!("tcp://127.0.0.1:1/{}", "n".repeat(300));
    let careful = "CONNECT(Greet(careful), \"tcp://127.0.0.1:1/nobody\")";
    let folder =
        folder_with(&APART.replace(careful, &format!("CONNECT(Greet(careful), \"{name}\") BY Monitored()")));
    let arguments = ["run", "--control", "socket", "program.dry"];
    let mut program = Peer::start(folder.path(), DRYSTONE, &arguments);
    assert_eq!([program.line(), program.line()], ["done", "done"]);
    let shown = printed(&drystone(folder.path(), &["inspect", "--json", "socket"]));
    assert!(shown.contains(&format!("\"name\":\"{name}\"}}")), "{shown}");
}

#[test]
fn a_connection_is_bound_anew_by_factories_with_options() {
    let folder = with_hosts("Busy", BUSY);
    let program = start(folder.path());
    let rebind = |by: &str| {
        let what = ["rebind", "socket", "Busy.guest[1]", "Greet", "local:two", "--by", by];
        drystone(folder.path(), &what)
    };
    let done = rebind("Monitored, Retried(attempts: 1 + 1, messages: \"Name\")");
    let shown = printed(&drystone(folder.path(), &["inspect", "socket"]));
    let unknown = rebind("Retried(attempt: 2)");
    let needy = rebind("Monitored(), Retried(attempts: 2)");
    let refused = rebind("Retried(messages: \"Nobody\")");
    drop(program);
    assert_eq!((complaint(&done).as_str(), status(&done)), ("", 0));
    assert!(shown.contains("requires Greet of Busy.g[2] BY Monitored, Retried, talking"), "{shown}");
    assert!(shown.contains("interface Greet of Busy.guest[1]: "), "{shown}");
    assert_eq!(status(&unknown), 2);
    let expected = "--by:1:9: error: Retried has no option attempt [unknown-option]";
    assert!(complaint(&unknown).contains(expected), "{}", complaint(&unknown));
    assert_eq!(status(&needy), 2);
    let expected =
        "--by:1:14: error: Retried needs messages: which requests may be carried out twice [missing-option]";
    assert!(complaint(&needy).contains(expected), "{}", complaint(&needy));
    assert_eq!(status(&refused), 1);
    assert!(complaint(&refused).contains("Nobody"), "{}", complaint(&refused));
}
