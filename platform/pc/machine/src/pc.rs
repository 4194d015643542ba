//! The machine as a component, on which a system of native components is built.
//!
//! # Soundness
//!
//! The kept machine is written before any other code runs, and used with interrupts off, on one processor.

use core::mem::{self, MaybeUninit};
use core::ops::Range;

use kortex_hal::Shared;
use kortex_hal::mmu::AddressSpace;
use kortex_memory::Memory;
use kortex_memory::buddy::Buddy;

use crate::Machine;

/// The interface that the machine calls when all parts of a system have begun.
pub trait Main {
    /// The system's main function. Interrupts are off.
    fn main(&'static self) -> !;
}

/// The machine, except its memory.
pub trait Platform {
    /// The kernel's address space, which is active and maps all memory to its physical addresses.
    fn space(&self) -> &'static AddressSpace;

    /// The image's command line.
    fn command_line(&self) -> &'static [u8];

    /// A file that was loaded beside the image.
    fn file(&self) -> Option<Range<usize>>;
}

static MACHINE: Shared<MaybeUninit<Machine>> = Shared::new(MaybeUninit::uninit());

/// This machine.
#[derive(Clone, Copy, Debug)]
pub struct Pc(());

impl Pc {
    /// The only one.
    ///
    /// # Safety
    /// [`Pc::keep`] was called before this is used.
    pub const unsafe fn new() -> Pc {
        Pc(())
    }

    /// Keeps the machine.
    ///
    /// # Safety
    /// Called once, first.
    pub unsafe fn keep(machine: Machine) {
        // SAFETY: see the head of this file.
        unsafe { (*MACHINE.get()).write(machine) };
    }

    fn machine(self) -> &'static Machine {
        // SAFETY: the caller of `new` promises that `keep` has been called.
        unsafe { (*MACHINE.get()).assume_init_ref() }
    }
}

impl Platform for Pc {
    fn space(&self) -> &'static AddressSpace {
        &self.machine().space
    }

    fn command_line(&self) -> &'static [u8] {
        self.machine().command_line
    }

    fn file(&self) -> Option<Range<usize>> {
        self.machine().file.clone()
    }
}

impl Memory for Pc {
    fn take(&self) -> Buddy {
        // SAFETY: there is no reference to that field.
        let pages = unsafe { &raw mut (*(*MACHINE.get()).as_mut_ptr()).pages };
        // SAFETY: there is no other reference to that field.
        mem::take(unsafe { &mut *pages })
    }
}
