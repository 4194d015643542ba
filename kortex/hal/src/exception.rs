//! What happens when the processor stops what it does (the paper's Trap, section 4.1): an exception of its own, or an
//! interrupt of a device. What was interrupted is a [`Context`], of which one at a time is the current one. The processor and the code here put it there
//! at once, so that nothing is copied; a handler runs on a stack of its own with interrupts off, may make another context the
//! current one, and whatever is current goes on when it returns.
//!
//! # Soundness
//!
//! The tables belong to one processor, on which a handler is never interrupted by another one. The code below keeps all
//! registers; where the handlers may use vector registers, these too.

use core::arch::global_asm;
use core::cell::UnsafeCell;
use core::mem::offset_of;
use core::ptr::null_mut;

use x86_64::VirtAddr;
use x86_64::structures::idt::InterruptDescriptorTable;

use crate::segments::{self, Stack};

/// The exceptions that the processor itself knows come first; the others are for devices.
pub const OWN: usize = 32;
/// So many vectors there are.
pub const VECTORS: usize = 48;

/// What is interrupted: the registers, as they are then.
#[repr(C, align(16))]
#[derive(Clone, Debug)]
pub struct Context {
    /// The vector registers, as `fxsave` keeps them.
    pub vectors: [u8; 512],
    /// All others: r15 to r8, rbp, rdi, rsi, rdx, rcx, rbx, rax.
    pub registers: [u64; 15],
    /// Why it was interrupted.
    pub vector: u64,
    /// What the processor says besides.
    pub error: u64,
    /// Where it goes on.
    pub rip: u64,
    /// Whose code that is.
    pub cs: u64,
    /// Flags, among them whether it may be interrupted.
    pub rflags: u64,
    /// Its stack.
    pub rsp: u64,
    /// Whose stack that is.
    pub ss: u64,
}

const REGISTERS: usize = offset_of!(Context, registers);
const END: usize = size_of::<Context>();
const _: () = assert!(END.is_multiple_of(16) && REGISTERS == 512 && offset_of!(Context, vector) == 632);

/// Flags of code that may be interrupted.
pub const INTERRUPTIBLE: u64 = 1 << 9;

/// Handles an exception; what is current when it returns goes on.
pub type Handler = extern "C" fn(&mut Context);

/// For exceptions after which nothing goes on: they come when the processor can't keep what it does.
pub const DOUBLE_FAULT: usize = 8;
/// Memory that isn't there, or isn't for that.
pub const PAGE_FAULT: usize = 14;

#[repr(C)]
struct State {
    current: *mut Context,
    stack: *mut u8,
    handlers: [Handler; VECTORS],
}

struct Shared<T>(UnsafeCell<T>);

// SAFETY: see the head of this file.
unsafe impl<T> Sync for Shared<T> {}

static STATE: Shared<State> =
    Shared(UnsafeCell::new(State { current: null_mut(), stack: null_mut(), handlers: [nobody; VECTORS] }));
static TABLE: Shared<InterruptDescriptorTable> = Shared(UnsafeCell::new(InterruptDescriptorTable::new()));

extern "C" fn nobody(_: &mut Context) {}

unsafe extern "C" {
    /// The first instruction of each vector, 16 bytes for each.
    static kortex_vectors: [[u8; 16]; VECTORS];
}

/// Tells the processor about the vectors, all of which do nothing yet. Handlers run on the stack that ends at `stack`; those of what is
/// fatal on another.
///
/// # Safety
/// Called once, after [`segments::load`]; the stacks are memory that nobody else uses; `current` stays until another one is.
pub unsafe fn load(current: *mut Context, stack: *mut u8, fatal: *mut u8) {
    // SAFETY: nobody is interrupted before the table is loaded.
    unsafe {
        let state = STATE.0.get();
        (*state).stack = stack;
        set_current(current);
        segments::set_stack(Stack::Fatal, fatal);
        let table = &mut *TABLE.0.get();
        let first = &raw const kortex_vectors;
        let address = |vector: usize| VirtAddr::from_ptr(&raw const (*first)[vector]);
        let (context, fatal) = (Stack::Context as u16, Stack::Fatal as u16);
        table.divide_error.set_handler_addr(address(0)).set_stack_index(context);
        table.debug.set_handler_addr(address(1)).set_stack_index(context);
        table.non_maskable_interrupt.set_handler_addr(address(2)).set_stack_index(fatal);
        table.breakpoint.set_handler_addr(address(3)).set_stack_index(context);
        table.overflow.set_handler_addr(address(4)).set_stack_index(context);
        table.bound_range_exceeded.set_handler_addr(address(5)).set_stack_index(context);
        table.invalid_opcode.set_handler_addr(address(6)).set_stack_index(context);
        table.device_not_available.set_handler_addr(address(7)).set_stack_index(context);
        table.double_fault.set_handler_addr(address(DOUBLE_FAULT)).set_stack_index(fatal);
        table.invalid_tss.set_handler_addr(address(10)).set_stack_index(context);
        table.segment_not_present.set_handler_addr(address(11)).set_stack_index(context);
        table.stack_segment_fault.set_handler_addr(address(12)).set_stack_index(context);
        table.general_protection_fault.set_handler_addr(address(13)).set_stack_index(context);
        table.page_fault.set_handler_addr(address(PAGE_FAULT)).set_stack_index(context);
        table.x87_floating_point.set_handler_addr(address(16)).set_stack_index(context);
        table.alignment_check.set_handler_addr(address(17)).set_stack_index(context);
        table.machine_check.set_handler_addr(address(18)).set_stack_index(fatal);
        table.simd_floating_point.set_handler_addr(address(19)).set_stack_index(context);
        for vector in OWN..VECTORS {
            table[vector as u8].set_handler_addr(address(vector)).set_stack_index(context);
        }
        (*TABLE.0.get()).load();
    }
}

