//! What a [`Party`] does: it sends, receives and waits in the place of somebody outside of the program.

use alloc::string::String;

use drystone_component::{Interface, Role, Side};

use super::channel::{Channel, Party};
use super::{NO_LOCATION, Outcome};
use crate::communication::{ds_received, ds_send, ds_sent, wait};
use crate::far::{Filling, Traffic};
use crate::instance::natives::wake_parked;
use crate::instance::template_of;
use crate::layout::*;

impl Party {
    /// How the communication stands now.
    #[inline]
    pub fn word(&self) -> CommunicationWord {
        self.channel.word()
    }

    /// Its interface.
    pub fn interface(&self) -> &'static Interface {
        self.channel.interface
    }

    /// The message in the buffer has been taken, but for what is dropped now.
    pub fn received(&mut self) {
        let Channel { worker, communication, .. } = self.channel;
        self.channel.drop_first();
        // SAFETY: the communication is live, and this side has taken the message.
        unsafe { ds_received(worker, communication) }
    }

    /// Sends a message of this side, which `fill` puts into the buffer; `false`: the process waits, or has failed.
    ///
    /// # Errors
    /// As for [`Channel::fill`]; nothing is sent.
    pub fn send(
        &mut self,
        message: usize,
        traffic: &Traffic,
        fill: impl FnOnce(&mut Filling<'_>) -> Result<(), String>,
    ) -> Result<bool, String> {
        let Channel { worker, communication: c, interface } = self.channel;
        // SAFETY: the process is this side; where there is room the buffer owns nothing, until it is filled.
        unsafe {
            if ds_send(worker, self.process, c, interface, message as u32, NO_LOCATION).is_null() {
                return Ok(false);
            }
            self.channel.fill(message, traffic, fill)?;
            ds_sent(worker, c, interface, message as u32);
            if self.side == Side::Client && is_moved(c.cast()) {
                // It is not the communication's waiter while this side is.
                wake_parked(worker, c.cast());
            }
        }
        Ok(true)
    }

    /// Waits for both sides: as the communication's waiter, and for the platform. Between two of these it is the
    /// client that waits as the communication's waiter: it wakes the other itself.
    pub fn park(&mut self) -> Outcome {
        let c = self.channel.communication;
        // SAFETY: the communication is live, and so is its waiter.
        unsafe {
            let waiter = (*c).waiter;
            if waiter.is_null() || (waiter == c.cast() && (*waiter).status == PLATFORM) {
                (*c).waiter = self.process;
            }
            (*self.process).status = PLATFORM;
        }
        Outcome::Waits
    }

    /// Waits until the other side has taken what is in the buffer, or has come to its end.
    pub fn wait_for_room(&mut self) -> Outcome {
        // SAFETY: the communication is live, and the process is one of its sides.
        unsafe { wait(self.channel.communication, self.process, ROOM) };
        Outcome::Waits
    }

    /// Whether the server could begin another communication.
    pub fn server_is_open(&self) -> bool {
        // SAFETY: the communication is live, and its instance's block is there unless it is detached.
        unsafe {
            let server = (*self.channel.communication).process.instance;
            !server.is_null() && (*server).live & CLOSED == 0
        }
    }
}

/// Whether a service's messages are moved elsewhere.
///
/// # Safety
/// The process is alive, or its communication live.
unsafe fn is_moved(p: *mut Process) -> bool {
    // SAFETY: the process's block is there, and an instance outlives its processes.
    unsafe {
        let instance = (*p).instance;
        !instance.is_null() && matches!((*template_of(instance)).role, Role::Proxy | Role::Remote)
    }
}
