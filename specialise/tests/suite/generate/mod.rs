//! Random layered C programs that are defined by construction, each with a context that makes part of its input known
//! and with a harness that compares the entry function with its specialised forms.
//!
//! A program is a stack of levels (`levels`): the entry function hands its input down through functions that copy,
//! assemble, fragment and translate it in buffers of their own (`copies`), among random statements (`statements`) and
//! expressions (`expressions`). What it works on besides (`state`) is declared in a text that program and harness
//! share. Nothing undefined happens: arithmetic is on unsigned words, indices are below the sizes of what they index,
//! loops have bounds, buffers are filled before they are read, and what may overlap is copied by `memmove`.
//!
//! It refuses to know how the specialiser works; it only aims at what makes specialisers wrong.

mod arguments;
mod blocks;
mod copies;
mod expressions;
mod harness;
mod helpers;
mod levels;
mod outside;
mod pointers;
mod scope;
mod state;
mod statements;

use drystone_tests::random::Random;

use arguments::Arguments;
use levels::Level;
use state::State;

/// The entry function's name.
pub const ENTRY: &str = "run";

/// A program, with what is known about it.
pub struct Program {
    /// Names and texts of its source files, one or two.
    pub files: Vec<(&'static str, String)>,
    /// What is known, as the specialiser reads it.
    pub context: String,
    harness: String,
}

impl Program {
    /// Makes the program of a seed. Smaller sizes give smaller programs; 1 is about the smallest, 4 is usual.
    pub fn new(seed: u64, size: usize) -> Program {
        Generator::new(seed, size.max(1)).program()
    }

    /// A main program that runs the entry function and each of these specialised forms of it from equal states, with
    /// several values of what is unknown. It writes a line for each round, then what differs, and ends with status 1
    /// if something does.
    pub fn harness(&self, variants: &[&str]) -> String {
        let declarations: String =
            variants.iter().map(|name| format!("u32 {name}({});\n", arguments::PARAMETERS)).collect();
        let entries: String = variants.iter().map(|name| format!("{{\"{name}\", {name}}}, ")).collect();
        let table = format!("static const struct variant variants[] = {{{entries}{{0, 0}}}};\n");
        format!("{}{declarations}{table}{}", self.harness, harness::MAIN)
    }
}

/// What a program is made with.
struct Generator {
    random: Random,
    /// For names that occur once.
    names: usize,
    size: usize,
    /// From the lowest; a function may call those of lower levels.
    levels: Vec<Level>,
    state: State,
    arguments: Arguments,
    /// Calls to lower levels that the function under construction may still get.
    calls: usize,
}

impl Generator {
    fn new(seed: u64, size: usize) -> Generator {
        let mut random = Random::new(seed);
        let levels = levels::choose(&mut random, size);
        let state = State::choose(&mut random, &levels);
        let arguments = Arguments::choose(&mut random, &levels);
        Generator { random, names: 0, size, levels, state, arguments, calls: 0 }
    }

    fn program(mut self) -> Program {
        let helpers = self.helpers();
        let functions = self.functions();
        let declarations =
            format!("{}{}{}", state::TYPES, self.level_declarations(), self.state.declarations());
        let definitions = format!("{}{}", self.state.definitions(), self.operation_tables());
        let (upper, lower) = match self.random.below(functions.len() + 1) {
            at if at > 0 && at < functions.len() => (functions[at..].concat(), functions[..at].concat()),
            _ => (functions.concat(), String::new()),
        };
        let mut files = vec![("upper.c", indented(&format!("{declarations}{helpers}{definitions}{upper}")))];
        if !lower.is_empty() {
            files.push(("lower.c", indented(&format!("{declarations}{helpers}{lower}"))));
        }
        let context = format!("{}{}", self.arguments.context(&self.state), self.state.context());
        let harness = indented(&format!("{declarations}{}", self.harness_text()));
        Program { files, context, harness }
    }

    /// A name that occurs nowhere else.
    fn name(&mut self, stem: &str) -> String {
        self.names += 1;
        format!("{stem}{}", self.names)
    }
}

/// The same text with its lines moved in by how deep in braces they stand.
fn indented(text: &str) -> String {
    let mut depth = 0usize;
    let mut result = String::new();
    for line in text.lines() {
        let closing = line.chars().take_while(|&c| c == '}').count();
        result += &" ".repeat(4 * depth.saturating_sub(closing));
        result += line;
        result.push('\n');
        let opened = line.matches('{').count();
        depth = (depth + opened).saturating_sub(line.matches('}').count());
    }
    result
}
