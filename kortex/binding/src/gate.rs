//! A user calls the kernel, by a number in its domain's table.

use core::arch::global_asm;
use core::ptr::{null, null_mut};

use kortex_hal::Shared;
use kortex_hal::exception::{self, Context, Register, Trap};
use kortex_hal::segments::{KERNEL_CODE, KERNEL_DATA, USER_CODE, USER_DATA};
use kortex_hal::x86_64::VirtAddr;
use kortex_hal::x86_64::registers::model_specific::{Efer, EferFlags, LStar, SFMask, Star};
use kortex_hal::x86_64::registers::rflags::RFlags;

use crate::domain::{CALLS, CALLS_AT, Domain, REFUSED};

/// By this vector a user makes calls in which its thread may have to wait: all its registers are kept.
pub const WAIT: usize = 0x2e;

/// Where the thread that runs is in domains.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct State {
    /// Where the kernel's own calls begin when it is called.
    pub(crate) kernel_stack: u64,
    /// Whose code runs when it isn't the kernel's.
    pub(crate) domain: *const Domain,
    /// How many ticks an upcall may take yet.
    pub(crate) time: u64,
}

#[repr(C)]
pub(crate) struct Gate {
    user_stack: u64,
    /// Of the thread that runs.
    pub(crate) state: *mut State,
}

pub(crate) static GATE: Shared<Gate> = Shared::new(Gate { user_stack: 0, state: null_mut() });

unsafe extern "C" {
    fn kortex_gate();
}

/// Lets users call.
///
/// # Safety
/// Called once, by the kernel's first code, when exceptions are set up. From then on a thread runs whose [`Activation`]
/// has been entered.
///
/// [`Activation`]: crate::Activation
pub unsafe fn open(trap: &(impl Trap + ?Sized)) {
    // SAFETY: as the caller promises.
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

/// In whose domain the thread that runs is.
pub fn domain() -> &'static Domain {
    // SAFETY: domains stay as long as they have threads.
    unsafe { &*(*(*GATE.get()).state).domain }
}

/// One of the ticks that the running upcall was given has passed. `true`: it was the last one.
pub fn tick() -> bool {
    // SAFETY: in a handler.
    let state = unsafe { &mut *(*GATE.get()).state };
    state.time = state.time.saturating_sub(1);
    state.time == 0
}

/// How many ticks the running upcall may take yet.
pub fn time_left() -> u64 {
    // SAFETY: of the thread that runs.
    unsafe { (*(*GATE.get()).state).time }
}

/// A call that may wait: the number is in rax, what is passed in rsi, rdx, r10 and r8. The answer goes to who has
/// called, whoever goes on.
extern "C" fn wait(context: &mut Context, _: *const ()) {
    use Register::{R8, R10, Rax, Rdx, Rsi};
    let mut word = |register| *context.register(register);
    let called = domain().wait(word(Rax));
    // One by one: of an array of registers a loop would be made.
    let (a, b, c, d) = (word(Rsi), word(Rdx), word(R10), word(R8));
    // SAFETY: the method takes whatever a user says.
    let answer = unsafe { (called.method)(called.this, a, b, c, d) };
    *context.register(Rax) = answer as u64;
}

// The others, in the same registers. Only what calls keep is kept; what the kernel has left in the others the user
// doesn't see.
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
