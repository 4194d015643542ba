//! Communications whose other end is elsewhere: on another processor, in another process, on another machine. What
//! crosses is no business of the runtime: it keeps the *near* half of each such communication going (see
//! [`crate::near`]), and talks to the *far* one through the traits below, which a binding factory implements (paper
//! 002, section 3.1).
//!
//! Here are these traits, what goes through them ([`Letter`]), what they keep here (`standing`), and two far sides
//! within a program (`door`, `queued`). A *visitor* needs nothing moved: it is code of the platform that says and takes
//! messages itself, at a client's place.
//!
//! # Why this is sound
//! Everything here runs on the home worker's thread, called by the runtime with that worker.

mod domain;
mod door;
mod guest;
mod letter;
pub mod marshal;
mod queued;
pub(crate) mod standing;
mod traffic;
mod visitor;
mod waker;

use alloc::boxed::Box;
use alloc::string::String;

use drystone_component::Interface;
pub use drystone_component::wire::Arrival;

pub use crate::instance::kept::Handled;

pub use domain::{Domain, State};
pub use door::{Door, Entrance, door};
pub use guest::{Guest, Host, Wish};
pub use letter::{Filling, Letter, Letters, Outgoing};
pub use queued::as_far;
pub use traffic::Traffic;
pub(crate) use traffic::count;
pub(crate) use visitor::{LOST, begins, goes_on, is_next, too_late};
pub use visitor::{Next, Said, Seat, Visitor};
pub use waker::Waker;

/// So many slots of a required interface with a cardinality lead elsewhere, at most.
pub(crate) const SLOTS: u32 = 16;

/// A binding's half of one communication. It is dropped when the communication is over; where that comes before
/// [`Far::close`], the communication has been ended by force.
pub trait Far: 'static {
    /// What to wake when something has changed: told once, first.
    fn attach(&mut self, pump: Waker);

    /// Whether [`Far::send`] takes one more message now. If not, the pump is woken when it does.
    fn has_room(&mut self) -> bool;

    /// The near side has sent this message: its number in the interface.
    fn send(&mut self, message: usize, values: Outgoing<'_>);

    /// What the far side has done next; the same again until [`Far::take`] takes a message.
    fn receive(&mut self) -> Arrival;

    /// Gives the values of the message that [`Far::receive`] has told.
    ///
    /// # Errors
    /// Why they can't be understood: the communication is lost.
    fn take(&mut self, values: &mut Filling<'_>) -> Result<(), String>;

    /// At which slot of a required interface with a cardinality it begins, from 1: only for a component's own clients
    /// ([`Domain::required`]).
    fn slot(&self) -> usize {
        1
    }

    /// The near side has come to an end where the protocol allows it.
    fn close(&mut self);

    /// Where [`Far::receive`] says that it is lost: whether the far side has refused to begin it, or was never there,
    /// and so has heard nothing of what was sent.
    fn was_refused(&self) -> bool {
        false
    }
}

/// What reaches a name for a near client: what a binding factory makes of a name.
pub trait Reach: 'static {
    /// A new communication begins. Whether the far side is there at all may turn out later.
    fn begin(&mut self) -> Box<dyn Far>;

    /// Where blocks of calls can be shipped to that talk to what this reaches; `None`: nowhere.
    fn harbour(&self) -> Option<Harbour<'_>> {
        None
    }

    /// What ships a block there; `None` where there is no [`Reach::harbour`].
    fn ship(&self, _: Shipment<'_>) -> Option<Box<dyn Reach>> {
        None
    }
}

/// Where blocks of calls can be shipped to (paper 000).
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Harbour<'a> {
    /// The other program, for people.
    pub program: &'a str,
    /// Tells those apart that are reached in different ways, as with other credentials.
    pub number: usize,
    /// As what it knows what is reached.
    pub name: &'a str,
    /// It may take this block now: it hasn't just refused it. Asked once each time.
    pub is_open: bool,
}

/// A block of calls that is shipped each time that a message `Run` comes by its interface
/// ([`crate::binding::shipment`]).
pub struct Shipment<'a> {
    /// The interface.
    pub interface: &'static Interface,
    /// Its program, as `extension::composite` encodes it.
    pub program: &'a [u8],
    /// What its communications lead to, as the other program knows it.
    pub names: &'a [&'a str],
}

/// An exported name, which brings far clients. It is withdrawn when this is dropped.
pub trait Exported: 'static {
    /// What to wake when a client has come: told once, first.
    fn attach(&mut self, listener: Waker);

    /// The next client that has come.
    fn accept(&mut self) -> Option<Box<dyn Far>>;

    /// The next one that has come to say and take its messages itself.
    fn visitor(&mut self) -> Option<Box<dyn Visitor>> {
        None
    }

    /// What is exported can also run where its requests arrive: whoever knows how has it do so from now on.
    fn handled(&mut self, _: Handled<'_>) {}

    /// Whether none will come any more: the listener is woken when that becomes so.
    fn is_over(&self) -> bool {
        false
    }
}
