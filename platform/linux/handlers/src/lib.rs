//! Runs handlers (`drystone_extension::handler`) on Linux: in its kernel ([`Xdp`]; many behind a [`Dispatcher`]), or in
//! Drystone's own engine ([`Station`]), at a device that bypasses the kernel's network stack ([`AfXdp`]), at the end of
//! a wire, or beside the stack ([`Line`]). A [`Service`] is a process with a handler.

mod af_xdp;
pub mod bpf;
#[cfg(feature = "service")]
mod compile;
pub mod datagram;
mod device;
pub mod dispatcher;
mod expression;
mod frame_device;
mod interface;
mod mapping;
mod outbox;
mod pinned;
mod region;
mod ring;
#[cfg(feature = "service")]
mod service;
#[cfg(feature = "service")]
mod sockets;
mod station;
mod wanted;
#[cfg(feature = "service")]
mod wish;
mod xdp;

pub use af_xdp::AfXdp;
#[cfg(feature = "service")]
pub use compile::{HEADER, compile, compile_text};
pub use device::{Decision, Device};
pub use dispatcher::Dispatcher;
pub use frame_device::Line;
pub use outbox::Outbox;
pub use pinned::{Pinned, Site};
pub use region::{Region, handler};
pub use ring::Ring;
#[cfg(feature = "service")]
pub use service::{Engine, Place, Quiet, Service};
#[cfg(feature = "service")]
pub use sockets::{Client, Limits, Sockets};
pub use station::{Station, Upcall, time_now};
pub use wanted::Wanted;
#[cfg(feature = "service")]
pub use wish::Wish;
pub use xdp::{Attached, Mode, Xdp};
