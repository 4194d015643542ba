//! What lies beyond this program: names of other schemes, components that BY puts into the path, other domains.

use alloc::format;
use alloc::string::String;

use drystone_component::{Interface, Template};

use super::Hints;
use crate::layout::{Instance, RequiredSlot, Worker};

/// Binds a slot that is unconnected to a name.
///
/// # Errors
/// There is no such naming context.
///
/// # Safety
/// As the binding module says.
pub unsafe fn bind(
    _w: *mut Worker,
    _slot: *mut RequiredSlot,
    _interface: &'static Interface,
    name: &[u8],
    _hints: &Hints<'_>,
) -> Result<(), String> {
    no_context(name)
}

/// Exports what `target` leads to by a name.
///
/// # Errors
/// There is no such naming context.
///
/// # Safety
/// As the binding module says.
pub unsafe fn export(
    _w: *mut Worker,
    _target: usize,
    _interface: &'static Interface,
    name: &[u8],
    _hints: &Hints<'_>,
) -> Result<(), String> {
    no_context(name)
}

/// Makes a component in another domain; the container is empty.
///
/// # Errors
/// There is no such domain.
///
/// # Safety
/// As the binding module says.
pub unsafe fn new_at(
    _w: *mut Worker,
    _container: *mut *mut Instance,
    _template: &'static Template,
    _holder: usize,
    name: &[u8],
    _hints: &Hints<'_>,
) -> Result<(), String> {
    no_context(name)
}

/// Puts what BY asks for between a slot that is unconnected and what it is going to be connected to: gives the slot that
/// is to be connected in its place. Without a BY that is the slot itself.
///
/// # Errors
/// A factory refuses.
///
/// # Safety
/// As the binding module says.
pub unsafe fn through(
    _w: *mut Worker,
    slot: *mut RequiredSlot,
    _interface: &'static Interface,
    _hints: &Hints<'_>,
) -> Result<*mut RequiredSlot, String> {
    Ok(slot)
}

/// Puts what BY asks for before what is exported: gives the target that is to be exported in its place. Without a BY that is
/// the target itself.
///
/// # Errors
/// A factory refuses.
///
/// # Safety
/// As the binding module says.
pub unsafe fn before(
    _w: *mut Worker,
    target: usize,
    _interface: &'static Interface,
    _hints: &Hints<'_>,
) -> Result<usize, String> {
    Ok(target)
}

fn no_context<T>(name: &[u8]) -> Result<T, String> {
    Err(format!("no such naming context: {}", String::from_utf8_lossy(name)))
}
