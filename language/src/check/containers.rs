//! NEW, DELETE and MOVE: statements about what a variable contains.

use crate::ast;
use crate::program::{ComponentId, Expression, Place, PlaceKind, StatementKind, Type, VariableId};
use crate::source::{Diagnostic, Span};

use super::binding_names::Purpose;
use super::body::BodyChecker;
use super::conversions::constant_integer;
use super::joints::{Joint, scheme};
use super::natives::ONLY_SYSTEMS;
use super::places::as_designator;
use super::symbols::Symbol;

impl BodyChecker<'_> {
    /// `NEW(target [, template | sizes])`
    pub(super) fn new_statement(
        &mut self,
        target: &ast::Designator,
        ty: Option<&ast::Type>,
        arguments: &[ast::Expression],
        span: Span,
    ) -> Option<StatementKind> {
        if ty.is_some() {
            let error = Diagnostic::new("new-template", span, "NEW needs a template, ANY is none");
            self.report(error.help("write NEW(v, Template)"));
            return None;
        }
        if let Some(collection) = self.whole_collection(target) {
            return self.new_collection(collection, arguments, span);
        }
        let place = self.target(target)?;
        if place.ty.is_component() {
            let template = self.new_template(&place, &target.name, arguments, span)?;
            return Some(StatementKind::NewComponent(place, template));
        }
        match (&place.ty, arguments) {
            (Type::Text, [length]) => {
                let length = self.expression_of(length, &Type::Integer)?;
                self.not_negative(&length)?;
                Some(StatementKind::NewText(place, length))
            }
            (Type::Sequence(_), [length]) => {
                let length = self.expression_of(length, &Type::Integer)?;
                self.not_negative(&length)?;
                Some(StatementKind::NewSequence(place, length))
            }
            (_, []) if matches!(place.kind, PlaceKind::Element(..)) => {
                self.not_of_array(&place, "NEW(a, n) has made it already", "assign to it")?;
                Some(StatementKind::NewElement(place))
            }
            (Type::Sequence(_), []) => {
                let error = Diagnostic::new("new-size", span, "how many elements shall the sequence have?");
                self.report(error.help("write NEW(s, n); an empty one is []"));
                None
            }
            (Type::Text, []) => {
                let error = Diagnostic::new("new-size", span, "how long shall the text be?");
                self.report(error.help("write NEW(t, n)"));
                None
            }
            (_, []) => {
                let message = format!("{} is there already", target.name.text);
                let error = Diagnostic::new("new-value", span, message).label("not a container");
                self.report(error.help("NEW makes components, elements of collections, texts and arrays"));
                None
            }
            (_, more) => {
                let message = format!("NEW of {} takes nothing more", target.name.text);
                self.report(Diagnostic::new("new-size", more[0].span, message).label("too much"));
                None
            }
        }
    }

    /// `AT domain [BY ..]` after a NEW: makes the component in another domain.
    pub(super) fn made_at(
        &mut self,
        made: Option<StatementKind>,
        domain: &ast::Expression,
        by: &[ast::Call],
        span: Span,
    ) -> Option<StatementKind> {
        let tree = domain.span;
        let domain = self.binding_name(domain, Purpose::At);
        let joint = Joint { purpose: Purpose::At, interface: None, scheme: scheme(domain.as_ref()) };
        let by = self.factories(by, span, &joint);
        match made? {
            StatementKind::NewComponent(target, template) => {
                Some(StatementKind::NewComponentAt { target, template, domain: domain?, by: by? })
            }
            _ => {
                let error =
                    Diagnostic::new("at-value", tree, "only a component can be made in another domain");
                self.report(error.help("values are where their variables are: write NEW without AT"));
                None
            }
        }
    }

    fn new_collection(
        &mut self,
        id: VariableId,
        arguments: &[ast::Expression],
        span: Span,
    ) -> Option<StatementKind> {
        if self.known.gaps.variables.contains(&id) {
            return None;
        }
        let variable = &self.known.program.variables[id.index()];
        let (name, declared) = (&variable.name, variable.span);
        let collection = variable.collection.as_ref()?;
        if !collection.array {
            let message = format!("{name} is a collection, which grows by itself");
            let error = Diagnostic::new("new-collection", span, message).note(declared, "declared here");
            let help =
                format!("NEW({name}[..]) makes one element; with {{ARRAY}} it would have fixed bounds");
            self.report(error.help(help));
            return None;
        }
        let wanted = collection.indices.len();
        if arguments.len() != wanted {
            let given = arguments.len();
            let message = format!("{name} has {wanted} indices, {given} sizes given");
            self.report(Diagnostic::new("new-size", span, message).note(declared, "declared here"));
            return None;
        }
        let sizes: Vec<_> = arguments.iter().map(|tree| self.expression_of(tree, &Type::Integer)).collect();
        let sizes = sizes.into_iter().collect::<Option<Vec<_>>>()?;
        for size in &sizes {
            self.not_negative(size)?;
        }
        Some(StatementKind::NewArray(id, sizes))
    }

    fn not_negative(&mut self, size: &Expression) -> Option<()> {
        if constant_integer(size).is_some_and(|size| size < 0) {
            self.report(Diagnostic::new("new-size", size.span, "a size cannot be negative"));
            return None;
        }
        Some(())
    }

    /// The template of a new component.
    fn new_template(
        &mut self,
        place: &Place,
        name: &ast::Name,
        arguments: &[ast::Expression],
        span: Span,
    ) -> Option<ComponentId> {
        let template = match arguments {
            [] => None,
            [argument] => match as_designator(argument) {
                Some(designator) if designator.bare().is_some() => {
                    let name = designator.name;
                    match self.symbol(&name)? {
                        (Symbol::Template(template), _) => Some(template),
                        (other, declared) => {
                            let message = format!("{} is {}, not a template", name.text, other.describe());
                            let error = Diagnostic::new("new-template", argument.span, message);
                            self.report(
                                error.label("a template belongs here").note(declared, "declared here"),
                            );
                            return None;
                        }
                    }
                }
                _ => {
                    let message = "NEW of a component takes a template";
                    self.report(
                        Diagnostic::new("new-template", argument.span, message).label("not a template"),
                    );
                    return None;
                }
            },
            [_, more, ..] => {
                let error =
                    Diagnostic::new("new-template", more.span, "NEW of a component takes one template");
                self.report(error.label("too much"));
                return None;
            }
        };
        match (template, &place.ty) {
            (None, Type::Component(template)) => Some(*template),
            (None, _) => {
                let message = format!("which component shall {} hold?", name.text);
                let error = Diagnostic::new("new-template", span, message);
                self.report(error.help(format!("write NEW({}, Template)", name.text)));
                None
            }
            (Some(template), ty) => {
                self.check_made(template, ty, span)?;
                self.fits(&Type::Component(template), ty, span)?;
                Some(template)
            }
        }
    }

    /// A container of any type can't hold native components and systems either.
    fn check_made(&mut self, template: ComponentId, held: &Type, span: Span) -> Option<()> {
        if matches!(held, Type::Component(_)) || !self.known.is_for_systems(template) {
            return Some(());
        }
        let message = format!("{} can't be made here", self.known.component_name(template));
        self.report(Diagnostic::new("native-held", span, message).help(ONLY_SYSTEMS));
        None
    }

    /// `DELETE(target)`
    pub(super) fn delete_statement(&mut self, tree: &ast::Designator, span: Span) -> Option<StatementKind> {
        if let Some(collection) = self.whole_collection(tree) {
            return Some(StatementKind::DeleteCollection(collection));
        }
        let place = self.place(tree)?;
        if place.ty.is_component() {
            return Some(StatementKind::DeleteComponent(place));
        }
        if !matches!(place.kind, PlaceKind::Element(..)) {
            let message = format!("{} cannot be deleted", tree.name.text);
            let error = Diagnostic::new("delete-value", span, message).label("always there");
            self.report(error.help(match place.kind {
                PlaceKind::Item(..) => "REMOVE(s, i) takes an element out of a sequence",
                _ => "DELETE ends components and removes elements of collections",
            }));
            return None;
        }
        self.not_of_array(&place, "an {ARRAY} has fixed bounds", "delete the whole array")?;
        Some(StatementKind::DeleteElement(place))
    }

    /// Reports an element of an `{ARRAY}`.
    fn not_of_array(&mut self, place: &Place, message: &str, help: &str) -> Option<()> {
        let PlaceKind::Element(variable, _) = &place.kind else { return Some(()) };
        let variable = self.variable(*variable);
        if !variable.collection.as_ref().is_some_and(|collection| collection.array) {
            return Some(());
        }
        let error =
            Diagnostic::new("array-element", place.span, message).note(variable.span, "declared here");
        self.report(error.label("an element of an {ARRAY}").help(help));
        None
    }

    /// `MOVE(from, to)`
    pub(super) fn move_statement(
        &mut self,
        from: &ast::Designator,
        to: &ast::Designator,
        span: Span,
    ) -> Option<StatementKind> {
        let source = self.place(from);
        let (source, target) = (source, self.target(to));
        let (source, target) = (source?, target?);
        for (place, name) in [(&source, &from.name), (&target, &to.name)] {
            if !place.ty.is_component() {
                let message = format!("{} is no component and cannot be moved", name.text);
                let error = Diagnostic::new("move-value", place.span, message);
                self.report(error.help("values are copied: b := a"));
                return None;
            }
        }
        self.fits(&source.ty, &target.ty, span)?;
        Some(StatementKind::Move(source, target))
    }
}
