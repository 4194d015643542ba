//! Exceptions and interrupts (Trap in *THINK*, section 4.1). What was interrupted is a [`Context`]; one context at a
//! time is the current one. The processor and the entry code save registers directly into the current context, so
//! nothing is copied. A handler runs on a stack of its own with interrupts off, and may make another context the
//! current one. When it returns, the current context is resumed.
//!
//! # Soundness
//!
//! The tables belong to one processor, on which no handler interrupts another. The entry code saves all registers;
//! vector registers too, if the handlers may use them.

use core::arch::global_asm;
use core::mem::{MaybeUninit, offset_of};
use core::ptr::null_mut;

use x86_64::VirtAddr;
use x86_64::instructions::tables::lidt;
use x86_64::structures::DescriptorTablePointer;

use crate::segments::{self, Stack};
use crate::{Shared, processor};

/// The first vectors are the processor's own exceptions; the rest are for devices.
pub const OWN: usize = 32;
/// The number of vectors.
pub const VECTORS: usize = 48;

/// The registers of interrupted code.
#[repr(C, align(16))]
#[derive(Clone, Debug)]
pub struct Context {
    /// The general registers: r15 to r8, rbp, rdi, rsi, rdx, rcx, rbx, rax.
    pub registers: [u64; 15],
    /// The vector, as an offset in the table of handlers.
    entry: u64,
    /// The processor's error code.
    pub error: u64,
    /// The instruction pointer.
    pub rip: u64,
    /// The code segment, which tells user code from the kernel's.
    pub cs: u64,
    /// The flags, among them whether interrupts are on.
    pub rflags: u64,
    /// The stack pointer.
    pub rsp: u64,
    /// The stack segment.
    pub ss: u64,
    /// The vector registers, as `fxsave` saves them.
    pub vectors: [u8; 512],
}

/// The part before this is what the processor and the entry code push.
const VECTOR_REGISTERS: usize = offset_of!(Context, vectors);
const ENTRY_AT: usize = offset_of!(Context, entry);
/// Bytes of an entry in the table of handlers.
const ENTRY: usize = size_of::<(Handler, *const ())>();
const _: () = assert!(VECTOR_REGISTERS.is_multiple_of(16) && offset_of!(Context, registers) == 0);

/// A register's place in [`Context::registers`].
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub enum Register {
    R15,
    R14,
    R13,
    R12,
    R11,
    R10,
    R9,
    R8,
    Rbp,
    Rdi,
    Rsi,
    Rdx,
    Rcx,
    Rbx,
    Rax,
}

impl Context {
    /// A context in which all other general registers are 0. The vector registers are as after a reset.
    pub const fn new(rip: u64, rsp: u64, is_user: bool, rflags: u64) -> Context {
        let (code, data) = match is_user {
            true => (segments::USER_CODE.0, segments::USER_DATA.0),
            false => (segments::KERNEL_CODE.0, segments::KERNEL_DATA.0),
        };
        let mut vectors = [0; 512];
        // The two control words, as after `fninit` and a reset: nothing traps.
        (vectors[0], vectors[1]) = (0x7f, 0x03);
        (vectors[24], vectors[25]) = (0x80, 0x1f);
        let (cs, ss) = (code as u64, data as u64);
        Context { registers: [0; 15], entry: 0, error: 0, rip, cs, rflags, rsp, ss, vectors }
    }

    /// The vector by which it was interrupted.
    pub fn vector(&self) -> usize {
        self.entry as usize / ENTRY
    }

    /// Whether it runs user code.
    pub fn is_user(&self) -> bool {
        self.cs & 0b11 != 0
    }

    /// A register of the context.
    pub fn register(&mut self, register: Register) -> &mut u64 {
        &mut self.registers[register as usize]
    }
}

/// The flag of code that may be interrupted.
pub const INTERRUPTIBLE: u64 = 1 << 9;

/// Handles an exception. The second argument is the one it was registered with. When the handler returns, the current
/// context is resumed.
pub type Handler = extern "C" fn(&mut Context, *const ());

/// The interface of this component; a test can implement it without the hardware.
pub trait Trap {
    /// Registers a vector's handler, to be called with `of`.
    ///
    /// # Safety
    /// The handler may be called with `of` whenever that exception comes.
    unsafe fn register(&self, vector: usize, handler: Handler, of: *const ());

    /// Unregisters a vector's handler.
    ///
    /// # Safety
    /// The exception doesn't come any more, or may be ignored.
    unsafe fn unregister(&self, vector: usize);

    /// The current context: interrupted last, and resumed when the handler returns.
    fn current(&self) -> *mut Context;

    /// Makes a context the current one: the running handler returns to it, and the next exception saves registers into
    /// it.
    ///
    /// # Safety
    /// Until another context is the current one, this one stays and nothing else uses it.
    unsafe fn set_current(&self, context: *mut Context);
}

/// The processor's exceptions.
#[derive(Clone, Copy, Debug, Default)]
pub struct Processor;

impl Processor {
    /// The only one.
    pub const fn new() -> Processor {
        Processor
    }
}

impl Trap for Processor {
    #[inline]
    unsafe fn register(&self, vector: usize, handler: Handler, of: *const ()) {
        // SAFETY: the table of handlers is read with interrupts off.
        unsafe { (*STATE.get()).handlers[vector].write((handler, of)) };
    }

    #[inline]
    unsafe fn unregister(&self, vector: usize) {
        // SAFETY: `nobody` uses no argument. The caller promises that the exception doesn't come, or may be ignored.
        unsafe { self.register(vector, nobody, null_mut()) };
    }

    #[inline]
    fn current(&self) -> *mut Context {
        // SAFETY: one word is read.
        unsafe { (*STATE.get()).current }
    }

