//! Random programs that are right by construction: well typed, free of races, and terminating. No schedule and no
//! buffer capacity can change their output. Some end in an intended run-time error, always the same one at the same
//! place.
//!
//! A program is a list of [`Step`]s. Each is an interaction pattern with random computations in it (`crowds`, `cuts`,
//! `exchanges`, `losses`, `monitors`, `watchers`, `holdings`, `namesakes`, `procedures`, `protocols`, `records`,
//! `relays`, `selects`, `sequences`, `waits`). A step may stand inline, in a procedure, or in a component of its own
//! that answers its holder (`scenario`) and may have steps itself. Output is written only by the entry component, and
//! by components that are being deleted while the entry component waits.

pub mod arrays;
mod computations;
mod crowds;
mod cuts;
mod endings;
mod exchanges;
mod holdings;
pub mod lookups;
mod losses;
mod monitors;
mod namesakes;
mod procedures;
mod protocols;
mod records;
mod relays;
mod scenario;
mod selects;
mod sequences;
mod stretches;
pub mod texts;
mod waits;
mod watchers;
mod wiring;

use crate::random::Random;

/// The program of a seed. Smaller sizes give smaller programs; 1 is the smallest useful size, 4 is usual. The text
/// after a line [`IMPORTED`] is that of a separate file, which the program imports by the name [`IMPORT`].
pub fn program(seed: u64, size: usize) -> String {
    program_of(seed, size, None)
}

/// A program with one pattern only: services that lose their clients.
pub fn losses(seed: u64, size: usize) -> String {
    program_of(seed, size, Some(Generator::losses))
}

/// A program with one pattern only: records.
pub fn records(seed: u64, size: usize) -> String {
    program_of(seed, size, Some(Generator::records))
}

/// A program with one pattern only: sequences.
pub fn sequences(seed: u64, size: usize) -> String {
    program_of(seed, size, Some(Generator::sequences))
}

fn program_of(seed: u64, size: usize, only: Option<fn(&mut Generator) -> Step>) -> String {
    let mut generator = Generator {
        random: Random::new(seed),
        names: 0,
        repeated: 0,
        size: size.max(1),
        only,
        functions: Vec::new(),
        shared: Shared::default(),
    };
    generator.shared.imported = generator.random.one_in(2);
    let entry = generator.entry();
    let shared = generator.shared.text;
    let text = match shared.is_empty() || !generator.shared.imported {
        true => shared + &entry,
        false => format!("IMPORT {IMPORT};\n{entry}{IMPORTED}{shared}"),
    };
    with_capacities(&text, &mut generator.random)
}

/// Every second program has larger buffers, and every third interface of it.
fn with_capacities(text: &str, random: &mut Random) -> String {
    if random.one_in(2) {
        return text.to_string();
    }
    let mut parts = text.split("INTERFACE ");
    let first = parts.next().unwrap_or_default().to_string();
    parts.fold(first, |text, part| {
        let capacity = [1, 2, 3, 5, 64][random.below(5)];
        let attribute = if random.one_in(3) { format!("{{CAPACITY {capacity}}} ") } else { String::new() };
        text + "INTERFACE " + &attribute + part
    })
}

/// The name of the file that a generated program imports.
pub const IMPORT: &str = "Shared";

/// The line before the text of that file.
pub const IMPORTED: &str = "(* FILE Shared.dry *)\n";

/// Declarations at the top level.
#[derive(Default)]
struct Shared {
    text: String,
    /// The declarations are in a file of their own.
    imported: bool,
    /// Names of constants, qualified if the file is imported.
    constants: Vec<String>,
    /// Names of functions, qualified if the file is imported, with their numbers of parameters.
    functions: Vec<(String, usize)>,
}

/// The state of the generator.
struct Generator {
    random: Random,
    /// The number of unique names made so far.
    names: usize,
    /// How many of the enclosing components may have several instances that run at the same time.
    repeated: usize,
    size: usize,
    /// The only pattern to use, if there is a restriction.
    only: Option<fn(&mut Generator) -> Step>,
    /// Function procedures of the component under construction, with their numbers of parameters.
    functions: Vec<(String, usize)>,
    shared: Shared,
}

