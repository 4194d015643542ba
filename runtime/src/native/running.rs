//! How a native service runs: the loop between its communication and its [`Service`](super::Service).
//!
//! # Soundness
//!
//! The runtime calls the functions below on the home worker's thread with that worker, and with a live process of a
//! [`Kind`](super::Kind) or an instance of one, so nothing here is ever shared between threads. The word in a service
//! process's frame is null or owns its `Running`, which is taken out exactly once: by [`run`], when the service has
//! ended or the process is ended by force. The entry points keep the process alive until
//! the scheduler gets control, whatever they answer.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use core::ptr;

use drystone_component::{Interface, Side, Type};

use super::kind::{component_cell, kind_of};
use super::{Call, Serve, Value, Values, park, platform};
use crate::communication::{ANY, drop_words, ds_receive, ds_received, ds_send, ds_sent, ds_test};
use crate::failure::ds_fail;
use crate::layout::{
    CLIENT_CLOSED, Communication, CommunicationWord, FAILED, FOR_CLIENT, Fault, GONE, Process, Worker,
};
use crate::life::ending::ds_finish;
use crate::process::run_native;
use crate::worker::heap_of;
use crate::{instance, text};

/// A service that runs; owned by its process's frame.
pub(super) struct Running {
    service: Box<dyn Serve>,
    call: Call,
}

/// What became of a run.
#[derive(PartialEq)]
enum Outcome {
    /// It has to wait: the process is queued somewhere, or parked.
    Waits,
    /// The client has closed, or the protocol is at its end.
    Ended,
}

/// No location in the source.
const NO_LOCATION: u32 = u32::MAX;

/// Resume function of every native process: calls its body's function. See `ENTRY_POINTS.md`.
///
/// # Safety
/// `process` runs on `worker`, the home worker; its body is native.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_native(worker: *mut Worker, process: *mut Process) {
    // SAFETY: as the caller promises.
    unsafe { run_native(worker, process) }
}

/// Body of native service processes.
pub(super) unsafe extern "C" fn run(worker: *mut Worker, process: *mut Process) {
    // SAFETY: see the head of this file.
    unsafe {
        let instance = (*process).instance;
        let index = (*process).body as usize;
        let binding = &kind_of(instance).bindings[index];
        let cell = binding.cell::<Running>(process);
        if (*process).status == FAILED {
            return drop_running(cell);
        }
        if (*cell).is_null() {
            let service = (**component_cell(instance)).serve(index);
            assert!(service.declaration.name == binding.declaration.name, "serves another interface");
            let call =
                Call { worker, process, binding, outbox: VecDeque::new(), waiting: false, halted: false };
            *cell = Box::into_raw(Box::new(Running { service: service.service, call }));
        }
        let running = &mut **cell;
        running.call.worker = worker;
        if running.go_on() == Outcome::Ended {
            drop_running(cell);
            ds_finish(worker, process, NO_LOCATION);
        }
    }
}

/// Body of a native component's FINALLY: drops what its services shared.
pub(super) unsafe extern "C" fn finally(worker: *mut Worker, process: *mut Process) {
    // SAFETY: see the head of this file.
    unsafe {
        let cell = component_cell((*process).instance);
        if !(*cell).is_null() {
            drop(Box::from_raw(*cell));
            *cell = ptr::null_mut();
        }
        if (*process).status != FAILED {
            ds_finish(worker, process, NO_LOCATION);
        }
    }
}

/// Drops what a native service process owns.
unsafe fn drop_running(cell: *mut *mut Running) {
    // SAFETY: the cell is that of a live process of a kind; see the head of this file.
    unsafe {
        if !(*cell).is_null() {
            drop(Box::from_raw(*cell));
            *cell = ptr::null_mut();
        }
    }
}

impl Running {
    fn go_on(&mut self) -> Outcome {
        // Whether it has said just now that it waits. Else this is a wakening, or may stand for one that came while
        // the outbox waited for the client: a service may be woken for nothing, but never too seldom.
        let mut fresh = false;
        loop {
            if !self.call.flush() || self.call.halted {
                return Outcome::Waits;
            }
            if !self.call.waiting {
                if self.call.at_end() {
                    return Outcome::Ended;
                }
                match self.receive() {
                    Some(outcome) => return outcome,
                    None => fresh = true,
                }
            } else if fresh {
                self.call.park();
                return Outcome::Waits;
            } else {
                self.call.waiting = false;
                self.call.forget();
                // What the client sent before it closed is still received.
                if !self.call.client_closed() {
                    self.service.ready(&mut self.call);
                    fresh = true;
                }
            }
        }
    }

    /// Receives a request and passes it on; else what became of it.
    fn receive(&mut self) -> Option<Outcome> {
        let call = &mut self.call;
        let (worker, process, interface) = (call.worker, call.process, call.binding.interface);
        let communication = process.cast::<Communication>();
        // SAFETY: see the head of this file; the words of the message belong to us, and stay where they are until the
        // client is told that it may send again.
        unsafe {
            match ds_test(worker, process, communication, interface, Side::Server as u32, ANY, NO_LOCATION) {
                0 => return Some(Outcome::Ended),
                1 => {}
                _ => return Some(Outcome::Waits),
            }
            let number = (*communication).word.tag - 1;
            let payload = ds_receive(worker, process, communication, interface, number as u32, NO_LOCATION);
            if payload.is_null() {
                return Some(Outcome::Waits);
            }
            let parameters = call.binding.parameters(number as usize);
            self.service.receive(call, number as usize, Values::new(payload, parameters));
            drop_words(worker, payload, interface, number as u32);
            ds_received(worker, communication);
        }
        None
    }
}

