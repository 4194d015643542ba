//! Bindings by name: EXPORT, AT and BY (language reference, section 9).
//!
//! A name is a text, so most faults of a name show only when the program runs. Here, only the form of a constant name
//! is checked. Crates may bring factories and schemes; an unknown one is an error only if the program is built without
//! crates.

use crate::ast;
use crate::program::{
    Binary, Builtin, ConnectEnd, Expression, ExpressionKind, InterfaceId, StatementKind, Type,
};
use crate::source::{Diagnostic, Span};

use super::binding_names::{Purpose, fault};
use super::body::BodyChecker;
use super::builtins::builtin;
use super::conversions::{convert, literal};
use super::factories::{Factory, factory, names};
use super::joints::{self, Joint, scheme};
use super::similar::similar;

impl BodyChecker<'_> {
    /// `EXPORT(I(y), name) [BY ..]`, `EXPORT(I, name)` for a required interface of the component's own.
    pub(super) fn export(
        &mut self,
        tree: &ast::Designator,
        name: &ast::Expression,
        by: &[ast::Call],
        span: Span,
    ) -> Option<StatementKind> {
        let exported = self.exported(tree);
        let name = self.binding_name(name, Purpose::Export);
        let interface = exported.as_ref().map(|&(_, interface)| interface);
        let by = self.factories(
            by,
            span,
            &Joint { purpose: Purpose::Export, interface, scheme: scheme(name.as_ref()) },
        );
        let ((offered, interface), name, by) = (exported?, name?, by?);
        Some(StatementKind::Export { offered, interface, name, by })
    }

    /// The interface that an EXPORT gives a name.
    fn exported(&mut self, tree: &ast::Designator) -> Option<(ConnectEnd, InterfaceId)> {
        match tree.inner.as_deref() {
            Some(ast::Inner::Designator(component)) => {
                let component = self.connected_component(component)?;
                let interface = self.offered_by(&component, &tree.name)?;
                self.no_index(tree)?;
                Some((ConnectEnd::Of { component, interface, index: None }, interface))
            }
            Some(ast::Inner::Type(_)) => {
                self.which_interface(tree, "exported");
                None
            }
            None if self.variable_named(&tree.name).is_some() => {
                self.which_interface(tree, "exported");
                None
            }
            None if self.is_own_offered(&tree.name) => {
                let name = &tree.name.text;
                let message = format!("{name} of this component is exported by the component that holds it");
                let error =
                    Diagnostic::new("export-own", tree.span, message).label("its own offered interface");
                let help = format!("there, write EXPORT({name}(x), name) for the component in x");
                self.report(error.help(help));
                None
            }
            None => {
                let (index, interface) = self.own_required(&tree.name)?;
                let slot = self.slot(index, tree)?;
                Some((ConnectEnd::OwnRequired(index, slot), interface))
            }
        }
    }

    fn is_own_offered(&self, name: &ast::Name) -> bool {
        let component = self.component().map(|id| &self.known.program.components[id.index()]);
        component.is_some_and(|component| {
            self.known.facet_named(&component.offers, name).is_some()
                && self.known.facet_named(&component.requires, name).is_none()
        })
    }

    /// Reports an index of an offered interface, which has none.
    pub(super) fn no_index(&mut self, tree: &ast::Designator) -> Option<()> {
        if tree.indices.is_none() {
            return Some(());
        }
        let error = Diagnostic::new("offered-index", tree.span, "an offered interface has no index");
        self.report(error.help("the index k belongs to the required interface: I[k](x)"));
        None
    }

    /// A name: a TEXT. If it is constant, its form is checked.
    pub(super) fn binding_name(&mut self, tree: &ast::Expression, purpose: Purpose) -> Option<Expression> {
        let name = self.expression_of(tree, &Type::Text)?;
        self.check_name(&name, purpose)?;
        Some(name)
    }

    /// Checks the form of a name, if it is constant.
    pub(super) fn check_name(&mut self, name: &Expression, purpose: Purpose) -> Option<()> {
        let ExpressionKind::Text(bytes) = &name.kind else { return Some(()) };
        let fault = fault(&String::from_utf8_lossy(bytes), purpose, self.beside_crates);
        let Some((message, help)) = fault else { return Some(()) };
        self.report(Diagnostic::new("binding-name", name.span, message).help(help));
        None
    }

    /// `BY F(option: value), G()`: the text from which the runtime makes the binding factories. It is empty if there is
    /// no BY.
    pub(super) fn factories(&mut self, trees: &[ast::Call], span: Span, joint: &Joint) -> Option<Expression> {
        let mut text = Hints { done: literal(ExpressionKind::Text(Vec::new()), span) };
        let mut good = true;
        for tree in trees {
            let known = self.factory(&tree.name);
            good &= known.is_some();
            let (known, before) = (known.flatten(), self.reported());
            text.add(format!("{};{};", tree.name.text, tree.arguments.len()).as_bytes());
            for (index, (name, value)) in tree.arguments.iter().enumerate() {
                let earlier = &tree.arguments[..index];
                match self.option(&tree.name, known, name.as_ref(), value, earlier, joint) {
                    Some((name, value)) => text.option(&name, value),
                    None => good = false,
                }
            }
            // An option that is misspelt is not reported as missing too.
            if self.reported() == before
                && let Some(fault) = known.and_then(|factory| joints::fault(factory, tree, joint))
            {
                self.report(fault);
                good = false;
            }
        }
        good.then_some(text.done)
    }

    /// Likewise for a BY outside a program: all its options are constants.
    pub(super) fn constant_factories(&mut self, trees: &[ast::Call]) -> Option<Vec<u8>> {
        let span = trees.first()?.span;
        let joint = Joint { purpose: Purpose::Connect, interface: None, scheme: None };
        match self.factories(trees, span, &joint)?.kind {
            ExpressionKind::Text(hints) => Some(hints),
            _ => {
                self.report(Diagnostic::new("not-constant", span, "options are constants here"));
                None
            }
        }
    }

    /// The factory of a name: `Some(None)` if only a crate can know it, an error if there are no crates.
    fn factory(&mut self, name: &ast::Name) -> Option<Option<&'static Factory>> {
        let known = factory(&name.text);
        if known.is_some() || self.beside_crates {
            return Some(known);
        }
        let message = format!("there is no binding factory {}", name.text);
        let help = match similar(&name.text, names()) {
            Some(meant) => format!("did you mean {meant}?"),
            None => "a crate that has it is named where the program is compiled: --with CRATE".into(),
        };
        self.report(Diagnostic::new("unknown-factory", name.span, message).label("unknown").help(help));
        None
    }

    /// An option and its value as a TEXT.
    fn option(
        &mut self,
        of: &ast::Name,
        known: Option<&Factory>,
        name: Option<&ast::Name>,
        value: &ast::Expression,
        earlier: &[(Option<ast::Name>, ast::Expression)],
        joint: &Joint,
    ) -> Option<(String, Expression)> {
        let given = self.expression(value);
        let Some(name) = name else {
            let error =
                Diagnostic::new("option-name", value.span, "an option of a binding factory has a name");
            self.report(error.help(format!("write {}(option: value)", of.text)));
            return None;
        };
        if earlier.iter().any(|(known, _)| known.as_ref().is_some_and(|known| known.text == name.text)) {
            let message = format!("{} has two values", name.text);
            self.report(Diagnostic::new("option-twice", name.span, message).label("a second time"));
            return None;
        }
        let mut given = given?;
        if let Some(factory) = known {
            let Some(values) = factory.option(&name.text) else {
                self.report(joints::unknown_option(factory, name));
                return None;
            };
            if let Some(ty) = values.ty() {
                given = self.converted(given, &ty)?;
            }
            if let Some(fault) = joints::value_fault(&given, values, factory, name, joint, self.known) {
                self.report(fault);
                return None;
            }
        }
        let span = given.span;
        let text = match given.ty {
            Type::Text | Type::Character => convert(given, &Type::Text),
            Type::Integer => builtin(Builtin::IntegerToText, vec![given], Type::Text, span),
            Type::Real => builtin(Builtin::RealToText, vec![given], Type::Text, span),
            _ => builtin(Builtin::BooleanToText, vec![given], Type::Text, span),
        };
        Some((name.text.clone(), text))
    }
}

