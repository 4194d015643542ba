//! How native processes run: a service's, which has what its component made for that client, and a component's main
//! process.
//!
//! # Soundness
//!
//! The runtime calls the functions below on the home worker's thread with that worker, and with a live process of a
//! [`Kind`](super::Kind) or an instance of one, so nothing here is ever shared between threads. The word in a
//! process's frame is null or owns what runs there, which is taken out exactly once: when it has ended or is ended by
//! force. The entry points keep the process alive until the scheduler gets control, whatever they answer.

use alloc::boxed::Box;
use alloc::rc::Rc;
use core::any::Any;
use core::cell::Cell;
use core::future::Future;
use core::marker::PhantomData;
use core::{mem, ptr};

use drystone_component::Interface;

use super::direct::Lent;
use super::here::Here;
use super::kind::{Binding, component_cell, kind_of, main_cell, take};
use super::ports::Ports;
use super::session::{End, Place, Protocol, Server};
use super::{Activity, Serving, park, platform, unpark};
use crate::communication::{drop_words, ds_received, payload};
use crate::instance::natives::run_native;
use crate::instance::{body_of, runs};
use crate::layout::*;
use crate::life::ending::{ds_begun, ds_finish};
use crate::life::stopping;

/// No location in the source.
const NO_LOCATION: u32 = u32::MAX;

/// A service that runs; owned by its process's frame.
pub(super) struct Running {
    pub(super) serve: Box<dyn Serve>,
    /// The last loan of what serves: see the direct module.
    pub(super) lent: Option<Rc<dyn Lent>>,
}

/// What became of a run.
#[derive(PartialEq)]
pub(super) enum Outcome {
    /// It has to wait: the process is queued somewhere, or parked.
    Waits,
    /// It has come to its end.
    Ended,
}

/// What a service process does for its client.
pub(super) trait Serve {
    /// Goes on.
    fn run(&mut self, turn: &Turn) -> Outcome;

    /// A request has come while it was parked with its communication marked: see the calls module.
    fn called(&mut self, turn: &Turn) -> Outcome {
        self.run(turn)
    }

    /// The object whose methods are the calls, if it is one.
    fn object(&mut self) -> Option<&mut dyn Any> {
        None
    }
}

/// A service process, as it runs.
pub(super) struct Turn {
    pub(super) worker: *mut Worker,
    pub(super) process: *mut Process,
    pub(super) binding: &'static Binding,
}

impl Turn {
    pub(super) fn communication(&self) -> *mut Communication {
        self.process.cast()
    }

    /// Its component's.
    pub(super) fn here(&self) -> Rc<Here> {
        // SAFETY: see the head of this file.
        unsafe { (**component_cell((*self.process).instance)).here.clone() }
    }

    #[allow(clippy::mut_from_ref, reason = "it is the communication's, and looked at for one expression")]
    fn word(&self) -> &mut CommunicationWord {
        // SAFETY: the process lives while it runs, and is a service's; nobody else looks at the word meanwhile.
        unsafe { &mut (*self.communication()).word }
    }

    /// A message of the client's is there.
    pub(super) fn has_request(&self) -> bool {
        self.word().tag != 0 && self.word().flags & FOR_CLIENT == 0
    }

    /// Takes the request out of the buffer.
    pub(super) fn take_request(&self) {
        self.drop_request();
        // SAFETY: see the head of this file.
        unsafe { ds_received(self.worker, self.communication()) }
    }

    /// Drops what the request in the buffer carries.
    pub(super) fn drop_request(&self) {
        let (c, number) = (self.communication(), usize::from(self.word().tag) - 1);
        if !self.binding.parameters(number).is_empty() {
            // SAFETY: see the head of this file; the buffer holds a message for this side.
            unsafe { drop_words(self.worker, payload(c), self.binding.interface, number as u32) }
        }
    }

    pub(super) fn client_closed(&self) -> bool {
        self.word().flags & (CLIENT_CLOSED | GONE) != 0
    }

