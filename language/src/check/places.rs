//! Places: variables, elements, fields of records, characters of texts, and guarded components.

use crate::ast;
use crate::program::{Place, PlaceKind, Type, VariableId};
use crate::source::{Diagnostic, Span};

use super::body::BodyChecker;
use super::scopes::Found;
use super::symbols::Symbol;

impl BodyChecker<'_> {
    /// The place that a designator names: a variable, an element, a character, or one of these guarded.
    pub(super) fn place(&mut self, tree: &ast::Designator) -> Option<Place> {
        let Some(inner) = &tree.inner else {
            return self.unguarded_place(tree, tree.span);
        };
        let guard = self.guard(inner);
        if guard.is_none() {
            let message = format!("{} of a component is not a container", tree.name.text);
            let error = Diagnostic::new("not-a-place", tree.span, message);
            self.report(error.label("an interface").help("name the component's variable itself"));
            return None;
        }
        let span = tree.name.span.to(tree.span);
        let place = self.unguarded_place(tree, span);
        let (place, ty) = (place?, guard??);
        if !place.ty.is_component() || !ty.is_component() {
            let wrong = if place.ty.is_component() { &ty } else { &place.ty };
            let message =
                format!("only components have a guard, {} is no component", self.known.type_name(wrong));
            self.report(
                Diagnostic::new("guard", tree.span, message).help("v(T): v and T are of component types"),
            );
            return None;
        }
        if let Err(reason) = self.known.may_be(&place.ty, &ty) {
            let (name, holder) = (self.known.type_name(&ty), self.known.type_name(&place.ty));
            let message = format!("{} never holds a component of type {name}", tree.name.text);
            let error = Diagnostic::new("guard", tree.span, message).label(format!("{holder}: {reason}"));
            self.report(error.help("the guard fails whatever the program does"));
            return None;
        }
        Some(Place { kind: PlaceKind::Guarded(Box::new(place)), ty, span: tree.span })
    }

    /// A variable or element, or a field of what is in it.
    fn unguarded_place(&mut self, tree: &ast::Designator, span: Span) -> Option<Place> {
        let indices = tree.indices.as_deref();
        let Some((variable, field)) = self.variable_and_field(&tree.name) else {
            if tree.steps.is_empty() {
                return self.plain_place(&tree.name, indices, span);
            }
            let place = self.plain_place(&tree.name, indices, tree.name.span)?;
            return self.steps(place, &tree.steps);
        };
        let place = self.plain_place(&variable, None, variable.span)?;
        let place = self.field(place, &field)?;
        let place = match indices {
            Some([index]) => self.item(place, index, field.span.to(index.span))?,
            Some(_) => {
                let message = format!("{} is a field, and has one index at most", field.text);
                self.report(Diagnostic::new("not-a-collection", span, message).label("indexed"));
                return None;
            }
            None => place,
        };
        self.steps(place, &tree.steps)
    }

    fn steps(&mut self, place: Place, steps: &[ast::Step]) -> Option<Place> {
        steps.iter().try_fold(place, |place, step| match step {
            ast::Step::Field(field) => self.field(place, field),
            ast::Step::Index(index, span) => self.item(place, index, *span),
        })
    }

    /// An element of the sequence that a place holds.
    fn item(&mut self, place: Place, index: &ast::Expression, span: Span) -> Option<Place> {
        let Type::Sequence(element) = &place.ty else {
            let message = format!("{} has no elements", self.known.type_name(&place.ty));
            let error = Diagnostic::new("not-a-collection", span, message).label("indexed");
            self.report(if place.ty == Type::Text {
                error.help("assign it to a variable, and take its character from there")
            } else {
                error.help("a sequence has elements: SEQUENCE OF INTEGER")
            });
            return None;
        };
        let ty = (**element).clone();
        let index = self.expression_of(index, &Type::Integer)?;
        let span = place.span.to(span);
        Some(Place { kind: PlaceKind::Item(Box::new(place), Box::new(index)), ty, span })
    }

    /// The type in the parentheses of a guard. `None` if they contain a component, `Some(None)` if the type is wrong.
    fn guard(&mut self, inner: &ast::Inner) -> Option<Option<Type>> {
        match inner {
            ast::Inner::Type(ty) => Some(self.resolve_type(ty)),
            ast::Inner::Designator(inner) => inner.bare().and_then(|name| self.type_by_name(name)).map(Some),
        }
    }

    /// Whether the parentheses contain a type, so that they are a guard.
    pub(super) fn is_guard(&self, inner: &ast::Inner) -> bool {
        match inner {
            ast::Inner::Type(_) => true,
            ast::Inner::Designator(inner) => {
                inner.bare().is_some_and(|name| self.type_by_name(name).is_some())
            }
        }
    }

    /// A place that is assigned to, so without a guard.
    pub(super) fn target(&mut self, tree: &ast::Designator) -> Option<Place> {
        let place = self.place(tree)?;
        if matches!(place.kind, PlaceKind::Guarded(_)) {
            let error =
                Diagnostic::new("guard", tree.span, "a guard is only for using the component there is");
            self.report(error.help(format!("write {} alone", tree.name.text)));
            return None;
        }
        Some(place)
    }

    /// The variable that a bare name stands for; reports nothing.
    pub(super) fn variable_named(&self, name: &ast::Name) -> Option<VariableId> {
        match self.lookup(name) {
            Found::Symbol(Symbol::Variable(id), _) => Some(id),
            _ => None,
        }
    }

    /// The collection that a designator names as a whole.
    pub(super) fn whole_collection(&self, tree: &ast::Designator) -> Option<VariableId> {
        let variable = self.variable_named(tree.bare()?)?;
        self.variable(variable).collection.is_some().then_some(variable)
    }

    fn plain_place(
        &mut self,
        name: &ast::Name,
        indices: Option<&[ast::Expression]>,
        span: Span,
    ) -> Option<Place> {
        let (symbol, declared) = self.symbol(name)?;
        let Symbol::Variable(variable) = symbol else {
            let message = format!("{} is {}, not a variable", name.text, symbol.describe());
            let error =
                Diagnostic::new("not-a-variable", name.span, message).label("a variable belongs here");
            let error = error.note(declared, "declared here");
            self.report(match symbol {
                Symbol::Template(_) => error.help(format!(
                    "declare one: VARIABLE x: {}; and NEW(x) makes a component in it",
                    name.text
                )),
                _ => error,
            });
            return None;
        };
        if self.known.gaps.variables.contains(&variable) {
            for index in indices.unwrap_or_default() {
                self.expression(index);
            }
            return None;
        }
        let declared = self.variable(variable);
        let (ty, collection, declared) = (declared.ty.clone(), declared.collection.clone(), declared.span);
        match (collection, indices) {
            (None, None) => Some(Place { kind: PlaceKind::Variable(variable), ty, span }),
            (None, Some([index])) if ty == Type::Text => {
                let index = self.expression_of(index, &Type::Integer)?;
                Some(Place {
                    kind: PlaceKind::Character(variable, Box::new(index)),
                    ty: Type::Character,
                    span,
                })
            }
            (None, Some([index])) if matches!(ty, Type::Sequence(_)) => {
                let whole = Place { kind: PlaceKind::Variable(variable), ty, span: name.span };
                self.item(whole, index, span)
            }
            (None, Some(_)) => {
                let message = format!("{} is not a collection and has no elements", name.text);
                let error =
                    Diagnostic::new("not-a-collection", span, message).note(declared, "declared here");
                self.report(error.label("indexed").help(format!("declare it as {}[k: INTEGER]", name.text)));
                None
            }
            (Some(collection), None) => {
                let message = format!("{} is a collection; which element is meant?", name.text);
                let error =
                    Diagnostic::new("collection-index", span, message).note(declared, "declared here");
                let holes = vec!["..."; collection.indices.len()].join(", ");
                self.report(error.label("without index").help(format!("write {}[{holes}]", name.text)));
                None
            }
            (Some(collection), Some(trees)) => {
                if trees.len() != collection.indices.len() {
                    let (wanted, given) = (collection.indices.len(), trees.len());
                    let message = format!("{} has {wanted} indices, {given} given", name.text);
                    let error = Diagnostic::new("collection-index", span, message);
                    self.report(error.note(declared, "declared here"));
                    return None;
                }
                let pairs = trees.iter().zip(&collection.indices);
                let indices: Vec<_> = pairs.map(|(tree, ty)| self.expression_of(tree, ty)).collect();
                let indices = indices.into_iter().collect::<Option<Vec<_>>>()?;
                Some(Place { kind: PlaceKind::Element(variable, indices), ty, span })
            }
        }
    }
}

/// An expression read as a designator, where one is needed: `x`, `x[i]`, `I(x)`, `x(T)`.
pub(super) fn as_designator(tree: &ast::Expression) -> Option<ast::Designator> {
    match &tree.kind {
        ast::ExpressionKind::Designator(designator) => Some(designator.clone()),
        ast::ExpressionKind::Call(call) => match call.arguments.as_slice() {
            [(None, argument)] => Some(ast::Designator {
                name: call.name.clone(),
                indices: None,
                steps: Vec::new(),
                inner: Some(Box::new(ast::Inner::Designator(as_designator(argument)?))),
                span: call.span,
            }),
            _ => None,
        },
        _ => None,
    }
}
