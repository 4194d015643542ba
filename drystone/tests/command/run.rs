use std::fs;
use std::io::Read;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

use crate::peer::Running;
use crate::{DRYSTONE, complaint, drystone, folder_with, printed, programs, status};

const ARGUMENTS: &str = "
COMPONENT Print REQUIRES Arguments;
VARIABLE x: TEXT;
BEGIN
  Arguments!GetArguments;
  WHILE Arguments?Argument DO
    Arguments?Argument(x); WRITE(\"<\"); WRITE(x); WRITE(\">\")
  END;
  Arguments?End
END Print;
";

#[test]
fn a_program_gets_what_follows_its_files() {
    let folder = folder_with(ARGUMENTS);
    let output = drystone(folder.path(), &["run", "program.dry", "one", "--cores", "two words"]);
    assert_eq!((printed(&output).as_str(), status(&output)), ("<one><--cores><two words>", 0));
}

#[test]
fn what_follows_two_dashes_is_no_source_file() {
    let folder = folder_with(ARGUMENTS);
    let output = drystone(folder.path(), &["run", "program.dry", "--", "other.dry", "--"]);
    assert_eq!((printed(&output).as_str(), status(&output)), ("<other.dry><-->", 0));
}

#[test]
fn several_files_are_one_program() {
    let folder = folder_with("COMPONENT A; BEGIN WRITE(\"A\") END A;");
    fs::write(folder.path().join("b.dry"), "COMPONENT B; VARIABLE a: A; BEGIN WRITE(\"B\"); NEW(a) END B;")
        .expect("written");
    for (files, expected) in [(["b.dry", "program.dry"], "BA"), (["program.dry", "b.dry"], "A")] {
        let output = drystone(folder.path(), &["run", files[0], files[1]]);
        assert_eq!((printed(&output).as_str(), status(&output)), (expected, 0), "the first file's starts");
    }
}

#[test]
fn imported_files_are_found_beside_their_importers() {
    let folder = folder_with("");
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("written");
    fs::create_dir(folder.path().join("app")).expect("made");
    write("app/main.dry", "IMPORT Text; COMPONENT Main; BEGIN WRITE(Text.Twice(\"ab\")) END Main;");
    write(
        "app/text.dry",
        "IMPORT Sizes;\nPROCEDURE Twice(t: TEXT): TEXT;\n\
         BEGIN ASSERT(LENGTH(t) < Sizes.Most);\n  RETURN t + t END Twice;",
    );
    write("app/Sizes.dry", "CONSTANT Most = 3;");
    for (from, file) in [(".", "app/main.dry"), ("app", "main.dry"), ("app", "./main.dry")] {
        let output = drystone(&folder.path().join(from), &["run", file]);
        assert_eq!((printed(&output).as_str(), status(&output)), ("abab", 0), "{}", complaint(&output));
        let output = drystone(&folder.path().join(from), &["check", file]);
        assert_eq!((complaint(&output).as_str(), status(&output)), ("", 0));
    }
    let output = drystone(folder.path(), &["graph", "app/main.dry"]);
    assert_eq!(status(&output), 0, "{}", complaint(&output));
    write("app/Sizes.dry", "CONSTANT Most = 2;");
    let output = drystone(folder.path(), &["run", "app/main.dry"]);
    assert!(complaint(&output).contains("assertion failed at app/text.dry:3:"), "{}", complaint(&output));
    write("app/Sizes.dry", "CONSTANT Most = y;");
    let output = drystone(folder.path(), &["run", "app/main.dry"]);
    assert!(complaint(&output).starts_with("app/Sizes.dry:1:17: error: y is not"), "{}", complaint(&output));
    write("app/Sizes.dry", "IMPORT Text; CONSTANT Most = 3;");
    let output = drystone(folder.path(), &["check", "app/main.dry"]);
    assert!(
        complaint(&output).contains("app/text.dry -> app/Sizes.dry -> app/text.dry"),
        "{}",
        complaint(&output)
    );
    fs::remove_file(folder.path().join("app/Sizes.dry")).expect("removed");
    fs::create_dir(folder.path().join("app/Sizes.dry")).expect("made");
    let output = drystone(folder.path(), &["check", "app/main.dry"]);
    assert_eq!(
        (complaint(&output).as_str(), status(&output)),
        ("error: cannot read app/Sizes.dry: it is a directory\n", 2)
    );
}

#[test]
fn the_component_that_starts_can_be_chosen() {
    let folder = folder_with("COMPONENT A; BEGIN WRITE(\"A\") END A; COMPONENT B; BEGIN WRITE(\"B\") END B;");
    let output = drystone(folder.path(), &["run", "--entry", "A", "program.dry"]);
    assert_eq!(printed(&output), "A");
    let output = drystone(folder.path(), &["run", "--entry", "C", "program.dry"]);
    assert_eq!(status(&output), 2);
    let complaint = complaint(&output);
    assert!(complaint.starts_with("error: the program cannot start with C: it has no such component"));
    assert!(complaint.contains("these are at the top level: A, B"), "{complaint}");
}

#[test]
fn the_status_is_the_programs() {
    let folder = folder_with("COMPONENT A; BEGIN WRITE(\"so far\"); HALT(7) END A;");
    let output = drystone(folder.path(), &["run", "program.dry"]);
    assert_eq!((printed(&output).as_str(), status(&output)), ("so far", 7));
}

#[test]
fn a_run_time_error_says_what_and_where() {
    let folder =
        folder_with("COMPONENT A;\nVARIABLE x: INTEGER;\nBEGIN\n  WRITE(\"so far\"); x := 1 DIV x\nEND A;");
    let output = drystone(folder.path(), &["run", "program.dry"]);
    assert_eq!((printed(&output).as_str(), status(&output)), ("so far", 1));
    assert!(complaint(&output).contains("division by zero at program.dry:4:"), "{}", complaint(&output));
}

#[test]
fn a_run_time_error_names_what_is_missing() {
    for (declarations, statements, wanted) in [
        (
            "a[i: INTEGER; t: TEXT]: INTEGER",
            "WRITE(a[7, \"x\"])",
            "missing element at program.dry:4:7 in A\n  a[7, \"x\"] was never given a value, or has been deleted\n",
        ),
        (
            "a[c: CHARACTER]: TEXT",
            "a[\"k\"] := \"v\"; DELETE(a[\"k\"]); WRITE(a[\"k\"])",
            "missing element at program.dry:4:38 in A\n  a['k'] was never given a value, or has been deleted\n",
        ),
        (
            "a[i: INTEGER]: INTEGER {ARRAY}",
            "NEW(a, 3); a[TIME - TIME + 3] := 1",
            "index out of bounds at program.dry:4:12 in A\n  there is no a[3]: NEW(a, n) makes the elements \
             0 to n - 1\n",
        ),
        (
            "b: B",
            "b!M",
            "empty container at program.dry:4:1 in A\n  b holds no component: no NEW has made one, or it was \
             moved, sent or deleted\n",
        ),
        (
            "b: B",
            "NEW(b); NEW(b)",
            "full container at program.dry:4:13 in A\n  b is there already: DELETE or MOVE it first\n",
        ),
        (
            "b: B; x: BOOLEAN",
            "NEW(b); IF ~x THEN b!M END; DELETE(b)",
            "protocol violation at program.dry:4:29 in A, interface I\n  it can't end here: the protocol \
             expects OUT N\n",
        ),
        (
            "x: BOOLEAN",
            "Arguments!GetArguments; IF x THEN Arguments?End END",
            "protocol violation at program.dry:3:11 in A, interface Arguments\n  it can't end here: the \
             protocol expects OUT Argument or OUT End\n",
        ),
    ] {
        let folder = folder_with(&format!(
            "INTERFACE I; IN M OUT N END I;
COMPONENT B OFFERS I; IMPLEMENTATION I; BEGIN ?M; !N END I; END B;
COMPONENT A REQUIRES Arguments; VARIABLE {declarations}; BEGIN
{statements}
END A;"
        ));
        let output = drystone(folder.path(), &["run", "program.dry"]);
        // Some have warnings before.
        let complaint = complaint(&output);
        let error = complaint.find("error: ").map(|place| &complaint[place..]);
        assert_eq!(error, Some(format!("error: {wanted}").as_str()), "{statements}");
        assert_eq!(status(&output), 1);
    }
}

#[test]
fn a_program_with_errors_is_not_run() {
    let folder = folder_with("COMPONENT A; BEGIN WRITE(1); WRITE(y) END A;");
    let output = drystone(folder.path(), &["run", "program.dry"]);
    assert_eq!((printed(&output).as_str(), status(&output)), ("", 2));
    assert!(complaint(&output).starts_with("program.dry:1:36: error:"), "{}", complaint(&output));
}

#[test]
fn memory_has_a_limit() {
    const GROWS: &str = "
COMPONENT Grows;
COMPONENT Cell; VARIABLE a, b, c: INTEGER; END Cell;
VARIABLE cell[i: INTEGER]: Cell; i: INTEGER;
BEGIN
  FOR i := 1 TO 100000000 DO NEW(cell[i]) END
END Grows;
";
    let folder = folder_with(GROWS);
    for cores in ["1", "2"] {
        let output = drystone(folder.path(), &["run", "--memory", "64M", "--cores", cores, "program.dry"]);
        assert_eq!(status(&output), 1, "{}", complaint(&output));
        assert!(complaint(&output).contains("out of memory at program.dry:6:"), "{}", complaint(&output));
        assert!(complaint(&output).contains("with the memory limit of 64M"), "{}", complaint(&output));
    }
}

#[test]
fn slices_share_the_memory_of_their_text() {
    const CUTS: &str = "
COMPONENT Cuts;
VARIABLE t, rest: TEXT; part[i: INTEGER]: TEXT; i: INTEGER;
BEGIN
  NEW(t, 10000000); rest := t;
  FOR i := 1 TO 100000 DO rest := SLICE(rest, 1, LENGTH(rest) - 1); part[i] := rest END;
  WRITE(LENGTH(part[100000]))
END Cuts;
";
    let folder = folder_with(CUTS);
    let output = drystone(folder.path(), &["run", "--memory", "32M", "program.dry"]);
    assert_eq!((printed(&output).as_str(), complaint(&output).as_str(), status(&output)), ("9900000", "", 0));
}

/// It must do so within seconds of processor time: moving everything each time would take minutes.
#[test]
fn a_text_grows_by_what_functions_give() {
    const GROWS: &str = "
COMPONENT Grows;
VARIABLE t: TEXT; i: INTEGER;
PROCEDURE Line(n: INTEGER): TEXT;
BEGIN RETURN TEXT(n) + \" is a line of about fifty characters, or so\"
END Line;
PROCEDURE Local(n: INTEGER): INTEGER;
VARIABLE s: TEXT; i: INTEGER;
BEGIN
  FOR i := 1 TO n DO s := s + \"(\" + Line(i) + \")\" END;
  RETURN LENGTH(s)
END Local;
BEGIN
  FOR i := 1 TO 400000 DO t := t + Line(i) + \"!\" END;
  WRITE(LENGTH(t)); WRITE(\" \"); WRITE(Local(400000))
END Grows;
";
    let folder = folder_with(GROWS);
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -t 20; exec \"$0\" run program.dry", DRYSTONE]).current_dir(folder.path());
    let output = command.output().expect("a shell runs");
    assert_eq!((printed(&output).as_str(), complaint(&output).as_str()), ("19888895 20288895", ""));
}

