//! Communications whose other end is elsewhere: on another processor, in another process, on another machine. The
//! runtime keeps the *near* half of each such communication going (see [`crate::near`]), and talks to the *far* half
//! through the traits below, which binding factories implement (*THINK*, Fassino). It doesn't know how messages get
//! there.
//!
//! * [`Reach`] begins communications for near clients, each a [`Far`]; [`Exported`] brings those of far clients.
//! * [`Letter`], [`Outgoing`], [`Filling`]: a message's values on their way.
//! * [`Visitor`]: code of the platform that sends and receives for itself, at a client's place, so that nothing need be
//!   moved.
//! * [`Domain`], [`Guest`]: a component in another domain, from its holder's side and from its own.
//! * `standing` says what instances own that stand for something elsewhere; `door` and `queued` are far sides within
//!   a program.
//!
//! Everything here runs at home (see [`crate::home`]).

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

/// Most slots of a required interface with a cardinality that lead elsewhere.
pub(crate) const SLOTS: u32 = 16;

/// A binding's half of one communication. It is dropped when the communication is over; where that comes before
/// [`Far::close`], the communication has been ended by force.
pub trait Far: 'static {
    /// What to wake when something has changed: told once, first.
    fn attach(&mut self, pump: Waker);

    /// Whether [`Far::send`] takes one more message now. If not, the pump is woken when it does.
    fn has_room(&mut self) -> bool;

    /// The near side has sent a message: its number in the interface, and its values.
    fn send(&mut self, message: usize, values: Outgoing<'_>);

    /// What the far side has done next; the same again until [`Far::take`] takes a message.
    fn receive(&mut self) -> Arrival;

    /// Takes the message that [`Far::receive`] has told: gives its values.
    ///
    /// # Errors
    /// Why they can't be understood: the communication is lost.
    fn take(&mut self, values: &mut Filling<'_>) -> Result<(), String>;

    /// The slot, from 1, of a required interface with a cardinality at which it begins: only for a component's own
    /// clients ([`Domain::required`]).
    fn slot(&self) -> usize {
        1
    }

    /// The near side has come to an end where the protocol allows it.
    fn close(&mut self);

    /// For a communication that is lost ([`Arrival::Lost`]): whether the far side has received nothing at all, because
    /// it refused to begin or was never there.
    fn was_refused(&self) -> bool {
        false
    }
}

/// What a binding factory makes of a name: it begins communications of near clients.
pub trait Reach: 'static {
    /// A new communication begins. Whether the far side is there at all may turn out later.
    fn begin(&mut self) -> Box<dyn Far>;

    /// Where blocks of calls to what this reaches can be shipped; `None`: nowhere.
    fn harbour(&self) -> Option<Harbour<'_>> {
        None
    }

    /// Ships a block each time that a communication begins; `None` where there is no [`Reach::harbour`].
    fn ship(&self, _: Shipment<'_>) -> Option<Box<dyn Reach>> {
        None
    }
}

/// Where blocks of calls can be shipped (*composite calls*, Ballesteros).
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Harbour<'a> {
    /// The other program, for people.
    pub program: &'a str,
    /// Differs where the same program is reached in different ways, as with other credentials.
    pub number: usize,
    /// The name by which that program knows what is reached.
    pub name: &'a str,
    /// It may take a block now: it hasn't just refused one. Asked once each time.
    pub is_open: bool,
}

/// A block of calls that is shipped each time that a message `Run` comes by its interface
/// ([`crate::binding::shipment`]).
pub struct Shipment<'a> {
    /// The interface.
    pub interface: &'static Interface,
    /// Its program, as `extension::composite` encodes it.
    pub program: &'a [u8],
    /// The names by which the other program knows what its calls reach.
    pub names: &'a [&'a str],
}

/// An exported name, which brings far clients. It is withdrawn when this is dropped.
pub trait Exported: 'static {
    /// What to wake when a client has come: told once, first.
    fn attach(&mut self, listener: Waker);

    /// The next client that has come.
    fn accept(&mut self) -> Option<Box<dyn Far>>;

    /// The next client that has come to send and receive for itself.
    fn visitor(&mut self) -> Option<Box<dyn Visitor>> {
        None
    }

    /// The service can also run where its requests arrive: a binding that knows how runs it there from now on (*ASHs*,
    /// Wallach).
    fn handled(&mut self, _: Handled<'_>) {}

    /// Whether none will come any more: the listener is woken when that becomes so.
    fn is_over(&self) -> bool {
        false
    }
}
