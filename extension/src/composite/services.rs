//! What carries out the calls of a program: the host's side of its communications (ConcreteServer in *composite
//! calls*).

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use drystone_component::Type;
use drystone_component::wire::{self, Sink, Source};

use super::program::Pattern;
use super::table::{Cell, word};
use super::value::{Text, Value};
use crate::engine::Memory;

/// The communications of a run. No method blocks: it answers [`Answer::Waits`], and is called again.
///
/// Arguments are indices of [`super::Program::communications`] and numbers of the interface's messages. It has been
/// checked that the messages exist, their direction and their types ([`super::Program::check_interfaces`]), but not the
/// order in which the protocol allows them.
pub trait Services {
    /// Sends a message. The answer is [`Answer::Ready`] also if it is dropped because the communication is closed.
    fn send(&mut self, communication: u32, message: u32, values: Arguments<'_>) -> Answer<()>;

    /// Receives the next message, which must be this one, and gives all its values to `results`. If `results` returns
    /// an error, the communication is lost, and this must say so.
    fn receive(&mut self, communication: u32, message: u32, results: &mut Results<'_>) -> Answer<()>;

    /// Whether the next message matches; waits until that is known.
    fn test(&mut self, communication: u32, pattern: Pattern) -> Answer<bool>;

    /// The same, without waiting.
    fn input(&mut self, communication: u32, pattern: Pattern) -> bool;

    /// Ends a communication.
    fn close(&mut self, communication: u32) -> Answer<()>;
}

/// What became of a step of the conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer<T> {
    /// It is done.
    Ready(T),
    /// Nothing is done; it can be, perhaps, when something has changed.
    Waits,
    /// It can't be done, for this reason: in words for people, without a full stop.
    Lost(String),
}

/// The values of a message that is sent. As a [`Source`] it gives them one by one, by number.
#[derive(Clone, Copy, Debug)]
pub struct Arguments<'a> {
    pub(super) cells: &'a [Cell],
    pub(super) memory: &'a Memory,
    pub(super) texts: &'a [Text],
}

impl Arguments<'_> {
    /// Their types.
    pub fn types(&self) -> impl ExactSizeIterator<Item = Type> {
        self.cells.iter().map(|cell| cell.ty)
    }

    /// Appends them as the body of a message on the wire. Fails for a text of 4 GB or more.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), String> {
        wire::encode(self.types(), self, out)
    }

    /// All of them.
    pub fn values(&self) -> impl ExactSizeIterator<Item = Value> {
        (0..self.cells.len()).map(|index| self.value(index))
    }

    /// One of them.
    pub fn value(&self, index: usize) -> Value {
        let cell = self.cells[index];
        match cell.ty {
            Type::Text => Value::Text(self.texts[cell.place].clone()),
            ty => Value::of_word(ty, word(self.memory, cell.place)),
        }
    }

    fn word(&self, index: usize) -> u64 {
        let cell = self.cells[index];
        Value::of_word(cell.ty, word(self.memory, cell.place)).word()
    }
}

impl Source for Arguments<'_> {
    fn integer(&self, index: usize) -> i64 {
        self.word(index) as i64
    }

    fn real(&self, index: usize) -> f64 {
        f64::from_bits(self.word(index))
    }

    fn byte(&self, index: usize) -> u8 {
        self.word(index) as u8
    }

    fn text(&self, index: usize) -> &[u8] {
        &self.texts[self.cells[index].place]
    }

    /// A TEXT, which should have the bytes of one.
    fn sequence(&self, index: usize) -> Result<Vec<u8>, String> {
        Ok(self.text(index).to_vec())
    }
}

/// Takes the values of a message that is received. As a [`Sink`] it takes them one after the other. The program sees
/// none of them before all have come.
#[derive(Debug)]
pub struct Results<'a> {
    pub(super) types: &'a [Type],
    pub(super) values: &'a mut Vec<Value>,
}

impl Results<'_> {
    /// Their types.
    pub fn types(&self) -> &[Type] {
        self.types
    }

    /// Takes all of them from the body of a message on the wire.
    pub fn decode(&mut self, body: &[u8]) -> Result<(), String> {
        wire::decode(self.types.iter().copied(), body, self)
    }

    /// Takes the next one. Fails if its type is another, or if there is one too many.
    pub fn put(&mut self, value: Value) -> Result<(), String> {
        match self.types.get(self.values.len()) {
            Some(ty) if *ty == value.ty() => {
                self.values.push(value);
                Ok(())
            }
            Some(ty) => Err(format!("{} came where the program takes {ty}", value.ty())),
            None => Err("more values came than the program takes".into()),
        }
    }
}

impl Sink for Results<'_> {
    fn integer(&mut self, value: i64) -> Result<(), String> {
        self.put(Value::Integer(value))
    }

    fn real(&mut self, value: f64) -> Result<(), String> {
        self.put(Value::Real(value))
    }

    fn byte(&mut self, value: u8) -> Result<(), String> {
        match self.types.get(self.values.len()) {
            Some(Type::Boolean) => self.put(Value::Boolean(value != 0)),
            _ => self.put(Value::Character(value)),
        }
    }

    fn text(&mut self, value: &[u8]) -> Result<(), String> {
        self.put(Value::Text(value.into()))
    }

    fn sequence(&mut self, value: &[u8]) -> Result<(), String> {
        self.text(value)
    }
}
