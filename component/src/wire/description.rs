//! An interface as bytes, for another program: its name, fingerprint, messages and state machine. Decoding checks that
//! the interface is well formed: numbers lie within their tables, only one side sends in each state, and each message
//! is sent by one side only.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::{self, Write};

use super::xdr::{Reader, put_opaque, put_u32};
use crate::form::Form;
use crate::interface::{Fingerprint, Interface, Side, Type};
use crate::protocol::Protocol;

/// An interface of another program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    name: String,
    fingerprint: Fingerprint,
    messages: Vec<Described>,
    /// For each state, whether the protocol may end there, and the index of its first transition.
    states: Vec<(bool, usize)>,
    /// Message and next state, within each state by ascending message number.
    transitions: Vec<(u16, u16)>,
    /// The [form](Form) of each parameter that is a sequence, in order; none if the other program hasn't told them.
    forms: Vec<String>,
}

/// A message of another program's interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Described {
    /// The name, as declared.
    pub name: String,
    /// The side that sends the message.
    pub sender: Side,
    /// The names and types of the parameters, in order.
    pub parameters: Vec<(String, Type)>,
}

/// The greatest length of the name of an interface or message.
const LONGEST_NAME: usize = 1024;

/// The greatest length of a parameter's name. Records stand in one another at most 32 deep.
const LONGEST_PATH: usize = 34 * (LONGEST_NAME + 1);

/// The types, indexed by their numbers on the wire.
const TYPES: [Type; 7] =
    [Type::Boolean, Type::Character, Type::Integer, Type::Real, Type::Text, Type::Component, Type::Sequence];

impl Description {
    /// Describes an interface of this program.
    pub fn of(interface: &Interface) -> Description {
        let messages = interface.messages.get().iter().map(|message| Described {
            name: message.name.get().to_string(),
            sender: message.sender,
            parameters: message.parameters.get().iter().map(|p| (p.name.get().to_string(), p.ty)).collect(),
        });
        let mut description = Description {
            name: interface.name.get().to_string(),
            fingerprint: interface.fingerprint,
            messages: messages.collect(),
            states: Vec::new(),
            transitions: Vec::new(),
            forms: Vec::new(),
        };
        for state in 0..interface.states.length as u16 {
            description.states.push((interface.may_end(state), description.transitions.len()));
            let transitions = interface.transitions(state).map(|(message, to)| (message as u16, to));
            description.transitions.extend(transitions);
        }
        description
    }

    /// Appends the encoded bytes.
    pub fn encode(&self, out: &mut Vec<u8>) {
        put_opaque(out, self.name.as_bytes());
        out.extend_from_slice(&self.fingerprint.to_bytes());
        put_u32(out, self.messages.len() as u32);
        for message in &self.messages {
            put_opaque(out, message.name.as_bytes());
            put_u32(out, message.sender as u32);
            put_u32(out, message.parameters.len() as u32);
            for (name, ty) in &message.parameters {
                put_opaque(out, name.as_bytes());
                put_u32(out, *ty as u32);
            }
        }
        put_u32(out, self.states.len() as u32);
        for state in 0..self.states.len() {
            put_u32(out, self.states[state].0.into());
            let transitions = self.row(state as u16);
            put_u32(out, transitions.len() as u32);
            for &(message, to) in transitions {
                put_u32(out, message.into());
                put_u32(out, to.into());
            }
        }
    }

    /// Decodes bytes that may be anything. All of them must be used. An error says what is wrong.
    pub fn decode(bytes: &[u8]) -> Result<Description, String> {
        let mut reader = Reader::new(bytes);
        let name = name(&mut reader, "the interface's name")?;
        let fingerprint = Fingerprint::from_bytes(reader.array("the fingerprint")?);
        let mut description = Description {
            name,
            fingerprint,
            messages: Vec::new(),
            states: Vec::new(),
            transitions: Vec::new(),
            forms: Vec::new(),
        };
        for _ in 0..count(&mut reader, 12, "the number of messages")? {
            description.messages.push(message(&mut reader)?);
        }
        for _ in 0..count(&mut reader, 8, "the number of states")? {
            description.state(&mut reader)?;
        }
        reader.end()?;
        description.check()?;
        Ok(description)
    }

    /// What the sequences of an interface of this program consist of, as bytes; none if it has no sequences.
    pub fn forms_of(interface: &Interface) -> Vec<u8> {
        let mut out = Vec::new();
        let parameters = interface.messages.get().iter().flat_map(|message| message.parameters.get());
        for sequence in parameters.filter(|parameter| parameter.ty == Type::Sequence) {
            put_opaque(&mut out, sequence.form.get().as_bytes());
        }
        out
    }

