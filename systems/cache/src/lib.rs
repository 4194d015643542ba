//! A cache that speaks memcached's text protocol over TCP and UDP. A handler (`cache.c`) answers `get KEY` over UDP
//! where the datagram arrives; this process answers everything else, and what the handler doesn't know.
//!
//! From below: [`words`] and [`command`] parse lines, [`meta`] those of meta commands. [`store`] has the items,
//! [`shadow`] the handler's answers, and [`cache`] executes commands on both. [`session`] talks with one client, and
//! [`serve`] with all.

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
/// The longest item, with its key and memcached's overhead: clients know this limit.
pub const LONGEST_ITEM: usize = 1 << 20;
/// The longest datagram, with memcached's frame.
pub const LONGEST_DATAGRAM: usize = 1400;

/// What `version` tells.
pub const NAME: &str = concat!("drystone-", env!("CARGO_PKG_VERSION"));

/// Whether an item is short enough.
pub fn fits(key: usize, flags: u32, value: usize) -> bool {
    // The overhead of memcached's items: a head with the version, a 0 behind the key, the end of the value, and the
    // flags if there are any.
    let others = 56 + 1 + 2 + if flags == 0 { 0 } else { 4 };
    others + key + value <= LONGEST_ITEM
}
