//! The flat model: one address space maps all memory from the beginning. It has the interface of the other models, so
//! that code that maps memory needn't know the model.

use core::ops::Range;

use kortex_hal::mmu::{Access, Refused};

use crate::{PAGE, Space};

/// All memory, mapped by the boot code.
#[derive(Clone, Debug)]
pub struct Flat {
    memory: Range<usize>,
}

impl Flat {
    /// An address space with this memory.
    pub const fn new(memory: Range<usize>) -> Flat {
        Flat { memory }
    }
}

impl Space for Flat {
    fn map(&self, at: usize, pages: usize, _: Access) -> Result<(), Refused> {
        let end = pages.checked_mul(PAGE).and_then(|bytes| at.checked_add(bytes));
        let is_there = at >= self.memory.start && end.is_some_and(|end| end <= self.memory.end);
        if is_there { Ok(()) } else { Err(Refused::NoMemory) }
    }

    unsafe fn unmap(&self, _: usize, _: usize) {}
}
