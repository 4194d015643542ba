//! The binding factories that the compiler knows, with their options. Others may come with crates: what options they
//! have shows when the program runs.

use super::names::similar;
use crate::program::Type;

/// A binding factory.
pub(super) struct Factory {
    /// Its name.
    pub name: &'static str,
    /// Its options.
    own: &'static [(&'static str, Values)],
    /// Where it may stand.
    pub sides: Sides,
    /// The schemes of names that it joins by, if it reaches other domains; then it has [`COMMON`] as well.
    schemes: &'static [&'static str],
    /// An option that has no default, and what it says.
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

/// Options that mean nothing without another.
const PARTNERS: &[(&str, &str)] = &[("burst", "rate"), ("certificate", "key"), ("key", "certificate")];

/// What an option may be.
#[derive(Clone, Copy)]
pub(super) enum Values {
    /// Any TEXT.
    Text,
    /// Names of messages that the client sends, with commas between them.
    Messages,
    /// TRUE or FALSE.
    Boolean,
    /// The numbers from the first to the second.
    Between(i64, i64),
    /// What can be written: whoever reads it knows.
    Any,
}

use Values::{Any, Between, Boolean, Messages, Text};

/// Numbers, messages in a second, and milliseconds (eleven days and a half): there is no use for more.
const MOST: i64 = 1_000_000_000;
const SOME: Values = Between(1, MOST);
const BYTES: Values = Between(1, i64::MAX);

/// What all factories that reach other domains understand: how many messages may be on their way, how long an answer
/// may take (in milliseconds), the files with what TLS needs, and what a client shows to be let in.
const COMMON: &[(&str, Values)] = &[
    ("capacity", Between(1, 1_000_000)),
    ("deadline", SOME),
    ("certificate", Text),
    ("key", Text),
    ("authority", Text),
    ("token", Text),
];

/// All of them.
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
        ],
    ),
    reaching("Nats", &["nats"], NATS),
    reaching("Event", &["event", "event+nats"], EVENT),
];

/// How one comes to NATS.
const NATS: &[(&str, Values)] =
    &[("servers", Text), ("user", Text), ("password", Text), ("credentials", Text), ("tls", Boolean)];

/// Events within the program, or over NATS.
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

/// What of these was most likely meant by a factory that isn't known.
pub(super) fn instead_of(name: &str) -> Option<&'static str> {
    similar(name, ALL.iter().map(|factory| factory.name)).filter(|meant| *meant != name)
}

/// The factory of that name, if it is known.
pub(super) fn factory(name: &str) -> Option<&'static Factory> {
    ALL.iter().find(|factory| factory.name == name)
}

/// What they are called.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|factory| factory.name)
}

impl Factory {
    /// Whether it says how another domain is reached; others stand between that and the client.
    pub fn reaches(&self) -> bool {
        !self.schemes.is_empty()
    }

    /// Whether it can stand behind a name of that scheme.
    pub fn joins(&self, scheme: &str) -> bool {
        !self.reaches() || self.schemes.contains(&scheme)
    }

    /// Options of its own that mean nothing without the second of each pair.
    pub fn partners(&self) -> impl Iterator<Item = &'static (&'static str, &'static str)> + '_ {
        PARTNERS.iter().filter(|(one, other)| self.option(one).is_some() && self.option(other).is_some())
    }

    fn all(&self) -> impl Iterator<Item = &'static (&'static str, Values)> + use<> {
        self.own.iter().chain(if self.reaches() { COMMON } else { &[] })
    }

    /// What its options are called.
    pub fn options(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.all().map(|(name, _)| *name)
    }

    /// What an option may be, if it is known.
    pub fn option(&self, name: &str) -> Option<Values> {
        self.all().find(|(option, _)| *option == name).map(|(_, values)| *values)
    }
}

impl Values {
    /// The type that they have, if they have one.
    pub fn ty(self) -> Option<Type> {
        match self {
            Text | Messages => Some(Type::Text),
            Boolean => Some(Type::Boolean),
            Between(..) => Some(Type::Integer),
            Any => None,
        }
    }
}
