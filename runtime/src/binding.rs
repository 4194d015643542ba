//! Bindings: a required interface is connected to a name, an offered one is exported by a name, a component is made in
//! another domain (*THINK*, Fassino; language reference, section 9).
//!
//! Names that begin with `local:` are the program's own: what is connected by them is connected as if by CONNECT to
//! the component itself. All others are the platform's ([`beyond`]), and so are the components that a BY puts into the
//! path.
//!
//! # Safety of this module: *bound*
//! Its functions are called at home (see [`crate::home`]), its entry points by generated code, for its own process `p`,
//! which leaves where an answer says so. Texts are held until the answer, or null. Slots and targets are linked (see
//! the connection module), and of the interface that is passed with them. Descriptions are the program's, which live
//! for ever.

mod beyond;
mod context;
mod rebind;
pub mod shipment;

use alloc::string::String;

use drystone_component::{Interface, Name, Template};

pub use self::rebind::{Pending, Rebind, goes_on, rebind, withdraw};
use crate::communication::connection::{
    Refusal, component_at, ds_connect, ds_disconnect, export_by_name, is_dead,
};
use crate::failure::{ds_fail, fail};
use crate::home::AtHome;
use crate::home::names::{Exported, Waiting};
use crate::instance::stays_at_home;
use crate::layout::*;
use crate::life::{ds_new, vacate};
pub use crate::naming::{
    Binder, BindingFactory, Edge, Endpoint, Factory, Hints, NamingContext, ResourceManager, follow,
};
use crate::text;
use crate::visiting::must_have_all;
use crate::worker::Failure;

/// The process that wants a binding, for errors: it runs on the home worker.
struct Asker {
    w: *mut Worker,
    p: *mut Process,
    location: u32,
    /// Null: not about one interface.
    interface: *const Interface,
}

impl Asker {
    /// Says why there is no binding; generated code leaves then.
    fn answer(self, outcome: Result<(), Refusal>) -> Status {
        let Asker { w, p, location, interface } = self;
        match outcome {
            Ok(()) => return Status::Done,
            // SAFETY: the process runs, and leaves.
            Err(Refusal::Fault(fault)) => unsafe { ds_fail(w, p, fault as u32, location) },
            // SAFETY: the process runs, and leaves.
            Err(Refusal::Reason(reason)) => unsafe {
                let failure = Failure::of(p, Fault::BindingRefused, location);
                fail(w, Failure { interface, reason, ..failure });
            },
        }
        Status::Leave
    }
}

impl From<String> for Refusal {
    fn from(reason: String) -> Refusal {
        Refusal::Reason(reason)
    }
}

/// `CONNECT(I(x), name) BY hints`
///
/// # Safety
/// As this module says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_bind(
    w: *mut Worker,
    p: *mut Process,
    slot: *mut RequiredSlot,
    interface: &'static Interface,
    name: *const TextHead,
    hints: *const TextHead,
    location: u32,
) -> Status {
    // SAFETY: the slot is linked, and of this interface; the texts are held.
    let outcome = unsafe {
        if must_have_all(w, p) || ds_disconnect(w, p, slot, location) == Status::Leave {
            return Status::Leave;
        }
        stays_at_home((*slot).instance);
        if (*(*slot).instance).live & DEAD != 0 {
            // Its container counts as empty, but that is no error of its clients.
            return Status::Done;
        }
        let bind = || -> Result<(), Refusal> {
            let name = Name::decode(text::bytes(name))?;
            let hints = Hints::parse(text::bytes(hints))?;
            if !name.is_local() {
                return Ok(beyond::bind(w, slot, interface, name, &hints)?);
            }
            let slot = beyond::through(w, slot, beyond::way(AtHome::new(w), interface, &hints)?);
            context::connect(w, Waiting { slot, interface, location }, name).map_err(|why| about(name, why))
        };
        bind()
    };
    Asker { w, p, location, interface }.answer(outcome)
}

