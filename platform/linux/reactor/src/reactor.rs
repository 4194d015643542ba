//! Sources, and the processes and handlers that wait for them: see the head of this crate.

mod bells;
mod handled;
mod served;
mod shared;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::io;
use std::mem::take;
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::time::{Duration, Instant};

use drystone_kortex::domain::Rings;
use drystone_kortex::{Expected, Host};
use drystone_runtime::layout::Process;
use drystone_runtime::native::Waiter;
use mio::{Events, Interest, Poll, Registry, Token, Waker};

use crate::handler::{Handler, Times};
use crate::patience::Patience;
use crate::signals::Signals;
use crate::sleeper::Sleeper;

/// What a process waits for at a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Something to read, a connection to accept, a helper thread's result.
    Read,
    /// Room to write, a connection that is made.
    Write,
}

/// Output that is written while no process waits for it.
pub trait Drain {
    /// Writes what the kernel takes; `true`: nothing is left to be written.
    fn drain(&self) -> bool;

    /// It takes too long: what is left is dropped.
    fn give_up(&self);
}

/// How long a connection that was closed may take to send the rest.
const LEAVING: Duration = Duration::from_secs(10);

/// Most events that are taken from the kernel at once. What a hundred connections need stays in the processor's caches
/// from the request that is read to the answer that is written; what a thousand need doesn't.
const EVENTS: usize = 128;

/// The token of the eventfd behind [`Waker`].
const WAKER: Token = Token(usize::MAX);

/// See the head of this file.
pub struct Reactor {
    rings: Rings,
    patience_with_rings: RefCell<Patience>,
    /// While there are no rings.
    patience: RefCell<Patience>,
    poll: RefCell<(Poll, Events)>,
    /// Of `poll`: sources come and go while that is borrowed.
    registry: Registry,
    state: RefCell<State>,
    signals: Arc<Signals>,
    sleeper: RefCell<Option<Weak<dyn Sleeper>>>,
    /// As many events as can be taken at once were taken: there may be more.
    is_crowded: Cell<bool>,
    /// How many times all sources were polled.
    turn: Cell<u64>,
    expected: Expected,
    /// A buffer for bytes on their way from the kernel to where they belong.
    pub scratch: RefCell<Box<[u8]>>,
}

#[derive(Default)]
struct State {
    sources: Vec<Source>,
    free: Vec<usize>,
    waits: HashMap<*mut Process, Wait>,
    deadlines: BTreeSet<(Instant, *mut Process)>,
    /// Sources that got output since the last wait.
    dirty: Vec<usize>,
    /// Sources that nobody writes to any more, and until when they may send the rest, in order of time.
    leaving: VecDeque<(Instant, usize)>,
    woken: Vec<*mut Process>,
    times: Times,
    /// How many sources have output.
    draining: usize,
    /// Sources whose readers and handlers go on in the next turn.
    again: Vec<usize>,
}

#[derive(Default)]
struct Source {
    readers: Vec<*mut Process>,
    writers: Vec<*mut Process>,
    handler: Option<Rc<dyn Handler>>,
    /// All that has come, as far as the kernel has said, was read.
    dry: bool,
    /// The kernel has said that nothing more will come.
    read_closed: bool,
    /// Only the first process that waits is woken.
    one_by_one: bool,
    draining: Option<Rc<dyn Drain>>,
    leaves: Option<Instant>,
}

struct Wait {
    source: Option<(usize, Direction)>,
    deadline: Option<Instant>,
}

