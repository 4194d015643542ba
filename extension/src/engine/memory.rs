//! The memory of a program.
//!
//! `unsafe` here: the block is kept by its address, because programs access it at addresses that they compute. It is
//! freed once, by its owner, and lent as bytes only while that is borrowed. Engines access it only where the verifier
//! or a guard has proved the access.

use alloc::{boxed::Box, sync::Arc, vec};
use core::any::Any;
use core::ptr::{NonNull, slice_from_raw_parts_mut, with_exposed_provenance, with_exposed_provenance_mut};
use core::slice;

use crate::{DEPTH, FRAME};

/// A program's stack and, behind it, its own memory. The program's addresses of both don't depend on where they are: a
/// program can be stopped on one machine and resumed on another, and learns nothing of either.
#[derive(Debug)]
pub struct Memory {
    /// Stack, own memory, and room for an access that begins at its last byte.
    block: NonNull<u64>,
    /// The size of the own memory, in bytes.
    size: usize,
    /// The owner of a borrowed block, which keeps it alive; `None`: the block is freed with this.
    lender: Option<Arc<dyn Any + Send + Sync>>,
}

const STACK: usize = DEPTH * FRAME;
const ROOM: usize = 8;

impl Memory {
    /// The program's address of its own memory; the stack lies below.
    pub const BEGIN: u64 = 1 << 30;
    /// The most bytes of own memory.
    pub const MOST: usize = 1 << 30;
    /// Bytes that must be in front of borrowed own memory, for the stack: a page.
    pub const BEFORE: usize = STACK;
    /// Bytes that must be behind borrowed own memory.
    pub const BEHIND: usize = ROOM;

    /// Own memory of at least so many bytes, rounded up to a power of two, all zeros.
    ///
    /// # Panics
    /// If these are more than [`Memory::MOST`].
    pub fn new(bytes: usize) -> Memory {
        let size = bytes.next_power_of_two().max(8);
        assert!(size <= Self::MOST, "a program can't have {bytes} bytes of memory");
        let block: Box<[u64]> = vec![0; (STACK + size + ROOM) / 8].into();
        Memory { block: NonNull::from(Box::leak(block)).cast(), size, lender: None }
    }

    /// Own memory of `size` bytes, a power of two, that is borrowed from `lender`, who may share it.
    ///
    /// # Safety
    /// `own` is a multiple of 8. From [`Memory::BEFORE`] bytes before it to [`Memory::BEHIND`] bytes behind its end is
    /// memory that stays valid while the lender lives. All of it but own memory is this one's alone. Others may access
    /// own memory only if [`Memory::own`] and all others that lend it as bytes aren't called.
    pub unsafe fn lent(own: NonNull<u64>, size: usize, lender: Arc<dyn Any + Send + Sync>) -> Memory {
        assert!(size.is_power_of_two() && (8..=Self::MOST).contains(&size), "{size} bytes of lent memory");
        // SAFETY: so many bytes in front of it are memory.
        let block = unsafe { own.byte_sub(STACK) };
        block.expose_provenance();
        Memory { block, size, lender: Some(lender) }
    }

    /// Bytes of the own memory, a power of two.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Bytes that it takes, stack included.
    pub(crate) fn bytes(&self) -> usize {
        STACK + self.size + ROOM
    }

    /// The own memory.
    pub fn own(&self) -> &[u8] {
        &self.all()[STACK..STACK + self.size]
    }

    /// The own memory.
    pub fn own_mut(&mut self) -> &mut [u8] {
        let size = self.size;
        &mut self.all_mut()[STACK..STACK + size]
    }

    /// Bytes at an address of the program, in its own memory or in its stack.
    pub fn at(&self, address: u64, length: u64) -> Option<&[u8]> {
        let begin = self.offset(address, length)?;
        self.all().get(begin..begin + length as usize)
    }

    /// Bytes that a program says the address of, in its own memory or in its stack.
    pub fn at_mut(&mut self, address: u64, length: u64) -> Option<&mut [u8]> {
        let begin = self.offset(address, length)?;
        self.all_mut().get_mut(begin..begin + length as usize)
    }

    /// The program's address of memory that isn't its own, such as a packet. The program may use it only if the
    /// verifier knows the region.
    pub fn address_of<T>(&self, place: *const T) -> u64 {
        (place.expose_provenance() as u64).wrapping_sub(self.base() as u64)
    }

    /// The machine's address of a program's address, which is not checked.
    pub fn place(&self, address: u64) -> *mut u8 {
        with_exposed_provenance_mut(self.base().wrapping_add(address as usize))
    }