/// A part of a component: declarations and statements. The statements fold their results into the INTEGER variable
/// `acc`, which stays below 1 000 003.
#[derive(Default)]
struct Step {
    /// Interfaces and component templates.
    templates: String,
    /// Procedures, which use no variables but their own.
    procedures: String,
    /// `name: type`, with an index part and attributes if there are any.
    variables: Vec<String>,
    statements: String,
}

impl Step {
    /// A step with its interfaces and templates.
    fn declaring(templates: String) -> Step {
        Step { templates, ..Step::default() }
    }
}

impl Generator {
    /// A name that occurs nowhere else.
    fn name(&mut self, stem: &str) -> String {
        self.names += 1;
        format!("{stem}{}", self.names)
    }

    /// Steps for a body; the size decides how many.
    fn steps(&mut self, depth: usize) -> Vec<Step> {
        let count = if depth == 0 { self.size } else { 1 + self.random.below(2) };
        (0..count).map(|_| self.step(depth)).collect()
    }

    fn step(&mut self, depth: usize) -> Step {
        if depth < 2 && self.size > 1 && self.random.one_in(5) {
            return self.scenario(depth + 1);
        }
        // Patterns that write or may fail have a known order only if nothing runs at the same time.
        let alone = if depth == 0 { 10 } else { 0 };
        let pattern = self.random.below(31 + alone);
        let step = match pattern {
            _ if self.only.is_some() => self.only.map_or_else(Step::default, |only| only(self)),
            0 => self.server(),
            1 => self.pipeline(),
            2 => self.workers(),
            3 => self.buffer(),
            4 => self.ring(),
            5 => self.lending(),
            6 => self.fan(),
            7 => self.tree(),
            8 => self.collections(),
            9 => self.contained_fault(),
            10 => self.turns(),
            11 => self.rewiring(),
            12 => self.namesakes(),
            13 => self.relays(),
            14 => self.limits(),
            15 => self.results(),
            16 | 17 => self.watchers(),
            18 | 19 => self.protocol(),
            20 | 21 => self.cuts(),
            22 | 23 => self.losses(),
            24 | 25 => self.records(),
            26 => self.waits(),
            27 => self.selects(),
            28 => self.selects_with_conditions(),
            29 | 30 => self.sequences(),
            31 | 32 => self.names(),
            33 => self.changes(),
            34 => self.containers(),
            35 | 36 => return self.farewells(),
            37 => return self.stretches(),
            38 => return self.crowds(),
            _ => return self.sleepers(),
        };
        if self.random.one_in(3) { self.in_a_procedure(step) } else { step }
    }

    /// Moves the step into a procedure. When the procedure returns, the components of the step are deleted.
    fn in_a_procedure(&mut self, step: Step) -> Step {
        let name = self.name("Step");
        let Step { templates, procedures, variables, statements } = step;
        let procedure = format!(
            "PROCEDURE {name}(acc: INTEGER): INTEGER;\n{}{procedures}BEGIN\n{statements}RETURN acc\nEND {name};\n",
            declarations(&variables)
        );
        Step {
            templates,
            procedures: procedure,
            variables: Vec::new(),
            statements: format!("acc := {name}(acc);\n"),
        }
    }
}

/// Statements that make a component, have it `Run`, and fold three values: whether it answered, the answer, and whether
/// the component still exists.
fn run_once(component: &str, result: &str) -> String {
    format!(
        "NEW({component}); {component}!Run(acc MOD 1000);
{}IF {component}?Result THEN {component}?Result({result}); {}END;
{}IF EXISTS({component}) THEN DELETE({component}) END;
",
        fold(&format!("INTEGER({component}?Result)")),
        fold(result),
        fold(&format!("INTEGER(EXISTS({component}))")),
    )
}

/// The `VARIABLE` sections.
fn declarations(variables: &[String]) -> String {
    variables.iter().map(|variable| format!("VARIABLE {variable};\n")).collect()
}

/// Folds an INTEGER below 10^12 into `acc`.
fn fold(value: &str) -> String {
    format!("acc := (acc * 31 + {value}) MOD 1000003;\n")
}
