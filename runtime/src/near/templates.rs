//! Templates of the components that stand for something elsewhere.
//!
//! A template lives for ever and never changes; there is one for each interface (or template) and role of a program. An
//! instance of it has one word at its end that is its own.

use alloc::vec::Vec;
use core::mem::size_of;
use core::ptr;

use drystone_component::{Interface, Offered, Required, Role, Table, Template};

use crate::communication::moving::cell_offset;
use crate::home::AtHome;
use crate::layout::*;
use crate::native::{body, leak};

/// Where the slot of the one interface is.
pub const SLOT: u32 = size_of::<Instance>() as u32;

/// What a component that stands for something elsewhere runs.
#[derive(Clone, Copy)]
pub struct Bodies {
    /// Its service processes.
    pub serve: NativeBody,
    /// Its FINALLY.
    pub finally: NativeBody,
}

/// The template of a role for something, which `make` makes if it isn't there.
fn template<T>(
    at: AtHome,
    what: &'static T,
    role: Role,
    make: impl FnOnce(*const u8) -> Template,
) -> &'static Template {
    // SAFETY: at home; making a template uses no templates of the home's. Other fields of it may be in use.
    let (templates, program) = unsafe { (&mut (*at.data()).templates, (*at.data()).program) };
    templates.get(what, role, || make(program.native_shim))
}

/// The template of proxies for an interface.
pub fn proxy(at: AtHome, interface: &'static Interface, bodies: Bodies) -> &'static Template {
    template(at, interface, Role::Proxy, |shim| serving(interface, shim, bodies))
}

/// The template of clients from elsewhere.
pub fn client(at: AtHome, interface: &'static Interface, run: NativeBody) -> &'static Template {
    template(at, interface, Role::Client, |shim| active(interface, Role::Client, shim, run, true))
}

/// The template of listeners, which wait for those.
pub fn listener(at: AtHome, interface: &'static Interface, run: NativeBody) -> &'static Template {
    template(at, interface, Role::Listener, |shim| active(interface, Role::Listener, shim, run, false))
}

/// The template of proxies for components of a template in other domains: its slots are where that one's are.
pub fn remote(at: AtHome, of: &'static Template, main: NativeBody, bodies: Bodies) -> &'static Template {
    template(at, of, Role::Remote, |shim| standing_for(of, shim, main, bodies))
}

/// Offers the interface; the first body serves it, the second is FINALLY.
fn serving(interface: &'static Interface, shim: *const u8, bodies: Bodies) -> Template {
    let offered = Offered { limit: Offered::BINDING, ..Offered::plain(interface, SLOT, 0) };
    let service = body(shim, interface, cell_offset(interface) + size_of::<usize>(), bodies.serve);
    let finally = body(shim, ptr::null(), size_of::<Process>(), bodies.finally);
    Template {
        offered: leak(Vec::from([offered])),
        bodies: leak(Vec::from([service, finally])),
        finally: 1,
        ..plain(interface, Role::Proxy, size_of::<OfferedSlot>())
    }
}

/// Requires the interface, and has a main process.
fn active(
    interface: &'static Interface,
    role: Role,
    shim: *const u8,
    run: NativeBody,
    isolated: bool,
) -> Template {
    let main = body(shim, ptr::null(), size_of::<Process>(), run);
    let slot = size_of::<RequiredSlot>();
    Template {
        required: leak(Vec::from([Required { interface, offset: SLOT, slots: 0 }])),
        bodies: leak(Vec::from([main])),
        main: 0,
        main_process: SLOT + slot as u32,
        isolated,
        ..plain(interface, role, slot + size_of::<*mut Process>())
    }
}

fn standing_for(of: &'static Template, shim: *const u8, main: NativeBody, bodies: Bodies) -> Template {
    let services = of.offered.get();
    let offered = services.iter().enumerate().map(|(i, offered)| Offered {
        limit: offered.limit,
        connectable: offered.connectable,
        ..Offered::plain(offered.interface, offered.offset, i as u32)
    });
    let service = |offered: &Offered| {
        // SAFETY: a program's descriptions live for ever.
        let interface = unsafe { &*offered.interface };
        body(shim, interface, cell_offset(interface) + size_of::<usize>(), bodies.serve)
    };
    let process = |run| body(shim, ptr::null(), size_of::<Process>(), run);
    let bodies = services.iter().map(service).chain([process(main), process(bodies.finally)]);
    let own = of.size.next_multiple_of(size_of::<usize>() as u32);
    Template {
        name: of.name,
        location: of.location,
        size: own + 2 * size_of::<usize>() as u32,
        isolated: of.isolated,
        virtual_time: false,
        role: Role::Remote,
        offered: leak(offered.collect()),
        required: Table::new(of.required.get()),
        bodies: leak(bodies.collect()),
        main: services.len() as u32,
        finally: services.len() as u32 + 1,
        main_process: own,
        owned: Table::new(&[]),
    }
}

/// With slots of so many bytes, and behind them the word of its own.
fn plain(interface: &'static Interface, role: Role, slots: usize) -> Template {
    Template {
        name: interface.name,
        location: u32::MAX,
        size: (size_of::<Instance>() + slots + size_of::<usize>()) as u32,
        isolated: false,
        virtual_time: false,
        role,
        offered: Table::new(&[]),
        required: Table::new(&[]),
        bodies: Table::new(&[]),
        main: Template::NO_BODY,
        finally: Template::NO_BODY,
        main_process: 0,
        owned: Table::new(&[]),
    }
}
