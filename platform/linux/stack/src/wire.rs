//! A station as smoltcp wants its devices.

use std::collections::VecDeque;

use drystone_handlers::{Device, Station};
use smoltcp::phy::{self, DeviceCapabilities, Medium};
use smoltcp::time::Instant;

/// The longest frame of an Ethernet.
const LONGEST: usize = 1514;

/// See the head of this file.
pub(crate) struct Wire<D> {
    pub station: Station<D>,
    /// Frames that no handler wanted.
    pub come: VecDeque<Vec<u8>>,
}

impl<D: Device> phy::Device for Wire<D> {
    type RxToken<'a>
        = Come
    where
        D: 'a;
    type TxToken<'a>
        = Sends<'a, D>
    where
        D: 'a;

    fn receive(&mut self, _: Instant) -> Option<(Come, Sends<'_, D>)> {
        let frame = self.come.pop_front()?;
        Some((Come(frame), Sends(&mut self.station)))
    }

    fn transmit(&mut self, _: Instant) -> Option<Sends<'_, D>> {
        Some(Sends(&mut self.station))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ethernet;
        capabilities.max_transmission_unit = LONGEST;
        capabilities
    }
}

/// A frame that has come.
pub(crate) struct Come(Vec<u8>);

impl phy::RxToken for Come {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, take: F) -> R {
        take(&self.0)
    }
}

/// The right to send a frame.
pub(crate) struct Sends<'a, D>(&'a mut Station<D>);

impl<D: Device> phy::TxToken for Sends<'_, D> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, length: usize, fill: F) -> R {
        let mut frame = [0; LONGEST];
        let frame = &mut frame[..length];
        let result = fill(frame);
        // Protocols bear that a frame is lost, and a device that is gone is found when it is next asked for frames.
        let _ = self.0.device().send(frame);
        result
    }
}