/// The text for a BY, in the form that ENTRY_POINTS.md describes.
struct Hints {
    done: Expression,
}

impl Hints {
    fn add(&mut self, more: &[u8]) {
        let more = literal(ExpressionKind::Text(more.to_vec()), self.done.span);
        self.append(more);
    }

    fn option(&mut self, name: &str, value: Expression) {
        let span = value.span;
        match &value.kind {
            ExpressionKind::Text(bytes) => {
                let mut option = format!("{name}={}:", bytes.len()).into_bytes();
                option.extend(bytes);
                self.add(&option);
            }
            _ => {
                self.add(format!("{name}=").as_bytes());
                self.append(builtin(Builtin::Counted, vec![value], Type::Text, span));
            }
        }
    }

    /// Appends to the text. Two constants beside each other become one.
    fn append(&mut self, more: Expression) {
        let empty = literal(ExpressionKind::Text(Vec::new()), self.done.span);
        let mut done = std::mem::replace(&mut self.done, empty);
        if let (Some(last), ExpressionKind::Text(bytes)) = (last_text(&mut done), &more.kind) {
            last.extend(bytes);
            self.done = done;
            return;
        }
        let span = done.span;
        let kind = ExpressionKind::Binary(Binary::Concatenate, Box::new(done), Box::new(more));
        self.done = Expression { kind, ty: Type::Text, span };
    }
}

/// The constant that a text ends with.
fn last_text(text: &mut Expression) -> Option<&mut Vec<u8>> {
    match &mut text.kind {
        ExpressionKind::Text(bytes) => Some(bytes),
        ExpressionKind::Binary(Binary::Concatenate, _, last) => last_text(last),
        _ => None,
    }
}
