//! What happens when the processor stops what it does (the paper's Trap, section 4.1): an exception of its own, or an
//! interrupt of a device. What was interrupted is a [`Context`], of which one at a time is the current one. The
//! processor and the code here put it there at once, so that nothing is copied; a handler runs on a stack of its own
//! with interrupts off, may make another context the current one, and whatever is current goes on when it returns.
//!
//! # Soundness
//!
//! The tables belong to one processor, on which a handler is never interrupted by another one. The code below keeps all
//! registers; where the handlers may use vector registers, these too.

use core::arch::global_asm;
use core::mem::{MaybeUninit, offset_of};
use core::ptr::null_mut;

use x86_64::VirtAddr;
use x86_64::instructions::tables::lidt;
use x86_64::structures::DescriptorTablePointer;

use crate::segments::{self, Stack};
use crate::{Shared, processor};

/// The exceptions that the processor itself knows come first; the others are for devices.
pub const OWN: usize = 32;
/// So many vectors there are.
pub const VECTORS: usize = 48;

/// What is interrupted: the registers, as they are then.
#[repr(C, align(16))]
#[derive(Clone, Debug)]
pub struct Context {
    /// Those for whole numbers: r15 to r8, rbp, rdi, rsi, rdx, rcx, rbx, rax.
    pub registers: [u64; 15],
    /// Why it was interrupted, as the table of handlers has it.
    entry: u64,
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
    /// The vector registers, as `fxsave` keeps them.
    pub vectors: [u8; 512],
}

/// The processor puts what it keeps itself before this.
const VECTOR_REGISTERS: usize = offset_of!(Context, vectors);
const ENTRY_AT: usize = offset_of!(Context, entry);
/// Bytes of an entry of the table of handlers.
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
    /// Code that begins with nothing in its registers but these; vector registers are as they are after a reset.
    pub const fn new(rip: u64, rsp: u64, is_user: bool, rflags: u64) -> Context {
        let (code, data) = match is_user {
            true => (segments::USER_CODE.0, segments::USER_DATA.0),
            false => (segments::KERNEL_CODE.0, segments::KERNEL_DATA.0),
        };
        let mut vectors = [0; 512];
        // As `fninit` and a reset have the two words that control them: nothing traps.
        (vectors[0], vectors[1]) = (0x7f, 0x03);
        (vectors[24], vectors[25]) = (0x80, 0x1f);
        let (cs, ss) = (code as u64, data as u64);
        Context { registers: [0; 15], entry: 0, error: 0, rip, cs, rflags, rsp, ss, vectors }
    }

    /// Why it was interrupted.
    pub fn vector(&self) -> usize {
        self.entry as usize / ENTRY
    }

    /// Whether it is a user's.
    pub fn is_user(&self) -> bool {
        self.cs & 0b11 != 0
    }

    /// A register of it.
    pub fn register(&mut self, register: Register) -> &mut u64 {
        &mut self.registers[register as usize]
    }
}

/// Flags of code that may be interrupted.
pub const INTERRUPTIBLE: u64 = 1 << 9;

/// Handles an exception for whom it is told; what is current when it returns goes on.
pub type Handler = extern "C" fn(&mut Context, *const ());

/// The interface of this component, so that what is built on it can be tried without the hardware.
pub trait Trap {
    /// Who handles a vector from now on.
    ///
    /// # Safety
    /// The handler is fit to run whenever that exception comes, with that.
    unsafe fn register(&self, vector: usize, handler: Handler, of: *const ());

    /// Nobody handles a vector any more.
    ///
    /// # Safety
    /// It doesn't come any more, or may be ignored.
    unsafe fn unregister(&self, vector: usize);

    /// What was interrupted last, or goes on when the handler returns.
    fn current(&self) -> *mut Context;

    /// Makes a context the current one: the handler that calls this returns to it, and what it is interrupted by next
    /// is put there.
    ///
    /// # Safety
    /// It stays until another one is the current one, and nobody else uses it until then.
    unsafe fn set_current(&self, context: *mut Context);
}

/// The processor's.
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
        // SAFETY: it is read with interrupts off.
        unsafe { (*STATE.get()).handlers[vector].write((handler, of)) };
    }

    #[inline]
    unsafe fn unregister(&self, vector: usize) {
        // SAFETY: as the caller promises.
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

/// After these nothing goes on: what is interrupted can't be kept, or the machine is broken.
const FATAL: [usize; 3] = [2, DOUBLE_FAULT, 18];
/// An exception of what is done about another.
pub const DOUBLE_FAULT: usize = 8;
/// An instruction for debuggers.
pub const BREAKPOINT: usize = 3;
/// Memory that isn't there, or isn't for that.
pub const PAGE_FAULT: usize = 14;

#[repr(C)]
struct State {
    current: *mut Context,
    stack: *mut u8,
    handlers: [MaybeUninit<(Handler, *const ())>; VECTORS],
}

static STATE: Shared<State> =
    Shared::new(State { current: null_mut(), stack: null_mut(), handlers: [MaybeUninit::uninit(); VECTORS] });

/// What the processor looks up: for each vector where its code is and on which stack it runs.
static TABLE: Shared<[Gate; VECTORS]> = Shared::new([Gate { words: [0; 2] }; VECTORS]);

#[derive(Clone, Copy)]
#[repr(C, align(16))]
struct Gate {
    words: [u64; 2],
}

impl Gate {
    const PRESENT: u64 = 1 << 47;
    /// Interrupts are off in it.
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
    /// The first instruction of each vector, 16 bytes for each.
    static kortex_vectors: [[u8; 16]; VECTORS];
}

/// Tells the processor about the vectors, all of which do nothing yet. Handlers run on the stack that ends at `stack`;
/// those of what is fatal on another.
///
/// # Safety
/// Called once, after [`segments::load`]; the stacks are memory that nobody else uses; `current` stays until another
/// one is.
pub unsafe fn load(current: *mut Context, stack: *mut u8, fatal: *mut u8) {
    // SAFETY: nobody is interrupted before the table is loaded; it lives for ever.
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

/// Lets users' code raise an exception by an instruction.
///
/// # Safety
/// Its handler is fit for whoever calls.
pub unsafe fn allow_users(vector: usize) {
    // SAFETY: a change of one bit field that only adds a way to it.
    unsafe { (*TABLE.get())[vector].words[0] |= Gate::USERS };
}

/// Where a vector's first instruction is: behind that which keeps the kernel from users' memory, where the processor
/// has no such one.
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

// Users' flags may say that the kernel is let to their memory: the first instruction ends that. Each vector pushes its
// number behind what the processor says, or 0 where it says nothing.
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
    // For debuggers: nobody has called it.
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
