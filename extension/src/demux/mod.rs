//! The demultiplexer: finds the handler of a packet. (*ASHs* take it from *DPF: Fast, Flexible Message Demultiplexing
//! Using Dynamic Code Generation*.)
//!
//! * A [`Filter`] is a set of packets: those that fulfil all [`Test`]s of one of its alternatives. It is made of tests,
//!   by names of protocol fields ([`Filter::ethernet`]), or of a program of classic BPF, to which libpcap compiles
//!   expressions ([`Filter::from_classic`]).
//! * A [`Demultiplexer`] holds any number of filters, each with a target. They can be inserted and removed at any time.
//! * A [`Classifier`] is a snapshot of it, for threads that use it while it changes.
//!
//! What filters have in common is tested once. Filters that look at the same fields are a `family`. The tests in which
//! they agree are a path through a `tree`; the values in which they differ are the key of a `table` at its leaf. The
//! tree is compiled to machine code (`compile`); tables are data. So one more filter of a family is one more row, and
//! the time for a packet grows with the number of families, not of filters. It also grows with the number of filters in
//! a family that differ only in inequalities: these are tested one after the other.
//!
//! ```
//! use drystone_extension::demux::{Demultiplexer, Filter};
//!
//! let mut demultiplexer = Demultiplexer::walking(7);
//! let names = Filter::ethernet().ipv4().udp().destination_port(53);
//! let id = demultiplexer.insert(names, "names").unwrap();
//! let mut packet = [0; 60];
//! packet[12..15].copy_from_slice(&[8, 0, 0x45]);
//! packet[23] = 17;
//! packet[36..38].copy_from_slice(&[0, 53]);
//! assert_eq!(demultiplexer.classify(&packet), Some(&"names"));
//! assert_eq!(demultiplexer.classify(&packet[..37]), None);
//! demultiplexer.remove(id);
//! assert_eq!(demultiplexer.classify(&packet), None);
//! ```
//!
//! The first filter of a family rebuilds the tree and its code, in a time that grows with the number of families; so
//! does a filter that is the first to differ from its family in some value.
//!
//! Packets are untrusted, and filters may be. For none of them does anything here panic, run without end, or read
//! outside the packet. But each filter takes time and memory: limit their number if an adversary can choose them.

mod classic;
mod classifier;
#[cfg(target_arch = "x86_64")]
mod compile;
mod conjunction;
mod demultiplexer;
mod ebpf;
mod family;
mod filter;
mod limits;
#[cfg(any(test, feature = "fuzzing"))]
mod linear;
mod protocols;
mod rank;
mod reference;
mod structure;
mod table;
mod test;
#[cfg(all(test, unix, target_arch = "x86_64"))]
mod tests;
mod tree;

pub use classic::{Instruction, Program, Refusal};
pub use classifier::{Classifier, Id};
pub use demultiplexer::{Demultiplexer, NoCode};
pub use filter::Filter;
#[cfg(feature = "fuzzing")]
pub use linear::Linear;
pub use protocols::{Arp, Ethernet, Ip, Ipv4, Ipv6, Ports};
pub use test::{Cell, Condition, Size, Test};