    /// Whether nothing more will be received: neither side can send any more, or the client has closed.
    pub(super) fn is_over(&self) -> bool {
        let sends = Interface::CLIENT_SENDS | Interface::SERVER_SENDS;
        let state = self.binding.interface.state(self.word().state);
        !self.has_request() && (self.client_closed() || state & sends == 0)
    }

    /// Marks the communication as one whose requests are answered at once, or takes that mark away.
    pub(super) fn mark(&self, is_called: bool) {
        let flags = &mut self.word().flags;
        // Who is called needs no stream: each message is taken when it is sent.
        *flags = if is_called { *flags & !STREAMS | CALLS } else { *flags & !CALLS };
    }

    /// Goes on in its turn, and not within a call.
    fn put_off(&self) -> Outcome {
        self.mark(false);
        // SAFETY: see the head of this file.
        unsafe { unpark(self.worker, self.process) }
        Outcome::Waits
    }

    /// Waits for the platform; the client's closing ends the wait too.
    pub(super) fn park(&self) -> Outcome {
        // SAFETY: the process runs, on this worker.
        unsafe { park(self.worker, self.process) }
        Outcome::Waits
    }

    /// The platform may have it registered still, if it wasn't the one to wake it.
    pub(super) fn forget(&self) {
        // SAFETY: this is the home worker.
        unsafe { (*platform(self.worker)).forget(self.process) }
    }
}

/// Resume function of every native process: calls its body's function; and of those that go on no further. See
/// `ENTRY_POINTS.md`.
///
/// # Safety
/// `process` runs on `worker`, the home worker; its body is native, or it is stopping.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_native(worker: *mut Worker, process: *mut Process) {
    // SAFETY: as the caller promises.
    unsafe {
        if body_of(process).native.is_null() {
            stopping::go_on(worker, process);
        } else {
            run_native(worker, process);
        }
    }
}

/// Whether a communication's service is a native component's.
///
/// # Safety
/// The communication is alive.
pub(super) unsafe fn is_native_service(c: *mut Communication) -> bool {
    // SAFETY: as the caller promises.
    unsafe { !(*c).process.instance.is_null() && runs(body_of(c.cast()), &RUN) }
}

/// Whether a process is a native component's service that has received something which has no answer, and waits for
/// the platform before it can go on with that.
///
/// # Safety
/// The process is alive, on the home worker's thread.
pub(crate) unsafe fn is_at_work(p: *mut Process) -> bool {
    // SAFETY: as the caller promises; a service is its communication's process.
    unsafe {
        let c = p.cast::<Communication>();
        let interface = body_of(p).interface;
        (*p).status == PLATFORM
            && !interface.is_null()
            && is_native_service(c)
            && (*c).word.flags & CALLS == 0
            && (*interface).state((*c).word.state) & Interface::SERVER_SENDS == 0
    }
}

/// [`run`], as it is told by.
pub(super) static RUN: NativeBody = run;

/// Body of native service processes.
unsafe extern "C" fn run(worker: *mut Worker, process: *mut Process) {
    // SAFETY: see the head of this file.
    unsafe {
        let binding = &kind_of((*process).instance).bindings[(*process).body as usize];
        let cell = binding.cell::<Running>(process);
        let status = (*process).status;
        if status == FAILED {
            return drop(take(cell));
        }
        if status == RECALLED {
            return recall(*cell);
        }
        if (*cell).is_null() {
            *cell = begin(process, binding);
        }
        let turn = Turn { worker, process, binding };
        let was_lent = (**cell).recall();
        let outcome = match status {
            CALLED => {
                (*process).status = PLATFORM;
                if was_lent { turn.put_off() } else { (**cell).serve.called(&turn) }
            }
            _ => (**cell).serve.run(&turn),
        };
        if outcome == Outcome::Ended {
            drop(take(cell));
            ds_finish(worker, process, NO_LOCATION);
        }
    }
}

/// A service ends what it has lent, if it has begun.
unsafe fn recall(running: *mut Running) {
    // SAFETY: it is null or alive, and nobody else uses what says what is lent.
    if let Some(running) = unsafe { running.as_mut() } {
        running.recall();
    }
}

