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
use kortex_hal::x86_64::instructions::interrupts::enable_and_hlt;
use kortex_hal::x86_64::registers::control::Cr2;
use kortex_hal::{exception, interrupt};
use kortex_memory::paged::Paged;
use kortex_memory::{Pages, Space, order};

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
        let beats = (time::measure().alarm * SLICE / 1000) as u32;
        let threads = Threads::new(Policy::new(), Processor);
        let pages = RefCell::new(pages);
        (*KERNEL.0.get()).write(Kernel {
            pages,
            space,
            threads,
            live: Cell::new(0),
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

    fn kernel_stack(&self) -> *mut u8 {
        const ORDER: usize = 1;
        let stack = self.pages.borrow_mut().allocate(ORDER).expect("there is memory for the first processes");
        stack.as_ptr().wrapping_add(PAGE << ORDER)
    }

    /// Starts a process, which is told what it is to do.
    #[inline(never)]
    pub fn start(&'static self, role: u64, name: &'static str) -> &'static Process {
        let space = Paged::create(&self.space, domain::USERS, &self.pages, MOST).expect("there is memory");
        let process = self.place(Process { domain: Domain::new(), space: RefCell::new(space), name, role });
        let entry = {
            let mut space = process.space.borrow_mut();
            space.map(STACK, STACK_PAGES, Access::WRITE).expect("there is memory");
            load::load(&mut space).expect("there is memory")
        };
        // SAFETY: the kernel is in each address space; a process stays.
        unsafe {
            process.domain.set_space(process.space.borrow().space());
            methods::bind(process);
        }
        self.start_thread(process, entry, (STACK + STACK_PAGES * PAGE) as u64);
        process
    }

    /// Starts a thread of a process; `false`: there are too many.
    #[inline(never)]
    pub fn start_thread(&'static self, process: &'static Process, entry: u64, stack: u64) -> bool {
        if self.live.get() == MOST_THREADS {
            return false;
        }
        let mut context = Context::new(entry, stack, true, INTERRUPTIBLE | 2);
        *context.register(Register::Rdi) = process.role;
        // SAFETY: a process stays; the stack is the thread's.
        let activation = unsafe { Activation::new(&process.domain, self.kernel_stack()) };
        self.threads.add(self.place(ProcessThread::new(context, 1, activation)));
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

    /// Runs all threads, and ends the machine when there are none.
    pub fn run(&'static self) -> ! {
        let own = self.place(Domain::new());
        // SAFETY: it is the kernel's own.
        let idle = unsafe {
            own.set_space(&self.space);
            self.place(ProcessThread::new(
                Context::new(0, 0, false, 2),
                0,
                Activation::new(own, self.kernel_stack()),
            ))
        };
        // SAFETY: this is what runs now.
        unsafe {
            idle.local.begin();
            self.threads.begin(idle);
        }
        interrupt::set_alarm(self.beats);
        while self.live.get() > 0 {
            enable_and_hlt();
            kortex_hal::x86_64::instructions::interrupts::disable();
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
    kernel().live.set(kernel().live.get() - 1);
    // SAFETY: contexts change when this returns.
    unsafe { kernel().threads.end() };
}
