//! A PC that is a Linux process. It runs a system's unmodified image from its first instruction on, and debuggers see a
//! process.
//!
//! The kernel's code runs in this process, at its own addresses. Linux answers privileged instructions and page faults
//! by signals, and the instruction is emulated here (trap and emulate). Users' code runs in processes of its own, which
//! map nothing but its pages.
//!
//! * [`stops`]: what is done when the guest has stopped. [`instructions`]: the emulated instructions. [`mod@machine`]:
//!   the machine's parts.
//! * [`processor`]: registers that Linux keeps from processes, exceptions, access rights. [`tables`]: page tables.
//! * [`own`], [`users`]: map pages, in this process and in the users'.
//! * [`apic`], [`ports`], [`clock`]: devices.
//! * [`image`]: the image, and a loader's start info.
//!
//! Limits: nothing keeps the kernel from this process's own memory. Users' vector registers are those of their
//! processes. The kernel's `pushf` and `popf` ignore the interrupt flag.
//!
//! # Soundness
//!
//! There is one thread. The guest's code runs with signals on. From [`start`] on, all code here runs in signal
//! handlers, on a stack of their own, with signals off. So it never interrupts itself, and nothing else uses its state.

#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

mod apic;
mod clock;
mod ending;
mod image;
mod instructions;
mod machine;
mod memory;
mod own;
mod ports;
mod processor;
mod registers;
mod stops;
mod tables;
mod users;

use std::arch::asm;
use std::mem::zeroed;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering::Relaxed};

use ending::stop;
use machine::Machine;
use registers::{RBX, Registers};

static MACHINE: AtomicPtr<Machine> = AtomicPtr::new(null_mut());

fn machine() -> Option<&'static mut Machine> {
    // SAFETY: see the head of this file.
    unsafe { MACHINE.load(Relaxed).as_mut() }
}

/// Runs the image that is linked into this executable, from its entry on.
///
/// # Safety
/// Called once, by the process's only thread. Below [`users::USERS`], only the executable is mapped.
pub unsafe fn start(entry: u32) -> ! {
    let command_line = std::env::args_os().skip(1).collect::<Vec<_>>().join(" ".as_ref());
    let (mut machine, said) = image::load(command_line.as_encoded_bytes()).unwrap_or_else(|why| stop(&why));
    machine.processor.registers.rip = entry.into();
    machine.processor.registers.whole[RBX] = said;
    let machine = Box::into_raw(Box::new(machine));
    MACHINE.store(machine, Relaxed);
    // SAFETY: the machine stays.
    ending::flush_at_end(unsafe { &raw mut (*machine).ports });
    // SAFETY: see the head of this file. The handler of the last instruction has the guest go on; what 32-bit code has
    // as its segments is Linux's.
    unsafe {
        take_signals();
        asm!("mov ds, {0:x}", "mov es, {0:x}", "ud2", in(reg) 0x2b, options(noreturn));
    }
}

const STACK: usize = 1 << 20;
const SIGNALS: [i32; 6] =
    [libc::SIGSEGV, libc::SIGILL, libc::SIGBUS, libc::SIGFPE, libc::SIGTRAP, libc::SIGALRM];

/// # Safety
/// As for [`start`].
unsafe fn take_signals() {
    // SAFETY: the stack and the handler stay.
    unsafe {
        let stack = Box::leak(vec![0_u8; STACK].into_boxed_slice());
        let stack = libc::stack_t { ss_sp: stack.as_mut_ptr().cast(), ss_flags: 0, ss_size: STACK };
        libc::sigaltstack(&raw const stack, null_mut());
        let mut action = zeroed::<libc::sigaction>();
        action.sa_sigaction = on_signal as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        for signal in SIGNALS {
            libc::sigaddset(&raw mut action.sa_mask, signal);
        }
        for signal in SIGNALS {
            libc::sigaction(signal, &raw const action, null_mut());
        }
    }
}

/// # Safety
/// Called by Linux only.
unsafe extern "C" fn on_signal(signal: i32, _: *const libc::siginfo_t, context: *mut libc::ucontext_t) {
    // SAFETY: Linux passes the context that it has interrupted; see the head of this file.
    let context = unsafe { &mut *context };
    let machine = machine().expect("there is one before there are signals");
    static HAS_BEGUN: AtomicBool = AtomicBool::new(false);
    if !HAS_BEGUN.swap(true, Relaxed) {
        let registers = machine.processor.registers;
        registers.into_signal(context, false);
        return;
    }
    machine.processor.registers = Registers::of_signal(context);
    if signal == libc::SIGALRM {
        machine.alarm.has_come();
        machine.listen();
    } else {
        let word = |at: i32| context.uc_mcontext.gregs[at as usize] as u64;
        machine.kernel_stopped(word(libc::REG_TRAPNO) as u8, word(libc::REG_ERR), word(libc::REG_CR2));
    }
    machine.go_on();
    let processor = &machine.processor;
    processor.registers.into_signal(context, processor.is_long);
}
