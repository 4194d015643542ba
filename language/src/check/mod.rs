//! From syntax trees to the checked program: resolves every name, types every expression, folds constants.
//!
//! All files of a program are checked as one. The steps, each over the whole program: `declare` makes names
//! known, `interfaces` finds out which declarations are the same interface and compiles protocols, `headers`
//! gives types to what is declared, then `constants`, `bodies`, `statements` and `expressions` check what is
//! written with them. What is wrong is reported where it is found; what depends on it is silently left out
//! (`None`), so that one fault gives one error.
//!
//! Then `awaits`, `conformance` and `races` look at what was made of it, from which `doubts` has taken what is not
//! known wholly. Syntax errors are in the way of all this only as far as they reach: names that may have been
//! declared where something could not be read are silently left out too. Only when it is not known what stands at
//! the top level of a file is nothing but syntax errors reported.

mod assembly;
mod awaits;
mod binding_names;
mod bindings;
mod bodies;
mod calls;
mod channels;
mod composites;
mod connections;
mod constants;
mod containers;
mod conversions;
mod declare;
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
mod places;
mod predeclared;
mod scopes;
mod sends;
mod statements;
mod systems;
mod types;
mod warnings;

pub use names::similar;
use std::collections::HashSet;

use crate::ast;
use crate::program::{ComponentId, InterfaceId, ProcedureId, Program, VariableId};
use crate::source::{Diagnostic, SourceFile, Span};
use crate::{conformance, handlers, parser, races};

use predeclared::{NAMES, SYSTEM, SYSTEM_FILE};
use scopes::{Scope, ScopeId};

/// Checks the files as one program. Those that others import (see [`crate::imports`]) have a name space of their own,
/// the rest share one. It starts with the component that carries `{ENTRYPOINT}`, else with the last one at the top
/// level of the first file that has any. Errors come in order of place, all independent ones at once.
pub fn check(files: &[SourceFile]) -> Result<Program, Vec<Diagnostic>> {
    check_with_start(files, Start::Usual)
}

/// Like [`check`], but the program starts with the top-level component of the given name, if one is given.
pub fn check_with_entry(files: &[SourceFile], entry: Option<&str>) -> Result<Program, Vec<Diagnostic>> {
    check_with_start(files, entry.map_or(Start::Usual, Start::Named))
}

/// Like [`check_with_entry`], for a program that is built together with crates, which may offer what the system doesn't
/// and bring schemes of names: whether they do shows when it runs.
pub fn check_beside_crates(files: &[SourceFile], entry: Option<&str>) -> Result<Program, Vec<Diagnostic>> {
    check_on_thread(files, entry.map_or(Start::Usual, Start::Named), true)
}

/// Like [`check`], but files without a component to start with will do too: what others import need not be a program.
pub fn check_part(files: &[SourceFile]) -> Result<Program, Vec<Diagnostic>> {
    check_with_start(files, Start::IfAny)
}

/// Like [`check_part`], beside crates as in [`check_beside_crates`].
pub fn check_part_beside_crates(files: &[SourceFile]) -> Result<Program, Vec<Diagnostic>> {
    check_on_thread(files, Start::IfAny, true)
}

/// What stands behind BY, for a program that runs already: the text that the runtime reads.
pub fn factories(text: &str) -> Result<Vec<u8>, Vec<Diagnostic>> {
    let (calls, errors) = parser::factories(0, text);
    let (system, _) = parser::parse(SYSTEM_FILE, SYSTEM);
    let mut checker = Checker { errors, beside_crates: true, ..Checker::default() };
    checker.context.scope = checker.declare_predeclared(&system);
    let hints = checker.constant_factories(&calls);
    hints.filter(|_| checker.errors.is_empty()).ok_or_else(|| in_order(checker.errors))
}

/// What to write instead of a name that a CONNECT can't mean anything by.
pub fn instead_of_name(name: &str) -> Option<String> {
    binding_names::fault(name, binding_names::Purpose::Connect, false).map(|(_, help)| help)
}

/// What to write instead of a binding factory that nobody knows.
pub fn instead_of_factory(name: &str) -> Option<&'static str> {
    factories::instead_of(name)
}

/// Which component a program starts with.
#[derive(Clone, Copy, PartialEq)]
enum Start<'a> {
    /// As its text says.
    Usual,
    /// As its text says, if it has any that the system can give what it requires.
    IfAny,
    Named(&'a str),
}

fn check_with_start(files: &[SourceFile], start: Start) -> Result<Program, Vec<Diagnostic>> {
    check_on_thread(files, start, false)
}

fn check_on_thread(
    files: &[SourceFile],
    start: Start,
    beside_crates: bool,
) -> Result<Program, Vec<Diagnostic>> {
    // For trees as deep as the parser and `DEEPEST` let them be; what is not used of it costs nothing.
    const STACK: usize = 64 << 20;
    std::thread::scope(|threads| {
        let checking = std::thread::Builder::new().stack_size(STACK);
        match checking
            .spawn_scoped(threads, || check_here(files, start, beside_crates))
            .map(|thread| thread.join())
        {
            Ok(Ok(result)) => result,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(_) => check_here(files, start, beside_crates),
        }
    })
}

/// The interfaces of the system, and which of them it offers to the component that starts; the others belong to
/// components that come in messages.
pub fn system() -> (Program, Vec<InterfaceId>) {
    let (tree, _) = parser::parse(SYSTEM_FILE, SYSTEM);
    let mut checker = Checker::default();
    checker.declare_predeclared(&tree);
    checker.resolve_interfaces();
    let offered = checker.offered_by_system();
    (checker.program, offered)
}

