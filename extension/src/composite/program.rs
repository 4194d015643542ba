//! Programs: variables, calls, and the code that uses them.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use drystone_component::{Fingerprint, Type};
use sha2::{Digest, Sha256};

use super::tree::Command;
use super::value::Value;
use crate::bytecode::Slot;

/// A composite call: a block of calls, with loops and conditions around them, that runs where its servers are. It is a
/// plain value, which can be kept, sent, handed on and extended.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// The interface of each of its communications. Messages have the server's numbers.
    pub communications: Vec<Fingerprint>,
    /// Its variables.
    pub variables: Vec<Variable>,
    /// All its calls, so that they can be checked before anything runs. Code names them by number.
    pub calls: Vec<Call>,
    /// Its code.
    pub code: Code,
}

/// The code of a program, in one of two forms.
#[derive(Clone, Debug, PartialEq)]
pub enum Code {
    /// A tree of commands (HighLevelProgram in *composite calls*).
    Tree(Command),
    /// Instructions of RFC 9669 (LowLevelProgram); `docs/src/composite.md` lists the helpers that they can call.
    Bytecode(Vec<Slot>),
}

/// A variable, or an array of one type.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// The type of its values. Components are not allowed.
    pub ty: Type,
    /// The length of an array; elements are numbered from 0.
    pub length: Option<u32>,
    /// Whether its values travel.
    pub travels: Travels,
}

/// Whether the values of a variable go with the program and come back.
#[derive(Clone, Debug, PartialEq)]
pub enum Travels {
    /// Neither: this is the initial value.
    Not(Value),
    /// They go with the program.
    In,
    /// They come back. Initially they are FALSE, 0X, 0, 0.0 or "".
    Out,
    /// Both.
    Both,
}

/// A step of a conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// Which of [`Program::communications`].
    pub communication: u32,
    /// What is done with it.
    pub action: Action,
    /// Where this call stands, in terms of the program's author. Errors repeat it.
    pub location: u32,
}

/// What is done with a communication. The program is its client.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// `!Message(arguments)`
    Send {
        /// The number of a message that clients send.
        message: u32,
        /// Where its values are.
        arguments: Vec<Argument>,
    },
    /// `?Message(results)`: waits for it.
    Receive {
        /// The number of a message that the server sends.
        message: u32,
        /// Where its values go.
        results: Vec<Argument>,
    },
    /// `?Message` as a condition: waits until the next message is known, or that none will come.
    Test(Pattern),
    /// `INPUT(Message)`: asks the same without waiting.
    Input(Pattern),
    /// Ends the communication, where the protocol allows that. Another one begins with the next message that is sent.
    Close,
}

/// A question about the next message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Is it this one?
    Message(u32),
    /// Is there one?
    Any,
    /// Has the other side closed?
    Finish,
}

/// A variable, or an element of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Argument {
    /// Which.
    pub variable: u32,
    /// The variable that holds the index of the element.
    pub index: Option<u32>,
}

/// The identity of a program: the SHA-256 of its encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hash(pub [u8; 32]);

impl Hash {
    /// The hash of an encoded program.
    pub fn of(bytes: &[u8]) -> Hash {
        Hash(Sha256::digest(bytes).into())
    }
}

/// As 64 hexadecimal digits.
impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Why a program is refused, in a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal(pub String);

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for Refusal {}

impl From<String> for Refusal {
    fn from(sentence: String) -> Refusal {
        Refusal(sentence)
    }
}

impl From<&str> for Refusal {
    fn from(sentence: &str) -> Refusal {
        Refusal(sentence.into())
    }
}

impl Program {
    /// Its hash, by which servers cache it.
    pub fn hash(&self) -> Hash {
        Hash::of(&self.encode())
    }

    /// Adds a variable. Returns its number.
    pub fn add_variable(&mut self, ty: Type, length: Option<u32>, travels: Travels) -> u32 {
        self.variables.push(Variable { ty, length, travels });
        self.variables.len() as u32 - 1
    }

    /// Adds a call. Returns its number.
    pub fn add_call(&mut self, call: Call) -> u32 {
        self.calls.push(call);
        self.calls.len() as u32 - 1
    }

    /// Adds a communication. Returns its number.
    pub fn add_communication(&mut self, interface: Fingerprint) -> u32 {
        self.communications.push(interface);
        self.communications.len() as u32 - 1
    }

    /// Appends a command to the tree. Fails for bytecode, which can't be extended.
    pub fn add_command(&mut self, command: Command) -> Result<(), Refusal> {
        match &mut self.code {
            Code::Tree(Command::Sequence(commands)) => commands.push(command),
            Code::Tree(tree) => {
                let first = core::mem::replace(tree, Command::Sequence(Vec::new()));
                *tree = Command::Sequence([first, command].into());
            }
            Code::Bytecode(_) => {
                return Err("bytecode can't be extended: extend the tree and compile it".into());
            }
        }
        Ok(())
    }
}

impl Variable {
    /// How many values it has.
    pub fn count(&self) -> u32 {
        self.length.unwrap_or(1)
    }

    /// Whether its values go with the program.
    pub fn travels_in(&self) -> bool {
        matches!(self.travels, Travels::In | Travels::Both)
    }

    /// Whether its values come back.
    pub fn travels_out(&self) -> bool {
        matches!(self.travels, Travels::Out | Travels::Both)
    }
}

impl Call {
    /// Where its values are or go.
    pub fn arguments(&self) -> &[Argument] {
        match &self.action {
            Action::Send { arguments, .. } => arguments,
            Action::Receive { results, .. } => results,
            Action::Test(_) | Action::Input(_) | Action::Close => &[],
        }
    }
}

impl From<u32> for Argument {
    fn from(variable: u32) -> Argument {
        Argument { variable, index: None }
    }
}
