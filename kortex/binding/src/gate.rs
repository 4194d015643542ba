//! The system call: a user calls the kernel, by a number in its domain's table.

use core::arch::global_asm;
use core::ptr::{null, null_mut};

use kortex_hal::Shared;
use kortex_hal::exception::{self, Context, Register, Trap};
use kortex_hal::segments::{KERNEL_CODE, KERNEL_DATA, USER_CODE, USER_DATA};
use kortex_hal::x86_64::VirtAddr;
use kortex_hal::x86_64::registers::model_specific::{Efer, EferFlags, LStar, SFMask, Star};
use kortex_hal::x86_64::registers::rflags::RFlags;

use crate::domain::{CALLS, CALLS_AT, Domain, REFUSED};

/// The vector of waiting calls, in which the thread may have to wait. All its registers are saved.
pub const WAIT: usize = 0x2e;

/// The running thread's position among domains.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct State {
    /// The kernel stack pointer at a system call.
    pub(crate) kernel_stack: u64,
    /// The domain of its user code.
    pub(crate) domain: *const Domain,
    /// Ticks left for the running upcall.
    pub(crate) time: u64,
}

#[repr(C)]
pub(crate) struct Gate {
    user_stack: u64,
    /// The running thread's state.
    pub(crate) state: *mut State,
}

pub(crate) static GATE: Shared<Gate> = Shared::new(Gate { user_stack: 0, state: null_mut() });

unsafe extern "C" {
    fn kortex_gate();
}

/// Enables system calls.
///
/// # Safety
/// Called once, by the kernel's first code, after exceptions are set up. From then on the running thread has an
/// [`Activation`] that was entered.
///
/// [`Activation`]: crate::Activation
pub unsafe fn open(trap: &(impl Trap + ?Sized)) {
    // SAFETY: the caller promises that this is called once, by the kernel's first code, after exceptions are set up.
    unsafe {
        Efer::update(|flags| flags.insert(EferFlags::SYSTEM_CALL_EXTENSIONS));
        Star::write(USER_CODE, USER_DATA, KERNEL_CODE, KERNEL_DATA)
            .expect("segments are in the order that this needs");
        LStar::write(VirtAddr::from_ptr(kortex_gate as *const ()));
        SFMask::write(
            RFlags::INTERRUPT_FLAG
                | RFlags::DIRECTION_FLAG
                | RFlags::TRAP_FLAG
                | RFlags::ALIGNMENT_CHECK
                | RFlags::NESTED_TASK
                | RFlags::IOPL_LOW
                | RFlags::IOPL_HIGH,
        );
        trap.register(WAIT, wait, null());
        exception::allow_users(WAIT);
    }
}

/// The running thread's domain.
pub fn domain() -> &'static Domain {
    // SAFETY: domains stay as long as they have threads.
    unsafe { &*(*(*GATE.get()).state).domain }
}

/// Takes one tick from the running upcall. `true`: it was the last one.
pub fn tick() -> bool {
    // SAFETY: in a handler.
    let state = unsafe { &mut *(*GATE.get()).state };
    state.time = state.time.saturating_sub(1);
    state.time == 0
}

/// Ticks left for the running upcall.
pub fn time_left() -> u64 {
    // SAFETY: the gate has the running thread's state.
    unsafe { (*(*GATE.get()).state).time }
}

/// A waiting call: the number is in rax, the arguments in rsi, rdx, r10 and r8. The answer goes to the calling context,
/// even if another thread is resumed.
extern "C" fn wait(context: &mut Context, _: *const ()) {
    use Register::{R8, R10, Rax, Rdx, Rsi};
    let mut word = |register| *context.register(register);
    let called = domain().wait(word(Rax));
    // One by one: an array of registers would be compiled to a loop.
    let (a, b, c, d) = (word(Rsi), word(Rdx), word(R10), word(R8));
    // SAFETY: the method accepts any arguments.
    let answer = unsafe { (called.method)(called.this, a, b, c, d) };
    *context.register(Rax) = answer as u64;
}

// The ordinary calls, with the same registers. Callee-saved registers are kept; all others are cleared, so the user
// sees nothing that the kernel left in them.
global_asm!(
    ".pushsection .text.kortex_gate, \"ax\"",
    ".balign 16",
    ".global kortex_gate",
    "kortex_gate:",
    "mov [{gate}], rsp",
    "mov rsp, [{gate} + 8]",
    "mov rsp, [rsp]",
    "push [{gate}]",
    "push rcx",
    "push r11",
    "mov rcx, [{gate} + 8]",
    "mov rcx, [rcx + 8]",
    "cmp rax, {calls}",
    "jae 3f",
    "shl eax, 4",
    "add rax, rcx",
    "mov rcx, r10",
    "mov rdi, [rax + {calls_at} + 8]",
    "call [rax + {calls_at}]",
    "2:",
    "xor edi, edi",
    "xor esi, esi",
    "xor edx, edx",
    "xor r8d, r8d",
    "xor r9d, r9d",
    "xor r10d, r10d",
    "pop r11",
    "pop rcx",
    "pop rsp",
    "sysretq",
    "3:",
    "movabs rax, {refused}",
    "jmp 2b",
    ".popsection",
    gate = sym GATE,
    calls = const CALLS,
    calls_at = const CALLS_AT,
    refused = const REFUSED,
);
