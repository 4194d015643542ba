//! Slots: the encoding of instructions (RFC 9669, section 3).

/// Eight bytes of a program, little-endian: an instruction, or the second half of a 64-bit immediate (section 3.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slot {
    /// Class, operation, source or size: section 3, Table 2.
    pub opcode: u8,
    /// The register that is written, or that holds an address: 0 to 10 in valid programs.
    pub destination: u8,
    /// The register that is read, or the kind of an immediate.
    pub source: u8,
    /// Is added to an address; of jumps, a number of slots.
    pub offset: i16,
    /// The immediate operand.
    pub immediate: i32,
}

impl Slot {
    /// Bytes of a slot.
    pub const BYTES: usize = 8;

    /// Decodes a slot.
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

    /// Encodes a slot.
    pub fn bytes(self) -> [u8; Self::BYTES] {
        let [a, b] = self.offset.to_le_bytes();
        let [c, d, e, f] = self.immediate.to_le_bytes();
        [self.opcode, self.source << 4 | self.destination & 0xf, a, b, c, d, e, f]
    }
}

/// Classes: the low three bits of opcodes (section 3.1).
pub(super) mod class {
    pub const LD: u8 = 0;
    pub const LDX: u8 = 1;
    pub const ST: u8 = 2;
    pub const STX: u8 = 3;
    pub const ALU: u8 = 4;
    pub const JMP: u8 = 5;
    pub const JMP32: u8 = 6;
    pub const ALU64: u8 = 7;
}

/// Modes: the high three bits of loads and stores (section 5).
pub(super) mod mode {
    pub const MEM: u8 = 0x60;
    pub const MEMSX: u8 = 0x80;
    pub const ATOMIC: u8 = 0xc0;
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
