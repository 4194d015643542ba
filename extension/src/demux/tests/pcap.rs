//! Expressions compiled by libpcap: by a recorded version, and by the installed one, if there is one.

use alloc::string::String;
use alloc::vec::Vec;
use std::io::Write;
use std::println;
use std::process::{Command, Stdio};

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use super::super::*;
use super::classic::interpreted;
use super::packets::packet;

/// An expression, and in the next line its instructions: code, jt, jf and k of each, between commas.
const COMPILED: &str = include_str!("pcap.txt");

/// What can't be said by tests: offsets and numbers that are computed.
const COMPUTED: [&str; 3] =
    ["tcp[((tcp[12] & 0xf0) >> 2):2] < 0x0a00", "ip[2:2] - 20 > 100", "len - 14 != ip[2:2]"];

fn expressions() -> impl Iterator<Item = (&'static str, Vec<Instruction>)> {
    let lines: Vec<&str> = COMPILED.lines().collect();
    let pairs: Vec<_> =
        lines.chunks_exact(2).map(|pair| (pair[0], instructions(pair[1].split(',')))).collect();
    pairs.into_iter()
}

fn instructions<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<Instruction> {
    lines
        .map(|line| {
            let numbers: Vec<u32> = line.split_whitespace().map(|word| word.parse().unwrap()).collect();
            let [code, jt, jf, k] = numbers[..] else { panic!("{line} is no instruction") };
            Instruction { code: code as u16, jt: jt as u8, jf: jf as u8, k }
        })
        .collect()
}

fn packets(count: usize) -> Vec<Vec<u8>> {
    let mut runner = TestRunner::deterministic();
    (0..count).map(|_| packet().new_tree(&mut runner).unwrap().current()).collect()
}

/// A filter of a program wants what the program wants; also among others.
fn agrees(expression: &str, program: &[Instruction], packets: &[Vec<u8>]) -> usize {
    let filter = Filter::from_classic(program).unwrap_or_else(|refusal| panic!("{expression}: {refusal}"));
    let is_computed = COMPUTED.contains(&expression);
    assert_eq!(filter.programs(), usize::from(is_computed), "{expression}");
    let mut demultiplexer = Demultiplexer::compiled(3);
    let mut walking = Demultiplexer::walking(3);
    demultiplexer.insert(filter.clone(), ()).unwrap();
    walking.insert(filter.clone(), ()).unwrap();
    let wants = |packet: &&Vec<u8>| {
        let wants = interpreted(program, packet) != 0;
        assert_eq!(filter.wants(packet), wants, "{expression}: {packet:?}");
        assert_eq!(demultiplexer.classify(packet).is_some(), wants, "{expression}: {packet:?}");
        assert_eq!(walking.classify(packet).is_some(), wants, "{expression}: {packet:?}");
        wants
    };
    packets.iter().filter(wants).count()
}

#[test]
fn expressions_are_understood() {
    let packets = packets(3000);
    for (expression, program) in expressions() {
        let wanted = agrees(expression, &program, &packets);
        let is_rare = ["ether proto 0x88cc", "ether multicast"].contains(&expression);
        assert!(wanted > 0 && wanted < packets.len() || is_rare, "{expression}: {wanted}");
    }
}

#[test]
fn filters_of_expressions_that_differ_in_a_port_share_a_table() {
    let (_, program) = expressions().find(|(expression, _)| *expression == "tcp port 80").unwrap();
    let mut demultiplexer = Demultiplexer::compiled(4);
    for port in 0..1000 {
        let with_port = |it: &Instruction| Instruction { k: if it.k == 80 { port } else { it.k }, ..*it };
        let program: Vec<Instruction> = program.iter().map(with_port).collect();
        demultiplexer.insert(Filter::from_classic(&program).unwrap(), port).unwrap();
    }
    // From a port or to one, over IPv4 or IPv6.
    assert_eq!(demultiplexer.families(), 4);
}

#[test]
fn the_libpcap_that_is_here_agrees() {
    if Command::new("tcpdump").arg("--version").output().is_err() {
        println!("skipped: the_libpcap_that_is_here_agrees: there is no tcpdump");
        return;
    }
    let mut packets = packets(1000);
    packets.retain(|packet| !packet.is_empty());
    for (expression, _) in expressions() {
        let compiled = tcpdump(&["-y", "EN10MB", "-ddd", expression], &[]);
        let compiled = String::from_utf8(compiled).unwrap();
        let program = instructions(compiled.lines().skip(1));
        agrees(expression, &program, &packets);
        let wanted = packets.iter().filter(|packet| Program::new(&program).unwrap().run(packet) != 0);
        let file = tcpdump(&["-r", "-", "-w", "-", expression], &file_of(packets.iter()));
        assert!(file == file_of(wanted), "{expression}");
    }
}

fn tcpdump(arguments: &[&str], input: &[u8]) -> Vec<u8> {
    let mut command = Command::new("tcpdump");
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    // It writes while it reads.
    let writer = std::thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    writer.join().unwrap().unwrap();
    output.stdout
}

/// As libpcap keeps packets in a file.
fn file_of<'a>(packets: impl Iterator<Item = &'a Vec<u8>>) -> Vec<u8> {
    const ETHERNET: u32 = 1;
    let mut file: Vec<u8> =
        [0xa1b2_c3d4, 4 << 16 | 2, 0, 0, 1 << 16, ETHERNET].into_iter().flat_map(u32::to_le_bytes).collect();
    for packet in packets {
        let length = packet.len() as u32;
        file.extend([0, 0, length, length].into_iter().flat_map(u32::to_le_bytes));
        file.extend(packet);
    }
    file
}
