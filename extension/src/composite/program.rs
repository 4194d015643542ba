//! What a client ships: variables, calls, and code that uses them.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use drystone_component::{Fingerprint, Type};
use sha2::{Digest, Sha256};

use super::tree::Command;
use super::value::Value;
use crate::bytecode::Slot;

/// A composite call: a block of calls with loops and conditions around them, that runs where its servers are. It is a
/// value: it can be kept, sent later, handed on and extended by others.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// The communications that it talks over, by the interface that each has. Numbers of messages are the server's.
    pub communications: Vec<Fingerprint>,
    /// What it computes with.
    pub variables: Vec<Variable>,
    /// What it says and hears: all of it stands here, so that it can be checked before anything runs.
    pub calls: Vec<Call>,
    /// What it does.
    pub code: Code,
}

/// What a program does, in one of two forms.
#[derive(Clone, Debug, PartialEq)]
pub enum Code {
    /// A tree of commands (the paper's HighLevelProgram).
    Tree(Command),
    /// Instructions of RFC 9669 (the paper's LowLevelProgram): see `docs/src/composite.md` for what they can call.
    Bytecode(Vec<Slot>),
}

/// Values of one type.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Their type; no component.
    pub ty: Type,
    /// How many, for an array; they are numbered from 0.
    pub length: Option<u32>,
    /// Whether they travel.
    pub travels: Travels,
}

/// Whether the values of a variable go with the program and come back.
#[derive(Clone, Debug, PartialEq)]
pub enum Travels {
    /// They don't: each is this one in the beginning.
    Not(Value),
    /// The program gets them.
    In,
    /// The program gives them; in the beginning they are FALSE, 0X, 0, 0.0, "".
    Out,
    /// Both.
    Both,
}

/// A step of a conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// Which of [`Program::communications`].
    pub communication: u32,
    /// What is said or heard.
    pub action: Action,
    /// Who wrote the program may say here where this stands; errors say it again.
    pub location: u32,
}

/// What is done with a communication. The program is its client.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// `!Message(arguments)`
    Send {
        /// Number of a message of the client's.
        message: u32,
        /// Where its values are.
        arguments: Vec<Argument>,
    },
    /// `?Message(results)`: waits for it.
    Receive {
        /// Number of a message of the server's.
        message: u32,
        /// Where its values go.
        results: Vec<Argument>,
    },
    /// `?Message` as a condition: waits until the next message is known, or that none will come.
    Test(Pattern),
    /// `INPUT(Message)`: asks the same without waiting.
    Input(Pattern),
    /// Ends the communication, where its protocol may end. Another one begins with the next message that is sent.
    Close,
}

/// What is asked about the next message.
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
    /// The variable that says which element.
    pub index: Option<u32>,
}

/// What identifies a program: SHA-256 of its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hash(pub [u8; 32]);

impl Hash {
    /// Of a program's bytes.
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

/// Why a program isn't taken, in a sentence.
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
    /// Its hash: what a server remembers it by.
    pub fn hash(&self) -> Hash {
        Hash::of(&self.encode())
    }

    /// A variable of its own, with what it holds in the beginning.
    pub fn add_variable(&mut self, ty: Type, length: Option<u32>, travels: Travels) -> u32 {
        self.variables.push(Variable { ty, length, travels });
        self.variables.len() as u32 - 1
    }

    /// A call.
    pub fn add_call(&mut self, call: Call) -> u32 {
        self.calls.push(call);
        self.calls.len() as u32 - 1
    }

    /// A communication of an interface.
    pub fn add_communication(&mut self, interface: Fingerprint) -> u32 {
        self.communications.push(interface);
        self.communications.len() as u32 - 1
    }

    /// Does something more at the end. Only a tree can be extended: bytecode says so.
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
    /// How many values it holds.
    pub fn count(&self) -> u32 {
        self.length.unwrap_or(1)
    }

    /// Whether the program gets them.
    pub fn travels_in(&self) -> bool {
        matches!(self.travels, Travels::In | Travels::Both)
    }

    /// Whether the program gives them.
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
