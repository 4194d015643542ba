//! A process: a domain as the kernel sees it, with an address space, a thread, and how it ended.
//!
//! # Soundness
//!
//! There is one processor. State that handlers and users' calls change is changed with interrupts off. A process stays
//! until the home, which has made it, frees it. By then its thread has ended or isn't running.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use core::cell::{Cell, RefCell};
use core::ptr::{NonNull, eq, null};
use core::slice;
use core::sync::atomic::AtomicBool;
use core::sync::atomic::Ordering::Relaxed;

use drystone_calls::{
    CHANNEL, MEMORY, PROGRAM, RING, STACK, STACK_END, START, Start, TICK_STACK, TICK_STACK_END, TICKS, VECTOR,
};
use drystone_kortex::domain as kortex;
use kortex_binding::{Activation, Domain, domain, gate, signal, upcall};
use kortex_hal::Shared;
use kortex_hal::exception::{Context, DOUBLE_FAULT, INTERRUPTIBLE, OWN, PAGE_FAULT, Processor, Trap};
use kortex_hal::mmu::{Access, AddressSpace, Mmu, PAGE, Paging};
use kortex_hal::x86_64::instructions::interrupts::without_interrupts;
use kortex_memory::paged::Paged;
use kortex_memory::{Space, allocate_zeroed, free_range, order};
use kortex_thread::Condition;

use super::load;
use super::message::Message;
use crate::clock::Alarm;
use crate::memory::{self, ForPrograms};
use crate::threads::{self, Thread};
use crate::{attention, clock};

const _: () = assert!(PROGRAM == domain::USERS && VECTOR == gate::WAIT);

/// The allocator of all processes' pages.
struct Pool(RefCell<ForPrograms>);

// SAFETY: see the head of this file.
unsafe impl Sync for Pool {}

static POOL: Pool = Pool(RefCell::new(ForPrograms));

/// The list of all processes that haven't ended.
static FIRST: Shared<*const Process> = Shared::new(null());

/// A process has rung, ended, or written a message since the home last looked.
static NEWS: AtomicBool = AtomicBool::new(false);

/// Exceptions that end a user's domain.
const DIVIDED: usize = 0;
const UNDEFINED: usize = 6;
const FORBIDDEN: usize = 13;

/// How a domain has ended.
#[derive(Clone, Copy, Debug)]
pub(crate) enum End {
    /// By itself, with a status.
    Status(i64),
    /// By a forbidden exception, at an instruction `at`, with the address of a page fault.
    Fault { vector: usize, at: u64, address: u64 },
}

impl End {
    /// The end, for people.
    pub(crate) fn told(self) -> String {
        match self {
            End::Status(status) => format!("it has ended with status {status}"),
            End::Fault { vector, at, address } => {
                let what = match vector {
                    PAGE_FAULT => format!("it has used {address:#x}, which isn't its memory"),
                    DIVIDED => "it has divided by 0".into(),
                    UNDEFINED => "what it ran there is no instruction".into(),
                    FORBIDDEN => "what it did there only a kernel may".into(),
                    other => format!("exception {other}"),
                };
                format!("it was ended at {at:#x}: {what}")
            }
        }
    }
}

/// Memory that a domain shares with its holder.
pub(crate) struct Channel(NonNull<u8>);

impl Channel {
    const PAGES: usize = kortex::Memory::bytes(RING, false).div_ceil(PAGE);
    const ORDER: usize = order(Self::PAGES * PAGE);

    pub(crate) fn new() -> Option<Channel> {
        let channel = Channel(allocate_zeroed(&mut ForPrograms, Self::ORDER)?);
        // SAFETY: the pages were just allocated, and those after the channel aren't used.
        unsafe { free_range(&mut ForPrograms, channel.end(), channel.start() + (PAGE << Self::ORDER)) };
        Some(channel)
    }

    fn start(&self) -> usize {
        self.0.addr().get()
    }

    fn end(&self) -> usize {
        self.start() + Self::PAGES * PAGE
    }

    /// The memory, as one end sees it.
    pub(crate) fn memory(&self) -> kortex::Memory {
        kortex::Memory { base: self.0.as_ptr(), capacity: RING, mirrored: false }
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        // SAFETY: the channel's memory came from this allocator.
        unsafe { free_range(&mut ForPrograms, self.start(), self.end()) };
    }
}

/// A thread's stack for the kernel's own calls.
#[repr(C, align(16))]
struct Stack([u8; 2048]);

/// A domain, with its thread and its memory.
#[repr(C)]
pub(crate) struct Process {
    pub(super) domain: Domain,
    thread: Cell<Option<&'static Thread>>,
    stack: Shared<Stack>,
    /// Its address space, until it is freed.
    space: RefCell<Option<Paged<'static, ForPrograms>>>,
    /// Pages mapped from [`MEMORY`] on.
    grown: Cell<usize>,
    /// It waits for this when it rests, at most until `until`.
    bell: Condition<Activation>,
    /// Its message for people.
    pub(super) message: Message,
    until: Cell<u64>,
    /// Its bell has rung.
    is_rung: Cell<bool>,
    end: Cell<Option<End>>,
    next: Cell<*const Process>,
}