    #[inline]
    unsafe fn set_current(&self, context: *mut Context) {
        // SAFETY: called with interrupts off, or before there are any.
        unsafe {
            (*STATE.get()).current = context;
            segments::set_stack(Stack::Context, (*context).vectors.as_mut_ptr());
        }
    }
}

/// Exceptions after which nothing can be resumed: the interrupted context can't be saved, or the machine is broken.
const FATAL: [usize; 3] = [2, DOUBLE_FAULT, 18];
/// An exception while another one is being delivered.
pub const DOUBLE_FAULT: usize = 8;
/// The instruction `int3`, for debuggers.
pub const BREAKPOINT: usize = 3;
/// A page isn't present, or doesn't allow the access.
pub const PAGE_FAULT: usize = 14;

#[repr(C)]
struct State {
    current: *mut Context,
    stack: *mut u8,
    handlers: [MaybeUninit<(Handler, *const ())>; VECTORS],
}

static STATE: Shared<State> =
    Shared::new(State { current: null_mut(), stack: null_mut(), handlers: [MaybeUninit::uninit(); VECTORS] });

/// The processor's table of vectors (IDT): the entry code and the stack of each.
static TABLE: Shared<[Gate; VECTORS]> = Shared::new([Gate { words: [0; 2] }; VECTORS]);

#[derive(Clone, Copy)]
#[repr(C, align(16))]
struct Gate {
    words: [u64; 2],
}

impl Gate {
    const PRESENT: u64 = 1 << 47;
    /// The gate turns interrupts off.
    const INTERRUPT: u64 = 0xe << 40;
    const USERS: u64 = 3 << 45;

    fn new(address: u64, stack: Stack) -> Gate {
        let code = u64::from(segments::KERNEL_CODE.0);
        // The processor counts stacks from 1.
        let stack = stack as u64 + 1;
        let low = address & 0xffff | code << 16 | stack << 32 | (address >> 16 & 0xffff) << 48;
        Gate { words: [low | Gate::PRESENT | Gate::INTERRUPT, address >> 32] }
    }
}

extern "C" fn nobody(_: &mut Context, _: *const ()) {}

unsafe extern "C" {
    /// The entry code of each vector, 16 bytes each.
    static kortex_vectors: [[u8; 16]; VECTORS];
}

/// Loads the table of vectors, without any handlers yet. Handlers run on the stack that ends at `stack`. Registers are
/// saved in `current`; those of fatal exceptions on the stack that ends at `fatal`.
///
/// # Safety
/// Called once, after [`segments::load`]. Nothing else uses the stacks. `current` stays until another context is the
/// current one.
pub unsafe fn load(current: *mut Context, stack: *mut u8, fatal: *mut u8) {
    // SAFETY: no interrupt is handled before the table is loaded; it lives for ever.
    unsafe {
        (*STATE.get()).stack = stack;
        Processor.set_current(current);
        segments::set_stack(Stack::Fatal, fatal);
        for vector in 0..VECTORS {
            let own = if FATAL.contains(&vector) { Stack::Fatal } else { Stack::Context };
            (*TABLE.get())[vector] = Gate::new(first_instruction(vector), own);
            Processor.unregister(vector);
        }
        let limit = (size_of::<[Gate; VECTORS]>() - 1) as u16;
        lidt(&DescriptorTablePointer { limit, base: VirtAddr::from_ptr(TABLE.get()) });
    }
}

/// Lets user code raise an exception by an instruction.
///
/// # Safety
/// The vector's handler may be called by any user code.
pub unsafe fn allow_users(vector: usize) {
    // SAFETY: a change of one bit field that only adds a way to it.
    unsafe { (*TABLE.get())[vector].words[0] |= Gate::USERS };
}

/// The address of a vector's entry code. On a processor without `clac` it skips that instruction.
fn first_instruction(vector: usize) -> u64 {
    const CLAC: u64 = 3;
    let skipped = if processor::has_access_prevention() { 0 } else { CLAC };
    (&raw const kortex_vectors) as u64 + 16 * vector as u64 + skipped
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
        concat!("/*", $code, "*/")
    };
}

// User code may have set the flag that lets the kernel access users' memory: `clac` clears it. Each vector pushes its
// handler's offset after the processor's error code, or after 0 where there is none.
global_asm!(
    ".pushsection .text.kortex_vectors, \"ax\"",
    ".balign 16",
    ".global kortex_vectors",
    "kortex_vectors:",
    ".set vector, 0",
    ".rept {vectors}",
    ".balign 16",
    "clac",
    ".if (vector != 8) && (vector != 10) && (vector != 11) && (vector != 12) && (vector != 13) && \
     (vector != 14) && (vector != 17) && (vector != 21)",
    "push 0",
    ".endif",
    "push vector * {entry}",
    "jmp kortex_exception",
    ".set vector, vector + 1",
    ".endr",
    // For debuggers: this code has no caller.
    ".cfi_sections .eh_frame, .debug_frame",
    ".cfi_startproc",
    ".cfi_undefined rip",
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
    where_vectors_are_used!("fxsave64 [rsp + {vector_registers}]"),
    "mov rdi, rsp",
    "mov eax, [rsp + {entry_at}]",
    "mov rsp, [{state} + 8]",
    "mov rsi, [{state} + 24 + rax]",
    "cld",
    "call [{state} + 16 + rax]",
    ".global kortex_resume",
    "kortex_resume:",
    "mov rsp, [{state}]",
    where_vectors_are_used!("fxrstor64 [rsp + {vector_registers}]"),
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
    ".cfi_endproc",
    ".popsection",
    vectors = const VECTORS,
    entry = const ENTRY,
    entry_at = const ENTRY_AT,
    vector_registers = const VECTOR_REGISTERS,
    state = sym STATE,
);
