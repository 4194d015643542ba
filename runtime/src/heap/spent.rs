//! Blocks that nobody uses any more, but whose content is still to be dropped, which takes long. They count as in use.
//! What they contain the heap doesn't know: who puts them here empties them in parts.

use super::Heap;

impl Heap {
    /// Keeps a block until somebody empties it.
    ///
    /// # Safety
    /// `block` is in use, and in no list. Only the heap uses its first word until [`Heap::take_spent`] gives it back.
    #[inline]
    pub unsafe fn put_spent(&mut self, block: *mut u8) {
        // SAFETY: the caller promises that nothing else uses the first word.
        unsafe { self.memory.put_spent(block.cast()) };
    }

    /// One of these blocks, whose first word is undefined.
    #[inline]
    pub fn take_spent(&mut self) -> Option<*mut u8> {
        let block = self.memory.take_spent();
        (!block.is_null()).then_some(block.cast())
    }

    /// Whether there are any.
    #[inline]
    pub fn has_spent(&self) -> bool {
        self.memory.has_spent()
    }
}
