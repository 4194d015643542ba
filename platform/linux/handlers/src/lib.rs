//! Where handlers (`drystone_extension::handler`) run on Linux.

pub mod bpf;
mod region;
mod ring;
mod xdp;

pub use region::{Region, handler};
pub use ring::Ring;
pub use xdp::{Attached, Mode, Xdp};
