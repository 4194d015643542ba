//! How long it takes to find out whose a packet is: `cargo run --release -p drystone-extension --example demux`.
//!
//! For 1 to 1000 filters that differ in the destination port, or in source address and destination port: the demultiplexer compiled,
//! the same walked, and a chain of the same filters, each compiled by itself and asked one after the other. The packets are
//! such that each filter wants as many. Beside it `bench/peers/demux/filter.c`, for libpcap.

use std::hint::black_box;
use std::time::{Duration, Instant};

use drystone_extension::demux::{Demultiplexer, Filter};
use drystone_extension::engine::jit::Pages;

/// A filter, and a packet that it wants.
type Kind = fn(u16) -> (Filter, [u8; 64]);

const COUNTS: [u16; 4] = [1, 10, 100, 1000];

fn main() {
    let kinds: [(&str, Kind); 2] = [("port", port), ("address and port", address_and_port)];
    println!("ns for a packet, and how many times as long 1000 filters take as 1");
    println!("{:34}{:>9}{:>9}{:>9}{:>9}{:>11}", "filters", 1, 10, 100, 1000, "1000 : 1");
    for (name, kind) in kinds {
        row(&format!("{name}, compiled"), |count| {
            let demultiplexer = filled(Demultiplexer::compiled(1), kind, count);
            time(kind, count, |packet| demultiplexer.classify(packet).copied())
        });
        row(&format!("{name}, walked"), |count| {
            let demultiplexer = filled(Demultiplexer::walking(1), kind, count);
            time(kind, count, |packet| demultiplexer.classify(packet).copied())
        });
        row(&format!("{name}, one after the other"), |count| {
            let chain: Vec<Demultiplexer<u16, Pages>> = (0..count)
                .map(|number| {
                    let mut one = Demultiplexer::compiled(1);
                    one.insert(kind(number).0, number).expect("it can be");
                    one
                })
                .collect();
            time(kind, count, |packet| chain.iter().find_map(|one| one.classify(packet).copied()))
        });
    }
    println!();
    for (name, kind) in kinds {
        let all = best(|| {
            let begin = Instant::now();
            black_box(filled(Demultiplexer::compiled(1), kind, 1000));
            begin.elapsed()
        });
        let mut demultiplexer = filled(Demultiplexer::compiled(1), kind, 1000);
        let (filter, _) = kind(1000);
        let one = best(|| {
            let filter = filter.clone();
            let begin = Instant::now();
            let id = demultiplexer.insert(filter, 1000).expect("it can be");
            let took = begin.elapsed();
            demultiplexer.remove(id);
            took
        });
        println!("{name}: 1000 insertions {:.3} ms, one more {:.2} us", micros(all) / 1e3, micros(one));
        let once = best(|| {
            let others = demultiplexer.classifier();
            let begin = Instant::now();
            let id = demultiplexer.insert(filter.clone(), 1000).expect("it can be");
            let took = begin.elapsed();
            demultiplexer.remove(id);
            drop(others);
            took
        });
        println!("{name}: one more while others look: {:.2} us", micros(once));
    }
}

fn row(name: &str, time: impl Fn(u16) -> f64) {
    let times = COUNTS.map(time);
    print!("{name:34}");
    times.iter().for_each(|time| print!("{time:>9.2}"));
    println!("{:>11.2}", times[3] / times[0]);
}

fn filled<M: std::ops::Deref<Target = [u8]>>(
    mut demultiplexer: Demultiplexer<u16, M>,
    kind: Kind,
    count: u16,
) -> Demultiplexer<u16, M> {
    for number in 0..count {
        demultiplexer.insert(kind(number).0, number).expect("it can be");
    }
    demultiplexer
}

/// The median of some rounds, in ns for each packet.
fn time(kind: Kind, count: u16, classify: impl Fn(&[u8]) -> Option<u16>) -> f64 {
    let order = (0..1000u32).map(|index| (index * 617 % 1000 % u32::from(count)) as u16);
    let packets: Vec<(u16, [u8; 64])> = order.map(|number| (number, kind(number).1)).collect();
    for (number, packet) in &packets {
        assert_eq!(classify(packet), Some(*number));
    }
    let mut times: Vec<Duration> = (0..101)
        .map(|_| {
            let begin = Instant::now();
            for (_, packet) in &packets {
                black_box(classify(black_box(packet)));
            }
            begin.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[times.len() / 2].as_nanos() as f64 / packets.len() as f64
}

fn best(once: impl FnMut() -> Duration) -> Duration {
    std::iter::repeat_with(once).take(200).min().expect("it was timed")
}

fn micros(time: Duration) -> f64 {
    time.as_nanos() as f64 / 1e3
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

fn packet(source: [u8; 4], port: u16) -> [u8; 64] {
    let mut packet = [0; 64];
    packet[12..15].copy_from_slice(&[8, 0, 0x45]);
    packet[23] = 17;
    packet[26..30].copy_from_slice(&source);
    packet[36..38].copy_from_slice(&port.to_be_bytes());
    packet
}
