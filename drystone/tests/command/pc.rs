//! `--platform pc`: on a machine without an operating system (here QEMU) a program does the same as in a process.

mod domains;

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use drystone_emulated::{QEMU, emulator};
use object::Endianness;
use object::elf::{FileHeader64, PF_W, PF_X, PT_LOAD, PT_NOTE};
use object::read::elf::{FileHeader, ProgramHeader};
use tempfile::TempDir;

use crate::{DRYSTONE, all_programs, complaint, drystone, folder_with, printed, programs, status, with};

/// A timeout, so that a hanging machine doesn't block the tests.
const LONGEST: &str = "120";

/// Whether there is a machine; the test is skipped where there isn't.
pub fn is_there() -> bool {
    let is_there = emulator().is_ok();
    if !is_there {
        drystone_golden::skipped("no QEMU for x86-64");
    }
    is_there
}

/// `drystone run` with options and a program in a folder.
pub fn run(folder: &Path, options: &[&str], program: &str) -> Command {
    let mut command = Command::new("timeout");
    command.args([LONGEST, DRYSTONE, "run"]).args(options).arg(program).current_dir(folder);
    command.stdin(Stdio::null());
    command
}

pub fn output(mut command: Command) -> Output {
    command.output().expect("the command runs")
}

/// Output, errors, and the status.
type Said = (String, String, i32);

fn said(output: &Output) -> Said {
    (printed(output), complaint(output), status(output))
}

/// The outcomes of a program on both platforms, set up by `set_up`.
fn on_both(folder: &Path, options: &[&str], set_up: impl Fn(&mut Command)) -> [Said; 2] {
    [&["--cores", "1"][..], &["--platform", "pc"]].map(|platform| {
        let mut command = run(folder, &[platform, options].concat(), "program.dry");
        set_up(&mut command);
        said(&output(command))
    })
}

/// The outcome of a program, which must be the same on both platforms.
#[track_caller]
fn same(text: &str, options: &[&str], set_up: impl Fn(&mut Command)) -> Said {
    let [as_process, on_pc] = on_both(folder_with(text).path(), options, set_up);
    assert_eq!(on_pc, as_process);
    on_pc
}

/// Builds an image of the folder's program.
fn build(folder: &Path, options: &[&str]) -> PathBuf {
    let arguments = [&["build", "--platform", "pc", "-o", "image"], options, &["program.dry"]].concat();
    let built = drystone(folder, &arguments);
    assert_eq!((complaint(&built).as_str(), status(&built)), ("", 0));
    folder.join("image")
}

/// Starts an image on a machine with these options.
fn boot(image: &Path, machine: &[&str]) -> Output {
    let mut qemu = Command::new("timeout");
    qemu.args([LONGEST, QEMU, "-accel", "tcg", "-display", "none", "-no-reboot", "-nodefaults"]);
    qemu.args(["-serial", "stdio", "-device", "isa-debug-exit,iobase=0xf4,iosize=4"]);
    qemu.args(["-chardev", "file,id=errors,path=/dev/stderr"]);
    qemu.args(["-device", "isa-debugcon,iobase=0xe9,chardev=errors", "-kernel"]).arg(image).args(machine);
    qemu.stdin(Stdio::null());
    let mut output = output(qemu);
    // This line is for the command that passes standard input on.
    output.stderr = complaint(&output).replacen("\x1eready\n", "", 1).into_bytes();
    output
}

/// A copy of a long program with less work: an emulator takes sixteen times as long as a processor.
fn shortened(program: &Path) -> Option<TempDir> {
    if program.file_stem()? != "TrafficSimulation" {
        return None;
    }
    let folder = folder_with(&fs::read_to_string(program).expect("it can be read"));
    let (from, to) = (programs().join("siouxfalls"), folder.path().join("siouxfalls"));
    fs::create_dir(&to).expect("a temporary folder can be written");
    fs::copy(from.join("links.csv"), to.join("links.csv")).expect("it can be copied");
    let demand = fs::read_to_string(from.join("demand.csv")).expect("it is there");
    let lines = demand.lines().enumerate().filter(|(at, _)| at % 24 < 1).map(|(_, line)| line);
    let few = lines.fold(String::new(), |few, line| few + line + "\n");
    fs::write(to.join("demand.csv"), few).expect("a temporary folder can be written");
    Some(folder)
}

