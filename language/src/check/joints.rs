//! Checks whether the factories and options of a BY fit the statement in which it stands: its side of the binding, the
//! scheme of its name, and the messages of its interface.

use crate::ast;
use crate::program::{Expression, ExpressionKind, InterfaceId};
use crate::source::Diagnostic;

use super::binding_names::Purpose;
use super::conversions::constant_integer;
use super::definitions::Definitions;
use super::factories::{ALL, Factory, Sides, Values};
use super::similar::similar;

/// The binding that a BY is about.
pub(super) struct Joint {
    /// The statement.
    pub purpose: Purpose,
    /// The interface, if it is known.
    pub interface: Option<InterfaceId>,
    /// The scheme of the name, if it is known; `local` also stands for a component.
    pub scheme: Option<String>,
}

/// The scheme of a name, if the name is constant. A name within a naming context may be of any scheme.
pub(super) fn scheme(name: Option<&Expression>) -> Option<String> {
    let ExpressionKind::Text(name) = &name?.kind else { return None };
    let name = String::from_utf8_lossy(name);
    let (scheme, rest) = name.split_once(':')?;
    (scheme != "local" || !rest.contains('/')).then(|| scheme.to_owned())
}

/// The error of a factory whose options have no errors of their own.
pub(super) fn fault(factory: &Factory, tree: &ast::Call, joint: &Joint) -> Option<Diagnostic> {
    missing_option(factory, tree)
        .or_else(|| missing_partner(factory, tree))
        .or_else(|| misplaced(factory, tree, joint))
}

/// The error of an option's value, which has the right type.
pub(super) fn value_fault(
    given: &Expression,
    values: Values,
    factory: &Factory,
    name: &ast::Name,
    joint: &Joint,
    known: &Definitions,
) -> Option<Diagnostic> {
    match values {
        Values::Between(least, most) => out_of_range(given, least, most, factory, name),
        Values::Messages => wrong_messages(given, joint, known),
        Values::Text | Values::Boolean | Values::Any => None,
    }
}

/// The error for an option that the factory hasn't got.
pub(super) fn unknown_option(factory: &Factory, name: &ast::Name) -> Diagnostic {
    let message = format!("{} has no option {}", factory.name, name.text);
    let error = Diagnostic::new("unknown-option", name.span, message).label("unknown");
    let help = match similar(&name.text, factory.options()) {
        Some(similar) => format!("did you mean {similar}?"),
        None => format!("its options are {}", factory.options().collect::<Vec<_>>().join(", ")),
    };
    error.help(help)
}

/// An option of that name among those that are given.
fn given<'t>(tree: &'t ast::Call, wanted: &str) -> Option<&'t ast::Name> {
    tree.arguments.iter().find_map(|(name, _)| name.as_ref().filter(|name| name.text == wanted))
}

/// The error for an option that must be given, and isn't.
fn missing_option(factory: &Factory, tree: &ast::Call) -> Option<Diagnostic> {
    let (needed, what) = factory.needs.filter(|(needed, _)| given(tree, needed).is_none())?;
    let message = format!("{} needs {needed}: {what}", factory.name);
    let help = format!("write {}({needed}: \"One, Other\"), with the names of such requests", factory.name);
    Some(Diagnostic::new("missing-option", tree.span, message).help(help))
}

/// The error for an option that means nothing without another, which isn't given.
fn missing_partner(factory: &Factory, tree: &ast::Call) -> Option<Diagnostic> {
    let (one, other) = factory.partners().find_map(|&(one, other)| Some((given(tree, one)?, other)))?;
    if given(tree, other).is_some() {
        return None;
    }
    let message = format!("{}: {} says nothing without {other}", factory.name, one.text);
    Some(Diagnostic::new("missing-option", one.span, message).help(format!("add {other}: ..")))
}

/// The error for a factory that can't stand there.
fn misplaced(factory: &Factory, tree: &ast::Call, joint: &Joint) -> Option<Diagnostic> {
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
            // If no factory of the system fits the scheme, it is a crate's.
            let fitting = ALL.iter().find(|factory| factory.reaches() && factory.joins(scheme))?;
            let message = match scheme {
                "local" => format!("{} joins no components of one program", factory.name),
                _ => format!("{} is not for names that begin with {scheme}:", factory.name),
            };
            (message, format!("for {scheme}: it is BY {}(..)", fitting.name))
        }
        _ => return None,
    };
    Some(Diagnostic::new("misplaced-factory", tree.span, message).help(help))
}

/// The error for a constant number that is not in the option's range.
fn out_of_range(
    given: &Expression,
    least: i64,
    most: i64,
    factory: &Factory,
    name: &ast::Name,
) -> Option<Diagnostic> {
    let value = constant_integer(given).filter(|value| !(least..=most).contains(value))?;
    let range =
        if most == i64::MAX { format!("at least {least}") } else { format!("from {least} to {most}") };
    let message = format!("{}: {} is {range}, not {value}", factory.name, name.text);
    Some(Diagnostic::new("option-range", given.span, message))
}

/// The error for a list that contains something that is no message of a client.
fn wrong_messages(given: &Expression, joint: &Joint, known: &Definitions) -> Option<Diagnostic> {
    let ExpressionKind::Text(list) = &given.kind else { return None };
    let list = String::from_utf8_lossy(list);
    let wanted: Vec<_> = list.split(',').map(str::trim).collect();
    if wanted.contains(&"") {
        let error = Diagnostic::new("option-messages", given.span, "the name of a message is missing");
        return Some(error.help("write the names with commas between them: \"One, Other\""));
    }
    let interface = &known.program.interfaces[joint.interface?.index()];
    let sent = interface.messages.iter().filter(|message| message.direction == ast::Direction::In);
    let sent: Vec<_> = sent.map(|message| message.name.as_str()).collect();
    let unknown = wanted.into_iter().find(|name| !sent.contains(name))?;
    let message = format!("a client of {} sends no message {unknown}", interface.name);
    let help = match similar(unknown, sent.iter().copied()) {
        Some(meant) => format!("did you mean {meant}?"),
        None => format!("it sends {}", sent.join(", ")),
    };
    Some(Diagnostic::new("option-messages", given.span, message).help(help))
}
