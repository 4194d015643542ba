//! Kinds of native components: their templates and bodies, made at the program's start from its own descriptions.
//!
//! # Soundness
//!
//! A kind and all that it points to live for ever and never change. An instance of a kind has, behind its slots, one
//! word that owns its [`Component`] from the instance's making until the native FINALLY takes it. A process of a
//! kind is made by the runtime with the size that its body says, so its word is within the block.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::mem::size_of;
use core::ptr;

use drystone_component::{Body, Interface, Offered, Parameter, Program, Str, Table, Template};

use super::running::{finally, run};
use super::{Component, Declaration};
use crate::instance::template_of;
use crate::layout::{Instance, OfferedSlot, PAYLOAD, Process, Worker};
use crate::platform::NativeBody;

/// Most parameters that a message may have here.
pub(super) const PARAMETERS: usize = 8;

/// An interface of a program and the Rust side's idea of it.
pub(super) struct Binding {
    pub(super) declaration: &'static Declaration,
    pub(super) interface: &'static Interface,
}

impl Binding {
    fn new(program: &Program, declaration: &'static Declaration) -> Result<Binding, String> {
        // SAFETY: the table holds descriptions, which live for ever.
        let mut interfaces = program.interfaces.get().iter().map(|i| unsafe { &**i });
        let interface = interfaces
            .find(|interface| interface.fingerprint == declaration.fingerprint)
            .ok_or_else(|| declaration.name.to_string() + ": the program doesn't know the interface so")?;
        assert!(interface.payload_words <= PARAMETERS, "too many parameters");
        Ok(Binding { declaration, interface })
    }

    /// The parameters of a message.
    pub(super) fn parameters(&self, number: usize) -> &'static [Parameter] {
        self.interface.messages.get()[number].parameters.get()
    }

    /// Where a service process keeps its [`super::running::Running`]: behind the communication's buffer.
    fn offset(&self) -> usize {
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
    template: Template,
    pub(super) bindings: Vec<Binding>,
}

// SAFETY: never changed after it is made.
unsafe impl Sync for Kind {}
// SAFETY: likewise.
unsafe impl Send for Kind {}

impl Kind {
    /// Describes a kind of component that offers these interfaces, as `program` declares them. It lives for ever: a
    /// platform makes its kinds once. An error says which interface the program hasn't got.
    pub fn new(
        program: &'static Program,
        name: &'static str,
        offers: &[&'static Declaration],
    ) -> Result<&'static Kind, String> {
        let mut bindings = Vec::new();
        for declaration in offers {
            bindings.push(Binding::new(program, declaration)?);
        }
        let offered = bindings.iter().enumerate().map(|(i, binding)| Offered {
            interface: binding.interface,
            offset: (size_of::<Instance>() + i * size_of::<OfferedSlot>()) as u32,
            body: i as u32,
            inward: 0,
            limit: u32::MAX,
            connectable: true,
        });
        let offered = leak(offered.collect());
        let body = |interface: *const Interface, size: usize, native: NativeBody| Body {
            entry: program.native_shim,
            size: size as u32,
            condition: 0,
            frame: 0,
            owned: Table::new(&[]),
            interface,
            native: native as *const u8,
        };
        let services = bindings.iter().map(|b| body(b.interface, b.offset() + size_of::<usize>(), run));
        let bodies = leak(services.chain([body(ptr::null(), size_of::<Process>(), finally)]).collect());
        let slots = bindings.len() * size_of::<OfferedSlot>();
        let template = Template {
            name: Str::new(name),
            place: u32::MAX,
            size: (size_of::<Instance>() + slots + size_of::<usize>()) as u32,
            isolated: false,
            virtual_time: false,
            offered,
            required: Table::new(&[]),
            bodies,
            main: Template::NO_BODY,
            finally: bindings.len() as u32,
            main_process: 0,
            owned: Table::new(&[]),
        };
        Ok(Box::leak(Box::new(Kind { template, bindings })))
    }

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

fn leak<T>(entries: Vec<T>) -> Table<T> {
    Table::new(Box::leak(entries.into_boxed_slice()))
}