fn does_what_it_must(program: &Path) {
    if let Some(folder) = shortened(program) {
        let [as_process, on_pc] = on_both(folder.path(), &["--files", "."], |_| ());
        // A process finds its files by itself.
        assert_eq!(as_process.2, 2);
        let process = said(&drystone(folder.path(), &["run", "program.dry"]));
        return assert_eq!(on_pc, process, "{}", program.display());
    }
    let Ok(expected) = fs::read_to_string(program.with_extension("expected")) else { return };
    let text = fs::read_to_string(program).expect("it can be read");
    let imports = |name: &str| text.lines().any(|line| line.starts_with("IMPORT ") && line.contains(name));
    let path = program.to_str().expect("a plain path");
    let refused = |why: &str| {
        let refused = drystone(Path::new("/"), &["run", "--platform", "pc", path]);
        assert!(complaint(&refused).contains(why), "{path}: {}", complaint(&refused));
    };
    // Calendars and databases need an operating system.
    if imports("Time") || imports("Log") {
        return refused("is NATIVE, and nothing here carries it");
    } else if imports("Sql") {
        return refused("there is no naming context sqlite");
    }
    let arguments = fs::read_to_string(program.with_extension("args")).unwrap_or_default();
    let folder = program.parent().expect("a program is in a folder");
    let files = arguments.lines().filter(|argument| folder.join(argument).is_file());
    let files: Vec<&str> = files.flat_map(|file| ["--files", file]).collect();
    let mut command = run(folder, &[&["--platform", "pc", "--files", "."], &files[..]].concat(), path);
    command.arg("--").args(arguments.lines());
    command.stdin(File::open(program.with_extension("in")).map_or_else(|_| Stdio::null(), Stdio::from));
    let output = output(command);
    assert_eq!((printed(&output), status(&output)), (expected, 0), "{path}: {}", complaint(&output));
}

#[test]
fn all_programs_write_what_they_must() {
    if !is_there() {
        return;
    }
    let all = Mutex::new(all_programs().into_iter());
    let next = || all.lock().expect("nobody fails with it").next();
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(program) = next() {
                    does_what_it_must(&program);
                }
            });
        }
    });
}

