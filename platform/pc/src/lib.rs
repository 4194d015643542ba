//! A Drystone program on a PC without an operating system. [`start`] runs it. The system's interfaces (language
//! reference, section 8) are a serial line, a clock, and files in memory.
//!
//! This crate doesn't know how programs are compiled or scheduled. An image consists of this crate and a compiled
//! program, linked by `machine/image.ld`.

#![no_std]
#![cfg(target_arch = "x86_64")]

extern crate alloc;

mod attention;
mod clock;
mod domains;
mod files;
mod memory;
mod platform;
mod serial_line;
mod settings;
mod store;
mod system;
mod threads;

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::string::String;
use core::ffi::CStr;
use core::fmt::Write;
use core::panic::PanicInfo;

pub use drystone_component::Program;
pub use drystone_kortex::Addition;
pub use drystone_machine::Machine;
use drystone_machine::{Console, end};
use drystone_runtime::native;
pub use kortex_hal::memory_functions;
use kortex_hal::mmu::AddressSpace;
use kortex_hal::x86_64::instructions::interrupts;
use kortex_hal::{debug, processor, time};

use domains::{Domains, Harbour};
pub use memory::Allocator;
use platform::Pc;
use serial_line::Line;
use settings::Settings;
use store::Store;
use system::Ground;

/// The contents of an image.
#[derive(Clone, Copy)]
pub struct Image {
    /// The compiled program.
    pub program: &'static Program,
    /// The processor's features that the program needs.
    pub needed: &'static CStr,
    /// The initial files, a tar archive; may be empty.
    pub files: &'static [u8],
    /// The program, linked for domains, an ELF file; empty if there are no domains.
    pub users: &'static [u8],
    /// Extra crates, with what they add.
    pub additions: &'static [&'static Addition],
}

/// The status of a machine that can't run a program at all.
const UNFIT: i64 = 2;

/// Runs the program, and ends the machine with its status.
///
/// # Safety
/// Called once, as an image's `machine_main`.
pub unsafe fn start(machine: Machine, image: Image) -> ! {
    let Machine { pages, space, command_line, .. } = machine;
    memory::begin(pages);
    processor::use_vectors();
    if let Some(missing) = processor::missing(image.needed.to_str().unwrap_or_default()).next() {
        let _ = writeln!(
            Console,
            "error: this processor has no {missing}, which the image was built for\n  \
             = help: give it one that has (QEMU: -cpu max), or, if the image was built with --cpu, build it \
             for older ones"
        );
        end(1);
    }
    // SAFETY: the caller promises that this is called once; interrupts are off.
    if unsafe { clock::begin() }.is_none() {
        let _ = writeln!(Console, "error: this machine has no timer (8254), by which its clock is set");
        end(1);
    }
    // SAFETY: the caller promises that this is called once; interrupts are off.
    let line = unsafe { Line::new() };
    interrupts::enable();
    // From now on an emulator may pass on its standard input. Earlier input is kept, but slows the line down.
    debug::write(b"\x1eready\n");
    match run(line, space, Settings::of(command_line), image) {
        Ok(status) => end(status),
        Err(why) => {
            let _ = writeln!(Console, "error: {why}");
            end(UNFIT)
        }
    }
}

fn run(line: Rc<Line>, space: AddressSpace, settings: Settings, image: Image) -> Result<i64, String> {
    let Image { program, files, users, additions, .. } = image;
    let store = Store::of(files).ok_or("the image's files are no tar archive")?;
    let seed = settings.seed.unwrap_or_else(time::counter);
    let memory_limit = if settings.memory == 0 { usize::MAX } else { settings.memory };
    let harbour: Rc<Harbour> = Rc::default();
    let domains =
        (!users.is_empty()).then(|| Domains { program, users, space, seed, harbour: harbour.clone() });
    let carried = drystone_library::on_bare_machines(additions);
    native::bind(program, carried, native::unguarded)?;
    let mut pc = Pc::new(&line, &harbour, additions, domains);
    let ground = Ground { program, additions, settings, line, store: Rc::new(store) };
    let (kind, system) = system::make(&ground)?;
    // The runtime asks for each interface until it has a component that offers it.
    let mut system = Some(system);
    let mut find = |worker, _: &str| {
        // SAFETY: the runtime asks on its home worker, with it.
        system.take().map(|system| unsafe { kind.instance(worker, Box::new(system)) })
    };
    let options =
        drystone_runtime::Options { cores: 1, memory_limit, seed, is_restless: false, system: &mut find };
    let outcome = drystone_runtime::run(program, &mut pc, options);
    harbour.abandon();
    Ok(outcome.status)
}

/// For an image's `#[panic_handler]`: says what is wrong, and ends the machine.
pub fn panic(info: &PanicInfo<'_>) -> ! {
    let _ = writeln!(Console, "error: {info}");
    end(101)
}
