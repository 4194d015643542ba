//! The kernel: what happens to processes, and when all of them have ended.

use core::cell::{Cell, RefCell, UnsafeCell};
use core::mem::MaybeUninit;
use core::ptr::null;

use drystone_machine::Part::{Address, Number, Text};
use drystone_machine::{Console, Machine, end};
use kortex_binding::lrpc::Lrpc;
use kortex_binding::upcall::{self, Failed};
use kortex_binding::{Activation, Domain, domain, gate, memory, signal};
use kortex_hal::exception::{BREAKPOINT, Context, INTERRUPTIBLE, PAGE_FAULT, Processor, Register, Trap};
use kortex_hal::mmu::{Access, AddressSpace, PAGE};
use kortex_hal::time;
use kortex_hal::x86_64::instructions::interrupts;
use kortex_hal::x86_64::registers::control::Cr2;
use kortex_hal::{exception, interrupt};
use kortex_memory::paged::Paged;
use kortex_memory::{Pages, Space, order};
use kortex_thread::Queue;

use crate::process::{Process, ProcessThread};
use crate::{Memory, Policy, Threads, load, methods};

/// Milliseconds that a thread runs before others have their turn.
const SLICE: u64 = 1;
/// A vector by which nothing is done.
const NOTHING: usize = 0x2d;
/// A vector by which a thread gives way.
const GIVE_WAY: usize = 0x2c;
/// So many slices a call to another domain may take.
const PATIENCE: u64 = 5;
/// So many pages a process may have.
const MOST: usize = 1024;
/// So many threads there are at most.
const MOST_THREADS: usize = 256;
/// Where a process has its first stack, and how large it is, in pages.
const STACK: usize = domain::USERS + (64 << 30);
const STACK_PAGES: usize = 4;

/// See the head of this file.
pub struct Kernel {
    pages: RefCell<Memory>,
    space: AddressSpace,
    pub threads: Threads,
    live: Cell<usize>,
    /// Threads that have ended: their memory is for the next.
    ended: Queue<Activation>,
    /// The process that was started last.
    last: Cell<Option<&'static Process>>,
    beats: u32,
    /// When somebody was told last what had happened, by the processor's counter.
    pub told: Cell<u64>,
}

struct Place(UnsafeCell<MaybeUninit<Kernel>>);

// SAFETY: there is one processor, and the kernel isn't interrupted.
unsafe impl Sync for Place {}

static KERNEL: Place = Place(UnsafeCell::new(MaybeUninit::uninit()));

/// The kernel, once it has begun.
pub fn kernel() -> &'static Kernel {
    // SAFETY: `begin` comes first.
    unsafe { (*KERNEL.0.get()).assume_init_ref() }
}

/// Sets up exceptions, calls and time.
///
/// # Safety
/// Called once, by the machine.
pub unsafe fn begin(machine: Machine) -> &'static Kernel {
    let Machine { pages, space, .. } = machine;
    // SAFETY: as the caller promises; the handlers are fit for what they are registered for.
    unsafe {
        let rates = time::measure().expect("a PC has the old timer");
        let beats = (rates.alarm * SLICE / 1000) as u32;
        let threads = Threads::new(Policy::new(), Processor);
        let pages = RefCell::new(pages);
        (*KERNEL.0.get()).write(Kernel {
            pages,
            space,
            threads,
            live: Cell::new(0),
            ended: Queue::new(),
            last: Cell::new(None),
            beats,
            told: Cell::new(0),
        });
        for vector in [0, 1, 4, 5, 6, 7, 10, 11, 12, 13, PAGE_FAULT, 16, 17, 19, BREAKPOINT] {
            Processor.register(vector, fault, null());
        }
        exception::allow_users(BREAKPOINT);
        exception::allow_users(NOTHING);
        exception::allow_users(GIVE_WAY);
        Processor.register(interrupt::ALARM, tick, null());
        gate::open();
        memory::begin();
        upcall::on_end(ended, null());
    }
    // SAFETY: the kernel stays.
    unsafe { kernel().threads.give_way_by(GIVE_WAY) };
    kernel()
}

