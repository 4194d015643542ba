//! How kinds of native components are made at the program's start from its own descriptions: their templates and
//! bodies.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::mem::size_of;
use core::ptr;

use drystone_component::{Body, Interface, Offered, Program, Required, Role, Str, Table, Template};

use super::interface::{Binding, Declaration};
use super::kind::Kind;
use super::running::{RUN, finally, main};
use crate::layout::{Instance, NativeBody, OfferedSlot, Process, RequiredSlot};

/// What a kind of native component is, seen from outside.
#[derive(Clone, Copy, Debug, Default)]
pub struct Design<'a> {
    /// What it offers.
    pub offers: &'a [&'static Declaration],
    /// What it requires.
    pub requires: &'a [Requirement],
    /// [`Component::begin`](super::Component::begin) is called, in a process of its own.
    pub is_active: bool,
}

/// An interface that a kind requires.
#[derive(Clone, Copy, Debug)]
pub struct Requirement {
    /// Which.
    pub declaration: &'static Declaration,
    /// 0: one port. Else a cardinality, and how many ports there may be at most (`u32::MAX` for `*`).
    pub most: u32,
}

impl From<&'static Declaration> for Requirement {
    fn from(declaration: &'static Declaration) -> Requirement {
        Requirement { declaration, most: 0 }
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
        Kind::of(program, name, Design { offers, ..Design::default() })
    }

    /// Describes a kind of component that may also require interfaces, and have a process of its own.
    ///
    /// # Errors
    /// As for [`Kind::new`].
    pub fn of(
        program: &'static Program,
        name: &'static str,
        design: Design<'_>,
    ) -> Result<&'static Kind, String> {
        let binding = |declaration: &&'static Declaration| Binding::new(program, declaration);
        let bindings = design.offers.iter().map(binding).collect::<Result<Vec<_>, _>>()?;
        let required = design.requires.iter().map(|requirement| binding(&requirement.declaration));
        let required = required.collect::<Result<Vec<_>, _>>()?;
        let shim = program.native_shim;
        let services = bindings.iter().map(|b| body(shim, b.interface, b.service_size(), RUN));
        let of_its_own = |size: usize, native| body(shim, ptr::null(), size, native);
        let last = [
            of_its_own(size_of::<Process>(), finally),
            of_its_own(size_of::<Process>() + size_of::<usize>(), main),
        ];
        let mut room = Room::new();
        let template = Template {
            name: Str::new(name),
            location: u32::MAX,
            isolated: false,
            virtual_time: false,
            role: Role::Own,
            offered: leak(bindings.iter().enumerate().map(|(i, b)| offered(b, i, &mut room)).collect()),
            required: leak(
                required.iter().zip(design.requires).map(|(b, r)| requires(b, r.most, &mut room)).collect(),
            ),
            bodies: leak(services.chain(last).collect()),
            main: if design.is_active { bindings.len() as u32 + 1 } else { Template::NO_BODY },
            finally: bindings.len() as u32,
            main_process: room.take(size_of::<usize>()),
            owned: Table::new(&[]),
            // Its last word is its own.
            size: room.take(size_of::<usize>()) + size_of::<usize>() as u32,
        };
        Ok(Box::leak(Box::new(Kind { template, bindings, required })))
    }
}

/// The room in an instance that is given away already.
struct Room {
    taken: usize,
}

impl Room {
    fn new() -> Room {
        Room { taken: size_of::<Instance>() }
    }

    /// Where so many bytes begin.
    fn take(&mut self, bytes: usize) -> u32 {
        self.taken += bytes;
        (self.taken - bytes) as u32
    }
}

fn offered(binding: &Binding, index: usize, room: &mut Room) -> Offered {
    Offered::plain(binding.interface, room.take(size_of::<OfferedSlot>()), index as u32)
}

fn requires(binding: &Binding, most: u32, room: &mut Room) -> Required {
    let size = if most == 0 { size_of::<RequiredSlot>() } else { size_of::<usize>() };
    Required { interface: binding.interface, offset: room.take(size), slots: most }
}

/// A body that is native code.
pub(crate) fn body(entry: *const u8, interface: *const Interface, size: usize, native: NativeBody) -> Body {
    Body {
        entry,
        size: size as u32,
        condition: 0,
        frame: 0,
        owned: Table::new(&[]),
        finally: ptr::null(),
        interface,
        native: native as *const u8,
    }
}

/// A table that lives for ever.
pub(crate) fn leak<T>(entries: Vec<T>) -> Table<T> {
    Table::new(Box::leak(entries.into_boxed_slice()))
}
