//! Packets are classified while filters come and go.

use core::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use super::super::*;

fn packet(port: u16) -> [u8; 42] {
    let mut packet = [0; 42];
    packet[12..15].copy_from_slice(&[8, 0, 0x45]);
    packet[23] = 17;
    packet[36..38].copy_from_slice(&port.to_be_bytes());
    packet
}

#[test]
fn whoever_looks_sees_what_was_there_at_one_time() {
    let mut demultiplexer = Demultiplexer::compiled(5);
    let filter = |port| Filter::ethernet().ipv4().udp().destination_port(port);
    demultiplexer.insert(filter(7), 7).unwrap();
    let shared = Mutex::new(demultiplexer.classifier());
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    let classifier = shared.lock().unwrap().clone();
                    assert_eq!(classifier.classify(&packet(7)), Some(&7));
                    for port in 8..100 {
                        let found = classifier.classify(&packet(port));
                        assert!(found.is_none_or(|found| *found == port));
                        assert_eq!(classifier.classify(&packet(port)), found);
                    }
                }
            });
        }
        let mut ids = alloc::collections::VecDeque::new();
        for round in 0..3000u16 {
            let port = 8 + round % 92;
            ids.push_back(demultiplexer.insert(filter(port), port).unwrap());
            if round >= 50 {
                demultiplexer.remove(ids.pop_front().unwrap()).unwrap();
            }
            *shared.lock().unwrap() = demultiplexer.classifier();
        }
        is_over.store(true, Ordering::Relaxed);
    });
}

#[test]
fn a_classifier_stays_as_it_was() {
    let mut demultiplexer = Demultiplexer::compiled(5);
    let target = Arc::new(3);
    let id = demultiplexer.insert(Filter::everything(), target.clone()).unwrap();
    let before = demultiplexer.classifier();
    assert_eq!(demultiplexer.remove(id), Some(target.clone()));
    assert_eq!((before.classify(&[]), demultiplexer.classify(&[])), (Some(&target), None));
    drop((before, demultiplexer));
    assert_eq!(Arc::strong_count(&target), 1);
}

#[test]
fn where_there_is_no_place_for_code_there_is_none() {
    // SAFETY: it gives nothing.
    let mut demultiplexer =
        unsafe { Demultiplexer::<_, NoCode>::new(1, |_| Err("there is no place".into())) };
    demultiplexer.insert(Filter::everything(), 1).unwrap();
    assert_eq!(demultiplexer.classify(&[]), Some(&1));
    assert!(!demultiplexer.classifier().is_compiled());
}
