//! Composite calls: a client ships a block of calls to where they are served, with the loops and conditions around
//! them, and pays one crossing for all. (The pattern of *Using interpreted CompositeCalls to improve operating system
//! services*; the names in brackets are that paper's.) `docs/src/composite.md` is the chapter about it, with the format
//! for clients in other languages.
//!
//! * A [`Program`] is what is shipped: [`Variable`]s, [`Call`]s, and [`Code`], which is a tree of [`Command`]s
//!   (HighLevelProgram) or bytecode (LowLevelProgram), made of a tree by [`Program::compile`]. It is a value with a
//!   form in bytes ([`Program::encode`], [`Program::decode`]) and a [`Hash`].
//! * A [`VarTable`] holds the values of its variables: they travel as XDR ([`VarTable::encode_in`],
//!   [`VarTable::decode_out`]).
//! * [`Services`] (ConcreteServer) carry out its calls: the host implements them for what it serves.
//! * [`Prepared`] is a program that was checked, verified and perhaps compiled; a [`Run`] is one execution of it, which
//!   goes on a bit each time that [`Run::resume`] is called and can be kept in between, for as long as one likes.
//! * [`InterpServer`] remembers programs by their hashes, has an eye on what each client uses, and gives runs their
//!   turns.
//! * [`builder`] writes programs in Rust.
//!
//! Nothing here does input or output, and nothing that a client sends can make it panic, compute without end, or take
//! more memory than its [`Limits`] and [`Allowance`] say.

pub mod builder;
mod check;
mod compile;
mod fault;
mod format;
mod helpers;
mod host;
mod interfaces;
mod operate;
mod prepared;
mod program;
mod run;
mod server;
mod services;
pub mod shipping;
mod table;
mod tree;
mod value;
mod walk;

pub use check::{COMMAND_DEPTH, EXPRESSION_DEPTH, Limits};
pub use compile::{Responder, shared};
pub use fault::Fault;
pub use host::Failure;
pub use prepared::{Executor, Prepared};
pub use program::{Action, Argument, Call, Code, Hash, Pattern, Program, Refusal, Travels, Variable};
pub use run::{Allowance, Run, Step, Why};
pub use server::{ClientId, Event, InterpServer, Quota, RunId, SMALL, Settings};
pub use services::{Answer, Arguments, Results, Services};
pub use table::{Layout, VarTable};
pub use tree::{Command, Comparison, Expression, For, Kind, Move, OnError, Operation};
pub use value::{Text, Value};

pub mod bytecode_calls {
    //! What bytecode can call, by number.
    pub use super::helpers::*;
}
