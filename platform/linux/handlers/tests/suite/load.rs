//! Handlers under load: no acknowledged message is lost, even while handlers are attached and detached.

use std::net::UdpSocket;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use drystone_extension::demux::Filter;
use drystone_extension::handler::{FlowId, Flows, Handler, Image, Machine, Settings, Share};
use drystone_handlers::{AfXdp, Device, Line, Mode, Region, Station, Xdp, datagram, handler};

use crate::clients::{Counter, ask_times, ask_until};
use crate::namespace::{alone, in_thread, ip};
use crate::objects::compiled;
use crate::there::{FAR, There, raise_near};

/// Where the sums of two handlers and of their process begin.
const BEGINS: [u64; 3] = [0, 1 << 62, 1 << 63];
/// How often handlers come and go.
const ROUNDS: usize = 100;
/// Answers between two changes.
const BETWEEN: u64 = 50;

/// Messages: `DRYSTONE_MESSAGES`, or fewer than a patient person would take.
fn messages() -> u64 {
    std::env::var("DRYSTONE_MESSAGES").ok().and_then(|count| count.parse().ok()).unwrap_or(100_000)
}

/// A device of Drystone's engine, at whose other end clients of this thread are.
#[derive(Clone, Copy, Debug)]
enum Which {
    AfXdp(Mode),
    Beside,
    Tap,
}

type AnyDevice = Box<dyn Device + Send>;

impl Which {
    fn open(self) -> Result<(AnyDevice, Option<There>), String> {
        if let Which::Tap = self {
            alone()?;
            let device: AnyDevice = Box::new(Line::tap("near").map_err(|error| error.to_string())?);
            raise_near()?;
            return Ok((device, None));
        }
        let there = There::new()?;
        let device = there.run(move || match self {
            Which::AfXdp(mode) => AfXdp::open("far", 0, mode).map(|it| Box::new(it) as AnyDevice),
            _ => {
                // Else the kernel's stack would answer, too.
                ip("addr flush dev far");
                Line::beside("far").map(|it| Box::new(it) as AnyDevice).map_err(|error| error.to_string())
            }
        });
        Ok((device?, Some(there)))
    }
}

/// A counter, and what it counts with.
fn counter(object: &[u8]) -> (Handler, Region) {
    let image = Image::read(object, None, Machine::Drystone).expect("it is an object");
    let region = Region::new(None, image.region_bytes() as usize).expect("there is room");
    (handler(&image, &region, Settings::default()).expect("it is accepted"), region)
}

/// One that Linux has taken.
fn counter_in_linux(object: &[u8]) -> Result<Xdp, String> {
    Xdp::load(&Image::read(object, None, Machine::Linux)?)
}

fn begin(region: &Region, begin: u64) {
    region.number(0).store(begin, Ordering::Relaxed);
}

fn ended(begin: u64, region: &Region) -> Counter {
    let [sum, times] = [0, 8].map(|at| region.number(at).load(Ordering::Relaxed));
    Counter { begin, sum, times }
}

fn to_counter() -> Filter {
    Filter::ethernet().ipv4().udp().destination_port(7000).into()
}

/// No owner has less of it than comes.
fn flows() -> Flows<drystone_extension::engine::jit::Pages> {
    Flows::compiled(7, Share { runs: u64::MAX, ..Share::default() })
}

/// Has a station turn in a thread until the end.
fn turning(
    mut station: Station<AnyDevice>,
    end: &Arc<AtomicBool>,
    mut each: impl FnMut(&mut Station<AnyDevice>) + Send + 'static,
) -> JoinHandle<()> {
    let end = end.clone();
    thread::spawn(move || {
        while !end.load(Ordering::Relaxed) {
            if station.turn().expect("it is there") == 0 {
                station.wait(Duration::from_millis(5)).expect("it can wait");
            }
            each(&mut station);
        }
    })
}

