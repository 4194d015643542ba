//! The model: what an interface, a message and a component template are once a program runs.
//!
//! These are descriptions, fixed when a program is compiled (or, for a component written in Rust, when its
//! platform is built): plain `repr(C)` data that generated code, the runtime and native components read. This
//! room knows nothing of processes, scheduling or operating systems.
//!
//! `interface` is what components agree on, and is told to other programs; `name` what it is called; `protocol` is what
//! can be asked of one wherever it comes from, `subtype` which of them serve which, `calls` which of them consist of
//! requests and replies, `wire` how two programs talk about them, `number` how people read and write numbers, `size`
//! amounts of memory. `image` is one program, and is the business of its compiler and its runtime alone.

#![no_std]

extern crate alloc;

pub mod calls;
mod image;
mod interface;
mod name;
pub mod number;
mod protocol;
pub mod size;
pub mod subtype;
mod table;
pub mod wire;

pub use image::{
    AnyType, Body, Collection, Condition, Frame, Kind, Location, Offered, Owned, Program, Required, Role,
    SuspensionPoint, Template,
};
pub use interface::{Fingerprint, Interface, Marshalling, Message, Parameter, Side, Type};
pub use name::Name;
pub use protocol::Protocol;
pub use table::{Str, Table};
