//! Measures compilation of long texts: of many statements, components or errors.

use std::time::Instant;

use drystone_compiler::{Processor, compile_object};
use drystone_language::check::{Options, check};
use drystone_language::render::{Colour, render};
use drystone_language::source::SourceFile;

use super::effort::EFFORT;
use crate::row::{Row, Tell};
use crate::statistics::Figure;

/// What a long text has many of.
struct Kind {
    name: &'static str,
    counts: [usize; 4],
    /// A text with so many of them.
    text: fn(usize) -> String,
}

const KINDS: [Kind; 3] = [
    Kind {
        name: "statements",
        counts: [2500, 10_000, 40_000, 80_000],
        text: |n| in_a_body(&"x := x + 1;\n".repeat(n)),
    },
    Kind {
        name: "components",
        counts: [1250, 2500, 5000, 10_000],
        text: |n| {
            let component = |index| {
                format!(
                    "COMPONENT C{index} OFFERS I;
                     IMPLEMENTATION I; BEGIN ?A; !B END I;
                     END C{index};\n"
                )
            };
            let components: String = (0..n).map(component).collect();
            format!(
                "INTERFACE I; IN A OUT B END I;
                 {components}
                 COMPONENT Main; VARIABLE c: C0; BEGIN NEW(c); c!A; c?B END Main;"
            )
        },
    },
    Kind {
        name: "diagnostics",
        counts: [2500, 10_000, 40_000, 80_000],
        text: |n| in_a_body(&"x := TRUE;\n".repeat(n)),
    },
];

fn in_a_body(statements: &str) -> String {
    format!("COMPONENT Main; VARIABLE x: INTEGER;\nBEGIN\n{statements}END Main;")
}

/// The greatest ratio of the time per piece in the longest text to that in the shortest: linear, with an allowance for
/// caches.
const LINEAR: f64 = 1.5;

/// Measures row after row.
pub fn measure(tell: Tell) -> Result<(), String> {
    for kind in &KINDS {
        let mut for_each = Vec::new();
        for n in kind.counts {
            let ms: Vec<f64> = (0..EFFORT.rounds).map(|_| compile((kind.text)(n))).collect();
            let drystone = Figure::of(&ms);
            for_each.extend(drystone.map(|figure| figure.value / n as f64));
            tell(Row { drystone, ..Row::new(format!("compile {n} {}", kind.name), "ms") })?;
        }
        let growth = Figure::single(for_each[for_each.len() - 1] / for_each[0]);
        let name = format!("compile {}: each among most / fewest", kind.name);
        tell(Row { drystone: Some(growth), target: Some(LINEAR), ..Row::new(name, "times") })?;
    }
    Ok(())
}

/// Milliseconds to compile a text to an object, or to report its errors.
fn compile(text: String) -> f64 {
    let files = [SourceFile { path: "long.dry".into(), text }];
    let start = Instant::now();
    match check(&files, Options::default()) {
        Ok(program) => _ = compile_object(&program, &files, Processor::V2),
        Err(errors) => _ = render(&files, &errors, Colour::Plain),
    }
    start.elapsed().as_secs_f64() * 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_right_or_wrong_as_often_as_they_say() {
        for kind in &KINDS {
            let files = [SourceFile { path: "long.dry".into(), text: (kind.text)(5) }];
            let wrong = check(&files, Options::default()).err().map_or(0, |errors| errors.len());
            assert_eq!(wrong, if kind.name == "diagnostics" { 5 } else { 0 }, "{}", kind.name);
        }
    }
}
