//! Round trips of an eight-byte message to a counter (Tables I and V), and a train of messages of all sizes (Figure 3).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use drystone_extension::demux::Filter;
use drystone_extension::handler::{Frame, Handler, Machine, Settings, Verdict};
use drystone_handlers::{Decision, Device, Line, Mode, Station, Xdp};

use crate::objects::datagram;
use crate::{af_xdp, beside, image, row, station};

/// Round trips of a run.
const TRIPS: u32 = 1000;

/// How the answering side waits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Waiting {
    Polling,
    Suspended,
}

/// Microseconds of a round trip.
fn trips(near: &mut Line) -> f64 {
    let question = datagram(7000, &1u64.to_be_bytes());
    let begin = Instant::now();
    for _ in 0..TRIPS {
        near.send(&question).expect("it is there");
        let sent = Instant::now();
        let mut is_back = false;
        while !is_back {
            let take = &mut |_: &mut Frame<'_>| {
                is_back = true;
                Decision::Done
            };
            near.receive(take).expect("it is there");
            assert!(sent.elapsed() < Duration::from_secs(2), "an answer is lost");
        }
    }
    begin.elapsed().as_secs_f64() * 1e6 / f64::from(TRIPS)
}

/// A station that works in a thread until this is dropped.
struct Works(Arc<AtomicBool>, Option<JoinHandle<()>>);

impl Works {
    fn new<D: Device + Send + 'static>(
        mut station: Station<D>,
        waiting: Waiting,
        mut after: impl FnMut(&mut Station<D>) + Send + 'static,
    ) -> Works {
        let ends = Arc::new(AtomicBool::new(false));
        let sees = ends.clone();
        let thread = thread::spawn(move || {
            while !sees.load(Ordering::Relaxed) {
                station.turn().expect("it is there");
                after(&mut station);
                if waiting == Waiting::Suspended {
                    station.wait(Duration::from_millis(20)).expect("it can");
                }
            }
        });
        Works(ends, Some(thread))
    }
}

impl Drop for Works {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
        self.1.take().map(JoinHandle::join);
    }
}

/// The handler's work, as a function of the application.
fn increment(frame: &mut [u8], sum: &mut u64) -> bool {
    let Some(number) = frame.get_mut(42..50) else { return false };
    *sum += u64::from_be_bytes((&*number).try_into().expect("8 bytes"));
    number.copy_from_slice(&sum.to_be_bytes());
    let (to, from) = frame[..12].split_at_mut(6);
    to.swap_with_slice(from);
    let (from, to) = frame[26..34].split_at_mut(4);
    from.swap_with_slice(to);
    let (from, to) = frame[34..38].split_at_mut(2);
    from.swap_with_slice(to);
    frame[40..42].fill(0);
    true
}

pub fn latencies() {
    let files = [("tests/handler", "increment")];
    let (Some(own), Some(linux)) = (image(&files, Machine::Drystone), image(&files, Machine::Linux)) else {
        return;
    };
    let mut near = Line::beside("near").expect("it is there");
    let xdp = Xdp::load(&linux).expect("it is accepted");
    for mode in [Mode::Generic, Mode::Native] {
        let _attached = xdp.attach("far", mode).expect("it can be");
        // A near end without a program can't receive what a driver sends back.
        let pass = Xdp::load(&image(&[("fragments", "nothing")], Machine::Linux).expect("it is there"));
        let pass = pass.expect("it is accepted");
        let _beside = (mode == Mode::Native).then(|| pass.attach("near", mode).expect("it can be"));
        let who = if mode == Mode::Native { "xdp-native" } else { "drystone" };
        row("raw latency", who, "us", || trips(&mut near));
    }
    for (name, waiting) in [("polling", Waiting::Polling), ("suspended", Waiting::Suspended)] {
        let mut engine = station(af_xdp());
        let handler = Handler::of(&own, Settings::default()).expect("it is accepted");
        let filter = Filter::ethernet().ipv4().udp().destination_port(7000);
        engine.flows.attach(1, filter, handler).expect("it can be");
        let works = Works::new(engine, waiting, |_| ());
        row(name, "drystone", "us", || trips(&mut near));
        drop(works);
        let mut called = station(af_xdp());
        let mut sum = 0;
        called.upcall = Some(Box::new(move |frame| {
            if increment(frame.bytes_mut(), &mut sum) { Verdict::Transmit } else { Verdict::Pass }
        }));
        let works = Works::new(called, waiting, |_| ());
        row(name, "upcall", "us", || trips(&mut near));
        drop(works);
        let mut sum = 0;
        let works = Works::new(station(af_xdp()), waiting, move |station| {
            while let Some(mut message) = station.take_passed() {
                if increment(&mut message, &mut sum) {
                    station.device().send(&message).expect("it is there");
                    station.device().flush().expect("it is there");
                }
            }
        });
        row(name, "user-level", "us", || trips(&mut near));
        drop(works);
    }
    throughput();
}

/// Messages that the application receives from its device in half a second.
fn throughput() {
    for size in [64, 512, 1472] {
        let message = datagram(7001, &vec![7; size]);
        let ends = Arc::new(AtomicBool::new(false));
        let sees = ends.clone();
        let sender = thread::spawn(move || {
            let mut near = Line::beside("near").expect("it is there");
            while !sees.load(Ordering::Relaxed) {
                near.send(&message).expect("it is there");
            }
        });
        let mut far = beside();
        row(&format!("raw throughput {size}"), "drystone", "MB/s", || {
            let (begin, mut bytes) = (Instant::now(), 0);
            while begin.elapsed() < Duration::from_millis(200) {
                let take = &mut |frame: &mut Frame<'_>| {
                    bytes += frame.bytes().len() - 42;
                    Decision::Done
                };
                far.receive(take).expect("it is there");
            }
            bytes as f64 / begin.elapsed().as_secs_f64() / 1e6
        });
        ends.store(true, Ordering::Relaxed);
        sender.join().expect("it passes");
    }
}
