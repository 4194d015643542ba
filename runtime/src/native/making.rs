//! How kinds of native components are made at the program's start from its own descriptions: their templates and bodies.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::mem::size_of;
use core::ptr;

use drystone_component::{Body, Interface, Offered, Program, Str, Table, Template};

use super::Declaration;
use super::kind::{Binding, Kind};
use super::running::{finally, run};
use crate::layout::{Instance, OfferedSlot, Process};
use crate::platform::NativeBody;

impl Binding {
    fn new(program: &Program, declaration: &'static Declaration) -> Result<Binding, String> {
        // SAFETY: the table holds descriptions, which live for ever.
        let mut interfaces = program.interfaces.get().iter().map(|i| unsafe { &**i });
        let interface = interfaces
            .find(|interface| interface.fingerprint == declaration.fingerprint)
            .ok_or_else(|| declaration.name.to_string() + ": the program doesn't know the interface so")?;
        Ok(Binding { declaration, interface })
    }
}

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
            location: u32::MAX,
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
}

fn leak<T>(entries: Vec<T>) -> Table<T> {
    Table::new(Box::leak(entries.into_boxed_slice()))
}