/// Makes what serves a new client.
unsafe fn begin(process: *mut Process, binding: &'static Binding) -> *mut Running {
    // SAFETY: see the head of this file.
    let serving = unsafe {
        let own = &mut **component_cell((*process).instance);
        own.component.serve((*process).body as usize)
    };
    assert!(serving.declaration.fingerprint == binding.declaration.fingerprint, "serves another interface");
    Box::into_raw(Box::new(Running { serve: serving.serve, lent: None }))
}

impl Serving {
    /// Serves the client by asynchronous code, which may end where the protocol may.
    pub fn session<P: Protocol, F: Future<Output = ()> + 'static>(
        act: impl FnOnce(Server<P>) -> F + 'static,
    ) -> Serving {
        let begin: Begin = Box::new(|end| Box::pin(act(Server(end, PhantomData))));
        Serving { serve: Box::new(Session::Begins(begin)), declaration: P::DECLARATION }
    }
}

type Begin = Box<dyn FnOnce(End) -> Activity>;

/// A session that is served by asynchronous code.
enum Session {
    Begins(Begin),
    Runs(Runs),
    Ended,
}

struct Runs {
    activity: Activity,
    /// Null when the process has ended.
    communication: Rc<Cell<*mut Communication>>,
    /// The last run has left it waiting for the platform.
    is_parked: bool,
}

impl Session {
    fn begin(&mut self, turn: &Turn) {
        if let Session::Begins(begin) = mem::replace(self, Session::Ended) {
            let communication = Rc::new(Cell::new(turn.communication()));
            let place = Place::Service(communication.clone());
            let end = End { here: turn.here(), place, interface: turn.binding.interface };
            let activity = turn.here().within(turn.worker, turn.process, || begin(end));
            *self = Session::Runs(Runs { activity, communication, is_parked: false });
        }
    }
}

impl Serve for Session {
    fn run(&mut self, turn: &Turn) -> Outcome {
        if matches!(self, Session::Begins(_)) {
            self.begin(turn);
        }
        let Session::Runs(Runs { activity, is_parked, .. }) = self else { return Outcome::Ended };
        if mem::take(is_parked) {
            turn.forget();
            // What it waits for is for a client that has gone.
            if turn.client_closed() && !turn.has_request() {
                return Outcome::Ended;
            }
        }
        // SAFETY: see the head of this file.
        let has_ended = unsafe { turn.here().poll(turn.worker, turn.process, activity) };
        // SAFETY: likewise.
        *is_parked = unsafe { (*turn.process).status } == PLATFORM;
        if has_ended { Outcome::Ended } else { Outcome::Waits }
    }
}

impl Drop for Runs {
    fn drop(&mut self) {
        self.communication.set(ptr::null_mut());
    }
}

/// Body of a native component's main process.
pub(super) unsafe extern "C" fn main(worker: *mut Worker, process: *mut Process) {
    // SAFETY: see the head of this file.
    unsafe {
        let instance = (*process).instance;
        let cell = main_cell(process);
        if (*process).status == FAILED {
            return drop(take(cell));
        }
        let own = *component_cell(instance);
        let here = (*own).here.clone();
        if (*cell).is_null() {
            let ports = Ports { here: here.clone(), instance, kind: kind_of(instance) };
            let activity = here.within(worker, process, || (*own).component.begin(ports));
            *cell = Box::into_raw(Box::new(activity));
            ds_begun(worker, process);
        }
        if here.poll(worker, process, &mut **cell) {
            drop(take(cell));
            ds_finish(worker, process, NO_LOCATION);
        }
    }
}

/// Body of a native component's FINALLY: drops what its services shared.
pub(super) unsafe extern "C" fn finally(worker: *mut Worker, process: *mut Process) {
    // SAFETY: see the head of this file.
    unsafe {
        drop(take(component_cell((*process).instance)));
        if (*process).status != FAILED {
            ds_finish(worker, process, NO_LOCATION);
        }
    }
}
