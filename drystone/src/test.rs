//! `drystone test`: runs tests, each as a process of its own, and shows how each ended. A test is a program. It has
//! passed if it ends with status 0 and has printed what stands in the file beside it that ends in `.expected`, if there
//! is one. Likewise `.args` has its arguments, a line each, and `.in` what it reads.

use std::env;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::arguments::Test;
use crate::library::Platform;
use crate::output::{FAILED, Status, fail, tell, wrong};
use crate::project::{Project, here};
use crate::{packages, with};

/// A test that prints more is stopped.
const MOST_BYTES: u64 = 64 << 20;

/// So many lines of a kind are shown of a failed test.
const SHOWN: usize = 20;

/// Runs the project's tests, or those that are named.
pub fn test(command: &Test) -> Result<(), Status> {
    let tests = chosen(&command.names)?;
    build_in(&tests)?;
    let timeout = Duration::from_secs(command.timeout);
    let begun = Instant::now();
    let mut failures = Vec::new();
    tell(format_args!("running {} test{}", tests.len(), if tests.len() == 1 { "" } else { "s" }));
    for test in &tests {
        let name = test.file.display();
        // Who watches sees which one takes long.
        let _ = write!(io::stdout(), "{name} ... ").and_then(|()| io::stdout().flush());
        let begun = Instant::now();
        let result = test.run(timeout).map_err(|error| fail(format_args!("{name}: {error}")))?;
        let how = if result.is_ok() { "ok" } else { "FAILED" };
        tell(format_args!("{how} ({:.2} s)", begun.elapsed().as_secs_f64()));
        failures.extend(result.err().map(|why| format!("\n{name}: {}", why.trim_end())));
    }
    failures.iter().for_each(tell);
    let passed = tests.len() - failures.len();
    let took = begun.elapsed().as_secs_f64();
    tell(format_args!("\n{passed} passed, {} failed ({took:.2} s)", failures.len()));
    if failures.is_empty() { Ok(()) } else { Err(FAILED) }
}

/// A test.
struct Case {
    /// Where it runs.
    folder: PathBuf,
    /// Its file, seen from there.
    file: PathBuf,
}

/// The tests with these names: files, or parts of the names of the project's tests. Without names, all of the project.
fn chosen(names: &[String]) -> Result<Vec<Case>, Status> {
    let is_file = |name: &&String| name.ends_with(".dry") && Path::new(name).is_file();
    let (files, parts): (Vec<&String>, Vec<&String>) = names.iter().partition(is_file);
    let files = files.into_iter().map(|file| Case { folder: PathBuf::new(), file: file.into() });
    if parts.is_empty() && !names.is_empty() {
        return Ok(files.collect());
    }
    let project = Project::current()?;
    let tests = project.tests();
    if tests.is_empty() {
        let hint =
            "a test is a program in the folder tests, or what tests in [package.metadata.drystone] names";
        return Err(wrong(format_args!("{} has no tests: {hint}", project.name)));
    }
    let has = |test: &PathBuf, part: &&String| test.to_string_lossy().contains(part.as_str());
    if let Some(part) = parts.iter().find(|part| !tests.iter().any(|test| has(test, part))) {
        return Err(wrong(format_args!(
            "{part} is no file, and part of the name of no test of {}",
            project.name
        )));
    }
    let is_chosen = |test: &PathBuf| names.is_empty() || parts.iter().any(|part| has(test, part));
    let of_project = tests.into_iter().filter(is_chosen);
    let of_project = of_project.map(|file| Case { folder: project.folder.clone(), file });
    Ok(files.chain(of_project).collect())
}

/// Builds crates that the programs' projects need, which may take longer than a test.
fn build_in(tests: &[Case]) -> Result<(), Status> {
    let mut built = Vec::new();
    for test in tests {
        let Some(project) = Project::of(&test.folder.join(&test.file))? else { continue };
        if built.contains(&project.folder) {
            continue;
        }
        let natives = packages::of(&project)?.natives;
        if !natives.is_empty() {
            with::library(&natives, Platform::Linux)?;
        }
        built.push(project.folder);
    }
    Ok(())
}