/// Who handles a vector from now on; who did before.
///
/// # Safety
/// The handler is fit to run whenever that exception comes.
pub unsafe fn register(vector: usize, handler: Handler) -> Handler {
    // SAFETY: one word is written, which is read with interrupts off.
    unsafe { core::mem::replace(&mut (*STATE.0.get()).handlers[vector], handler) }
}

/// Nobody handles a vector any more.
///
/// # Safety
/// It doesn't come any more, or may be ignored.
pub unsafe fn unregister(vector: usize) {
    // SAFETY: as the caller promises.
    unsafe { register(vector, nobody) };
}

/// What was interrupted last, or goes on when the handler returns.
pub fn current() -> *mut Context {
    // SAFETY: one word is read.
    unsafe { (*STATE.0.get()).current }
}

/// Makes a context the current one: the handler that calls this returns to it, and what it is interrupted by next is put there.
///
/// # Safety
/// It stays until another one is the current one, and nobody else uses it until then.
pub unsafe fn set_current(context: *mut Context) {
    // SAFETY: called with interrupts off, or before there are any.
    unsafe {
        (*STATE.0.get()).current = context;
        segments::set_stack(Stack::Context, context.cast::<u8>().add(END));
    }
}

#[cfg(target_feature = "sse")]
macro_rules! where_vectors_are_used {
    ($code:literal) => {
        $code
    };
}
#[cfg(not(target_feature = "sse"))]
macro_rules! where_vectors_are_used {
    ($code:literal) => {
        ""
    };
}

// Each vector pushes its number behind what the processor says, or 0 where it says nothing.
global_asm!(
    ".pushsection .text.kortex_vectors, \"ax\"",
    ".balign 16",
    ".global kortex_vectors",
    "kortex_vectors:",
    ".set vector, 0",
    ".rept {vectors}",
    ".balign 16",
    ".if (vector != 8) && (vector != 10) && (vector != 11) && (vector != 12) && (vector != 13) && (vector != 14) && (vector != 17) && (vector != 21)",
    "push 0",
    ".endif",
    "push vector",
    "jmp kortex_exception",
    ".set vector, vector + 1",
    ".endr",
    "kortex_exception:",
    "push rax",
    "push rbx",
    "push rcx",
    "push rdx",
    "push rsi",
    "push rdi",
    "push rbp",
    "push r8",
    "push r9",
    "push r10",
    "push r11",
    "push r12",
    "push r13",
    "push r14",
    "push r15",
    where_vectors_are_used!("fxsave64 [rsp - 512]"),
    "lea rdi, [rsp - 512]",
    "mov rsp, [{state} + 8]",
    "mov eax, [rdi + 632]",
    "cld",
    "call [{state} + 16 + rax * 8]",
    ".global kortex_resume",
    "kortex_resume:",
    "mov rsp, [{state}]",
    where_vectors_are_used!("fxrstor64 [rsp]"),
    "add rsp, 512",
    "pop r15",
    "pop r14",
    "pop r13",
    "pop r12",
    "pop r11",
    "pop r10",
    "pop r9",
    "pop r8",
    "pop rbp",
    "pop rdi",
    "pop rsi",
    "pop rdx",
    "pop rcx",
    "pop rbx",
    "pop rax",
    "add rsp, 16",
    "iretq",
    ".popsection",
    vectors = const VECTORS,
    state = sym STATE,
);
