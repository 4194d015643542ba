//! Components in processes and on threads of their own: the same programs with the same results, and what happens when a
//! domain comes to its end.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::peer::{Running, signal};
use crate::{DRYSTONE, drystone, folder_with};

/// Where components are made.
const DOMAINS: [&str; 3] = ["process:store", "user:store", "worker:1"];

/// A server that puts brackets around texts, and a program that uses `s`, which is one, and `d`, the domain's name.
pub fn with_server(statements: &str) -> String {
    format!(
        "COMPONENT Main;
         INTERFACE Echo;
           {{ IN Say(x: TEXT) OUT Heard(x: TEXT) }}
         END Echo;
         COMPONENT Server OFFERS Echo;
           IMPLEMENTATION Echo; VARIABLE x: TEXT;
           BEGIN WHILE ?Say DO ?Say(x); !Heard(\"<\" + x + \">\") END END Echo;
         END Server;
         VARIABLE s: Server; x: TEXT; i, k: INTEGER; d: TEXT;
         BEGIN {statements}
         END Main;"
    )
}

fn output_of(program: &str) -> String {
    let folder = folder_with(program);
    let output = drystone(folder.path(), &["run", "program.dry"]);
    let error = String::from_utf8_lossy(&output.stderr);
    // There are warnings of variables that a program doesn't use.
    assert!(output.status.success() && !error.contains("error"), "{error}");
    String::from_utf8(output.stdout).expect("programs here write text")
}

#[test]
fn a_server_answers_wherever_it_is() {
    for domain in DOMAINS {
        let program = with_server(&format!(
            "NEW(s) AT \"{domain}\";
             FOR i := 1 TO 100 DO s!Say(TEXT(i)); s?Heard(x) END; WRITE(x)"
        ));
        assert_eq!(output_of(&program), "<100>", "{domain}");
    }
}

#[test]
fn large_texts_cross_whole() {
    for domain in DOMAINS {
        let program = with_server(&format!(
            "NEW(s) AT \"{domain}\"; d := \"0123456789\";
             FOR i := 1 TO 20 DO d := d + d END;
             s!Say(d); s?Heard(x); WRITE(LENGTH(x)); WRITE(\" \"); IF x = \"<\" + d + \">\" THEN WRITE(\"equal\") END"
        ));
        assert_eq!(output_of(&program), "10485762 equal", "{domain}");
    }
}

/// With few descriptors: none is left behind. (Without its domains the program needs about ten.)
#[test]
fn a_thousand_domains_one_after_the_other_leave_nothing_behind() {
    for domain in DOMAINS {
        let program = with_server(&format!(
            "FOR i := 1 TO 1000 DO
               NEW(s) AT \"{domain}\"; s!Say(TEXT(i)); s?Heard(x); DELETE(s)
             END; WRITE(x)"
        ));
        let folder = folder_with(&program);
        let limited = format!("ulimit -n 40; exec {DRYSTONE} run program.dry");
        let output = Command::new("sh").args(["-c", &limited]).current_dir(folder.path()).output();
        let output = output.expect("a shell runs");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "<1000>", "{domain}: {output:?}");
        // What the program itself has ended is no news.
        assert!(!String::from_utf8_lossy(&output.stderr).contains("has ended"), "{domain}: {output:?}");
    }
}

/// A program with a component that sends without being asked, and one who is slow and writes the sum.
pub fn with_source(activity: &str, statements: &str) -> String {
    format!(
        "COMPONENT Main;
         INTERFACE Numbers; {{ IN Number(i: INTEGER) }} END Numbers;
         COMPONENT Source REQUIRES Numbers; VARIABLE i: INTEGER; ACTIVITY {activity} END Source;
         COMPONENT Sum OFFERS Numbers;
           IMPLEMENTATION Numbers; VARIABLE i, sum: INTEGER;
           BEGIN
             WHILE ?Number DO ?Number(i); INC(sum, i); IF i MOD 1000 = 0 THEN PASSIVATE(1) END END;
             WRITE(sum)
           END Numbers;
         END Sum;
         VARIABLE source: Source; sum: Sum;
         BEGIN {statements} END Main;"
    )
}

/// It requires what its program has.
#[test]
fn a_component_elsewhere_uses_what_it_requires() {
    for domain in DOMAINS {
        let program = with_source(
            "FOR i := 1 TO 10000 DO Numbers!Number(i) END",
            &format!("NEW(sum); NEW(source) AT \"{domain}\"; CONNECT(Numbers(source), sum)"),
        );
        assert_eq!(output_of(&program), "50005000", "{domain}");
    }
}

/// How many messages without answers are sent before one waits: to a server that takes none for a second.
fn sent_before_one_waits(domain: &str, by: &str) -> u64 {
    let program = format!(
        "COMPONENT Main;
         INTERFACE Numbers; {{ IN Number(i: INTEGER) }} END Numbers;
         COMPONENT Source REQUIRES Numbers;
           VARIABLE i, begin: INTEGER;
           ACTIVITY
             REPEAT begin := TIME; Numbers!Number(i); INC(i) UNTIL TIME - begin > 300;
             WRITE(i)
         END Source;
         COMPONENT Sink OFFERS Numbers;
           IMPLEMENTATION Numbers; VARIABLE i: INTEGER;
           BEGIN PASSIVATE(1000); WHILE ?Number DO ?Number(i) END END Numbers;
         END Sink;
         VARIABLE source: Source; sink: Sink;
         BEGIN
           NEW(sink) AT \"{domain}\" BY {by}; NEW(source); CONNECT(Numbers(source), sink)
         END Main;"
    );
    output_of(&program).parse().expect("it is a number")
}

#[test]
fn as_many_messages_are_on_their_way_as_is_said() {
    for (domain, factory) in [("worker:1", "Worker"), ("process:store", "Lrpc")] {
        let sent = |by: &str| sent_before_one_waits(domain, &format!("{factory}({by})"));
        let (few, usual, many) = (sent("capacity: 16"), sent(""), sent("capacity: 2000"));
        // Some are in the buffers before it.
        assert!((16..100).contains(&few), "{domain}: {few}");
        assert!((256..400).contains(&usual), "{domain}: {usual}");
        assert!((2000..2200).contains(&many), "{domain}: {many}");
    }
}

fn running(program: &str) -> (tempfile::TempDir, Running) {
    let folder = folder_with(program);
    let program = Running::start(folder.path(), &["run", "program.dry"]);
    (folder, program)
}

/// The processes below one, with their names.
pub fn descendants(of: u32) -> Vec<(u32, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").expect("it is there").flatten() {
        let Ok(pid) = entry.file_name().to_string_lossy().parse::<u32>() else { continue };
        let Ok(stat) = fs::read_to_string(entry.path().join("stat")) else { continue };
        let Some((name, rest)) = stat.split_once('(').and_then(|(_, rest)| rest.rsplit_once(')')) else {
            continue;
        };
        let mut words = rest.split_whitespace();
        let (state, parent) = (words.next(), words.next().and_then(|word| word.parse().ok()));
        if parent == Some(of) && state != Some("Z") {
            found.push((pid, name.to_string()));
            found.extend(descendants(pid));
        }
    }
    found
}