impl Case {
    /// Runs the test: whether it has passed, or why it hasn't.
    fn run(&self, timeout: Duration) -> io::Result<Result<(), String>> {
        let [mut printed, mut complaint] = [tempfile::tempfile()?, tempfile::tempfile()?];
        let mut command = Command::new(env::current_exe()?);
        command.arg("run").arg(&self.file).current_dir(here(&self.folder));
        let arguments = self.beside("args")?.unwrap_or_default();
        let arguments = arguments.split_inclusive(|&byte| byte == b'\n');
        command
            .arg("--")
            .args(arguments.map(|line| OsStr::from_bytes(line.strip_suffix(b"\n").unwrap_or(line))));
        command.stdin(self.open("in")?.map_or_else(Stdio::null, Stdio::from));
        let mut child = command.stdout(printed.try_clone()?).stderr(complaint.try_clone()?).spawn()?;
        let ended = wait(&mut child, timeout, [&printed, &complaint])?;
        let (printed, complaint) = (contents(&mut printed)?, contents(&mut complaint)?);
        let why = match ended {
            Ended::By(status) if status.success() => return self.compare(&printed),
            Ended::By(status) => match status.code() {
                Some(code) => format!("it ended with status {code}"),
                None => format!("it ended by {status}"),
            },
            Ended::Late => format!("it hasn't ended within {} s, and was stopped", timeout.as_secs()),
            Ended::Full => format!("it has printed more than {} MiB, and was stopped", MOST_BYTES >> 20),
        };
        let text = |bytes: &[u8]| last_lines(&String::from_utf8_lossy(bytes));
        Ok(Err(format!("{why}\n{}{}", text(&printed), text(&complaint))))
    }

    /// Compares what a test has printed with what is expected, if that is known.
    fn compare(&self, printed: &[u8]) -> io::Result<Result<(), String>> {
        match self.beside("expected")? {
            Some(expected) if expected != printed => {
                let [wanted, printed] = [&expected, printed].map(String::from_utf8_lossy);
                let file = self.file.with_extension("expected");
                let difference = difference(&wanted, &printed);
                Ok(Err(format!("it has not printed what is in {}\n{difference}", file.display())))
            }
            _ => Ok(Ok(())),
        }
    }

    /// What is in the file beside the test with another ending, if there is one.
    fn beside(&self, ending: &str) -> io::Result<Option<Vec<u8>>> {
        let Some(mut file) = self.open(ending)? else { return Ok(None) };
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(|error| self.unreadable(ending, &error))?;
        Ok(Some(bytes))
    }

    /// That file.
    fn open(&self, ending: &str) -> io::Result<Option<File>> {
        match File::open(self.folder.join(self.file.with_extension(ending))) {
            Ok(file) => Ok(Some(file)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.unreadable(ending, &error)),
        }
    }

    fn unreadable(&self, ending: &str, error: &io::Error) -> io::Error {
        let file = self.file.with_extension(ending);
        io::Error::new(error.kind(), format!("{}: {error}", file.display()))
    }
}

/// How a test has ended.
enum Ended {
    By(ExitStatus),
    /// It took too long.
    Late,
    /// It has printed too much.
    Full,
}

/// Waits until a test ends, or stops it.
fn wait(child: &mut Child, timeout: Duration, written: [&File; 2]) -> io::Result<Ended> {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Ended::By(status));
        }
        let is_late = begun.elapsed() >= timeout;
        let bytes = written.iter().map(|file| Ok(file.metadata()?.len())).sum::<io::Result<u64>>()?;
        if is_late || bytes > MOST_BYTES {
            child.kill()?;
            child.wait()?;
            return Ok(if is_late { Ended::Late } else { Ended::Full });
        }
        sleep(Duration::from_millis(5));
    }
}

fn contents(file: &mut File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.take(MOST_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The end of what a test has written, a line each.
fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let left_out = lines.len().saturating_sub(SHOWN);
    let head = if left_out == 0 { String::new() } else { format!("({left_out} lines before)\n") };
    head + &lines[left_out..].iter().map(|line| format!("{line}\n")).collect::<String>()
}

/// Where two texts differ: lines that are wanted behind `-`, lines that are there behind `+`.
fn difference(wanted: &str, there: &str) -> String {
    if wanted.trim_end() == there.trim_end() {
        return "they differ only in how the last line ends".into();
    }
    let [wanted, there] = [wanted, there].map(|text| text.lines().collect::<Vec<_>>());
    let same = wanted.iter().zip(&there).take_while(|(a, b)| a == b).count();
    let (wanted, there) = (&wanted[same..], &there[same..]);
    let end = wanted.iter().rev().zip(there.iter().rev()).take_while(|(a, b)| a == b).count();
    let part = |sign: &str, lines: &[&str]| {
        let lines = &lines[..lines.len() - end];
        let more = lines.len().saturating_sub(SHOWN);
        let shown: String = lines.iter().take(SHOWN).map(|line| format!("{sign} {line}\n")).collect();
        shown + &if more == 0 { String::new() } else { format!("{sign} and {more} lines more\n") }
    };
    format!("from line {}:\n{}{}", same + 1, part("-", wanted), part("+", there))
}