#[test]
fn figures_come_on_request() {
    let folder = folder_with("COMPONENT A; BEGIN WRITE(1) END A;");
    let output = drystone(folder.path(), &["run", "--stats", "program.dry"]);
    assert_eq!(printed(&output), "1");
    assert!(complaint(&output).starts_with("time ") && complaint(&output).contains("processes"));
}

#[test]
fn a_picture_is_saved() {
    let folder =
        folder_with("COMPONENT A REQUIRES GraphicView; BEGIN GraphicView!Fill(1, 2, 3, 4, 255) END A;");
    let output = drystone(folder.path(), &["run", "--graphics", "out.png", "program.dry"]);
    assert_eq!(status(&output), 0, "{}", complaint(&output));
    let picture = fs::read(folder.path().join("out.png")).expect("the picture is there");
    assert!(picture.starts_with(b"\x89PNG"));
}

#[test]
fn files_that_cannot_be_read_are_named() {
    let folder = folder_with("COMPONENT A; END A;");
    fs::write(folder.path().join("latin.dry"), b"\xe9").expect("written");
    let complain = |arguments: &[&str]| {
        let output = drystone(folder.path(), arguments);
        assert_eq!((printed(&output).as_str(), status(&output)), ("", 2));
        complaint(&output)
    };
    assert_eq!(complain(&["run", "no.dry"]), "error: cannot read no.dry: there is no such file\n");
    let option = "error: cannot read --core: there is no such option, and no such file (drystone help shows \
                  the options)\n";
    assert!(complain(&["run", "--core", "program.dry"]).starts_with(option));
    assert_eq!(complain(&["run", "."]), "error: cannot read .: it is a directory\n");
    assert_eq!(complain(&["run", "latin.dry"]), "error: cannot read latin.dry: it is not a text in UTF-8\n");
    let all =
        "error: cannot read a.dry: there is no such file\nerror: cannot read b.dry: there is no such file\n";
    assert_eq!(complain(&["check", "a.dry", "program.dry", "b.dry"]), all);
}

