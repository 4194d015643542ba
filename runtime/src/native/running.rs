//! How native processes run: a service's, which has what its component made for that client, and a component's main
//! process.
//!
//! # Safety
//! The runtime calls bodies at home (see [`crate::home`]), with a live process of a [`Kind`](super::Kind). The word in
//! a process's frame is null or owns what runs there, which is taken out exactly once: when it has ended or is ended by
//! force. The entry points keep the process alive until the scheduler gets control, whatever they answer.

use alloc::boxed::Box;
use alloc::rc::Rc;

use drystone_component::Interface;

use super::kind::{component_cell, kind_of, main_cell};
use super::turn::{Outcome, Serve, Turn};
use crate::communication::moving::NO_LOCATION;
use crate::far::standing::take;
use crate::instance::natives::run_native;
use crate::instance::{body_of, runs};
use crate::layout::*;
use crate::life::ending::{ds_begun, ds_finish};
use crate::life::stopping;

/// A service that runs; owned by its process's frame.
pub(super) struct Running {
    pub(super) serve: Box<dyn Serve>,
    /// The last loan of what serves: see the direct module.
    pub(super) lent: Option<Rc<dyn Lent>>,
}

/// A loan as the service sees it.
pub(super) trait Lent {
    /// Whether it lasts.
    fn lasts(&self) -> bool;
    /// It ends.
    fn end(&self);
}

impl Running {
    /// Whether nobody can be using the object: its borrower has gone, or the loan is over.
    pub(super) fn may_lend(&self) -> bool {
        self.lent.as_ref().is_none_or(|loan| Rc::strong_count(loan) == 1 || !loan.lasts())
    }

    /// Ends the loan; whether there was one.
    fn recall(&mut self) -> bool {
        self.lent.take().is_some_and(|loan| {
            let lasted = loan.lasts();
            loan.end();
            lasted
        })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.recall();
    }
}

/// Resume function of every native process: calls its body's function; and of those that go on no further. See
/// `ENTRY_POINTS.md`.
///
/// # Safety
/// `process` runs on `worker`, the home worker; its body is native, or it is stopping.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_native(worker: *mut Worker, process: *mut Process) {
    // SAFETY: the process runs.
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
/// The communication is live.
pub(super) unsafe fn is_native_service(c: *mut Communication) -> bool {
    // SAFETY: a communication with an instance begins with a process of that.
    unsafe { !(*c).process.instance.is_null() && runs(body_of(c.cast()), &RUN) }
}

/// Whether a process is a native component's service that has received something which has no answer, and waits for
/// the platform before it can go on with that.
///
/// # Safety
/// At home; the process is alive.
pub(crate) unsafe fn is_at_work(p: *mut Process) -> bool {
    // SAFETY: the process is alive; a service is its communication's process.
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
///
/// # Safety
/// At home; the process is such a one, alive, and has its turn.
unsafe extern "C" fn run(worker: *mut Worker, process: *mut Process) {
    // SAFETY: the process is a service of its kind's binding, and has its turn; its cell is null or owns the running
    // code.
    unsafe {
        let binding = &kind_of((*process).instance).bindings[(*process).body as usize];
        let cell = binding.cell::<Running>(process);
        let status = (*process).status;
        if status == FAILED {
            return drop(take(cell));
        }
        if status == RECALLED {
            if let Some(running) = (*cell).as_mut() {
                running.recall();
            }
            return;
        }
        let turn = Turn { worker, process, binding };
        if (*cell).is_null() {
            begin(&turn, cell);
        }
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

/// Makes what serves a new client.
///
/// # Safety
/// The cell is that of the turn's process, and null.
unsafe fn begin(turn: &Turn, cell: *mut *mut Running) {
    // SAFETY: a kind's instance has a component until its FINALLY.
    unsafe {
        let own = *component_cell((*turn.process).instance);
        let serving = (*own).component.serve((*turn.process).body as usize);
        let is_meant = serving.declaration.fingerprint == turn.binding.declaration.fingerprint;
        assert!(is_meant, "serves another interface");
        *cell = Box::into_raw(Box::new(Running { serve: serving.serve, lent: None }));
        (**cell).serve.begin(turn, &(*own).here);
    }
}

/// Body of a native component's main process.
///
/// # Safety
/// At home; the process is such a one, alive, and has its turn.
pub(super) unsafe extern "C" fn main(worker: *mut Worker, process: *mut Process) {
    // SAFETY: the process is a kind's main one, and runs; its cell is null or owns what it does.
    unsafe {
        let instance = (*process).instance;
        let cell = main_cell(process);
        if (*process).status == FAILED {
            return drop(take(cell));
        }
        let own = *component_cell(instance);
        let here = (*own).here.clone();
        if (*cell).is_null() {
            let ports = kind_of(instance).ports(here.clone(), instance);
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
///
/// # Safety
/// At home; the process is such a one, and no other of the instance is alive.
pub(super) unsafe extern "C" fn finally(worker: *mut Worker, process: *mut Process) {
    // SAFETY: the process runs, in an instance of a kind; no other of its processes is alive.
    unsafe {
        drop(take(component_cell((*process).instance)));
        if (*process).status != FAILED {
            ds_finish(worker, process, NO_LOCATION);
        }
    }
}
