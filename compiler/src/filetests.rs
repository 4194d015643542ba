//! Passes and analyses of MIR, each by itself: a file of `tests/passes` names one in its first line, then comes MIR,
//! then what becomes of it. The verifier looks at both. `tests/refused` holds MIR that the verifier refuses, one error
//! each. `BLESS=1 cargo test` rewrites what becomes of it.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use drystone_golden as golden;

use crate::fairness;
use crate::invariants;
use crate::liveness;
use crate::lookups;
use crate::mir::{BlockId, Code, Inst, Reg};
use crate::ranges::Ranges;
use crate::segments::{self, Cut};
use crate::text::{Heads, Module, list, parse};
use crate::verify;

/// What stands between MIR and what becomes of it.
const BECOMES: &str = "\nbecomes\n\n";

#[test]
fn passes_do_what_is_expected() {
    golden::compare(&golden::cases(&folder("passes"), "mir"), "mir", |case| in_file(case, becomes));
}

#[test]
fn the_verifier_refuses_what_makes_no_sense() {
    golden::compare(&golden::cases(&folder("refused"), "mir"), "mir", |case| in_file(case, refused));
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}

/// A file with what becomes of the MIR in it.
fn in_file(case: &Path, becomes: impl Fn(&str, Module) -> String) -> String {
    let text = golden::read(case);
    let given = text.split(BECOMES).next().unwrap_or_default().trim_end();
    let (directive, _) = given.split_once('\n').unwrap_or((given, ""));
    let Some(pass) = directive.strip_prefix("test ") else {
        panic!("{}: a case begins with \"test\" and the name of a pass", case.display())
    };
    // Lines keep their numbers.
    let module = parse(&format!(";{given}")).unwrap_or_else(|error| panic!("{}: {error}", case.display()));
    format!("{given}\n{BECOMES}{}", becomes(pass, module))
}

fn becomes(pass: &str, module: Module) -> String {
    match pass {
        "lookups" => changed(module, lookups::reuse),
        "invariants" => changed(module, invariants::hoist),
        "segments" => cut(module),
        "liveness" => told(module, live),
        "ranges" => told(module, ranges),
        "loops" => told(module, loops),
        other => panic!("there is no pass {other:?}"),
    }
}

/// The MIR that a pass makes of it.
fn changed(mut module: Module, pass: impl Fn(&mut Code)) -> String {
    verified(&module);
    let before = module.print();
    module.pieces.iter_mut().for_each(|(code, _)| pass(code));
    verified(&module);
    match module.print() {
        same if same == before => "the same\n".to_string(),
        changed => changed,
    }
}

/// The MIR that it is cut to.
fn cut(mut module: Module) -> String {
    verified(&module);
    let cuts: Vec<Cut> = module.pieces.into_iter().map(|(code, _)| segments::cut(code)).collect();
    verify::cuts(&cuts).unwrap_or_else(|broken| panic!("{broken}"));
    module.pieces = cuts.into_iter().map(|cut| (cut.code.clone(), cut.heads())).collect();
    verified(&module);
    module.print()
}

/// What an analysis finds out of each piece.
fn told(module: Module, analysis: impl Fn(&Code) -> String) -> String {
    verified(&module);
    let told = |(code, _): &(Code, Heads)| format!("{}\n{}", code.name, analysis(code));
    module.pieces.iter().map(told).collect::<Vec<_>>().join("\n")
}

fn verified(module: &Module) {
    if let Err(broken) = verify::codes(&module.codes(), module.bodies()) {
        panic!("{broken}\n{}", module.print());
    }
}

/// What the verifier says of code, or of code that was cut.
fn refused(pass: &str, module: Module) -> String {
    assert_eq!(pass, "verify");
    let said = verify::codes(&module.codes(), module.bodies()).and_then(|()| verify::cuts(&module.cuts()));
    format!("{}\n", said.expect_err("the verifier must refuse it"))
}

/// The registers that are live where each block begins.
fn live(code: &Code) -> String {
    let live = liveness::live_in(code, &liveness::predecessors(code));
    lines(code, |id| list(&live[id.0 as usize]))
}

/// The bounds that are known where a register is written, and conditions that hold.
fn ranges(code: &Code) -> String {
    let ranges = Ranges::new(code);
    lines(code, |id| {
        let mut known = Vec::new();
        let mut tell = |reg: Reg| {
            if let Some((least, most)) = ranges.of(code, reg, id) {
                known.push(match (least, most) {
                    (0, 1) if ranges.is_true(code, reg, id) => format!("{reg} is true"),
                    _ if least == most => format!("{reg} is {least}"),
                    _ => format!("{reg} is {least}..{most}"),
                });
            }
        };
        let mut seen = Vec::new();
        liveness::visit(code.block(id), &mut |reg, _| {
            if !seen.contains(&reg) {
                seen.push(reg);
                tell(reg);
            }
        });
        for instruction in &code.block(id).instructions {
            if let Inst::Checked { to, operator, a, b, .. } = instruction
                && ranges.cannot_overflow(code, *operator, *a, *b, id)
            {
                known.push(format!("{to} cannot overflow"));
            }
        }
        known.join(", ")
    })
}

/// The loops that need no look at the time slice.
fn loops(code: &Code) -> String {
    let ranges = Ranges::new(code);
    let (short, giving_way) = (ranges.short_loops(code), fairness::loops_that_give_way(code, &ranges));
    let mut text = String::new();
    for number in 0..code.loops.len() {
        let is = match (short[number], giving_way[number]) {
            (true, _) => "is short",
            (_, true) => "gives way",
            _ => "may go on and on",
        };
        writeln!(text, "  loop {number} {is}").expect("a string takes everything");
    }
    text
}

/// A line for each block.
fn lines(code: &Code, of: impl Fn(BlockId) -> String) -> String {
    code.reachable().map(|(id, _)| format!("  {id}: {}", of(id)).trim_end().to_string() + "\n").collect()
}
