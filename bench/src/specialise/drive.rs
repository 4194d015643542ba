//! Runs the driver (bench/peers/c/driver), which measures contenders in turns in one process: by itself, or inside this
//! program, to include the specialiser's machine code.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde::Deserialize;

use super::layers::own;
use super::shell::run;
use super::specialiser::Program;
use crate::execute::execute;
use crate::places;

/// The built driver.
pub struct Driver {
    executable: PathBuf,
    library: PathBuf,
}

/// A residual program as machine code.
pub struct Native<'a> {
    /// The program that is specialised.
    pub program: &'a Program,
    /// The function that is called.
    pub function: String,
    /// The generic code, for calls that the residual program leaves to it.
    pub library: &'a Path,
}

/// A contender: a function in a shared object.
#[derive(Clone, Debug)]
pub struct Contender {
    /// Its name in the driver's output.
    pub name: &'static str,
    /// Where it is.
    pub library: PathBuf,
    /// The function that is called.
    pub function: String,
    /// A function that must be called before.
    pub initialiser: Option<&'static str>,
}

/// The extent of a measurement.
#[derive(Clone, Copy)]
pub struct Extent {
    /// Samples of each contender.
    pub rounds: usize,
    /// Microseconds of a sample.
    pub microseconds: usize,
}

/// The outcome for a contender.
#[derive(Deserialize, Debug, PartialEq)]
pub struct Outcome {
    /// The contender's name.
    pub contender: String,
    /// Nanoseconds of a call in each round.
    #[serde(default)]
    pub ns: Vec<f64>,
    /// Why there are no samples.
    pub error: Option<String>,
}

const LIMIT: Duration = Duration::from_secs(120);

impl Driver {
    /// Compiles it.
    pub fn build(built: &Path) -> Result<Driver, String> {
        let folder = own("driver");
        let compile = |options: &[&str], name: &str| {
            let output = built.join(name);
            let mut command = Command::new("gcc");
            command.args(["-O2", "-Wall", "-Wextra", "-Werror"]).args(options);
            for folder in [own("rpc"), own("stack")] {
                command.arg("-I").arg(folder);
            }
            command.args(["driver.c", "workloads.c"].map(|file| folder.join(file)));
            run(command.arg("-ldl").arg("-o").arg(&output)).map(|_| output)
        };
        Ok(Driver {
            executable: compile(&[], "driver")?,
            library: compile(&["-shared", "-fPIC"], "driver.so")?,
        })
    }

    /// Measures contenders, which must all do the same as the first one.
    pub fn measure(
        &self,
        workload: &str,
        extent: Extent,
        contenders: &[Contender],
        native: Option<&Native>,
    ) -> Result<Vec<Outcome>, String> {
        let (rounds, microseconds) = (extent.rounds.to_string(), extent.microseconds.to_string());
        let mut arguments = ["measure", workload, &rounds, &microseconds].map(String::from).to_vec();
        arguments.extend(contenders.iter().map(Contender::argument));
        let mut command = match native {
            None => {
                let mut command = Command::new(&self.executable);
                command.args(arguments);
                command
            }
            Some(native) => self.inside(native, &arguments),
        };
        outcomes(&execute(&mut command, 1, LIMIT)?.output)
    }

    /// The command that measures inside this program.
    fn inside(&self, native: &Native, arguments: &[String]) -> Command {
        let mut command = Command::new(places::executable());
        command.arg("inside").arg("--driver").arg(&self.library).args(["--function", &native.function]);
        command.arg("--library").arg(native.library);
        for argument in arguments {
            command.args(["--argument", argument]);
        }
        native.program.add_to(&mut command);
        command
    }

    /// Runs a workload with a function to write its profile; the variable says where.
    pub fn train(&self, workload: &str, who: &Contender, variable: (&str, &Path)) -> Result<(), String> {
        execute(self.calls(workload, 20_000, who).env(variable.0, variable.1), 1, LIMIT).map(|_| ())
    }

    /// The instructions of one call, with its part of the loop.
    pub fn instructions(&self, workload: &str, who: &Contender) -> Result<f64, String> {
        // Multiples of the number of argument sets that the driver takes in turns.
        let (few, many) = (512, 1536);
        let counted = |calls| {
            let run = self.calls(workload, calls, who);
            let mut valgrind = Command::new("valgrind");
            valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--log-fd=1"]);
            valgrind.arg(run.get_program()).args(run.get_args());
            collected(&execute(&mut valgrind, 1, LIMIT)?.output)
                .ok_or_else(|| format!("callgrind counted nothing for {}", who.name))
        };
        Ok((counted(many)? - counted(few)?) / (many - few) as f64)
    }

    fn calls(&self, workload: &str, calls: u32, who: &Contender) -> Command {
        let mut command = Command::new(&self.executable);
        command.args(["count", workload, &calls.to_string(), &who.argument()]);
        command
    }
}

impl Contender {
    /// The driver's argument for it.
    fn argument(&self) -> String {
        let initialiser = self.initialiser.map_or(String::new(), |name| format!(":{name}"));
        format!("{}={}:{}{initialiser}", self.name, self.library.display(), self.function)
    }

    /// A contender, if it was built; otherwise the reason is reported.
    pub fn new(
        name: &'static str,
        library: Result<PathBuf, String>,
        function: &str,
        initialiser: Option<&'static str>,
    ) -> Option<Contender> {
        match library {
            Ok(library) => Some(Contender { name, library, function: function.into(), initialiser }),
            Err(why) => {
                eprintln!("{name} has no {function}: {why}");
                None
            }
        }
    }
}

fn outcomes(text: &str) -> Result<Vec<Outcome>, String> {
    text.lines()
        .map(|line| serde_json::from_str(line).map_err(|error| format!("the driver said {line}: {error}")))
        .collect()
}

/// The line `==123== Collected : 4567`.
fn collected(log: &str) -> Option<f64> {
    let line = log.lines().find(|line| line.contains("Collected :"))?;
    line.rsplit(':').next()?.trim().parse().ok()
}

/// An empty folder for what is built.
pub fn fresh(folder: PathBuf) -> Result<PathBuf, String> {
    let _ = fs::remove_dir_all(&folder);
    super::shell::make_folder(&folder)?;
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_driver_says_is_read() {
        let text = "{\"contender\": \"hand\", \"ns\": [2.5, 2.75]}\n\
                    {\"contender\": \"x\", \"error\": \"no such file\"}\n";
        let [hand, x] = &outcomes(text).unwrap()[..] else { panic!("two lines") };
        assert_eq!((hand.contender.as_str(), hand.ns.as_slice()), ("hand", &[2.5, 2.75][..]));
        assert_eq!(x.error.as_deref(), Some("no such file"));
        assert!(outcomes("hello").unwrap_err().starts_with("the driver said hello"));
    }

    #[test]
    fn callgrinds_count_is_found() {
        assert_eq!(collected("==7== Events    : Ir\n==7== Collected : 24317\n"), Some(24317.0));
        assert_eq!(collected("==7== nothing\n"), None);
    }
}
