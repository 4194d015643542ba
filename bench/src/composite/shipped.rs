//! Measures what shipping a block of calls saves: over loopback, beside single calls, Redis, NFS and a local copy.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use clap::ValueEnum;
use tempfile::TempDir;

use super::Bench;
use super::nfs::Nfs;
use super::parties::nanoseconds;
use super::ship::Errand;
use crate::execute::{execute, processors};
use crate::peers::{engines, run};
use crate::places;
use crate::row::Tell;
use crate::row::{Better, Row};
use crate::server::{Listening, free_address};
use crate::statistics::{Figure, rounded};
use crate::turns::Turn;

/// The timeout of a process.
const LIMIT: Duration = Duration::from_secs(120);

/// The numbers of calls in the paper's Figure 7.
const CALLS: [i64; 9] = [1, 2, 3, 4, 5, 7, 10, 30, 100];
/// How many of them are needed to find the break-even.
const FEW: usize = 4;

/// Calls, each of which needs the result of the one before.
const DEPENDENT: i64 = 100;
/// The target for them, in microseconds.
const DEPENDENT_TARGET: f64 = 40.0;

/// The paper's Figure 8, and more sizes.
const FILES: [(&str, u64); 5] =
    [("8K", 8 << 10), ("32K", 32 << 10), ("256K", 256 << 10), ("8M", 8 << 20), ("64M", 64 << 20)];
/// The target of a copy: so many times a local one's time, and so many microseconds more.
const COPY: (f64, f64) = (1.2, 30.0);

/// Microseconds of a round, from a command that prints them and this result.
fn microseconds(mut command: Command, result: i64) -> Result<f64, String> {
    Ok(nanoseconds(&mut command, processors(), result as u64)? * 1e-3)
}

/// Microseconds of a task of that size, which is also the correct result.
pub fn ship(errand: Errand, address: SocketAddr, size: i64, n: u64) -> Result<f64, String> {
    let mut command = Command::new(places::executable());
    let (errand, n) = (errand.to_possible_value().expect("all errands have names"), n.to_string());
    command.args(["ship", errand.get_name(), &address.to_string(), &size.to_string(), &n]);
    microseconds(command, size)
}

/// Starts the program whose service computes a sum.
pub fn joint() -> Result<(Listening, SocketAddr), String> {
    let address = free_address()?;
    let mut command = Command::new(places::executable());
    command.arg("serve").arg(places::root().join("bench/programs/joint.dry"));
    command.args(["--argument", "serve", "--argument", "ask", &format!("tcp://{address}/joint")]);
    Ok((Listening::start(command, processors())?, address))
}

/// A server of `systems/`, as an executable.
fn system(name: &str) -> Result<PathBuf, String> {
    eprintln!("building systems/{name}");
    let (folder, built) = (places::root().join("systems").join(name), places::peers().join("systems"));
    fs::create_dir_all(&built).map_err(|error| format!("{}: {error}", built.display()))?;
    let files = fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let files = files.filter_map(|entry| Some(entry.ok()?.path()));
    let mut sources: Vec<_> = files.filter(|path| path.extension().is_some_and(|it| it == "dry")).collect();
    sources.sort();
    let mut build = Command::new(places::drystone()?);
    build.arg("build").arg("--with").arg(&folder).args(sources).arg("-o").arg(built.join(name));
    run(&mut build).map(|_| built.join(name))
}

/// Started without quotas, because all clients here are honest.
fn served(system: &Path, options: &[String]) -> Result<Listening, String> {
    let mut command = Command::new(system);
    command.args(options).args(["requests=1000000000000", "bytes=1000000000000"]);
    Listening::start(command, processors())
}

impl Bench {
    /// The paper's Figure 7, and the number of calls from which shipping pays.
    pub(super) fn break_even(&self, tell: Tell) -> Result<(), String> {
        let (_server, address) = joint()?;
        let mut rows = Vec::new();
        let most = if self.effort.part == 1 { CALLS.len() } else { FEW };
        for &calls in &CALLS[..most] {
            let n = 4000 / self.effort.part / (10 + calls as u64) * 10;
            let of = |errand| move || ship(errand, address, calls, n);
            let (single, composite, cached) = (of(Errand::Single), of(Errand::Composite), of(Errand::Cached));
            let (drystone, peers) =
                self.turns(&[("cached", &cached), ("composite", &composite), ("single", &single)]);
            rows.push(Row { drystone, peers, ..Row::new(format!("calls {calls}"), "us") });
        }
        let value = |figure: Option<Figure>| figure.map(|figure| figure.value);
        let first = |better: &dyn Fn(&Row) -> Option<f64>| {
            let is_better =
                |row: &Row| Some(better(row)? < value(row.peers.get("single").copied().flatten())?);
            let found = rows.iter().zip(CALLS).find(|(row, _)| is_better(row) == Some(true));
            found.map(|(_, calls)| Figure::single(calls as f64))
        };
        let composite = first(&|row| value(row.peers.get("composite").copied().flatten()));
        let cached = first(&|row| value(row.drystone));
        tell(Row { drystone: composite, target: Some(2.0), ..Row::new("break-even".into(), "calls") })?;
        tell(Row { drystone: cached, target: Some(2.0), ..Row::new("break-even cached".into(), "calls") })?;
        rows.into_iter().try_for_each(tell)
    }

