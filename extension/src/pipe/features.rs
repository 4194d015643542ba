//! Detects features of the processor.
//!
//! `unsafe` here: XGETBV asks which registers the operating system saves. That is sound because CPUID has said before
//! that the instruction is there.

#[cfg(target_arch = "x86_64")]
use core::sync::atomic::{AtomicU8, Ordering};

/// The vector registers that code may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Vectors {
    /// None, as in kernels that don't save them.
    None,
    /// Of 128 bits (AVX).
    Bits128,
    /// Of 256 bits (AVX2).
    Bits256,
}

/// Instructions that code may use beyond those of every x86-64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features {
    /// The vector registers.
    pub vectors: Vectors,
    /// Whether there is an instruction for CRC32C (SSE4.2).
    pub crc32c: bool,
}

impl Features {
    /// No features.
    pub const NONE: Features = Features { vectors: Vectors::None, crc32c: false };

    /// The features of both.
    pub fn and(self, other: Features) -> Features {
        Features { vectors: self.vectors.min(other.vectors), crc32c: self.crc32c && other.crc32c }
    }

    /// The features of this machine that the operating system supports.
    #[cfg(target_arch = "x86_64")]
    pub fn detect() -> Features {
        // CPUID traps in virtual machines, so it is executed only once.
        static KNOWN: AtomicU8 = AtomicU8::new(0);
        const IS_KNOWN: u8 = 1 << 7;
        let known = KNOWN.load(Ordering::Relaxed);
        if known & IS_KNOWN != 0 {
            let vectors =
                [Vectors::None, Vectors::Bits128, Vectors::Bits256][usize::from(known >> 1 & 3) % 3];
            return Features { vectors, crc32c: known & 1 != 0 };
        }
        let asked = Features::ask();
        KNOWN.store(IS_KNOWN | (asked.vectors as u8) << 1 | u8::from(asked.crc32c), Ordering::Relaxed);
        asked
    }

    #[cfg(target_arch = "x86_64")]
    fn ask() -> Features {
        use core::arch::x86_64::{__cpuid, __cpuid_count};
        const CRC: u32 = 1 << 20;
        const SAVED: u32 = 1 << 27;
        const AVX: u32 = 1 << 28;
        const AVX2: u32 = 1 << 5;
        let most = __cpuid(0).eax;
        let first = __cpuid(1).ecx;
        let crc32c = first & CRC != 0;
        if first & (SAVED | AVX) != SAVED | AVX || !saves_vectors() {
            return Features { vectors: Vectors::None, crc32c };
        }
        let has_avx2 = most >= 7 && __cpuid_count(7, 0).ebx & AVX2 != 0;
        Features { vectors: if has_avx2 { Vectors::Bits256 } else { Vectors::Bits128 }, crc32c }
    }

    /// No features: none are known for this machine.
    #[cfg(not(target_arch = "x86_64"))]
    pub fn detect() -> Features {
        Features::NONE
    }
}

/// Whether the operating system saves the vector registers of 256 bits.
#[cfg(target_arch = "x86_64")]
fn saves_vectors() -> bool {
    let (low, _high): (u32, u32);
    // SAFETY: the processor has it (OSXSAVE), and it only reads.
    unsafe {
        core::arch::asm!("xgetbv", in("ecx") 0, out("eax") low, out("edx") _high, options(nomem, nostack));
    }
    low & 6 == 6
}