#[test]
fn a_wrong_command_line_is_explained() {
    let folder = folder_with("COMPONENT A; END A;");
    for arguments in [&["run"][..], &["run", "--memory", "lots", "program.dry"], &["walk"], &[]] {
        let output = drystone(folder.path(), arguments);
        assert_eq!(status(&output), 2);
        assert!(complaint(&output).contains("help"), "{}", complaint(&output));
    }
}

#[test]
fn deep_programs_have_room() {
    let deep = format!("COMPONENT A; BEGIN WRITE({}1{}) END A;", "(".repeat(90), ")".repeat(90));
    let long = format!("COMPONENT A; BEGIN WRITE(0{}) END A;", " + 1".repeat(400));
    for (text, printed) in [(deep, "1"), (long, "400")] {
        let folder = folder_with(&text);
        let output = drystone(folder.path(), &["run", "program.dry"]);
        assert_eq!(
            (crate::printed(&output).as_str(), status(&output)),
            (printed, 0),
            "{}",
            complaint(&output)
        );
    }
}

#[test]
fn files_beside_the_program_are_found_from_anywhere() {
    let folder = folder_with("");
    let program = programs().join("TrafficSimulation.dry");
    let output = drystone(folder.path(), &["run", program.to_str().expect("a plain path")]);
    assert_eq!(status(&output), 0, "{}", complaint(&output));
}

