//! The kernel component: starts processes, handles their exceptions, and ends the machine when all have ended.

use core::cell::{Cell, RefCell};
use core::ops::Deref;
use core::ptr::{NonNull, null};

use drystone_machine::Part::{Address, Number, Text};
use drystone_machine::{Console, Platform, end};
use kortex_binding::lrpc::Lrpc;
use kortex_binding::upcall::{self, Failed};
use kortex_binding::{Activation, Domain, domain, gate, memory, signal};
use kortex_hal::exception;
use kortex_hal::exception::{BREAKPOINT, Context, INTERRUPTIBLE, PAGE_FAULT, Register, Trap};
use kortex_hal::interrupt::Controller;
use kortex_hal::mmu::{Access, Mmu, PAGE};
use kortex_hal::time::{self, ALARM, Timer};
use kortex_hal::x86_64::instructions::interrupts;
use kortex_memory::paged::Paged;
use kortex_memory::{Pages, Pool, Space, order};
use kortex_resource::ResourceManager;
use kortex_thread::{Queue, Threads};

use crate::process::{Owner, Process, ProcessThread, Services};
use crate::{load, methods};

/// Milliseconds of a time slice.
const SLICE: u64 = 1;
/// The vector of an exception that does nothing, to be measured.
const NOTHING: usize = 0x2d;
/// The vector by which a thread yields.
const GIVE_WAY: usize = 0x2c;
/// Slices that a call to another domain may take. On a machine that is a process, they pass even while Linux runs
/// something else.
const PATIENCE: u64 = 25;
/// Pages of a process, at most.
const MOST: usize = 1024;
/// The priority of all threads, for schedulers that have priorities.
const PRIORITY: usize = 1;
/// Threads, at most.
const MOST_THREADS: usize = 256;
/// The address and size, in pages, of a process's first stack.
const STACK: usize = domain::USERS + (64 << 30);
const STACK_PAGES: usize = 4;

/// See the head of this file.
pub struct Kernel<M, T, I, C, U, G, S, E> {
    pub(crate) machine: M,
    trap: T,
    interrupts: I,
    timer: C,
    mmu: U,
    pages: G,
    threads: S,
    pub(crate) services: E,
    live: Cell<usize>,
    /// Ended threads, whose memory is reused.
    ended: Queue<Activation>,
    /// The process that was started last.
    last: Cell<*const ()>,
    /// Ticks of the alarm's clock in a slice.
    beats: Cell<u32>,
    /// When the kernel began, and when the last signal was delivered, by the processor's counter.
    pub(crate) begun: Cell<u64>,
    told: Cell<u64>,
}

// SAFETY: there is one processor, and the kernel isn't interrupted.
unsafe impl<M, T, I, C, U, G, S, E> Sync for Kernel<M, T, I, C, U, G, S, E> {}

impl<M, T, I, C, U, G, S, E> Kernel<M, T, I, C, U, G, S, E> {
    /// A kernel without processes.
    pub const fn new(
        machine: M,
        trap: T,
        interrupts: I,
        timer: C,
        mmu: U,
        pages: G,
        threads: S,
        services: E,
    ) -> Kernel<M, T, I, C, U, G, S, E> {
        Kernel {
            machine,
            trap,
            interrupts,
            timer,
            mmu,
            pages,
            threads,
            services,
            live: Cell::new(0),
            ended: Queue::new(),
            last: Cell::new(null()),
            beats: Cell::new(0),
            begun: Cell::new(0),
            told: Cell::new(0),
        }
    }
}

