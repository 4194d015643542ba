//! Resolves headers: the facets and attributes of components, the types of variables, the parameters and results of
//! procedures.

use crate::ast;
use crate::program::{Collection, ComponentId, Passing, ProcedureId, Type, VariableId};
use crate::source::Diagnostic;

use super::definitions::Definitions;
use super::diagnostics::Diagnostics;
use super::similar::similar;
use super::symbols::ScopeId;

const COMPONENT_ATTRIBUTES: &str = "a component may be ENTRYPOINT, ISOLATED, VIRTUAL or NATIVE";

/// Resolves all headers.
pub(super) fn resolve(definitions: &mut Definitions, diagnostics: &mut Diagnostics) {
    let mut headers = Headers { definitions, diagnostics };
    for index in 0..headers.definitions.declared.components.len() {
        headers.component(ComponentId(index as u32));
    }
    for index in 0..headers.definitions.declared.variables.len() {
        headers.variable(VariableId(index as u32));
    }
    for index in 0..headers.definitions.declared.procedures.len() {
        headers.procedure(ProcedureId(index as u32));
    }
    for index in 0..headers.definitions.declared.components.len() {
        headers.implementations(ComponentId(index as u32));
    }
}

struct Headers<'d, 'a> {
    definitions: &'d mut Definitions<'a>,
    diagnostics: &'d mut Diagnostics,
}

impl Headers<'_, '_> {
    /// The header stands in the scope around the component; an interface that is known only inside will do too.
    fn component(&mut self, id: ComponentId) {
        let declared = &self.definitions.declared.components[id.index()];
        let (tree, scopes) = (declared.tree, [declared.around, declared.scope]);
        let (offers, offers_known) = self.definitions.resolve_facets(&scopes, &tree.offers, self.diagnostics);
        let (requires, requires_known) =
            self.definitions.resolve_facets(&scopes, &tree.requires, self.diagnostics);
        let component = &mut self.definitions.program.components[id.index()];
        component.offers = offers;
        component.requires = requires;
        if !(offers_known && requires_known) {
            self.definitions.gaps.components.insert(id);
        }
        if tree.native.is_some() {
            return;
        }
        for attribute in &tree.attributes {
            let component = &mut self.definitions.program.components[id.index()];
            match attribute.text.as_str() {
                "ISOLATED" => component.isolated = true,
                "VIRTUAL" => component.virtual_time = true,
                "ENTRYPOINT" => (),
                _ => self.diagnostics.unknown_attribute(attribute, COMPONENT_ATTRIBUTES),
            }
        }
    }

    fn variable(&mut self, id: VariableId) {
        let declared = &self.definitions.declared.variables[id.index()];
        let (name, ty, indices, scope) = (declared.name, declared.ty, declared.indices, declared.scope);
        let mut array = false;
        for attribute in declared.attributes {
            match attribute.text.as_str() {
                "ARRAY" => array = true,
                _ => self.diagnostics.unknown_attribute(attribute, "a variable may be {ARRAY}"),
            }
        }
        let resolved = self.definitions.resolve_type(scope, ty, self.diagnostics);
        let collection = match indices {
            Some(sections) => self.indices(scope, sections, array),
            None => Some(None),
        };
        if array && indices.is_none() {
            let message = format!("{} has no index, so it cannot be an {{ARRAY}}", name.text);
            let error = Diagnostic::new("array-without-index", name.span, message);
            self.diagnostics.report(error.help(format!("give it one: {}[i: INTEGER]", name.text)));
        }
        match resolved.zip(collection) {
            Some((ty, collection)) => {
                let variable = &mut self.definitions.program.variables[id.index()];
                variable.ty = ty;
                variable.collection = collection;
            }
            None => {
                self.definitions.gaps.variables.insert(id);
            }
        }
    }

