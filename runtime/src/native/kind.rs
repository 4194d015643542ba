//! Kinds of native components, and where what is theirs lies in instances and processes.
//!
//! # Safety
//! A kind and all that it points to live for ever and never change. The word of an instance of a kind owns its
//! [`Component`] from the instance's making until the native FINALLY takes it. A process of a kind is made by the
//! runtime with the size that its body says, so its cell is within the block.

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::vec::Vec;
use core::mem::size_of;
use core::ptr::null_mut;

use drystone_component::Template;

use super::component::Component;
use super::here::{Activity, Here};
use super::interface::Binding;
use super::ports::Ports;
use super::turn::Serving;
use crate::far::standing::own;
use crate::instance::{delete_detached, template_of};
use crate::layout::{Instance, Process, Worker};
use crate::life;
use crate::values::{Part, Unmade};

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
// SAFETY: never changed after it is made.
unsafe impl Send for Kind {}

impl Kind {
    /// Its template.
    pub fn template(&'static self) -> &'static Template {
        &self.template
    }

    /// What the processes of an instance require.
    pub(super) fn ports(&'static self, here: Rc<Here>, instance: *mut Instance) -> Ports {
        Ports { here, instance, required: self.template.required.get(), bindings: &self.required }
    }

    /// Makes an instance that nobody holds yet; null if there is no memory.
    ///
    /// # Safety
    /// At home (see [`crate::home`]).
    pub unsafe fn instance(
        &'static self,
        worker: *mut Worker,
        component: Box<dyn Component>,
    ) -> *mut Instance {
        // SAFETY: the instance is new, of this kind, and its word null.
        unsafe {
            let instance = life::make(worker, &self.template, 0);
            if instance.is_null() {
                return instance;
            }
            *component_cell(instance) = Box::into_raw(Box::new(Own { component, here: Here::new() }));
            if !life::start(worker, instance) {
                delete_detached(worker, instance);
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
        // SAFETY: at home.
        unsafe { self.kind.instance(worker, self) }
    }
}

impl Part {
    /// A new component of a kind.
    pub fn new(kind: &'static Kind, component: impl Component) -> Part {
        Part::New(Box::new(New { kind, component }))
    }
}

/// Where a native instance keeps its component.
///
/// # Safety
/// It is an instance of a kind, whose block is there.
pub(super) unsafe fn component_cell(instance: *mut Instance) -> *mut *mut Own {
    // SAFETY: a kind's template has the word.
    unsafe { own(instance) }
}

/// The kind of a native instance.
///
/// # Safety
/// It is an instance of a kind, whose block is there.
pub(super) unsafe fn kind_of(instance: *mut Instance) -> &'static Kind {
    // SAFETY: the template is the kind's first field.
    unsafe { &*template_of(instance).cast() }
}

/// Where a main process keeps what it does: behind its head.
pub(super) fn main_cell(process: *mut Process) -> *mut *mut Activity {
    process.wrapping_byte_add(size_of::<Process>()).cast()
}
