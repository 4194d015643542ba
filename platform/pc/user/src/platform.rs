//! The platform as a domain's runtime sees it, and the home of the channel to its holder.

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::string::String;
use core::any::Any;

use drystone_calls::{NEVER, Stream};
use drystone_component::{Name, Template};
use drystone_kortex::bindings::Bindings;
use drystone_kortex::composed::Times;
use drystone_kortex::domain::{Home, Rings, Wake};
use drystone_kortex::{Addition, Expected, Host};
use drystone_runtime::binding::{Binder, Hints, ResourceManager};
use drystone_runtime::far::Domain;
use drystone_runtime::layout::Process;
use drystone_runtime::platform::{Platform, Threads, Tick};

use crate::{calls, clock, memory};

/// Serves the channel to the holder.
#[derive(Default)]
pub(crate) struct Harbour {
    rings: Rings,
    expected: Expected,
}

impl Home for Harbour {
    fn rings(&self) -> &Rings {
        &self.rings
    }

    fn expected(&self) -> &Expected {
        &self.expected
    }

    fn report(&self, message: &str) {
        calls::write(Stream::Errors, message.as_bytes());
    }
}

/// Wakes the holder, which sleeps.
pub(crate) struct Holder;

impl Wake for Holder {
    fn wake(&self) {
        calls::ring();
    }
}

/// A resource manager that refuses: a domain can't make domains.
struct Nowhere;

impl ResourceManager for Nowhere {
    fn create(
        &mut self,
        _: &'static Template,
        _: Name<'_>,
        _: &Hints<'_>,
    ) -> Result<Box<dyn Domain>, String> {
        Err("a domain of this machine makes no others: its holder can".into())
    }
}

/// The platform of a domain.
pub(crate) struct User {
    harbour: Rc<Harbour>,
    times: Rc<Times>,
    bindings: Bindings,
}

impl User {
    pub(crate) fn new(harbour: &Rc<Harbour>, additions: &'static [&'static Addition]) -> User {
        let times = Times::new(clock::now);
        let mut bindings = Bindings::added(additions.iter().copied(), &Host::default(), times.clone());
        bindings.add_manager("process", Box::new(Nowhere));
        User { harbour: harbour.clone(), times, bindings }
    }
}

impl Platform for User {
    fn write(&mut self, bytes: &[u8]) -> usize {
        calls::write(Stream::Output, bytes);
        bytes.len()
    }

    fn report(&mut self, bytes: &[u8]) {
        calls::write(Stream::Errors, bytes);
    }

    fn wait(&mut self, timeout: Option<u64>, _wake: &mut dyn FnMut(*mut Process)) {
        let end = timeout.map(|timeout| clock::now().saturating_add(timeout));
        let rings = &self.harbour.rings;
        loop {
            let something_came = rings.serve() | self.times.wake();
            if something_came || end.is_some_and(|end| end <= clock::now()) {
                return;
            }
            if rings.lie_down() {
                let first = [end, self.times.first()].into_iter().flatten().min();
                // A bell that has rung before this ends it at once.
                calls::rest(first.map_or(NEVER, |time| time.saturating_sub(clock::now()).max(1)));
                rings.get_up();
            }
        }
    }

    fn pending(&self) -> usize {
        self.times.len() + self.harbour.expected.count()
    }

    fn forget(&mut self, _: *mut Process) {}

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

/// There is one thread.
struct Alone;

static THREADS: Alone = Alone;

impl Threads for Alone {
    fn clock(&self) -> u64 {
        clock::now()
    }

    fn start_ticker(&self, tick: Tick) {
        clock::start_ticker(tick);
    }

    fn wake_ticker(&self) {
        clock::wake_ticker();
    }

    /// No other code can call this while the thread rests.
    fn notify(&self) {}

    fn allocate(&self, bytes: usize) -> *mut u8 {
        memory::allocate(bytes)
    }

    unsafe fn free(&self, memory: *mut u8, bytes: usize) {
        // SAFETY: the caller promises that the memory came from `allocate` with this size, and isn't used any more.
        unsafe { memory::free(memory, bytes) };
    }
}
