//! Whose a packet is: the demultiplexer in front of handlers that run where a message arrives. (What the paper about
//! them, *ASHs*, takes from *DPF: Fast, Flexible Message Demultiplexing Using Dynamic Code Generation*.)
//!
//! * A [`Filter`] says which packets somebody wants: those that fulfil all [`Test`]s of one of its alternatives. It is
//!   put together of tests, by the names of protocols' fields ([`Filter::ethernet`]), or from a program of classic BPF,
//!   as libpcap makes one of an expression ([`Filter::from_classic`]).
//! * A [`Demultiplexer`] holds any number of them, each with a target; they can come and go at any time.
//! * A [`Classifier`] is what it knows at one time, for those who look while others change it.
//!
//! What filters have in common is looked at once for all: those that look at the same fields are a `family`, in which
//! they agree is a way through a `tree`, and in what they differ is the key of a `table` at its end. The tree becomes
//! code of the machine (`compile`); the tables are data. So one more filter of a family is one more row, and the time
//! for a packet depends on how many families there are, not on how many filters. It also depends on how many filters of
//! a family want packets that differ in nothing but what is no equality: of these, one after the other is asked.
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
//! A filter of a shape that is new makes the tree and its code anew, in a time that grows with the number of families;
//! so does the second filter of a family, in which they differ for the first time.
//!
//! Packets are hostile, and filters may be: nothing here panics, computes without end, or reads what isn't the
//! packet's, whatever they are. Filters that an adversary can choose freely, without a limit of their number, still
//! take time and memory for each.

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
