//! Composite calls: a client ships a block of calls to the server, with the loops and conditions around them, and pays
//! for one round trip. (The pattern of *composite calls*, Ballesteros; names in brackets are that paper's.)
//! `docs/src/composite.md` describes it, with the format for clients in other languages.
//!
//! * A [`Program`] is what is shipped: [`Variable`]s, [`Call`]s, and [`Code`], which is a tree of [`Command`]s
//!   (HighLevelProgram) or bytecode (LowLevelProgram); [`Program::compile`] makes bytecode of a tree. A program has an
//!   encoding ([`Program::encode`], [`Program::decode`]) and a [`Hash`].
//! * A [`VarTable`] holds the values of its variables, which travel as XDR ([`VarTable::encode_in`],
//!   [`VarTable::decode_out`]).
//! * [`Services`] (ConcreteServer) carry out its calls: the host implements this trait.
//! * [`Prepared`] is a program that was checked, verified and perhaps compiled. A [`Run`] is one execution of it:
//!   [`Run::resume`] runs it for a slice, and it can be kept in between for any time.
//! * [`InterpServer`] caches programs by their hashes, enforces the clients' quotas, and schedules runs.
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
