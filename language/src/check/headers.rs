//! Types of everything declared: facets and attributes of components, variables, headers of procedures.

use crate::ast;
use crate::program::{Collection, ComponentId, Passing, ProcedureId, Type, VariableId};
use crate::source::Diagnostic;

use super::Checker;
use super::names::similar;
use super::scopes::ScopeId;

const COMPONENT_ATTRIBUTES: &str = "a component may be ENTRYPOINT, ISOLATED, VIRTUAL or NATIVE";

impl<'a> Checker<'a> {
    /// Gives facets to components and types to variables and procedures.
    pub(super) fn resolve_headers(&mut self) {
        for index in 0..self.components.len() {
            self.resolve_component(ComponentId(index as u32));
        }
        for index in 0..self.variables.len() {
            self.resolve_variable(VariableId(index as u32));
        }
        for index in 0..self.procedures.len() {
            self.resolve_procedure(ProcedureId(index as u32));
        }
        for index in 0..self.components.len() {
            self.resolve_implementations(ComponentId(index as u32));
        }
    }

    /// The header stands in the scope around the component; an interface that is known only inside will do too.
    fn resolve_component(&mut self, id: ComponentId) {
        let declared = &self.components[id.index()];
        let (tree, scopes) = (declared.tree, [declared.around, declared.scope]);
        let (offers, offers_known) = self.resolve_facets(&scopes, &tree.offers);
        let (requires, requires_known) = self.resolve_facets(&scopes, &tree.requires);
        let component = &mut self.program.components[id.index()];
        component.offers = offers;
        component.requires = requires;
        self.components[id.index()].incomplete = !(offers_known && requires_known);
        if tree.native.is_some() {
            return;
        }
        for attribute in &tree.attributes {
            let component = &mut self.program.components[id.index()];
            match attribute.text.as_str() {
                "ISOLATED" => component.isolated = true,
                "VIRTUAL" => component.virtual_time = true,
                "ENTRYPOINT" => (),
                _ => self.unknown_attribute(attribute, COMPONENT_ATTRIBUTES),
            }
        }
    }

    /// Reports an attribute that means nothing where it stands.
    pub(super) fn unknown_attribute(&mut self, attribute: &ast::Name, help: &str) {
        let error = Diagnostic::new(
            "unknown-attribute",
            attribute.span,
            format!("attribute {} means nothing here", attribute.text),
        );
        let is_small = attribute.text.contains(|letter: char| letter.is_ascii_lowercase());
        let capitals = if is_small { "attributes are in capitals: " } else { "" };
        self.report(error.label("unknown").help(format!("{capitals}{help}")));
    }

    fn resolve_variable(&mut self, id: VariableId) {
        let declared = &self.variables[id.index()];
        let (name, ty, indices, scope) = (declared.name, declared.ty, declared.indices, declared.scope);
        let mut array = false;
        for attribute in declared.attributes {
            match attribute.text.as_str() {
                "ARRAY" => array = true,
                _ => self.unknown_attribute(attribute, "a variable may be {ARRAY}"),
            }
        }
        let resolved = self.resolve_type(scope, ty);
        let collection = match indices {
            Some(sections) => self.resolve_indices(scope, sections, array),
            None => Some(None),
        };
        if array && indices.is_none() {
            let message = format!("{} has no index, so it cannot be an {{ARRAY}}", name.text);
            let error = Diagnostic::new("array-without-index", name.span, message);
            self.report(error.help(format!("give it one: {}[i: INTEGER]", name.text)));
        }
        match resolved.zip(collection) {
            Some((ty, collection)) => {
                let variable = &mut self.program.variables[id.index()];
                variable.ty = ty;
                variable.collection = collection;
            }
            None => {
                self.untyped_variables.insert(id);
            }
        }
    }

    fn resolve_indices(
        &mut self,
        scope: ScopeId,
        sections: &[ast::Section],
        array: bool,
    ) -> Option<Option<Collection>> {
        let mut indices = Vec::new();
        let mut known = true;
        for section in sections {
            let ty = self.resolve_type(scope, &section.ty);
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
                    let message = format!("{} cannot be the type of an index here", self.type_name(&ty));
                    let error = Diagnostic::new("index-type", name.span, message);
                    self.report(error.label("this index").help(help));
                    known = false;
                }
                indices.push(ty);
            }
        }
        known.then_some(Some(Collection { indices, array }))
    }

    fn resolve_procedure(&mut self, id: ProcedureId) {
        let declared = &self.procedures[id.index()];
        let (tree, scope) = (declared.tree, declared.scope);
        let mut known = true;
        for &parameter in &self.program.procedures[id.index()].parameters.clone() {
            known &= !self.untyped_variables.contains(&parameter);
            let variable = &self.program.variables[parameter.index()];
            if variable.parameter == Some(Passing::Value) && variable.ty.is_component() {
                let error = Diagnostic::new(
                    "component-by-value",
                    variable.span,
                    format!("parameter {} is a component, which cannot be copied", variable.name),
                );
                let help = format!("write VARIABLE {}: the caller's own container is passed", variable.name);
                self.report(error.help(help));
                known = false;
            }
        }
        if let Some(result) = &tree.result {
            // The result stands in the header; the procedure's own declarations are not meant for it.
            let around = self.scopes[scope.0].parent.unwrap_or(scope);
            let ty = self.resolve_type(around, result);
            known &= ty.is_some();
            if ty.as_ref().is_some_and(Type::is_component) {
                let message = format!("{} cannot give back a component", tree.name.text);
                let error = Diagnostic::new("component-result", tree.name.span, message);
                self.report(error.help("use a VARIABLE parameter and MOVE the component into it"));
                known = false;
            }
            self.program.procedures[id.index()].result = ty;
        }
        if !known {
            self.untyped_procedures.insert(id);
        }
    }

    fn resolve_implementations(&mut self, id: ComponentId) {
        for index in 0..self.components[id.index()].implementations.len() {
            let (tree, _) = self.components[id.index()].implementations[index];
            for attribute in &tree.attributes {
                match attribute.text.as_str() {
                    "HANDLER" => self.program.components[id.index()].implementations[index].handler = true,
                    _ => self.unknown_attribute(attribute, "an implementation may be {HANDLER}"),
                }
            }
            let component = &self.program.components[id.index()];
            let Some(offered) = self.facet_named(&component.offers, &tree.name) else {
                self.not_offered(id, &tree.name);
                continue;
            };
            let earlier = component.implementations[..index].iter().find(|other| other.offered == offered);
            if let Some(earlier) = earlier {
                let message = format!("{} is implemented twice", tree.name.text);
                let error = Diagnostic::new("implemented-twice", tree.name.span, message);
                let error = error.label("again").note(earlier.span, "already implemented here");
                self.report(
                    error.help("an interface has one implementation; every client gets its own process"),
                );
            }
            self.program.components[id.index()].implementations[index].offered = offered;
        }
    }

    /// Reports an own interface that the header does not offer.
    pub(super) fn not_offered(&mut self, id: ComponentId, name: &ast::Name) {
        if self.components[id.index()].incomplete {
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
        self.report(error);
    }
}