impl Reactor {
    /// # Errors
    /// The system has no more file descriptors.
    pub fn new() -> io::Result<Rc<Reactor>> {
        let poll = Poll::new()?;
        let waker = Arc::new(Waker::new(poll.registry(), WAKER)?);
        Ok(Rc::new(Reactor {
            rings: Rings::default(),
            patience_with_rings: RefCell::new(Patience::new()),
            patience: RefCell::new(Patience::with_kernel()),
            registry: poll.registry().try_clone()?,
            poll: RefCell::new((poll, Events::with_capacity(EVENTS))),
            state: RefCell::default(),
            signals: Arc::new(Signals::new(waker)),
            sleeper: RefCell::default(),
            is_crowded: Cell::default(),
            turn: Cell::default(),
            expected: Expected::default(),
            scratch: RefCell::new(vec![0; 64 * 1024].into()),
        }))
    }

    /// The reactor that a program's naming contexts share.
    ///
    /// # Panics
    /// The program doesn't run on Linux.
    pub fn of(host: &Host) -> Rc<Reactor> {
        host.find().expect("each program on Linux shares its reactor")
    }

    /// A new source, which other threads signal or a kernel object will be registered for.
    pub fn source(&self) -> usize {
        let mut state = self.state.borrow_mut();
        state.free.pop().unwrap_or_else(|| {
            state.sources.push(Source::default());
            state.sources.len() - 1
        })
    }

    /// A new source for an object that the kernel watches.
    ///
    /// # Errors
    /// The kernel can't watch it.
    pub fn watch(&self, object: &mut impl mio::event::Source) -> io::Result<usize> {
        let source = self.source();
        let interest = Interest::READABLE | Interest::WRITABLE;
        let registered = self.registry.register(object, Token(source), interest);
        registered.inspect_err(|_| self.remove(source)).map(|()| source)
    }

    /// From now on only the first process that waits for the source is woken, and has to [`wake`](Self::wake) the next
    /// when it has tried.
    pub fn one_by_one(&self, source: usize) {
        self.state.borrow_mut().sources[source].one_by_one = true;
    }

    /// Removes the source of an object that the kernel watches.
    pub fn unwatch(&self, source: usize, object: &mut impl mio::event::Source) {
        // If it fails, closing the object does the same.
        let _ = self.registry.deregister(object);
        self.remove(source);
    }

    /// Removes a source. A late event for its number may wake a process or run a handler for nothing.
    pub fn remove(&self, source: usize) {
        let mut state = self.state.borrow_mut();
        let removed = take(&mut state.sources[source]);
        state.draining -= usize::from(removed.draining.is_some());
        state.free.push(source);
        // Without the borrow: what is dropped with it may remove other sources.
        drop((state, removed));
    }

    /// The process will be woken when the source is ready, or at the deadline.
    pub fn wait_for(&self, waiter: Waiter, source: Option<(usize, Direction)>, deadline: Option<Instant>) {
        let process = waiter.process;
        let state = &mut *self.state.borrow_mut();
        if let Some((source, direction)) = source {
            let waiting = state.sources[source].waiting(direction);
            if waiting.is_empty() {
                waiting.reserve_exact(1);
            }
            waiting.push(process);
        }
        if let Some(deadline) = deadline {
            state.deadlines.insert((deadline, process));
        }
        state.waits.insert(process, Wait { source, deadline });
    }

    /// A read gave less than there was room for: the next would block, unless the kernel reports more before.
    pub fn is_dry_now(&self, source: usize) {
        let source = &mut self.state.borrow_mut().sources[source];
        source.dry = !source.read_closed;
    }

    /// Whether a read would block for certain.
    pub fn is_dry(&self, source: usize) -> bool {
        self.state.borrow().sources[source].dry
    }

    /// The source has output: it is written when the program waits, if not before, and then whenever the kernel has
    /// room. The reactor keeps it until all is written.
    pub fn drain_later(&self, source: usize, bytes: Rc<dyn Drain>) {
        let state = &mut *self.state.borrow_mut();
        if state.sources[source].draining.is_none() {
            state.sources[source].draining = Some(bytes);
            state.draining += 1;
            state.dirty.push(source);
        }
    }

