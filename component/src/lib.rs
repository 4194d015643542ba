//! The model: what an interface, a message and a component template are while a program runs.
//!
//! These are descriptions, fixed when a program is compiled (or, for a component written in Rust, when its platform is
//! built): plain `repr(C)` data that generated code, the runtime and native components read. The crate knows nothing of
//! processes, scheduling or operating systems.
//!
//! * `interface`: what two components agree on, and can tell other programs; `name`: the name of one.
//! * `protocol`: questions about an interface, of this program or another one.
//! * `subtype`: which interfaces serve which clients.
//! * `form`: what the elements of a sequence consist of.
//! * `calls`: which messages are requests, and which their replies.
//! * `wire`: the protocol between programs.
//! * `bits`: what SHIFT and ROTATE mean; `number`: numbers as text; `size`: amounts of memory as text.
//! * `image`: a whole program, for its compiler and its runtime only.

#![no_std]

extern crate alloc;

pub mod bits;
pub mod calls;
pub mod form;
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
    AnyType, Body, Collection, Condition, Formal, Frame, Kind, Location, Offered, Owned, Passing, Procedure,
    Program, Required, Role, Signature, SuspensionPoint, Template,
};
pub use interface::{Fingerprint, Interface, Marshalling, Member, Message, Parameter, Side, Type, members};
pub use name::Name;
pub use protocol::Protocol;
pub use table::{Str, Table};