/// Runs a shell command, in which `$0` is the tested program.
fn shell(folder: &Path, command: &str) -> Output {
    let mut shell = Command::new("sh");
    shell.args(["-c", command, DRYSTONE]).current_dir(folder).stdin(Stdio::null());
    shell.output().expect("there is a shell")
}

#[test]
fn output_that_is_lost_is_an_error() {
    let folder = folder_with("COMPONENT A; BEGIN WRITE(\"lost\"); WRITELINE END A;");
    assert_eq!(status(&drystone(folder.path(), &["build", "program.dry"])), 0);
    for program in ["\"$0\" run program.dry", "./program"] {
        let output = shell(folder.path(), &format!("{program} >&-"));
        assert_eq!(complaint(&output), "error: standard output: It is closed\n");
        assert_eq!(status(&output), 1);
        let output = shell(folder.path(), &format!("{program} >/dev/full"));
        assert_eq!(complaint(&output), "error: standard output: No space left on device\n");
        assert_eq!(status(&output), 1);
        let output = shell(folder.path(), &format!("{program} >/dev/null"));
        assert_eq!((complaint(&output).as_str(), status(&output)), ("", 0));
    }
}

#[test]
fn who_writes_nothing_needs_no_output() {
    let folder = folder_with(
        "COMPONENT A REQUIRES FileSystem;
        BEGIN FileSystem!New(\"made\"); FileSystem?Done; FileSystem!WriteText(\"content\"); FileSystem!Close END A;",
    );
    assert_eq!(status(&drystone(folder.path(), &["build", "program.dry"])), 0);
    for program in ["\"$0\" run program.dry", "./program"] {
        let output = shell(folder.path(), &format!("{program} <&- >&- 2>&-"));
        assert_eq!(status(&output), 0);
        assert_eq!(fs::read(folder.path().join("made")).expect("it was made"), b"content");
    }
}

#[test]
fn a_service_goes_on_awaiting_when_its_client_was_ended_by_force() {
    const WAITS: &str = "
INTERFACE Hang; IN Hang(limit: INTEGER) OUT Never END Hang;
COMPONENT {ISOLATED} Client REQUIRES Hang;
VARIABLE n: INTEGER;
ACTIVITY Hang!Hang(1000); PASSIVATE(7); n := 1 DIV n
END Client;
COMPONENT Server OFFERS Hang;
IMPLEMENTATION Hang;
VARIABLE limit: INTEGER; no: BOOLEAN;
BEGIN {SHARED} ?Hang(limit); IF ~AWAIT(no, limit) THEN WRITE(\"never\") END; !Never
END Hang;
END Server;
COMPONENT {VIRTUAL} Main;
VARIABLE server: Server; client: Client;
BEGIN
  NEW(server); NEW(client); CONNECT(Hang(client), server); PASSIVATE(10); DELETE(server); WRITE(TIME);
  PASSIVATE(2000); WRITE(\" \"); WRITE(TIME)
END Main;
";
    let folder = folder_with(WAITS);
    let output = drystone(folder.path(), &["run", "program.dry"]);
    assert_eq!((printed(&output).as_str(), status(&output)), ("never1000 3000", 0), "{}", complaint(&output));
}

#[test]
fn waits_with_a_limit_end_in_real_time() {
    const WAITS: &str = "
INTERFACE Gate;  IN Pass(limit: INTEGER) OUT Passed(open: BOOLEAN; waited: INTEGER)  END Gate;
COMPONENT Door OFFERS Gate;
VARIABLE open: BOOLEAN;
IMPLEMENTATION Gate;
VARIABLE limit, begin: INTEGER; passes: BOOLEAN;
BEGIN
  ?Pass(limit); begin := TIME;
  BEGIN {SHARED} passes := AWAIT(open, limit) END;
  !Passed(passes, TIME - begin)
END Gate;
ACTIVITY PASSIVATE(300); BEGIN {EXCLUSIVE} open := TRUE END
END Door;
COMPONENT Main;
VARIABLE door: Door; open: BOOLEAN; waited: INTEGER;
PROCEDURE Try(limit: INTEGER);
BEGIN
  door!Pass(limit); door?Passed(open, waited); WRITE(open); WRITE(\" \"); WRITE(waited); WRITELINE
END Try;
BEGIN NEW(door); Try(0); Try(50); Try(60000); Try(1); Try(-1) END Main;
";
    let folder = folder_with(WAITS);
    let output = drystone(folder.path(), &["run", "program.dry"]);
    assert_eq!(status(&output), 0, "{}", complaint(&output));
    let printed = printed(&output);
    let tries: Vec<(bool, u64)> = printed
        .lines()
        .filter_map(|line| line.split_once(' '))
        .map(|(open, waited)| (open == "TRUE", waited.parse().expect("a number")))
        .collect();
    let [(false, none), (false, limited), (true, opened), (true, _), (true, _)] = tries[..] else {
        panic!("{printed}")
    };
    // However busy the machine is, nothing is early; and nothing that shall end waits for the limit of a minute.
    assert!(none < 30_000 && (50..30_000).contains(&limited) && opened < 30_000, "{printed}");
}

#[test]
fn what_a_program_has_sent_before_halt_leaves_it() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there are ports");
    let address = listener.local_addr().expect("it has an address");
    let folder = folder_with(&format!(
        "COMPONENT Main REQUIRES Network;
VARIABLE c: ANY(Input, Output); reason, t: TEXT; i: INTEGER;
BEGIN
  t := \"0123456789abcdef\"; FOR i := 1 TO 16 DO t := t + t END;
  Network!Dial(\"{address}\");
  IF Network?Connected THEN
    Network?Connected(c);
    Output(c)!Write(t); Output(c)!Write(t); Output(c)!Write(\"the last\");
    HALT(5)
  ELSE Network?Failed(reason) END
END Main;
"
    ));
    let program = Running::start(folder.path(), &["run", "program.dry"]);
    let (mut client, _) = listener.accept().expect("it comes");
    // By now it has halted, with more output than the kernel buffers.
    sleep(Duration::from_millis(300));
    let mut heard = String::new();
    client.read_to_string(&mut heard).expect("it can be read");
    assert_eq!(heard.len(), (2 << 20) + "the last".len());
    assert!(heard.ends_with("the last"));
    let output = program.output();
    assert_eq!(status(&output), 5, "{}", complaint(&output));
}

#[test]
fn one_message_before_halt_is_as_good_as_many() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there are ports");
    let address = listener.local_addr().expect("it has an address");
    let folder = folder_with(&format!(
        "COMPONENT Main REQUIRES Network;
VARIABLE c: ANY(Input, Output); reason: TEXT;
BEGIN
  Network!Dial(\"{address}\");
  IF Network?Connected THEN Network?Connected(c); Output(c)!Write(\"hello\"); HALT(5) ELSE Network?Failed(reason) END
END Main;
"
    ));
    let program = Running::start(folder.path(), &["run", "program.dry"]);
    let (mut client, _) = listener.accept().expect("it comes");
    let mut heard = String::new();
    client.read_to_string(&mut heard).expect("it can be read");
    assert_eq!(heard, "hello");
    let output = program.output();
    assert_eq!(status(&output), 5, "{}", complaint(&output));
}

/// What takes the kernel long is completed even if the program ends meanwhile.
#[test]
fn large_files_are_emptied_and_deleted_before_a_program_has_ended() {
    let folder = folder_with(
        "COMPONENT Main REQUIRES FileSystem, Files;
         BEGIN Files!Delete(\"deleted\"); FileSystem!New(\"emptied\"); HALT(3) END Main;",
    );
    let large = vec![1; 50_000_000];
    for _ in 0..3 {
        for name in ["deleted", "emptied"] {
            fs::write(folder.path().join(name), &large).expect("a temporary folder can be written");
        }
        assert_eq!(status(&drystone(folder.path(), &["run", "program.dry"])), 3);
        assert!(!folder.path().join("deleted").exists());
        assert_eq!(fs::metadata(folder.path().join("emptied")).expect("it is there").len(), 0);
    }
}
