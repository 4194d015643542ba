//! The ends of connections.

use drystone_language::program::InterfaceId;

use super::identity::InstanceId;

/// A client's end of a communication.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum End {
    /// A required interface: the instance, index into `requires`, and k (1 where there is no cardinality).
    Required(InstanceId, usize, i64),
    /// The holder's end, for an interface that the held component offers.
    Held(InstanceId, InterfaceId),
}

/// Something that can be connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Link {
    /// A required interface, as in [`End::Required`].
    Required(InstanceId, usize, i64),
    /// An offered interface, to the inside: index into `offers`.
    Inward(InstanceId, usize),
}

/// The target of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// An offered interface.
    Offered(InstanceId, InterfaceId),
    /// A required interface of the surrounding component, or of the relay itself.
    Required(InstanceId, usize, i64),
}

impl Link {
    /// The instance it belongs to.
    pub fn instance(self) -> InstanceId {
        match self {
            Link::Required(instance, ..) | Link::Inward(instance, _) => instance,
        }
    }
}

impl Target {
    /// The instance it belongs to.
    pub fn instance(self) -> InstanceId {
        match self {
            Target::Offered(instance, _) | Target::Required(instance, ..) => instance,
        }
    }
}
