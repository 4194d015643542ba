//! TCP (Table VI). Linux's own stack at the other end connects, and sends or asks.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use drystone_extension::handler::{Image, Machine};
use drystone_handlers::{Attached, Device, Mode, Xdp};
use drystone_stack::{Counts, FastStream, Host, Place};

use crate::namespace::ip;
use crate::{OWN, af_xdp, beside, host, image, row, tell};

const TRIPS: u32 = 500;
const BYTES: usize = 10 << 20;

struct Images {
    own: Image,
    answering: Image,
}

pub fn rows() {
    let plain = [("fragments", "ip"), ("fragments", "tcp")];
    let answering = [plain[0], plain[1], ("fragments", "increment")];
    let image = |files: &[(&str, &str)], machine| image(files, machine);
    let (Some(own), Some(more)) = (image(&plain, Machine::Drystone), image(&answering, Machine::Drystone))
    else {
        return;
    };
    let images = Images { own, answering: more };
    let in_kernel = |files| {
        let xdp = Xdp::load(&image(files, Machine::Linux).expect("it is there")).expect("it is accepted");
        let attached = xdp.attach("far", Mode::Generic).expect("it can be");
        (xdp, attached)
    };
    {
        let (xdp, _attached): (Xdp, Attached) = in_kernel(&answering);
        let place = || elsewhere(&xdp);
        latency("drystone", &host(beside()), place);
    }
    {
        let (xdp, _attached) = in_kernel(&plain);
        let host = host(beside());
        let place = || elsewhere(&xdp);
        latency("xdp-process", &host, place);
        throughput("drystone", &host, place);
    }
    let by_af_xdp = host(af_xdp());
    latency("engine", &by_af_xdp, || Place::Engine(&images.answering));
    latency("engine-process", &by_af_xdp, || Place::Engine(&images.own));
    throughput("engine", &by_af_xdp, || Place::Engine(&images.own));
    latency("library", &by_af_xdp, || Place::Library);
    throughput("library", &by_af_xdp, || Place::Library);
}

fn elsewhere(xdp: &Xdp) -> Place<'static> {
    let region = xdp.region().expect("it has one").clone();
    Place::Elsewhere(region, xdp.ring("events").expect("it has one"))
}

/// Connects from the kernel's end, as soon as there is a listener.
fn connected() -> TcpStream {
    loop {
        if let Ok(stream) = TcpStream::connect((OWN, 8)) {
            return stream;
        }
    }
}

fn accept<D: Device>(host: &Host<D>, place: Place<'_>) -> FastStream<D> {
    host.accept_fast(8, place, Duration::from_secs(5)).expect("it comes")
}

/// Has the host work until the other side has finished.
fn finish<D: Device, T>(host: &Host<D>, stream: FastStream<D>, other: thread::JoinHandle<T>) -> (T, Counts) {
    let counts = stream.counts();
    drop(stream);
    while !other.is_finished() {
        host.turn().expect("it is there");
    }
    (other.join().expect("it passes"), counts)
}

/// Round trips of four bytes. The process answers what the handler doesn't.
fn latency<'a, D: Device>(who: &str, host: &Host<D>, place: impl Fn() -> Place<'a>) {
    let mut all = Counts::default();
    row("tcp latency", who, "us", || {
        let client = thread::spawn(|| {
            let mut stream = connected();
            stream.set_nodelay(true).expect("it can");
            let mut ask = || {
                stream.write_all(&[1, 0, 0, 0]).expect("it goes");
                stream.read_exact(&mut [0; 4]).expect("it comes");
            };
            ask();
            let begin = Instant::now();
            (0..TRIPS).for_each(|_| ask());
            begin.elapsed().as_secs_f64() * 1e6 / f64::from(TRIPS)
        });
        let mut stream = accept(host, place());
        let mut number = [0; 4];
        while stream.read(&mut number).expect("it comes") > 0 {
            stream.write_all(&number).expect("it goes");
        }
        let (value, counts) = finish(host, stream, client);
        add(&mut all, counts);
        value
    });
    aborts("tcp latency", who, all);
}

fn throughput<'a, D: Device>(who: &str, host: &Host<D>, place: impl Fn() -> Place<'a>) {
    // Segments of 1460 bytes, and of 536.
    for (what, portion, frame) in [("tcp throughput", 8192, 1500), ("tcp small segments", 4096, 576)] {
        assert!(ip(&format!("link set near mtu {frame}")));
        let mut all = Counts::default();
        row(what, who, "MB/s", || {
            let client = thread::spawn(move || {
                let mut stream = connected();
                let part = vec![7; portion];
                (0..BYTES / portion).for_each(|_| stream.write_all(&part).expect("it goes"));
            });
            let mut stream = accept(host, place());
            let (begin, mut buffer, mut come) = (Instant::now(), vec![0; 65536], 0);
            while come < BYTES {
                come += stream.read(&mut buffer).expect("it comes");
            }
            let value = BYTES as f64 / begin.elapsed().as_secs_f64() / 1e6;
            let ((), counts) = finish(host, stream, client);
            add(&mut all, counts);
            value
        });
        aborts(what, who, all);
    }
    assert!(ip("link set near mtu 1500"));
}

fn add(all: &mut Counts, counts: Counts) {
    all.handled += counts.handled;
    all.unexpected += counts.unexpected;
    all.in_use += counts.in_use;
    all.behind += counts.behind;
    all.answers += counts.answers;
}

/// Prints the share of segments that the handler has left to the library.
fn aborts(name: &str, who: &str, counts: Counts) {
    if counts.handled > 0 {
        tell(&format!("{name}, aborts"), who, "%", &[100.0 * counts.aborted()]);
    }
}