/// `CONNECT(I(x), y) BY hints`
///
/// # Safety
/// As this module says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_connect_by(
    w: *mut Worker,
    p: *mut Process,
    slot: *mut RequiredSlot,
    target: usize,
    interface: &'static Interface,
    hints: *const TextHead,
    location: u32,
) -> Status {
    // SAFETY: slot and target are linked, and of this interface; the text is held.
    unsafe {
        if must_have_all(w, p) || ds_disconnect(w, p, slot, location) == Status::Leave {
            return Status::Leave;
        }
        stays_at_home((*slot).instance);
        if (*(*slot).instance).live & DEAD != 0 {
            return Status::Done;
        }
        let way =
            Hints::parse(text::bytes(hints)).and_then(|hints| beyond::way(AtHome::new(w), interface, &hints));
        match way {
            Ok(way) => ds_connect(w, p, beyond::through(w, slot, way), target, location),
            Err(reason) => Asker { w, p, location, interface }.answer(Err(reason.into())),
        }
    }
}

/// `EXPORT(I(y), name) BY hints`
///
/// # Safety
/// As this module says; `target` is not null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_export(
    w: *mut Worker,
    p: *mut Process,
    target: usize,
    interface: &'static Interface,
    name: *const TextHead,
    hints: *const TextHead,
    location: u32,
) -> Status {
    // SAFETY: the target is linked, and of this interface; the texts are held.
    let outcome = unsafe {
        if must_have_all(w, p) {
            return Status::Leave;
        }
        stays_at_home(component_at(target));
        let export = || -> Result<(), Refusal> {
            let name = Name::decode(text::bytes(name))?;
            let hints = Hints::parse(text::bytes(hints))?;
            if is_dead(target) {
                // It counts as ended, and its name with it.
                return Ok(());
            }
            if !name.is_local() {
                return Ok(beyond::export(w, target, interface, name, &hints)?);
            }
            if !hints.factories.is_empty() {
                return Err(String::from(
                    "BY stands at the CONNECT to a name of the program's own, not at its EXPORT",
                )
                .into());
            }
            export_by_name(w, Exported { target, interface }, name.bytes())
                .map_err(|why| about(name, why))?;
            Ok(context::exported(AtHome::new(w), name, interface)?)
        };
        export()
    };
    Asker { w, p, location, interface }.answer(outcome)
}

/// `NEW(y) AT name BY hints`
///
/// # Safety
/// As this module says; container and holder are as for [`ds_new`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_new_at(
    w: *mut Worker,
    p: *mut Process,
    container: *mut *mut Instance,
    template: &'static Template,
    holder: usize,
    name: *const TextHead,
    hints: *const TextHead,
    location: u32,
) -> Status {
    let asker = Asker { w, p, location, interface: core::ptr::null() };
    // SAFETY: the texts are held; the process runs, and container and holder are as for `ds_new`.
    unsafe {
        if must_have_all(w, p) {
            return Status::Leave;
        }
        stays_at_home((*p).instance);
        let parsed =
            Name::decode(text::bytes(name)).and_then(|name| Ok((name, Hints::parse(text::bytes(hints))?)));
        let (name, hints) = match parsed {
            Ok(both) => both,
            Err(reason) => return asker.answer(Err(reason.into())),
        };
        if name.is_local() {
            return ds_new(w, p, container, template, holder, location);
        }
        if !vacate(w, container) {
            return asker.answer(Err(Refusal::Fault(Fault::FullContainer)));
        }
        let made = beyond::new_at(w, container, template, holder, name, &hints);
        asker.answer(made.map_err(Refusal::from))
    }
}

/// A refusal that begins with the name.
fn about(name: Name<'_>, why: Refusal) -> Refusal {
    match why {
        Refusal::Reason(reason) => Refusal::Reason(alloc::format!("{name}: {reason}")),
        fault => fault,
    }
}
