//! Measures a kernel's primitives, in instructions: systems that run in one QEMU, which counts them (Tables 1 to 3 of
//! *THINK* (Fassino)).

mod blocks;
mod chapter;
mod failure;
pub mod linux;
mod page;

use std::collections::BTreeMap;
use std::process::Command;
use std::time::Instant;

use drystone_emulated::{Kernel, MICROVM, count};

use failure::say;
pub use page::page;

use crate::places;
use crate::row::{Row, Tell};
use crate::statistics::Figure;

/// The paper's kernel, on a PowerPC G4.
pub const PAPER: &str = "think-powerpc";
/// Linux 6.1 in the same emulator.
pub const LINUX: &str = "linux";

/// A row of the paper's tables.
struct Primitive {
    row: &'static str,
    /// The paper's figure, on PowerPC.
    paper: Option<f64>,
    /// The row of Linux's program for the same purpose, and how many of our operations it corresponds to.
    linux: Option<(&'static str, f64)>,
    target: Option<f64>,
}

/// The primitives that `systems/joints` counts: calls between components of a system.
const JOINTS: [Primitive; 3] = [
    Primitive { row: "local binding", paper: Some(6.0), linux: None, target: Some(6.0) },
    Primitive { row: "local binding by a table", paper: Some(6.0), linux: None, target: Some(6.0) },
    Primitive { row: "local binding, compiled in", paper: None, linux: None, target: Some(0.0) },
];

/// The primitives that `systems/microkernel` counts.
const PRIMITIVES: [Primitive; 9] = [
    Primitive { row: "syscall", paper: Some(115.0), linux: None, target: None },
    Primitive {
        row: "optimised syscall",
        paper: Some(50.0),
        linux: Some(("getpid", 1.0)),
        target: Some(50.0),
    },
    Primitive { row: "signal", paper: Some(35.0), linux: None, target: Some(35.0) },
    Primitive { row: "upcall", paper: Some(107.0), linux: Some(("signal", 1.0)), target: Some(100.0) },
    Primitive { row: "lrpc", paper: Some(217.0), linux: Some(("socketpair", 1.0)), target: None },
    Primitive { row: "optimised lrpc", paper: Some(152.0), linux: Some(("pipe", 1.0)), target: Some(150.0) },
    Primitive {
        row: "thread switch",
        paper: Some(111.0),
        linux: Some(("yield of threads", 2.0)),
        target: Some(60.0),
    },
    Primitive {
        row: "process switch",
        paper: Some(147.0),
        linux: Some(("yield of processes", 2.0)),
        target: Some(100.0),
    },
    Primitive { row: "exception", paper: Some(105.0), linux: None, target: Some(60.0) },
];

/// Measures row after row.
pub fn measure(is_full: bool, tell: Tell) -> Result<(), String> {
    let linux = match is_full {
        true => linux::measure()?.into_iter().collect(),
        false => BTreeMap::new(),
    };
    let of_linux =
        |name: &str, times: f64| linux.get(name).map(|&count| Figure::single(count as f64 / times));
    let mut tell_all = |said: &str, primitives: &[Primitive]| {
        for Primitive { row, paper, linux: peer, target } in primitives {
            let mut peers = BTreeMap::new();
            peers.insert(PAPER, paper.map(Figure::single));
            if let Some((name, times)) = peer.filter(|_| is_full) {
                peers.insert(LINUX, of_linux(name, times));
            }
            let drystone = count(said, row).map(|count| Figure::single(count as f64));
            tell(Row { drystone, peers, target: *target, ..Row::new((*row).into(), "instructions") })?;
        }
        Ok::<(), String>(())
    };
    let (_, said) = counted("joints", "")?;
    tell_all(&said, &JOINTS)?;
    let (kernel, said) = counted("microkernel", "measure")?;
    tell_all(&said, &PRIMITIVES)?;
    let size = kernel.size().map_err(say)?;
    let peers = BTreeMap::from([(PAPER, Some(Figure::single(16384.0)))]);
    let (loaded, target) = (Some(Figure::single(size.loaded as f64)), Some(16384.0));
    tell(Row { drystone: loaded, peers, target, ..Row::new("image microkernel".into(), "bytes") })?;
    let zeros = Some(Figure::single(size.zeros as f64));
    tell(Row { drystone: zeros, ..Row::new("image microkernel, zeros".into(), "bytes") })?;
    let drystone = count(&said, "boot").map(|count| Figure::single(count as f64));
    let peers = if is_full { BTreeMap::from([(LINUX, of_linux("boot", 1.0))]) } else { BTreeMap::new() };
    let target = Some(1e6);
    tell(Row { drystone, peers, target, ..Row::new("boot".into(), "instructions") })?;
    tell(boot_time(&kernel, of_linux("boot, milliseconds", 1.0).filter(|_| is_full))?)?;
    blocks::measure(tell)?;
    if is_full { chapter::write(&said) } else { Ok(()) }
}

/// A kernel and its output, which is the same in every run.
fn counted(name: &str, what: &str) -> Result<(Kernel, String), String> {
    let kernel = Kernel::build(Command::new(places::drystone()?), name).map_err(say)?;
    let said = kernel.boot(MICROVM, what).map_err(say)?;
    match said == kernel.boot(MICROVM, what).map_err(say)? {
        true => Ok((kernel, said)),
        false => Err(format!("two boots of {name} don't count the same")),
    }
}

/// The time from the emulator's start to its end, with a kernel that does nothing else.
fn boot_time(kernel: &Kernel, linux: Option<Figure>) -> Result<Row, String> {
    const ROUNDS: usize = 9;
    let time = |_| {
        let start = Instant::now();
        kernel.boot(MICROVM, "fuzz 0").map_err(say)?;
        Ok(start.elapsed().as_secs_f64() * 1e3)
    };
    let times: Result<Vec<f64>, String> = (0..ROUNDS).map(time).collect();
    let peers = linux.map(|linux| (LINUX, Some(linux))).into_iter().collect();
    Ok(Row { drystone: Figure::of(&times?), peers, ..Row::new("boot, emulator and all".into(), "ms") })
}
