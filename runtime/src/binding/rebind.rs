//! Another binding for a connection while the program runs: at a point where the protocol allows it, so that neither
//! side loses a message. The slot is looked for anew at each attempt.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;

use drystone_component::{Interface, Name};

use super::context::{self, said};
use super::{Hints, beyond};
use crate::communication::connection::{close_all_through, lead, leaves_through, unlink, wake_through};
pub use crate::communication::rebinding::withdraw;
use crate::communication::{interface_of, may_close, rebinding};
pub use crate::home::communications::Pending;
use crate::home::names::Waiting;
use crate::home::{AtHome, home};
use crate::inspect::{self, Unknown};
use crate::instance::stays_at_home;
use crate::layout::*;
use crate::protocol::is_beginning;

/// What is to be bound to what.
#[derive(Clone, Debug)]
pub struct Rebind {
    /// The client's path, such as `City.house[17]`.
    pub path: String,
    /// The interface that it requires.
    pub interface: String,
    /// Which slot of it, from 1.
    pub slot: usize,
    /// What it is to be connected to: a name, and BY as generated code gives it; `None`: to nothing any more.
    pub binding: Option<(String, String)>,
}

/// Binds a connection anew, as soon as its protocol allows: at once, if no communication has begun there or nothing is
/// under way in it and its client could only begin anew, else before the message by which it does. `told` hears of it:
/// an error says why it can't be done, or that the communication ended meanwhile. Until then it can be
/// [withdrawn](withdraw) by the result.
///
/// # Safety
/// As for [`inspect::inspect`].
pub unsafe fn rebind(w: *mut Worker, what: Rebind, told: Box<dyn FnOnce(Result<(), Unknown>)>) -> Pending {
    // SAFETY: at home, in the scheduler.
    let prepare = || unsafe {
        let (slot, interface) = inspect::slot(w, &what.path, &what.interface, what.slot)?;
        Ok((slot, interface, prepared(AtHome::new(w), interface, &what)?))
    };
    let (slot, interface, prepared) = match prepare() {
        Ok(found) => found,
        Err(why) => {
            told(Err(why));
            return Pending::default();
        }
    };
    let change = move |w: *mut Worker, slot: Option<*mut RequiredSlot>| match slot {
        // SAFETY: a change is called at home, and its slot is linked.
        Some(slot) if unsafe { may_change(slot) } => {
            // SAFETY: a change is called at home, and its slot is linked. No process uses a communication that may
            // change.
            let connected = unsafe {
                close_all_through(w, slot);
                connect(w, slot, interface, &what, prepared)
            };
            told(connected);
        }
        // Its own client is not in the way, but those to whom it was passed on.
        Some(_) => {
            let Rebind { path, interface, .. } = what;
            told(Err(
                format!("{path} has passed {interface} on to a component that talks through it now").into()
            ))
        }
        None => {
            let Rebind { path, interface, .. } = what;
            told(Err(format!(
                "the communication of {path} by {interface} has ended meanwhile, or somebody else binds it anew"
            )
            .into()))
        }
    };
    // SAFETY: the slot was found just now.
    unsafe {
        if may_change(slot) {
            change(w, Some(slot));
            wake_through(w, slot);
            return Pending::default();
        }
        rebinding::begin(w, slot, Box::new(change))
    }
}

/// What goes on where a client is to leave; `None`: it has left.
///
/// # Safety
/// As for [`inspect::inspect`].
pub unsafe fn goes_on(w: *mut Worker, pending: &Pending) -> Option<String> {
    // SAFETY: a slot is linked as long as its client is to leave.
    unsafe { rebinding::slot_of(w, pending).map(|slot| inspect::talk(w, slot)) }
}

/// Whether nothing is under way in the communications through a slot, they may end now, and whatever their clients do
/// next another server understands as well.
///
/// # Safety
/// At home; the slot is linked.
unsafe fn may_change(slot: *mut RequiredSlot) -> bool {
    let mut may = true;
    // SAFETY: a communication that a linked slot leads to is live.
    unsafe {
        leaves_through(slot, |leaf| {
            let c = *leaf.cell;
            may &= c.is_null()
                || (may_close(c) && (*c).word.tag == 0 && is_beginning(interface_of(c), (*c).word.state));
        });
    }
    may
}

/// What a connection is to lead to, found before its client may leave: what is wrong with it is said at once.
enum Prepared {
    Nothing,
    Beyond(beyond::Found),
    Within(Option<beyond::Composed>),
}

/// Finds what a connection is to lead to.
///
/// # Errors
/// What is wrong with it.
fn prepared(at: AtHome, interface: &'static Interface, what: &Rebind) -> Result<Prepared, Unknown> {
    let Some((name, hints)) = &what.binding else { return Ok(Prepared::Nothing) };
    let name = Name::decode(name.as_bytes())?;
    let hints = Hints::parse(hints.as_bytes())?;
    // What a factory objects to begins with its name, what the context does with that which it was asked for.
    let by = |why: String| match hints.factories.iter().any(|factory| why.starts_with(factory.name)) {
        true => format!("BY {why}"),
        false => why,
    };
    if !name.is_local() {
        return Ok(Prepared::Beyond(beyond::find(at, interface, name, &hints).map_err(by)?));
    }
    context::must_be_there(at, interface, name).map_err(|why| near(at, name, why))?;
    Ok(Prepared::Within(beyond::compose(at, interface, &hints).map_err(by)?))
}

/// Connects a slot, which has no communication, to what was prepared.
///
/// # Errors
/// What was prepared has gone meanwhile, or there is no memory.
///
/// # Safety
/// At home; the slot is linked, and of this interface.
unsafe fn connect(
    w: *mut Worker,
    slot: *mut RequiredSlot,
    interface: &'static Interface,
    what: &Rebind,
    prepared: Prepared,
) -> Result<(), Unknown> {
    // SAFETY: at home; the slot is linked, and unconnected when it leads on.
    unsafe {
        let at = AtHome::new(w);
        match (prepared, &what.binding) {
            (Prepared::Beyond(found), _) => {
                let target = found.target(at, interface)?;
                leave(w, slot);
                lead(w, slot, target);
            }
            (Prepared::Within(composed), Some((name, _))) => {
                let name = Name::decode(name.as_bytes())?;
                // It may have gone meanwhile.
                context::must_be_there(at, interface, name).map_err(|why| near(at, name, why))?;
                let way = composed.map(|composed| composed.way(at, interface)).transpose()?;
                leave(w, slot);
                let slot = beyond::through(w, slot, way);
                context::connect(w, Waiting { slot, interface, location: u32::MAX }, name).map_err(said)?;
            }
            (Prepared::Nothing | Prepared::Within(_), _) => leave(w, slot),
        }
    }
    Ok(())
}

/// A name isn't known; with the names that are exported here.
fn near(at: AtHome, name: Name<'_>, why: String) -> Unknown {
    // SAFETY: nothing changes the names meanwhile.
    let known = unsafe { (*at.data()).names.all_exported() };
    let known = known.map(|name| String::from_utf8_lossy(name).into_owned());
    Unknown { instead_of: name.whole().into(), known: known.take(Unknown::MOST).collect(), ..why.into() }
}

/// A slot is connected to nothing any more, and waits for nothing.
///
/// # Safety
/// At home; the slot is linked.
unsafe fn leave(w: *mut Worker, slot: *mut RequiredSlot) {
    // SAFETY: the slot is linked.
    unsafe {
        stays_at_home((*slot).instance);
        (*home(w)).names.cease(slot);
        unlink(w, slot);
    }
}
