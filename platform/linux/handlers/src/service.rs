//! Services: a handler and its process, wherever the handler runs. The process shares the handler's region, and gets
//! the messages that the handler passes on.

use std::hash::{BuildHasher, RandomState};
use std::io::Result;
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::Duration;

use clap::ValueEnum;
use drystone_extension::demux::Filter;
use drystone_extension::handler::{Flows, Image, Machine, Settings, Share};
use rustix::thread::{MembarrierCommand, membarrier};

use crate::datagram::{answer, carried, located};
use crate::region::{self, Region};
use crate::station::wait_for;
use crate::{AfXdp, Attached, Device, Line, Mode, Outbox, Station, Xdp};

/// What runs a handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Engine {
    /// Linux's kernel, or else this process by AF_XDP
    Auto,
    /// Linux's kernel
    Xdp,
    /// This process, with frames that the interface's driver leaves in its memory
    AfXdp,
    /// This process, as the wire of an interface that it makes; it is whoever is asked for there
    Tap,
}

/// Where datagrams for a service arrive.
#[derive(Clone, Debug)]
pub struct Place {
    /// The network interface.
    pub interface: String,
    /// Its queue (by AF_XDP).
    pub queue: u32,
    /// The UDP port.
    pub port: u16,
    /// What runs the handler.
    pub engine: Engine,
    /// Where in the kernel.
    pub mode: Mode,
}

/// A service. Its handler is detached when this is dropped.
pub struct Service {
    region: Region,
    port: u16,
    running: Running,
}

enum Running {
    InLinux { _xdp: Xdp, _attached: Attached, outbox: Option<Outbox> },
    Here { station: Box<Station<Box<dyn Device + Send>>>, is_wire: bool, turns: Quiet },
}

/// Lets another thread wait until the handler is quiet: after the handler was told not to read some data, until no run
/// of it can still be reading them.
#[derive(Clone, Debug)]
pub struct Quiet(Option<Arc<Mutex<()>>>);

impl Quiet {
    /// Waits until all runs of the handler that had begun before have ended.
    ///
    /// # Errors
    /// The kernel doesn't support it.
    pub fn wait(&self) -> Result<()> {
        match &self.0 {
            Some(turns) => drop(turns.lock()),
            // Runs in the kernel are read-side critical sections of RCU, for whose ends this waits.
            None => membarrier(MembarrierCommand::Global)?,
        }
        Ok(())
    }
}

impl Service {
    /// Attaches a handler at a place. Also returns why a preferred engine couldn't be used.
    ///
    /// # Errors
    /// No engine accepts it there, and why.
    pub fn open(object: &[u8], place: &Place) -> std::result::Result<(Service, Option<String>), String> {
        let (service, why) = match place.engine {
            Engine::Xdp => (Service::in_linux(object, place)?, None),
            Engine::AfXdp => (Service::by_af_xdp(object, place)?, None),
            Engine::Tap => (Service::on_tap(object, place)?, None),
            Engine::Auto => match Service::in_linux(object, place) {
                Ok(service) => (service, None),
                Err(why) => (Service::by_af_xdp(object, place)?, Some(why)),
            },
        };
        Ok((service, why))
    }

    fn in_linux(object: &[u8], place: &Place) -> std::result::Result<Service, String> {
        let xdp = Xdp::load(&Image::read(object, None, Machine::Linux)?)?;
        let region = xdp.region().cloned().ok_or(NO_REGION)?;
        let outbox = Outbox::of(&xdp, &place.interface)
            .map_err(|error| format!("the handler's additional frames can't be sent: {error}"))?;
        let attached = xdp.attach(&place.interface, place.mode)?;
        let running = Running::InLinux { _xdp: xdp, _attached: attached, outbox };
        Ok(Service { region, port: place.port, running })
    }

    fn by_af_xdp(object: &[u8], place: &Place) -> std::result::Result<Service, String> {
        let device = AfXdp::open_port(&place.interface, place.queue, place.mode, place.port)?;
        Service::here(object, place, Box::new(device), false)
    }

    fn on_tap(object: &[u8], place: &Place) -> std::result::Result<Service, String> {
        let tap =
            Line::tap(&place.interface).map_err(|error| format!("TAP `{}`: {error}", place.interface))?;
        Service::here(object, place, Box::new(tap), true)
    }

    fn here(
        object: &[u8],
        place: &Place,
        device: Box<dyn Device + Send>,
        is_wire: bool,
    ) -> std::result::Result<Service, String> {
        let image = Image::read(object, None, Machine::Drystone)?;
        let length = usize::try_from(image.region_bytes()).map_err(|error| error.to_string())?;
        if length == 0 {
            return Err(NO_REGION.into());
        }
        let region = Region::new(image.region_address(), length)
            .map_err(|error| format!("there is no memory for the region: {error}"))?;
        let handler = region::handler(&image, &region, Settings { key: seed(), ..Settings::default() })?;
        let mut flows = Flows::compiled(seed(), Share::default());
        flows.attach(0, Filter::ethernet().ipv4().udp().destination_port(place.port), handler)?;
        let turns = Quiet(Some(Arc::default()));
        let running = Running::Here { station: Box::new(Station::new(device, flows)), is_wire, turns };
        Ok(Service { region, port: place.port, running })
    }

    /// The region of the handler.
    pub fn region(&self) -> &Region {
        &self.region
    }

    /// Lets other threads wait until the handler is quiet.
    pub fn quiet(&self) -> Quiet {
        match &self.running {
            Running::Here { turns, .. } => turns.clone(),
            Running::InLinux { .. } => Quiet(None),
        }
    }

    /// Whether the kernel runs the handler: then messages that it passes on come to this process's sockets, else to
    /// [`Service::turn`].
    pub fn is_in_linux(&self) -> bool {
        matches!(self.running, Running::InLinux { .. })
    }

    /// Calls [`Service::turn`] while the interface exists.
    ///
    /// # Errors
    /// The interface is gone.
    pub fn serve(&mut self, mut answers: impl FnMut(&[u8]) -> Vec<Vec<u8>>) -> Result<()> {
        loop {
            self.turn(Duration::from_millis(100), &mut answers)?;
        }
    }

    /// Handles messages that have arrived, or arrive within this time. `answers` returns the datagrams that answer one
    /// which the handler has passed on.
    ///
    /// # Errors
    /// The interface has gone.
    pub fn turn(&mut self, most: Duration, mut answers: impl FnMut(&[u8]) -> Vec<Vec<u8>>) -> Result<()> {
        let (station, is_wire, turns) = match &mut self.running {
            Running::Here { station, is_wire, turns } => (station, is_wire, &*turns),
            Running::InLinux { outbox: Some(outbox), .. } => {
                wait_for(outbox, most)?;
                return outbox.send().map(drop);
            }
            Running::InLinux { .. } => {
                sleep(most);
                return Ok(());
            }
        };
        let count = {
            let _turn = turns.0.as_ref().map(|turns| turns.lock());
            station.turn()?
        };
        if count == 0 {
            station.wait(most)?;
        }
        while let Some(frame) = station.take_passed() {
            if let Some(request) = carried(&frame, self.port) {
                for carries in answers(request) {
                    station.device().send(&answer(&frame, &carries))?;
                }
            } else if let Some(here) = located(&frame).filter(|_| *is_wire) {
                station.device().send(&here)?;
            }
        }
        station.device().flush()
    }
}

const NO_REGION: &str = "the handler has no REGION";

/// An unpredictable number.
fn seed() -> u64 {
    RandomState::new().hash_one(0)
}