fn a_station_loses_nothing(name: &'static str, which: Which) {
    let Some(object) = compiled("increment") else { return };
    in_thread(name, move || {
        let (device, _there) = which.open()?;
        let (handler, region) = counter(&object);
        let mut flows = flows();
        flows.attach(1, to_counter(), handler).expect("it can be");
        let end = Arc::default();
        let station = turning(Station::new(device, flows), &end, |_| ());
        let tally = ask_times(messages());
        end.store(true, Ordering::Relaxed);
        station.join().expect("it passes");
        tally.agrees_with(&[ended(0, &region)]);
        Ok(())
    });
}

#[test]
fn nothing_that_is_acknowledged_by_linux_is_lost() {
    let Some(object) = compiled("increment") else { return };
    in_thread("load-xdp", move || {
        let there = There::new()?;
        let (xdp, _attached) = there.run(move || {
            let xdp = counter_in_linux(&object)?;
            let attached = xdp.attach("far", Mode::Generic)?;
            Ok::<_, String>((xdp, attached))
        })?;
        let tally = ask_times(messages());
        tally.agrees_with(&[ended(0, xdp.region().expect("it has one"))]);
        Ok(())
    });
}

#[test]
fn nothing_that_is_acknowledged_by_af_xdp_is_lost() {
    a_station_loses_nothing("load-af-xdp", Which::AfXdp(Mode::Generic));
    a_station_loses_nothing("load-af-xdp-native", Which::AfXdp(Mode::Native));
}

#[test]
fn nothing_that_is_acknowledged_beside_the_kernel_is_lost() {
    a_station_loses_nothing("load-beside", Which::Beside);
}

#[test]
fn nothing_that_is_acknowledged_at_a_tap_is_lost() {
    a_station_loses_nothing("load-tap", Which::Tap);
}

/// The process that the handlers belong to: it answers what none of them has.
#[derive(Clone)]
struct Process(Arc<[AtomicU64; 2]>);

impl Process {
    fn new() -> Process {
        Process(Arc::new([BEGINS[2].into(), 0.into()]))
    }

    fn answer(&self, request: &[u8]) -> Vec<u8> {
        let Process(counter) = self;
        let number = u64::from_be_bytes(request[..8].try_into().expect("8 bytes"));
        counter[1].fetch_add(1, Ordering::Relaxed);
        let sum = counter[0].fetch_add(number, Ordering::Relaxed) + number;
        [&sum.to_be_bytes(), &request[8..]].concat()
    }

    /// What comes by the kernel's stack, until the end.
    fn serve(&self, end: &Arc<AtomicBool>) -> JoinHandle<()> {
        let (process, end) = (self.clone(), end.clone());
        let socket = UdpSocket::bind((FAR, 7000)).expect("it has that address");
        socket.set_read_timeout(Some(Duration::from_millis(50))).expect("it can be");
        thread::spawn(move || {
            let mut request = [0; 100];
            while !end.load(Ordering::Relaxed) {
                let Ok((length, from)) = socket.recv_from(&mut request) else { continue };
                socket.send_to(&process.answer(&request[..length]), from).expect("it goes out");
            }
        })
    }

    /// What a station's handlers leave to it.
    fn answer_passed(&self, station: &mut Station<AnyDevice>) {
        while let Some(frame) = station.take_passed() {
            let Some(request) = datagram::carried(&frame, 7000) else { continue };
            let answer = datagram::answer(&frame, &self.answer(request));
            station.device().send(&answer).expect("it is there");
        }
        station.device().flush().expect("it is there");
    }

    fn ended(&self) -> Counter {
        let [sum, times] = [0, 1].map(|at| self.0[at].load(Ordering::Relaxed));
        Counter { begin: BEGINS[2], sum, times }
    }
}

/// Programs that are started meanwhile have what this process has, until they begin: nothing may depend on that.
fn starting_programs(end: &Arc<AtomicBool>) -> JoinHandle<()> {
    let end = end.clone();
    thread::spawn(move || {
        while !end.load(Ordering::Relaxed) {
            Command::new("true").status().expect("it is there");
        }
    })
}

/// All of the three have answered, and what they count is what was acknowledged.
fn all_took_part(tally: &crate::clients::Tally, [first, second]: [&Region; 2], process: &Process) {
    let counters = [ended(BEGINS[0], first), ended(BEGINS[1], second), process.ended()];
    let answered = tally.agrees_with(&counters);
    assert!(answered.iter().all(|times| *times >= ROUNDS as u64), "{answered:?} answers");
}

