//! The kernel copies from and to users' memory. The processor checks whether an address is the user's: a fault during a
//! copy ends it.

use core::arch::{asm, global_asm};
use core::ops::Range;
use core::sync::atomic::AtomicBool;
use core::sync::atomic::Ordering::Relaxed;

use kortex_hal::exception::{Context, Register};
use kortex_hal::x86_64::registers::control::{Cr4, Cr4Flags};
use kortex_hal::x86_64::registers::rflags::{self, RFlags};

use crate::domain::{USERS, USERS_END};

/// The memory isn't the user's, or may not be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forbidden;

unsafe extern "C" {
    fn kortex_copy(to: *mut u8, from: *const u8, count: usize) -> usize;
    static kortex_copies: u8;
    static kortex_copied: u8;
    static kortex_copy_failed: u8;
}

/// Whether access to users' memory has to be enabled for each copy (SMAP).
static IS_GUARDED: AtomicBool = AtomicBool::new(false);

/// Finds out whether the processor guards users' memory from the kernel (SMAP).
pub fn begin() {
    IS_GUARDED.store(Cr4::read().contains(Cr4Flags::SUPERVISOR_MODE_ACCESS_PREVENTION), Relaxed);
}

/// Whether a guarded processor lets the kernel access users' memory now. Only a copy opens it.
pub fn is_open() -> bool {
    IS_GUARDED.load(Relaxed) && rflags::read().contains(RFlags::ALIGNMENT_CHECK)
}

/// Whether an address is in the users' range.
pub fn is_users(at: u64) -> bool {
    (USERS..USERS_END).contains(&(at as usize))
}

fn check(at: u64, count: usize) -> Result<usize, Forbidden> {
    let range: Range<usize> = USERS..USERS_END;
    let at = at as usize;
    let end = at.checked_add(count).ok_or(Forbidden)?;
    if at >= range.start && end <= range.end { Ok(at) } else { Err(Forbidden) }
}

fn copy(to: *mut u8, from: *const u8, count: usize) -> Result<(), Forbidden> {
    let is_guarded = IS_GUARDED.load(Relaxed);
    // SAFETY: one of the two is the kernel's own; the processor checks that the other is the user's.
    let left = unsafe {
        if is_guarded {
            asm!("stac", options(nomem, nostack));
        }
        let left = kortex_copy(to, from, count);
        if is_guarded {
            asm!("clac", options(nomem, nostack));
        }
        left
    };
    if left == 0 { Ok(()) } else { Err(Forbidden) }
}

/// Reads from users' memory in the active address space.
///
/// # Errors
/// It isn't the user's.
pub fn read(from: u64, to: &mut [u8]) -> Result<(), Forbidden> {
    let from = check(from, to.len())?;
    copy(to.as_mut_ptr(), from as *const u8, to.len())
}

/// Writes to users' memory in the active address space.
///
/// # Errors
/// It isn't the user's, or the user may not write it.
pub fn write(to: u64, from: &[u8]) -> Result<(), Forbidden> {
    let to = check(to, from.len())?;
    copy(to as *mut u8, from.as_ptr(), from.len())
}

/// For the page-fault handler: if the fault was in a copy, the copy fails and the kernel goes on.
pub fn fail(context: &mut Context) -> bool {
    let address = |symbol: *const u8| symbol as u64;
    let (start, end) = (address(&raw const kortex_copies), address(&raw const kortex_copied));
    let is_copy = !context.is_user() && (start..end).contains(&context.rip);
    if is_copy {
        context.rip = address(&raw const kortex_copy_failed);
        // The copy's result: how many bytes are left.
        let left = *context.register(Register::Rcx);
        *context.register(Register::Rax) = left.max(1);
    }
    is_copy
}

global_asm!(
    ".pushsection .text.kortex_copy, \"ax\"",
    ".balign 16",
    ".global kortex_copy",
    ".global kortex_copies",
    ".global kortex_copied",
    ".global kortex_copy_failed",
    "kortex_copy:",
    "mov rcx, rdx",
    "xor eax, eax",
    "kortex_copies:",
    "rep movsb",
    "kortex_copied:",
    "ret",
    "kortex_copy_failed:",
    "ret",
    ".popsection",
);
