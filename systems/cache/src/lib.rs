//! A cache of keys and values that speaks memcached's text protocol, over TCP and UDP. A handler (`cache.c`) answers
//! `get KEY` over UDP where the datagram arrives; all else, and what it can't know, is this process's.
//!
//! From below: [`words`] and [`command`] read lines, [`meta`] those of meta commands; [`store`] has the items,
//! [`shadow`] the answers that the handler gives, [`cache`] does what commands say in both, [`session`] talks with one
//! client, and [`serve`] with all.

pub mod cache;
pub mod command;
mod handler;
pub mod meta;
pub mod serve;
pub mod session;
pub mod shadow;
pub mod store;
pub mod words;
pub mod wrong;

pub use cache::Cache;
pub use handler::handler;
pub use shadow::Shadow;

/// The longest key.
pub const LONGEST_KEY: usize = 250;
/// The longest item, with its key and what memcached keeps with it: clients know where it ends.
pub const LONGEST_ITEM: usize = 1 << 20;
/// The longest datagram, with memcached's frame.
pub const LONGEST_DATAGRAM: usize = 1400;

/// What `version` tells.
pub const NAME: &str = concat!("drystone-", env!("CARGO_PKG_VERSION"));

/// Whether an item isn't too long.
pub fn fits(key: usize, flags: u32, value: usize) -> bool {
    // The head of an item of memcached's, with its version; a 0 behind the key, the value's end, and flags if there are
    // any.
    let others = 56 + 1 + 2 + if flags == 0 { 0 } else { 4 };
    others + key + value <= LONGEST_ITEM
}
