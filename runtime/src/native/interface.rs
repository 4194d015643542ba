//! Interfaces as the Rust side declares them, and as the program does.

use alloc::string::{String, ToString};
use core::mem::size_of;

use drystone_component::{Fingerprint, Interface, Parameter, Program};

use crate::communication::moving::cell_offset;
use crate::layout::Process;

/// Which interface it is that the Rust side means.
#[derive(Debug)]
pub struct Declaration {
    /// Its name, for messages to people.
    pub name: &'static str,
    /// What tells it from all others.
    pub fingerprint: Fingerprint,
}

/// An interface of a program and the Rust side's idea of it.
pub(super) struct Binding {
    pub(super) declaration: &'static Declaration,
    pub(super) interface: &'static Interface,
}

impl Binding {
    /// The interface of a program that has the declaration's fingerprint.
    ///
    /// # Errors
    /// There is none.
    pub(super) fn new(program: &Program, declaration: &'static Declaration) -> Result<Binding, String> {
        // SAFETY: the table holds descriptions, which live for ever.
        let mut interfaces = program.interfaces.get().iter().map(|i| unsafe { &**i });
        let interface = interfaces
            .find(|interface| interface.fingerprint == declaration.fingerprint)
            .ok_or_else(|| declaration.name.to_string() + ": the program doesn't know the interface so")?;
        Ok(Binding { declaration, interface })
    }

    /// The parameters of a message.
    pub(super) fn parameters(&self, number: usize) -> &'static [Parameter] {
        self.interface.messages.get()[number].parameters.get()
    }

    /// The size of the block of a service process.
    pub(super) fn service_size(&self) -> usize {
        cell_offset(self.interface) + size_of::<usize>()
    }

    /// Where a service process keeps what runs there.
    pub(super) fn cell<T>(&self, process: *mut Process) -> *mut *mut T {
        cell_of(process, self.interface)
    }
}

/// The word of a service process of this interface: behind the communication's buffer.
#[inline]
pub(super) fn cell_of<T>(process: *mut Process, interface: &Interface) -> *mut *mut T {
    process.wrapping_byte_add(cell_offset(interface)).cast()
}
