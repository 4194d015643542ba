//! Measures blocks of calls in the kernel, beside single calls: Table I and Figures 7 and 13 of *composite calls*
//! (Ballesteros).

use std::collections::BTreeMap;
use std::process::Command;

use drystone_emulated::{Kernel, MICROVM, count};

use super::failure::say;
use crate::places;
use crate::row::Row;
use crate::row::Tell;
use crate::statistics::Figure;

/// Single calls.
pub const SINGLE: &str = "single-calls";
/// A program with loops and conditions.
pub const PROGRAM: &str = "program";

/// The rows, and the image's names for the same work by single calls and by a program. The image checks that all three
/// do the same. The last rows are about a server in another address space, to which a client ships blocks.
const BLOCKS: [(&str, &str, &str); 9] = [
    ("interp 1", "single calls 1", "interp program 1"),
    ("interp 10", "single calls 10", "interp program 10"),
    ("interp 100", "single calls 100", "interp program 100"),
    ("page frames 1", "page frames 1 single", "page frames 1 program"),
    ("page frames 10", "page frames 10 single", "page frames 10 program"),
    ("page frames 100", "page frames 100 single", "page frames 100 program"),
    ("interp lrpc 1", "single lrpc 1", "interp lrpc 1 program"),
    ("interp lrpc 10", "single lrpc 10", "interp lrpc 10 program"),
    ("interp lrpc 100", "single lrpc 100", "interp lrpc 100 program"),
];

/// The target of Table I.
const FAULT: f64 = 0.68;

/// Measures row after row.
pub fn measure(tell: Tell) -> Result<(), String> {
    let kernel = Kernel::build(Command::new(places::drystone()?), "blocks").map_err(say)?;
    let said = kernel.boot(MICROVM, "interp").map_err(say)?;
    if said != kernel.boot(MICROVM, "interp").map_err(say)? {
        return Err("two boots of the system of blocks don't count the same".into());
    }
    let figure = |name: &str| count(&said, name).map(|count| Figure::single(count as f64));
    for (row, single, program) in BLOCKS {
        let peers = BTreeMap::from([(SINGLE, figure(single)), (PROGRAM, figure(program))]);
        tell(Row { drystone: figure(row), peers, ..Row::new(row.into(), "instructions") })?;
    }
    let ratio = |name: &str| {
        Some(Figure::single(count(&said, name)? as f64 / count(&said, "page fault single")? as f64))
    };
    let peers =
        BTreeMap::from([(PROGRAM, ratio("page fault program")), ("off++", Some(Figure::single(FAULT)))]);
    let (drystone, target) = (ratio("page fault composite"), Some(FAULT));
    tell(Row { drystone, peers, target, ..Row::new("page fault composite".into(), "of single calls") })?;
    let drystone = ratio("page fault by the kernel");
    tell(Row { drystone, ..Row::new("page fault by the kernel".into(), "of single calls") })
}