const ARGUMENTS: &str = "
COMPONENT A REQUIRES Arguments;
VARIABLE x: TEXT;
BEGIN
  Arguments!GetArguments;
  WHILE Arguments?Argument DO Arguments?Argument(x); WRITE(\"<\"); WRITE(x); WRITE(\">\"); WRITELINE END;
  Arguments?End
END A;
";

#[test]
fn arguments_come_as_they_were_given() {
    if !is_there() {
        return;
    }
    let long = "x".repeat(10_000);
    let arguments = [
        "a b",
        "it's",
        "'",
        "x,y=z,,",
        "b\\c\\",
        "ä€😀",
        "",
        "\"q\"",
        "two\nlines",
        " ",
        "-m",
        "DRYSTONE",
        &long,
    ];
    let (printed, _, status) = same(ARGUMENTS, &[], |command| _ = command.arg("--").args(arguments));
    let expected: String = arguments.iter().map(|argument| format!("<{argument}>\n")).collect();
    assert_eq!((printed, status), (expected, 0));
}

#[test]
fn errors_go_where_messages_go() {
    if !is_there() {
        return;
    }
    let text = "COMPONENT A REQUIRES ErrorOutput; VARIABLE why: TEXT;
        BEGIN
          ErrorOutput!Write(\"one\\n\"); ErrorOutput!Update;
          IF ErrorOutput?Done THEN ErrorOutput?Done ELSE ErrorOutput?Failed(why) END;
          WRITE(\"out\"); ErrorOutput!Write(\"no line\"); HALT(3)
        END A;";
    assert_eq!(same(text, &[], |_| ()), ("out".into(), "one\nno line".into(), 3));
}

#[test]
fn what_is_appended_to_a_file_comes_at_its_end() {
    if !is_there() {
        return;
    }
    let text = "COMPONENT A REQUIRES Files; VARIABLE f: ANY(Blocks); x: TEXT; i: INTEGER;
        BEGIN
          FOR i := 1 TO 2 DO
            Files!Open(\"log\", \"a\"); Files?Opened(f);
            f!WriteBlock(0, \"one;\"); f?Written; f!WriteBlock(1, \"two;\"); f?Written;
            f!ReadBlock(0, 100); f?Block(x); WRITE(x); WRITELINE; DELETE(f)
          END
        END A;";
    // There are warnings that failures are not received.
    let (printed, _, status) = same(text, &[], |_| ());
    assert_eq!((printed.as_str(), status), ("one;two;\none;two;one;two;\n", 0));
}

#[test]
fn statuses_are_those_of_a_process() {
    if !is_there() {
        return;
    }
    for wanted in [0, 1, 63, 64, 200, 255, -1] {
        let text = format!("COMPONENT A; BEGIN WRITE(\"x\"); HALT({wanted}) END A;");
        assert_eq!(same(&text, &[], |_| ()), ("x".into(), String::new(), wanted & 0xff));
    }
}

/// Prints the number of lines, their lengths, and the last one.
const LINES: &str = "
COMPONENT A REQUIRES Console;
VARIABLE x, last: TEXT; lines, sum, i: INTEGER;
BEGIN
  Console!ReadLine;
  WHILE Console?Line DO
    Console?Line(x); INC(lines);
    FOR i := 0 TO LENGTH(x) - 1 DO sum := (sum * 31 + INTEGER(x[i])) MOD 1000000007 END;
    last := x; Console!ReadLine
  END;
  Console?End;
  WRITE(lines); WRITE(\" \"); WRITE(sum); WRITE(\" \"); WRITE(last); WRITELINE
END A;
";

#[test]
fn standard_input_comes_whole() {
    if !is_there() {
        return;
    }
    let many: String = (0..40_000).map(|at| format!("{:>1$}\n", at * 7919, at % 37)).collect();
    assert!(many.len() > 700_000);
    for input in ["", "\n", "one\ntwo", "one\r\n\r\n\n two \n", "x\0y\x01\u{7f}ä\n", &many] {
        let folder = tempfile::tempdir().expect("there are temporary folders");
        let path = folder.path().join("input");
        fs::write(&path, input).expect("a temporary folder can be written");
        let (_, complaint, status) =
            same(LINES, &[], |command| _ = command.stdin(File::open(&path).expect("it is there")));
        assert_eq!((complaint.as_str(), status), ("", 0));
    }
}

#[test]
fn standard_output_comes_whole_however_slowly_it_is_read() {
    if !is_there() {
        return;
    }
    let text =
        "COMPONENT A; VARIABLE i: INTEGER; BEGIN FOR i := 1 TO 40000 DO WRITE(i); WRITELINE END END A;";
    let folder = folder_with(text);
    let mut program = Talk::begin(folder.path());
    // More than pipes have room for.
    thread::sleep(Duration::from_secs(1));
    for number in 1..=40_000 {
        assert_eq!(program.hear(), number.to_string());
        if number % 8000 == 0 {
            thread::sleep(Duration::from_millis(100));
        }
    }
    program.end();
}

/// A program on a machine, with its input and output.
struct Talk {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Talk {
    fn begin(folder: &Path) -> Talk {
        let mut command = run(folder, &["--platform", "pc"], "program.dry");
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the command runs");
        let (to, from) = (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
        Talk { child, to, from: BufReader::new(from) }
    }

    fn say(&mut self, line: &str) {
        self.to.write_all(line.as_bytes()).and_then(|()| self.to.write_all(b"\n")).expect("it reads");
    }

    fn hear(&mut self) -> String {
        let mut line = String::new();
        self.from.read_line(&mut line).expect("it writes text");
        line.trim_end_matches('\n').into()
    }

    fn end(mut self) {
        drop(self.to);
        assert!(self.child.wait().expect("it runs").success());
    }
}

const ANSWERS: &str = "
  COMPONENT Answers REQUIRES Console;
  VARIABLE x: TEXT;
  ACTIVITY
    WRITE(\"go on\"); WRITELINE; Console!ReadLine;
    WHILE Console?Line DO Console?Line(x); WRITE(\"<\" + x + \">\"); WRITELINE; Console!ReadLine END;
    Console?End; HALT(0)
  END Answers;
";

/// A waiting process gets its answer even if another process computes all the time.
#[test]
fn each_line_is_answered_before_the_next_comes() {
    if !is_there() {
        return;
    }
    let others = [
        "",
        "COMPONENT Busy; VARIABLE i: INTEGER; ACTIVITY WHILE i >= 0 DO i := (i + 1) MOD 1000 END END Busy;",
    ];
    for (other, variable, begin) in [(others[0], "", ""), (others[1], "busy: Busy;", "NEW(busy);")] {
        let text = format!(
            "COMPONENT A REQUIRES Console;\n{ANSWERS}\n{other}\nVARIABLE answers: Answers; {variable}\nBEGIN\n  \
             NEW(answers); CONNECT(Console(answers), Console); {begin} PASSIVATE(60000)\nEND A;"
        );
        let folder = folder_with(&text);
        let mut program = Talk::begin(folder.path());
        assert_eq!(program.hear(), "go on");
        let answer = |number: usize| {
            let start = Instant::now();
            program.say(&number.to_string());
            assert_eq!(program.hear(), format!("<{number}>"));
            start.elapsed()
        };
        let mut times: Vec<Duration> = (0..21).map(answer).collect();
        times.sort();
        // The busy process has its turn each time, and other tests need this machine's processors.
        let most = if other.is_empty() { 200 } else { 1000 };
        assert!(times[10] < Duration::from_millis(most), "{times:?}");
        program.end();
    }
}

#[test]
fn failures_are_told_as_those_of_a_process() {
    if !is_there() {
        return;
    }
    let deep = "PROCEDURE Deep(n: INTEGER): INTEGER; BEGIN RETURN Deep(n + 1) + 1 END Deep;";
    let programs = [
        ("", "WRITE(\"before\"); WRITELINE; ASSERT(i = 1)"),
        ("", "i := 1 DIV i"),
        ("VARIABLE t: TEXT;", "t := \"abc\"; WRITE(INTEGER(t[i + 3]))"),
        (deep, "WRITE(Deep(i))"),
        ("", "AWAIT(i = 1)"),
        ("COMPONENT B; END B; VARIABLE many[i: INTEGER]: B;", "FOR i := 0 TO 1000000000 DO NEW(many[i]) END"),
        ("VARIABLE t: TEXT;", "t := \"x\"; WHILE i = 0 DO t := t + t END"),
    ];
    for (declarations, body) in programs {
        let text = format!(
            "COMPONENT A;\n{declarations}\nVARIABLE i: INTEGER;\nBEGIN {{EXCLUSIVE}}\n  {body}\nEND A;"
        );
        let (_, complaint, status) = same(&text, &["--memory", "8M"], |_| ());
        assert!(complaint.starts_with("error: ") && status == 1, "{body}: {complaint}");
    }
}

/// Procedures that don't wait run on the processor's stack.
#[test]
fn procedures_may_call_each_other_deeply() {
    if !is_there() {
        return;
    }
    let first =
        "PROCEDURE P0(a, b, c, d: INTEGER): INTEGER; BEGIN RETURN a + b + c + d END P0;\n".to_string();
    let procedures = (1..1000).fold(first, |text, number| {
        let before = number - 1;
        text + &format!(
            "PROCEDURE P{number}(a, b, c, d: INTEGER): INTEGER;\n\
             BEGIN RETURN (P{before}(d, a, b, c) + a * b + c * d) MOD 1000\n\
             END P{number};\n"
        )
    });
    let text = format!("COMPONENT A;\n{procedures}BEGIN WRITE(P999(1, 2, 3, 4)) END A;");
    let (printed, complaint, status) = same(&text, &[], |_| ());
    assert!(!printed.is_empty() && status == 0, "{complaint}");
}

#[test]
fn what_a_machine_has_not_got_is_said() {
    if !is_there() {
        return;
    }
    for interface in ["Network", "Environment", "Signals", "Folders", "Processes"] {
        let folder = folder_with(&format!("COMPONENT A REQUIRES {interface}; BEGIN END A;"));
        let told = said(&output(run(folder.path(), &["--platform", "pc"], "program.dry")));
        let missing = format!("error: {interface}: the system offers no such interface\n");
        assert_eq!(told, (String::new(), missing, 2));
    }
    let folder = folder_with("COMPONENT A; END A;");
    let given = [
        &["run", "--platform", "pc", "--cores", "2"][..],
        &["run", "--platform", "pc", "--stats"],
        &["run", "--platform", "pc", "--graphics", "x.png"],
        &["run", "--platform", "pc", "--control", "x"],
        &["run", "--files", "."],
        &["build", "--files", "."],
    ];
    for options in given {
        let output = drystone(folder.path(), &[options, &["program.dry"]].concat());
        assert_eq!(status(&output), 2, "{options:?}");
        let option = options.iter().rfind(|option| option.starts_with("--")).expect("there is one");
        assert!(complaint(&output).starts_with(&format!("error: {option} ")), "{}", complaint(&output));
    }
}

#[test]
fn a_machines_memory_ends() {
    if !is_there() {
        return;
    }
    let text = "COMPONENT A;\nCOMPONENT B; END B;\nVARIABLE many[i: INTEGER]: B; i: INTEGER;\nBEGIN\n  \
                FOR i := 0 TO 1000000000 DO NEW(many[i]) END\nEND A;";
    let folder = folder_with(text);
    let [limited, _] = on_both(folder.path(), &["--memory", "8M"], |_| ());
    let output = boot(
        &build(folder.path(), &[]),
        &["-M", "microvm,auto-kernel-cmdline=off", "-cpu", "max", "-m", "48M"],
    );
    let expected = limited.1.replace(", with the memory limit of 8M", "") + "\x1estatus 1\n";
    assert_eq!(complaint(&output), expected);
    assert_eq!(printed(&output), "");
}

/// Such an array is freed in pieces: it shrinks again and again, and must not be moved each time.
#[test]
fn what_takes_most_of_the_memory_goes_again() {
    if !is_there() {
        return;
    }
    let text = "COMPONENT A;\nVARIABLE a[i: INTEGER]: INTEGER {ARRAY}; i: INTEGER;\nBEGIN\n  \
                FOR i := 1 TO 3 DO NEW(a, 60000000); a[i] := i; WRITE(a[i]); DELETE(a) END\nEND A;";
    assert_eq!(same(text, &["--memory", "600M"], |_| ()), ("123".into(), String::new(), 0));
}

#[test]
fn files_that_need_more_memory_than_there_is_are_refused() {
    if !is_there() {
        return;
    }
    let folder = folder_with(FULL);
    let output = boot(
        &build(folder.path(), &[]),
        &["-M", "microvm,auto-kernel-cmdline=off", "-cpu", "max", "-m", "48M"],
    );
    assert_eq!(printed(&output), "Cannot allocate memory\nCannot allocate memory\n");
    assert_eq!(complaint(&output), "error: FileSystem: third: Cannot allocate memory\n\x1estatus 1\n");
}

const FULL: &str = "
COMPONENT A REQUIRES Files, FileSystem;
VARIABLE f: ANY(Blocks); x, why: TEXT; at: INTEGER; full: BOOLEAN;
BEGIN
  Files!Open(\"first\", \"w\"); ASSERT(Files?Opened); Files?Opened(f);
  f!SetLength(1000000000); ASSERT(f?Failed); f?Failed(why); WRITE(why); WRITELINE;
  x := \"0123456789abcdef\"; WHILE LENGTH(x) < 65536 DO x := x + x END;
  REPEAT
    f!WriteBlock(at, x); at := at + LENGTH(x);
    IF f?Failed THEN f?Failed(why); full := TRUE ELSE f?Written END
  UNTIL full;
  WRITE(why); WRITELINE;
  FileSystem!New(\"third\"); ASSERT(FileSystem?Done); FileSystem?Done;
  WHILE TRUE DO FileSystem!WriteText(x) END
END A;
";

#[test]
fn time_goes_as_elsewhere() {
    if !is_there() {
        return;
    }
    const LENGTH: u32 = 1500;
    let text = format!(
        "COMPONENT A REQUIRES SystemTime;\nVARIABLE a, b: INTEGER;\nBEGIN\n  \
         SystemTime!GetSystemTime; SystemTime?SystemTime(a); WRITE(a); WRITELINE;\n  PASSIVATE({LENGTH});\n  \
         SystemTime!GetSystemTime; SystemTime?SystemTime(b); WRITE(b - a); WRITELINE\nEND A;"
    );
    let folder = folder_with(&text);
    // If other programs delay this one, the measured time is longer, but never shorter.
    let measured = (0..4).map(|_| {
        let mut program = Talk::begin(folder.path());
        let begins: i64 = program.hear().parse().expect("a number");
        let (start, now) =
            (Instant::now(), SystemTime::now().duration_since(UNIX_EPOCH).expect("it is later"));
        let passed: f64 = program.hear().parse().expect("a number");
        let elapsed = start.elapsed().as_secs_f64() * 1000.0;
        program.end();
        assert!((begins / 1000 - now.as_secs() as i64).abs() <= 3, "{begins} {now:?}");
        (passed, elapsed)
    });
    let wanted = f64::from(LENGTH);
    let is_right = |time: f64| (time / wanted - 1.0).abs() < 0.05;
    let mut tried = Vec::new();
    let is_found = measured.into_iter().any(|(passed, elapsed)| {
        tried.push((passed, elapsed));
        is_right(passed) && is_right(elapsed)
    });
    assert!(is_found, "{tried:?}");
}

/// All requests about files, and their refusals.
const FILES: &str = include_str!("pc/files.dry");

#[test]
fn files_are_as_elsewhere() {
    if !is_there() {
        return;
    }
    // Each process changes its own folder.
    let folders = [folder_with(FILES), folder_with(FILES)];
    let [as_process, on_pc] = [&[][..], &["--platform", "pc", "--files", "data"]].map(|options| {
        let folder = folders[usize::from(!options.is_empty())].path();
        fs::create_dir_all(folder.join("data/in")).expect("a temporary folder can be written");
        fs::write(folder.join("data/in/lines"), "one\r\ntwo\n\nfour").expect("it can be written");
        for name in ["data/in/more", "data/empty"] {
            fs::write(folder.join(name), "").expect("it can be written");
        }
        let mut command = run(folder, options, "../program.dry");
        if options.is_empty() {
            command.current_dir(folder.join("data"));
        } else {
            command = run(folder, options, "program.dry");
        }
        said(&output(command))
    });
    assert_eq!(on_pc, as_process);
    assert_eq!(on_pc.2, 0);
    assert!(on_pc.0.lines().count() > 30, "{}", on_pc.0);
}

/// With real numbers, for which later processors have other instructions.
const REALS: &str = "COMPONENT A;\nVARIABLE x: REAL; i: INTEGER;\n\
                     BEGIN\n  x := 0.5;\n  FOR i := 1 TO 10 DO x := x * x + REAL(i) / 3.0 END;\n  WRITE(x); \
                     WRITELINE\nEND A;";

#[test]
fn an_image_boots_on_other_machines_and_says_what_they_lack() {
    if !is_there() {
        return;
    }
    let folder = folder_with(REALS);
    let expected = printed(&drystone(folder.path(), &["run", "program.dry"]));
    let microvm = "microvm,auto-kernel-cmdline=off";
    for (machine, processor) in
        [("q35", "max"), ("q35", "Nehalem-v1"), ("pc", "max"), (microvm, "Nehalem-v1")]
    {
        let output = boot(&build(folder.path(), &[]), &["-M", machine, "-cpu", processor]);
        assert_eq!(complaint(&output), "\x1estatus 0\n", "{machine} {processor}");
        // The BIOS's output comes first.
        assert!(printed(&output).ends_with(&expected), "{machine} {processor}: {}", printed(&output));
    }
    let later = build(folder.path(), &["--cpu", "v3"]);
    let output = boot(&later, &["-M", microvm, "-cpu", "max"]);
    assert_eq!((printed(&output), complaint(&output)), (expected, "\x1estatus 0\n".into()));
    let output = boot(&later, &["-M", microvm, "-cpu", "qemu64"]);
    let told = complaint(&output);
    assert!(told.starts_with("error: this processor has no ") && told.ends_with("\x1estatus 1\n"), "{told}");
    assert_eq!(printed(&output), "");
}

#[test]
fn nothing_in_an_image_is_both_written_and_run() {
    let folder = folder_with(REALS);
    let image = fs::read(build(folder.path(), &[])).expect("it was made");
    let header = FileHeader64::<Endianness>::parse(&*image).expect("an ELF file");
    let endian = header.endian().expect("one that is known");
    let segments = header.program_headers(endian, &*image).expect("it has segments");
    let loaded: Vec<_> = segments.iter().filter(|segment| segment.p_type(endian) == PT_LOAD).collect();
    let flags = |wanted: u32| loaded.iter().filter(|it| it.p_flags(endian) & (PF_W | PF_X) == wanted).count();
    assert_eq!((flags(PF_X), flags(0), flags(PF_W), flags(PF_W | PF_X)), (1, 1, 1, 0));
    let pages = |segment: &object::elf::ProgramHeader64<Endianness>| {
        (segment.p_vaddr(endian) / 4096, (segment.p_vaddr(endian) + segment.p_memsz(endian)).div_ceil(4096))
    };
    assert!(loaded.windows(2).all(|two| pages(two[0]).1 <= pages(two[1]).0), "no page is two segments'");
    let note = segments.iter().find(|segment| segment.p_type(endian) == PT_NOTE).expect("where it begins");
    let constants = loaded.iter().find(|segment| segment.p_flags(endian) & (PF_W | PF_X) == 0);
    let constants = pages(constants.expect("it was counted"));
    assert!(constants.0 <= pages(note).0 && pages(note).1 <= constants.1, "what a loader reads is only read");
}

#[test]
fn a_crate_without_a_standard_library_is_built_in() {
    if !is_there() {
        return;
    }
    let words = programs().join("../systems/words");
    let expected = fs::read_to_string(words.join("Words.expected")).expect("it is there");
    let _alone = with::alone();
    let output = drystone(&words, &["run", "--platform", "pc", "--with", ".", "Words.dry", "interfaces.dry"]);
    assert_eq!((printed(&output), status(&output)), (expected, 0), "{}", complaint(&output));
}
