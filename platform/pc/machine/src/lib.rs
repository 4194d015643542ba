//! Takes a PC from its first instruction to a kernel's main function: segments, exceptions, interrupt controllers,
//! memory. The rest is up to the kernel, which defines [`machine_main`].
//!
//! An image is linked by `image.ld`, beside this crate's sources.
//!
//! # Soundness
//!
//! The machine begins in `boot`, once, with one processor. This crate's statics are written before any other code runs.

#![no_std]
#![cfg(target_arch = "x86_64")]

mod boot;
mod info;
mod memory;
mod pc;
mod report;

use core::cell::UnsafeCell;
use core::mem::MaybeUninit;
use core::ops::Range;
use core::ptr::null;

use kortex_hal::exception::{self, Context, OWN, Processor, Trap};
use kortex_hal::mmu::AddressSpace;
use kortex_hal::{Shared, interrupt, segments};
use kortex_memory::buddy::Buddy;

use info::{Info, StartInfo};
pub use pc::{Main, Pc, Platform};
pub use report::{Console, Part, end, fatal, panic};

/// The machine, as a kernel's main function gets it.
#[derive(Debug)]
pub struct Machine {
    /// All free memory.
    pub pages: Buddy,
    /// The kernel's address space, which is active and maps all memory to its physical addresses.
    pub space: AddressSpace,
    /// The image's command line.
    pub command_line: &'static [u8],
    /// A file that was loaded beside the image.
    pub file: Option<Range<usize>>,
}

unsafe extern "Rust" {
    /// The kernel's main function, which it defines as `#[unsafe(no_mangle)] fn machine_main(machine: Machine) -> !`.
    /// Interrupts are off, and of devices only the controllers are set up.
    ///
    /// # Safety
    /// Called by this crate only.
    fn machine_main(machine: Machine) -> !;
}

/// A stack.
#[repr(C, align(16))]
struct Stack<const BYTES: usize>(UnsafeCell<[u8; BYTES]>);

// SAFETY: only the processor uses the stack.
unsafe impl<const BYTES: usize> Sync for Stack<BYTES> {}

impl<const BYTES: usize> Stack<BYTES> {
    const fn new() -> Stack<BYTES> {
        Stack(UnsafeCell::new([0; BYTES]))
    }

    fn top(&self) -> *mut u8 {
        self.0.get().cast::<u8>().wrapping_add(BYTES)
    }
}

/// The stack of exception handlers.
static HANDLERS: Stack<{ 16 * 1024 }> = Stack::new();
/// The stack of handlers of fatal exceptions.
static FATAL: Stack<{ 8 * 1024 }> = Stack::new();
/// The first current context.
static FIRST: Shared<MaybeUninit<Context>> = Shared::new(MaybeUninit::uninit());

static INFO: Shared<Info> = Shared::new(Info::new());

/// Called by the first instructions.
///
/// # Safety
/// Called by them only.
unsafe extern "C" fn begin(said: &'static StartInfo) -> ! {
    // SAFETY: see the head of this file.
    unsafe {
        segments::load();
        exception::load(FIRST.get().cast(), HANDLERS.top(), FATAL.top());
        for vector in 0..OWN {
            Processor.register(vector, report::fatal, null());
        }
        let info = &mut *INFO.get();
        if !info.keep(said) {
            report::stop("the loader says nothing of the machine: it begins by PVH only");
        }
        let info = &*info;
        let Some((pages, space)) = memory::take(info) else {
            report::stop("there is too little memory");
        };
        interrupt::load();
        let (command_line, file) = (info.command_line(), info.modules().next());
        machine_main(Machine { pages, space, command_line, file })
    }
}
