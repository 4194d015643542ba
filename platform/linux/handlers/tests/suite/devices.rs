//! Handlers at real devices: both ends of a pair of virtual network interfaces, in a network namespace of the test's
//! own, and a TAP.

use std::time::{Duration, Instant};

use drystone_extension::demux::Filter;
use drystone_extension::handler::{Counts, FlowId, Flows, Handler, Image, Machine, Settings, Share, Verdict};
use drystone_handlers::{AfXdp, Decision, Device, Line, Mode, Station, Xdp};

use crate::namespace::{in_namespace, ip, pair};
use crate::objects::{compiled, datagram, payload};

/// What comes to a device within a second.
fn next(device: &mut impl Device) -> Option<Vec<u8>> {
    let until = Instant::now() + Duration::from_secs(1);
    let mut come = None;
    while come.is_none() && Instant::now() < until {
        let take = &mut |frame: &mut drystone_extension::handler::Frame<'_>| {
            come.get_or_insert_with(|| frame.bytes().to_vec());
            Decision::Done
        };
        device.receive(take).expect("it is there");
    }
    come
}

fn asks(device: &mut impl Device, number: u64) -> Option<u64> {
    device.send(&datagram(7000, &number.to_be_bytes())).expect("it is there");
    device.flush().expect("it is there");
    let answer = next(device)?;
    Some(u64::from_be_bytes(payload(&answer)[..8].try_into().expect("8 bytes")))
}

#[test]
fn linux_answers_in_both_modes() {
    let Some(object) = compiled("increment") else { return };
    in_namespace("xdp", move || {
        if !pair("xdp") {
            return;
        }
        let image = Image::read(&object, None, Machine::Linux).expect("it is an object");
        let mut near = Line::beside("near").expect("it is there");
        // The near end only takes what a driver sends back if it has a program, too.
        let beside = Xdp::load(&Image::read(&object, None, Machine::Linux).expect("it is one"))
            .expect("it is accepted");
        for mode in [Mode::Generic, Mode::Native] {
            let xdp = Xdp::load(&image).expect("it is accepted");
            let attached = xdp.attach("far", mode).expect("it can be");
            let _beside = (mode == Mode::Native).then(|| beside.attach("near", mode).expect("it can be"));
            assert!(xdp.attach("far", mode).expect_err("it has one").contains("has one already"));
            let answers: Vec<_> = (1..=5).map(|_| asks(&mut near, 10)).collect();
            assert_eq!(answers, [10, 20, 30, 40, 50].map(Some), "{mode:?}");
            assert_eq!(
                xdp.region().expect("it has one").number(0).load(std::sync::atomic::Ordering::Relaxed),
                50
            );
            drop(attached);
            assert_eq!(asks(&mut near, 10), None, "{mode:?}");
        }
        assert!(
            Xdp::load(&image)
                .expect("it is accepted")
                .attach("nothing", Mode::Any)
                .expect_err("no")
                .contains("no network interface")
        );
    });
}

/// A station with a counter at port 7000 that runs until a deed is done; what became of its messages.
fn with_station<D: Device + Send + 'static>(object: &[u8], device: D, deed: impl FnOnce()) -> Counts {
    let mut flows = Flows::compiled(7, Share::default());
    let handler = Handler::new(object, None, Settings::default()).expect("it is accepted");
    let filter: Filter = Filter::ethernet().ipv4().udp().destination_port(7000).into();
    let flow: FlowId = flows.attach(1, filter, handler).expect("it can be");
    let mut station = Station::new(device, flows);
    let (end, ended) = std::sync::mpsc::channel::<()>();
    let thread = std::thread::spawn(move || {
        while ended.try_recv() == Err(std::sync::mpsc::TryRecvError::Empty) {
            station.turn().expect("it is there");
            station.wait(Duration::from_millis(5)).expect("it can wait");
        }
        station.flows.counts(flow).expect("it is attached")
    });
    deed();
    end.send(()).expect("it runs");
    thread.join().expect("it passes")
}

