//! From syntax trees to the checked program: resolves every name, types every expression, folds constants.
//!
//! All files of a program are checked as one. Each step covers the whole program, and reads what the earlier ones made:
//!
//! 1. `Definitions`: `declare` makes names known, `imports` finds the files that they may stand in, `records` and
//!    `interfaces` find out which declarations are the same, and give types to their fields and messages, `headers`
//!    gives types to what else is declared.
//! 2. `natives` checks how native components are declared. `Bodies`: `bodies` checks constants, statements and
//!    expressions. Neither can change the definitions.
//! 3. `entry` and `systems` check whole components, and choose what the program starts with.
//! 4. `awaits`, `conformance`, `races` and `handlers` analyse the finished program, from which `doubts` has taken what
//!    is not wholly known.
//!
//! An error is reported where it is found, to `Diagnostics`; what depends on it is silently left out (`None`), so
//! that one fault gives one error. A syntax error hides only what it may affect: names that unreadable text may have
//! declared are silently left out too. If it is not known what stands at the top level of a file, only syntax errors
//! are reported.

mod arrivals;
mod assembly;
mod awaits;
mod binding_names;
mod bindings;
mod bodies;
mod body;
mod builtins;
mod calls;
mod carried;
mod cases;
mod channels;
mod composites;
mod connections;
mod constants;
mod containers;
mod conversions;
mod declarations;
mod declare;
mod definitions;
mod diagnostics;
mod doubts;
mod entry;
mod expressions;
mod factories;
mod habits;
mod headers;
mod imports;
mod interfaces;
mod joints;
mod names;
mod natives;
mod operators;
mod options;
mod places;
mod predeclared;
mod records;
mod returns;
mod scopes;
mod select;
mod sends;
mod sequences;
mod similar;
mod statements;
mod symbols;
mod systems;
mod types;
mod unconnected;
mod warnings;

pub use options::{Options, Start};
pub use similar::similar;

use crate::ast;
use crate::imports::Packages;
use crate::program::{InterfaceId, Program};
use crate::source::{Diagnostic, SourceFile};
use crate::{conformance, handlers, parser, races};

use body::{BodyChecker, Findings};
use definitions::Definitions;
use diagnostics::Diagnostics;
use predeclared::{SYSTEM, SYSTEM_FILE};

/// Checks the files as one program. Each imported file (see [`crate::imports`]) has a name space of its own, the others
/// share one. Gives all independent errors at once, in order of place.
pub fn check(files: &[SourceFile], options: Options) -> Result<Program, Vec<Diagnostic>> {
    // For trees as deep as the parser and the checker let them be. Unused pages cost nothing.
    const STACK: usize = 64 << 20;
    std::thread::scope(|threads| {
        let thread = std::thread::Builder::new().stack_size(STACK);
        match thread.spawn_scoped(threads, || check_here(files, options)).map(|thread| thread.join()) {
            Ok(Ok(result)) => result,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(_) => check_here(files, options),
        }
    })
}

/// The binding factories that stand behind BY, for a program that runs already: the text that the runtime reads.
pub fn factories(text: &str) -> Result<Vec<u8>, Vec<Diagnostic>> {
    let (calls, errors) = parser::factories(0, text);
    let (system, _) = parser::parse(SYSTEM_FILE, SYSTEM);
    let mut diagnostics = Diagnostics::new(errors);
    let mut definitions = Definitions::default();
    declare::predeclared(&mut definitions, &system, &mut diagnostics);
    let hints = BodyChecker::new(&definitions, true, &mut diagnostics).constant_factories(&calls);
    hints.filter(|_| diagnostics.is_empty()).ok_or_else(|| in_order(diagnostics.into_errors()))
}