    fn indices(
        &mut self,
        scope: ScopeId,
        sections: &[ast::Section],
        array: bool,
    ) -> Option<Option<Collection>> {
        let mut indices = Vec::new();
        let mut known = true;
        for section in sections {
            let ty = self.definitions.resolve_type(scope, &section.ty, self.diagnostics);
            known &= ty.is_some();
            for name in &section.names {
                let Some(ty) = ty.clone() else { continue };
                let (fits, help) = if array {
                    (ty == Type::Integer, "the indices of an {ARRAY} are INTEGER, counted from 0")
                } else {
                    let fits = matches!(ty, Type::Integer | Type::Character | Type::Boolean | Type::Text);
                    (fits, "an index is INTEGER, CHARACTER, BOOLEAN or TEXT")
                };
                if !fits {
                    let message =
                        format!("{} cannot be the type of an index here", self.definitions.type_name(&ty));
                    let error = Diagnostic::new("index-type", name.span, message);
                    self.diagnostics.report(error.label("this index").help(help));
                    known = false;
                }
                indices.push(ty);
            }
        }
        known.then_some(Some(Collection { indices, array }))
    }

    fn procedure(&mut self, id: ProcedureId) {
        let declared = &self.definitions.declared.procedures[id.index()];
        let (tree, scope) = (declared.tree, declared.scope);
        let mut known = true;
        for &parameter in &self.definitions.program.procedures[id.index()].parameters {
            known &= !self.definitions.gaps.variables.contains(&parameter);
            let variable = &self.definitions.program.variables[parameter.index()];
            let is_any_value = tree.is_native() && variable.ty.is_bare_any();
            if variable.parameter == Some(Passing::Value) && variable.ty.is_component() && !is_any_value {
                let error = Diagnostic::new(
                    "component-by-value",
                    variable.span,
                    format!("parameter {} is a component, which cannot be copied", variable.name),
                );
                let help = format!("write VARIABLE {}: the caller's own container is passed", variable.name);
                self.diagnostics.report(error.help(help));
                known = false;
            }
        }
        if let Some(result) = &tree.result {
            // The result stands in the header, where the procedure's own declarations are not seen.
            let around = self.definitions.scopes.parent(scope).unwrap_or(scope);
            let ty = self.definitions.resolve_type(around, result, self.diagnostics);
            known &= ty.is_some();
            if ty.as_ref().is_some_and(Type::is_component) {
                let message = format!("{} cannot give back a component", tree.name.text);
                let error = Diagnostic::new("component-result", tree.name.span, message);
                self.diagnostics
                    .report(error.help("use a VARIABLE parameter and MOVE the component into it"));
                known = false;
            }
            self.definitions.program.procedures[id.index()].result = ty;
        }
        if !known {
            self.definitions.gaps.procedures.insert(id);
        }
    }

    fn implementations(&mut self, id: ComponentId) {
        for index in 0..self.definitions.declared.components[id.index()].implementations.len() {
            let (tree, _) = self.definitions.declared.components[id.index()].implementations[index];
            for attribute in &tree.attributes {
                match attribute.text.as_str() {
                    "HANDLER" => {
                        self.definitions.program.components[id.index()].implementations[index].handler = true
                    }
                    _ => self.diagnostics.unknown_attribute(attribute, "an implementation may be {HANDLER}"),
                }
            }
            let component = &self.definitions.program.components[id.index()];
            let Some(offered) = self.definitions.facet_named(&component.offers, &tree.name) else {
                self.definitions.not_offered(id, &tree.name, self.diagnostics);
                continue;
            };
            let earlier = component.implementations[..index].iter().find(|other| other.offered == offered);
            if let Some(earlier) = earlier {
                let message = format!("{} is implemented twice", tree.name.text);
                let error = Diagnostic::new("implemented-twice", tree.name.span, message);
                let error = error.label("again").note(earlier.span, "already implemented here");
                self.diagnostics.report(
                    error.help("an interface has one implementation; every client gets its own process"),
                );
            }
            self.definitions.program.components[id.index()].implementations[index].offered = offered;
        }
    }
}

impl Definitions<'_> {
    /// Reports an own interface that the header does not offer.
    pub(super) fn not_offered(&self, id: ComponentId, name: &ast::Name, diagnostics: &mut Diagnostics) {
        if self.gaps.components.contains(&id) {
            return;
        }
        let component = &self.program.components[id.index()];
        let message = format!("{} does not offer an interface {}", component.name, name.text);
        let mut error = Diagnostic::new("not-offered", name.span, message)
            .label("not offered")
            .note(component.span, "its header is here");
        let offered = component.offers.iter().map(|facet| self.interface_name(facet.interface));
        error = match similar(&name.text, offered) {
            Some(similar) => error.help(format!("did you mean {similar}?")),
            None => error.help(format!("add it to the header: OFFERS {}", name.text)),
        };
        diagnostics.report(error);
    }
}