    /// The same description, and what its sequences consist of: bytes that may be anything, or none.
    ///
    /// # Errors
    /// A sentence says what is wrong with them.
    pub fn with_forms(mut self, bytes: &[u8]) -> Result<Description, String> {
        if bytes.is_empty() {
            return Ok(self);
        }
        let mut reader = Reader::new(bytes);
        let parameters = self.messages.iter().flat_map(|message| &message.parameters);
        for (name, _) in parameters.filter(|(_, ty)| *ty == Type::Sequence) {
            let form = str::from_utf8(reader.opaque("a form")?).ok().and_then(Form::checked);
            let form = form.ok_or_else(|| format!("the form of {name} is none"))?;
            self.forms.push(form.text().to_string());
        }
        reader.end()?;
        Ok(self)
    }

    /// What a parameter consists of; `None`: it is a component, or the other program hasn't told it.
    pub fn form(&self, message: usize, parameter: usize) -> Option<Form<'_>> {
        let is_sequence = |(_, ty): &&(String, Type)| *ty == Type::Sequence;
        let ty = self.messages[message].parameters[parameter].1;
        let before = self.messages[..message].iter().flat_map(|message| &message.parameters);
        let before =
            before.chain(&self.messages[message].parameters[..parameter]).filter(is_sequence).count();
        match ty {
            Type::Sequence => self.forms.get(before).map(|form| Form::new(form)),
            plain => Form::plain(plain),
        }
    }

    fn state(&mut self, reader: &mut Reader<'_>) -> Result<(), String> {
        let may_end = match reader.word("whether a state may end")? {
            value @ 0..=1 => value == 1,
            _ => return Err("whether a state may end is neither 0 nor 1".to_string()),
        };
        let begin = self.transitions.len();
        self.states.push((may_end, begin));
        for _ in 0..count(reader, 8, "the number of transitions")? {
            let message = reader.word("a transition's message")?;
            if message as usize >= self.messages.len() {
                return Err(format!("there is no message {message}"));
            }
            let previous = self.transitions[begin..].last().map(|(previous, _)| u32::from(*previous));
            if previous.is_some_and(|previous| previous >= message) {
                return Err("a state's transitions are not in the order of their messages".to_string());
            }
            let sender = |message: u32| self.messages[message as usize].sender;
            if previous.is_some_and(|previous| sender(previous) != sender(message)) {
                return Err(format!("both sides may send in state {}", self.states.len() - 1));
            }
            // Whether this state exists is checked once all have been read.
            let to = reader.word("a transition's end")?.try_into().unwrap_or(u16::MAX);
            self.transitions.push((message as u16, to));
        }
        Ok(())
    }

    /// Checks what needs the complete description.
    fn check(&self) -> Result<(), String> {
        if self.states.is_empty() {
            return Err("it has no state".to_string());
        }
        if let Some((_, to)) = self.transitions.iter().find(|(_, to)| usize::from(*to) >= self.states.len()) {
            return Err(format!("there is no state {to}"));
        }
        let mut known = BTreeSet::new();
        for message in &self.messages {
            if !known.insert((message.sender == Side::Client, &message.name)) {
                return Err(format!("there are two messages {message}"));
            }
        }
        let identity = identity(self);
        if identity.is_some_and(|identity| Fingerprint::of(&identity) != self.fingerprint) {
            return Err("its fingerprint is that of another interface".to_string());
        }
        Ok(())
    }

    /// The transitions of a state.
    fn row(&self, state: u16) -> &[(u16, u16)] {
        let begin = self.states[state as usize].1;
        let end = self.states.get(state as usize + 1).map_or(self.transitions.len(), |(_, begin)| *begin);
        &self.transitions[begin..end]
    }

    /// The messages, by their numbers in the described interface.
    pub fn described(&self) -> &[Described] {
        &self.messages
    }
}

/// Reads the number of elements that follow, each of at least `size` bytes. Numbers in an interface have 16 bits, and
/// the greatest is reserved.
fn count(reader: &mut Reader<'_>, size: usize, what: &str) -> Result<usize, String> {
    let count = reader.word(what)? as usize;
    match count <= reader.left() / size && count < u16::MAX.into() {
        true => Ok(count),
        false => Err(what.to_string() + " is more than follow"),
    }
}

