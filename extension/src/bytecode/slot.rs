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

/// The low three bits of opcodes (section 3.1).
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

/// The high three bits of those that load and store (section 5).
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
