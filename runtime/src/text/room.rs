//! How large the block of a text is, and how much room a text gets that grows.

use core::hint::assert_unchecked;

use crate::layout::{TEXT_BYTES, TextHead};

/// Blocks are multiples of this; small ones have no other sizes anyway.
const STEP: usize = 8;
/// Up to so many bytes, a text that grows moves rather than take more room than it needs.
const SMALL: usize = 64;

/// How large the block of a text is, as [`TextHead::count`] says: just large enough, or of one of a series of sizes,
/// each about a fifth larger than the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room(pub u8);

impl Room {
    /// Just enough.
    pub const NONE: Room = Room(0);

    /// The text is a slice, which has a block of its own kind. (As a size, it would be smaller than any that is used.)
    pub const SLICE: Room = Room(1);

    /// It is no text but a record, whose block says itself how large it is. (Not used as a size either.)
    pub const RECORD: Room = Room(2);

    /// It is no text but a sequence, which says elsewhere how large its block is. (Not used as a size either.)
    pub const SEQUENCE: Room = Room(3);

    /// Whether the block is that of a slice, record or sequence. One comparison tells.
    #[inline]
    pub fn is_of_a_kind(self) -> bool {
        self.0.wrapping_sub(Room::SLICE.0) <= Room::SEQUENCE.0 - Room::SLICE.0
    }

    /// The room of a text.
    ///
    /// # Safety
    /// `text` is live.
    #[inline]
    pub unsafe fn of(text: *const TextHead) -> Room {
        // SAFETY: the head is live. Other threads only change what is above the lowest byte.
        Room(unsafe { text.cast::<u8>().read() })
    }

    /// For a text that has grown to a length, and may grow again.
    pub fn for_growing(length: usize) -> Room {
        let needed = TEXT_BYTES.saturating_add(length);
        if needed <= SMALL {
            return Room::NONE;
        }
        Room::holding(needed.saturating_add(needed / 4))
    }

    /// The smallest of the series of sizes that has so many bytes.
    pub fn holding(bytes: usize) -> Room {
        // The size is of three bits, the first of which is 1, and some zeros.
        let steps = bytes.div_ceil(STEP).max(4);
        let zeros = usize::BITS - steps.leading_zeros() - 3;
        let first = steps.div_ceil(1 << zeros);
        Room((zeros as usize * 4 + first - 4) as u8)
    }

    /// Bytes of a block of that size of the series.
    pub fn size(self) -> usize {
        ((usize::from(self.0 & 3) + 4) * STEP) << (self.0 >> 2)
    }

    /// Bytes of the block of a text of that length, which exists or may exist.
    ///
    /// # Safety
    /// The length isn't 0, and a block of that size fits into memory.
    #[inline]
    pub unsafe fn bytes_of_live(self, length: usize) -> usize {
        let bytes = match self {
            Room::NONE => (TEXT_BYTES + STEP - 1).wrapping_add(length) & !(STEP - 1),
            _ => self.size(),
        };
        // SAFETY: nothing has overflown, and there is room for a byte behind the head.
        unsafe { assert_unchecked(bytes > TEXT_BYTES && bytes.is_multiple_of(STEP)) };
        bytes
    }

    /// Bytes of the block of a text of that length.
    #[inline]
    pub fn bytes(self, length: usize) -> usize {
        if self == Room::NONE {
            // A multiple of 8, or too large in any case.
            return (TEXT_BYTES + STEP - 1).saturating_add(length) & !(STEP - 1);
        }
        let first = usize::from(self.0 & 3) + 4;
        first.checked_mul(1 << (self.0 >> 2)).and_then(|steps| steps.checked_mul(STEP)).unwrap_or(usize::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_room_to_grow_but_not_too_much() {
        for length in (1..5000).chain([1 << 20, (1 << 40) + 12345]) {
            let needed = TEXT_BYTES + length;
            let bytes = Room::for_growing(length).bytes(length);
            assert_eq!(bytes % STEP, 0);
            assert!(bytes >= needed && bytes < needed * 8 / 5 + STEP, "{bytes} for {needed}");
            assert!(needed <= SMALL || bytes >= needed + needed / 4);
            assert!(![Room::SLICE, Room::RECORD, Room::SEQUENCE].contains(&Room::for_growing(length)));
            for room in [Room::NONE, Room::for_growing(length)] {
                // SAFETY: nothing overflows.
                assert_eq!(unsafe { room.bytes_of_live(length) }, room.bytes(length));
            }
        }
    }

    #[test]
    fn no_length_overflows() {
        for length in [usize::MAX, usize::MAX - TEXT_BYTES, usize::MAX / 2, usize::MAX / 5 * 4] {
            for room in [Room::NONE, Room::for_growing(length)] {
                assert!(room.bytes(length) >= length / 8 * 8);
            }
        }
    }
}
