//! Programs of classic BPF, as libpcap compiles expressions to and Linux runs for sockets: read strictly, understood as
//! tests where that is possible ([`alternatives`]), and interpreted where not.

mod paths;
mod program;
mod read;
mod run;

pub(super) use paths::alternatives;
pub use program::{Instruction, Program, Refusal};
