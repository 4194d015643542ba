//! Tests, of which filters consist: comparisons of a packet's fields with constants.

/// The width of a number in a packet, which has its most significant byte first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Size {
    /// 1
    Byte = 1,
    /// 2
    Half = 2,
    /// 4
    Word = 4,
}

impl Size {
    /// How many bytes.
    pub fn bytes(self) -> u32 {
        self as u32
    }

    /// A mask of all its bits.
    pub fn mask(self) -> u32 {
        u32::MAX >> (32 - 8 * self.bytes())
    }
}

/// A number in a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cell {
    /// Bytes at an offset.
    At {
        /// From the packet's beginning.
        offset: u32,
        /// How many.
        size: Size,
    },
    /// Bytes behind a header of variable length, like IPv4's: its length in words of 4 bytes is in the low four bits of
    /// its first byte.
    Behind {
        /// The offset of that byte. As in classic BPF, the length is added to `offset`, not to this.
        header: u32,
        /// The offset in the packet if the header's length were 0.
        offset: u32,
        /// How many.
        size: Size,
    },
    /// The length of the packet.
    Length,
}

impl Cell {
    /// The greatest offset.
    pub const FARTHEST: u32 = 1 << 24;

    /// One byte at an offset.
    pub fn byte(offset: u32) -> Cell {
        Cell::At { offset, size: Size::Byte }
    }

    /// Two bytes at an offset.
    pub fn half(offset: u32) -> Cell {
        Cell::At { offset, size: Size::Half }
    }

    /// Four bytes at an offset.
    pub fn word(offset: u32) -> Cell {
        Cell::At { offset, size: Size::Word }
    }

    /// A mask of all bits that it can have.
    pub fn mask(self) -> u32 {
        match self {
            Cell::At { size, .. } | Cell::Behind { size, .. } => size.mask(),
            Cell::Length => u32::MAX,
        }
    }

    /// Its value in a packet of at most `u32::MAX` bytes, if the packet is long enough.
    pub fn read(self, packet: &[u8]) -> Option<u32> {
        let (offset, size) = match self {
            Cell::At { offset, size } => (offset as usize, size),
            Cell::Behind { header, offset, size } => {
                (offset as usize + header_length(*packet.get(header as usize)?), size)
            }
            Cell::Length => return u32::try_from(packet.len()).ok(),
        };
        let from = packet.get(offset..)?;
        Some(match size {
            Size::Byte => u32::from(*from.first()?),
            Size::Half => u32::from(u16::from_be_bytes(*from.first_chunk()?)),
            Size::Word => u32::from_be_bytes(*from.first_chunk()?),
        })
    }

    /// A value in the byte order in which the machine (little-endian) loads it from a packet, so that code needn't swap
    /// bytes.
    pub(super) fn as_loaded(self, value: u32) -> u32 {
        match self {
            Cell::At { size, .. } | Cell::Behind { size, .. } => {
                value.swap_bytes() >> (32 - 8 * size.bytes())
            }
            Cell::Length => value,
        }
    }

    pub(super) fn is_near(self) -> bool {
        match self {
            Cell::At { offset, .. } => offset <= Self::FARTHEST,
            Cell::Behind { header, offset, .. } => header.max(offset) <= Self::FARTHEST,
            Cell::Length => true,
        }
    }
}

/// The length of the header with this first byte.
fn header_length(first: u8) -> usize {
    usize::from(first & 15) * 4
}

/// A condition on a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Condition {
    /// Equal.
    Is(u32),
    /// Unequal.
    IsNot(u32),
    /// Within a range, both bounds included.
    Between(u32, u32),
}

impl Condition {
    /// Whether it holds for a number.
    pub fn holds(self, number: u32) -> bool {
        match self {
            Condition::Is(value) => number == value,
            Condition::IsNot(value) => number != value,
            Condition::Between(low, high) => (low..=high).contains(&number),
        }
    }
}

/// A comparison of some bits of a cell. It fails for packets that are too short to have the cell, whatever its
/// condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Test {
    /// The number that is compared.
    pub cell: Cell,
    /// A mask of the bits that are compared. The others count as 0.
    pub mask: u32,
    /// The condition on these bits.
    pub condition: Condition,
}

impl Test {
    /// A cell has this value.
    pub fn is(cell: Cell, value: u32) -> Test {
        Test { cell, mask: cell.mask(), condition: Condition::Is(value) }
    }

    /// A cell has another value.
    pub fn is_not(cell: Cell, value: u32) -> Test {
        Test { cell, mask: cell.mask(), condition: Condition::IsNot(value) }
    }

    /// A cell's value is at least the first and at most the second.
    pub fn between(cell: Cell, low: u32, high: u32) -> Test {
        Test { cell, mask: cell.mask(), condition: Condition::Between(low, high) }
    }

    /// The packet has the cell.
    pub fn has(cell: Cell) -> Test {
        Test { cell, mask: 0, condition: Condition::Is(0) }
    }

    /// The same test of some bits only.
    pub fn masked(self, mask: u32) -> Test {
        Test { mask, ..self }
    }

    /// Whether it holds for a packet.
    pub fn holds(&self, packet: &[u8]) -> bool {
        self.cell.read(packet).is_some_and(|value| self.condition.holds(value & self.mask))
    }

    /// How many bits of the packet it fixes.
    pub(super) fn bits(&self) -> u32 {
        match self.condition {
            Condition::Is(_) => self.mask.count_ones(),
            Condition::IsNot(_) => 0,
            Condition::Between(low, high) => {
                let choices = u64::from(high.saturating_sub(low)) + 1;
                self.mask.count_ones().saturating_sub(choices.next_power_of_two().trailing_zeros())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_read_as_the_wire_has_them() {
        let packet = [0x45, 1, 2, 3, 4, 5];
        assert_eq!(Cell::byte(0).read(&packet), Some(0x45));
        assert_eq!(Cell::half(1).read(&packet), Some(0x0102));
        assert_eq!(Cell::word(2).read(&packet), Some(0x0203_0405));
        assert_eq!(Cell::word(3).read(&packet), None);
        assert_eq!(Cell::Length.read(&packet), Some(6));
        let behind = |header, offset| Cell::Behind { header, offset, size: Size::Half }.read(&packet);
        assert_eq!(behind(4, 0), None);
        assert_eq!(behind(1, 0), Some(0x0405));
        assert_eq!(behind(6, 0), None);
    }

    #[test]
    fn values_are_compared_as_they_are_loaded() {
        assert_eq!(Cell::byte(0).as_loaded(0x12), 0x12);
        assert_eq!(Cell::half(0).as_loaded(0x1234), 0x3412);
        assert_eq!(Cell::word(0).as_loaded(0x1234_5678), 0x7856_3412);
        assert_eq!(Cell::Length.as_loaded(0x1234), 0x1234);
    }

    #[test]
    fn what_leaves_less_choice_fixes_more_bits() {
        let port = Cell::half(36);
        assert_eq!(Test::is(port, 80).bits(), 16);
        assert_eq!(Test::is(port, 0).masked(0xff00).bits(), 8);
        assert_eq!(Test::between(port, 1000, 1003).bits(), 14);
        assert_eq!(Test::between(port, 0, u32::MAX).bits(), 0);
        assert_eq!(Test::is_not(port, 80).bits(), 0);
    }
}
