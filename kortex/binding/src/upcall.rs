//! An upcall: the kernel calls a function of another domain, in its address space and with its rights. The upcall ends
//! when the domain makes the first of its calls, when its time is over, or when it commits a fault.
//!
//! Meanwhile the kernel's own work is suspended on the thread's kernel stack, and `kortex_return` resumes it. A
//! thread's first domain runs as an upcall without a caller: its return ends the thread.

use core::arch::global_asm;
use core::ptr::{eq, null};

use kortex_hal::Shared;
use kortex_hal::exception::{Register, Trap};
use kortex_hal::segments::{KERNEL_CODE, KERNEL_DATA};
use kortex_thread::Thread;

use crate::activation::{Activation, TOLD, left};
use crate::domain::{BUSY, CONDITION, Domain, ENTRY, ROOT, STACK};
use crate::gate::{self, GATE};

/// Why an upcall has no answer.
#[repr(u64)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failed {
    /// The domain is busy, or dead.
    Unavailable = 1,
    /// It ran out of time.
    Timeout = 2,
    /// It committed a fault.
    Fault = 3,
}

/// The result, as it is returned in registers.
#[repr(C)]
struct Answer {
    answer: i64,
    failed: u64,
}

unsafe extern "C" {
    fn kortex_upcall(domain: *const Domain, time: u64, this: u64, a: u64, b: u64, c: u64) -> Answer;
    fn kortex_abort();
}

/// Calls a domain's entry for at most `time` ticks, with the domain's own word for the component (`this`) and three
/// words.
///
/// # Errors
/// There is no answer.
///
/// # Safety
/// Called by a method, on a thread's kernel stack.
#[inline]
pub unsafe fn call(
    domain: &'static Domain,
    time: u64,
    this: u64,
    [a, b, c]: [u64; 3],
) -> Result<i64, Failed> {
    // SAFETY: the caller promises that a method calls this, on a thread's kernel stack.
    let Answer { answer, failed } = unsafe { kortex_upcall(domain, time, this, a, b, c) };
    match failed {
        0 => Ok(answer),
        1 => Err(Failed::Unavailable),
        2 => Err(Failed::Timeout),
        _ => Err(Failed::Fault),
    }
}

/// Aborts the running thread's code in its current domain, which is dead from now on. The caller of the upcall gets the
/// error `why`; a thread's first domain has no caller, and the thread ends. A signal handler of this domain is over; a
/// handler in a domain that has called this one is not.
///
/// # Safety
/// Called in the handler of an exception that interrupted the thread's user code.
pub unsafe fn abort(trap: &(impl Trap + ?Sized), thread: &Thread<Activation>, why: Failed) {
    let Activation { state, told, .. } = &thread.local;
    let domain = gate::domain();
    // SAFETY: the caller promises that an exception interrupted the thread's user code; contexts stay as long as the
    // thread.
    let context = unsafe {
        if eq(told.get(), domain) {
            told.set(null());
            trap.set_current(thread.first());
        }
        &mut *trap.current()
    };
    domain.die();
    context.rip = kortex_abort as *const () as u64;
    (context.cs, context.ss) = (u64::from(KERNEL_CODE.0), u64::from(KERNEL_DATA.0));
    // SAFETY: the state is that of the running thread, which is interrupted.
    context.rsp = unsafe { (*state.get()).kernel_stack };
    // Only the bit that is always set: interrupts are off.
    context.rflags = 2;
    *context.register(Register::Rdx) = why as u64;
}

/// Called with its argument when a thread has ended: it calls the scheduler.
type Ended = (unsafe extern "C" fn(of: *const ()), *const ());

static ENDED: Shared<Ended> = Shared::new((nothing, null()));

/// # Safety
/// None: it uses no argument.
unsafe extern "C" fn nothing(_: *const ()) {}

/// Sets what is called when a thread has ended. It runs on the handlers' stack, and must make another context the
/// current one.
///
/// # Safety
/// `ended` may be called with `of` whenever a thread ends.
pub unsafe fn on_end(ended: unsafe extern "C" fn(of: *const ()), of: *const ()) {
    // SAFETY: the caller promises that `ended` may be called with `of` whenever a thread ends.
    unsafe { *ENDED.get() = (ended, of) };
}

global_asm!(
    ".pushsection .text.kortex_upcall, \"ax\"",
    ".balign 16",
    ".global kortex_upcall",
    "kortex_upcall:",
    "cmp qword ptr [rdi + {condition}], 0",
    "jne 2f",
    "mov qword ptr [rdi + {condition}], {busy}",
    "push rbx",
    "push rbp",
    "push r12",
    "push r13",
    "push r14",
    "push r15",
    "mov rax, [{gate} + 8]",
    "push [rax]",
    "push [rax + 8]",
    "push [rax + 16]",
    "push rdi",
    "mov [rax], rsp",
    "mov [rax + 8], rdi",
    "mov [rax + 16], rsi",
    "mov rax, [rdi + {root}]",
    "mov cr3, rax",
    "mov rsi, rcx",
    "mov rcx, [rdi + {entry}]",
    "mov rsp, [rdi + {stack}]",
    "mov rdi, rdx",
    "mov rdx, r8",
    "mov r10, r9",
    "mov r11d, 0x202",
    "xor eax, eax",
    "xor ebx, ebx",
    "xor ebp, ebp",
    "xor r8d, r8d",
    "xor r9d, r9d",
    "xor r12d, r12d",
    "xor r13d, r13d",
    "xor r14d, r14d",
    "xor r15d, r15d",
    "sysretq",
    "2:",
    "mov edx, 1",
    "ret",
    ".balign 16",
    ".global kortex_return",
    "kortex_return:",
    "mov rax, rsi",
    "xor edx, edx",
    "mov rsi, [{gate} + 8]",
    "cmp qword ptr [rsi + {told}], 0",
    "jne 3f",
    "2:",
    "mov rsp, [rsi]",
    "pop rcx",
    "and qword ptr [rcx + {condition}], ~{busy}",
    "pop [rsi + 16]",
    "pop rcx",
    "mov [rsi + 8], rcx",
    "pop [rsi]",
    "mov rcx, [rcx + {root}]",
    "mov cr3, rcx",
    "pop r15",
    "pop r14",
    "pop r13",
    "pop r12",
    "pop rbp",
    "pop rbx",
    "ret",
    // The domain that returns here may be in its signal handler. The upcall's frame also holds the callee-saved
    // registers.
    "3:",
    "mov rbx, rax",
    "mov rbp, rsi",
    "and rsp, -16",
    "mov rdi, rsi",
    "call {left}",
    "mov rax, rbx",
    "xor edx, edx",
    "mov rsi, rbp",
    "jmp 2b",
    ".global kortex_abort",
    "kortex_abort:",
    "mov rsi, [{gate} + 8]",
    "jmp 2b",
    ".balign 16",
    ".global kortex_ended",
    "kortex_ended:",
    "mov rdi, [{ended} + 8]",
    "and rsp, -16",
    "call [{ended}]",
    "jmp kortex_resume",
    ".popsection",
    gate = sym GATE,
    ended = sym ENDED,
    condition = const CONDITION,
    busy = const BUSY,
    told = const TOLD,
    left = sym left,
    root = const ROOT,
    entry = const ENTRY,
    stack = const STACK,
);
