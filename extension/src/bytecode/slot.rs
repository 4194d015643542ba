//! An instruction as it stands in a program's bytes (RFC 9669, section 3).

/// Eight bytes of a program, little-endian: an instruction, or the second half of a 64-bit immediate (section 3.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slot {
    /// Class, operation, source or size: section 3, Table 2.
    pub opcode: u8,
    /// Register that is written, or that an address is in: 0 to 10 in programs that make sense.
    pub destination: u8,
    /// Register that is read, or what an immediate means.
    pub source: u8,
    /// Added to an address, or slots to jump.
    pub offset: i16,
    /// A signed number.
    pub immediate: i32,
}

impl Slot {
    /// Bytes of one.
    pub const BYTES: usize = 8;

    /// Reads one.
    pub fn read(bytes: [u8; Self::BYTES]) -> Slot {
        let [opcode, registers, a, b, c, d, e, f] = bytes;
        Slot {
            opcode,
            destination: registers & 0xf,
            source: registers >> 4,
            offset: i16::from_le_bytes([a, b]),
            immediate: i32::from_le_bytes([c, d, e, f]),
        }
    }

    /// The same as bytes.
    pub fn bytes(self) -> [u8; Self::BYTES] {
        let [a, b] = self.offset.to_le_bytes();
        let [c, d, e, f] = self.immediate.to_le_bytes();
        [self.opcode, self.source << 4 | self.destination & 0xf, a, b, c, d, e, f]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_is_what_its_bytes_say() {
        // r2 = *(u64 *)(r1 + 8)
        let bytes = [0x79, 0x12, 0x08, 0x00, 0xff, 0xff, 0xff, 0xff];
        let slot = Slot::read(bytes);
        assert_eq!(slot, Slot { opcode: 0x79, destination: 2, source: 1, offset: 8, immediate: -1 });
        assert_eq!(slot.bytes(), bytes);
    }
}
