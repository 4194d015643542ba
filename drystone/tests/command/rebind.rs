//! `drystone rebind`: requests that have to wait, reasons of refusal, and what the control socket shows of ended
//! components.

use std::fs;
use std::path::Path;
use std::process::Output;
use std::thread::sleep;
use std::time::Duration;

use rustix::process::Signal;

use crate::control::{APART, BUSY, SLOW, ask, start, wait_for, with_hosts};
use crate::domains::{descendants, within_a_while};
use crate::peer::{Peer, Running, signal};
use crate::{DRYSTONE, complaint, drystone, folder_with, printed, status};

/// A program whose servers take so many milliseconds for an answer, and whose guest is waiting for one.
fn slow(milliseconds: &str) -> (tempfile::TempDir, Running) {
    let folder = folder_with(&SLOW.replace("1500", milliseconds));
    let program = start(folder.path());
    wait_for(folder.path(), "\"waits\":\"for a message\",\"whom\":\"Slow.h\"");
    (folder, program)
}

/// The server that the guest is connected to.
fn server(folder: &Path) -> String {
    let shown = printed(&drystone(folder, &["inspect", "socket"]));
    let line = shown.lines().find_map(|line| line.trim().strip_prefix("requires Greet of "));
    line.unwrap_or_default().into()
}

#[test]
fn a_rebind_that_nobody_waits_for_any_more_is_dropped() {
    let (folder, _program) = slow("2000");
    let mut rebind = Running::start(folder.path(), &["rebind", "socket", "Slow.guest", "Greet", "local:two"]);
    sleep(Duration::from_millis(500));
    rebind.kill().expect("it waits");
    rebind.wait().expect("it was killed");
    sleep(Duration::from_millis(2500));
    assert_eq!(server(folder.path()), "Slow.h, talking");
}

/// Clients whose protocols may end before what they continue with, and two servers.
const OPTIONAL: &str = "
COMPONENT Optional;
INTERFACE Work; { IN Next OUT Job [ IN Result OUT Stored(by: TEXT) ] } END Work;
INTERFACE News; IN Listen OUT First [ OUT Second(by: TEXT) ] END News;
INTERFACE Called; IN Be(name: TEXT) END Called;
COMPONENT Server OFFERS Work, News, Called;
  VARIABLE name: TEXT;
  IMPLEMENTATION Called; BEGIN {EXCLUSIVE} ?Be(name) END Called;
  IMPLEMENTATION Work;
  BEGIN
    WHILE ?Next DO
      ?Next; !Job; IF ?Result THEN ?Result; BEGIN {SHARED} !Stored(name) END END
    END
  END Work;
  IMPLEMENTATION News;
  BEGIN ?Listen; !First; PASSIVATE(1000); BEGIN {SHARED} !Second(name) END
  END News;
END Server;
COMPONENT Worker REQUIRES Work;
  VARIABLE i: INTEGER; by: TEXT;
ACTIVITY
  FOR i := 1 TO 3 DO Work!Next; Work?Job; PASSIVATE(800); Work!Result; Work?Stored(by); WRITE(by); WRITELINE END
END Worker;
COMPONENT Listener REQUIRES News;
  VARIABLE i: INTEGER; by: TEXT;
