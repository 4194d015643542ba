//! Types: resolves them from syntax trees, names them for messages, and says which component fits which container.

use crate::ast;
use crate::program::{AnyType, Cardinality, ComponentId, Facet, InterfaceId, Type, VariableId};
use crate::source::{Diagnostic, Span};

use super::definitions::Definitions;
use super::diagnostics::Diagnostics;
use super::predeclared::Predeclared;
use super::records::DEEPEST;
use super::scopes::Found;
use super::symbols::{ScopeId, Symbol};

impl Definitions<'_> {
    /// The type that is written, if it makes sense.
    pub(super) fn resolve_type(
        &self,
        scope: ScopeId,
        ty: &ast::Type,
        diagnostics: &mut Diagnostics,
    ) -> Option<Type> {
        match ty {
            ast::Type::Named(name) => self.named_type(scope, name, diagnostics),
            ast::Type::Sequence(element, span) => self.sequence_type(scope, element, *span, diagnostics),
            ast::Type::Any { facets: None, .. } => {
                Some(Type::Any(AnyType { offers: Vec::new(), requires: None }))
            }
            ast::Type::Any { facets: Some((offers, requires)), .. } => {
                let (mut offers, offers_known) = self.resolve_facets(&[scope], offers, diagnostics);
                let (mut requires, requires_known) = self.resolve_facets(&[scope], requires, diagnostics);
                offers.sort_by_key(|facet| facet.interface);
                requires.sort_by_key(|facet| facet.interface);
                let known = offers_known && requires_known;
                known.then_some(Type::Any(AnyType { offers, requires: Some(requires) }))
            }
        }
    }

    fn sequence_type(
        &self,
        scope: ScopeId,
        element: &ast::Type,
        span: Span,
        diagnostics: &mut Diagnostics,
    ) -> Option<Type> {
        let element = self.resolve_type(scope, element, diagnostics)?;
        if element.is_component() {
            let error = Diagnostic::new("component-element", span, "a component cannot be copied");
            let error = error.label("a sequence of components");
            diagnostics.report(error.help("a collection holds components: VARIABLE c[i: INTEGER]: Template"));
            return None;
        }
        if depth(&element) >= DEEPEST {
            let error = Diagnostic::new("sequence-nesting", span, "sequences are nested too deeply");
            diagnostics.report(error.help(format!("at most {DEEPEST} sequences stand in one another")));
            return None;
        }
        Some(Type::Sequence(Box::new(element)))
    }

    fn named_type(&self, scope: ScopeId, name: &ast::Name, diagnostics: &mut Diagnostics) -> Option<Type> {
        match self.symbol(scope, name, diagnostics)? {
            (Symbol::Template(component), _) => Some(Type::Component(component)),
            (Symbol::Record(record), _) => self.record_type(record),
            (Symbol::Predeclared(Predeclared::Type(basic)), _) => Some(basic.ty()),
            (other, span) => {
                let error = Diagnostic::new(
                    "not-a-type",
                    name.span,
                    format!("{} is {}, not a type", name.text, other.describe()),
                );
                diagnostics.report(error.label("a type belongs here").note(span, "declared here"));
                None
            }
        }
    }

    /// The type that a bare name stands for, if it does for one; reports nothing.
    pub(super) fn type_by_name(&self, scope: ScopeId, name: &ast::Name) -> Option<Type> {
        match self.scopes.lookup(scope, name) {
            Found::Symbol(Symbol::Template(component), _) => Some(Type::Component(component)),
            Found::Symbol(Symbol::Record(record), _) => self.record_type(record),
            Found::Symbol(Symbol::Predeclared(Predeclared::Type(basic)), _) => Some(basic.ty()),
            _ => None,
        }
    }

    /// Facets as written, and whether all their interfaces are known. Each interface is looked up in the first of the
    /// scopes that knows it.
    pub(super) fn resolve_facets(
        &self,
        scopes: &[ScopeId],
        facets: &[ast::Facet],
        diagnostics: &mut Diagnostics,
    ) -> (Vec<Facet>, bool) {
        let mut resolved: Vec<Facet> = Vec::new();
        let mut known = true;
        for (index, facet) in facets.iter().enumerate() {
            let name = &facet.name;
            let declaration = scopes.iter().find_map(|&scope| self.scopes.find_interface(scope, name));
            let Some((declaration, span)) = declaration else {
                self.unknown_interface(scopes[scopes.len() - 1], name, diagnostics);
                known = false;
                continue;
            };
            let interface = self.declared.interface(declaration);
            let known_as = facets[..index].iter().any(|earlier| earlier.name.last() == name.last());
            if known_as && !resolved.iter().any(|earlier| earlier.interface == interface) {
                let message = format!("an interface {} is listed already, which is another one", name.last());
                let error = Diagnostic::new("duplicate-facet", facet.span, message).label("of the same name");
                diagnostics.report(error.help("the interfaces of a component have different names"));
                known = false;
                continue;
            }
            if resolved.iter().any(|earlier| earlier.interface == interface) {
                let error = Diagnostic::new(
                    "duplicate-facet",
                    facet.span,
                    format!("interface {} is listed twice", name.text),
                );
                let error = error.label("again").note(span, "the interface");
                diagnostics.report(error.help("for several connections give it a cardinality: I[1..n]"));
                continue;
            }
            let cardinality = cardinality(facet, diagnostics);
            resolved.push(Facet { interface, cardinality });
        }
        (resolved, known)
    }

    /// What the components of this type offer for sure.
    pub(super) fn offers_of<'t>(&'t self, ty: &'t Type) -> &'t [Facet] {
        match ty {
            Type::Component(id) => &self.program.components[id.index()].offers,
            Type::Any(any) => &any.offers,
            _ => &[],
        }
    }

    /// What the components of this type may require; `None` for anything.
    pub(super) fn requires_of<'t>(&'t self, ty: &'t Type) -> Option<&'t [Facet]> {
        match ty {
            Type::Component(id) => Some(&self.program.components[id.index()].requires),
            Type::Any(any) => any.requires.as_deref(),
            _ => Some(&[]),
        }
    }

    /// Whether the header of the type's template had errors, so that a facet may be missing only because of them.
    pub(super) fn is_incomplete(&self, ty: &Type) -> bool {
        matches!(ty, Type::Component(id) if self.gaps.components.contains(id))
    }

    /// The index of the facet of that name. The name need not be qualified, since the interfaces of one component have
    /// different names.
    pub(super) fn facet_named(&self, facets: &[Facet], name: &ast::Name) -> Option<usize> {
        let meant = match name.qualified() {
            None => None,
            Some(_) => {
                Some(self.declared.interface(self.scopes.find_interface(ScopeId::PREDECLARED, name)?.0))
            }
        };
        facets.iter().position(|facet| match meant {
            None => self.interface_name(facet.interface) == name.text,
            Some(meant) => facet.interface == meant,
        })
    }

    pub(super) fn interface_name(&self, interface: InterfaceId) -> &str {
        &self.program.interfaces[interface.index()].name
    }

    /// Whether every component of type `from` may be in a container of type `to`; if not, why.
    pub(super) fn conforms(&self, from: &Type, to: &Type) -> Result<(), String> {
        let Type::Any(any) = to else {
            return if from == to { Ok(()) } else { Err("the templates differ".into()) };
        };
        let offered = self.offers_of(from);
        for wanted in &any.offers {
            if !offered.iter().any(|facet| facet.interface == wanted.interface) {
                let name = self.interface_name(wanted.interface);
                let another = offered.iter().any(|facet| self.interface_name(facet.interface) == name);
                return Err(if another {
                    format!("another {name} is offered")
                } else {
                    format!("{name} is not offered")
                });
            }
        }
        let Some(allowed) = &any.requires else {
            return Ok(());
        };
        let Some(required) = self.requires_of(from) else {
            return Err("it may require anything".into());
        };
        for facet in required {
            let Some(slot) = allowed.iter().find(|slot| slot.interface == facet.interface) else {
                let name = self.interface_name(facet.interface);
                let another = allowed.iter().any(|slot| self.interface_name(slot.interface) == name);
                return Err(format!("{}{name} is required", if another { "another " } else { "" }));
            };
            let fits = match (facet.cardinality, slot.cardinality) {
                (None, None) => true,
                (Some(a), Some(b)) => b.to.is_none_or(|most| a.to.is_some_and(|to| to <= most)),
                _ => false,
            };
            if !fits {
                let name = self.interface_name(facet.interface);
                return Err(format!("{name} is required with another cardinality"));
            }
        }
        Ok(())
    }

    /// Whether some component of type `from` may be of type `to`; if certainly none is, why.
    pub(super) fn may_be(&self, from: &Type, to: &Type) -> Result<(), String> {
        if self.is_incomplete(from) || self.is_incomplete(to) {
            return Ok(());
        }
        match (from, to) {
            (_, Type::Component(_)) => self.conforms(to, from),
            (Type::Component(_), _) => self.conforms(from, to),
            _ => Ok(()),
        }
    }

    /// As a programmer would write it.
    pub(super) fn type_name(&self, ty: &Type) -> String {
        let list = |facets: &[Facet]| {
            let names: Vec<String> = facets.iter().map(|facet| self.facet_name(facet)).collect();
            names.join(", ")
        };
        match ty {
            Type::Boolean => "BOOLEAN".into(),
            Type::Character => "CHARACTER".into(),
            Type::Integer => "INTEGER".into(),
            Type::Real => "REAL".into(),
            Type::Text => "TEXT".into(),
            Type::Record(id) => self.program.records[id.index()].name.clone(),
            Type::Sequence(element) => format!("SEQUENCE OF {}", self.type_name(element)),
            Type::Component(id) => self.component_name(*id).into(),
            Type::Any(AnyType { offers, requires: None }) if offers.is_empty() => "ANY".into(),
            Type::Any(AnyType { offers, requires }) => match requires.as_deref().unwrap_or_default() {
                [] => format!("ANY({})", list(offers)),
                requires => format!("ANY({} | {})", list(offers), list(requires)),
            },
        }
    }

    fn facet_name(&self, facet: &Facet) -> String {
        let name = self.interface_name(facet.interface);
        match facet.cardinality {
            None => name.into(),
            Some(Cardinality { from, to: None }) => format!("{name}[{from}..*]"),
            Some(Cardinality { from, to: Some(to) }) if from == to => format!("{name}[{from}]"),
            Some(Cardinality { from, to: Some(to) }) => format!("{name}[{from}..{to}]"),
        }
    }

    pub(super) fn variable_name(&self, variable: VariableId) -> &str {
        &self.program.variables[variable.index()].name
    }

    pub(super) fn component_name(&self, component: ComponentId) -> &str {
        &self.program.components[component.index()].name
    }
}

/// How many sequences stand in one another.
fn depth(ty: &Type) -> usize {
    match ty {
        Type::Sequence(element) => 1 + depth(element),
        _ => 0,
    }
}

/// The cardinality that is written behind a required interface.
fn cardinality(facet: &ast::Facet, diagnostics: &mut Diagnostics) -> Option<Cardinality> {
    let ast::Cardinality { from, to } = facet.cardinality.as_ref()?;
    let bounds = u32::try_from(*from).ok().zip(to.map_or(Some(None), |to| u32::try_from(to).ok().map(Some)));
    match bounds {
        Some((from, to)) if to.is_none_or(|to| to >= from.max(1)) => Some(Cardinality { from, to }),
        _ => {
            let error = Diagnostic::new("cardinality", facet.span, "no number fits this cardinality");
            let error = error.label("impossible bounds");
            diagnostics.report(error.help("write [n], [m..n] with m <= n and n >= 1, or [m..*]"));
            None
        }
    }
}

/// Whether any component may be in a container of this type.
pub(super) fn is_bare_any(ty: &Type) -> bool {
    matches!(ty, Type::Any(any) if any.requires.is_none() && any.offers.is_empty())
}
