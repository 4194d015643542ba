//! The binding factories that the compiler knows, with their options. Others may come with crates: what options they have
//! shows when the program runs.

use super::names::similar;
use crate::program::Type;

/// A binding factory.
pub(super) struct Factory {
    /// Its name.
    pub name: &'static str,
    /// Its options.
    own: &'static [(&'static str, Type)],
    /// It reaches other domains, so that it has [`COMMON`] as well, and perhaps more that only its platform knows.
    reaches: bool,
}

/// What all factories that reach other domains understand: how many messages may be on their way, how long an answer may
/// take (in milliseconds), the files with what TLS needs, and what a client shows to be let in.
const COMMON: &[(&str, Type)] = &[
    ("capacity", Type::Integer),
    ("deadline", Type::Integer),
    ("certificate", Type::Text),
    ("key", Type::Text),
    ("authority", Type::Text),
    ("token", Type::Text),
];

const ALL: &[Factory] = &[
    composed("Monitored", &[("name", Type::Text)]),
    composed("Restricted", &[("messages", Type::Text), ("rate", Type::Integer), ("burst", Type::Integer)]),
    composed("Cached", &[("messages", Type::Text), ("lifetime", Type::Integer), ("entries", Type::Integer)]),
    composed(
        "Retried",
        &[
            ("messages", Type::Text),
            ("attempts", Type::Integer),
            ("pause", Type::Integer),
            ("deadline", Type::Integer),
        ],
    ),
    reaching("Local"),
    reaching("Worker"),
    Factory {
        name: "Lrpc",
        own: &[("confined", Type::Boolean), ("memory", Type::Integer), ("processor", Type::Integer)],
        reaches: true,
    },
    reaching("Tcp"),
    reaching("Onc"),
    reaching("Http"),
    reaching("Nats"),
    Factory { name: "Event", own: &[("lossy", Type::Boolean)], reaches: true },
];

const fn composed(name: &'static str, own: &'static [(&'static str, Type)]) -> Factory {
    Factory { name, own, reaches: false }
}

const fn reaching(name: &'static str) -> Factory {
    Factory { name, own: &[], reaches: true }
}

/// What of these was most likely meant by a factory that isn't known.
pub(super) fn instead_of(name: &str) -> Option<&'static str> {
    similar(name, ALL.iter().map(|factory| factory.name)).filter(|meant| *meant != name)
}

/// The factory of that name, if it is known.
pub(super) fn factory(name: &str) -> Option<&'static Factory> {
    ALL.iter().find(|factory| factory.name == name)
}

impl Factory {
    /// The options that are known, with their types.
    pub fn options(&self) -> impl Iterator<Item = (&'static str, &'static Type)> + use<> {
        let common = if self.reaches { COMMON } else { &[] };
        self.own.iter().chain(common).map(|(name, ty)| (*name, ty))
    }

    /// The type of an option, if it is known.
    pub fn option(&self, name: &str) -> Option<Type> {
        self.options().find(|(option, _)| *option == name).map(|(_, ty)| ty.clone())
    }

    /// Whether it may have options that are not known here.
    pub fn may_have_more(&self) -> bool {
        self.reaches
    }
}
