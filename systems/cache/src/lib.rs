//! A cache of keys and values that speaks memcached's text protocol, over TCP and UDP. A handler (`cache.c`) answers `get KEY` over UDP where
//! the datagram arrives; all else, and what it can't know, is this process's.
//!
//! From below: [`store`] has the items, [`shadow`] the answers that the handler gives, [`cache`] does what commands say in both,
//! [`command`] reads them, [`session`] talks with one client, and [`serve`] with all.

pub mod cache;
pub mod command;
pub mod serve;
pub mod session;
pub mod shadow;
pub mod store;

pub use cache::Cache;
pub use shadow::Shadow;

use drystone_handlers::compile_text;

/// The longest key.
pub const LONGEST_KEY: usize = 250;
/// The longest value.
pub const LONGEST_VALUE: usize = 1 << 20;
/// The longest datagram, with memcached's frame.
pub const LONGEST_DATAGRAM: usize = 1400;

const PAGE: usize = 4096;

/// The handler's object, for a port and a table of so many bytes at most.
///
/// # Errors
/// There is no clang for it.
pub fn handler(port: u16, bytes: usize) -> Result<Vec<u8>, String> {
    let sets = shadow::sets_in(bytes);
    let pages = shadow::bytes_of(sets).next_power_of_two() / PAGE;
    let macros = [format!("PORT={port}"), format!("SETS={sets}"), format!("PAGES={pages}")];
    compile_text("cache.c", include_str!("cache.c"), &macros)
}
