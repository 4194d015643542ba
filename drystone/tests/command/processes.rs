//! Processes of the operating system that a program starts, talks to and ends.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{ChildStdout, Command};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::peer::{Running, signal};
use crate::{DRYSTONE, complaint, drystone, folder_with, printed, status};

/// A component with what the tests below share; `body` is what it does.
fn program(body: &str) -> String {
    "COMPONENT Main REQUIRES Processes, Files;
    VARIABLE p: ANY(Process, Input, Output); errors: ANY(Input); x, why: TEXT; n, i: INTEGER; q: BOOLEAN;
      PROCEDURE Started(): BOOLEAN;
      BEGIN
        Processes!Start;
        IF Processes?Started THEN Processes?Started(p, errors); RETURN TRUE END;
        Processes?Failed(why); WRITE(why); WRITELINE; RETURN FALSE
      END Started;
      PROCEDURE Read();
      BEGIN
        Input(p)!Read(100000);
        WHILE Input(p)?Data DO Input(p)?Data(x); WRITE(x); Input(p)!Read(100000) END;
        IF Input(p)?End THEN Input(p)?End ELSE Input(p)?Failed(why); WRITE(why) END
      END Read;
      PROCEDURE Show();
      BEGIN
        Process(p)!Wait;
        IF Process(p)?Exited THEN Process(p)?Exited(n); WRITE(\"exited \")
        ELSE Process(p)?Killed(n); WRITE(\"killed \") END; WRITE(n); WRITELINE
      END Show;
      PROCEDURE Update();
      BEGIN
        Output(p)!Update;
        IF Output(p)?Done THEN Output(p)?Done; WRITE(\"done\")
        ELSE Output(p)?Failed(why); WRITE(why) END; WRITELINE
      END Update;
      PROCEDURE End();
      BEGIN DELETE(p); DELETE(errors) END End;
      PROCEDURE Repeated(n: INTEGER): TEXT;
      VARIABLE t: TEXT;
      BEGIN t := \"x\"; WHILE LENGTH(t) < n DO t := t + t END; RETURN t END Repeated;
    BEGIN BODY END Main;"
        .replace("BODY", body)
}

#[track_caller]
fn writes(body: &str, expected: &str) {
    let folder = folder_with(&program(body));
    let begin = Instant::now();
    let output = drystone(folder.path(), &["run", "program.dry"]);
    // There are warnings about what a test doesn't use.
    assert!(!complaint(&output).contains("error:"), "{}", complaint(&output));
    assert_eq!((printed(&output).as_str(), status(&output)), (expected, 0));
    assert!(begin.elapsed() < Duration::from_secs(8), "nothing waits for its end");
}

#[test]
fn a_process_is_talked_to() {
    let body = "Processes!Program(\"cat\");
        IF Started() THEN
          FOR i := 1 TO 3 DO
            Output(p)!Write(\"line \" + TEXT(i) + \"\\n\"); Input(p)!ReadLine; Input(p)?Data(x); WRITE(x); WRITELINE
          END;
          Output(p)!Finish; Input(p)!ReadLine; Input(p)?End; Show
        END";
    writes(body, "line 1\nline 2\nline 3\nexited 0\n");
    let folder = folder_with(&program(body));
    let built = drystone(folder.path(), &["build", "program.dry"]);
    assert_eq!(status(&built), 0, "{}", complaint(&built));
    let output = Command::new(folder.path().join("program")).output().expect("it runs");
    assert_eq!(printed(&output), "line 1\nline 2\nline 3\nexited 0\n");
}

#[test]
fn output_errors_and_status_are_told_apart() {
    writes(
        "Processes!Program(\"sh\"); Processes!Argument(\"-c\");
        Processes!Argument(\"echo out; echo wrong >&2; exit 3\");
        q := Started(); Read; errors!ReadLine; errors?Data(x); WRITE(\"<\" + x + \">\"); WRITELINE;
        errors!ReadLine; errors?End; Show; Show",
        "out\n<wrong>\nexited 3\nexited 3\n",
    );
}

#[test]
fn arguments_go_as_they_are_and_no_shell_is_involved() {
    writes(
        "Processes!Program(\"printf\"); Processes!Argument(\"%s|\"); Processes!Argument(\"a b\");
        Processes!Argument(\"$HOME;*\"); Processes!Argument(\"\"); Processes!Argument(\"'\\n\");
        q := Started(); Read; End;
        Processes!Program(\"sh\"); Processes!Argument(\"-c\"); Processes!Argument(\"echo $SHOP; pwd\");
        Processes!Variable(\"SHOP\", \"a = b\"); Processes!Folder(\"/usr\"); q := Started(); Read; End;
        Processes!Program(\"echo\"); q := Started(); Read",
        "a b|$HOME;*||'\n|a = b\n/usr\n\n",
    );
}

#[test]
fn what_cannot_be_started_is_an_answer() {
    writes(
        "Processes!Program(\"no-such-program\"); q := Started();
        Processes!Program(\"\"); q := Started();
        Processes!Program(\"/etc/passwd\"); q := Started();
        Processes!Program(\"/usr\"); q := Started();
        Processes!Program(\"true\"); Processes!Argument(\"a\\0b\"); q := Started();
        Processes!Program(\"true\"); Processes!Folder(\"/none\"); q := Started();
        Processes!Program(\"true\"); Processes!Variable(\"a=b\", \"c\"); q := Started();
        Processes!Program(\"true\"); Processes!Argument(Repeated(4000000)); q := Started();
        Processes!Program(\"true\"); IF Started() THEN Show END",
        "No such file or directory\nNo such file or directory\nPermission denied\nPermission denied\n\
         nul byte found in provided data\nNo such file or directory\n\
         No variable's name is empty or has a character =\nArgument list too long\nexited 0\n",
    );
}

#[test]
fn a_process_that_closes_early_fails_writes() {
    writes(
        "Processes!Program(\"true\"); q := Started(); Show;
        Output(p)!Write(Repeated(1000000)); Update; Output(p)!Write(\"more\"); Update; Read; End;
        Processes!Program(\"sh\"); Processes!Argument(\"-c\"); Processes!Argument(\"exec <&-; sleep 1; exit 4\");
        q := Started(); Output(p)!Write(Repeated(1000000)); Update; Show",
        "exited 0\nBroken pipe\nBroken pipe\nBroken pipe\nexited 4\n",
    );
}

#[test]
fn a_process_that_floods_or_never_reads_holds_nobody_up() {
    writes(
        "Processes!Program(\"yes\"); q := Started();
        FOR i := 1 TO 100 DO Input(p)!ReadLine; Input(p)?Data(x) END; WRITE(x); WRITELINE; End;
        Processes!Program(\"sleep\"); Processes!Argument(\"1000\"); q := Started();
        Output(p)!Limit(200); Output(p)!Write(Repeated(1000000)); Update;
        Output(p)!Write(\"more\"); Update;
        Process(p)!WaitAtMost(50); Process(p)?Running; Process(p)!WaitAtMost(0); Process(p)?Running;
        Input(p)!Limit(50); Input(p)!Read(1); Input(p)?Failed(why); WRITE(why); WRITELINE;
        Process(p)!Terminate; Process(p)!WaitAtMost(5000); Process(p)?Killed(n); WRITE(n); WRITELINE; Show;
        Process(p)!Kill; Show; End;
        Processes!Program(\"sleep\"); Processes!Argument(\"1000\"); q := Started(); Process(p)!Kill; Show",
        "y\ntimeout\ntimeout\ntimeout\n15\nkilled 15\nkilled 15\nkilled 9\n",
    );
}

#[test]
fn much_goes_through_a_process() {
    // Two components, so that writing and reading wait for nobody.
    let folder = folder_with(
        "COMPONENT Main REQUIRES Processes;
         COMPONENT Feeder REQUIRES Output;
         VARIABLE i: INTEGER; t: TEXT;
         BEGIN
         ACTIVITY
           t := \"0123456789abcdef\"; FOR i := 1 TO 8 DO t := t + t END;
           FOR i := 1 TO 5000 DO Output!Write(t) END; Output!Finish
         END Feeder;
         VARIABLE p: ANY(Process, Input, Output); errors: ANY(Input); feeder: Feeder; x: TEXT; n: INTEGER;
         BEGIN
           Processes!Program(\"cat\"); Processes!Start; Processes?Started(p, errors);
           NEW(feeder); CONNECT(Output(feeder), p);
           Input(p)!Read(1000000);
           WHILE Input(p)?Data DO Input(p)?Data(x); n := n + LENGTH(x); Input(p)!Read(1000000) END;
           Input(p)?End; WRITE(n)
         END Main;",
    );
    let output = drystone(folder.path(), &["run", "program.dry"]);
    assert_eq!((printed(&output).as_str(), status(&output)), ("20480000", 0), "{}", complaint(&output));
}

/// The processes whose parent is that one, with their states.
fn children(of: u32) -> Vec<(u32, char)> {
    let entries = fs::read_dir("/proc").expect("Linux has it").flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let child = |id| {
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        let mut words = stat.rsplit_once(") ")?.1.split(' ');
        let state = words.next()?.chars().next()?;
        (words.next()?.parse::<u32>().ok()? == of).then_some((id, state))
    };
    ids.filter_map(child).collect()
}

fn descriptors(of: u32) -> usize {
    fs::read_dir(format!("/proc/{of}/fd")).expect("it runs").count()
}

fn line(of: &mut BufReader<ChildStdout>) -> String {
    let mut line = String::new();
    of.read_line(&mut line).expect("it prints text");
    line.trim_end().into()
}

fn started(folder: &Path) -> (Running, BufReader<ChildStdout>) {
    let mut program = Running::start(folder, &["run", "--cores", "1", "program.dry"]);
    let output = BufReader::new(program.stdout.take().expect("it is a pipe"));
    (program, output)
}

#[test]
fn a_thousand_processes_leave_nothing_behind() {
    let folder = folder_with(&program(
        "Processes!Program(\"true\"); q := Started(); Show; End;
        WRITE(\"first\"); WRITELINE; PASSIVATE(300);
        FOR i := 1 TO 1000 DO
          IF i MOD 2 = 0 THEN Processes!Program(\"true\")
          ELSE Processes!Program(\"sleep\"); Processes!Argument(\"1000\") END;
          q := Started(); IF i MOD 4 = 0 THEN Process(p)!Wait; Process(p)?Exited(n) END; End
        END;
        WRITE(\"last\"); WRITELINE; PASSIVATE(1000)",
    ));
    let (program, mut output) = started(folder.path());
    assert_eq!((line(&mut output), line(&mut output)), ("exited 0".into(), "first".into()));
    let before = descriptors(program.id());
    assert_eq!(line(&mut output), "last");
    thread::sleep(Duration::from_millis(300));
    assert_eq!((descriptors(program.id()), children(program.id())), (before, vec![]));
    assert_eq!(status(&program.output()), 0);
}

/// Whether a process has ended, or does so soon.
fn ends(id: u32) -> bool {
    (0..100).any(|_| {
        thread::sleep(Duration::from_millis(20));
        fs::read_to_string(format!("/proc/{id}/stat")).map_or(true, |stat| stat.contains(") Z "))
    })
}

#[test]
fn processes_end_with_the_program_however_it_does() {
    let begin = "Processes!Program(\"sleep\"); Processes!Argument(\"1000\"); q := Started();
        WRITE(\"begun\"); WRITELINE; PASSIVATE(300);";
    for end in ["", "HALT(1)", "ASSERT(FALSE)", "PASSIVATE(1000000)"] {
        let folder = folder_with(&program(&format!("{begin} {end}")));
        let (program, mut output) = started(folder.path());
        assert_eq!(line(&mut output), "begun");
        let [(child, _)] = children(program.id())[..] else { panic!("it has started one") };
        if end.starts_with("PASSIVATE") {
            signal(program.id(), Signal::TERM);
        }
        program.output();
        assert!(ends(child), "{end}");
    }
}

#[test]
fn a_process_gets_no_descriptors_but_three() {
    let folder = folder_with(&program(
        "Files!List(\".\"); WHILE Files?Entry OR Files?Done DO
           IF Files?Done THEN Files?Done ELSE Files?Entry(x) END END; Files?End;
         Processes!Program(\"sh\"); Processes!Argument(\"-c\"); Processes!Argument(\"echo /proc/$$/fd/*\");
         q := Started(); Read",
    ));
    let mut shell = Command::new("sh");
    shell.args(["-c", "exec 7</dev/null 8</dev/null; \"$0\" run program.dry", DRYSTONE]);
    let output = shell.current_dir(folder.path()).output().expect("a shell runs");
    let shown = printed(&output);
    let numbers: Vec<&str> =
        shown.split_whitespace().filter_map(|path| path.rsplit_once('/')).map(|(_, number)| number).collect();
    // The shell itself may have one that it reads the folder by.
    assert!(matches!(numbers[..], ["0", "1", "2"] | ["0", "1", "2", "3"]), "{shown}: {}", complaint(&output));
}

#[test]
fn a_component_elsewhere_is_told_that_it_cannot_have_one() {
    let folder = folder_with(
        "COMPONENT Main REQUIRES Processes;
         COMPONENT Work REQUIRES Processes;
         VARIABLE p: ANY(Process, Input, Output); errors: ANY(Input);
         BEGIN Processes!Program(\"true\"); Processes!Start; Processes?Started(p, errors); WRITE(\"made\") END Work;
         VARIABLE work: Work;
         BEGIN NEW(work) AT \"worker:1\"; CONNECT(Processes(work), Processes); DELETE(work) END Main;",
    );
    let output = drystone(folder.path(), &["run", "program.dry"]);
    let why = "a component cannot leave its program in a message over this binding";
    assert!(complaint(&output).contains(why) && printed(&output).is_empty(), "{}", complaint(&output));
}
