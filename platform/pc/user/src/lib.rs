//! A component of a Drystone program in an address space of its own ([`run`]): what the runtime needs there it asks of the kernel, by
//! `drystone-calls`. It is the same program as the kernel's, linked a second time, by `user.ld`.

#![no_std]
#![cfg(target_arch = "x86_64")]

extern crate alloc;

mod calls;
mod clock;
mod memory;
mod platform;

use alloc::format;
use core::panic::PanicInfo;

use drystone_calls::{START, Start, Stream};
use drystone_component::Template;
pub use drystone_component::Program;
pub use drystone_kortex::Addition;
pub use kortex_hal::memory_functions;

pub use memory::Allocator;
use platform::User;

/// Runs the component that the kernel says, until it is deleted.
///
/// # Safety
/// Called once, as a user's `user_main`, with the program that the kernel has.
pub unsafe fn run(program: &'static Program, additions: &'static [&'static Addition]) -> ! {
    // SAFETY: the kernel has put it there.
    let start = unsafe { &*(START as *const Start) };
    clock::begin(start.counter, start.rate);
    memory::begin(start.pages);
    // SAFETY: a template's description is as far from the program's here as it is in the kernel: both are in one section of one object file.
    let template: &'static Template = unsafe { &*(&raw const *program).byte_offset(start.template).cast() };
    let mut user = User::new(additions);
    calls::write(Stream::Errors, format!("{} {}\n", template.name.get(), clock::now()).as_bytes());
    let _ = &mut user;
    calls::end(0)
}

/// For a user's `#[panic_handler]`: says what is wrong, and ends the domain.
pub fn panic(info: &PanicInfo<'_>) -> ! {
    calls::write(Stream::Errors, format!("error: {info}\n").as_bytes());
    calls::end(101)
}