    /// The machine's address of the program's address 0.
    pub(super) fn base(&self) -> usize {
        self.block.as_ptr().expose_provenance().wrapping_add(STACK).wrapping_sub(Self::BEGIN as usize)
    }

    /// The lowest address of stack and own memory, and the bytes of both together.
    pub(super) fn reach(size: usize) -> (u64, u64) {
        (Self::BEGIN - STACK as u64, (STACK + size) as u64)
    }

    /// The value of r10 in the outermost frame.
    pub(super) const OUTERMOST: u64 = Self::BEGIN - (STACK - FRAME) as u64;

    fn offset(&self, address: u64, length: u64) -> Option<usize> {
        let (lowest, reach) = Self::reach(self.size);
        let begin = address.wrapping_sub(lowest);
        (length <= reach && begin <= reach - length).then_some(begin as usize)
    }

    fn all(&self) -> &[u8] {
        // SAFETY: the block has so many bytes, lives as long as this, and nobody changes it while it is borrowed.
        unsafe { slice::from_raw_parts(self.block.as_ptr().cast(), STACK + self.size + ROOM) }
    }

    fn all_mut(&mut self) -> &mut [u8] {
        // SAFETY: the block has so many bytes, lives as long as this, and nobody accesses it while it is borrowed.
        unsafe { slice::from_raw_parts_mut(self.block.as_ptr().cast(), STACK + self.size + ROOM) }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if self.lender.is_some() {
            return;
        }
        let block = slice_from_raw_parts_mut(self.block.as_ptr(), (STACK + self.size + ROOM) / 8);
        // SAFETY: `new` has leaked it from a box of this length, since it has no lender.
        drop(unsafe { Box::from_raw(block) });
    }
}

impl Clone for Memory {
    fn clone(&self) -> Memory {
        let mut memory = Memory::new(self.size);
        memory.all_mut().copy_from_slice(self.all());
        memory
    }
}

// SAFETY: a `Memory` owns its block, or shares ownership with a lender that is `Send`.
unsafe impl Send for Memory {}
// SAFETY: shared, it only lends its block to be read.
unsafe impl Sync for Memory {}

/// A number that a program loads or stores.
pub(super) trait Number: Copy {}
impl Number for u8 {}
impl Number for u16 {}
impl Number for u32 {}
impl Number for u64 {}
impl Number for i8 {}
impl Number for i16 {}
impl Number for i32 {}

/// Loads a number at an address of the program.
///
/// # Safety
/// `base` is that of the program's memory, and the verifier or a guard has proved that the program may read there.
pub(super) unsafe fn read<T: Number>(base: usize, address: u64) -> T {
    // SAFETY: the address is in the block, or in other memory that was exposed by `address_of`.
    unsafe { with_exposed_provenance::<T>(base.wrapping_add(address as usize)).read_unaligned() }
}

/// Stores a number at an address of the program.
///
/// # Safety
/// `base` is that of the program's memory, and the verifier or a guard has proved that the program may write there.
pub(super) unsafe fn write<T: Number>(base: usize, address: u64, value: T) {
    // SAFETY: the address is in the block, or in other memory that was exposed by `address_of`.
    unsafe { with_exposed_provenance_mut::<T>(base.wrapping_add(address as usize)).write_unaligned(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clone_is_another_memory() {
        let mut memory = Memory::new(8);
        memory.own_mut()[3] = 5;
        let mut other = memory.clone();
        other.own_mut()[3] = 6;
        assert_eq!((memory.own()[3], other.own()[3]), (5, 6));
    }

    #[test]
    fn helpers_reach_stack_and_own_memory_and_nothing_else() {
        let mut memory = Memory::new(100);
        assert_eq!(memory.size(), 128);
        let (lowest, end) = (Memory::BEGIN - 4096, Memory::BEGIN + 128);
        memory.at_mut(Memory::BEGIN, 2).unwrap().copy_from_slice(&[1, 2]);
        assert_eq!(memory.own()[..3], [1, 2, 0]);
        assert_eq!(memory.at(lowest, 4096 + 128).unwrap().len(), 4096 + 128);
        assert!(memory.at(end, 0).is_some());
        for (address, length) in
            [(lowest - 1, 1), (end, 1), (end - 1, 2), (0, 1), (lowest, u64::MAX), (u64::MAX, 2)]
        {
            assert!(memory.at(address, length).is_none(), "{address:#x} {length}");
        }
    }
}