/// The interfaces of the system, and which of them it offers to the component that starts. The others come in messages.
pub fn system() -> (Program, Vec<InterfaceId>) {
    let (tree, _) = parser::parse(SYSTEM_FILE, SYSTEM);
    let mut definitions = Definitions::default();
    let mut diagnostics = Diagnostics::default();
    declare::predeclared(&mut definitions, &tree, &mut diagnostics);
    interfaces::resolve(&mut definitions, &mut diagnostics);
    let offered = entry::offered_by_system(&definitions);
    (definitions.program, offered)
}

/// What to write instead of a name that a CONNECT can't mean anything by.
pub fn instead_of_name(name: &str) -> Option<String> {
    binding_names::fault(name, binding_names::Purpose::Connect, false).map(|(_, help)| help)
}

/// What to write instead of a binding factory that nobody knows.
pub fn instead_of_factory(name: &str) -> Option<&'static str> {
    factories::instead_of(name)
}

/// Checks on the stack of the caller.
fn check_here(files: &[SourceFile], options: Options) -> Result<Program, Vec<Diagnostic>> {
    let parsed = files.iter().zip(0..).map(|(source, file)| parser::parse(file, &source.text));
    let (trees, errors): (Vec<_>, Vec<_>) = parsed.unzip();
    let mut diagnostics = Diagnostics::new(errors.concat());
    if trees.iter().any(|tree| tree.lost) {
        return Err(in_order(diagnostics.into_errors()));
    }
    let (system, _) = parser::parse(SYSTEM_FILE, SYSTEM);
    let mut known = define(&system, files, &trees, options.packages, &mut diagnostics);
    natives::check(&known, &mut diagnostics);
    let bodies = bodies::check(&known, options.beside_crates, &mut diagnostics);
    let Findings { doubtful, used_constants, .. } = bodies.move_into(&mut known.program);
    if !known.declared.lost_component {
        known.program.entry = entry::choose(&known, options, &mut diagnostics);
        known.program.system = systems::check(&known, &doubtful, &mut diagnostics);
    }
    let mut warnings = Vec::new();
    if diagnostics.is_empty() {
        warnings = warnings::find(&known, &used_constants);
    } else {
        doubts::leave_out(&mut known, doubtful, &diagnostics);
    }
    let mut program = known.program;
    diagnostics.extend(awaits::check(&program));
    let conformance = conformance::check(&program);
    diagnostics.extend(conformance.errors);
    diagnostics.extend(races::check(&program));
    diagnostics.extend(handlers::check(&program));
    warnings.extend(conformance.warnings);
    program.warnings = in_order(warnings);
    if diagnostics.is_empty() { Ok(program) } else { Err(in_order(diagnostics.into_errors())) }
}

/// Everything that can be known of a program without looking into bodies.
fn define<'a>(
    system: &'a ast::File,
    files: &[SourceFile],
    trees: &'a [ast::File],
    packages: &Packages,
    diagnostics: &mut Diagnostics,
) -> Definitions<'a> {
    let mut definitions = Definitions::default();
    declare::predeclared(&mut definitions, system, diagnostics);
    definitions.program.imported =
        imports::resolve(&mut definitions.scopes, files, trees, packages, diagnostics);
    for (file, tree) in trees.iter().enumerate() {
        let scope = definitions.scopes.of_file(file);
        declare::file(&mut definitions, scope, tree, diagnostics);
    }
    records::resolve(&mut definitions, diagnostics);
    interfaces::resolve(&mut definitions, diagnostics);
    definitions.gaps.interfaces = doubts::faulty_interfaces(&definitions.declared.interfaces, diagnostics);
    headers::resolve(&mut definitions, diagnostics);
    carried::resolve(&mut definitions, files, diagnostics);
    definitions
}

/// By place, each once.
fn in_order(mut errors: Vec<Diagnostic>) -> Vec<Diagnostic> {
    for error in &mut errors {
        error.notes.retain(|(span, _)| span.file != SYSTEM_FILE);
    }
    errors.sort_by(|a, b| (a.span, a.code, &a.message).cmp(&(b.span, b.code, &b.message)));
    errors.dedup();
    errors
}
