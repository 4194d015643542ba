//! The serial line: the program's output, and the Console's input.
//!
//! # Soundness
//!
//! Only the interrupt's handler puts bytes into the ring, and only readers take them. Each has an index of its own. The
//! device is used with interrupts off, or by the handler.

use alloc::rc::Rc;
use alloc::vec::Vec;
use core::cell::{RefCell, UnsafeCell};
use core::mem::take;
use core::ptr::null;
use core::sync::atomic::AtomicUsize;
use core::sync::atomic::Ordering::{Acquire, Release};
use core::task::Poll;

use drystone_kortex::interfaces::console::{ConsoleLater, ReadLineAnswer};
use drystone_kortex::system::lines::Lines;
use drystone_runtime::layout::Process;
use drystone_runtime::native::Caller;
use kortex_hal::exception::{Context, Processor, Trap};
use kortex_hal::interrupt::{Apics, Controller};
use kortex_hal::serial::{Com1, Line as _};
use kortex_hal::x86_64::instructions::interrupts::without_interrupts;

use crate::{attention, threads};

/// Bytes that the ring holds until they are read. Further bytes wait in the device.
const ROOM: usize = 4096;

/// The byte by which a terminal ends its input.
const END: u8 = 4;

// SAFETY: a PC has its first serial line there or nothing.
static DEVICE: Com1 = unsafe { Com1::new() };

struct Ring {
    bytes: UnsafeCell<[u8; ROOM]>,
    /// Bytes ever put in. Below: bytes ever taken out.
    put: AtomicUsize,
    taken: AtomicUsize,
}

// SAFETY: see the head of this file.
unsafe impl Sync for Ring {}

static RING: Ring =
    Ring { bytes: UnsafeCell::new([0; ROOM]), put: AtomicUsize::new(0), taken: AtomicUsize::new(0) };

impl Ring {
    /// Takes the device's bytes, as far as there is room. Interrupts are off.
    fn fill(&self) {
        let mut put = self.put.load(Acquire);
        while put - self.taken.load(Acquire) < ROOM
            && let Some(byte) = DEVICE.receive()
        {
            // SAFETY: bytes that weren't put aren't read.
            unsafe { self.bytes.get().cast::<u8>().add(put % ROOM).write(byte) };
            put += 1;
            self.put.store(put, Release);
        }
    }

    fn is_empty(&self) -> bool {
        self.put.load(Acquire) == self.taken.load(Acquire)
    }

    fn take(&self) -> Vec<u8> {
        let (put, taken) = (self.put.load(Acquire), self.taken.load(Acquire));
        // SAFETY: bytes that were put aren't overwritten before they are taken.
        let byte = |at: usize| unsafe { self.bytes.get().cast::<u8>().add(at % ROOM).read() };
        let bytes = (taken..put).map(byte).collect();
        self.taken.store(put, Release);
        bytes
    }
}

/// Sends bytes. Input may arrive meanwhile, of which the device holds little.
pub(crate) fn send(bytes: &[u8]) {
    for &byte in bytes {
        without_interrupts(|| DEVICE.send(&[byte]));
    }
}

extern "C" fn come(_: &mut Context, _: *const ()) {
    Apics.end();
    RING.fill();
    attention::call();
    threads::wake_home();
}

/// The serial line, with the processes that wait for its input.
#[derive(Default)]
pub(crate) struct Line {
    lines: RefCell<Lines>,
    waiting: RefCell<Vec<*mut Process>>,
}

impl Line {
    /// Sets the device up.
    ///
    /// # Safety
    /// Called once, with interrupts off.
    pub(crate) unsafe fn new() -> Rc<Line> {
        DEVICE.begin();
        // SAFETY: the handler is fit for that.
        unsafe {
            Processor.register(Apics.vector(Com1::INTERRUPT), come, null());
            Apics.enable(Com1::INTERRUPT);
        }
        RING.fill();
        Rc::default()
    }

    /// Whether there is input that wasn't read.
    pub(crate) fn has_come(&self) -> bool {
        !RING.is_empty() && !self.waiting.borrow().is_empty()
    }

    /// The number of processes that wait for a line.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.borrow().len()
    }

    /// A process doesn't wait any more.
    pub(crate) fn forget(&self, process: *mut Process) {
        self.waiting.borrow_mut().retain(|&other| other != process);
    }

    /// If there is input, wakes all waiting processes, each of which checks whether it is enough. Returns whether any
    /// was woken.
    pub(crate) fn wake(&self, wake: &mut dyn FnMut(*mut Process)) -> bool {
        if !self.has_come() {
            return false;
        }
        let waiting = take(&mut *self.waiting.borrow_mut());
        waiting.iter().for_each(|&process| wake(process));
        !waiting.is_empty()
    }

    fn read(&self) {
        let mut lines = self.lines.borrow_mut();
        loop {
            let bytes = RING.take();
            let end = bytes.iter().position(|&byte| byte == END);
            lines.append(&bytes[..end.unwrap_or(bytes.len())]);
            lines.ended |= end.is_some();
            // Bytes that waited in the device for room raise no interrupt.
            without_interrupts(|| RING.fill());
            if RING.is_empty() {
                return;
            }
        }
    }
}

/// A client of the Console.
pub(crate) struct Reader(pub(crate) Rc<Line>);

impl ConsoleLater for Reader {
    fn read_line(&mut self, caller: &Caller) -> Poll<ReadLineAnswer<'_>> {
        let line = &*self.0;
        line.read();
        let mut lines = line.lines.borrow_mut();
        if let Some(text) = lines.line() {
            return Poll::Ready(ReadLineAnswer::Line { x: caller.text(text) });
        }
        if !lines.ended {
            line.waiting.borrow_mut().push(caller.waiter().process);
            return Poll::Pending;
        }
        Poll::Ready(match lines.rest(usize::MAX) {
            Some(text) => ReadLineAnswer::Line { x: caller.text(text) },
            None => ReadLineAnswer::End,
        })
    }
}
