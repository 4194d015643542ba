//! Dynamic integrated layer processing, after *ASHs* (sections II-B, III-C and V-A): the passes of several layers over
//! the data of a message become one loop.
//!
//! A [`Pipe`] is what one layer does with each word of a stream ([`ready`] has some). A list of pipes ([`Pipes`]) is
//! compiled at run time to a [`Pass`], which takes each word through all pipes on its way from source to destination.
//!
//! ```
//! # #[cfg(all(unix, target_arch = "x86_64"))] {
//! use drystone_extension::pipe::{Mode, Pipes, ready};
//!
//! let mut list = Pipes::new();
//! let sum = list.add(ready::internet_checksum());
//! list.add(ready::swap32());
//! let pass = list.compile(Mode::Write)?;
//!
//! let mut registers = pass.registers();
//! let mut destination = [0; 8];
//! pass.run(&[1, 2, 3, 4, 5, 6, 7, 8], &mut destination, &mut registers)?;
//! assert_eq!(destination, [4, 3, 2, 1, 8, 7, 6, 5]);
//! assert_eq!(registers.export(sum)?, 0x0c0a_0806);
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Both front ends ([`Pipe::new`], [`Pipe::of_program`]) produce a `body` through `compose`. `evaluate` defines its
//! semantics; `x86` compiles it. `transfer` moves the data through compiled code.

mod body;
// Unused where there is no compiler.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
mod code;
mod compile;
mod compose;
mod error;
mod evaluate;
mod features;
mod gauge;
mod list;
mod pass;
mod program;
pub mod ready;
mod registers;
mod stage;
mod transfer;
mod write;
#[cfg(target_arch = "x86_64")]
mod x86;

#[cfg(test)]
mod tests;

pub(crate) use compose::MOST_REGISTERS;

pub use body::{Binary, Comparison, Register, Table};
pub use error::{Fault, Refusal};
pub use features::{Features, Vectors};
pub use gauge::Gauge;
pub use list::{Mode, Pipes, Stride};
pub use pass::Pass;
pub use registers::{Handle, Registers};
pub use stage::{Attributes, Pipe};
pub use write::{Entries, Held, Operand, Word, Writer};
