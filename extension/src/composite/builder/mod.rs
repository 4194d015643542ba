//! Writes programs in Rust, as Figure 3 of *composite calls* does in C++:
//!
//! ```
//! # use drystone_extension::composite::{Refusal, builder::*};
//! # use drystone_component::wire::Description;
//! # fn copy(description: &Description) -> Result<drystone_extension::composite::Program, Refusal> {
//! let vars = Builder::new();
//! let (source, target) = (vars.communication(description), vars.communication(description));
//! let (buf, copied) = (vars.local::<Text>(), vars.out::<i64>());
//! vars.program(sequence([
//!     source.call("Read", (100,), "Data", (buf,)),
//!     while_(buf.length().gt(0), sequence([
//!         target.call("Write", (buf,), "Written", ()),
//!         copied.set(copied + buf.length()),
//!         source.call("Read", (100,), "Data", (buf,)),
//!     ])),
//! ]))
//! # }
//! ```
//!
//! Variables and expressions have Rust's types: `bool`, `u8` (CHARACTER), `i64`, `f64`, [`Text`]; so a type error
//! doesn't compile. Messages are found by name: [`Builder::program`] reports one that its interface doesn't have, or
//! that carries other types. Run-time errors name the line of Rust where the failing command was written.

mod calls;
mod commands;
mod draft;
mod expressions;
mod variables;

pub use self::calls::{Communication, Given, Gives, Place, Takes};
pub use self::commands::{
    abort_on_error, assert_, do_not_abort_on_error, for_, if_, if_else, repeat, repeat_until, sequence, stop,
    strided, while_,
};
pub use self::draft::Builder;
pub use self::expressions::{Element, Expr, failed, text};
pub use self::variables::{Array, Typed, Var};
pub use super::value::Text;
