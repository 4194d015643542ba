//! The binding factories of the system, with their options. Crates may bring more; their options are checked when the
//! program runs.

use super::similar::similar;
use crate::program::Type;

/// A binding factory.
pub(super) struct Factory {
    /// Its name.
    pub name: &'static str,
    /// Its options.
    own: &'static [(&'static str, Values)],
    /// The statements in which it may stand.
    pub sides: Sides,
    /// The schemes of names that it can bind, if it reaches other domains. Such a factory has the options of [`COMMON`]
    /// too.
    schemes: &'static [&'static str],
    /// An option that must be given, and its meaning.
    pub needs: Option<(&'static str, &'static str)>,
}

/// Where a factory may stand.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sides {
    /// At a CONNECT.
    Client,
    /// At an EXPORT as well.
    Both,
}

/// Pairs of options: the first means nothing without the second.
const PARTNERS: &[(&str, &str)] = &[("burst", "rate"), ("certificate", "key"), ("key", "certificate")];

/// The values that an option may have.
#[derive(Clone, Copy)]
pub(super) enum Values {
    /// Any TEXT.
    Text,
    /// Names of messages that the client sends, with commas between them.
    Messages,
    /// TRUE or FALSE.
    Boolean,
    /// A number from the first to the second.
    Between(i64, i64),
    /// Any value. The factory checks it when the program runs.
    Any,
}

use Values::{Any, Between, Boolean, Messages, Text};

/// An upper bound for counts, messages per second, and milliseconds (eleven days and a half).
const MOST: i64 = 1_000_000_000;
const SOME: Values = Between(1, MOST);
const BYTES: Values = Between(1, i64::MAX);

/// The options of all factories that reach other domains: how many messages may be in flight, how long an answer may
/// take (in milliseconds), the files for TLS, and the token that admits a client.
const COMMON: &[(&str, Values)] = &[
    ("capacity", Between(1, 1_000_000)),
    ("deadline", SOME),
    ("certificate", Text),
    ("key", Text),
    ("authority", Text),
    ("token", Text),
];

/// All factories of the system.
pub(super) const ALL: &[Factory] = &[
    composed("Monitored", &[("name", Text)]),
    composed("Restricted", &[("messages", Messages), ("rate", SOME), ("burst", SOME)]),
    Factory {
        needs: Some(("messages", "which requests may be answered by what is known")),
        sides: Sides::Client,
        ..composed("Cached", &[("messages", Messages), ("lifetime", SOME), ("entries", SOME)])
    },
    Factory {
        needs: Some(("messages", "which requests may be carried out twice")),
        sides: Sides::Client,
        ..composed(
            "Retried",
            &[("messages", Messages), ("attempts", SOME), ("pause", Between(0, MOST)), ("deadline", SOME)],
        )
    },
    reaching("Local", &["local"], &[]),
    reaching("Worker", &["worker"], &[]),
    reaching("Lrpc", &["process", "user"], &[("confined", Boolean), ("memory", BYTES), ("processor", SOME)]),
    reaching("Tcp", &["tcp"], &[("composites", Boolean)]),
    reaching(
        "Onc",
        &["onc", "onc+udp"],
        &[
            ("program", Any),
            ("version", Any),
            ("procedures", Text),
            ("integers", Any),
            ("texts", Text),
            ("open", Boolean),
            ("limit", BYTES),
        ],
    ),
    reaching("Udp", &["udp"], &[("patience", SOME), ("open", Boolean), ("on", Text)]),
    reaching(
        "Http",
        &["http", "https"],
        &[
            ("limit", BYTES),
            ("socket", Boolean),
            ("origins", Text),
            ("reads", Messages),
            ("statuses", Text),
            ("files", Text),
            ("site", Text),
        ],
    ),
    reaching("Nats", &["nats"], NATS),
    reaching("Postgres", &["postgres"], &[("connections", SOME), ("timeout", SOME), ("rows", SOME)]),
    reaching(
        "Sqlite",
        &["sqlite"],
        &[("connections", SOME), ("timeout", SOME), ("rows", SOME), ("busy", SOME), ("durable", Boolean)],
    ),
    reaching("Event", &["event", "event+nats"], EVENT),
];

/// Options for connecting to NATS.
const NATS: &[(&str, Values)] =
    &[("servers", Text), ("user", Text), ("password", Text), ("credentials", Text), ("tls", Boolean)];

/// Options for events, within the program or over NATS.
const EVENT: &[(&str, Values)] = &[("lossy", Boolean), NATS[0], NATS[1], NATS[2], NATS[3], NATS[4]];

const fn composed(name: &'static str, own: &'static [(&'static str, Values)]) -> Factory {
    Factory { name, own, sides: Sides::Both, schemes: &[], needs: None }
}

const fn reaching(
    name: &'static str,
    schemes: &'static [&'static str],
    own: &'static [(&'static str, Values)],
) -> Factory {
    Factory { name, own, sides: Sides::Both, schemes, needs: None }
}

/// The factory that was most likely meant by an unknown name.
pub(super) fn instead_of(name: &str) -> Option<&'static str> {
    similar(name, ALL.iter().map(|factory| factory.name)).filter(|meant| *meant != name)
}

/// The factory of that name, if it is known.
pub(super) fn factory(name: &str) -> Option<&'static Factory> {
    ALL.iter().find(|factory| factory.name == name)
}

/// The names of all factories.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|factory| factory.name)
}

impl Factory {
    /// Whether it reaches another domain. Other factories are stacked between such a factory and the client.
    pub fn reaches(&self) -> bool {
        !self.schemes.is_empty()
    }

    /// Whether it can stand behind a name of that scheme.
    pub fn joins(&self, scheme: &str) -> bool {
        !self.reaches() || self.schemes.contains(&scheme)
    }

    /// The pairs of [`PARTNERS`] of which it has both options.
    pub fn partners(&self) -> impl Iterator<Item = &'static (&'static str, &'static str)> + '_ {
        PARTNERS.iter().filter(|(one, other)| self.option(one).is_some() && self.option(other).is_some())
    }

    fn all(&self) -> impl Iterator<Item = &'static (&'static str, Values)> + use<> {
        self.own.iter().chain(if self.reaches() { COMMON } else { &[] })
    }

    /// The names of its options.
    pub fn options(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.all().map(|(name, _)| *name)
    }

    /// The values that an option may have, if it is known.
    pub fn option(&self, name: &str) -> Option<Values> {
        self.all().find(|(option, _)| *option == name).map(|(_, values)| *values)
    }
}

impl Values {
    /// The type of the values, if they have one type.
    pub fn ty(self) -> Option<Type> {
        match self {
            Text | Messages => Some(Type::Text),
            Boolean => Some(Type::Boolean),
            Between(..) => Some(Type::Integer),
            Any => None,
        }
    }
}
