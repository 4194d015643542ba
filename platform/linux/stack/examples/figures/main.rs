//! Measures the rows of *ASHs* (Wallach), Tables I to III, V and VI and section V-D, on a pair of virtual interfaces.
//! `drystone-bench handlers` runs this and compares the results. Each line is a JSON object with the values of ten
//! runs. To run some parts only: `cargo run --release -p drystone-stack --example figures -- raw|memory|tcp|writes`.
//!
//! It needs root and clang 19, and Valgrind for `writes`. Both ends are on one machine, so only software is measured.

mod memory;
#[path = "../../../handlers/tests/suite/namespace.rs"]
mod namespace;
#[allow(dead_code)]
#[path = "../../../../../extension/tests/handler/objects.rs"]
mod objects;
#[path = "../../tests/kernel/offload.rs"]
mod offload;
mod raw;
mod tcp;
mod writes;

use std::net::Ipv4Addr;

use drystone_extension::handler::{Flows, Image, Machine, Share};
use drystone_handlers::{AfXdp, Device, Line, Mode, Station};
use drystone_stack::{Host, Settings};

const KERNEL: Ipv4Addr = Ipv4Addr::new(10, 9, 0, 1);
const OWN: Ipv4Addr = Ipv4Addr::new(10, 9, 0, 2);
const HARDWARE: [u8; 6] = [2, 0, 0, 0, 9, 2];

/// Runs of a measurement.
const RUNS: usize = 10;

/// Measures several times, and prints the values with their row, system and unit.
fn row(name: &str, who: &str, unit: &str, measure: impl FnMut() -> f64) {
    tell(name, who, unit, &std::iter::repeat_with(measure).take(RUNS).collect::<Vec<f64>>());
}

fn tell(row: &str, who: &str, unit: &str, values: &[f64]) {
    println!(r#"{{"row":"{row}","who":"{who}","unit":"{unit}","values":{values:?}}}"#);
}

/// Links fragments, and other files of the extension's, into one program.
fn image(files: &[(&str, &str)], machine: Machine) -> Option<Image> {
    let objects: Vec<Vec<u8>> =
        files.iter().map(|(folder, name)| objects::compiled_in(folder, name)).collect::<Option<_>>()?;
    let objects: Vec<&[u8]> = objects.iter().map(Vec::as_slice).collect();
    Some(Image::composed(&objects, None, machine).expect("they fit"))
}

/// A station without limits on handlers' time: a measurement is a flood.
fn station<D: Device>(device: D) -> Station<D> {
    Station::new(device, Flows::compiled(7, Share { runs: u64::MAX, ..Share::default() }))
}

fn host<D: Device>(device: D) -> Host<D> {
    let settings = Settings { hardware: HARDWARE, address: OWN, network_bits: 24, gateway: None };
    Host::new(station(device), &settings).expect("it makes sense")
}

fn beside() -> Line {
    Line::beside("far").expect("it is there")
}

fn af_xdp() -> AfXdp {
    // The kernel may take a while to release the previous socket.
    for _ in 0..20 {
        match AfXdp::open("far", 0, Mode::Native) {
            Ok(device) => return device,
            Err(_) => std::thread::sleep(std::time::Duration::from_millis(100)),
        }
    }
    AfXdp::open("far", 0, Mode::Native).expect("it can be")
}

/// Runs `deed` in a network namespace where the kernel has an address at one end of a wire.
fn on_a_wire(name: &'static str, deed: impl FnOnce() + Send + 'static) {
    namespace::in_namespace(name, move || {
        if namespace::pair(name) {
            assert!(namespace::ip(&format!("address add {KERNEL}/24 dev near")));
            offload::stop("near");
            deed();
        }
    });
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [which, name, times] = &arguments[..]
        && which == "run"
    {
        return writes::run(name, times.parse().expect("a number"));
    }
    let is_wanted = |name: &str| arguments.is_empty() || arguments.iter().any(|it| it == name);
    if is_wanted("raw") {
        on_a_wire("raw", raw::latencies);
    }
    if is_wanted("memory") {
        memory::rows();
    }
    if is_wanted("tcp") {
        on_a_wire("tcp", tcp::rows);
    }
    if is_wanted("writes") {
        writes::rows();
    }
}
