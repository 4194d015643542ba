//! Runs a command on some processors, with a timeout.

use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The outcome of a command.
pub struct Execution {
    /// Its standard output.
    pub output: String,
    /// From before its start to after its end.
    pub time: Duration,
}

/// Runs a command on so many processors; it must succeed. Its errors are shown.
pub fn execute(command: &mut Command, cores: usize, limit: Duration) -> Result<Execution, String> {
    execute_late(command, cores, limit, Duration::ZERO)
}

/// The same, but its output isn't read for some time.
pub fn execute_late(
    command: &mut Command,
    cores: usize,
    limit: Duration,
    unread: Duration,
) -> Result<Execution, String> {
    let fail = |problem: String| format!("{}: {problem}", command_line(command));
    let all = sched_getaffinity(None).map_err(|error| fail(error.to_string()))?;
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped());
    let start = Instant::now();
    // A child inherits the processors of the thread that starts it.
    let child = sched_setaffinity(None, &last(&all, cores)).map_err(Into::into).and_then(|()| child.spawn());
    let restored = sched_setaffinity(None, &all);
    let fail = |problem: String| format!("{}: {problem}", command_line(command));
    let mut child = child.map_err(|error| fail(error.to_string()))?;
    restored.map_err(|error| fail(error.to_string()))?;
    let mut pipe = child.stdout.take().expect("standard output is a pipe");

    let child = Arc::new(Mutex::new(child));
    let (done, patience) = mpsc::channel::<()>();
    let watched = child.clone();
    let watchdog = thread::spawn(move || {
        let late = patience.recv_timeout(limit) == Err(RecvTimeoutError::Timeout);
        late && watched.lock().expect("nobody panics with it").kill().is_ok()
    });
    thread::sleep(unread);
    let mut output = Vec::new();
    let read = pipe.read_to_end(&mut output);
    let status = child.lock().expect("nobody panics with it").wait();
    let time = start.elapsed();
    drop(done);
    if watchdog.join().expect("it cannot panic") {
        return Err(fail(format!("not done after {limit:?}")));
    }
    read.map_err(|error| fail(error.to_string()))?;
    match status {
        Ok(status) if status.success() => {
            Ok(Execution { output: String::from_utf8_lossy(&output).into(), time })
        }
        Ok(status) => Err(fail(status.to_string())),
        Err(error) => Err(fail(error.to_string())),
    }
}

/// How many processors this process may use.
pub fn processors() -> usize {
    sched_getaffinity(None).map_or(1, |set| set.count() as usize)
}

/// The last of the processors: the first one has most of the interrupts.
pub fn last(all: &CpuSet, cores: usize) -> CpuSet {
    let mut set = CpuSet::new();
    for cpu in (0..CpuSet::MAX_CPU).rev().filter(|&cpu| all.is_set(cpu)).take(cores) {
        set.set(cpu);
    }
    set
}

fn command_line(command: &Command) -> String {
    let words = [command.get_program()].into_iter().chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(10);

    #[test]
    fn output_is_what_the_command_wrote() {
        assert_eq!(execute(Command::new("echo").arg("hello"), 1, LIMIT).unwrap().output, "hello\n");
    }

    #[test]
    fn a_command_has_as_many_processors_as_it_was_given() {
        assert_eq!(execute(&mut Command::new("nproc"), 1, LIMIT).unwrap().output, "1\n");
    }

    #[test]
    fn failure_is_an_error_with_the_command() {
        assert!(
            execute(&mut Command::new("false"), 1, LIMIT).err().unwrap().starts_with("false: exit status")
        );
    }

    #[test]
    fn who_takes_too_long_is_ended() {
        let error = execute(Command::new("sleep").arg("60"), 1, Duration::from_millis(50)).err().unwrap();
        assert_eq!(error, "sleep 60: not done after 50ms");
    }
}
