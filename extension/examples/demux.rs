//! How long it takes to find out whose a packet is: `cargo run --release -p drystone-extension --example demux`.
//!
//! For 1 to 1000 filters that differ in the destination port, or in source address and destination port: the demultiplexer compiled,
//! the same walked, and a chain of the same filters, each compiled by itself and asked one after the other. The packets are
//! such that each filter wants as many. Beside it `bench/peers/demux/filter.c`, for libpcap.

use std::hint::black_box;
use std::ops::Deref;
use std::time::{Duration, Instant};

use drystone_extension::demux::{Cell, Demultiplexer, Filter, Test};
use drystone_extension::engine::jit::Pages;

/// A filter, and a packet that it wants.
type Kind = fn(u16) -> (Filter, [u8; 64]);

const COUNTS: [u16; 4] = [1, 10, 100, 1000];
const PACKETS: u32 = 1000;
const ROUNDS: usize = 51;

/// What finds out whose a packet is.
type Classify = Box<dyn Fn(&[[u8; 64]])>;

fn main() {
    let kinds: [(&str, Kind); 2] = [("port", port), ("address and port", address_and_port)];
    println!("ns for a packet, and how many times as long 1000 filters take as 1");
    println!("{:34}{:>9}{:>9}{:>9}{:>9}{:>11}", "filters", 1, 10, 100, 1000, "1000 : 1");
    for (name, kind) in kinds {
        row(&format!("{name}, compiled"), kind, |count| {
            let demultiplexer = filled(Demultiplexer::compiled(1), kind, count);
            all(kind, count, move |packet| demultiplexer.classify(packet).copied())
        });
        row(&format!("{name}, walked"), kind, |count| {
            let demultiplexer = filled(Demultiplexer::walking(1), kind, count);
            all(kind, count, move |packet| demultiplexer.classify(packet).copied())
        });
        row(&format!("{name}, one after the other"), kind, |count| {
            let one = |number| {
                let mut one = Demultiplexer::compiled(1);
                one.insert(kind(number).0, number).expect("it can be");
                one
            };
            let chain: Vec<Demultiplexer<u16, Pages>> = (0..count).map(one).collect();
            all(kind, count, move |packet| chain.iter().find_map(|one| one.classify(packet).copied()))
        });
    }
    println!();
    for (name, kind) in kinds {
        changes(name, kind);
    }
    changes("1000 shapes", shape);
}

/// How long insertions take.
fn changes(name: &str, kind: Kind) {
    let all = best(|| {
        let begin = Instant::now();
        black_box(filled(Demultiplexer::compiled(1), kind, 1000));
        begin.elapsed()
    });
    let mut demultiplexer = filled(Demultiplexer::compiled(1), kind, 1000);
    let (filter, _) = kind(1000);
    let mut one_more = |is_looked_at: bool| {
        best(|| {
            let others = is_looked_at.then(|| demultiplexer.classifier());
            let filter = filter.clone();
            let begin = Instant::now();
            let id = demultiplexer.insert(filter, 1000).expect("it can be");
            let took = begin.elapsed();
            demultiplexer.remove(id);
            drop(others);
            took
        })
    };
    let (alone, looked_at) = (one_more(false), one_more(true));
    let millis = all.as_nanos() as f64 / 1e6;
    println!(
        "{name}: 1000 insertions {millis:.2} ms, one more {alone:.2?}, while others look {looked_at:.2?}"
    );
}

/// The medians of some rounds, in turns, so that what else the machine does meets all.
fn row(name: &str, kind: Kind, contender: impl Fn(u16) -> Classify) {
    let contenders = COUNTS.map(|count| (packets(kind, count), contender(count)));
    let mut times = [const { Vec::new() }; COUNTS.len()];
    for _ in 0..ROUNDS {
        for ((packets, classify), times) in contenders.iter().zip(&mut times) {
            // What the one before left in the processor's caches is none of it.
            classify(packets);
            let begin = Instant::now();
            classify(packets);
            times.push(begin.elapsed());
        }
    }
    let medians = times.map(|mut times| {
        times.sort_unstable();
        times[ROUNDS / 2].as_nanos() as f64 / f64::from(PACKETS)
    });
    print!("{name:34}");
    medians.iter().for_each(|median| print!("{median:>9.2}"));
    println!("{:>11.2}", medians[3] / medians[0]);
}

/// Each of these packets belongs to whom it should; then it is only asked.
fn all(kind: Kind, count: u16, classify: impl Fn(&[u8]) -> Option<u16> + 'static) -> Classify {
    for number in 0..count {
        assert_eq!(classify(&kind(number).1), Some(number));
    }
    Box::new(move |packets| {
        for packet in packets {
            black_box(classify(black_box(packet)));
        }
    })
}

fn packets(kind: Kind, count: u16) -> Vec<[u8; 64]> {
    let numbers = (0..PACKETS).map(|index| (index * 617 % PACKETS % u32::from(count)) as u16);
    numbers.map(|number| kind(number).1).collect()
}

fn filled<M: Deref<Target = [u8]>>(
    mut demultiplexer: Demultiplexer<u16, M>,
    kind: Kind,
    count: u16,
) -> Demultiplexer<u16, M> {
    for number in 0..count {
        demultiplexer.insert(kind(number).0, number).expect("it can be");
    }
    demultiplexer
}

fn best(once: impl FnMut() -> Duration) -> Duration {
    std::iter::repeat_with(once).take(50).min().expect("it was timed")
}

fn port(number: u16) -> (Filter, [u8; 64]) {
    let port = 1000 + number;
    let filter = Filter::ethernet().ipv4().udp().destination_port(port);
    (filter.into(), packet([10, 0, 0, 1], port))
}

fn address_and_port(number: u16) -> (Filter, [u8; 64]) {
    let [high, low] = number.to_be_bytes();
    let (source, port) = ([10, 0, high, low], 1000 + number % 7);
    let filter = Filter::ethernet().ipv4().source(source).udp().destination_port(port);
    (filter.into(), packet(source, port))
}

/// Each looks at other bits.
fn shape(number: u16) -> (Filter, [u8; 64]) {
    let mask = 0xff00_0000 | u32::from(number);
    (Filter::all_of([Test::is(Cell::half(12), 0x800), Test::is(Cell::word(26), 0).masked(mask)]), [0; 64])
}

fn packet(source: [u8; 4], port: u16) -> [u8; 64] {
    let mut packet = [0; 64];
    packet[12..15].copy_from_slice(&[8, 0, 0x45]);
    packet[23] = 17;
    packet[26..30].copy_from_slice(&source);
    packet[36..38].copy_from_slice(&port.to_be_bytes());
    packet
}
