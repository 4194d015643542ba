//! Every ready process runs again after finitely many others, on any number of processors: equal processes that compute
//! keep step, which what they write can't tell. Each notes when it had done each part of its work.

mod compiled;

use std::path::{Path, PathBuf};
use std::process::Command;

/// Parts of the work of a process.
const PARTS: usize = 20;

/// How long a process may sleep that wants to for 5 milliseconds: processes that compute beside it take turns of a
/// millisecond.
const LONGEST_SLEEP: u64 = 300;

#[test]
fn equal_processes_keep_step_on_any_number_of_processors() {
    let Some(drystone) = compiled::Drystone::find() else {
        drystone_golden::skipped("no drystone binary (set DRYSTONE_BIN)");
        return;
    };
    for (cores, processes) in [(1, 5), (2, 4), (2, 5), (2, 8), (2, 9), (3, 5), (3, 9), (8, 12)] {
        let program = written(&format!("turns-{cores}-{processes}"), processes);
        let mut command = drystone.command();
        command.args(["run", "--cores", &cores.to_string()]).arg(program);
        check(command, cores, processes);
    }
}

#[test]
fn equal_processes_of_an_executable_keep_step() {
    let Some(drystone) = compiled::Drystone::find() else {
        drystone_golden::skipped("no drystone binary (set DRYSTONE_BIN)");
        return;
    };
    let program = written("turns-built", 9);
    let executable = program.with_extension("");
    let built = drystone.command().arg("build").arg(program).arg("-o").arg(&executable).status();
    assert!(built.expect("the drystone binary runs").success());
    let mut command = Command::new(executable);
    command.env("DRYSTONE_CORES", "2");
    check(command, 2, 9);
}

/// Runs the program a few times at most: on a busy machine any process may be kept waiting now and then, and more so
/// where the operating system has fewer processors than there are workers.
fn check(mut command: Command, cores: usize, processes: usize) {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let (attempts, least) = if cores <= processors { (2, PARTS / 2) } else { (5, PARTS / 4) };
    let mut problem = None;
    for _ in 0..attempts {
        let output = command.output().expect("it runs");
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{told}{}", String::from_utf8_lossy(&output.stderr));
        problem = out_of_step(&told, processes, least);
        if problem.is_none() {
            return;
        }
    }
    panic!("{processes} processes on {cores} processors: {}", problem.expect("it was not right"));
}

/// What is wrong with the times that the program has told, if anything: when one process has done all of its work, each
/// other has done at least so many parts.
fn out_of_step(told: &str, processes: usize, least: usize) -> Option<String> {
    let mut lines = told.lines().map(|line| -> Vec<u64> {
        line.split_whitespace().map(|number| number.parse().expect("a time")).collect()
    });
    let slept = lines.next().expect("how long it slept")[0];
    let reached: Vec<Vec<u64>> = lines.collect();
    assert_eq!((reached.len(), reached[0].len()), (processes, PARTS));
    if slept > LONGEST_SLEEP {
        return Some(format!("one that sleeps for 5 ms was woken after {slept} ms\n{told}"));
    }
    let first = reached.iter().map(|times| times[PARTS - 1]).min().expect("there are some");
    let done = reached.iter().map(|times| times.iter().filter(|&&time| time <= first).count());
    let done = done.min().expect("there are some");
    let problem = || format!("one had done {done} of {PARTS} parts when another had done all\n{told}");
    (done < least).then(problem)
}

/// Writes the program for so many processes.
fn written(name: &str, processes: usize) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name).with_extension("dry");
    let text = PROGRAM.replace("PROCESSES", &processes.to_string()).replace("PARTS", &PARTS.to_string());
    std::fs::write(&path, text).expect("the target folder can be written");
    path
}

const PROGRAM: &str = "
COMPONENT Turns;
CONSTANT Processes = PROCESSES; Parts = PARTS; Work = 300000;

  INTERFACE Log; { OUT Reached(time: INTEGER) } OUT End END Log;

  COMPONENT Busy OFFERS Log;
  VARIABLE reached[part: INTEGER]: INTEGER {ARRAY}; x: INTEGER;
    PROCEDURE Compute(n: INTEGER): INTEGER;
    VARIABLE i, x: INTEGER;
    BEGIN
      FOR i := 1 TO n DO x := (x * 3 + i) MOD 1009 END;
      RETURN x
    END Compute;
    IMPLEMENTATION Log;
    VARIABLE part: INTEGER;
    BEGIN
      FOR part := 0 TO Parts - 1 DO BEGIN {SHARED} !Reached(reached[part]) END END;
      !End
    END Log;
  VARIABLE part: INTEGER;
  BEGIN
    NEW(reached, Parts);
    FOR part := 0 TO Parts - 1 DO x := Compute(Work); reached[part] := TIME END
  END Busy;

VARIABLE busy[i: INTEGER]: Busy; i, begin, before, longest, time: INTEGER; done: BOOLEAN;
BEGIN
  begin := TIME;
  FOR i := 1 TO Processes DO NEW(busy[i]) END;
  REPEAT
    before := TIME; PASSIVATE(5); longest := MAX(longest, TIME - before);
    done := TRUE;
    FOR i := 1 TO Processes DO done := done AND INPUT(busy[i], Reached) END
  UNTIL done;
  WRITE(longest); WRITELINE;
  FOR i := 1 TO Processes DO
    WHILE busy[i]?Reached DO busy[i]?Reached(time); WRITE(time - begin); WRITE(\" \") END;
    busy[i]?End; WRITELINE
  END
END Turns;
";
