//! Checks all bodies, each in its context, and then what the components lack.

use crate::ast;
use crate::program::{Block, ComponentId, Owner, ProcedureId, Program, VariableId};
use crate::source::{Diagnostic, Span};

use super::body::{BodyChecker, Context, Findings, Service};
use super::definitions::Definitions;
use super::diagnostics::Diagnostics;

/// The checked bodies of a program.
pub(super) struct Bodies {
    components: Vec<ComponentBodies>,
    procedures: Vec<Block>,
    findings: Findings,
}

struct ComponentBodies {
    begin: Option<Block>,
    activity: Option<Block>,
    finally: Option<Block>,
    /// The body and the FINALLY of each implementation.
    implementations: Vec<(Block, Option<Block>)>,
}

/// Own offered interfaces (index into `offers`) that are connected inward, and where.
type ConnectedInward = Vec<(usize, Span)>;

/// Evaluates all constants and checks every body of the program.
pub(super) fn check(known: &Definitions, beside_crates: bool, diagnostics: &mut Diagnostics) -> Bodies {
    let mut checker = BodyChecker::new(known, beside_crates, diagnostics);
    checker.evaluate_constants();
    let all = (0..known.declared.components.len() as u32).map(ComponentId);
    let (components, mut connected): (Vec<_>, Vec<_>) = all.map(|id| component(&mut checker, id)).unzip();
    let mut procedures = Vec::new();
    for (index, procedure) in known.program.procedures.iter().enumerate() {
        let (block, inward) = self::procedure(&mut checker, ProcedureId(index as u32));
        procedures.push(block);
        if let Some(component) = procedure.component {
            connected[component.index()].extend(inward);
        }
    }
    let findings = checker.findings();
    for (index, connected) in connected.iter().enumerate() {
        let id = ComponentId(index as u32);
        if !known.declared.components[index].lost && !known.is_native(id) {
            check_offered(known, id, connected, diagnostics);
        }
    }
    Bodies { components, procedures, findings }
}

impl Bodies {
    /// Moves the bodies, and the blocks in them that may be shipped, into their program. Gives what else was found out.
    pub(super) fn move_into(mut self, program: &mut Program) -> Findings {
        program.composites = std::mem::take(&mut self.findings.composites);
        for variable in std::mem::take(&mut self.findings.variables) {
            let id = VariableId(program.variables.len() as u32);
            program.variables_of(variable.owner).push(id);
            program.variables.push(variable);
        }
        for (component, bodies) in program.components.iter_mut().zip(self.components) {
            (component.begin, component.activity, component.finally) =
                (bodies.begin, bodies.activity, bodies.finally);
            for (implementation, bodies) in component.implementations.iter_mut().zip(bodies.implementations) {
                (implementation.body, implementation.finally) = bodies;
            }
        }
        for (procedure, body) in program.procedures.iter_mut().zip(self.procedures) {
            procedure.body = body;
        }
        self.findings
    }
}

/// Checks the bodies of a component.
fn component(checker: &mut BodyChecker, id: ComponentId) -> (ComponentBodies, ConnectedInward) {
    let known = checker.known;
    let declared = &known.declared.components[id.index()];
    let tree = declared.tree;
    let owner = Some(Owner::Component(id));
    let context = Context { scope: declared.scope, component: Some(id), owner, ..Context::default() };
    let mut connected = Vec::new();
    let mut body = |tree: &Option<ast::Block>, context: Context| {
        let (block, after) =
            checker.elsewhere(context, |checker| tree.as_ref().map(|tree| checker.block(tree)));
        connected.extend(after.connected_inward);
        block
    };
    let begin = body(&tree.begin, context.clone());
    let activity = body(&tree.activity, context.clone());
    let finally = body(&tree.finally, context.clone());
    let mut implementations = Vec::new();
    for (index, &(tree, scope)) in declared.implementations.iter().enumerate() {
        let owner = Owner::Implementation(id, index);
        let service = service_of(&known.program, owner);
        let context = Context { scope, service, owner: Some(owner), ..context.clone() };
        let block = body(&tree.body, context.clone()).unwrap_or_default();
        implementations.push((block, body(&tree.finally, context)));
    }
    (ComponentBodies { begin, activity, finally, implementations }, connected)
}

fn procedure(checker: &mut BodyChecker, id: ProcedureId) -> (Block, ConnectedInward) {
    let declared = &checker.known.declared.procedures[id.index()];
    let (tree, scope) = (declared.tree, declared.scope);
    let procedure = &checker.known.program.procedures[id.index()];
    let service = service_of(&checker.known.program, procedure.owner);
    let component = procedure.component;
    let owner = Some(Owner::Procedure(id));
    let context = Context { scope, component, service, owner, ..Context::default() };
    let (block, after) =
        checker.elsewhere(context, |checker| tree.body.as_ref().map(|tree| checker.block(tree)));
    let lost = tree.body.as_ref().is_some_and(|body| body.lost);
    if tree.result.is_some() && !after.returns && !lost && !tree.is_native() {
        let message = format!("{} never returns its result", tree.name.text);
        let error = Diagnostic::new("missing-return", tree.name.span, message);
        checker.report(error.label("a function").help("end it with RETURN value"));
    }
    (block.unwrap_or_default(), after.connected_inward)
}

fn service_of(program: &Program, owner: Owner) -> Service {
    match owner {
        Owner::Program | Owner::Component(_) => Service::None,
        Owner::Procedure(id) => service_of(program, program.procedures[id.index()].owner),
        Owner::Implementation(id, index) => {
            let component = &program.components[id.index()];
            let offered = component.offers.get(component.implementations[index].offered);
            offered.map_or(Service::Unknown, |facet| Service::Of(facet.interface))
        }
    }
}

/// Every offered interface is implemented or connected inward, not both.
fn check_offered(
    known: &Definitions,
    id: ComponentId,
    connected: &[(usize, Span)],
    diagnostics: &mut Diagnostics,
) {
    let trees = &known.declared.components[id.index()].tree.offers;
    let component = &known.program.components[id.index()];
    for (index, offered) in component.offers.iter().enumerate() {
        let name = known.interface_name(offered.interface);
        let place =
            trees.iter().find(|tree| tree.name.last() == name).map_or(component.span, |tree| tree.span);
        let implementation = component.implementations.iter().find(|one| one.offered == index);
        let inward = connected.iter().find(|(offered, _)| *offered == index);
        match (implementation, inward) {
            (None, None) => {
                let message = format!("{} offers {name} and does not implement it", component.name);
                let error = Diagnostic::new("offered-not-implemented", place, message).label("offered here");
                let help =
                    format!("write IMPLEMENTATION {name}; .. END {name}; or CONNECT({name}, x) inward");
                diagnostics.report(error.help(help));
            }
            (Some(implementation), Some(&(_, connect))) => {
                let message = format!("{name} is implemented, so it cannot be connected inward");
                let error = Diagnostic::new("offered-twice", connect, message).label("connected inward");
                let note = implementation.span;
                diagnostics.report(error.note(note, "implemented here").help("remove one of the two"));
            }
            _ => (),
        }
    }
}