    /// Following a chain: in the key-value server, in Redis, and by calls of a component.
    pub(super) fn dependent(&self, tell: Tell) -> Result<(), String> {
        let folder = tempfile::tempdir().map_err(|error| format!("a folder for the stores: {error}"))?;
        let n = 2000 / self.effort.part;
        let (_joint, joint) = joint()?;
        let component = move || ship(Errand::Cached, joint, DEPENDENT, n);
        let one_by_one = move || ship(Errand::Single, joint, DEPENDENT, n / 20);
        let (drystone, peers) = self.turns(&[("drystone", &component), ("single", &one_by_one)]);
        tell(Row { drystone, peers, ..Row::new("component dependent calls 100".into(), "us") })?;

        let store = Store::start(&folder);
        let redis = Redis::start(&folder);
        let follow = || ship(Errand::Follow, store.as_ref().map_err(Clone::clone)?.address, DEPENDENT, n);
        let chain = |way: &'static str, n: u64| {
            let client = self.parties.rust()?.with_file_name("redis-chain");
            redis.as_ref().map_err(Clone::clone)?.chain(&client, way, n)
        };
        let (get, script) = (|| chain("get", n / 20), || chain("evalsha", n));
        let (drystone, peers) =
            self.turns(&[("drystone", &follow), ("redis-get", &get), ("redis-evalsha", &script)]);
        let target = Some(DEPENDENT_TARGET);
        tell(Row { drystone, peers, target, ..Row::new("dependent calls 100".into(), "us") })?;

        for command in ["get", "set"] {
            let own = || rate(store.as_ref().map_err(Clone::clone)?.redis, command, self.effort.part);
            let other = || rate(redis.as_ref().map_err(Clone::clone)?.address, command, self.effort.part);
            let (drystone, peers) = self.turns(&[("drystone", &own), ("redis", &other)]);
            let row = Row::new(format!("redis-benchmark {command}"), "requests/s");
            tell(Row { cores: processors(), better: Better::Higher, drystone, peers, ..row })?;
        }
        Ok(())
    }

    /// The paper's Figure 8.
    pub(super) fn copies(&self, tell: Tell) -> Result<(), String> {
        let memory = Path::new("/dev/shm");
        let folder = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
        let folder = folder.map_err(|error| format!("a folder for files: {error}"))?;
        let address = free_address()?;
        let options = [format!("folder={}", folder.path().display()), format!("shelf=tcp://{address}/shelf")];
        let server = system("files").and_then(|files| served(&files, &options));
        for (name, size) in FILES {
            // A new server for each row: after 19 800 new files, ganesha 4.3 considers all its descriptors used up.
            let nfs = self.parties.nfs().and_then(Nfs::start);
            let bytes: Vec<u8> = (0..size).map(|at| (at * 31 + at / 251) as u8).collect();
            let n = ((200 << 20) / self.effort.part / (size + (64 << 10))).clamp(3, 1000);
            let own = || {
                server.as_ref().map_err(Clone::clone)?;
                copied(folder.path(), &bytes, || ship(Errand::Copy, address, size as i64, n))
            };
            let local = || {
                let mut command = Command::new(places::executable());
                let n = n.to_string();
                command.args(["ship", "local", "127.0.0.1:1", &size.to_string(), &n]);
                command.current_dir(&folder);
                copied(folder.path(), &bytes, || microseconds(command, size as i64))
            };
            let over_nfs = || {
                let nfs = nfs.as_ref().map_err(Clone::clone)?;
                copied(&nfs.folder(), &bytes, || microseconds(nfs.copy(size, n), size as i64))
            };
            let (drystone, peers) = self.turns(&[("drystone", &own), ("local", &local), ("nfs", &over_nfs)]);
            let local = peers.get("local").copied().flatten();
            let target = local.map(|local| rounded(COPY.0 * local.value + COPY.1));
            tell(Row { drystone, peers, target, ..Row::new(format!("file copy {name}"), "us") })?;
        }
        Ok(())
    }

    /// Measures a composite call in all its forms, with a server that does nothing.
    pub(super) fn forms(&self, tell: Tell) -> Result<(), String> {
        let form = |which: &'static str, n: u64, result: i64| {
            move || {
                let mut command = Command::new(places::executable());
                command.args(["form", which, &n.to_string()]);
                microseconds(command, result)
            }
        };
        let n = 2_000_000 / self.effort.part;
        let round = |which| {
            let measure = form(which, n, 512 * n as i64);
            move || Ok(measure()? * 1e3)
        };
        let (tree, bytecode, compiled) = (round("tree"), round("bytecode"), round("compiled"));
        let turns: [Turn; 3] =
            [("drystone", &tree), ("drystone-bytecode", &bytecode), ("drystone-compiled", &compiled)];
        let (drystone, peers) = self.turns(&turns);
        tell(Row { drystone, peers, ..Row::new("tree interpreter".into(), "ns") })?;

        let made = form("made", 2000 / self.effort.part, 512 * 7);
        let (javac, cc) = (|| compiler(engines::compile_java), || compiler(engines::compile_c));
        let (drystone, all) = self.turns(&[("drystone", &made), ("javac", &javac), ("cc", &cc)]);
        for peer in ["javac", "cc"] {
            let peers = BTreeMap::from([(peer, all.get(peer).copied().flatten())]);
            tell(Row { drystone, peers, ..Row::new(format!("compile against {peer}"), "us") })?;
        }
        Ok(())
    }
}

