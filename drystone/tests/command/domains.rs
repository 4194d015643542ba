//! Components in processes and on threads of their own: programs have the same results, and the end of a domain is
//! handled.

mod busy;
mod mirror;

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::faults::random;
use crate::peer::{Running, signal};
use crate::places::{Place, places, platforms};
use crate::{DRYSTONE, complaint, folder_with, printed, status};

/// A server that puts brackets around texts, and a program that uses such a server `s` and the domain's name `d`.
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

/// The output of a program whose component is in that place.
#[track_caller]
fn output_of(place: Place, program: &str) -> String {
    let output = place.run_text(program);
    let error = complaint(&output);
    // Warnings about unused variables are expected.
    assert!(status(&output) == 0 && !error.contains("error"), "{place:?}: {error}");
    printed(&output)
}

#[test]
fn a_server_answers_wherever_it_is() {
    let program =
        with_server("NEW(s) AT \"PLACE\"; FOR i := 1 TO 100 DO s!Say(TEXT(i)); s?Heard(x) END; WRITE(x)");
    for place in places() {
        assert_eq!(output_of(place, &program), "<100>", "{place:?}");
    }
}

/// Sends sequences of all kinds of values, and writes what comes back.
pub const SEQUENCES: &str = "
    RECORD Part; b: BOOLEAN; name: TEXT; c: CHARACTER; sizes: SEQUENCE OF INTEGER; x: REAL END Part;
    INTERFACE Mirror;
      { IN Show(n: INTEGER; parts: SEQUENCE OF Part; t: TEXT)
        OUT Seen(parts: SEQUENCE OF Part; names: SEQUENCE OF SEQUENCE OF TEXT; n: INTEGER) }
    END Mirror;
    COMPONENT Glass OFFERS Mirror;
      IMPLEMENTATION Mirror;
      VARIABLE i: INTEGER; part: Part; names: SEQUENCE OF SEQUENCE OF TEXT;
      BEGIN
        WHILE ?ANY DO
          CASE ? OF
            Show(n, parts, t):
              names := [];
              FOREACH i, part OF parts DO APPEND(names, [t, part.name]); APPEND(parts[i].sizes, n) END;
              !Seen(parts, names, COUNT(parts))
          END
        END
      END Mirror;
    END Glass;
    COMPONENT Viewer REQUIRES Mirror;
    VARIABLE parts, back: SEQUENCE OF Part; names: SEQUENCE OF SEQUENCE OF TEXT; i, n: INTEGER;
    ACTIVITY
      Mirror!Show(7, [Part(b: TRUE, name: \"a\", c: \"z\", sizes: [1, -2], x: 0.5), Part()], \"t\");
      Mirror?Seen(back, names, n);
      WRITE(n); WRITE(back[0].b); WRITE(back[0].name); WRITE(back[0].c); WRITE(back[0].x);
      WRITE(COUNT(back[0].sizes));
      WRITE(back[0].sizes[1]); WRITE(back[1].sizes[0]); WRITE(names[0][1] + names[1][0]); WRITELINE;
      Mirror!Show(0, [], \"\"); Mirror?Seen(back, names, n);
      WRITE(n); WRITE(COUNT(back)); WRITE(COUNT(names)); WRITELINE;
      FOR i := 1 TO 5000 DO APPEND(parts, Part(name: TEXT(i), sizes: [i, i * i])) END;
      Mirror!Show(9, parts, \"\"); Mirror?Seen(back, names, n);
      WRITE(n); WRITE(\" \"); WRITE(back[4999].name); WRITE(\" \"); WRITE(back[4999].sizes[1]); WRITE(names[77][1]);
      WRITE(parts = back); FOREACH i OF back DO REMOVE(back[i].sizes, 2) END; WRITE(parts = back); HALT(0)
    END Viewer;
    ";

/// What it writes.
pub const SEEN: &str = "2TRUEaz0.53-27at\n000\n5000 5000 2500000078FALSETRUE";

#[test]
fn sequences_cross_whole() {
    let main = "COMPONENT Main; VARIABLE g: Glass; v: Viewer;
        BEGIN NEW(g) AT \"PLACE\"; NEW(v); CONNECT(Mirror(v), g) END Main;";
    for place in places() {
        assert_eq!(output_of(place, &[SEQUENCES, main].concat()), SEEN, "{place:?}");
    }
}

#[test]
fn large_texts_cross_whole() {
    let program = with_server(
        "NEW(s) AT \"PLACE\"; d := \"0123456789\";
         FOR i := 1 TO 20 DO d := d + d END;
         s!Say(d); s?Heard(x); WRITE(LENGTH(x)); WRITE(\" \"); IF x = \"<\" + d + \">\" THEN WRITE(\"equal\") END",
    );
    for place in places() {
        assert_eq!(output_of(place, &program), "10485762 equal", "{place:?}");
    }
}

/// A program that makes so many domains one after the other, and prints the last one's answer.
pub fn one_after_the_other(domain: &str, count: usize) -> String {
    with_server(&format!(
        "FOR i := 1 TO {count} DO
           NEW(s) AT \"{domain}\"; s!Say(TEXT(i)); s?Heard(x); DELETE(s)
         END; WRITE(x + d); WRITE(k)"
    ))
}

/// With few descriptors: none leaks. (Without its domains the program needs about ten.)
#[test]
fn a_thousand_domains_one_after_the_other_leave_nothing_behind() {
    for domain in places().filter(|place| !place.is_bare()).map(|place| place.name) {
        let folder = folder_with(&one_after_the_other(domain, 1000));
        let limited = format!("ulimit -n 40; exec {DRYSTONE} run program.dry");
        let output = Command::new("sh").args(["-c", &limited]).current_dir(folder.path()).output();
        let output = output.expect("a shell runs");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "<1000>0", "{domain}: {output:?}");
        // The end of a domain by its own program isn't reported.
        assert!(!String::from_utf8_lossy(&output.stderr).contains("has ended"), "{domain}: {output:?}");
    }
}

/// A program with a component that sends unasked, and a slow client that prints the sum.
fn with_source(activity: &str, statements: &str) -> String {
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

/// The component requires what its program has, and has its own BEGIN, ACTIVITY and FINALLY.
#[test]
fn a_component_elsewhere_uses_what_it_requires() {
    let program = with_source(
        "FOR i := 1 TO 10000 DO Numbers!Number(i) END FINALLY WRITE(\"finally \")",
        "NEW(sum); NEW(source) AT \"PLACE\"; CONNECT(Numbers(source), sum); DELETE(source); DELETE(sum)",
    );
    for place in places() {
        assert_eq!(output_of(place, &program), "finally 50005000", "{place:?}");
    }
}

/// How many unanswered messages can be sent before the sender waits, to a server that takes none for a second.
fn sent_before_one_waits(place: Place, by: &str) -> u64 {
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
           NEW(sink) AT \"PLACE\" BY {by}; NEW(source); CONNECT(Numbers(source), sink)
         END Main;"
    );
    output_of(place, &program).parse().expect("it is a number")
}

#[test]
fn as_many_messages_are_on_their_way_as_is_said() {
    for place in places() {
        let sent = |by: &str| sent_before_one_waits(place, &format!("{}({by})", place.factory()));
        let (few, usual, many) = (sent("capacity: 16"), sent(""), sent("capacity: 2000"));
        // Some are in buffers before the server.
        assert!((16..100).contains(&few), "{place:?}: {few}");
        assert!((1024..1200).contains(&usual), "{place:?}: {usual}");
        assert!((2000..2200).contains(&many), "{place:?}: {many}");
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
    // A program's output is flushed when it waits.
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
        // A zombie that hasn't been waited for counts as gone.
        Ok(stat) => stat.contains(") Z "),
        Err(_) => true,
    };
    assert!(within_a_while(|| processes.iter().all(is_gone)));
}

#[test]
fn a_confined_domain_works() {
    let program = with_server(
        "NEW(s) AT \"PLACE\" BY Lrpc(confined: TRUE, memory: 100000000);
         FOR i := 1 TO 1000 DO s!Say(TEXT(i)); s?Heard(x) END; WRITE(x)",
    );
    for place in places().filter(|place| place.is_apart()) {
        assert_eq!(output_of(place, &program), "<1000>", "{place:?}");
    }
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
           NEW(s) AT \"PLACE\" BY Lrpc(memory: 20000000);
           s!Say(10); s?Heard(i); WRITE(i); s!Say(24); IF ~s?Heard THEN WRITE(\" lost\") END
         END Main;";
    for place in places().filter(|place| place.is_apart()) {
        let output = place.run_text(program);
        let said = (printed(&output), status(&output));
        assert_eq!(said, ("10240 lost".into(), 0), "{place:?}: {}", complaint(&output));
    }
}

#[test]
fn what_a_domain_cannot_be_is_said() {
    for (domain, by, reason) in [
        ("worker:one", "", "a worker is a number"),
        ("worker:1", " BY Worker(capacity: i)", "capacity is from 1 to 1000000"),
        ("process:x", " BY Lrpc(memory: i)", "memory is to be above 0"),
        ("process:x", " BY Lrpc(deadline: i)", "deadline is from 1 to 1000000000, not 0"),
        ("user:x", " BY Monitored, Lrpc", "Monitored can do nothing for a "),
        ("process:x", " BY Lrpc(capacity: i + 10000000)", "capacity is from 1 to 1000000"),
        ("nowhere:x", "", "there is no naming context nowhere"),
    ] {
        let program = with_server(&format!("d := \"{domain}\"; NEW(s) AT d{by}"));
        for platform in platforms() {
            let output = platform.run_text(&program);
            let error = complaint(&output);
            assert!(status(&output) == 1 && error.contains(reason), "{domain}{by} {platform:?}: {error}");
        }
    }
}

#[test]
fn composed_factories_stand_before_a_domain() {
    for place in places() {
        let expected = "101 101 lost lost 309 401 501 ";
        assert_eq!(output_of(place, include_str!("../bindings/Composed.dry")), expected, "{place:?}");
    }
}

/// Each program waits too long for two servers, unless their time is limited.
#[test]
fn who_talks_to_what_fails_is_told_whatever_is_between() {
    let text = include_str!("../bindings/Failing.dry");
    let retried = "Retried(messages: \"Go\", attempts: 2, pause: 10, deadline: 500)";
    let cached = "Cached(messages: \"Go\", lifetime: 100000)";
    let between = [
        "".into(),
        "Monitored".into(),
        "Local(deadline: 500)".into(),
        "Monitored, Local(deadline: 500)".into(),
        format!("{retried}, Monitored"),
        format!("Monitored, {retried}"),
        format!("{cached}, Monitored, Local(deadline: 500)"),
        "Restricted(messages: \"Go\", rate: 1000, burst: 10), Monitored(), Local(capacity: 1, deadline: 500)"
            .into(),
        format!("{cached}, {retried}, Monitored, Restricted(messages: \"Go\")"),
    ];
    for place in platforms() {
        for by in &between {
            let behind = if by.is_empty() { String::new() } else { format!(" BY {by}") };
            let mut text = text.replace(" BETWEEN", &behind).replace("JOINT", "BY Lrpc(memory: 20000000)");
            let mut expected = ["halt", "divide", "assert", "deep", "fill"].to_vec();
            if by.contains("deadline") {
                text = text.replace(" (* Begin", " Begin").replace(" (* End", " End").replace("; *)", ";");
                expected.extend(["late", "never"]);
            }
            let expected = expected.iter().map(|what| format!("{what}: first lost\n")).collect::<String>();
            let output = place.run_text(&text);
            let (said, complaint) = ((printed(&output), status(&output)), complaint(&output));
            assert_eq!(said, (format!("well: first well\n{expected}"), 0), "{place:?} {by}: {complaint}");
            for (error, count) in [("division by zero", 1), ("assertion failed", 1), ("out of memory", 2)] {
                let told = complaint.matches(error).count();
                // On a slow machine the deadline may come before memory is used up.
                let may_be_late = error == "out of memory" && by.contains("deadline");
                let is_told = told == count || may_be_late && told < count;
                assert!(is_told, "{place:?} {by}: {complaint}");
            }
        }
    }
}

/// The error is reported where the component is made, for all that it offers.
#[test]
fn a_component_elsewhere_may_take_so_long() {
    let late = with_server(
        "NEW(s) AT \"PLACE\" BY JOINT(deadline: 300);
         s!Say(\"early\"); s?Heard(x); WRITE(x); s!Say(\"late\");
         IF s?Heard THEN s?Heard(x); WRITE(x) ELSE WRITE(\" lost\") END; HALT(0)",
    );
    let late = late.replace("!Heard", "IF x = \"late\" THEN PASSIVATE(60000) END; !Heard");
    for place in places() {
        let output = place.run_text(&late.replace("JOINT", place.factory()));
        let said = (printed(&output), status(&output));
        assert_eq!(said, ("<early> lost".into(), 0), "{place:?}: {}", complaint(&output));
    }
}

/// The output is that of a program that holds its component itself.
#[test]
fn what_cannot_be_sent_is_lost() {
    for place in places() {
        let output = place.run_text(CARRIED);
        assert_eq!(
            (printed(&output), status(&output)),
            ("lost 7".into(), 0),
            "{place:?}: {}",
            complaint(&output)
        );
    }
}

/// A component in a message, and one that has been deleted.
const CARRIED: &str = "
COMPONENT Main;
INTERFACE Echo; { IN Say(n: INTEGER) OUT Heard(n: INTEGER) } END Echo;
INTERFACE Give; { IN Take(x: ANY(Echo)) OUT Back(x: ANY(Echo)) | IN Number(n: INTEGER) OUT Same(n: INTEGER) } END Give;
COMPONENT Host OFFERS Echo;
  IMPLEMENTATION Echo; VARIABLE n: INTEGER;
  BEGIN WHILE ?Say DO ?Say(n); !Heard(n + 1) END END Echo;
END Host;
COMPONENT Outer OFFERS Give;
  IMPLEMENTATION Give; VARIABLE x: ANY(Echo); n: INTEGER;
  BEGIN WHILE ?ANY DO IF ?Take THEN ?Take(x); !Back(x) ELSE ?Number(n); !Same(n) END END END Give;
END Outer;
VARIABLE outer, other: Outer; x: ANY(Echo); host: Host; n: INTEGER;
BEGIN
  NEW(host); MOVE(host, x); NEW(outer) AT \"PLACE\"; NEW(other) AT \"PLACE\";
  outer!Take(x); IF outer?Back THEN outer?Back(x); WRITE(\"back\") ELSE WRITE(\"lost\") END;
  other!Number(7); other?Same(n); WRITE(\" \"); WRITE(n)
END Main;
";

/// A component in a domain makes another one in a further domain, or gets the reason why not.
#[test]
fn domains_within_domains_are_there_or_refused() {
    let text = "COMPONENT Main;
         INTERFACE Echo; { IN Say(n: INTEGER) OUT Heard(n: INTEGER) } END Echo;
         COMPONENT Inner OFFERS Echo;
           IMPLEMENTATION Echo; VARIABLE n: INTEGER;
           BEGIN WHILE ?Say DO ?Say(n); !Heard(n + 1) END END Echo;
         END Inner;
         COMPONENT Outer OFFERS Echo;
           VARIABLE inner: Inner;
           IMPLEMENTATION Echo; VARIABLE n: INTEGER;
           BEGIN WHILE ?Say DO ?Say(n); BEGIN {EXCLUSIVE} inner!Say(n); inner?Heard(n) END; !Heard(n + 1) END END Echo;
         BEGIN NEW(inner) AT \"PLACE\"
         END Outer;
         VARIABLE outer: Outer; n: INTEGER;
         BEGIN
           NEW(outer) AT \"PLACE\"; outer!Say(1);
           IF outer?Heard THEN outer?Heard(n); WRITE(n) ELSE WRITE(\"lost\") END
         END Main;";
    for place in places() {
        let output = place.run_text(text);
        let (said, complaint) = ((printed(&output), status(&output)), complaint(&output));
        if place.is_bare() {
            assert_eq!(said, ("lost".into(), 0), "{place:?}: {complaint}");
            let why = format!("{}: a domain of this machine makes no others: its holder can\n", place.name);
            assert!(complaint.ends_with(&why), "{place:?}: {complaint}");
        } else {
            assert_eq!(said, ("3".into(), 0), "{place:?}: {complaint}");
        }
    }
}

#[test]
fn values_of_all_types_come_back_as_they_were() {
    let mut random = random(0x3177);
    for _ in 0..3 {
        let program = mirror::program(&mut random, 24);
        for place in places() {
            assert_eq!(output_of(place, &program), "done", "{place:?}\n{program}");
        }
    }
}

/// They exist at the same time, each a client of the one before.
#[test]
fn many_domains_are_there_at_once() {
    let program = "COMPONENT Main;
         INTERFACE Count; { IN Add(n: INTEGER) OUT Sum(n: INTEGER) } END Count;
         COMPONENT Host OFFERS Count REQUIRES Count;
           IMPLEMENTATION Count; VARIABLE n: INTEGER;
           BEGIN
             WHILE ?Add DO
               ?Add(n); IF n > 0 THEN BEGIN {EXCLUSIVE} Count!Add(n - 1); Count?Sum(n) END END; !Sum(n + 1)
             END
           END Count;
         END Host;
         VARIABLE host[i: INTEGER]: Host; i, n: INTEGER;
         BEGIN
           FOR i := 1 TO 40 DO
             NEW(host[i]) AT \"PLACE\"; IF i > 1 THEN CONNECT(Count(host[i]), host[i - 1]) END
           END;
           FOR i := 1 TO 40 DO host[i]!Add(i - 1); host[i]?Sum(n); WRITE(n); WRITE(\" \") END;
           FOR i := 40 TO 1 BY -1 DO DELETE(host[i]); NEW(host[i]) AT \"PLACE\" END;
           host[1]!Add(0); host[1]?Sum(n); WRITE(n)
         END Main;";
    let expected = (1..=40).map(|number| format!("{number} ")).collect::<String>() + "1";
    for place in places() {
        assert_eq!(output_of(place, program), expected, "{place:?}");
    }
}

/// Also the system's own interfaces, if its holder passes them on.
#[test]
fn a_component_elsewhere_uses_what_the_system_offers() {
    let program = "COMPONENT Main REQUIRES SystemTime, FileSystem, Arguments;
         COMPONENT Work REQUIRES SystemTime, FileSystem, Arguments;
         VARIABLE x: TEXT; n, m: INTEGER;
         BEGIN
           Arguments!GetArguments;
           WHILE Arguments?Argument DO Arguments?Argument(x); WRITE(x) END; Arguments?End;
           SystemTime!GetSystemTime; SystemTime?SystemTime(n); PASSIVATE(20);
           SystemTime!GetSystemTime; SystemTime?SystemTime(m); IF m - n >= 20 THEN WRITE(\" later \") END;
           FileSystem!New(\"some\"); FileSystem?Done; FileSystem!WriteText(\"in a file\"); FileSystem!SetPosition(3);
           FileSystem!ReadLine; FileSystem?Line(x); WRITE(x); FileSystem!Close
         END Work;
         VARIABLE work: Work;
         BEGIN
           NEW(work) AT \"PLACE\"; CONNECT(SystemTime(work), SystemTime); CONNECT(FileSystem(work), FileSystem);
           CONNECT(Arguments(work), Arguments); DELETE(work)
         END Main;";
    for place in places() {
        assert_eq!(output_of(place, program), " later a file", "{place:?}");
    }
}

/// Procedures that don't wait run on the processor's stack, which is large enough in all places.
#[test]
fn procedures_elsewhere_may_call_each_other_deeply() {
    let first =
        "PROCEDURE P0(a, b, c, d: INTEGER): INTEGER; BEGIN RETURN a + b + c + d END P0;\n".to_string();
    let procedures = (1..5000).fold(first, |text, number| {
        let before = number - 1;
        text + &format!(
            "PROCEDURE P{number}(a, b, c, d: INTEGER): INTEGER;\n\
             BEGIN RETURN (P{before}(d, a, b, c) + a * b + c) MOD 1000\nEND P{number};\n"
        )
    });
    let program = format!(
        "COMPONENT Main;
         INTERFACE Ask; {{ IN Go OUT Done(n: INTEGER) }} END Ask;
         COMPONENT Server OFFERS Ask;
         {procedures}
           IMPLEMENTATION Ask; BEGIN WHILE ?Go DO ?Go; !Done(P4999(1, 2, 3, 4)) END END Ask;
         END Server;
         VARIABLE server: Server; n: INTEGER;
         BEGIN NEW(server) AT \"PLACE\"; server!Go; server?Done(n); WRITE(n) END Main;"
    );
    let mut all = places().map(|place| output_of(place, &program));
    let first = all.next().expect("there are places");
    assert!(all.all(|other| other == first) && !first.is_empty(), "{first}");
}