impl<M, T, I, C, U, G, S, E> Kernel<M, T, I, C, U, G, S, E>
where
    M: Deref<Target: Platform> + 'static,
    T: Deref<Target: Trap> + 'static,
    I: Deref<Target: Controller> + 'static,
    C: Deref<Target: Timer> + 'static,
    U: Deref<Target: Mmu> + 'static,
    G: Deref<Target: Pool> + 'static,
    S: Deref<Target: Threads<Local = Activation>> + 'static,
    E: Deref<Target: Services> + 'static,
{
    /// Sets up exceptions and time.
    ///
    /// # Safety
    /// Called once, by the system.
    pub unsafe fn begin(&'static self) {
        self.begun.set(time::counter());
        // SAFETY: as the caller promises; the handlers are fit for what they are registered for, and the kernel stays.
        unsafe {
            let this = self as *const Self as *const ();
            let rates = self.timer.measure().expect("a PC has the old timer");
            self.beats.set((rates.alarm * SLICE / 1000) as u32);
            self.services.measured(&rates);
            for vector in [0, 1, 4, 5, 6, 7, 10, 11, 12, 13, PAGE_FAULT, 16, 17, 19, BREAKPOINT] {
                self.trap.register(vector, Self::fault, this);
            }
            exception::allow_users(BREAKPOINT);
            exception::allow_users(NOTHING);
            exception::allow_users(GIVE_WAY);
            self.trap.register(ALARM, Self::tick, this);
            upcall::on_end(Self::ended, this);
            self.threads.give_way_by(GIVE_WAY);
        }
    }

    /// The pool of all pages.
    fn pool(&'static self) -> &'static RefCell<<Self as Owner>::Pages> {
        self.pages.pages()
    }

    /// Memory for a value that stays.
    fn place<V>(&self, value: V) -> &'static V {
        let memory = self
            .pages
            .pages()
            .borrow_mut()
            .allocate(order(size_of::<V>()))
            .expect("there is memory for the first processes");
        let place = memory.cast::<V>();
        // SAFETY: it is large enough and nobody else's.
        unsafe {
            place.write(value);
            place.as_ref()
        }
    }

    /// Memory for a thread and its kernel stack, reused from an ended thread if there is one.
    fn thread(&self, domain: &'static Domain, context: Context) -> Option<&'static ProcessThread> {
        let order = E::Target::STACK;
        let place = match self.ended.take() {
            Some(ended) => {
                // SAFETY: it has ended.
                unsafe { self.threads.release(ended) };
                NonNull::from(ended).cast()
            }
            None => self.pages.pages().borrow_mut().allocate(order)?,
        };
        // SAFETY: nobody is there any more; domains stay.
        let (place, activation) =
            unsafe { (place.cast().as_mut(), Activation::new(domain, place.as_ptr().add(PAGE << order))) };
        let Ok(thread) = self.threads.create((place, context, activation));
        Some(thread)
    }

    /// Starts a process with a role.
    #[inline(never)]
    pub fn start(&'static self, role: u64, name: &'static str) -> &'static Process<Self> {
        self.bury();
        let space =
            Paged::create(self.machine.space(), domain::USERS, self.pool(), MOST).expect("there is memory");
        space.map(STACK, STACK_PAGES, Access::WRITE).expect("there is memory");
        let entry = load::load(self.services.program(), &space).expect("there is memory");
        let (domain, before) = (Domain::new(), self.last());
        // SAFETY: the kernel is in each address space.
        unsafe { domain.set_space(space.space()) };
        let space = RefCell::new(Some(space));
        let part = self.services.part();
        let process = self.place(Process {
            domain,
            kernel: self,
            space,
            part,
            name,
            role,
            threads: Cell::new(0),
            before,
        });
        self.last.set((process as *const Process<Self>).cast());
        // SAFETY: a process stays.
        unsafe { methods::bind(process) };
        self.start_thread(process, entry, (STACK + STACK_PAGES * PAGE) as u64);
        process
    }

    fn last(&self) -> Option<&'static Process<Self>> {
        // SAFETY: a process stays.
        unsafe { self.last.get().cast::<Process<Self>>().as_ref() }
    }

    /// Frees the memory of dead processes that no thread is in.
    fn bury(&self) {
        let mut next = self.last();
        while let Some(process) = next {
            if process.domain.is_dead() && !process.domain.is_busy() && process.threads.get() == 0 {
                if let Some(space) = process.space.take() {
                    // SAFETY: nobody is in it, and what runs is the kernel, in another.
                    unsafe {
                        E::Target::release(process, &space);
                        space.take_apart();
                    }
                }
            }
            next = process.before;
        }
    }

    /// Binds a process to the server.
    pub fn bind_server(&'static self, client: &'static Process<Self>, server: &'static Process<Self>) {
        const SERVER: usize = 5;
        const UPCALL: usize = 9;
        let binding = self.place(Lrpc::new(&server.domain, PATIENCE));
        E::Target::bound(client, server, binding);
        // SAFETY: it takes whatever a client says.
        unsafe {
            client.domain.bind(SERVER, binding.call());
            client.domain.bind(UPCALL, methods::upcall(server));
        }
    }

    /// Runs all threads. When there are none, calls `more`, and ends the machine if that starts none.
    pub fn run(&'static self, mut more: impl FnMut() -> bool) -> ! {
        let own = self.place(Domain::new());
        // SAFETY: it is the kernel's own.
        unsafe { own.set_space(self.machine.space()) };
        let idle = self.thread(own, Context::new(0, 0, false, 2)).expect("there is memory");
        // SAFETY: this is what runs now.
        unsafe {
            idle.local.begin();
            self.threads.take_over(idle);
        }
        self.timer.set_alarm(self.beats.get());
        while self.live.get() > 0 || more() {
            interrupts::enable_and_hlt();
            interrupts::disable();
        }
        Console.say(&[Text("all threads have ended")]);
        end(0)
    }

    extern "C" fn tick(context: &mut Context, of: *const ()) {
        // SAFETY: registered so, in a handler, of the thread that runs.
        unsafe {
            let Kernel { beats, trap, interrupts, timer, threads, .. } = &*of.cast::<Self>();
            interrupts.end();
            timer.set_alarm(beats.get());
            if context.is_user() && gate::tick() {
                Self::report(context, " takes too long: exception ");
                upcall::abort(&**trap, threads.running(), Failed::Timeout);
            } else if context.is_user() && gate::domain().is_dead() {
                // Another thread of the domain has faulted.
                upcall::abort(&**trap, threads.running(), Failed::Fault);
            } else {
                if context.is_user() {
                    E::Target::tick(Self::process(), &**trap, threads.running(), context);
                }
                threads.tick();
            }
        }
    }

    extern "C" fn fault(context: &mut Context, of: *const ()) {
        if !context.is_user() {
            return own_fault(context);
        }
        // SAFETY: registered so.
        let kernel = unsafe { &*of.cast::<Self>() };
        if context.vector() != PAGE_FAULT {
            return kernel.tell(context, 0);
        }
        let address = kernel.mmu.fault_address();
        // SAFETY: in a handler, of a user's code.
        match unsafe { E::Target::page_fault(Self::process(), address) } {
            None => kernel.tell(context, address),
            Some(handle) => kernel.handle(context, address, handle),
        }
    }

    /// Handles a page fault, or finds that nothing can. Kept apart, so that the common path saves no registers for it.
    #[inline(never)]
    fn handle(&self, context: &mut Context, address: u64, handle: impl FnOnce() -> bool) {
        if !handle() {
            self.tell(context, address);
        }
    }

    /// Delivers an exception to the user's code as a signal, or kills the domain.
    #[inline(never)]
    fn tell(&self, context: &mut Context, address: u64) {
        let Kernel { trap, threads, told, .. } = self;
        let thread = threads.running();
        told.set(time::counter());
        // SAFETY: in a handler, of the thread that runs.
        if !unsafe { signal::tell(&**trap, thread, context, address) } {
            Self::dies(trap, thread, context);
        }
    }

    /// Kills the domain of the running thread.
    #[cold]
    #[inline(never)]
    fn dies(trap: &T, thread: &'static ProcessThread, context: &Context) {
        Self::report(context, " has done what it must not: exception ");
        // SAFETY: in a handler, of the thread that runs.
        unsafe { upcall::abort(&**trap, thread, Failed::Fault) };
    }

    /// The process whose code was interrupted.
    fn process() -> &'static Process<Self> {
        let process = gate::domain() as *const Domain as *const Process<Self>;
        // SAFETY: users' code runs in domains of processes only, which begin with them.
        unsafe { &*process }
    }

    /// Reports a process's death once.
    fn report(context: &Context, what: &str) {
        let Process { name, role, domain, .. } = Self::process();
        if domain.is_dead() {
            return;
        }
        if memory::is_open() {
            Console.say(&[Text("error: a handler is let to users' memory")]);
        }
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

    /// # Safety
    /// `of` is the kernel; called as a handler, when a thread has ended.
    unsafe extern "C" fn ended(of: *const ()) {
        // SAFETY: said so.
        let Kernel { threads, live, ended, .. } = unsafe { &*of.cast::<Self>() };
        let thread = threads.running();
        let process = gate::domain() as *const Domain as *const Process<Self>;
        // SAFETY: threads end in the domain in which they began, that of a process.
        let in_process = unsafe { &(*process).threads };
        in_process.set(in_process.get() - 1);
        live.set(live.get() - 1);
        // SAFETY: contexts change when this returns. Nothing is put onto this thread's stack any more.
        unsafe { threads.end() };
        ended.put(thread);
    }
}

