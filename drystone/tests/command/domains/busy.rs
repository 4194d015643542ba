//! A crossing beside a program that computes: both sides and the program share a processor.

use std::fs;
use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use tempfile::TempDir;

use crate::{DRYSTONE, folder_with};

/// Messages that the program measures, in milliseconds, for each line of input.
const MESSAGES: usize = 300_000;

fn program(place: &str) -> String {
    format!(
        "COMPONENT Main REQUIRES Console;
         INTERFACE Put;
           {{ {{ IN Put(x: INTEGER) }} IN Last OUT Sum(x: INTEGER) }}
         END Put;
         COMPONENT Server OFFERS Put;
           IMPLEMENTATION Put; VARIABLE x, sum: INTEGER;
           BEGIN
             WHILE ?Put OR ?Last DO
               sum := 0;
               WHILE ?Put DO ?Put(x); INC(sum, x) END;
               ?Last; !Sum(sum)
             END
           END Put;
         END Server;
         VARIABLE s: Server; line: TEXT; i, begin, sum: INTEGER;
         BEGIN
           NEW(s) AT \"{place}\"; s!Put(1); s!Last; s?Sum(sum);
           WRITE(\"ready\"); WRITELINE;
           Console!ReadLine;
           WHILE Console?Line DO
             Console?Line(line); begin := TIME;
             FOR i := 1 TO {MESSAGES} DO s!Put(1) END;
             s!Last; s?Sum(sum); WRITE(TIME - begin); WRITE(\" \"); WRITE(sum); WRITELINE;
             Console!ReadLine
           END;
           Console?End
         END Main;"
    )
}

/// Such a program, with all threads on one processor.
struct Crossing {
    process: Child,
    input: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
    _folder: TempDir,
}

impl Crossing {
    fn begin(place: &str, processor: &str) -> Crossing {
        let folder = folder_with(&program(place));
        let mut command = Command::new(DRYSTONE);
        command.args(["run", "program.dry"]).current_dir(folder.path());
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it runs");
        let input = process.stdin.take().expect("it is a pipe");
        let mut lines = BufReader::new(process.stdout.take().expect("it is a pipe")).lines();
        assert_eq!(lines.next().expect("a line").expect("it is text"), "ready");
        // Only now: a program with one processor from the beginning knows that polling is useless.
        for process in family(process.id()) {
            let mut bind = Command::new("taskset");
            bind.args(["--all-tasks", "--pid", "--cpu-list", processor, &process.to_string()]);
            assert!(bind.output().expect("taskset is there").status.success());
        }
        Crossing { process, input, lines, _folder: folder }
    }

    /// The time of the messages in milliseconds: the least of several.
    fn time(&mut self) -> u64 {
        let time = |_| {
            self.input.write_all(b"\n").expect("it reads");
            let line = self.lines.next().expect("a line").expect("it is text");
            let (time, sum) = line.split_once(' ').expect("two numbers");
            assert_eq!(sum, MESSAGES.to_string());
            time.parse().expect("it is a number")
        };
        (0..3).map(time).min().expect("there are some")
    }
}

impl Drop for Crossing {
    fn drop(&mut self) {
        // It can only have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A process with those that come from it.
fn family(process: u32) -> Vec<u32> {
    let children = fs::read_to_string(format!("/proc/{process}/task/{process}/children")).unwrap_or_default();
    let children = children.split_whitespace().filter_map(|child| child.parse().ok());
    [process].into_iter().chain(children.flat_map(family)).collect()
}

/// The first of the processors that this process may use.
fn a_processor() -> String {
    let status = fs::read_to_string("/proc/self/status").expect("Linux has it");
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).expect("it is there");
    list.trim().split([',', '-']).next().expect("there is one").to_string()
}

/// A third of the processor is left, so three times as long is fair. A side that yields to the other program for a
/// whole slice, or that polls, takes some fifty times as long.
#[test]
fn a_crossing_beside_a_busy_program_has_its_share_of_the_processor() {
    let processor = a_processor();
    for place in ["worker:1", "process:x"] {
        let mut crossing = Crossing::begin(place, &processor);
        let alone = crossing.time().max(20);
        let mut busy = Command::new("taskset");
        let busy = busy.args(["--cpu-list", &processor, "sh", "-c", "while :; do :; done"]);
        let mut busy = busy.spawn().expect("taskset is there");
        let beside = crossing.time();
        let _ = busy.kill();
        let _ = busy.wait();
        assert!(beside < 12 * alone, "{place}: {beside} ms beside a busy program, {alone} ms alone");
    }
}
