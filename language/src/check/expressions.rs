//! Expressions: from trees to typed expressions with constants folded.

use crate::ast::{self, ExpressionKind as Tree};
use crate::program::{Builtin, Expression, ExpressionKind, LockMode, Place, PlaceKind, Type};
use crate::source::{Diagnostic, Span};

use super::body::BodyChecker;
use super::conversions::literal;
use super::predeclared::{Function, Predeclared};
use super::symbols::Symbol;

/// Help: how to find the size of a collection.
pub(super) const COUNTED: &str = "elements are counted by FOREACH, or as they come and go";

impl BodyChecker<'_> {
    /// Checks an expression.
    pub(super) fn expression(&mut self, tree: &ast::Expression) -> Option<Expression> {
        self.deeper(tree.span, |checker| checker.expression_here(tree))
    }

    fn expression_here(&mut self, tree: &ast::Expression) -> Option<Expression> {
        let span = tree.span;
        let kind = match &tree.kind {
            Tree::Integer(value) => return Some(literal(ExpressionKind::Integer(*value), span)),
            Tree::Character(code) => return Some(literal(ExpressionKind::Character(*code), span)),
            Tree::Real(value) => return Some(literal(ExpressionKind::Real(*value), span)),
            Tree::String(bytes) => return Some(literal(ExpressionKind::Text(bytes.clone()), span)),
            Tree::BadNumber => return None,
            Tree::Designator(designator) => return self.value(designator, span),
            Tree::Call(call) => return self.call(call),
            Tree::List(elements) => return self.list_alone(elements, span),
            Tree::Group(inner) => return self.expression(inner).map(|inner| Expression { span, ..inner }),
            Tree::Unary(operator, operand) => return self.unary(*operator, operand, span),
            Tree::Binary(operator, left, right) => return self.binary(*operator, left, right, span),
            Tree::Attributed(attributes, inner) => {
                let lock = self.expression_lock(attributes);
                let inner = self.expression(inner);
                let inner = inner?;
                let ty = inner.ty.clone();
                let kind = ExpressionKind::Locked(lock?, Box::new(inner));
                return Some(Expression { kind, ty, span });
            }
            Tree::ReceiveTest(channel, pattern) => {
                let (channel, pattern) = self.receive_test(channel.as_ref(), pattern, span)?;
                ExpressionKind::ReceiveTest(channel, pattern)
            }
            Tree::Input(channel, pattern, limit) => {
                return self.input(channel.as_ref(), pattern, limit.as_deref(), span);
            }
            Tree::Exists(designator) => ExpressionKind::Exists(self.container_or_element(designator)?),
            Tree::Offers(designator, facets) => {
                let place = self.component_place(designator);
                let (facets, known) = self.resolve_facets(facets);
                ExpressionKind::Offers(place.filter(|_| known)?, facets)
            }
            Tree::Requires(designator, facets) => {
                let place = self.component_place(designator);
                let (facets, known) = self.resolve_facets(facets);
                ExpressionKind::Requires(place.filter(|_| known)?, facets)
            }
            Tree::Is(designator, ty) => {
                let place = self.component_place(designator);
                let resolved = self.resolve_type(ty);
                let (place, resolved) = (place?, resolved?);
                if !resolved.is_component() {
                    let message = format!("{} is no component type", self.known.type_name(&resolved));
                    let error = Diagnostic::new("not-a-component", span, message);
                    self.report(error.help("IS asks for a component template or ANY(..)"));
                    return None;
                }
                ExpressionKind::Is(place, resolved)
            }
        };
        Some(Expression { kind, ty: Type::Boolean, span })
    }

    /// The value of a designator.
    fn value(&mut self, tree: &ast::Designator, span: Span) -> Option<Expression> {
        let alone = tree.bare().filter(|name| self.variable_and_field(name).is_none());
        if let Some(name) = alone {
            let (symbol, declared) = self.symbol(name)?;
            match symbol {
                Symbol::Variable(_) => (),
                Symbol::Constant(id) => {
                    self.uses_constant(id);
                    return self.constant_value(id).map(|value| literal(value, span));
                }
                Symbol::Procedure(id) => return self.function_call(id, &[], span),
                Symbol::Predeclared(Predeclared::Truth(value)) => {
                    return Some(literal(ExpressionKind::Boolean(value), span));
                }
                Symbol::Predeclared(Predeclared::Pi) => {
                    return Some(literal(ExpressionKind::Real(std::f64::consts::PI), span));
                }
                Symbol::Predeclared(Predeclared::Function(Function::Time)) => {
                    let kind = ExpressionKind::Builtin(Builtin::Time, Vec::new());
                    return Some(Expression { kind, ty: Type::Integer, span });
                }
                Symbol::Predeclared(_) | Symbol::Template(_) | Symbol::Record(_) => {
                    let message = format!("{} is {}, not a value", name.text, symbol.describe());
                    let mut error =
                        Diagnostic::new("not-a-value", span, message).note(declared, "declared here");
                    if let Symbol::Predeclared(
                        Predeclared::Real(_) | Predeclared::Integer(..) | Predeclared::Function(_),
                    ) = symbol
                    {
                        error = error.help(format!("call it: {}(..)", name.text));
                    }
                    if let Symbol::Record(_) = symbol {
                        error = error.help(format!("{}() makes one whose fields are 0", name.text));
                    }
                    self.report(error.label("a value belongs here"));
                    return None;
                }
            }
        }
        let place = self.place(tree)?;
        self.read(place)
    }

    /// The value kept in a place; an error if a component is.
    pub(super) fn read(&mut self, place: Place) -> Option<Expression> {
        if place.ty.is_component() {
            let error = Diagnostic::new("component-as-value", place.span, "a component is not a value");
            let help =
                "EXISTS(x) asks whether it is there; MOVE(a, b) or a message moves it; a message talks to it";
            self.report(error.label("holds a component").help(help));
            return None;
        }
        let (ty, span) = (place.ty.clone(), place.span);
        Some(Expression { kind: ExpressionKind::Read(place), ty, span })
    }

    /// A place of component type, without guard.
    pub(super) fn component_place(&mut self, tree: &ast::Designator) -> Option<Place> {
        let place = self.target(tree)?;
        if !place.ty.is_component() {
            self.not_a_component(&place, &tree.name);
            return None;
        }
        Some(place)
    }

    pub(super) fn not_a_component(&mut self, place: &Place, name: &ast::Name) {
        let given = self.known.type_name(&place.ty);
        let message = format!("{} is of type {given}, which is no component", name.text);
        self.report(
            Diagnostic::new("not-a-component", place.span, message).label("a component belongs here"),
        );
    }

    /// Refuses a whole collection.
    pub(super) fn one_value(&mut self, what: &str, tree: &ast::Designator) -> Option<()> {
        let Some(id) = self.whole_collection(tree) else { return Some(()) };
        let message = format!("{what}, and {} is a collection", tree.name.text);
        let error = Diagnostic::new("collection-index", tree.span, message).help(COUNTED);
        self.report(error.note(self.variable(id).span, "declared here"));
        None
    }

    /// What EXISTS can be asked of.
    fn container_or_element(&mut self, tree: &ast::Designator) -> Option<Place> {
        self.one_value("EXISTS asks for one element", tree)?;
        let place = self.target(tree)?;
        if !place.ty.is_component() && !matches!(place.kind, PlaceKind::Element(..)) {
            let message = format!("{} always exists", tree.name.text);
            let error = Diagnostic::new("always-exists", place.span, message);
            self.report(error.help(match place.kind {
                PlaceKind::Item(..) => "the elements of a sequence s are s[0] to s[COUNT(s) - 1]",
                _ => "EXISTS asks for a component in a container or an element of a collection",
            }));
            return None;
        }
        Some(place)
    }

    /// The lock that attributes of a block or expression ask for.
    fn expression_lock(&mut self, attributes: &[ast::Name]) -> Option<LockMode> {
        self.lock_mode(attributes, |checker, attribute| {
            checker.unknown_attribute(attribute, "an expression may be {SHARED} or {EXCLUSIVE}");
        })
    }

    /// The lock among attributes. Calls `other` for each attribute that is no lock.
    pub(super) fn lock_mode(
        &mut self,
        attributes: &[ast::Name],
        mut other: impl FnMut(&mut Self, &ast::Name),
    ) -> Option<LockMode> {
        let mut lock = None;
        for attribute in attributes {
            let mode = match attribute.text.as_str() {
                "EXCLUSIVE" => LockMode::Exclusive,
                "SHARED" => LockMode::Shared,
                _ => {
                    other(self, attribute);
                    continue;
                }
            };
            if lock.is_some_and(|earlier| earlier != mode) {
                let error =
                    Diagnostic::new("two-locks", attribute.span, "EXCLUSIVE and SHARED exclude each other");
                self.report(
                    error.label("and here the other one").help("keep EXCLUSIVE if anything is changed"),
                );
            }
            lock.get_or_insert(mode);
        }
        lock
    }
}
