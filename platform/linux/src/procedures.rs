//! Procedures of crates: those that are built in, and the guard between them and the program. A panic in one of them
//! ends the component that has called it, as other faults do.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use drystone_component::Program;
use drystone_kortex::Addition;
use drystone_runtime::native::{self, Procedure};

use crate::bindings::BUILT_IN;

/// The procedures of the crates that are built in, and of these.
pub fn carried(additions: &'static [&'static Addition]) -> impl Iterator<Item = &'static Procedure> + Clone {
    BUILT_IN.iter().chain(additions).flat_map(|addition| addition.procedures)
}

/// Binds those that a program calls.
pub(crate) fn bind(program: &'static Program, additions: &'static [&'static Addition]) -> Result<(), String> {
    native::bind(program, carried(additions), guard)
}

/// A procedure that has panicked is not gone back to; the values of its call are dropped.
fn guard(run: &mut dyn FnMut()) -> Result<(), String> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|payload| text_of(&*payload))
}

fn text_of(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("it panicked").to_string()
}
