//! MIR as text: written for people and for tests, read by tests.
//!
//! ```text
//! procedure Sum$1(r0 in [frame+32]): int in 64 bytes
//!   r0..r3: int
//!   frames at [process+64]
//!   owns text of name in [frame+40], text in [frame+48]
//!   loop 0, header b1, counts r1 from r2 to r0 by 1, before b0, next b2
//!   b0: entry; segment with r0 in [frame+32]
//!     r1 = 0
//!     goto b1
//!   b1: header of loop 0
//! ```
//!
//! A body or procedure has its number behind its name, as the symbols of its functions do; bodies come first. Blocks
//! that cannot be reached are left out. Once the code is cut, a block where a segment begins has a [`Head`]: the
//! registers that the process has saved there, and the suspension points that the segment tries on its way.
//!
//! Interfaces, components, collections and locations are written by name ([`Names`]); of several with one name the
//! second is `name#2`. What is read back has the same text again, but numbers of its own for all these.

mod heads;
mod names;
#[cfg(test)]
mod parse;
mod print;
#[cfg(test)]
mod tests;

use drystone_language::source::SourceFile;

use crate::generate::Lowered;
use crate::mir::Code;
pub use heads::{Head, Heads};
use names::Names;
#[cfg(test)]
pub use parse::{Module, parse};
use print::Printer;
#[cfg(test)]
pub(crate) use print::list;

/// Everything that a program can run, after it was cut.
pub fn print(lowered: &Lowered, files: &[SourceFile]) -> String {
    let codes = lowered.cuts.iter().map(|cut| &cut.code);
    let names = Names::of(&lowered.unit, files, codes, lowered.keys.len());
    print_all(lowered.cuts.iter().map(|cut| (&cut.code, cut.heads())), &names)
}

/// Bodies and procedures, with a line between them.
pub fn print_all<'c>(pieces: impl Iterator<Item = (&'c Code, Heads)>, names: &Names) -> String {
    let printer = Printer { names };
    let pieces: Vec<String> =
        pieces.enumerate().map(|(number, (code, heads))| printer.piece(number, code, &heads)).collect();
    pieces.join("\n")
}
