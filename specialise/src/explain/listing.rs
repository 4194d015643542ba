//! The source with the binding time of each line: eliminated during specialisation, or dynamic, that is, part of the
//! residual program.

use crate::evaluate::{Outcome, Report};
use crate::ir::Module;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::rc::Rc;

/// The number of lines shown before and after evaluated lines.
const AROUND: u32 = 2;

/// The listing of all files with evaluated lines. `read` gives a file's text for the name that the compiler used. If it
/// fails, only the line numbers are listed.
pub fn listing(module: &Module, report: &Report, read: &dyn Fn(&str) -> Option<String>) -> String {
    let mut files: BTreeMap<Rc<str>, BTreeMap<u32, Outcome>> = BTreeMap::new();
    for (place, outcome) in &report.outcomes {
        let place = module.place(*place);
        if place.line > 0 {
            files.entry(place.file).or_default().entry(place.line).or_default().add(*outcome);
        }
    }
    let mut text = String::from(
        "What became of each line, and how often it was met:\n\
         \x20 static      computed when the program was specialised\n\
         \x20 eliminated  an access to memory that is no longer there\n\
         \x20 dynamic     code of the residual program\n",
    );
    if files.is_empty() {
        text.push_str("\nThe IR has no places of the source: compile with -g.\n");
    }
    for (file, lines) in &files {
        let _ = writeln!(text, "\n== {file}");
        let source = read(file);
        let source: Option<Vec<&str>> = source.as_ref().map(|source| source.lines().collect());
        let mut before = 0;
        for number in shown(lines) {
            if number > before + 1 && before > 0 {
                text.push_str("      ...\n");
            }
            before = number;
            let line = source.as_ref().and_then(|source| source.get(number as usize - 1)).unwrap_or(&"");
            let (mark, times) = lines.get(&number).map_or((String::new(), String::new()), |outcome| {
                (outcome.mark().to_owned(), format!("{}", outcome.times()))
            });
            let row = format!("{mark:<10} {times:>6} {number:>6} | {line}");
            let _ = writeln!(text, "{}", row.trim_end());
        }
    }
    if !report.kept.is_empty() {
        text.push_str("\n== calls that were left, and why\n");
        for (name, reason) in &report.kept {
            let _ = writeln!(text, "{name}: {reason}");
        }
    }
    text
}

/// The evaluated lines, and those around them.
fn shown(lines: &BTreeMap<u32, Outcome>) -> Vec<u32> {
    let mut shown: Vec<u32> =
        lines.keys().flat_map(|line| line.saturating_sub(AROUND).max(1)..=line + AROUND).collect();
    shown.sort_unstable();
    shown.dedup();
    shown
}

impl Outcome {
    fn add(&mut self, other: Outcome) {
        self.known += other.known;
        self.eliminated += other.eliminated;
        self.residual += other.residual;
    }

    /// The mark of a line, which is dynamic if any part of it is left.
    fn mark(&self) -> &'static str {
        match self {
            Outcome { residual: 1.., .. } => "dynamic",
            Outcome { eliminated: 1.., .. } => "eliminated",
            _ => "static",
        }
    }

    /// The number of evaluated instructions of the line.
    fn times(&self) -> u32 {
        self.known + self.eliminated + self.residual
    }
}
