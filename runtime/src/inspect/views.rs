//! What can be seen of a program.

use alloc::string::String;
use alloc::vec::Vec;

/// What a program consists of at some moment.
#[derive(Debug, Default)]
pub struct Snapshot {
    /// From the entry on, each before those that it holds.
    pub components: Vec<Component>,
    /// How many more there are.
    pub more: usize,
    /// All of them.
    pub bindings: Vec<BindingView>,
}

/// A component.
#[derive(Debug)]
pub struct Component {
    /// Such as `City.house[17]`.
    pub path: String,
    /// Who holds it: which of the components that were found. `None`: nobody.
    pub holder: Option<usize>,
    /// The variable that holds it, or in whose collection it is.
    pub variable: &'static str,
    /// Of which template.
    pub template: &'static str,
    /// In which domain it was made, if not in its holder's: `process:store`.
    pub place: Option<String>,
    /// How that has ended, if it has and the component was not deleted.
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
    /// Which.
    pub interface: &'static str,
    /// Its slot from 1, if it has a cardinality.
    pub slot: Option<usize>,
    /// The path of the component that serves it, or the name of a binding; empty: it is unconnected.
    pub to: String,
    /// What BY has put before a component: ` BY Monitored`; names of bindings have it themselves.
    pub by: String,
    /// The component at which it arrives first, though that passes it on.
    pub next: Next,
    /// It is an interface that the component offers, and passes on to one of its own.
    pub is_inward: bool,
    /// Whether a communication has begun, and isn't lost.
    pub is_open: bool,
    /// The communication is lost: why, if that is known.
    pub lost: Option<String>,
}

/// Where a connection arrives first.
#[derive(Debug)]
pub enum Next {
    /// At no component of the program's.
    Nothing,
    /// At what the component of this path offers.
    Offered(String),
    /// At what it requires.
    Required(String),
}

/// A process.
#[derive(Debug)]
pub struct Activity {
    /// What it runs: an interface's name, or `BEGIN`.
    pub what: &'static str,
    /// What it waits for; empty: it is ready, or runs.
    pub waits_for: &'static str,
    /// For whom, as [`Connection::to`]; empty: for nobody else, or it isn't known.
    pub whom: String,
    /// Where, such as ` at city.dry:12:3`; empty if it isn't known.
    pub at: String,
}

/// A binding with what went through it.
#[derive(Debug)]
pub struct BindingView {
    /// As the program says it.
    pub name: String,
    /// The interface.
    pub interface: &'static str,
    /// It brings clients from elsewhere.
    pub is_export: bool,
    /// The component whose interface is exported, that was made in the domain of this name, or else the client; empty:
    /// it isn't known.
    pub component: String,
    /// Communications that have begun, are open, were lost.
    pub communications: [u64; 3],
    /// Messages to the far side, and bytes of their values.
    pub sent: (u64, u64),
    /// Messages from there, likewise.
    pub received: (u64, u64),
    /// Why the last one was lost; empty: none was.
    pub why: String,
}