impl Call {
    fn word(&self) -> CommunicationWord {
        // SAFETY: the process lives while it runs, and is a service's.
        unsafe { (*self.process.cast::<Communication>()).word }
    }

    /// Whether neither side can send any more, and everything is received here.
    fn at_end(&self) -> bool {
        let word = self.word();
        let sends = Interface::CLIENT_SENDS | Interface::SERVER_SENDS;
        let received = word.tag == 0 || word.flags & FOR_CLIENT != 0;
        received && self.binding.interface.state(word.state) & sends == 0
    }

    fn client_closed(&self) -> bool {
        self.word().flags & (CLIENT_CLOSED | GONE) != 0
    }

    /// Waits for the platform; the client's closing ends the wait too.
    fn park(&mut self) {
        // SAFETY: the process runs, on this worker.
        unsafe { park(self.worker, self.process) }
    }

    /// The platform may have it registered still, if it wasn't the one to wake it.
    fn forget(&mut self) {
        // SAFETY: this is the home worker.
        unsafe { (*platform(self.worker)).forget(self.process) }
    }

    /// Sends what the outbox holds; `false`: the client has to take a message first.
    fn flush(&mut self) -> bool {
        let communication = self.process.cast::<Communication>();
        while let Some(&number) = self.outbox.front() {
            let interface = self.binding.interface;
            // SAFETY: see the head of this file; the payload has a word for each parameter.
            unsafe {
                let payload =
                    ds_send(self.worker, self.process, communication, interface, number as u32, NO_LOCATION);
                if payload.is_null() {
                    return false;
                }
                self.outbox.pop_front();
                for (i, word) in
                    self.outbox.drain(..self.binding.parameters(number as usize).len()).enumerate()
                {
                    payload.add(i).write(word);
                }
                ds_sent(self.worker, communication, interface, number as u32);
            }
        }
        true
    }

    /// Puts a message into the outbox.
    pub(super) fn send(&mut self, number: usize, values: &mut dyn Iterator<Item = Value<'_>>) {
        self.outbox.push_back(number as u64);
        let mut parameters = self.binding.parameters(number).iter();
        for value in values {
            let parameter = parameters.next().expect("too many values");
            // SAFETY: the worker is the one that runs, and so is the process.
            unsafe {
                assert!(fits(parameter.ty, &value), "a value of another type than the parameter");
                let word = word_of(self.worker, value).unwrap_or_else(|| {
                    ds_fail(self.worker, self.process, Fault::OutOfMemory as u32, NO_LOCATION);
                    self.halted = true;
                    0
                });
                self.outbox.push_back(word);
            }
        }
        assert!(parameters.next().is_none(), "too few values");
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        while let Some(number) = self.outbox.pop_front() {
            for parameter in self.binding.parameters(number as usize) {
                let word = self.outbox.pop_front().expect("messages are whole");
                // SAFETY: the outbox owns its words; this is the home worker's thread.
                unsafe { drop_word(self.worker, word, parameter.ty) }
            }
        }
    }
}

/// Whether a parameter of this type may take the value.
pub(crate) fn fits(ty: Type, value: &Value<'_>) -> bool {
    match value {
        Value::Integer(_) => ty == Type::Integer,
        Value::Real(_) => ty == Type::Real,
        Value::Byte(_) => matches!(ty, Type::Character | Type::Boolean),
        Value::Text(_) => ty == Type::Text,
        Value::Component(..) | Value::Parcel(_) => ty == Type::Component,
    }
}

/// A value as a payload word, which owns it. `None`: no memory.
///
/// # Safety
/// On the home worker's thread.
pub(crate) unsafe fn word_of(worker: *mut Worker, value: Value<'_>) -> Option<u64> {
    Some(match value {
        Value::Integer(x) => x as u64,
        Value::Real(x) => x.to_bits(),
        Value::Byte(x) => x as u64,
        // SAFETY: the caller is on the home worker's thread.
        Value::Text(x) => unsafe { text::from_bytes(worker, x).ok()? as u64 },
        // SAFETY: likewise.
        Value::Component(kind, component) => unsafe {
            let instance = kind.instance(worker, component);
            (!instance.is_null()).then_some(instance as u64)?
        },
        Value::Parcel(parcel) => parcel.into_word(),
    })
}

/// Drops what a payload word owns.
///
/// # Safety
/// The word is a parameter of that type, on the home worker's thread.
pub(crate) unsafe fn drop_word(worker: *mut Worker, word: u64, ty: Type) {
    // SAFETY: as the caller promises.
    unsafe {
        match ty {
            Type::Text => text::drop(&mut *heap_of(worker), word as *mut _),
            Type::Component => instance::drop_in_message(worker, word as *mut _),
            _ => {}
        }
    }
}
