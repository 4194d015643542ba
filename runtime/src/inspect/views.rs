//! What [`inspect`](super::inspect) shows of a program.

use alloc::string::String;
use alloc::vec::Vec;

/// What a program consists of at some moment.
#[derive(Debug, Default)]
pub struct Snapshot {
    /// Its components, from the entry on, each before those that it holds.
    pub components: Vec<Component>,
    /// How many components more there are.
    pub more: usize,
    /// Its bindings.
    pub bindings: Vec<BindingView>,
}

/// A component.
#[derive(Debug)]
pub struct Component {
    /// Such as `City.house[17]`.
    pub path: String,
    /// The component that holds it, as an index into [`Snapshot::components`]. `None`: it has no holder.
    pub holder: Option<usize>,
    /// The variable that holds it, or in whose collection it is.
    pub variable: &'static str,
    /// Its template.
    pub template: &'static str,
    /// The domain in which it was made, if not in its holder's: `process:store`.
    pub place: Option<String>,
    /// How that domain has ended, if it has and the component was not deleted.
    pub ended: Option<String>,
    /// The interfaces that it offers, with the number of connections.
    pub offers: Vec<(&'static str, usize)>,
    /// Its connections.
    pub requires: Vec<Connection>,
    /// Its processes.
    pub processes: Vec<Activity>,
}

/// A required interface.
#[derive(Debug)]
pub struct Connection {
    /// The interface.
    pub interface: &'static str,
    /// The number of its slot, from 1, if the interface has a cardinality.
    pub slot: Option<usize>,
    /// The path of the component that serves it, or the name of a binding; empty: it is unconnected.
    pub to: String,
    /// What BY has put before a component: ` BY Monitored`. The name of a binding says that itself.
    pub by: String,
    /// Where it arrives first, also if that passes it on.
    pub next: Next,
    /// It is an interface that the component offers, and passes on to one of its own.
    pub is_inward: bool,
    /// A communication has begun, and isn't lost.
    pub is_open: bool,
    /// Why the communication is lost, if it is; empty: that isn't known.
    pub lost: Option<String>,
}

/// Where a connection arrives first.
#[derive(Debug)]
pub enum Next {
    /// At no component of the program.
    Nothing,
    /// At an interface that the component of this path offers.
    Offered(String),
    /// At an interface that the component of this path requires.
    Required(String),
}

/// A process.
#[derive(Debug)]
pub struct Activity {
    /// What it runs: an interface's name, or `BEGIN`.
    pub what: &'static str,
    /// What it waits for, such as `, which waits for a message`; empty: it is ready, or runs.
    pub waits_for: &'static str,
    /// The other side of the communication at which it waits, as in [`Connection::to`]; empty: there is none, or it
    /// isn't known.
    pub whom: String,
    /// Where it waits, such as ` at city.dry:12:3`; empty if that isn't known.
    pub at: String,
}

/// A binding with its traffic.
#[derive(Debug)]
pub struct BindingView {
    /// Its name, as the program says it.
    pub name: String,
    /// The interface.
    pub interface: &'static str,
    /// It is an export, which brings clients from elsewhere.
    pub is_export: bool,
    /// The path of the component whose interface is exported, or that was made in the domain of this name; or else of
    /// the client. Empty: it isn't known.
    pub component: String,
    /// How many communications have begun, are open, were lost.
    pub communications: [u64; 3],
    /// Messages to the far side, and bytes of their values.
    pub sent: (u64, u64),
    /// Messages from the far side, and bytes of their values.
    pub received: (u64, u64),
    /// Why the last lost communication was lost; empty: none was.
    pub why: String,
}
