//! The binding factories that the compiler knows, with their options. Others may come with crates: their options are what
//! they say when the program runs.

use crate::program::Type;

/// A binding factory.
pub(super) struct Factory {
    /// Its name.
    pub name: &'static str,
    /// The options that it has besides [`COMMON`].
    own: &'static [(&'static str, Type)],
}

/// What all of them understand: how many messages may be on their way, how long an answer may take (in milliseconds), the
/// files with what TLS needs, and what a client shows to be let in.
const COMMON: &[(&str, Type)] = &[
    ("capacity", Type::Integer),
    ("deadline", Type::Integer),
    ("certificate", Type::Text),
    ("key", Type::Text),
    ("authority", Type::Text),
    ("token", Type::Text),
];

const ALL: &[Factory] = &[
    Factory { name: "Monitored", own: &[("name", Type::Text)] },
    Factory {
        name: "Restricted",
        own: &[("messages", Type::Text), ("rate", Type::Integer), ("burst", Type::Integer)],
    },
    Factory {
        name: "Cached",
        own: &[("messages", Type::Text), ("lifetime", Type::Integer), ("entries", Type::Integer)],
    },
    Factory {
        name: "Retried",
        own: &[("messages", Type::Text), ("attempts", Type::Integer), ("pause", Type::Integer)],
    },
];

/// The factory of that name, if it is known.
pub(super) fn factory(name: &str) -> Option<&'static Factory> {
    ALL.iter().find(|factory| factory.name == name)
}

impl Factory {
    /// All its options, with their types.
    pub fn options(&self) -> impl Iterator<Item = (&'static str, &'static Type)> + use<> {
        self.own.iter().chain(COMMON).map(|(name, ty)| (*name, ty))
    }

    /// The type of an option, if it has that one.
    pub fn option(&self, name: &str) -> Option<Type> {
        self.options().find(|(option, _)| *option == name).map(|(_, ty)| ty.clone())
    }
}
