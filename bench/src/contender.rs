//! The contenders: Drystone and the peers. All have the same command line, and answer in JSON:
//!
//! ```text
//! COMMAND PROGRAM [-cores N] [-runs N] [-warm N] [sizes, as -n N]
//!     {"ms": .., "messages": .., "result": {..}} for each run
//! COMMAND bytes [-cores N] [-n N]
//!     {"bytes": ..}
//! ```
//!
//! A peer in another language is one more entry in [`crate::peers`].

use std::ffi::OsString;
use std::process::Command;
use std::time::Duration;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::execute::{Execution, execute};
use crate::places;
use crate::processes::programs::Program;
use crate::server::Server;

/// How closely a contender follows the program.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// Drystone: the program itself.
    Drystone,
    /// A peer with the program's structure, so it sends the same messages.
    Mirror,
    /// The peer's best design; only the result is the same.
    Best,
}

/// See the head of this file.
#[derive(Clone)]
pub struct Contender {
    /// Its name in the rows.
    pub name: &'static str,
    /// How it works.
    pub manner: Manner,
    /// How to start it, or why it can't run.
    pub start: Result<Start, String>,
    /// Its folder in the repository, where it runs.
    pub folder: &'static str,
}

/// What starts a contender.
#[derive(Clone, Default)]
pub struct Start {
    /// The words of its command before the program's name.
    pub words: Vec<OsString>,
    /// Variables of its environment.
    pub environment: Vec<(&'static str, OsString)>,
}

/// How often a program is run in one process.
#[derive(Clone, Copy)]
pub struct Runs {
    /// Processors.
    pub cores: usize,
    /// Runs to warm up.
    pub warm: usize,
    /// Runs that are measured.
    pub measured: usize,
    /// The timeout of all of them.
    pub limit: Duration,
}

/// One run.
#[derive(Deserialize)]
struct Run {
    ms: f64,
    messages: u64,
    result: Value,
}

impl Contender {
    /// Drystone, by this executable in another process.
    pub fn drystone() -> Contender {
        let words = vec![places::executable().into(), "child".into()];
        let start = Ok(Start { words, ..Start::default() });
        Contender { name: "drystone", manner: Manner::Drystone, start, folder: "programs" }
    }

    /// Whether it runs this program; a language's best design may be the mirror.
    pub fn takes_part(&self, program: &Program) -> bool {
        match self.manner {
            Manner::Drystone => true,
            Manner::Mirror => self.knows(program),
            Manner::Best => self.knows(program) && program.best_differs,
        }
    }

    fn knows(&self, program: &Program) -> bool {
        program.languages.iter().any(|language| self.name.starts_with(language))
    }

    /// Whether it is a peer with the program's structure.
    pub fn is_mirror(&self) -> bool {
        self.manner == Manner::Mirror
    }

    /// Whether it can run; if not, the reason has been reported.
    pub fn is_there(&self) -> bool {
        self.start.is_ok()
    }

    /// The milliseconds of each measured run, whose results and messages are checked.
    pub fn warm(&self, program: &Program, runs: Runs) -> Result<Vec<f64>, String> {
        let execution = self.run(program, runs)?;
        let lines: Vec<Run> = self.read(&execution)?;
        if lines.len() != runs.measured {
            return Err(format!("{}: {} runs instead of {}", self.name, lines.len(), runs.measured));
        }
        lines.iter().map(|run| self.check(program, run).map(|()| run.ms)).collect()
    }

    /// The milliseconds of a process that does the work once, from start to end.
    pub fn cold(&self, program: &Program, cores: usize, limit: Duration) -> Result<f64, String> {
        let execution = self.run(program, Runs { cores, warm: 0, measured: 1, limit })?;
        for run in self.read(&execution)? {
            self.check(program, &run)?;
        }
        Ok(execution.time.as_secs_f64() * 1000.0)
    }

    /// Resident bytes for each of `program`'s N live servers.
    pub fn bytes(&self, program: &Program, cores: usize, limit: Duration) -> Result<f64, String> {
        #[derive(Deserialize)]
        struct Bytes {
            bytes: f64,
        }
        if self.manner == Manner::Drystone {
            let execution = self.run(program, Runs { cores, warm: 0, measured: 1, limit })?;
            let run: Run = self.read_one(&execution)?;
            let bytes = run.result.as_str().and_then(|text| text.trim().parse().ok());
            return bytes.ok_or_else(|| format!("{}: {} bytes", self.name, run.result));
        }
        let mut command = self.command("bytes".as_ref())?;
        command.arg("-cores").arg(cores.to_string()).args(program.flags());
        self.read_one::<Bytes>(&execute(&mut command, cores, limit)?).map(|line| line.bytes)
    }

    /// Starts the server of that program.
    pub fn server(&self, program: &Program) -> Result<Server, String> {
        Server::start(match self.manner {
            Manner::Drystone => {
                let mut command = Command::new(places::executable());
                command.arg("serve").arg(program.source());
                command
            }
            _ => self.command(program.name.as_ref())?,
        })
    }

    fn command(&self, what: &std::ffi::OsStr) -> Result<Command, String> {
        let Start { words, environment } = self.start.as_ref().map_err(Clone::clone)?;
        let mut command = Command::new(&words[0]);
        command
            .args(&words[1..])
            .arg(what)
            .envs(environment.iter().cloned())
            .current_dir(places::root().join(self.folder));
        Ok(command)
    }

    fn run(&self, program: &Program, runs: Runs) -> Result<Execution, String> {
        let (what, dash, sizes) = match self.manner {
            Manner::Drystone => (program.source().into_os_string(), "--", program.settings()),
            _ => (program.name.into(), "-", program.flags()),
        };
        let mut command = self.command(&what)?;
        for (option, value) in [("cores", runs.cores), ("warm", runs.warm), ("runs", runs.measured)] {
            command.arg(format!("{dash}{option}")).arg(value.to_string());
        }
        if self.manner == Manner::Best {
            command.arg("-best");
        }
        if let Some(file) = program.file {
            command.arg(if self.manner == Manner::Drystone { "--argument" } else { "-file" }).arg(file()?);
        }
        execute(command.args(sizes), runs.cores, runs.limit)
    }

    fn read<T: DeserializeOwned>(&self, execution: &Execution) -> Result<Vec<T>, String> {
        let lines = execution.output.lines();
        let values = lines.map(|line| {
            serde_json::from_str(line).map_err(|error| format!("{}: {error}: {line}", self.name))
        });
        values.collect()
    }

    fn read_one<T: DeserializeOwned>(&self, execution: &Execution) -> Result<T, String> {
        self.read(execution)?.pop().ok_or_else(|| format!("{}: no figures", self.name))
    }

    fn check(&self, program: &Program, run: &Run) -> Result<(), String> {
        let right = match self.manner {
            Manner::Drystone => program.expected()? == run.result.as_str().unwrap_or_default(),
            _ => program.is_result(&run.result),
        };
        if !right {
            return Err(format!("{}: {}: wrong result {}", self.name, program.row, run.result));
        }
        if self.manner != Manner::Best && !program.messages.contains(run.messages) {
            return Err(format!(
                "{}: {}: wrong number of messages, {}",
                self.name, program.row, run.messages
            ));
        }
        Ok(())
    }
}