pub fn within_a_while(what: impl Fn() -> bool) -> bool {
    let end = Instant::now() + Duration::from_secs(20);
    while Instant::now() < end {
        if what() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    false
}

#[test]
fn a_domain_that_is_killed_takes_nothing_else_with_it() {
    let program = with_server(
        "NEW(s) AT \"process:store\"; k := 1;
         WHILE k = 1 DO
           s!Say(\"x\"); IF s?Heard THEN s?Heard(x); INC(i); IF i = 1000 THEN WRITE(\"loaded\"); WRITELINE END
           ELSE k := 0 END
         END;
         WRITE(\"lost\")",
    );
    let (_folder, mut child) = running(&program);
    let mut error = child.stderr.take().expect("it is piped");
    let mut output = BufReader::new(child.stdout.take().expect("it is piped"));
    // What a program writes is shown when it waits.
    let mut line = String::new();
    output.read_line(&mut line).expect("it writes text");
    assert_eq!(line, "loaded\n");
    let domain = descendants(child.id()).into_iter().find(|(_, name)| name == "domain");
    signal(domain.expect("there is a domain").0, Signal::KILL);
    let mut rest = String::new();
    output.read_to_string(&mut rest).expect("it writes text");
    assert_eq!(rest, "lost");
    assert!(child.wait().expect("it ends").success());
    let mut said = String::new();
    error.read_to_string(&mut said).expect("it writes text");
    let expected =
        "warning: Server AT process:store has ended: its process was killed by signal 9 (SIGKILL)\n";
    assert!(said.ends_with(expected) && said.matches("has ended").count() == 1, "{said}");
}

#[test]
fn domains_end_with_a_program_that_is_killed() {
    let program = with_server(
        "NEW(s) AT \"process:store\"; WRITE(\"on\"); WRITELINE;
         WHILE i < 1 DO s!Say(\"x\"); s?Heard(x) END",
    );
    let (_folder, mut child) = running(&program);
    let below = || descendants(child.id()).into_iter().map(|(pid, _)| pid).collect::<Vec<_>>();
    assert!(within_a_while(|| below().len() == 2), "{:?}", below());
    let processes = below();
    signal(child.id(), Signal::KILL);
    child.wait().expect("it ends");
    let is_gone = |pid: &u32| match fs::read_to_string(format!("/proc/{pid}/stat")) {
        // One that nobody has waited for yet is as good.
        Ok(stat) => stat.contains(") Z "),
        Err(_) => true,
    };
    assert!(within_a_while(|| processes.iter().all(is_gone)));
}

#[test]
fn a_confined_domain_works() {
    let options = "confined: TRUE, memory: 100000000";
    let program = with_server(&format!(
        "NEW(s) AT \"process:store\" BY Lrpc({options});
         FOR i := 1 TO 1000 DO s!Say(TEXT(i)); s?Heard(x) END; WRITE(x)"
    ));
    assert_eq!(output_of(&program), "<1000>");
}

#[test]
fn a_domain_that_takes_too_much_memory_ends_alone() {
    let program = "COMPONENT Main;
         INTERFACE Fill; { IN Say(i: INTEGER) OUT Heard(i: INTEGER) } END Fill;
         COMPONENT Server OFFERS Fill;
           IMPLEMENTATION Fill; VARIABLE x: TEXT; i, n: INTEGER;
           BEGIN WHILE ?Say DO ?Say(n); x := \"0123456789\"; FOR i := 1 TO n DO x := x + x END; !Heard(LENGTH(x)) END
           END Fill;
         END Server;
         VARIABLE s: Server; i: INTEGER;
         BEGIN
           NEW(s) AT \"process:store\" BY Lrpc(memory: 20000000);
           s!Say(10); s?Heard(i); WRITE(i); s!Say(24); IF ~s?Heard THEN WRITE(\" lost\") END
         END Main;";
    let folder = folder_with(program);
    let output = drystone(folder.path(), &["run", "program.dry"]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "10240 lost", "{output:?}");
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn what_a_domain_cannot_be_is_said() {
    for (domain, by, reason) in [
        ("worker:one", "", "a worker is a number"),
        ("worker:1", " BY Worker(capacity: i)", "capacity is from 1 to 1000000"),
        ("process:x", " BY Lrpc(memory: i)", "memory is to be above 0"),
        ("process:x", " BY Lrpc(capacity: i + 10000000)", "capacity is from 1 to 1000000"),
        ("nowhere:x", "", "there is no naming context nowhere"),
    ] {
        let program = with_server(&format!("d := \"{domain}\"; NEW(s) AT d{by}"));
        let folder = folder_with(&program);
        let output = drystone(folder.path(), &["run", "program.dry"]);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{error}");
        assert!(error.contains(reason), "{error}");
    }
}