impl Kernel {
    /// Memory for something that stays.
    fn place<T>(&self, value: T) -> &'static T {
        let memory = self
            .pages
            .borrow_mut()
            .allocate(order(size_of::<T>()))
            .expect("there is memory for the first processes");
        let place = memory.cast::<T>();
        // SAFETY: it is large enough and nobody else's.
        unsafe {
            place.write(value);
            place.as_ref()
        }
    }

    /// Memory for a thread, with a stack of the kernel's behind it: that of one that has ended, or more.
    fn thread(&self, domain: &'static Domain, context: Context) -> Option<&'static ProcessThread> {
        const ORDER: usize = 2;
        let place = match self.ended.take() {
            Some(ended) => (ended as *const ProcessThread).cast_mut(),
            None => self.pages.borrow_mut().allocate(ORDER)?.as_ptr().cast(),
        };
        // SAFETY: whoever was there has ended; domains stay.
        unsafe {
            let stack = place.cast::<u8>().add(PAGE << ORDER);
            place.write(ProcessThread::new(context, 1, Activation::new(domain, stack)));
            Some(&*place)
        }
    }

    /// Starts a process, which is told what it is to do.
    #[inline(never)]
    pub fn start(&'static self, role: u64, name: &'static str) -> &'static Process {
        self.bury();
        let mut space =
            Paged::create(&self.space, domain::USERS, &self.pages, MOST).expect("there is memory");
        space.map(STACK, STACK_PAGES, Access::WRITE).expect("there is memory");
        let entry = load::load(&mut space).expect("there is memory");
        let (domain, before) = (Domain::new(), self.last.get());
        // SAFETY: the kernel is in each address space.
        unsafe { domain.set_space(space.space()) };
        let space = RefCell::new(Some(space));
        let process = self.place(Process { domain, space, name, role, threads: Cell::new(0), before });
        self.last.set(Some(process));
        // SAFETY: a process stays.
        unsafe { methods::bind(process) };
        self.start_thread(process, entry, (STACK + STACK_PAGES * PAGE) as u64);
        process
    }

    /// Takes the memory of processes that are dead, and in which nobody is any more.
    fn bury(&self) {
        let mut next = self.last.get();
        while let Some(process) = next {
            if process.domain.is_dead() && !process.domain.is_busy() && process.threads.get() == 0 {
                if let Some(space) = process.space.take() {
                    // SAFETY: nobody is in it, and what runs is the kernel, in another.
                    unsafe { space.release() };
                }
            }
            next = process.before;
        }
    }

    /// Starts a thread of a process; `false`: there are too many.
    #[inline(never)]
    pub fn start_thread(&'static self, process: &'static Process, entry: u64, stack: u64) -> bool {
        if self.live.get() == MOST_THREADS {
            return false;
        }
        let mut context = Context::new(entry, stack, true, INTERRUPTIBLE | 2);
        *context.register(Register::Rdi) = process.role;
        let Some(thread) = self.thread(&process.domain, context) else { return false };
        self.threads.add(thread);
        process.threads.set(process.threads.get() + 1);
        self.live.set(self.live.get() + 1);
        true
    }

    /// A process can call the server.
    pub fn bind_server(&'static self, client: &'static Process, server: &'static Process) {
        const SERVER: usize = 5;
        const UPCALL: usize = 9;
        let binding = self.place(Lrpc { domain: &server.domain, this: 0, time: PATIENCE });
        // SAFETY: it takes whatever a client says.
        unsafe {
            client.domain.bind(SERVER, binding.call());
            client.domain.bind(UPCALL, methods::upcall(server));
        }
    }

    /// Runs all threads, and ends the machine when there are none and `more` starts no more.
    pub fn run(&'static self, mut more: impl FnMut() -> bool) -> ! {
        let own = self.place(Domain::new());
        // SAFETY: it is the kernel's own.
        unsafe { own.set_space(&self.space) };
        let idle = self.thread(own, Context::new(0, 0, false, 2)).expect("there is memory");
        // SAFETY: this is what runs now.
        unsafe {
            idle.local.begin();
            self.threads.begin(idle);
        }
        interrupt::set_alarm(self.beats);
        while self.live.get() > 0 || more() {
            interrupts::enable_and_hlt();
            interrupts::disable();
        }
        Console.say(&[Text("all threads have ended")]);
        end(0)
    }
}

extern "C" fn tick(context: &mut Context, _: *const ()) {
    interrupt::end();
    interrupt::set_alarm(kernel().beats);
    // SAFETY: in a handler, of the thread that runs.
    unsafe {
        if context.is_user() && gate::tick() {
            report(context, " takes too long: exception ");
            upcall::abort(&kernel().threads.running().local, context, Failed::Timeout);
        } else if context.is_user() && gate::domain().is_dead() {
            // It has done what it must not in another thread.
            upcall::abort(&kernel().threads.running().local, context, Failed::Fault);
        } else {
            kernel().threads.tick();
        }
    }
}

extern "C" fn fault(context: &mut Context, _: *const ()) {
    if !context.is_user() {
        return own_fault(context);
    }
    let address = if context.vector() == PAGE_FAULT { Cr2::read_raw() } else { 0 };
    let activation = &kernel().threads.running().local;
    kernel().told.set(time::counter());
    // SAFETY: in a handler, of the thread that runs.
    if !unsafe { signal::tell(activation, context, address) } {
        dies(activation, context);
    }
}

/// The kernel has tried what a user has said, or is wrong.
#[cold]
#[inline(never)]
fn own_fault(context: &mut Context) {
    if !memory::fail(context) {
        let (vector, at) = (Number(context.vector() as i64), Address(context.rip));
        Console.say(&[Text("error: the kernel's exception "), vector, Text(" at "), at]);
        end(101);
    }
}

/// The domain of the thread that runs is dead from now on.
#[cold]
#[inline(never)]
fn dies(activation: &Activation, context: &mut Context) {
    report(context, " has done what it must not: exception ");
    // SAFETY: in a handler, of the thread that runs.
    unsafe { upcall::abort(activation, context, Failed::Fault) };
}

fn report(context: &Context, what: &str) {
    let process = gate::domain() as *const Domain as *const Process;
    // SAFETY: users' code runs in domains of processes only, which begin with them.
    let Process { name, role, .. } = unsafe { &*process };
    Console.say(&[
        Text("domain "),
        Text(name),
        Text(" "),
        Number(*role as i64),
        Text(what),
        Number(context.vector() as i64),
        Text(" at "),
        Address(context.rip),
        Text(": it is dead"),
    ]);
}

unsafe extern "C" fn ended(_: *const ()) {
    let Kernel { threads, live, ended, .. } = kernel();
    let thread = threads.running();
    let process = gate::domain() as *const Domain as *const Process;
    // SAFETY: threads end in the domain in which they began, that of a process.
    let in_process = unsafe { &(*process).threads };
    in_process.set(in_process.get() - 1);
    live.set(live.get() - 1);
    // SAFETY: contexts change when this returns. Nothing is put onto this thread's stack any more.
    unsafe { threads.end() };
    ended.put(thread);
}
