//! Tests of the library with Linux's own network stack at the other end of a wire.

mod fast;
mod http;
#[path = "../../../handlers/tests/suite/namespace.rs"]
mod namespace;
mod nfs;
#[allow(dead_code)]
#[path = "../../../../../extension/tests/handler/objects.rs"]
mod objects;
mod offload;
mod rarp;
mod sockets;

use std::net::Ipv4Addr;

use drystone_extension::handler::{Flows, Share};
use drystone_handlers::{AfXdp, Device, Line, Mode, Station};
use drystone_stack::{Host, Settings};

/// The kernel's address. Below: the library's.
const KERNEL: Ipv4Addr = Ipv4Addr::new(10, 9, 0, 1);
const OWN: Ipv4Addr = Ipv4Addr::new(10, 9, 0, 2);
const HARDWARE: [u8; 6] = [2, 0, 0, 0, 9, 2];

/// Runs `deed` in a network namespace where the kernel has an address at one end of a wire.
fn beside_the_kernel(name: &'static str, deed: impl FnOnce() + Send + 'static) {
    namespace::in_namespace(name, move || {
        if namespace::pair(name) {
            assert!(namespace::ip(&format!("address add {KERNEL}/24 dev near")));
            offload::stop("near");
            deed();
        }
    });
}

fn host<D: Device>(device: D) -> Host<D> {
    let station = Station::new(device, Flows::compiled(7, Share::default()));
    let settings = Settings { hardware: HARDWARE, address: OWN, network_bits: 24, gateway: None };
    Host::new(station, &settings).expect("it makes sense")
}

/// A host at the other end, beside the kernel's stack, which has no address there.
fn beside() -> Host<Line> {
    host(Line::beside("far").expect("it is there"))
}

/// A host at the other end, in place of the kernel's stack.
fn in_its_place(name: &str) -> Option<Host<AfXdp>> {
    match AfXdp::open("far", 0, Mode::Any) {
        Ok(device) => Some(host(device)),
        Err(why) => {
            assert!(!why.contains("Invalid argument"), "{why}");
            println!("skipped: {name} by AF_XDP: {why}");
            None
        }
    }
}
