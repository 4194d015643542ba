//! Kinds of native components, and where what is theirs lies in instances and processes.
//!
//! # Soundness
//!
//! A kind and all that it points to live for ever and never change. An instance of a kind has, behind its slots, one
//! word that owns its [`Component`] from the instance's making until the native FINALLY takes it. A process of a
//! kind is made by the runtime with the size that its body says, so its word is within the block.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::mem::size_of;

use drystone_component::{Interface, Parameter, Template};

use super::{Component, Declaration};
use crate::instance::template_of;
use crate::layout::{Instance, PAYLOAD, Process, Worker};

/// An interface of a program and the Rust side's idea of it.
pub(super) struct Binding {
    pub(super) declaration: &'static Declaration,
    pub(super) interface: &'static Interface,
}

impl Binding {
    /// The parameters of a message.
    pub(super) fn parameters(&self, number: usize) -> &'static [Parameter] {
        self.interface.messages.get()[number].parameters.get()
    }

    /// Where a service process keeps its [`super::running::Running`]: behind the communication's buffer.
    pub(super) fn offset(&self) -> usize {
        PAYLOAD + self.interface.payload_words * size_of::<u64>()
    }

    /// See [`Binding::offset`].
    pub(super) fn cell<T>(&self, process: *mut Process) -> *mut *mut T {
        process.wrapping_byte_add(self.offset()).cast()
    }
}

/// A kind of native component, within one program: what a template is to the component language.
#[repr(C)]
pub struct Kind {
    /// First, so that an instance's template is its kind.
    pub(super) template: Template,
    pub(super) bindings: Vec<Binding>,
}

// SAFETY: never changed after it is made.
unsafe impl Sync for Kind {}
// SAFETY: likewise.
unsafe impl Send for Kind {}

impl Kind {
    /// Its template.
    pub fn template(&'static self) -> &'static Template {
        &self.template
    }

    /// Makes an instance that nobody holds yet; null if there is no memory.
    ///
    /// # Safety
    /// On the home worker's thread, with its worker.
    pub unsafe fn instance(
        &'static self,
        worker: *mut Worker,
        component: Box<dyn Component>,
    ) -> *mut Instance {
        // SAFETY: the instance is new and zeroed.
        unsafe {
            let instance = crate::life::make(worker, &self.template);
            if !instance.is_null() {
                *component_cell(instance) = Box::into_raw(Box::new(component));
            }
            instance
        }
    }
}

/// Where a native instance keeps its component: behind the slots.
///
/// # Safety
/// It is an instance of a kind.
pub(super) unsafe fn component_cell(instance: *mut Instance) -> *mut *mut Box<dyn Component> {
    // SAFETY: `Kind::new` made the size so.
    unsafe { instance.byte_add((*template_of(instance)).size as usize - size_of::<usize>()).cast() }
}

/// The kind of a native instance.
///
/// # Safety
/// It is an instance of a kind.
pub(super) unsafe fn kind_of(instance: *mut Instance) -> &'static Kind {
    // SAFETY: the template is the kind's first field.
    unsafe { &*template_of(instance).cast() }
}
