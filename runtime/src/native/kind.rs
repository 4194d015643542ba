//! Kinds of native components, and where what is theirs lies in instances and processes.
//!
//! # Soundness
//!
//! A kind and all that it points to live for ever and never change. An instance of a kind has, behind its slots, one
//! word that owns its [`Component`] from the instance's making until the native FINALLY takes it. A process of a
//! kind is made by the runtime with the size that its body says, so its word is within the block.

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::vec::Vec;
use core::mem::size_of;
use core::ptr::null_mut;

use drystone_component::{Interface, Parameter, Template};

use super::here::Here;
use super::{Activity, Component, Declaration, Part, Ports, Serving};
use crate::instance::template_of;
use crate::layout::{Instance, PAYLOAD, Process, Worker};
use crate::values::Unmade;

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

    /// Where a service process keeps what runs there: behind the communication's buffer.
    pub(super) fn offset(&self) -> usize {
        offset(self.interface)
    }

    /// See [`Binding::offset`].
    pub(super) fn cell<T>(&self, process: *mut Process) -> *mut *mut T {
        cell_of(process, self.interface)
    }
}

#[inline]
fn offset(interface: &Interface) -> usize {
    PAYLOAD + interface.payload_words * size_of::<u64>()
}

/// The word of a service process of this interface.
#[inline]
pub(super) fn cell_of<T>(process: *mut Process, interface: &Interface) -> *mut *mut T {
    process.wrapping_byte_add(offset(interface)).cast()
}

/// What an instance has of its own.
pub(super) struct Own {
    pub(super) component: Box<dyn Component>,
    pub(super) here: Rc<Here>,
}

/// A kind of native component, within one program: what a template is to the component language.
#[repr(C)]
pub struct Kind {
    /// First, so that an instance's template is its kind.
    pub(super) template: Template,
    /// What it offers.
    pub(super) bindings: Vec<Binding>,
    /// What it requires.
    pub(super) required: Vec<Binding>,
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
            if instance.is_null() {
                return instance;
            }
            *component_cell(instance) = Box::into_raw(Box::new(Own { component, here: Here::new() }));
            if !crate::life::start(worker, instance) {
                crate::instance::delete_detached(worker, instance);
                return null_mut();
            }
            instance
        }
    }
}

/// A component that isn't made yet. When it is, this is the component itself, so that it needs no other block.
struct New<C> {
    kind: &'static Kind,
    component: C,
}

impl<C: Component> Component for New<C> {
    fn serve(&mut self, interface: usize) -> Serving {
        self.component.serve(interface)
    }

    fn begin(&mut self, ports: Ports) -> Activity {
        self.component.begin(ports)
    }
}

impl<C: Component> Unmade for New<C> {
    fn template(&self) -> &'static Template {
        self.kind.template()
    }

    unsafe fn make(self: Box<Self>, worker: *mut Worker) -> *mut Instance {
        // SAFETY: as the caller promises.
        unsafe { self.kind.instance(worker, self) }
    }
}

impl Part {
    /// A new component of a kind.
    pub fn new(kind: &'static Kind, component: impl Component) -> Part {
        Part::New(Box::new(New { kind, component }))
    }
}

/// Where a native instance keeps its component: behind the slots.
///
/// # Safety
/// It is an instance of a kind.
pub(super) unsafe fn component_cell(instance: *mut Instance) -> *mut *mut Own {
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

/// Where a main process keeps what it does: behind its head.
pub(super) fn main_cell(process: *mut Process) -> *mut *mut Activity {
    process.wrapping_byte_add(size_of::<Process>()).cast()
}

/// Takes what a word owns.
///
/// # Safety
/// It is null or owns a `Box`.
pub(super) unsafe fn take<T>(cell: *mut *mut T) -> Option<Box<T>> {
    // SAFETY: as the caller promises.
    unsafe {
        let value = core::mem::replace(&mut *cell, null_mut());
        (!value.is_null()).then(|| Box::from_raw(value))
    }
}
