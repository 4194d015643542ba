//! Interfaces: what two components agree on when they are connected, in one program or in two.
//!
//! Within a program an interface is its description: there is one of each. Across programs, and for components written
//! in Rust, interfaces are the same if their [`Fingerprint`]s are.

use alloc::vec::Vec;
use core::fmt;

use crate::table::{Str, Table};

/// An end of a communication.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Sends `IN` messages.
    Client = 0,
    /// Sends `OUT` messages.
    Server = 1,
}

/// The type of a message's parameter.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// `BOOLEAN`: 0 or 1.
    Boolean = 0,
    /// `CHARACTER`: one byte.
    Character = 1,
    /// `INTEGER`: 64 bits, signed.
    Integer = 2,
    /// `REAL`: IEEE double.
    Real = 3,
    /// `TEXT`: a byte string.
    Text = 4,
    /// A component. The sender's compiler checks its type, which is part of the fingerprint.
    Component = 5,
    /// A sequence of values. What these are, [`Parameter::form`] tells.
    Sequence = 6,
}

impl Type {
    /// Whether it is a value by itself. A component isn't, and what a sequence consists of another program can't know
    /// from the type.
    pub const fn is_plain(self) -> bool {
        !matches!(self, Type::Component | Type::Sequence)
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Type::Boolean => "BOOLEAN",
            Type::Character => "CHARACTER",
            Type::Integer => "INTEGER",
            Type::Real => "REAL",
            Type::Text => "TEXT",
            Type::Component => "a component",
            Type::Sequence => "a sequence",
        })
    }
}

/// A parameter of a message.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Parameter {
    /// As declared; not part of the interface's identity. A value of a record has its path: `from.x`.
    pub name: Str,
    /// Its type.
    pub ty: Type,
    /// The [form](crate::form) of a sequence; else empty.
    pub form: Str,
}

/// A part of a message: a value, or a record, whose fields stand one after another among the parameters.
#[derive(Clone, Copy)]
pub enum Member<'a> {
    /// A value and its name.
    Value(&'a str, &'a Parameter),
    /// The name of a record, and its values. Their names go on with a point behind that name.
    Record(&'a str, &'a [Parameter]),
}

/// The parts of a message (`within` is 0), or of a record in it: then the names of its values go on at byte `within`.
pub fn members(parameters: &[Parameter], within: usize) -> impl Iterator<Item = Member<'_>> {
    let mut rest = parameters;
    core::iter::from_fn(move || {
        let (first, others) = rest.split_first()?;
        let name = &first.name.get()[within..];
        let Some((record, _)) = name.split_once('.') else {
            rest = others;
            return Some(Member::Value(name, first));
        };
        let belongs = |parameter: &&Parameter| {
            let name = parameter.name.get()[within..].split_once('.');
            name.is_some_and(|(name, _)| name == record)
        };
        let (fields, others) = rest.split_at(rest.iter().take_while(belongs).count());
        rest = others;
        Some(Member::Record(record, fields))
    })
}

/// A message: its index in the interface is its number everywhere.
#[repr(C)]
pub struct Message {
    /// As declared.
    pub name: Str,
    /// Who sends it.
    pub sender: Side,
    /// In order; each takes one 8-byte word in the buffer.
    pub parameters: Table<Parameter>,
    /// Its marshalling code, if the message may leave the program.
    pub marshalling: Option<&'static Marshalling>,
}

impl Parameter {
    /// As declared; no sequence.
    pub const fn new(name: &'static str, ty: Type) -> Parameter {
        Parameter { name: Str::new(name), ty, form: Str::new("") }
    }
}

impl Message {
    /// A message without marshalling code, as components written in Rust have it.
    pub const fn new(name: &'static str, sender: Side, parameters: &'static [Parameter]) -> Message {
        Message { name: Str::new(name), sender, parameters: Table::new(parameters), marshalling: None }
    }

    /// Whether it carries a component.
    pub fn has_component(&self) -> bool {
        self.types().any(|ty| ty == Type::Component)
    }

    /// The types of its parameters, in order.
    pub fn types(&self) -> impl Iterator<Item = Type> + use<> {
        self.parameters.get().iter().map(|parameter| parameter.ty)
    }
}

/// Code that moves the values of one message between its words and bytes, without looking at types: what
/// [`encode`](crate::wire::encode) and [`decode`](crate::wire::decode) do for all messages.
#[repr(C)]
pub struct Marshalling {
    /// How many bytes the values take. `words` has as many words as the message has parameters, with values of their
    /// types.
    pub length: unsafe extern "C" fn(words: *const u64) -> u64,
    /// Writes the values. `words` is as for `length`, and `to` has room for as many bytes as that says.
    pub encode: unsafe extern "C" fn(words: *const u64, to: *mut u8),
    /// Reads values from the bytes between `from` and `end` into `words`, which has as many words as the message has
    /// parameters, and makes texts on `worker`. Gives 0 if the bytes are wrong or memory is short: then some texts may
    /// have been made, and the words of the others are unchanged.
    pub decode:
        unsafe extern "C" fn(worker: *mut (), from: *const u8, end: *const u8, words: *mut u64) -> u64,
}

/// Identifies an interface across programs: a hash of its name, its messages (name, direction, types of the parameters,
/// in order) and its state machine. Two descriptions have the same fingerprint if they describe the same interface.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fingerprint(pub [u64; 2]);

