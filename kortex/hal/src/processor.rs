//! The processor's features, as `cpuid` tells them.

use core::arch::asm;
use core::arch::x86_64::{__cpuid, __cpuid_count};

use x86_64::registers::control::{Cr4, Cr4Flags};

/// The registers in which `cpuid` answers.
#[derive(Clone, Copy)]
enum Register {
    B,
    C,
    D,
}

use Register::{B, C, D};

/// Features by Cranelift's names: the leaf, register and bit of `cpuid` that tell each, and the vector registers that
/// it needs.
const FEATURES: [(&str, u32, u32, Register, u32, u64); 19] = [
    ("sse3", 1, 0, C, 0, SSE),
    ("ssse3", 1, 0, C, 9, SSE),
    ("sse41", 1, 0, C, 19, SSE),
    ("sse42", 1, 0, C, 20, SSE),
    ("popcnt", 1, 0, C, 23, 0),
    ("cmpxchg16b", 1, 0, C, 13, 0),
    ("avx", 1, 0, C, 28, AVX),
    ("avx2", 7, 0, B, 5, AVX),
    ("fma", 1, 0, C, 12, AVX),
    ("bmi1", 7, 0, B, 3, 0),
    ("bmi2", 7, 0, B, 8, 0),
    ("lzcnt", 0x8000_0001, 0, C, 5, 0),
    ("avx512f", 7, 0, B, 16, AVX512),
    ("avx512dq", 7, 0, B, 17, AVX512),
    ("avx512vl", 7, 0, B, 31, AVX512),
    ("avx512vbmi", 7, 0, C, 1, AVX512),
    ("avx512vnni", 7, 0, C, 11, AVX512),
    ("avx512bitalg", 7, 0, C, 12, AVX512),
    ("fsrm", 7, 0, D, 4, 0),
];

const SSE: u64 = 0b11;
const AVX: u64 = 0b111;
const AVX512: u64 = 0b1110_0111;

/// The features that the processor lacks, of a list with blanks between them. Unknown features count as lacking.
pub fn missing(features: &str) -> impl Iterator<Item = &str> {
    features.split_ascii_whitespace().filter(|feature| !has(feature))
}

fn has(feature: &str) -> bool {
    let Some(&(_, leaf, part, register, bit, vectors)) = FEATURES.iter().find(|known| known.0 == feature)
    else {
        return false;
    };
    if __cpuid(leaf & 0x8000_0000).eax < leaf {
        return false;
    }
    let said = __cpuid_count(leaf, part);
    let said = match register {
        B => said.ebx,
        C => said.ecx,
        D => said.edx,
    };
    said & 1 << bit != 0 && vectors & !active_vectors() == 0
}

/// The vector registers that are turned on.
fn active_vectors() -> u64 {
    if !Cr4::read().contains(Cr4Flags::OSXSAVE) {
        return SSE;
    }
    let (low, high): (u32, u32);
    // SAFETY: the instruction reads a register that is there.
    unsafe { asm!("xgetbv", in("ecx") 0, out("eax") low, out("edx") high, options(nomem, nostack)) };
    u64::from(high) << 32 | u64::from(low)
}

/// Whether it has SMAP, which keeps the kernel from users' memory, and with it `stac` and `clac`.
pub(crate) fn has_access_prevention() -> bool {
    __cpuid_count(7, 0).ebx & 1 << 20 != 0
}

/// Turns on all vector registers of `FEATURES` that the processor has.
pub fn use_vectors() {
    const XSAVE: u32 = 1 << 26;
    if __cpuid(1).ecx & XSAVE == 0 {
        return;
    }
    let there = __cpuid_count(0xd, 0);
    let mut wanted = (u64::from(there.edx) << 32 | u64::from(there.eax)) & AVX512;
    if wanted & AVX512 != AVX512 {
        wanted &= AVX;
    }
    // SAFETY: the processor has the registers that are turned on; no state is lost.
    unsafe {
        Cr4::update(|flags| flags.insert(Cr4Flags::OSXSAVE));
        let (low, high) = (wanted as u32, (wanted >> 32) as u32);
        asm!("xsetbv", in("ecx") 0, in("eax") low, in("edx") high, options(nomem, nostack));
    }
}