/// Binds the calls that a process may make.
///
/// # Safety
/// The process stays as long as its thread runs.
type Bind = unsafe fn(&'static Process);

/// Pages of a process besides its memory.
const BESIDES: usize = 512 + STACK / PAGE;

impl Process {
    /// Starts a process with a program, its calls, the channel to its holder, and a [`Start`]. `None`: there is no
    /// memory.
    pub(crate) fn start(
        kernel: &AddressSpace,
        program: &'static [u8],
        bind: Bind,
        channel: &Channel,
        start: &Start,
    ) -> Option<Running> {
        let space = Paged::create(kernel, PROGRAM, &POOL.0, start.pages + BESIDES).ok()?;
        let domain = Domain::new();
        // SAFETY: the address space maps the kernel.
        unsafe { domain.set_space(space.space()) };
        let process = Running(Box::leak(Box::new(Process {
            domain,
            thread: Cell::new(None),
            stack: Shared::new(Stack([0; 2048])),
            space: RefCell::new(Some(space)),
            grown: Cell::new(0),
            bell: Condition::new(),
            message: Message::new(),
            until: Cell::new(clock::NEVER),
            is_rung: Cell::new(false),
            end: Cell::new(None),
            next: Cell::new(null()),
        })));
        process.0.fill(program, bind, channel, start)?;
        Some(process)
    }

    fn fill(
        &'static self,
        program: &'static [u8],
        bind: Bind,
        channel: &Channel,
        start: &Start,
    ) -> Option<()> {
        let entry = {
            let space = self.space.borrow();
            let space = space.as_ref()?;
            space.map(TICK_STACK_END - TICK_STACK, TICK_STACK / PAGE, Access::WRITE).ok()?;
            space.map(START, 1, Access::READ).ok()?;
            // SAFETY: the channel stays longer than the process, and is made to be shared.
            unsafe { space.lend(CHANNEL, channel.start(), Channel::PAGES, Access::WRITE).ok()? };
            // SAFETY: the structure consists of numbers.
            let told = unsafe { slice::from_raw_parts((&raw const *start).cast(), size_of::<Start>()) };
            space.fill(START, told).ok()?;
            load::load(space, program).ok()?
        };
        self.domain.set_signals(entry + TICKS, TICK_STACK_END);
        let context = Context::new(entry as u64, STACK_END as u64, true, INTERRUPTIBLE | 2);
        // SAFETY: the stack is the thread's, and the process stays as long.
        let thread = unsafe {
            let end = self.stack.get().add(1).cast();
            bind(self);
            threads::create(context, Activation::new(&self.domain, end))
        };
        self.thread.set(Some(thread));
        without_interrupts(|| {
            // SAFETY: see the head of this file.
            self.next.set(unsafe { FIRST.get().replace(self) });
            threads::bind(thread);
        });
        Some(())
    }

    /// Adds `pages` pages; `None`: not possible now.
    pub(super) fn grow(&self, pages: usize) -> Option<bool> {
        let is_there = self.map(MEMORY + self.grown.get() * PAGE, pages)?;
        if is_there {
            self.grown.set(self.grown.get() + pages);
        }
        Some(is_there)
    }

    /// Maps the page of its stack at an address that has faulted; `None`: not possible now. `Some(false)`: no page of
    /// the stack can be mapped there.
    fn deepen(&self, address: usize) -> Option<bool> {
        let is_stack = (STACK_END - STACK..STACK_END).contains(&address);
        if is_stack { self.map(address & !(PAGE - 1), 1) } else { Some(false) }
    }

    fn map(&self, at: usize, pages: usize) -> Option<bool> {
        if memory::is_in_use() || POOL.0.try_borrow_mut().is_err() {
            return None;
        }
        let space = self.space.borrow();
        Some(space.as_ref().is_some_and(|space| space.map(at, pages, Access::WRITE).is_ok()))
    }

    /// Copies bytes that the process can read; `false`: it can't read them.
    pub(super) fn read(&self, from: usize, to: &mut [u8]) -> bool {
        self.space.borrow().as_ref().is_some_and(|space| space.read(from, to).is_ok())
    }

    /// Blocks its thread until its bell rings, or until that time.
    ///
    /// # Safety
    /// Called in a handler that interrupted its thread.
    pub(super) unsafe fn rest(&self, until: u64) {
        if self.is_rung.take() {
            return;
        }
        self.until.set(until);
        clock::ring_by(Alarm::Users, until);
        // SAFETY: the caller promises that this is a handler that interrupted the thread.
        unsafe { threads::wait(&self.bell) };
    }

    /// Ends its thread.
    ///
    /// # Safety
    /// Called in a handler that interrupted its thread.
    pub(super) unsafe fn end(&self, end: End) {
        self.end.set(Some(end));
        self.domain.die();
        // SAFETY: the caller promises that this is a handler that interrupted the thread.
        unsafe { threads::end() };
        tell_home();
    }

    /// Rings its bell. Called in the home, with interrupts off.
    fn ring(&self) {
        self.until.set(clock::NEVER);
        if !threads::notify(&self.bell) {
            self.is_rung.set(true);
        }
    }

    fn of(domain: &'static Domain) -> &'static Process {
        // SAFETY: users run in domains of processes only, which begin with them.
        unsafe { &*(&raw const *domain).cast() }
    }
}

/// Tells the home that there is news. Called in a handler.
pub(super) fn tell_home() {
    NEWS.store(true, Relaxed);
    attention::call();
    threads::wake_home();
}

/// Whether any process has rung, ended, or written a message since the home last looked. Called in the home, with
/// interrupts off.
pub(crate) fn is_news() -> bool {
    NEWS.load(Relaxed)
}

/// The home begins to look.
pub(super) fn look() {
    NEWS.store(false, Relaxed);
}

/// A process, until this is dropped.
pub(crate) struct Running(&'static Process);

impl Running {
    /// Rings its bell.
    pub(crate) fn ring(&self) {
        without_interrupts(|| self.0.ring());
    }

    /// Writes its message.
    pub(crate) fn write(&self) {
        self.0.message.write();
    }

    /// How it has ended, if it has.
    pub(crate) fn ended(&self) -> Option<End> {
        self.0.end.get()
    }

    /// Ends the process at once, if it hasn't ended, and frees its memory.
    pub(crate) fn end(&self) {
        let Running(process) = self;
        without_interrupts(|| {
            if process.end.get().is_none()
                && let Some(thread) = process.thread.get()
            {
                process.end.set(Some(End::Status(0)));
                // So that the thread is among the ready ones.
                threads::notify(&process.bell);
                threads::unbind(thread);
            }
            // SAFETY: see the head of this file.
            let mut link = unsafe { &*FIRST.get().cast::<Cell<*const Process>>() };
            // SAFETY: processes in the list are there.
            while let Some(found) = unsafe { link.get().as_ref() } {
                if eq(found, *process) {
                    link.set(found.next.get());
                    break;
                }
                link = &found.next;
            }
        });
        self.write();
        let space = process.space.take();
        if let Some(space) = space {
            // SAFETY: the process's thread doesn't run any more, and the kernel's own address space is active.
            unsafe { space.take_apart() };
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
        // SAFETY: the process's thread doesn't run any more, and the list has forgotten the process.
        unsafe {
            let process = Box::from_raw((&raw const *self.0).cast_mut());
            if let Some(thread) = process.thread.get() {
                threads::release(thread);
            }
        }
    }
}

/// Wakes the processes whose time has come. Called in the alarm's handler.
fn wake(_: &mut Context) {
    let now = clock::now();
    // SAFETY: see the head of this file.
    let mut next = unsafe { (*FIRST.get()).as_ref() };
    while let Some(process) = next {
        let until = process.until.get();
        if until <= now {
            process.until.set(clock::NEVER);
            threads::notify(&process.bell);
        } else {
            clock::ring_by(Alarm::Users, until);
        }
        // SAFETY: see the head of this file.
        next = unsafe { process.next.get().as_ref() };
    }
}

/// The running thread's time slice is over: other threads have a turn. A user gets a tick. Called in the alarm's
/// handler.
fn slice_is_over(context: &mut Context) {
    threads::begin_slice();
    // SAFETY: in a handler that interrupted this thread.
    unsafe {
        if context.is_user() {
            // Does nothing if the user is still handling a tick.
            signal::tell(&Processor, threads::running(), context, 0);
        }
        threads::give_way();
    }
}

/// Has exceptions of users end their domains.
///
/// # Safety
/// Called once.
pub(super) unsafe fn begin() {
    // Handlers of fatal exceptions stay as they are.
    for vector in (0..OWN).filter(|vector| ![2, DOUBLE_FAULT, 18].contains(vector)) {
        // SAFETY: the handler accepts any exception.
        unsafe { Processor.register(vector, fault, null()) };
    }
    // SAFETY: `returned` ignores its argument.
    unsafe { upcall::on_end(returned, null()) };
    without_interrupts(|| {
        clock::on(Alarm::Users, wake);
        clock::on(Alarm::Slice, slice_is_over);
    });
}

extern "C" fn fault(context: &mut Context, of: *const ()) {
    if context.is_user() {
        let process = Process::of(gate::domain());
        let vector = context.vector();
        let address = if vector == PAGE_FAULT { Paging.fault_address() } else { 0 };
        let end = End::Fault { vector, at: context.rip, address };
        match process.deepen(address as usize) {
            Some(true) => {}
            // SAFETY: in a handler that interrupted this thread.
            Some(false) => unsafe { process.end(end) },
            // SAFETY: in a handler that interrupted this thread. The instruction is tried again later.
            None => unsafe { threads::give_way() },
        }
    } else {
        drystone_machine::fatal(context, of);
    }
}

/// A user's program returned from its first upcall, which compiled programs never do.
///
/// # Safety
/// Called in a handler, of the running thread of a process.
unsafe extern "C" fn returned(_: *const ()) {
    // SAFETY: called as a handler, of the running thread.
    unsafe { Process::of(gate::domain()).end(End::Status(0)) };
}
