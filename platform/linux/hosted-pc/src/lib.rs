//! A PC that is a Linux process: a system's image, as it is, runs in it from its first instruction on, and debuggers
//! see a process.
//!
//! The kernel's code runs in this process, where its addresses are; whatever only a kernel may do, Linux answers by a
//! signal, and what the instruction means is done here (trap and emulate). Users' code runs in processes of its own,
//! which have nothing but its pages.
//!
//! * [`stops`]: what is done when something has stopped; [`instructions`]: those that only kernels may use;
//!   [`machine`]: what both have.
//! * [`processor`]: the registers that Linux keeps for itself, exceptions, which memory may be used how; [`tables`]:
//!   page tables.
//! * [`own`], [`users`]: where pages are mapped: in this process, and in those of users.
//! * [`apic`], [`ports`], [`clock`]: devices.
//! * [`image`]: where the image is, and what a loader says to it.
//!
//! What it is not: the kernel is not kept from what is this process's own, vector registers of users are their
//! processes', and `pushf` and `popf` of the kernel do not have the interrupts' flag.
//!
//! # Soundness
//!
//! There is one thread. The guest's code runs with signals on, and all of the code here from [`start`] on in their
//! handlers, on a stack of their own, with signals off: it is never interrupted by itself, and what it has is used by
//! nobody else.

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
/// Called once, by the process's first thread, which has no others. Below [`users::USERS`] and outside of the
/// executable there is nothing.
pub unsafe fn start(entry: u32) -> ! {
    let command_line = std::env::args_os().skip(1).collect::<Vec<_>>().join(" ".as_ref());
    let (mut machine, said) = image::load(command_line.as_encoded_bytes()).unwrap_or_else(|why| stop(&why));
    machine.processor.registers.rip = entry.into();
    machine.processor.registers.whole[RBX] = said;
    let machine = Box::into_raw(Box::new(machine));
    MACHINE.store(machine, Relaxed);
    // SAFETY: it stays.
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
/// For Linux only.
unsafe extern "C" fn on_signal(signal: i32, _: *const libc::siginfo_t, context: *mut libc::ucontext_t) {
    // SAFETY: Linux passes what it has interrupted; see the head of this file.
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
