//! Filters of any kind come and go: who gets a packet is the same walked, compiled, and asked one filter after the
//! other.

#![no_main]

use drystone_extension::demux::{Cell, Condition, Demultiplexer, Filter, Instruction, Linear, Size, Test};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut bytes = Bytes(bytes);
    let mut linear = Linear::default();
    let (mut walking, mut compiled) = (Demultiplexer::walking(1), Demultiplexer::compiled(2));
    let mut inserted = 0u32;
    while !bytes.0.is_empty() {
        match bytes.next() % 8 {
            0..=2 => {
                let (priority, filter) = (i32::from(bytes.next() % 8 == 0), bytes.filter());
                let id = walking.insert_with_priority(priority, filter.clone(), inserted);
                assert_eq!(compiled.insert_with_priority(priority, filter.clone(), inserted), id);
                linear.0.extend(id.map(|id| (id, priority, filter)));
                inserted += 1;
            }
            3 if !linear.0.is_empty() => {
                let (id, ..) = linear.0.remove(usize::from(bytes.next()) % linear.0.len());
                let target = walking.remove(id);
                assert!(target.is_some() && walking.remove(id).is_none());
                assert_eq!(compiled.remove(id), target);
            }
            _ => {
                let packet = bytes.packet();
                let expected = linear.find(&packet);
                let found = [walking.find(&packet), compiled.find(&packet)].map(|it| it.map(|(id, _)| id));
                assert_eq!(found, [expected; 2], "{packet:?} by {:?}", linear.0);
                let wants = linear.0.iter().any(|(_, _, filter)| filter.wants(&packet));
                assert_eq!(wants, expected.is_some());
            }
        }
    }
    assert_eq!((walking.len(), compiled.len()), (linear.0.len(), linear.0.len()));
});

/// What is made of bytes; of what isn't there, zeros.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn next(&mut self) -> u8 {
        self.0.split_off_first().copied().unwrap_or(0)
    }

    /// Mostly a small one.
    fn number(&mut self) -> u32 {
        match self.next() {
            0xff => u32::from_be_bytes([0; 4].map(|_: u8| self.next())),
            0xfe => u32::from(self.next()) << 8 | u32::from(self.next()),
            small => small.into(),
        }
    }

    fn packet(&mut self) -> Box<[u8]> {
        let length = usize::from(self.next() % 64).min(self.0.len());
        let (packet, rest) = self.0.split_at(length);
        self.0 = rest;
        packet.into()
    }

    fn filter(&mut self) -> Filter {
        match self.next() % 8 {
            0 => {
                let kind = self.next();
                self.one(kind).or(self.all_of())
            }
            kind => self.one(kind),
        }
    }

    fn one(&mut self, kind: u8) -> Filter {
        if !matches!(kind % 8, 1 | 2) {
            return self.all_of();
        }
        let program: Vec<_> = (0..self.next() % 16).map(|_| self.instruction()).collect();
        Filter::from_classic(&program).unwrap_or(Filter::nothing())
    }

    fn all_of(&mut self) -> Filter {
        let tests: Vec<Test> = (0..self.next() % 5).map(|_| self.test()).collect();
        Filter::all_of(tests)
    }

    fn test(&mut self) -> Test {
        let kind = self.next();
        let size = [Size::Byte, Size::Half, Size::Word][usize::from(kind >> 2) % 3];
        let cell = match kind % 4 {
            0 => Cell::Length,
            1 => Cell::Behind { header: self.number(), offset: self.number(), size },
            _ => Cell::At { offset: self.number(), size },
        };
        let condition = match kind >> 4 & 3 {
            0 => Condition::IsNot(self.number()),
            1 => Condition::Between(self.number(), self.number()),
            _ => Condition::Is(self.number()),
        };
        Test { cell, mask: if kind >> 6 == 0 { self.number() } else { u32::MAX }, condition }
    }

    fn instruction(&mut self) -> Instruction {
        let (code, jt, jf, k) = (self.next().into(), self.next() % 8, self.next() % 8, self.number());
        Instruction { code, jt, jf, k }
    }
}
