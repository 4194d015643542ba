//! Runs Drystone's own engine on a device: gives messages to the handlers of their flows, and acts on the verdicts.
//! Messages without a flow go to an upcall, if there is one: a function of this process, which needs no verification,
//! and runs in the receiving thread (*ASHs*, section V).

use std::collections::VecDeque;
use std::io::Result;
use std::os::fd::AsFd;
use std::time::Duration;

use drystone_extension::engine::jit::Pages;
use drystone_extension::handler::{Flows, Frame, Outcome, Verdict};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::time::{ClockId, clock_gettime};

use crate::device::{Decision, Device};

/// The most messages that wait for the process; further ones are dropped.
const WAITING: usize = 1024;

/// An upcall: what an application does with a message on arrival, in its own address space.
pub type Upcall = Box<dyn FnMut(&mut Frame<'_>) -> Verdict + Send>;

/// A device with its flows.
pub struct Station<D> {
    device: D,
    /// The flows.
    pub flows: Flows<Pages>,
    /// The upcall for messages without a flow. It may send them back, or consume them.
    pub upcall: Option<Upcall>,
    passed: VecDeque<Vec<u8>>,
}

impl<D: Device> Station<D> {
    /// A station for a device with these flows.
    pub fn new(device: D, flows: Flows<Pages>) -> Station<D> {
        Station { device, flows, upcall: None, passed: VecDeque::new() }
    }

    /// Processes all messages that have arrived. Returns how many there were.
    ///
    /// # Errors
    /// The device is gone.
    pub fn turn(&mut self) -> Result<usize> {
        let Station { device, flows, upcall, passed } = self;
        let interface = device.interface();
        let now = time_now();
        let mut sends = Vec::new();
        let count = device.receive(&mut |frame| {
            let outcome = flows.arrive(frame, (interface, 0), now);
            if let Outcome::Ran(flow, _) = outcome
                && let Some(handler) = flows.handler(flow)
            {
                sends.extend_from_slice(handler.sent());
            }
            let verdict = match (outcome, &mut *upcall) {
                (Outcome::Nobodys, Some(upcall)) => upcall(frame),
                _ => outcome.verdict(),
            };
            match verdict {
                Verdict::Transmit => return Decision::Transmit,
                Verdict::Pass if passed.len() < WAITING => passed.push_back(frame.bytes().to_vec()),
                _ => {}
            }
            Decision::Done
        })?;
        for message in &sends {
            device.send(message)?;
        }
        if !sends.is_empty() {
            device.flush()?;
        }
        Ok(count)
    }

    /// Waits until a message arrives, for so long at most.
    ///
    /// # Errors
    /// There are too many descriptors.
    pub fn wait(&self, most: Duration) -> Result<()> {
        wait_for(&self.device, most)
    }

    /// The next message that no handler has consumed.
    pub fn take_passed(&mut self) -> Option<Vec<u8>> {
        self.passed.pop_front()
    }

    /// The device, to send by.
    pub fn device(&mut self) -> &mut D {
        &mut self.device
    }
}

/// Waits until descriptors are readable, for so long at most.
pub(crate) fn wait_for(descriptor: &impl AsFd, most: Duration) -> Result<()> {
    let most = Timespec::try_from(most).map_err(std::io::Error::other)?;
    match poll(&mut [PollFd::new(descriptor, PollFlags::IN)], Some(&most)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Nanoseconds since the machine's start, as `time_now` returns to handlers, in the kernel too.
pub fn time_now() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