#[test]
fn handlers_in_linux_come_and_go_under_load() {
    let Some(object) = compiled("increment") else { return };
    in_thread("changes-xdp", move || {
        let there = There::new()?;
        let handlers = [counter_in_linux(&object)?, counter_in_linux(&object)?];
        let regions = handlers.each_ref().map(|it| it.region().expect("it has one").clone());
        begin(&regions[1], BEGINS[1]);
        let (process, end, over) = (Process::new(), Arc::default(), Arc::new(AtomicBool::default()));
        let (serving, its_end) = (process.clone(), Arc::clone(&end));
        let server = there.run(move || serving.serve(&its_end));
        let others = starting_programs(&end);
        let (answered, is_over) = (Arc::<AtomicU64>::default(), over.clone());
        let progress = answered.clone();
        let changes = there.run(move || {
            thread::spawn(move || {
                let more_are_answered = || {
                    let before = progress.load(Ordering::Relaxed);
                    while progress.load(Ordering::Relaxed) < before + BETWEEN {
                        thread::yield_now();
                    }
                };
                for round in 0..ROUNDS {
                    let attached = handlers[round % 2].attach("far", Mode::Generic).expect("it can be");
                    more_are_answered();
                    drop(attached);
                    more_are_answered();
                }
                over.store(true, Ordering::Relaxed);
            })
        });
        let tally = ask_until(&is_over, &answered);
        changes.join().expect("it passes");
        end.store(true, Ordering::Relaxed);
        server.join().expect("it passes");
        others.join().expect("it passes");
        all_took_part(&tally, regions.each_ref(), &process);
        Ok(())
    });
}

/// A flow's handlers: the first is attached, the second takes its place, none is there, and so on.
struct Changes {
    /// Those that nobody has, the next one last.
    idle: Vec<Handler>,
    flow: Option<FlowId>,
    done: usize,
}

impl Changes {
    fn next(&mut self, flows: &mut Flows<drystone_extension::engine::jit::Pages>) {
        let mut idle = || self.idle.pop().expect("it isn't attached");
        let gone = match (self.done % 3, self.flow) {
            (1, Some(flow)) => flows.replace(flow, idle()),
            (2, Some(flow)) => flows.detach(flow),
            _ => {
                self.flow = Some(flows.attach(1, to_counter(), idle()).expect("it can be"));
                None
            }
        };
        self.idle.splice(0..0, gone);
        self.done += 1;
    }
}

fn handlers_of_a_station_come_and_go(name: &'static str, which: Which) {
    let Some(object) = compiled("increment") else { return };
    in_thread(name, move || {
        let (device, _there) = which.open()?;
        let [(first, first_region), (second, second_region)] = [counter(&object), counter(&object)];
        begin(&second_region, BEGINS[1]);
        let (process, end, over) = (Process::new(), Arc::default(), Arc::new(AtomicBool::default()));
        let (answering, is_over) = (process.clone(), over.clone());
        let answered = Arc::<AtomicU64>::default();
        let progress = answered.clone();
        let mut changes = Changes { idle: vec![second, first], flow: None, done: 0 };
        let mut next = 0;
        let station = turning(Station::new(device, flows()), &end, move |station| {
            answering.answer_passed(station);
            let now = progress.load(Ordering::Relaxed);
            if changes.done < 3 * ROUNDS && now >= next {
                changes.next(&mut station.flows);
                next = now + BETWEEN;
            }
            over.store(changes.done == 3 * ROUNDS, Ordering::Relaxed);
        });
        let tally = ask_until(&is_over, &answered);
        end.store(true, Ordering::Relaxed);
        station.join().expect("it passes");
        all_took_part(&tally, [&first_region, &second_region], &process);
        Ok(())
    });
}

#[test]
fn handlers_of_stations_come_and_go_under_load() {
    handlers_of_a_station_come_and_go("changes-af-xdp", Which::AfXdp(Mode::Generic));
    handlers_of_a_station_come_and_go("changes-beside", Which::Beside);
    handlers_of_a_station_come_and_go("changes-tap", Which::Tap);
}
