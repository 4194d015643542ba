//! Runs a component of a Drystone program in an address space of its own ([`run`]), with the kernel's services as
//! defined in `drystone-calls`. The program is the kernel's own, linked a second time, by `user.ld`.

#![no_std]
#![cfg(target_arch = "x86_64")]

extern crate alloc;

mod calls;
mod clock;
mod memory;
mod platform;

use alloc::boxed::Box;
use alloc::rc::Rc;
use core::fmt::{self, Write};
use core::panic::PanicInfo;

use drystone_calls::{CHANNEL, MOST_BYTES, RING, START, Start, Stream};
pub use drystone_component::Program;
use drystone_component::Template;
pub use drystone_kortex::Addition;
use drystone_kortex::domain::{self, End, Home, Link, Memory, Party, Trust};
use drystone_runtime::{Options, native};
pub use kortex_hal::memory_functions;

pub use memory::Allocator;
use platform::{Harbour, Holder, User};

/// Runs the component that the kernel has chosen, until it is deleted.
///
/// # Safety
/// Called once, as a user's `user_main`, with the program that the kernel has.
pub unsafe fn run(program: &'static Program, additions: &'static [&'static Addition]) -> ! {
    // SAFETY: the kernel has put it there.
    let start = unsafe { &*(START as *const Start) };
    clock::begin(start.counter, start.rate);
    memory::begin(start.pages);
    // SAFETY: a template's description is as far from the program's here as it is in the kernel: both are in one
    // section of one object file.
    let template: &'static Template = unsafe { &*(&raw const *program).byte_offset(start.template).cast() };
    let channel = Memory { base: CHANNEL as *mut u8, capacity: RING, mirrored: false };
    // SAFETY: the kernel has put it there, and has the other end.
    let end = unsafe { End::new(channel, 1, Trust::SameProgram, Box::new(Holder)) };
    let harbour: Rc<Harbour> = Rc::default();
    let home: Rc<dyn Home> = harbour.clone();
    let link = Link::new("the program", (Party::Guest, end), &home, None, start.capacity as u32);
    let carried = drystone_library::on_bare_machines(additions);
    native::bind(program, carried, native::unguarded).expect("the kernel has bound the same before");
    let mut platform = User::new(&harbour, additions);
    let options = Options {
        cores: 1,
        memory_limit: start.memory,
        seed: start.seed,
        is_restless: false,
        system: &mut |_, _| None,
    };
    calls::end(domain::run(program, template, &link, &mut platform, options))
}

/// For a user's `#[panic_handler]`: reports the panic, and ends the domain. There may be no memory.
pub fn panic(info: &PanicInfo<'_>) -> ! {
    let mut message = Message { bytes: [0; MOST_BYTES], count: 0 };
    let _ = writeln!(message, "error: {info}");
    calls::write(Stream::Errors, &message.bytes[..message.count]);
    calls::end(101)
}

/// The beginning of a message, as long as the kernel takes at once.
struct Message {
    bytes: [u8; MOST_BYTES],
    count: usize,
}

impl Write for Message {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = &mut self.bytes[self.count..];
        let fits = room.len().min(text.len());
        room[..fits].copy_from_slice(&text.as_bytes()[..fits]);
        self.count += fits;
        Ok(())
    }
}
