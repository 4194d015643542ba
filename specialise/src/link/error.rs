//! Reasons why modules can't be linked.

use std::fmt;
use std::rc::Rc;

/// The reason why modules do not make a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LinkError {
    /// Two modules define the same name, and neither definition is weak.
    Twice {
        /// The name.
        name: Rc<str>,
        /// One module.
        first: Rc<str>,
        /// The other.
        second: Rc<str>,
    },
    /// An alias that leads back to itself through other aliases.
    Circle {
        /// The name.
        name: Rc<str>,
    },
    /// A constant can't be expressed any more, because a name in it now denotes a part of something else.
    Address {
        /// The module that contains it.
        module: Rc<str>,
        /// The reason.
        what: String,
    },
}

impl fmt::Display for LinkError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            LinkError::Twice { name, first, second } => {
                write!(f, "`{name}` is defined in {first} and again in {second}: leave one of them out")
            }
            LinkError::Circle { name } => write!(f, "the alias `{name}` names itself"),
            LinkError::Address { module, what } => write!(f, "{module}: {what}"),
        }
    }
}

impl std::error::Error for LinkError {}