#[test]
fn a_station_answers_by_af_xdp() {
    let Some(object) = compiled("increment") else { return };
    in_namespace("af_xdp", move || {
        if !pair("af_xdp") {
            return;
        }
        for mode in [Mode::Generic, Mode::Native] {
            let device = match AfXdp::open("far", 0, mode) {
                Ok(device) => device,
                Err(why) => {
                    assert!(!why.contains("Invalid argument"), "{why}");
                    return println!("skipped: af_xdp: {why}");
                }
            };
            let mut near = Line::beside("near").expect("it is there");
            let counts = with_station(&object, device, || {
                let answers: Vec<_> = (1..=200).map(|_| asks(&mut near, 3)).collect();
                assert_eq!(answers, (1..=200).map(|round| Some(3 * round)).collect::<Vec<_>>(), "{mode:?}");
            });
            assert_eq!((counts.runs, counts.transmitted), (200, 200));
        }
    });
}

/// More come while others are looked at; all of them together are more frames than there are.
#[test]
fn af_xdp_loses_none_of_its_frames() {
    in_namespace("af_xdp-frames", || {
        if !pair("af_xdp-frames") {
            return;
        }
        let device = match AfXdp::open("far", 0, Mode::Generic) {
            Ok(device) => device,
            Err(why) => return println!("skipped: af_xdp-frames: {why}"),
        };
        let [mut near, mut also_near] = [(); 2].map(|()| Line::beside("near").expect("it is there"));
        let send = |near: &mut Line, count: usize, data: &[u8]| {
            (0..count).for_each(|_| near.send(&datagram(7000, data)).expect("it is there"));
        };
        let mut station = Station::new(device, Flows::compiled(7, Share::default()));
        station.upcall = Some(Box::new(move |frame| {
            if payload(frame.bytes()) == b"more" {
                send(&mut also_near, 5, b"");
            }
            Verdict::Drop
        }));
        let mut come = |wanted: usize| {
            let until = Instant::now() + Duration::from_secs(1);
            let mut taken = 0;
            while taken < wanted && Instant::now() < until {
                station.wait(Duration::from_millis(10)).expect("it can");
                taken += station.turn().expect("it is there");
            }
            taken
        };
        for round in 0..200 {
            send(&mut near, 9, b"");
            send(&mut near, 1, b"more");
            let first = come(10);
            send(&mut near, 20, b"");
            assert_eq!(first + come(35 - first), 35, "round {round}");
        }
    });
}

#[test]
fn a_station_answers_by_tap() {
    let Some(object) = compiled("increment") else { return };
    in_namespace("tap", move || {
        let device = match Line::tap("near") {
            Ok(device) => device,
            Err(why) => return println!("skipped: tap: {why}"),
        };
        std::fs::write("/proc/sys/net/ipv6/conf/near/disable_ipv6", "1").ok();
        assert!(ip("link set near up"));
        let mut near = Line::beside("near").expect("it is there");
        let counts = with_station(&object, device, || {
            let answers: Vec<_> = (1..=200).map(|_| asks(&mut near, 3)).collect();
            assert_eq!(answers, (1..=200).map(|round| Some(3 * round)).collect::<Vec<_>>());
        });
        assert_eq!((counts.runs, counts.transmitted), (200, 200));
    });
}

#[test]
fn an_upcall_answers_what_is_no_flows() {
    in_namespace("upcall", || {
        if !pair("upcall") {
            return;
        }
        let mut near = Line::beside("near").expect("it is there");
        let device = Line::beside("far").expect("it is there");
        let mut station = Station::new(device, Flows::compiled(7, Share::default()));
        let mut sum = 0;
        station.upcall = Some(Box::new(move |frame| {
            let Some(number) = frame.bytes_mut().get_mut(42..50) else { return Verdict::Pass };
            sum += u64::from_be_bytes((&*number).try_into().expect("8 bytes"));
            number.copy_from_slice(&sum.to_be_bytes());
            Verdict::Transmit
        }));
        for round in 1..=3 {
            near.send(&datagram(7000, &5u64.to_be_bytes())).expect("it is there");
            station.wait(Duration::from_secs(1)).expect("it can");
            assert_eq!(station.turn().expect("it is there"), 1);
            let answer = next(&mut near).expect("it comes");
            assert_eq!(payload(&answer)[..8], (5 * round as u64).to_be_bytes());
        }
        near.send(&[0xff; 20]).expect("it is there");
        station.wait(Duration::from_secs(1)).expect("it can");
        station.turn().expect("it is there");
        assert_eq!(station.take_passed().map(|message| message.len()), Some(20), "it is passed on");
    });
}
