//! A service for tests: files in memory, each behind a communication, and a bank that lends numbered things.

use std::collections::VecDeque;

use drystone_component::Type;
use drystone_component::wire::{Description, Source};
use drystone_extension::composite::*;

use crate::interface::requests_and_replies;

/// Reads and writes a file from its beginning on.
pub fn file() -> Description {
    requests_and_replies(
        "File",
        &[
            ("IN", "Read", &[Type::Integer]),
            ("OUT", "Data", &[Type::Text]),
            ("IN", "Write", &[Type::Text]),
            ("OUT", "Written", &[]),
        ],
    )
}

/// Lends things that have a number and a size.
pub fn bank() -> Description {
    requests_and_replies(
        "Bank",
        &[("IN", "Allocate", &[Type::Integer]), ("OUT", "Allocated", &[Type::Integer, Type::Integer])],
    )
}

/// The first communications are files, the last one is a bank.
#[derive(Debug, Default)]
pub struct Store {
    pub files: Vec<File>,
    pub lent: Vec<i64>,
    /// Whether the other side has gone, of each communication.
    pub lost: Vec<bool>,
    /// Nothing is answered as long as it is set.
    pub is_busy: bool,
    answer: VecDeque<Vec<Value>>,
}

#[derive(Debug, Default)]
pub struct File {
    pub bytes: Vec<u8>,
    at: usize,
}

impl Store {
    /// With such files.
    pub fn of(files: &[&[u8]]) -> Store {
        let file = |bytes: &&[u8]| File { bytes: bytes.to_vec(), at: 0 };
        Store {
            files: files.iter().map(file).collect(),
            lost: vec![false; files.len() + 1],
            ..Store::default()
        }
    }

    /// The same, but nothing is answered yet.
    pub fn busy(files: &[&[u8]]) -> Store {
        Store { is_busy: true, ..Store::of(files) }
    }
}

impl Services for Store {
    fn send(&mut self, communication: u32, message: u32, values: Arguments<'_>) -> Answer<()> {
        if self.lost[communication as usize] {
            return Answer::Lost("the other side has gone".into());
        }
        let answer = match (self.files.get_mut(communication as usize), message) {
            (Some(file), 0) => {
                let end = file.bytes.len().min(file.at + values.integer(0) as usize);
                let data = file.bytes[file.at..end].into();
                file.at = end;
                vec![Value::Text(data)]
            }
            (Some(file), _) => {
                file.bytes.extend_from_slice(values.text(0));
                vec![]
            }
            (None, _) => {
                self.lent.push(values.integer(0));
                vec![Value::Integer(100 + self.lent.len() as i64), Value::Integer(values.integer(0) * 2)]
            }
        };
        self.answer.push_back(answer);
        Answer::Ready(())
    }

    fn receive(&mut self, communication: u32, _: u32, results: &mut Results<'_>) -> Answer<()> {
        if self.lost[communication as usize] {
            return Answer::Lost("the other side has gone".into());
        }
        if self.is_busy {
            return Answer::Waits;
        }
        let Some(answer) = self.answer.pop_front() else { return Answer::Waits };
        match answer.into_iter().try_for_each(|value| results.put(value)) {
            Ok(()) => Answer::Ready(()),
            Err(what) => Answer::Lost(what),
        }
    }

    fn test(&mut self, communication: u32, pattern: Pattern) -> Answer<bool> {
        Answer::Ready(self.lost[communication as usize] == (pattern == Pattern::Finish))
    }

    fn input(&mut self, _: u32, _: Pattern) -> bool {
        !self.answer.is_empty()
    }

    fn close(&mut self, _: u32) -> Answer<()> {
        Answer::Ready(())
    }
}