fn check_here(files: &[SourceFile], start: Start, beside_crates: bool) -> Result<Program, Vec<Diagnostic>> {
    let mut trees = Vec::new();
    let mut errors = Vec::new();
    for (file, source) in files.iter().enumerate() {
        let (tree, wrong) = parser::parse(file as u32, &source.text);
        trees.push(tree);
        errors.extend(wrong);
    }
    if trees.iter().any(|tree| tree.lost) {
        return Err(in_order(errors));
    }
    let (system, _) = parser::parse(SYSTEM_FILE, SYSTEM);
    let mut checker = Checker { errors, beside_crates, ..Checker::default() };
    checker.run(&system, files, &trees, start);
    if checker.errors.is_empty() {
        checker.find_doubtful_text();
    } else {
        checker.leave_out_doubtful();
    }
    let Checker { mut program, mut errors, .. } = checker;
    errors.extend(awaits::check(&program));
    let conformance = conformance::check(&program);
    errors.extend(conformance.errors);
    program.warnings = in_order([program.warnings.split_off(0), conformance.warnings].concat());
    errors.extend(races::check(&program));
    errors.extend(handlers::check(&program));
    if errors.is_empty() { Ok(program) } else { Err(in_order(errors)) }
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

/// What is known so far. The tables with the name of one in [`Program`] have the same indices as it.
#[derive(Default)]
struct Checker<'a> {
    program: Program,
    errors: Vec<Diagnostic>,
    /// Others than the system may offer what the entry requires, and know names.
    beside_crates: bool,
    files: Vec<imports::File<'a>>,
    scopes: Vec<Scope<'a>>,
    constants: Vec<constants::Constant<'a>>,
    interface_declarations: Vec<interfaces::Declared<'a>>,
    components: Vec<declare::DeclaredComponent<'a>>,
    procedures: Vec<declare::DeclaredProcedure<'a>>,
    variables: Vec<declare::DeclaredVariable<'a>>,
    /// Variables whose type could not be made out: uses of them are not errors of their own.
    untyped_variables: HashSet<VariableId>,
    /// Procedures with a header that could not be made out.
    untyped_procedures: HashSet<ProcedureId>,
    /// Messages with a parameter that could not be made out.
    untyped_messages: HashSet<(InterfaceId, usize)>,
    /// Interfaces with an error of their own.
    faulty_interfaces: HashSet<InterfaceId>,
    /// Components of which not everything is known: see `doubts`.
    doubtful: HashSet<ComponentId>,
    /// Something at the top level could not be read.
    lost_component: bool,
    /// Names that were reported as unknown.
    unknown_names: HashSet<(ScopeId, String)>,
    context: Context,
    depth: usize,
}

/// Where the statement or expression that is being checked stands.
#[derive(Clone, Debug, Default)]
struct Context {
    scope: ScopeId,
    /// The component around it; absent in what stands at the top level of a file.
    component: Option<ComponentId>,
    /// The implementation around it.
    service: Service,
    /// Absent in an implementation and in BEGIN, ACTIVITY, FINALLY.
    procedure: Option<ProcedureId>,
    /// A `RETURN` was seen.
    returns: bool,
    /// Own offered interfaces (index into `offers`) that were connected inward, and where.
    connected_inward: Vec<(usize, Span)>,
}

/// Which communication a bare `!M` uses.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Service {
    /// Not in an implementation.
    #[default]
    None,
    /// In the implementation of this interface.
    Of(InterfaceId),
    /// In an implementation of something that is not offered, which was reported.
    Unknown,
}

/// How many statements and expressions, and constants that need one another, may stand in one another: far more
/// than anyone writes, few enough for the stack.
const DEEPEST: usize = 1000;

impl<'a> Checker<'a> {
    fn run(&mut self, system: &'a ast::File, files: &[SourceFile], trees: &'a [ast::File], start: Start) {
        let predeclared = self.declare_predeclared(system);
        self.resolve_imports(files, trees, predeclared);
        for (index, tree) in trees.iter().enumerate() {
            self.declare_file(self.files[index].scope, tree);
        }
        self.resolve_interfaces();
        self.find_faulty_interfaces();
        self.resolve_headers();
        self.check_natives();
        self.evaluate_constants();
        self.check_bodies();
        if !self.lost_component {
            self.choose_entry(start);
            self.check_systems();
        }
    }

    fn declare_predeclared(&mut self, system: &'a ast::File) -> ScopeId {
        let scope = self.new_scope(None, false);
        for &(name, meaning) in NAMES {
            self.predeclare(scope, name, meaning);
        }
        self.declare_file(scope, system);
        scope
    }

    fn report(&mut self, error: Diagnostic) {
        self.errors.push(error);
    }

    /// Does something one level deeper; an error instead if that is too deep.
    fn deeper<T>(&mut self, span: Span, what: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        if self.depth == DEEPEST {
            if self.errors.iter().any(|error| error.code == "nesting-too-deep") {
                return None;
            }
            let error = Diagnostic::new("nesting-too-deep", span, "this is nested too deeply")
                .label(format!("more than {DEEPEST} levels"))
                .help("split it: name parts of it, or use a procedure");
            self.report(error);
            return None;
        }
        self.depth += 1;
        let result = what(self);
        self.depth -= 1;
        result
    }

    /// Does something in another place of the program.
    fn elsewhere<T>(&mut self, context: Context, what: impl FnOnce(&mut Self) -> T) -> (T, Context) {
        let here = std::mem::replace(&mut self.context, context);
        let result = what(self);
        (result, std::mem::replace(&mut self.context, here))
    }
}