/// Measures a copy of `from` to `to` in the folder; without the right bytes in `to` there is no figure.
fn copied(folder: &Path, bytes: &[u8], measure: impl FnOnce() -> Result<f64, String>) -> Result<f64, String> {
    let (from, to) = (folder.join("from"), folder.join("to"));
    fs::write(&from, bytes).map_err(|error| format!("{}: {error}", from.display()))?;
    // Empties the file, so that an earlier copy doesn't count. It may be missing, and keeps its owner.
    let _ = OpenOptions::new().write(true).truncate(true).open(&to);
    let time = measure()?;
    match fs::read(&to) {
        Ok(copy) if copy == bytes => Ok(time),
        Ok(_) => Err(format!("{} isn't what was copied", to.display())),
        Err(error) => Err(format!("{}: {error}", to.display())),
    }
}

/// The key-value server.
struct Store {
    _process: Listening,
    address: SocketAddr,
    redis: SocketAddr,
}

impl Store {
    fn start(folder: &TempDir) -> Result<Store, String> {
        let (address, redis) = (free_address()?, free_address()?);
        let file = folder.path().join("own.redb");
        let options = [
            format!("file={}", file.display()),
            format!("store=tcp://{address}/store"),
            format!("redis={redis}"),
        ];
        Ok(Store { _process: served(&system("keyvalue")?, &options)?, address, redis })
    }
}

/// Redis, set to write what it acknowledges to the disk.
struct Redis {
    _process: Listening,
    address: SocketAddr,
}

impl Redis {
    fn start(folder: &TempDir) -> Result<Redis, String> {
        let address = free_address()?;
        let mut command = Command::new("redis-server");
        command.args(["--port", &address.port().to_string(), "--save", ""]);
        command.args(["--appendonly", "yes", "--appendfsync", "always"]).current_dir(folder.path());
        Ok(Redis { _process: Listening::start_silent(command, address, processors())?, address })
    }

    /// Microseconds of a chain of gets: single ones, or by a script.
    fn chain(&self, client: &Path, way: &str, n: u64) -> Result<f64, String> {
        let mut command = Command::new(client);
        command.args([way, &self.address.to_string(), &DEPENDENT.to_string(), &n.max(1).to_string()]);
        microseconds(command, DEPENDENT)
    }
}

/// Requests a second, as redis-benchmark measures them with 50 clients.
fn rate(address: SocketAddr, command: &str, part: u64) -> Result<f64, String> {
    let mut benchmark = Command::new("redis-benchmark");
    benchmark.args(["-p", &address.port().to_string(), "-t", command, "-r", "10000", "--csv"]);
    benchmark.args(["-n", &(40_000 / part).to_string()]).stderr(Stdio::null());
    let output = execute(&mut benchmark, processors(), LIMIT)?.output;
    let line = output.lines().find(|line| line.to_lowercase().starts_with(&format!("\"{command}\"")));
    let rate = line.and_then(|line| line.split(',').nth(1)?.trim_matches('"').parse().ok());
    rate.ok_or_else(|| format!("redis-benchmark says: {output}"))
}

/// Microseconds that another compiler takes for the same loop.
fn compiler(compile: fn(&Path) -> Result<(), String>) -> Result<f64, String> {
    let folder = tempfile::tempdir().map_err(|error| format!("a folder for what is compiled: {error}"))?;
    let begin = Instant::now();
    compile(folder.path())?;
    Ok(begin.elapsed().as_secs_f64() * 1e6)
}
