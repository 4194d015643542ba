//! Handlers that send several messages in one run: all engines send as many, the answer among them.

use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use drystone_extension::demux::Filter;
use drystone_extension::handler::{Flows, Handler, Image, Machine, Settings, Share};
use drystone_handlers::{AfXdp, Device, Line, Mode, Outbox, Station, Xdp};

use crate::namespace::{in_thread, ip};
use crate::objects::compiled;
use crate::there::{FAR, There};

/// Asks for so many messages; their numbers in order.
fn numbers(count: u64) -> Vec<u64> {
    let socket = UdpSocket::bind("0.0.0.0:0").expect("there is a port");
    socket.connect((FAR, 7000)).expect("there is a way");
    socket.set_read_timeout(Some(Duration::from_secs(5))).expect("it can be");
    socket.send(&count.to_be_bytes()).expect("it goes");
    let heard = |_| {
        let mut number = [0; 8];
        let length = socket.recv(&mut number).expect("it comes");
        assert_eq!(length, 8);
        u64::from_be_bytes(number)
    };
    let mut all: Vec<u64> = (0..count).map(heard).collect();
    socket.set_read_timeout(Some(Duration::from_millis(50))).expect("it can be");
    assert!(socket.recv(&mut [0; 8]).is_err(), "there is one more");
    all.sort_unstable();
    all
}

fn all_come() {
    for count in [1, 2, 16] {
        assert_eq!(numbers(count), (1..=count).collect::<Vec<_>>());
    }
}

/// Does the rest of the work until it is dropped.
struct Works(Arc<AtomicBool>, Option<thread::JoinHandle<()>>);

impl Works {
    fn new(mut turn: impl FnMut() + Send + 'static) -> Works {
        let ends = Arc::new(AtomicBool::new(false));
        let sees = ends.clone();
        let thread = thread::spawn(move || {
            while !sees.load(Ordering::Relaxed) {
                turn();
            }
        });
        Works(ends, Some(thread))
    }
}

impl Drop for Works {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
        self.1.take().map(thread::JoinHandle::join);
    }
}

#[test]
fn a_process_sends_what_linux_cannot() {
    let Some(object) = compiled("spread") else { return };
    in_thread("initiation-xdp", move || {
        let there = There::new()?;
        let (_attached, mut outbox, xdp) = there.run(move || {
            let xdp = Xdp::load(&Image::read(&object, None, Machine::Linux)?)?;
            let outbox = Outbox::of(&xdp, "far").map_err(|error| error.to_string())?;
            let attached = xdp.attach("far", Mode::Generic)?;
            Ok::<_, String>((attached, outbox.expect("it has one"), xdp))
        })?;
        let _works = Works::new(move || {
            outbox.send().expect("it is there");
            thread::sleep(Duration::from_millis(1));
        });
        all_come();
        let sent = xdp.region().expect("it has one").number(0).load(Ordering::Relaxed);
        assert_eq!(sent, 1 + 15);
        Ok(())
    });
}

fn a_station_sends(name: &'static str, open: fn() -> Result<Box<dyn Device + Send>, String>) {
    let Some(object) = compiled("spread") else { return };
    in_thread(name, move || {
        let there = There::new()?;
        let device = there.run(open)?;
        let handler = Handler::new(&object, None, Settings::default()).expect("it is accepted");
        let mut flows = Flows::compiled(7, Share::default());
        flows.attach(1, Filter::ethernet().ipv4().udp().destination_port(7000), handler).expect("it can be");
        let mut station = Station::new(device, flows);
        let _works = Works::new(move || {
            station.turn().expect("it is there");
            station.wait(Duration::from_millis(5)).expect("it can wait");
        });
        all_come();
        Ok(())
    });
}

#[test]
fn a_station_sends_by_af_xdp() {
    a_station_sends("initiation-af-xdp", || Ok(Box::new(AfXdp::open("far", 0, Mode::Generic)?)));
}

#[test]
fn a_station_sends_beside_the_kernel() {
    a_station_sends("initiation-beside", || {
        // Else the kernel's stack would answer, too.
        ip("addr flush dev far");
        Ok(Box::new(Line::beside("far").map_err(|error| error.to_string())?))
    });
}

#[test]
fn who_sends_nothing_besides_has_no_outbox() {
    let Some(object) = compiled("increment") else { return };
    in_thread("initiation-none", move || {
        let xdp = Xdp::load(&Image::read(&object, None, Machine::Linux)?)?;
        assert!(Outbox::of(&xdp, "lo").map_err(|error| error.to_string())?.is_none());
        Ok(())
    });
}
