//! `AT "user:store"`: a component in an address space of its own, with a thread of its own, as a user: it may compute, and talk to those
//! whom it is connected to.

mod calls;
mod load;
pub(crate) mod process;

use alloc::boxed::Box;
use alloc::string::String;

use drystone_component::{Name, Program, Template};
use drystone_runtime::binding::{Hints, ResourceManager};
use drystone_runtime::far::Domain;
use kortex_hal::mmu::AddressSpace;

use crate::threads;
use process::Process;

/// Names of domains.
pub(crate) struct Domains {
    program: &'static Program,
    /// The same program for domains.
    users: &'static [u8],
    /// The kernel's own.
    space: AddressSpace,
    /// Where the next one's `RANDOM` begins.
    seed: u64,
}

impl Domains {
    pub(crate) fn new(
        program: &'static Program,
        users: &'static [u8],
        space: AddressSpace,
        seed: u64,
    ) -> Domains {
        Domains { program, users, space, seed }
    }
}

impl ResourceManager for Domains {
    fn create(
        &mut self,
        template: &'static Template,
        _name: Name<'_>,
        _hints: &Hints<'_>,
    ) -> Result<Box<dyn Domain>, String> {
        if !threads::are_there() {
            // SAFETY: it is the first one, and the kernel's address space.
            unsafe {
                threads::begin(&self.space);
                process::begin();
            }
        }
        let far = (&raw const *template).addr() as isize - (&raw const *self.program).addr() as isize;
        let process = Process::start(&self.space, self.users, far, self.seed).ok_or("out of memory")?;
        self.seed = self.seed.wrapping_add(1);
        core::mem::forget(process);
        Err("not yet".into())
    }
}
