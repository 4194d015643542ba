//! Communications whose other end is elsewhere: on another processor, in another process, on another machine. What
//! crosses is no business of this module: it keeps the *near* half of each such communication going, and talks to the
//! *far* one through the traits below, which a binding factory implements (paper 002, section 3.1).
//!
//! A near client's slot is connected to a *proxy*: a component without variables that offers the interface, and whose
//! service processes are *pumps*. A far client is a component that requires the interface: its main process is a pump,
//! too. A *listener* is connected to what is exported and makes such components as far clients come. So local
//! communications, and the code that uses them, know nothing of all this and pay nothing for it. A *visitor* needs no
//! pump: it is code of the platform that says and takes messages itself, at a client's place.
//!
//! What comes from the far side is not trusted: each message is looked up in the protocol before the near side sees it.
//! A far side that is lost, or breaks the protocol, ends the communication and nothing else.
//!
//! # Why this is sound
//! Everything here runs on the home worker's thread, called by the runtime with that worker.
#![allow(unsafe_op_in_unsafe_fn)]

pub(crate) mod at_once;
mod cell;
mod clients;
mod domain;
mod door;
pub mod guest;
mod letter;
mod listener;
pub mod marshal;
mod proxy;
mod pump;
mod queued;
mod traffic;
mod visitor;

use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use core::cell::Cell;

use drystone_component::{Interface, Role};

pub use crate::instance::kept::Handled;

pub use cell::Joint;
pub(crate) use domain::ended;
pub use domain::{Domain, State, proxy_of};
pub use door::{Door, Entrance, door};
pub use guest::{Guest, Host, Wish};
pub use letter::{Filling, Letter, Letters, Outgoing};
pub use listener::listen;
pub use proxy::{behind, proxy, stands_before};
pub use queued::as_far;
pub use traffic::Traffic;
pub use visitor::{Next, Said, Seat, Visitor};

use crate::home::home;
use crate::instance::natives::wake_parked;
use crate::instance::template_of;
use crate::layout::{Instance, Process, Worker};

/// No location in the source.
const NO_LOCATION: u32 = u32::MAX;

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

/// Wakes a pump or a listener, if that waits. It belongs to the home's thread, and does nothing when its process has
/// ended.
#[derive(Clone)]
pub struct Waker {
    target: Rc<Cell<Option<(*mut Worker, *mut Process)>>>,
    /// The program still runs.
    runs: Rc<Cell<bool>>,
}

impl Waker {
    /// On the home's thread, with its worker.
    unsafe fn new(worker: *mut Worker, process: *mut Process) -> Waker {
        Waker { target: Rc::new(Cell::new(Some((worker, process)))), runs: (*home(worker)).runs.clone() }
    }

    /// It has something to look at.
    pub fn wake(&self) {
        if let Some((worker, process)) = self.target.get().filter(|_| self.runs.get()) {
            // SAFETY: whose it is forgets it before its process ends, and the home says when all of them have ended; it
            // can't leave the home's thread.
            unsafe { wake_parked(worker, process) }
        }
    }

    fn is_for(&self, process: *mut Process) -> bool {
        self.target.get().is_some_and(|(_, p)| p == process)
    }

    fn forget(&self) {
        self.target.set(None);
    }
}

/// What comes from the far side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// Nothing yet: the pump will be woken.
    Nothing,
    /// A message: its number in the interface.
    Message(usize),
    /// The far side has ended in good order, after it received all that was sent.
    Closed,
    /// The far side is not there any more, or never was: why, as a sentence for people that begins with the name.
    Lost(String),
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

/// A binding of a program: its name, and what went through it.
pub enum Binding<'a> {
    /// What stands for something elsewhere.
    Proxy(&'a str, &'a Traffic),
    /// What brings clients from elsewhere.
    Listener(&'a str, &'a Traffic),
    /// What brings what a component requires that was made in another domain.
    Requiring(&'a str, &'a Traffic, *mut Instance),
    /// A component that was made in another domain, with what went to each interface that it offers.
    Made(&'a str, &'a [Joint]),
}

/// What a component is as a binding. `None`: it is none; far clients count for their listeners.
///
/// # Safety
/// On the home worker's thread; it is alive.
pub unsafe fn binding<'a>(instance: *mut Instance) -> Option<Binding<'a>> {
    match (*template_of(instance)).role {
        Role::Own | Role::Client => None,
        Role::Proxy => {
            let (name, joints) = proxy::description(instance)?;
            Some(Binding::Proxy(name, &joints[0].traffic))
        }
        Role::Remote => {
            let (name, joints) = proxy::description(instance)?;
            Some(Binding::Made(name, joints))
        }
        Role::Listener => {
            let (name, traffic, of) = listener::description(instance)?;
            Some(match of {
                None => Binding::Listener(name, traffic),
                Some(of) => Binding::Requiring(name, traffic, of),
            })
        }
    }
}

/// What reaches what a server stands for; `None`: it stands for nothing elsewhere.
///
/// # Safety
/// As for [`binding`]; the interface is one of those that it offers, by the number of its body.
pub(crate) unsafe fn reach_of<'a>(instance: *mut Instance, interface: usize) -> Option<&'a dyn Reach> {
    match binding(instance)? {
        Binding::Proxy(..) | Binding::Made(..) => {
            let (_, joints) = proxy::description(instance)?;
            Some(&*joints.get(interface)?.reach)
        }
        Binding::Listener(..) | Binding::Requiring(..) => None,
    }
}

/// The name alone, of a binding that may have been made BY something.
pub fn bare(name: &str) -> &str {
    name.split(" BY ").next().unwrap_or(name)
}

/// Why the last communication by an interface of a binding was lost, as a sentence that begins with its name; `None`:
/// it isn't known.
///
/// # Safety
/// As for [`binding`]; the interface is the binding's, by its number.
pub(crate) unsafe fn why_lost(instance: *mut Instance, interface: usize) -> Option<String> {
    let (name, why) = match binding(instance)? {
        Binding::Proxy(name, traffic) => (name, traffic.why.borrow().clone()),
        Binding::Made(name, joints) => (name, joints[interface].traffic.why.borrow().clone()),
        _ => return None,
    };
    let bare = bare(name);
    match why.as_str() {
        "" => None,
        why if why.starts_with(bare) => Some(why.into()),
        why => Some(format!("{name}: {why}")),
    }
}
