//! What BY says has to fit what it stands before: the side, the scheme of the name, and the messages of the interface.

use crate::ast;
use crate::program::{Expression, ExpressionKind, InterfaceId};
use crate::source::Diagnostic;

use super::Checker;
use super::binding_names::Purpose;
use super::factories::{ALL, Factory, Sides, Values};
use super::names::similar;

/// What a BY stands before.
pub(super) struct Joint {
    /// Which statement it is.
    pub purpose: Purpose,
    /// The interface, if it is known.
    pub interface: Option<InterfaceId>,
    /// The scheme of the name, if it is known; `local` also stands for a component.
    pub scheme: Option<String>,
}

/// The scheme of a name, unless only the program knows the name; what lies within a naming context may have any.
pub(super) fn scheme(name: Option<&Expression>) -> Option<String> {
    let ExpressionKind::Text(name) = &name?.kind else { return None };
    let name = String::from_utf8_lossy(name);
    let (scheme, rest) = name.split_once(':')?;
    (scheme != "local" || !rest.contains('/')).then(|| scheme.to_owned())
}

impl Checker<'_> {
    /// Whether a factory can stand there; else an error.
    pub(super) fn can_stand(&mut self, factory: &Factory, tree: &ast::Call, joint: &Joint) -> bool {
        let is_export = joint.purpose == Purpose::Export;
        let (message, help) = match joint.scheme.as_deref() {
            _ if is_export && factory.sides == Sides::Client => (
                format!("{} stands on the client's side", factory.name),
                format!("write BY {} behind the CONNECT", factory.name),
            ),
            Some(scheme) if is_export && scheme == "local" => (
                "what is exported within the program is reached as it is".into(),
                format!("write BY {} behind the CONNECT", factory.name),
            ),
            Some(scheme) if !factory.joins(scheme) => {
                let fitting = ALL.iter().find(|factory| factory.reaches() && factory.joins(scheme));
                let help = match fitting {
                    Some(fitting) => format!("for {scheme}: it is BY {}(..)", fitting.name),
                    // A crate's.
                    None => return true,
                };
                let message = match scheme {
                    "local" => format!("{} joins no components of one program", factory.name),
                    _ => format!("{} is not for names that begin with {scheme}:", factory.name),
                };
                (message, help)
            }
            _ => return true,
        };
        self.report(Diagnostic::new("misplaced-factory", tree.span, message).help(help));
        false
    }

    /// Whether an option means nothing without another one that isn't there; then an error.
    pub(super) fn has_partners(&mut self, factory: &Factory, tree: &ast::Call) -> bool {
        let given = |wanted: &str| {
            tree.arguments.iter().find_map(|(name, _)| name.as_ref().filter(|name| name.text == wanted))
        };
        let alone = factory.partners().find_map(|&(one, other)| Some((given(one)?, other)));
        let Some((one, other)) = alone.filter(|(_, other)| given(other).is_none()) else { return true };
        let message = format!("{}: {} says nothing without {other}", factory.name, one.text);
        self.report(Diagnostic::new("missing-option", one.span, message).help(format!("add {other}: ..")));
        false
    }

    /// The messages that an option lists are some that a client sends; else an error.
    pub(super) fn lists(&mut self, given: &Expression, values: Values, joint: &Joint) -> Option<()> {
        let (Values::Messages, ExpressionKind::Text(list)) = (values, &given.kind) else { return Some(()) };
        let list = String::from_utf8_lossy(list).into_owned();
        let wanted: Vec<_> = list.split(',').map(str::trim).collect();
        if wanted.contains(&"") {
            let error = Diagnostic::new("option-messages", given.span, "the name of a message is missing");
            self.report(error.help("write the names with commas between them: \"One, Other\""));
            return None;
        }
        let Some(interface) = joint.interface else { return Some(()) };
        let interface = &self.program.interfaces[interface.index()];
        let sent = interface.messages.iter().filter(|message| message.direction == ast::Direction::In);
        let sent: Vec<_> = sent.map(|message| message.name.as_str()).collect();
        let Some(unknown) = wanted.into_iter().find(|name| !sent.contains(name)) else { return Some(()) };
        let message = format!("a client of {} sends no message {unknown}", interface.name);
        let help = match similar(unknown, sent.iter().copied()) {
            Some(meant) => format!("did you mean {meant}?"),
            None => format!("it sends {}", sent.join(", ")),
        };
        self.report(Diagnostic::new("option-messages", given.span, message).help(help));
        None
    }
}
