//! Blocks: how large they are, in which classes, and what they hold when they are new.

/// Blocks up to this many bytes are carved from chunks; larger ones are got one by one.
pub const SMALL: usize = if cfg!(feature = "exact-memory") { 0 } else { 1024 };
/// The sizes of small blocks are multiples of this, and all blocks are aligned so.
pub(super) const STEP: usize = 8;
/// A class for each size of small blocks.
pub(super) const CLASSES: usize = SMALL / STEP + 1;
/// A free block holds two links.
pub(super) const LEAST: usize = 2 * STEP;
/// Free blocks of one size go to the shared memory when there are so many bytes of them.
pub(super) const BATCH: usize = 8 << 10;
/// The first chunk that a worker gets.
pub(super) const FIRST_CHUNK: usize = 32 << 10;
/// Each chunk is twice as large as the one before, up to this.
pub(super) const LARGEST_CHUNK: usize = 1 << 20;

/// What an allocated block shall hold.
#[derive(Clone, Copy)]
pub(super) enum Content {
    Undefined,
    Zero,
}

#[inline]
pub(super) const fn class_of(bytes: usize) -> usize {
    bytes.div_ceil(STEP)
}

#[inline]
pub(super) const fn size_of_class(class: usize) -> usize {
    if class < LEAST / STEP { LEAST } else { class * STEP }
}

/// Bytes of the blocks in a full batch.
pub(super) const fn batch_bytes(class: usize) -> usize {
    BATCH.div_ceil(size_of_class(class)) * size_of_class(class)
}
