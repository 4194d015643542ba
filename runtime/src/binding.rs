//! Bindings: a required interface is connected to a name, an offered one is exported by a name, a component is made in
//! another domain (paper 002, section 3.1; language reference, section 9).
//!
//! The names that begin with `local:` are the program's own: what is connected by them is connected as if by CONNECT to
//! the component itself. All others are the platform's ([`beyond`]), as are the components that a BY puts into the
//! path.
//!
//! # Why this is sound
//! Each entry point is called by generated code with its own worker and process, texts that it holds while it waits for
//! the answer, slots of instances whose blocks are there, and descriptions of the program, which live for ever.
#![allow(unsafe_op_in_unsafe_fn)]

mod beyond;
mod context;
mod rebind;
pub mod shipment;

use alloc::string::String;

use drystone_component::{Interface, Name, Template};

pub use self::rebind::{Pending, Rebind, goes_on, rebind, withdraw};
use crate::communication::connection::{Refusal, ds_connect, ds_disconnect, export_by_name, is_dead};
use crate::failure::{ds_fail, fail};
use crate::home::names::{Exported, Waiting};
use crate::layout::*;
use crate::life::{ds_new, vacate};
pub use crate::naming::{
    Binder, BindingFactory, Edge, Factory, Hints, NamingContext, ResourceManager, follow,
};
use crate::text;
use crate::worker::Failure;

/// Who wants a binding, for errors.
struct Asker {
    w: *mut Worker,
    p: *mut Process,
    location: u32,
    /// Null: not about one interface.
    interface: *const Interface,
}

impl Asker {
    /// Says why there is no binding; generated code leaves then.
    unsafe fn answer(self, outcome: Result<(), Refusal>) -> Status {
        match outcome {
            Ok(()) => return Status::Done,
            Err(Refusal::Fault(fault)) => ds_fail(self.w, self.p, fault as u32, self.location),
            Err(Refusal::Reason(reason)) => {
                let failure = Failure::of(self.p, Fault::BindingRefused, self.location);
                fail(self.w, Failure { interface: self.interface, reason, ..failure });
            }
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
/// As this module says; `slot` is for this interface.
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
    if ds_disconnect(w, p, slot, location) == Status::Leave {
        return Status::Leave;
    }
    if (*(*slot).instance).live & DEAD != 0 {
        // Its container counts as empty, but that is no error of those who talk to it.
        return Status::Done;
    }
    let bind = || -> Result<(), Refusal> {
        let name = Name::decode(text::bytes(name))?;
        let hints = Hints::parse(text::bytes(hints))?;
        if !name.is_local() {
            return Ok(beyond::bind(w, slot, interface, name, &hints)?);
        }
        let slot = beyond::through(w, slot, beyond::way(w, interface, &hints)?);
        context::connect(w, Waiting { slot, interface, location }, name).map_err(|why| about(name, why))
    };
    let outcome = bind();
    Asker { w, p, location, interface }.answer(outcome)
}

/// `CONNECT(I(x), y) BY hints`
///
/// # Safety
/// As this module says; `slot` and what `target` leads to are for this interface.
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
    if ds_disconnect(w, p, slot, location) == Status::Leave {
        return Status::Leave;
    }
    if (*(*slot).instance).live & DEAD != 0 {
        return Status::Done;
    }
    let way = Hints::parse(text::bytes(hints)).and_then(|hints| beyond::way(w, interface, &hints));
    match way {
        Ok(way) => ds_connect(w, p, beyond::through(w, slot, way), target, location),
        Err(reason) => Asker { w, p, location, interface }.answer(Err(reason.into())),
    }
}

/// `EXPORT(I(y), name) BY hints`
///
/// # Safety
/// As this module says; `target` is as for [`ds_connect`], of this interface, and something can be connected to it.
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
        export_by_name(w, Exported { target, interface }, name.bytes()).map_err(|why| about(name, why))?;
        Ok(context::exported(w, name, interface)?)
    };
    let outcome = export();
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

fn about(name: Name<'_>, why: Refusal) -> Refusal {
    match why {
        Refusal::Reason(reason) => Refusal::Reason(alloc::format!("{name}: {reason}")),
        fault => fault,
    }
}