impl Fingerprint {
    /// The fingerprint of an interface whose identity `language/` has written as text: 128 bits of FNV-1a.
    pub const fn of(identity: &str) -> Fingerprint {
        let mut hash: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
        let bytes = identity.as_bytes();
        let mut i = 0;
        while i < bytes.len() {
            hash = (hash ^ bytes[i] as u128).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
            i += 1;
        }
        Fingerprint([hash as u64, (hash >> 64) as u64])
    }

    /// The 128 bits, the highest first.
    pub const fn to_bytes(self) -> [u8; 16] {
        ((self.0[1] as u128) << 64 | self.0[0] as u128).to_be_bytes()
    }

    /// The highest 32 bits, for places with room for no more.
    pub const fn head(self) -> u32 {
        (self.0[1] >> 32) as u32
    }

    /// The inverse of [`Fingerprint::to_bytes`].
    pub const fn from_bytes(bytes: [u8; 16]) -> Fingerprint {
        let hash = u128::from_be_bytes(bytes);
        Fingerprint([hash as u64, (hash >> 64) as u64])
    }
}

/// As 32 hexadecimal digits.
impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}{:016x}", self.0[1], self.0[0])
    }
}

/// An interface with the state machine that watches its protocol (*structured concurrent programs*, section 3.1).
///
/// Messages and states have the numbers that the checker gave them.
#[repr(C)]
pub struct Interface {
    /// Its name.
    pub name: Str,
    /// Identifies it across programs.
    pub fingerprint: Fingerprint,
    /// Its messages.
    pub messages: Table<Message>,
    /// `next[state * messages + message]` is the following state, [`Interface::NONE`] if not allowed.
    pub next: Table<u16>,
    /// For each state: bit 0 set if the communication may end there, bit 1 if the client may send, bit 2 if
    /// the server may send.
    pub states: Table<u8>,
    /// Words that the largest message needs.
    pub payload_words: usize,
    /// How many messages the buffer holds behind the first: 0 or a power of two, so that its capacity is at least what
    /// the interface says.
    pub queued: usize,
}

impl Interface {
    /// No transition.
    pub const NONE: u16 = u16::MAX;
    /// Bit of [`Interface::states`].
    pub const MAY_END: u8 = 1;
    /// Bit of [`Interface::states`].
    pub const CLIENT_SENDS: u8 = 2;
    /// Bit of [`Interface::states`].
    pub const SERVER_SENDS: u8 = 4;

    /// The name of the interfaces that the compiler adds for blocks that may be shipped. It is a keyword, so no other
    /// interface has it.
    pub const FOR_BLOCK: &str = "COMPOSITE";

    /// Words of a communication's buffer.
    pub const fn buffer(&self) -> usize {
        Self::buffer_words(self.payload_words, self.queued)
    }

    /// Words of the buffer: the first message's, and if more than one may be in it, one word that says which places are
    /// taken, and for each place one word more than the largest message has.
    pub const fn buffer_words(payload_words: usize, queued: usize) -> usize {
        match queued {
            0 => payload_words,
            places => payload_words + 1 + places * (1 + payload_words),
        }
    }

    /// Whether the compiler added it for a block that may be shipped. It is no part of a component's identity.
    pub fn is_for_block(&self) -> bool {
        self.name.get() == Self::FOR_BLOCK
    }

    /// The tables [`Interface::next`] and [`Interface::states`], from a list of states: whether the communication may
    /// end there, and where each message leads.
    pub fn automaton<T: IntoIterator<Item = (usize, u16)>>(
        messages: &[Message],
        states: impl IntoIterator<Item = (bool, T)>,
    ) -> (Vec<u16>, Vec<u8>) {
        let (mut next, mut all) = (Vec::new(), Vec::new());
        for (may_end, transitions) in states {
            let begin = next.len();
            next.resize(begin + messages.len(), Self::NONE);
            let mut state = if may_end { Self::MAY_END } else { 0 };
            for (message, to) in transitions {
                next[begin + message] = to;
                state |= match messages[message].sender {
                    Side::Client => Self::CLIENT_SENDS,
                    Side::Server => Self::SERVER_SENDS,
                };
            }
            all.push(state);
        }
        (next, all)
    }

    /// Where a message leads from a state.
    pub fn next(&self, state: u16, message: usize) -> Option<u16> {
        let next = self.next.get()[state as usize * self.messages.length + message];
        (next != Self::NONE).then_some(next)
    }

    /// The bits of a state.
    pub fn state(&self, state: u16) -> u8 {
        self.states.get()[state as usize]
    }
}

impl fmt::Debug for Interface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name.get(), self.fingerprint)
    }
}

// SAFETY: a description is never written, and its pointers lead to read-only data or code.
unsafe impl Sync for Interface {}
// SAFETY: the same holds for a message's description.
unsafe impl Sync for Message {}

#[cfg(test)]
mod tests {
    use super::Fingerprint;

    #[test]
    fn fingerprints_are_those_of_the_hash_that_they_are_named_after() {
        assert_eq!(Fingerprint::of("").0, [0x62b8_2175_6295_c58d, 0x6c62_272e_07bb_0142]);
        assert_eq!(Fingerprint::of("a").0, [0x7891_2b70_4e4a_8964, 0xd228_cb69_6f1a_8caf]);
    }
}
