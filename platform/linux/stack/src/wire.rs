//! Adapts a station to smoltcp's interface of devices.

use std::collections::VecDeque;

use drystone_handlers::{Device, Station};
use smoltcp::phy::{self, DeviceCapabilities, Medium};
use smoltcp::time::Instant;

/// Most bytes of an Ethernet frame.
const LONGEST: usize = 1514;

/// A station as a smoltcp device.
pub(crate) struct Wire<D> {
    pub station: Station<D>,
    /// Received frames that no handler has consumed.
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

/// A received frame.
pub(crate) struct Come(Vec<u8>);

impl phy::RxToken for Come {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, take: F) -> R {
        take(&self.0)
    }
}

/// A right to send one frame.
pub(crate) struct Sends<'a, D>(&'a mut Station<D>);

impl<D: Device> phy::TxToken for Sends<'_, D> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, length: usize, fill: F) -> R {
        let mut frame = [0; LONGEST];
        let frame = &mut frame[..length];
        let result = fill(frame);
        // Protocols tolerate a lost frame. If the device is gone, the next receive reports it.
        let _ = self.0.device().send(frame);
        result
    }
}