    /// Nobody writes to the source any more: what is left has to be written within a time limit.
    pub fn leave(&self, source: usize) {
        let state = &mut *self.state.borrow_mut();
        if state.sources[source].draining.is_some() && state.sources[source].leaves.is_none() {
            let until = Instant::now() + LEAVING;
            state.sources[source].leaves = Some(until);
            state.leaving.push_back((until, source));
        }
    }

    /// Wakes the processes that wait for the source.
    pub fn wake(&self, source: usize, direction: Direction) {
        self.state.borrow_mut().wake(source, direction);
    }

    /// How many processes wait here or are about to be woken, and how many sources have output: while there are any, a
    /// program whose processes all wait isn't in a deadlock.
    pub fn pending(&self) -> usize {
        let state = self.state.borrow();
        state.waits.len() + state.woken.len() + state.draining + self.expected.count()
    }

    /// Calls `each` for all processes that wait here.
    pub fn waiting(&self, each: &mut dyn FnMut(*mut Process)) {
        self.state.borrow().waits.keys().for_each(|&process| each(process));
    }

    /// The process isn't woken any more: it may be gone before the next wait.
    pub fn forget(&self, process: *mut Process) {
        let state = &mut *self.state.borrow_mut();
        state.forget(process);
        state.woken.retain(|&other| other != process);
    }

    /// See `Platform::wait`.
    pub fn wait(&self, timeout: Option<Duration>, wake: &mut dyn FnMut(*mut Process)) {
        let pending = self.pending();
        let end = timeout.filter(|t| !t.is_zero()).map(|timeout| Instant::now() + timeout);
        loop {
            self.turn.set(self.turn.get() + 1);
            let resumed = self.resume();
            let dirty = take(&mut self.state.borrow_mut().dirty);
            for source in dirty {
                self.drain(source);
            }
            let served = self.rings.serve();
            let is_busy = timeout == Some(Duration::ZERO);
            let over = is_busy || (pending > 0 && self.pending() == 0);
            let limit = if over || served || resumed || self.state.borrow().has_more() {
                Some(Duration::ZERO)
            } else {
                let limit = self.state.borrow().next_deadline(end);
                limit.map(|limit| limit.saturating_duration_since(Instant::now()))
            };
            let left_alone = served && !over && self.rings.have_priority();
            let mut notified = served | resumed | (!left_alone && self.rest(limit)) | self.run_due();
            self.expire();
            if !is_busy && !notified && self.state.borrow().woken.is_empty() {
                notified = self.run_early();
            }
            let woken = take(&mut self.state.borrow_mut().woken);
            for &process in &woken {
                wake(process);
            }
            let passed = end.is_some_and(|end| end <= Instant::now());
            if notified || over || passed || !woken.is_empty() {
                return;
            }
        }
    }

    /// The number of this turn. In each turn all sources are polled once.
    pub fn turn(&self) -> u64 {
        self.turn.get()
    }

    /// There is more to read, but other sources have a turn first: in the next turn the source's readers and handler go
    /// on.
    pub fn come_back(&self, source: usize) {
        let again = &mut self.state.borrow_mut().again;
        if !again.contains(&source) {
            again.push(source);
        }
    }

    /// Goes on with the sources that [come back](Self::come_back); whether there were any.
    fn resume(&self) -> bool {
        let again = take(&mut self.state.borrow_mut().again);
        for &source in &again {
            self.state.borrow_mut().wake(source, Direction::Read);
            self.run_handler(source);
        }
        !again.is_empty()
    }

    /// Before the program ends: sends the output that is left, within a time limit.
    pub fn finish(&self) {
        let end = Instant::now() + LEAVING;
        while self.state.borrow().draining > 0 && Instant::now() < end {
            self.wait(Some(end.saturating_duration_since(Instant::now())), &mut |_| {});
        }
    }

