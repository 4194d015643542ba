//! Programs of classic BPF, to which libpcap compiles expressions, and which Linux runs for sockets. They are validated
//! strictly, turned into tests where possible ([`alternatives`]), and else interpreted.

mod paths;
mod program;
mod read;
mod run;

pub(super) use paths::alternatives;
pub use program::{Instruction, Program, Refusal};
