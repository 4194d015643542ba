//! Measures how long it takes to find a packet's filter among 1 to 1000, which differ in the destination port, or in
//! source address and port. The contenders are the compiled demultiplexer; the same, interpreted; a chain of the same
//! filters, each compiled by itself; and libpcap's and Linux's filters (`bench/peers/handlers/filter.c`). Each filter
//! gets the same number of packets.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::ops::Deref;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use drystone_extension::demux::{Demultiplexer, Filter};
use drystone_extension::engine::jit::Pages;

use super::effort::Effort;
use crate::peers;
use crate::row::Row;
use crate::row::Tell;
use crate::statistics::{Figure, percentile, rounded, sorted};
use crate::turns::{Turn, by_turns};

/// The greatest ratio to the first row's figure: the cost is flat.
const FLAT: f64 = 1.5;

const COUNTS: [u16; 4] = [1, 10, 100, 1000];
const PACKETS: u32 = 1000;

/// What the filters differ in.
#[derive(Clone, Copy)]
struct Kind {
    /// Its words in the row's name and on the peer's command line.
    words: (&'static str, &'static str),
    /// A filter and a packet that matches it.
    of: fn(u16) -> (Filter, [u8; 64]),
}

const KINDS: [Kind; 2] = [
    Kind { words: ("", "port"), of: port },
    Kind { words: (", addresses and ports", "address"), of: address_and_port },
];

/// Measures row after row.
pub fn rows(effort: Effort, tell: Tell) -> Result<(), String> {
    let peer = peers::c("cc", &["-O2", "-lpcap"], "handlers/filter.c", "filter");
    let peer = peer.inspect_err(|why| eprintln!("libpcap and linux have no figures: {why}")).ok();
    let kinds = if effort.is_full { &KINDS[..] } else { &KINDS[..1] };
    for &kind in kinds {
        let mut first = None;
        for count in COUNTS {
            let figures = figures(effort, kind, count, peer.as_deref());
            let row = row(format!("demultiplexer {count}{}", kind.words.0), figures, first);
            first = first.or(row.drystone.map(|figure| figure.value));
            tell(row)?;
        }
    }
    Ok(())
}

type Figures = BTreeMap<&'static str, Option<Figure>>;

fn row(name: String, mut figures: Figures, first: Option<f64>) -> Row {
    let drystone = figures.remove("drystone").flatten();
    let target = first.map(|first| rounded(first * FLAT));
    Row { drystone, peers: figures, target, ..Row::new(name, "ns") }
}

fn figures(effort: Effort, kind: Kind, count: u16, peer: Option<&Path>) -> Figures {
    let packets = packets(kind, count);
    let compiled = filled(Demultiplexer::compiled(1), kind, count);
    let walked = filled(Demultiplexer::walking(1), kind, count);
    let one = |number| {
        let mut one = Demultiplexer::compiled(1);
        one.insert((kind.of)(number).0, number).expect("it can be");
        one
    };
    let chain: Vec<Demultiplexer<u16, Pages>> = (0..count).map(one).collect();
    let find = |packet: &[u8]| chain.iter().find_map(|one| one.classify(packet).copied());
    let by_peer = |how: &str| {
        let mut command = Command::new(peer.ok_or("it isn't built")?);
        let told = peers::run(command.args([kind.words.1, how, &count.to_string()]))?;
        told.trim().parse().map_err(|_| format!("no figure, but: {told}"))
    };
    let turns: [Turn; 5] = [
        ("drystone", &|| time(&packets, |packet| compiled.classify(packet).copied())),
        ("walked", &|| time(&packets, |packet| walked.classify(packet).copied())),
        ("chain", &|| time(&packets, find)),
        ("libpcap-chain", &|| by_peer("libpcap")),
        ("linux-filter", &|| by_peer("linux")),
    ];
    by_turns(effort.rounds, effort.budget, &turns)
}

/// Nanoseconds of a packet's classification, which is checked.
fn time(packets: &[(u16, [u8; 64])], classify: impl Fn(&[u8]) -> Option<u16>) -> Result<f64, String> {
    if !packets.iter().all(|(owner, packet)| classify(packet) == Some(*owner)) {
        return Err("a packet is taken for somebody else's".into());
    }
    let once = || {
        let begin = Instant::now();
        for (_, packet) in packets {
            black_box(classify(black_box(packet)));
        }
        begin.elapsed().as_nanos() as f64 / packets.len() as f64
    };
    let times: Vec<f64> = (0..31).map(|_| once()).collect();
    Ok(percentile(&sorted(&times), 0.5).expect("there are some"))
}

fn packets(kind: Kind, count: u16) -> Vec<(u16, [u8; 64])> {
    let numbers = (0..PACKETS).map(|index| (index * 617 % PACKETS % u32::from(count)) as u16);
    numbers.map(|number| (number, (kind.of)(number).1)).collect()
}

fn filled<M: Deref<Target = [u8]>>(
    mut empty: Demultiplexer<u16, M>,
    kind: Kind,
    count: u16,
) -> Demultiplexer<u16, M> {
    for number in 0..count {
        empty.insert((kind.of)(number).0, number).expect("it can be");
    }
    empty
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