fn name(reader: &mut Reader<'_>, what: &str) -> Result<String, String> {
    let bytes = reader.opaque(what)?;
    match str::from_utf8(bytes) {
        Ok(name) if is_name(bytes) && bytes.len() <= LONGEST_NAME => Ok(name.to_string()),
        _ => Err(what.to_string() + " is not a letter and then letters, digits and underscores"),
    }
}

fn is_name(bytes: &[u8]) -> bool {
    bytes.first().is_some_and(u8::is_ascii_alphabetic)
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
}

/// The name of a parameter. That of a value of a record consists of several.
fn path(reader: &mut Reader<'_>) -> Result<String, String> {
    let bytes = reader.opaque("a parameter's name")?;
    let is_path = bytes.split(|byte| *byte == b'.').all(is_name) && bytes.len() <= LONGEST_PATH;
    match str::from_utf8(bytes) {
        Ok(path) if is_path => Ok(path.to_string()),
        _ => Err("a parameter's name is not names with points between them".to_string()),
    }
}

fn message(reader: &mut Reader<'_>) -> Result<Described, String> {
    let name_of_message = name(reader, "a message's name")?;
    let sender = match reader.word("a message's sender")? {
        0 => Side::Client,
        1 => Side::Server,
        _ => return Err("a message's sender is neither 0 nor 1".to_string()),
    };
    let mut parameters = Vec::new();
    for _ in 0..count(reader, 12, "the number of parameters")? {
        let name = path(reader)?;
        let ty = reader.word("a parameter's type")?;
        let ty = TYPES.get(ty as usize).ok_or_else(|| format!("there is no type {ty}"))?;
        parameters.push((name, *ty));
    }
    Ok(Described { name: name_of_message, sender, parameters })
}

/// The text whose hash is the interface's fingerprint, as `language/` writes it. `None` for an interface that carries
/// components or sequences, because the text then needs facts known only where it is declared.
pub fn identity(interface: &impl Protocol) -> Option<String> {
    let mut text = interface.name().to_string();
    for number in 0..interface.messages() {
        let (sender, name) = interface.message(number);
        text += if sender == Side::Client { "\nIN " } else { "\nOUT " };
        text += name;
        for ty in interface.types(number) {
            if !ty.is_plain() {
                return None;
            }
            write!(text, " {ty}").ok()?;
        }
    }
    for state in 0..interface.states() as u16 {
        text += if interface.may_end(state) { "\n." } else { "\n" };
        for (message, to) in interface.transitions(state) {
            write!(text, " {message}>{to}").ok()?;
        }
    }
    text += "\n\n";
    Some(text)
}

impl Protocol for Description {
    fn name(&self) -> &str {
        &self.name
    }

    fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    fn messages(&self) -> usize {
        self.messages.len()
    }

    fn message(&self, number: usize) -> (Side, &str) {
        let message = &self.messages[number];
        (message.sender, &message.name)
    }

    fn types(&self, number: usize) -> impl Iterator<Item = Type> {
        self.messages[number].parameters.iter().map(|(_, ty)| *ty)
    }

    fn states(&self) -> usize {
        self.states.len()
    }

    fn may_end(&self, state: u16) -> bool {
        self.states[state as usize].0
    }

    fn transitions(&self, state: u16) -> impl Iterator<Item = (usize, u16)> {
        self.row(state).iter().map(|&(message, to)| (message.into(), to))
    }

    fn next(&self, state: u16, message: usize) -> Option<u16> {
        let row = self.row(state);
        let found = row.binary_search_by_key(&message, |(message, _)| usize::from(*message)).ok()?;
        Some(row[found].1)
    }
}

impl fmt::Display for Described {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", if self.sender == Side::Client { "IN" } else { "OUT" }, self.name)?;
        for (index, (name, ty)) in self.parameters.iter().enumerate() {
            write!(f, "{}{name}: {ty}", if index == 0 { "(" } else { "; " })?;
        }
        if self.parameters.is_empty() { Ok(()) } else { write!(f, ")") }
    }
}

/// For people: the messages as declared, then for each state its transitions.
impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "INTERFACE {};  (* {} *)", self.name, self.fingerprint)?;
        for message in &self.messages {
            writeln!(f, "  {message}")?;
        }
        for (state, (may_end, _)) in self.states.iter().enumerate() {
            write!(f, "  {state}:{}", if *may_end { " may end" } else { "" })?;
            for (message, to) in self.row(state as u16) {
                write!(f, " {}>{to}", self.messages[usize::from(*message)].name)?;
            }
            writeln!(f)?;
        }
        writeln!(f, "END {};", self.name)
    }
}
