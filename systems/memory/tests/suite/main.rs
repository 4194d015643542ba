//! Workers that share memory get the same result as a single one: over sockets, and by handlers in network namespaces.

#[allow(dead_code)]
#[path = "../../../../platform/linux/handlers/tests/suite/namespace.rs"]
mod namespace;
mod namespaces;

use std::net::{SocketAddr, UdpSocket};
use std::ops::Range;
use std::thread;
use std::time::Duration;

use drystone_memory::relax::{Work, Worker, relax, share};
use drystone_memory::{MOST, Memory, Peer, SLOT, SLOTS};

const LONGEST: Duration = Duration::from_secs(20);

/// The result of a single worker.
pub fn alone(work: Work) -> Vec<f64> {
    let worker = Worker { memory: &Memory::default(), above: None, below: None, longest: LONGEST };
    relax(work, 0..work.rows, &worker).expect("it waits for nobody")
}

/// A memory behind a socket. One datagram in so many is lost, alternately before and after it is executed.
fn memory(lost: usize) -> (Memory, SocketAddr) {
    let memory = Memory::default();
    let socket = UdpSocket::bind("127.0.0.1:0").expect("there is a port");
    let address = socket.local_addr().expect("it has one");
    let its = memory.clone();
    thread::spawn(move || {
        let mut buffer = [0; 2048];
        for number in 1.. {
            let Ok((length, from)) = socket.recv_from(&mut buffer) else { continue };
            let is_lost = lost > 0 && number % lost == 0;
            if is_lost && (number / lost).is_multiple_of(2) {
                continue;
            }
            let answer = its.take(&buffer[..length]);
            if let Some(answer) = answer.filter(|_| !is_lost) {
                socket.send_to(&answer, from).expect("there is a way");
            }
        }
    });
    (memory, address)
}

fn by_several(work: Work, workers: usize, lost: usize) -> Vec<f64> {
    let places: Vec<(Memory, SocketAddr)> = (0..workers).map(|_| memory(lost)).collect();
    let peer = |number: usize| Peer::new(places[number].1, LONGEST).expect("there is a socket");
    thread::scope(|scope| {
        let all: Vec<_> = (0..workers)
            .map(|number| {
                let (above, below) =
                    (number.checked_sub(1).map(peer), Some(number + 1).filter(|it| *it < workers).map(peer));
                let memory = &places[number].0;
                scope.spawn(move || {
                    let worker =
                        Worker { memory, above: above.as_ref(), below: below.as_ref(), longest: LONGEST };
                    relax(work, share(work, number, workers), &worker).expect("nobody is silent")
                })
            })
            .collect();
        all.into_iter().flat_map(|thread| thread.join().expect("it passes")).collect()
    })
}

#[test]
fn several_workers_come_to_the_same() {
    for (rows, columns, rounds, workers) in
        [(1, 1, 1, 1), (2, 1, 5, 2), (7, 13, 30, 3), (40, 300, 50, 4), (5, 1000, 10, 5)]
    {
        let work = Work { rows, columns, rounds };
        assert_eq!(by_several(work, workers, 0), alone(work), "{work:?}, {workers} workers");
    }
}

#[test]
fn what_is_lost_is_sent_again() {
    let work = Work { rows: 9, columns: 200, rounds: 12 };
    assert_eq!(by_several(work, 3, 5), alone(work));
}

#[test]
fn a_silent_neighbour_is_missed() {
    let nobody = UdpSocket::bind("127.0.0.1:0").expect("there is a port");
    let peer = Peer::new(nobody.local_addr().expect("it has one"), Duration::from_millis(100));
    let peer = peer.expect("there is a socket");
    let worker = Worker { memory: &Memory::default(), above: Some(&peer), below: None, longest: LONGEST };
    let work = Work { rows: 1, columns: 1, rounds: 2 };
    let error = relax(work, 0..1, &worker).expect_err("nobody is there");
    assert!(error.to_string().contains("acknowledges nothing"), "{error}");
}

/// A request in wire format.
pub fn request(slot: u32, offset: u32, bytes: u32, (is_last, round): (bool, u64), data: &[u8]) -> Vec<u8> {
    let words = [slot, offset, bytes, is_last.into()].map(u32::to_be_bytes);
    [words.as_flattened(), &round.to_be_bytes(), data].concat()
}

/// Malformed requests.
pub fn nonsense() -> Vec<Vec<u8>> {
    let (data, end) = ([7; MOST + 8], (SLOT - MOST) as u32);
    let with = |slot, offset, bytes, given: usize| request(slot, offset, bytes, (true, 9), &data[..given]);
    vec![
        with(SLOTS as u32, 0, 8, 8),
        with(u32::MAX, 0, 8, 8),
        with(0, end + 8, 8, 8),
        with(0, u32::MAX - 7, 8, 8),
        with(0, 4, 8, 8),
        with(0, 0, 12, 12),
        with(0, 0, MOST as u32 + 8, MOST + 8),
        with(0, 0, 64, 32),
        with(0, 0, 8, 8)[..20].to_vec(),
        Vec::new(),
    ]
}

fn words(memory: &Memory, slot: usize, range: Range<usize>) -> Vec<u64> {
    let mut all = vec![0; range.end];
    memory.read(slot, &mut all);
    all[range].to_vec()
}

#[test]
fn what_makes_no_sense_changes_nothing() {
    let memory = Memory::default();
    for request in nonsense() {
        assert_eq!(memory.take(&request), None, "{request:?}");
    }
    assert!(
        (0..SLOTS).all(|slot| !memory.is_complete(slot, 1)
            && words(&memory, slot, 0..SLOT / 8).iter().all(|it| *it == 0))
    );
}

#[test]
fn a_write_of_an_earlier_round_changes_nothing() {
    let memory = Memory::default();
    let write = |round, number: u64, is_last| {
        let request = request(1, 16, 8, (is_last, round), &number.to_ne_bytes());
        assert_eq!(memory.take(&request), Some(request[..24].to_vec()));
        (words(&memory, 1, 2..3)[0], memory.is_complete(1, round))
    };
    assert_eq!(write(3, 30, false), (30, false));
    assert_eq!(write(2, 20, true), (30, false));
    assert_eq!(write(3, 31, true), (31, true));
    assert_eq!(write(1, 10, true), (31, true));
}
