//! What a program has around it: standard error, the environment, folders, and files to which it appends.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use crate::peer::Running;
use crate::{DRYSTONE, complaint, drystone, folder_with, printed, status};

fn ran(text: &str, set_up: impl FnOnce(&mut Command)) -> Output {
    let folder = folder_with(text);
    let mut command = Command::new(DRYSTONE);
    set_up(command.args(["run", "program.dry"]).current_dir(folder.path()).stdin(Stdio::null()));
    command.output().expect("the command runs")
}

#[test]
fn errors_come_in_order_and_whole() {
    let folder = folder_with(
        "COMPONENT A REQUIRES ErrorOutput; VARIABLE i: INTEGER; why: TEXT;
         BEGIN
           FOR i := 1 TO 1000 DO
             WRITE(\"out \" + TEXT(i) + \"\\n\"); ErrorOutput!Write(\"error \" + TEXT(i) + \"\\n\")
           END;
           ErrorOutput!Update; IF ErrorOutput?Done THEN ErrorOutput?Done ELSE ErrorOutput?Failed(why) END;
           ErrorOutput!Write(\"last\\n\"); ASSERT(FALSE)
         END A;",
    );
    let output = drystone(folder.path(), &["run", "program.dry"]);
    let errors: String = (1..=1000).map(|i| format!("error {i}\n")).collect();
    let shown = complaint(&output);
    assert!(shown.starts_with(&format!("{errors}last\nerror: assertion failed")), "{shown}");
    assert_eq!((printed(&output).lines().count(), status(&output)), (1000, 1));
    // What was written to standard output before stands before it.
    let mut shell = Command::new("sh");
    shell.args(["-c", "\"$0\" run program.dry 2>&1", DRYSTONE]).current_dir(folder.path());
    let both = printed(&shell.output().expect("a shell runs"));
    let first = both.find("error 1000\n").zip(both.find("out 1000\n"));
    assert!(first.is_some_and(|(error, out)| out < error), "{both}");
}

#[test]
fn errors_that_nobody_reads_keep_only_their_writer() {
    let folder = folder_with(
        "COMPONENT Main REQUIRES ErrorOutput;
         COMPONENT Flood REQUIRES ErrorOutput;
         VARIABLE i: INTEGER;
         BEGIN
         ACTIVITY
           FOR i := 1 TO 300000 DO ErrorOutput!Write(TEXT(i) + \"\\n\") END; WRITE(\"all\"); WRITELINE
         END Flood;
         VARIABLE flood: Flood;
         BEGIN
           NEW(flood); CONNECT(ErrorOutput(flood), ErrorOutput);
           PASSIVATE(300); WRITE(\"goes on\"); WRITELINE
         END Main;",
    );
    let mut program = Running::start(folder.path(), &["run", "program.dry"]);
    let mut output = BufReader::new(program.stdout.take().expect("it is a pipe"));
    let mut line = String::new();
    output.read_line(&mut line).expect("it prints text");
    assert_eq!(line, "goes on\n");
    thread::sleep(Duration::from_millis(100));
    let shown = complaint(&program.output());
    assert!(shown.lines().eq((1..=300_000).map(|i| i.to_string())), "{}", shown.len());
    output.read_to_string(&mut line).expect("it prints text");
    assert_eq!(line, "goes on\nall\n");
}

#[test]
fn errors_that_cannot_be_written_are_told() {
    let text = "COMPONENT A REQUIRES ErrorOutput; VARIABLE why: TEXT;
        BEGIN
          ErrorOutput!Write(\"x\"); ErrorOutput!Update;
          IF ErrorOutput?Done THEN ErrorOutput?Done; WRITE(\"done\")
          ELSE ErrorOutput?Failed(why); WRITE(why) END
        END A;";
    let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
    let output = ran(text, |command| _ = command.stderr(full));
    assert_eq!((printed(&output).as_str(), status(&output)), ("No space left on device", 0));
    let folder = folder_with(text);
    let mut shell = Command::new("sh");
    shell.args(["-c", "\"$0\" run program.dry 2>&-", DRYSTONE]).current_dir(folder.path());
    assert_eq!(printed(&shell.output().expect("a shell runs")), "done");
}

const ENVIRONMENT: &str = "COMPONENT A REQUIRES Environment;
VARIABLE name, x: TEXT;
  PROCEDURE Show(name: TEXT);
  VARIABLE x: TEXT;
  BEGIN
    Environment!Get(name);
    IF Environment?Value THEN Environment?Value(x); WRITE(name + \" is <\" + x + \">\")
    ELSE Environment?Missing; WRITE(name + \" is missing\") END;
    WRITELINE
  END Show;
BEGIN
  Show(\"SHOP\"); Show(\"EMPTY\"); Show(\"NONE\"); Show(\"\"); Show(\"SHOP=a\"); Show(\"SH\\0OP\");
  Environment!List;
  WHILE Environment?Variable DO
    Environment?Variable(name, x); WRITE(name + \"=\" + x); WRITELINE
  END;
  Environment?End
END A;";

#[test]
fn variables_of_the_environment_are_found_or_missing() {
    let folder = folder_with(ENVIRONMENT);
    let shown = "SHOP is <a=b c\n>\nEMPTY is <>\nNONE is missing\n is missing\nSHOP=a is missing\nSH\n\
                 EMPTY=\nSHOP=a=b c\n\n";
    let run = |command: &mut Command| {
        command.env_clear().env("SHOP", "a=b c\n").env("EMPTY", "").current_dir(folder.path());
        printed(&command.output().expect("the command runs"))
    };
    assert_eq!(run(Command::new(DRYSTONE).args(["run", "program.dry"])), shown);
    let built = drystone(folder.path(), &["build", "program.dry"]);
    assert_eq!(status(&built), 0, "{}", complaint(&built));
    assert_eq!(run(&mut Command::new(folder.path().join("program"))), shown);
}

#[test]
fn folders_are_made_and_removed() {
    let folder = folder_with(
        "COMPONENT A REQUIRES Folders, Files; VARIABLE f: ANY(Blocks); why: TEXT;
           PROCEDURE Tell();
           BEGIN
             IF Folders?Done THEN Folders?Done; WRITE(\"done\")
             ELSE Folders?Failed(why); WRITE(why) END; WRITELINE
           END Tell;
         BEGIN
           Folders!Make(\"a\"); Tell; Folders!Make(\"a\"); Tell; Folders!Make(\"a/b\"); Tell;
           Folders!Make(\"none/b\"); Tell; Folders!Remove(\"a\"); Tell; Folders!Remove(\"a/b\"); Tell;
           Files!Open(\"a/file\", \"x\"); Files?Opened(f); Folders!Remove(\"a/file\"); Tell;
           Folders!Remove(\"a\\0\"); Tell; Folders!Make(\"\"); Tell; Folders!Make(\"kept\"); Tell
         END A;",
    );
    let output = drystone(folder.path(), &["run", "program.dry"]);
    let lines = [
        "done",
        "File exists",
        "done",
        "No such file or directory",
        "Directory not empty",
        "done",
        "Not a directory",
        "No file name has a character 0X",
        "No such file or directory",
        "done",
    ];
    assert_eq!(printed(&output).lines().collect::<Vec<_>>(), lines, "{}", complaint(&output));
    assert!(folder.path().join("kept").is_dir());
}

const APPENDS: &str = "COMPONENT Main REQUIRES Files;
COMPONENT Writer REQUIRES Files;
VARIABLE f: ANY(Blocks); i: INTEGER;
BEGIN
ACTIVITY
  Files!Open(\"log\", \"a\"); Files?Opened(f);
  FOR i := 1 TO 1000 DO f!WriteBlock(0, \"a line of the log\\n\"); f?Written END
END Writer;
VARIABLE writer[i: INTEGER]: Writer; i, n: INTEGER; f: ANY(Blocks); x: TEXT;
BEGIN
  FOR i := 1 TO 3 DO NEW(writer[i]); CONNECT(Files(writer[i]), Files) END;
  FOR i := 1 TO 3 DO DELETE(writer[i]) END;
  Files!Open(\"log\", \"a\"); Files?Opened(f);
  f!WriteBlock(5, \"end\"); f?Written; f!GetLength; f?Length(n); f!ReadBlock(n - 4, 4); f?Block(x);
  WRITE(n); WRITE(\" \" + x)
END Main;";

#[test]
fn what_is_appended_comes_at_the_end() {
    let folder = folder_with(APPENDS);
    for length in [54_003, 108_006] {
        let output = drystone(folder.path(), &["run", "program.dry"]);
        assert_eq!(printed(&output), format!("{length} \nend"), "{}", complaint(&output));
    }
    let log = fs::read_to_string(folder.path().join("log")).expect("it is there");
    assert_eq!(log.matches("a line of the log\n").count(), 6000, "no line is torn or lost");
}
