//! The platform as the runtime sees it.
//!
//! # Soundness
//!
//! Interrupts are on while a program runs, except for the moment before the processor halts. An interrupt that comes
//! then ends the halt.

use alloc::boxed::Box;
use alloc::rc::Rc;
use core::any::Any;

use drystone_kortex::bindings::Bindings;
use drystone_kortex::composed::Times;
use drystone_kortex::domain::Home;
use drystone_kortex::{Addition, Host};
use drystone_machine::Console;
use drystone_runtime::binding::Binder;
use drystone_runtime::layout::Process;
use drystone_runtime::platform::{Attention, Platform, Threads, Tick};
use kortex_hal::x86_64::instructions::interrupts;

use crate::domains::{Domains, Harbour, user_process};
use crate::serial_line::Line;
use crate::{attention, clock, memory, serial_line, threads};

/// A program on a PC.
pub(crate) struct Pc {
    line: Rc<Line>,
    harbour: Rc<Harbour>,
    times: Rc<Times>,
    bindings: Bindings,
}

impl Pc {
    /// With domains, if the program has any.
    pub(crate) fn new(
        line: &Rc<Line>,
        harbour: &Rc<Harbour>,
        additions: &'static [&'static Addition],
        domains: Option<Domains>,
    ) -> Pc {
        let times = Times::new(clock::now);
        let mut bindings = Bindings::added(additions.iter().copied(), &Host::default(), times.clone());
        if let Some(domains) = domains {
            bindings.add_manager("process", Box::new(domains));
        }
        Pc { line: line.clone(), harbour: harbour.clone(), times, bindings }
    }

    /// Rests until there is unseen input, or until that time.
    fn rest(&self, until: Option<u64>) {
        clock::wake_at(until);
        interrupts::disable();
        let is_over = until.is_some_and(|until| until <= clock::now());
        if is_over || self.line.has_come() || user_process::is_news() {
            interrupts::enable();
        } else if threads::are_there() {
            threads::rest();
            interrupts::enable();
        } else {
            interrupts::enable_and_hlt();
        }
    }
}

impl Platform for Pc {
    fn write(&mut self, bytes: &[u8]) -> usize {
        serial_line::send(bytes);
        bytes.len()
    }

    fn report(&mut self, bytes: &[u8]) {
        Console.write_bytes(bytes);
    }

    fn attend(&mut self, attention: Attention) {
        attention::set(attention);
    }

    fn wait(&mut self, timeout: Option<u64>, wake: &mut dyn FnMut(*mut Process)) {
        let end = timeout.map(|timeout| clock::now().saturating_add(timeout));
        loop {
            let something_came = self.harbour.serve() | self.line.wake(wake) | self.times.wake();
            if something_came || end.is_some_and(|end| end <= clock::now()) {
                return;
            }
            if self.harbour.rings().lie_down() {
                self.rest([end, self.times.first()].into_iter().flatten().min());
                self.harbour.rings().get_up();
            }
        }
    }

    fn pending(&self) -> usize {
        self.line.waiting() + self.times.len() + self.harbour.expected().count()
    }

    fn forget(&mut self, process: *mut Process) {
        self.line.forget(process);
    }

    fn threads(&self) -> &'static dyn Threads {
        &THREADS
    }

    fn binder(&mut self) -> Option<&mut dyn Binder> {
        Some(&mut self.bindings)
    }

    fn as_any(&mut self) -> &mut dyn Any {
        self
    }
}

/// There are no threads besides the processor's own.
struct PcThreads;

static THREADS: PcThreads = PcThreads;

impl Threads for PcThreads {
    fn clock(&self) -> u64 {
        clock::now()
    }

    fn start_ticker(&self, tick: Tick) {
        clock::start_ticker(tick);
    }

    fn wake_ticker(&self) {
        clock::wake_ticker();
    }

    /// No other code can call this while the processor rests.
    fn notify(&self) {}

    fn allocate(&self, bytes: usize) -> *mut u8 {
        memory::allocate(bytes)
    }

    unsafe fn free(&self, memory: *mut u8, bytes: usize) {
        // SAFETY: the caller promises that the memory came from `allocate` with this size, and isn't used any more.
        unsafe { memory::free(memory, bytes) };
    }
}
