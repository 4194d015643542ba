//! Bodies: which statements are checked as whose, and what components and procedures lack when all are known.

use crate::ast;
use crate::program::{ComponentId, Owner, ProcedureId};
use crate::source::{Diagnostic, Span};

use super::{Checker, Context, Service};

impl<'a> Checker<'a> {
    /// Checks every body of the program.
    pub(super) fn check_bodies(&mut self) {
        let mut connected = Vec::new();
        for index in 0..self.components.len() {
            connected.push(self.check_component(ComponentId(index as u32)));
        }
        for index in 0..self.procedures.len() {
            let inward = self.check_procedure(ProcedureId(index as u32));
            if let Some(component) = self.program.procedures[index].component {
                connected[component.index()].extend(inward);
            }
        }
        for (index, connected) in connected.iter().enumerate() {
            let id = ComponentId(index as u32);
            if !self.components[index].lost && !self.is_native(id) {
                self.check_offered(id, connected);
            }
        }
    }

    /// Checks the bodies of a component; gives its own offered interfaces that they connect inward.
    fn check_component(&mut self, id: ComponentId) -> Vec<(usize, Span)> {
        let declared = &self.components[id.index()];
        let (tree, scope) = (declared.tree, declared.scope);
        let context = Context { scope, component: Some(id), ..Context::default() };
        let mut connected = Vec::new();
        let mut body = |checker: &mut Self, tree: &Option<ast::Block>, context: Context| {
            let (block, after) =
                checker.elsewhere(context, |checker| tree.as_ref().map(|tree| checker.block(tree)));
            connected.extend(after.connected_inward);
            block
        };
        let begin = body(self, &tree.begin, context.clone());
        let activity = body(self, &tree.activity, context.clone());
        let finally = body(self, &tree.finally, context.clone());
        let component = &mut self.program.components[id.index()];
        (component.begin, component.activity, component.finally) = (begin, activity, finally);
        for index in 0..self.components[id.index()].implementations.len() {
            let (tree, scope) = self.components[id.index()].implementations[index];
            let service = self.service_of(Owner::Implementation(id, index));
            let context = Context { scope, service, ..context.clone() };
            let block = body(self, &tree.body, context.clone()).unwrap_or_default();
            let finally = body(self, &tree.finally, context);
            let implementation = &mut self.program.components[id.index()].implementations[index];
            (implementation.body, implementation.finally) = (block, finally);
        }
        connected
    }

    fn check_procedure(&mut self, id: ProcedureId) -> Vec<(usize, Span)> {
        let declared = &self.procedures[id.index()];
        let (tree, scope) = (declared.tree, declared.scope);
        let procedure = &self.program.procedures[id.index()];
        let (component, owner) = (procedure.component, procedure.owner);
        let service = self.service_of(owner);
        let context = Context { scope, component, service, procedure: Some(id), ..Context::default() };
        let (block, after) =
            self.elsewhere(context, |checker| tree.body.as_ref().map(|tree| checker.block(tree)));
        let lost = tree.body.as_ref().is_some_and(|body| body.lost);
        if tree.result.is_some() && !after.returns && !lost {
            let message = format!("{} never returns its result", tree.name.text);
            let error = Diagnostic::new("missing-return", tree.name.span, message);
            self.report(error.label("a function").help("end it with RETURN value"));
        }
        self.program.procedures[id.index()].body = block.unwrap_or_default();
        after.connected_inward
    }

    fn service_of(&self, owner: Owner) -> Service {
        match owner {
            Owner::Program | Owner::Component(_) => Service::None,
            Owner::Procedure(id) => self.service_of(self.program.procedures[id.index()].owner),
            Owner::Implementation(id, index) => {
                let component = &self.program.components[id.index()];
                let offered = component.offers.get(component.implementations[index].offered);
                offered.map_or(Service::Unknown, |facet| Service::Of(facet.interface))
            }
        }
    }

    /// Every offered interface is implemented or connected inward, not both.
    fn check_offered(&mut self, id: ComponentId, connected: &[(usize, Span)]) {
        let trees = &self.components[id.index()].tree.offers;
        for index in 0..self.program.components[id.index()].offers.len() {
            let component = &self.program.components[id.index()];
            let name = self.interface_name(component.offers[index].interface);
            let place =
                trees.iter().find(|tree| tree.name.last() == name).map_or(component.span, |tree| tree.span);
            let implementation = component.implementations.iter().find(|one| one.offered == index);
            let inward = connected.iter().find(|(offered, _)| *offered == index);
            match (implementation, inward) {
                (None, None) => {
                    let message = format!("{} offers {name} and does not implement it", component.name);
                    let error =
                        Diagnostic::new("offered-not-implemented", place, message).label("offered here");
                    let help =
                        format!("write IMPLEMENTATION {name}; .. END {name}; or CONNECT({name}, x) inward");
                    self.report(error.help(help));
                }
                (Some(implementation), Some(&(_, connect))) => {
                    let message = format!("{name} is implemented, so it cannot be connected inward");
                    let error = Diagnostic::new("offered-twice", connect, message).label("connected inward");
                    let note = implementation.span;
                    self.report(error.note(note, "implemented here").help("remove one of the two"));
                }
                _ => (),
            }
        }
    }
}
