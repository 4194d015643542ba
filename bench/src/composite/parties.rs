//! The contenders that run the loops, each in a process of its own that prints its time and result.

use std::cell::LazyCell;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use serde::Deserialize;

use super::work::Work;
use crate::execute::execute;
use crate::peers::engines;
use crate::places;

/// The timeout of a process.
const LIMIT: Duration = Duration::from_secs(120);

/// The contenders; each is built when it is first needed.
pub struct Parties {
    rust: Built<PathBuf>,
    wasm: Built<PathBuf>,
    native: Built<PathBuf>,
    java: Built<(PathBuf, PathBuf)>,
    lua: Built<PathBuf>,
    nfs: Built<PathBuf>,
}

type Built<T> = LazyCell<Result<T, String>>;

/// A contender.
pub struct Party {
    pub name: &'static str,
    /// The words of its command before the work and the number of rounds.
    words: Result<Vec<PathBuf>, String>,
}

#[derive(Deserialize)]
struct Told {
    ns: f64,
    result: u64,
}

/// Runs a command that prints the nanoseconds of a round and a result, and checks the result.
pub fn nanoseconds(command: &mut Command, cores: usize, result: u64) -> Result<f64, String> {
    let output = execute(command, cores, LIMIT)?.output;
    let told: Told =
        serde_json::from_str(&output).map_err(|_| format!("no figures, but: {}", output.trim()))?;
    match told.result == result {
        true => Ok(told.ns),
        false => Err(format!("{command:?}: {} came out instead of {result}", told.result)),
    }
}

impl Parties {
    pub fn new() -> Parties {
        Parties {
            rust: LazyCell::new(engines::rust),
            wasm: LazyCell::new(engines::wasm),
            native: LazyCell::new(engines::native),
            java: LazyCell::new(engines::java),
            lua: LazyCell::new(engines::lua),
            nfs: LazyCell::new(engines::nfs),
        }
    }

    /// The folder of the engines in Rust, with the other peers in Rust.
    pub fn rust(&self) -> Result<&PathBuf, String> {
        self.rust.as_ref().map_err(Clone::clone)
    }

    /// The NFS client.
    pub fn nfs(&self) -> Result<PathBuf, String> {
        LazyCell::force(&self.nfs).clone()
    }

    /// A contender by its name.
    pub fn party(&self, name: &'static str) -> Party {
        Party { name, words: self.words(name) }
    }

    fn words(&self, name: &str) -> Result<Vec<PathBuf>, String> {
        let native = || LazyCell::force(&self.native).clone();
        Ok(match name {
            "c" => vec![native()?.join("loops")],
            "luajit" => {
                vec!["luajit".into(), LazyCell::force(&self.lua).clone()?, native()?.join("libnull.so")]
            }
            "java" => {
                let (java, classes) = LazyCell::force(&self.java).clone()?;
                let mut library: std::ffi::OsString = "-Dlibrary=".into();
                library.push(native()?.join("libnull.so"));
                let access = "--enable-native-access=ALL-UNNAMED".into();
                vec![java, access, library.into(), "-cp".into(), classes, "Loops".into()]
            }
            _ if name.starts_with("drystone") => {
                vec![places::executable(), "engine".into(), name.into()]
            }
            "wasmtime" => vec![LazyCell::force(&self.wasm).clone()?, name.into()],
            _ => vec![self.rust()?.clone(), name.into()],
        })
    }
}

impl Party {
    /// Nanoseconds of a round.
    pub fn measure(&self, work: Work, part: u64) -> Result<f64, String> {
        let words = self.words.as_ref().map_err(String::clone)?;
        let n = work.times() / self.slowness(work) / part;
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).arg(work.word()).arg(n.to_string());
        nanoseconds(&mut command, 1, work.result(n))
    }

    /// By how much its number of rounds may be divided.
    fn slowness(&self, work: Work) -> u64 {
        match (self.name, work) {
            ("wasmtime", Work::Ready) => 500,
            ("sbpf-jit" | "rbpf-jit", Work::Ready) => 10,
            ("rbpf" | "sbpf" | "drystone", Work::Copy | Work::Instructions) => 5,
            _ => 1,
        }
    }
}