ACTIVITY
  FOR i := 1 TO 2 DO News!Listen; News?First; News?Second(by); WRITE(\"heard \" + by); WRITELINE END
END Listener;
VARIABLE one, two: Server; worker: Worker; listener: Listener;
BEGIN
  NEW(one); EXPORT(Work(one), \"local:one\"); EXPORT(News(one), \"local:news\"); Called(one)!Be(\"one\");
  NEW(two); EXPORT(Work(two), \"local:two\"); EXPORT(News(two), \"local:others\"); Called(two)!Be(\"two\");
  NEW(worker); CONNECT(Work(worker), one); NEW(listener); CONNECT(News(listener), one)
END Optional;
";

#[test]
fn a_client_is_bound_anew_where_it_begins_anew_and_not_where_it_goes_on() {
    let folder = folder_with(OPTIONAL);
    let program = start(folder.path());
    sleep(Duration::from_millis(100));
    let rebind = |client: &str, interface: &str, name: &str| {
        let output = drystone(folder.path(), &["rebind", "socket", client, interface, name]);
        assert_eq!(status(&output), 0, "{}", complaint(&output));
    };
    std::thread::scope(|scope| {
        scope.spawn(|| rebind("Optional.worker", "Work", "local:two"));
        scope.spawn(|| rebind("Optional.listener", "News", "local:others"));
    });
    let output = program.output();
    let mut lines: Vec<&str> =
        std::str::from_utf8(&output.stdout).expect("it writes texts").lines().collect();
    lines.sort();
    assert_eq!(lines, ["heard one", "heard two", "one", "two", "two"], "{}", complaint(&output));
    assert_eq!(status(&output), 0);
}

#[test]
fn a_rebind_has_a_time_limit_and_says_for_what_it_waits() {
    let (folder, _program) = slow("4000");
    let rebind = |limit: &str| {
        let arguments = ["rebind", "socket", "Slow.guest", "Greet", "local:two", "--timeout", limit];
        drystone(folder.path(), &arguments)
    };
    let late = rebind("2");
    let goes_on = "Slow.guest talks to Slow.h by Greet, and waits for a message at program.dry:11:42\n";
    let said = format!("waiting: {goes_on}error: it was not done within 2 s, and will not be: {goes_on}");
    assert_eq!((complaint(&late), status(&late)), (said, 1));
    sleep(Duration::from_millis(3000));
    assert_eq!(server(folder.path()), "Slow.h, talking");
    let done = rebind("20");
    let said = complaint(&done);
    assert!(status(&done) == 0 && (said.is_empty() || said == format!("waiting: {goes_on}")), "{said}");
    assert!(server(folder.path()).starts_with("Slow.other"));
}

#[test]
fn what_is_wrong_with_a_rebind_is_said_with_what_was_meant() {
    let folder = with_hosts("Busy", BUSY);
    let program = start(folder.path());
    wait_for(folder.path(), "Busy.guest[3]");
    let rebind = |path: &str, interface: &str, name: &str, more: &[&str]| {
        let arguments = ["rebind", "socket", path, interface, name];
        let output = drystone(folder.path(), &[&arguments, more].concat());
        assert_ne!(status(&output), 0);
        complaint(&output)
    };
    let guest = "Busy.guest[1]";
    let cases = [
        (
            rebind("Busy.gest[1]", "Greet", "local:two", &[]),
            "there is no component Busy.gest[1]: Busy holds ",
            "did you mean Busy.guest[1]?",
        ),
        (
            rebind("Bussy.guest[1]", "Greet", "local:two", &[]),
            "there is no component Bussy.guest[1]: ",
            "did you mean Busy?",
        ),
        (
            rebind(guest, "Gret", "local:two", &[]),
            "Busy.guest[1] requires no interface Gret: it requires Greet\n",
            "did you mean Greet?",
        ),
        (
            rebind("Busy.h", "Greet", "local:two", &[]),
            "Busy.h offers Greet: it is the connections of those",
            "",
        ),
        (
            rebind(guest, "Greet", "local:two", &["--slot", "2"]),
            "there is no slot 2 of Greet in Busy.guest[1]",
            "",
        ),
        (
            rebind(guest, "Greet", "local:tow", &[]),
            "local:tow: nothing is exported by that name\n",
            "did you mean local:two?",
        ),
        (
            rebind(guest, "Greet", "htp://127.0.0.1:1/x", &[]),
            "htp://127.0.0.1:1/x: there is no naming context htp\n",
            "did you mean http:?",
        ),
        (rebind(guest, "Greet", "two", &[]), "\"two\" is no name", "within this program it is \"local:two\""),
        (
            rebind(guest, "Greet", "local:two", &["--by", "Restricted(messages: \"Nam\")"]),
            "BY Restricted: a client of Greet sends no message Nam",
            "",
        ),
        (
            rebind(guest, "Greet", "tcp://127.0.0.1:1/x", &["--by", "Retryd"]),
            "tcp://127.0.0.1:1/x: BY Retryd: there is no such",
            "did you mean Retried?",
        ),
        (
            rebind(guest, "Greet", "local:two", &["--by", "Restrictd"]),
            "BY Restrictd: no such binding factory",
            "did you mean Restricted?",
        ),
    ];
    drop(program);
    for (said, wrong, meant) in cases {
        assert!(said.contains(wrong) && said.contains(meant), "{wrong} {meant} in\n{said}");
    }
}

#[test]
fn a_domain_that_is_killed_is_shown_to_have_ended() {
    let folder = folder_with(APART);
    let mut program = Peer::start(folder.path(), DRYSTONE, &["run", "--control", "socket", "program.dry"]);
    assert_eq!([program.line(), program.line()], ["done", "done"]);
    let domain = descendants(program.id()).into_iter().find(|(_, name)| name == "domain");
    signal(domain.expect("there is one").0, Signal::KILL);
    let shown = || printed(&drystone(folder.path(), &["inspect", "socket"]));
    assert!(within_a_while(|| shown().contains("which has ended")), "{}", shown());
    let shown = shown();
    let why = "its process was killed by signal 9 (SIGKILL)";
    for line in [
        format!("Apart.relay: Relay AT process:store, which has ended: {why}\n"),
        format!("    requires Greet of Apart.relay, lost: process:store: {why}\n"),
        "    requires Greet of tcp://127.0.0.1:1/nobody, lost: tcp://127.0.0.1:1/nobody: Connection refused\n".into(),
    ] {
        assert!(shown.contains(&line), "{line} in\n{shown}");
    }
}

#[test]
fn a_domain_that_ends_by_itself_is_shown_to_have_ended() {
    let text = APART.replace(
        "BEGIN WHILE ?Name DO ?Name(x); BEGIN",
        "BEGIN WHILE ?Name DO ?Name(x); ASSERT(FALSE); BEGIN",
    );
    let folder = folder_with(&text);
    let program = start(folder.path());
    let shown = || printed(&drystone(folder.path(), &["inspect", "socket"]));
    let ended =
        "Apart.relay: Relay AT process:store, which has ended: it has ended by itself, by an error or HALT\n";
    assert!(within_a_while(|| shown().contains(ended)), "{}", shown());
    signal(program.id(), Signal::KILL);
    let said = complaint(&program.output());
    assert!(said.contains("error: assertion failed") && !said.contains("warning"), "{said}");
}

/// Whether this process ignores a signal.
fn is_ignored(signal: Signal) -> bool {
    let status = fs::read_to_string("/proc/self/status").expect("there is procfs");
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).expect("it says so");
    u64::from_str_radix(ignored.trim(), 16).expect("a number") >> (signal.as_raw() - 1) & 1 == 1
}

#[test]
fn the_socket_goes_with_its_program() {
    // A signal that this process ignores (as under nohup), the program ignores, too.
    let heeded = [Signal::TERM, Signal::INT, Signal::HUP].into_iter().filter(|how| !is_ignored(*how));
    for how in heeded {
        let folder = folder_with(&SLOW.replace("1500", "600000"));
        let mut program = start(folder.path());
        signal(program.id(), how);
        let status = program.wait().expect("it ends");
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(how.as_raw()), "{status}");
        assert!(!folder.path().join("socket").exists(), "{how:?}");
    }
}

#[test]
fn a_domain_leaves_the_socket_of_its_program_alone() {
    let folder = folder_with(APART);
    let mut program = Peer::start(folder.path(), DRYSTONE, &["run", "--control", "socket", "program.dry"]);
    assert_eq!([program.line(), program.line()], ["done", "done"]);
    let below = || descendants(program.id());
    let domain = below().into_iter().find(|(_, name)| name == "domain").expect("there is one").0;
    // What asks it to end is for the program to hear.
    signal(domain, Signal::TERM);
    signal(domain, Signal::KILL);
    assert!(within_a_while(|| below().iter().all(|(other, _)| *other != domain)));
    let shown = printed(&drystone(folder.path(), &["inspect", "socket"]));
    assert!(shown.contains("its process was killed by signal 9 (SIGKILL)"), "{shown}");
}

#[test]
fn a_socket_that_was_left_is_in_nobody_s_way() {
    let folder = folder_with(SLOW);
    let mut program = start(folder.path());
    program.kill().expect("it runs");
    program.wait().expect("it ends");
    let socket = folder.path().join("socket");
    assert!(fs::symlink_metadata(&socket).is_ok());
    let said = |output: Output| (complaint(&output), status(&output));
    let ended = ("error: socket: the program that ran with this socket has ended\n".to_string(), 1);
    assert_eq!(said(drystone(folder.path(), &["inspect", "socket"])), ended);
    assert_eq!(said(drystone(folder.path(), &["rebind", "socket", "A", "B", "local:c"])), ended);
    let _program = start(folder.path());
    assert!(ask(folder.path(), "{\"inspect\": 1}").is_some());
}

#[test]
fn what_is_shown_for_programs_has_names() {
    let name = "tcp://127.0.0.1:1/nobody";
    let folder = folder_with(&APART.replace(&format!("\"{name}\")"), &format!("\"{name}\") BY Monitored()")));
    let mut program = Peer::start(folder.path(), DRYSTONE, &["run", "--control", "socket", "program.dry"]);
    assert_eq!([program.line(), program.line()], ["done", "done"]);
    let shown = printed(&drystone(folder.path(), &["inspect", "--json", "socket"]));
    for part in [
        "\"communications\":{\"begun\":1,\"lost\":0,\"open\":1}",
        "\"sent\":{\"bytes\":1,\"messages\":1}",
        "\"offers\":[{\"connections\":1,\"interface\":\"Greet\"}]",
        "\"messages\":[{\"count\":1,\"name\":\"Name\"},{\"count\":0,\"name\":\"Greeting\"}]",
    ] {
        assert!(shown.contains(part), "{part} in\n{shown}");
    }
}