    /// Takes the kernel's events; whether another thread wants attention, or a handler ran, which may have woken
    /// processes.
    fn look(&self, limit: Option<Duration>) -> bool {
        let (limit, mut notified) = self.share(limit);
        let (poll, events) = &mut *self.poll.borrow_mut();
        if poll.poll(events, limit).is_err() {
            // Interrupted by a signal: as if the time had passed.
            return notified;
        }
        self.is_crowded.set(events.iter().count() == EVENTS);
        for event in events.iter() {
            if event.token() == WAKER {
                notified = true;
                for source in self.signals.take() {
                    self.state.borrow_mut().wake(source, Direction::Read);
                    self.run_handler(source);
                }
                continue;
            }
            let source = event.token().0;
            let mut concerns_handler = false;
            if event.is_readable() || event.is_read_closed() || event.is_error() {
                {
                    let state = &mut *self.state.borrow_mut();
                    state.sources[source].dry = false;
                    state.sources[source].read_closed |= event.is_read_closed() || event.is_error();
                    state.wake(source, Direction::Read);
                }
                concerns_handler = true;
            }
            if event.is_writable() || event.is_write_closed() || event.is_error() {
                self.drain(source);
                concerns_handler = true;
            }
            notified |= concerns_handler && self.run_handler(source);
        }
        notified
    }

    /// Writes the source's output, and wakes the processes that wait to write.
    pub fn drain(&self, source: usize) {
        let draining = self.state.borrow().sources[source].draining.clone();
        let drained = draining.as_ref().is_some_and(|bytes| bytes.drain());
        let state = &mut *self.state.borrow_mut();
        state.wake(source, Direction::Write);
        // `draining` keeps the socket until the borrow has ended, as its end removes the source. The output may have
        // removed itself.
        if drained && state.sources[source].draining.take().is_some() {
            state.draining -= 1;
        }
    }

    /// Wakes the processes whose deadline has passed, and gives up output that takes too long.
    fn expire(&self) {
        let mut given_up = Vec::new();
        {
            let state = &mut *self.state.borrow_mut();
            if state.deadlines.is_empty() && state.leaving.is_empty() {
                return;
            }
            let now = Instant::now();
            while let Some(&(deadline, process)) = state.deadlines.first()
                && deadline <= now
            {
                state.forget(process);
                state.woken.push(process);
            }
            while let Some(&(until, source)) = state.leaving.front()
                && until <= now
            {
                state.leaving.pop_front();
                // Otherwise the number is another source's by now.
                if state.sources[source].leaves == Some(until)
                    && let Some(bytes) = state.sources[source].draining.take()
                {
                    state.draining -= 1;
                    state.wake(source, Direction::Write);
                    given_up.push(bytes);
                }
            }
        }
        for bytes in given_up {
            bytes.give_up();
        }
    }
}

impl Source {
    fn waiting(&mut self, direction: Direction) -> &mut Vec<*mut Process> {
        match direction {
            Direction::Read => &mut self.readers,
            Direction::Write => &mut self.writers,
        }
    }
}

impl State {
    fn wake(&mut self, source: usize, direction: Direction) {
        while let Some(&process) = self.sources[source].waiting(direction).first() {
            self.forget(process);
            self.woken.push(process);
            if self.sources[source].one_by_one {
                break;
            }
        }
    }

    fn forget(&mut self, process: *mut Process) {
        let Some(wait) = self.waits.remove(&process) else { return };
        if let Some((source, direction)) = wait.source {
            self.sources[source].waiting(direction).retain(|&other| other != process);
        }
        if let Some(deadline) = wait.deadline {
            self.deadlines.remove(&(deadline, process));
        }
    }

    /// Whether there is something to do at once.
    fn has_more(&self) -> bool {
        !self.woken.is_empty() || self.times.has_early()
    }

    fn next_deadline(&self, end: Option<Instant>) -> Option<Instant> {
        let deadline = self.deadlines.first().map(|&(deadline, _)| deadline);
        let leaving = self.leaving.front().map(|&(until, _)| until);
        [end, deadline, leaving, self.times.first()].into_iter().flatten().min()
    }
}