impl<M, T, I, C, U, G, S, E> Owner for Kernel<M, T, I, C, U, G, S, E>
where
    M: Deref<Target: Platform> + 'static,
    T: Deref<Target: Trap> + 'static,
    I: Deref<Target: Controller> + 'static,
    C: Deref<Target: Timer> + 'static,
    U: Deref<Target: Mmu> + 'static,
    G: Deref<Target: Pool> + 'static,
    S: Deref<Target: Threads<Local = Activation>> + 'static,
    E: Deref<Target: Services> + 'static,
{
    type Pages = <G::Target as Pool>::Pages;
    type Services = E::Target;

    #[inline(never)]
    fn start_thread(&'static self, process: &'static Process<Self>, entry: u64, stack: u64) -> bool {
        if self.live.get() == MOST_THREADS {
            return false;
        }
        let mut context = Context::new(entry, stack, true, INTERRUPTIBLE | 2);
        *context.register(Register::Rdi) = process.role;
        let Some(thread) = self.thread(&process.domain, context) else { return false };
        // SAFETY: it was just made.
        let Ok(_) = unsafe { self.threads.bind(&thread, PRIORITY) };
        process.threads.set(process.threads.get() + 1);
        self.live.set(self.live.get() + 1);
        true
    }

    fn told(&self) -> u64 {
        self.told.get()
    }

    unsafe fn go_on(&self, at: u64) -> bool {
        // SAFETY: as the caller promises.
        unsafe { signal::go_on(&*self.trap, self.threads.running(), at) }
    }
}

/// An exception in the kernel: at an address that a user passed, or by an error of the kernel's own.
#[cold]
#[inline(never)]
fn own_fault(context: &mut Context) {
    if !memory::fail(context) {
        let (vector, at) = (Number(context.vector() as i64), Address(context.rip));
        Console.say(&[Text("error: the kernel's exception "), vector, Text(" at "), at]);
        end(101);
    }
}
