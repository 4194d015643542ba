//! Numbers of instances, communications and processes; the roles of processes, and the events that they wait for.

/// A component instance; 0 is the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct InstanceId(pub usize);

/// A communication between a client and a service process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct CommunicationId(pub usize);

/// A process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct ProcessId(pub usize);

/// The system, which offers what the entry component requires.
pub(super) const SYSTEM: InstanceId = InstanceId(0);

/// An event for which a process can wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Event {
    /// A change of the communication.
    Communication(CommunicationId),
    /// A change of any connection.
    Connections,
    /// A change in the life of an instance.
    Instance(InstanceId),
    /// The process is given the lock, or is told that its time has come.
    Own(ProcessId),
    /// Any of the others.
    Anything,
}

/// The task of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Makes the entry component and deletes it.
    Program,
    /// `BEGIN` and `ACTIVITY`.
    Body,
    /// `IMPLEMENTATION`, for one client.
    Service(CommunicationId),
    /// `FINALLY`, and everything after it.
    Finalizer,
}
