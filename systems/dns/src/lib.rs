//! A name server for one zone. A handler (`dns.c`) answers most questions where the datagram arrives, from ready
//! answers; this process answers the rest.
//!
//! From below: [`name`] has names in their wire format, [`data`] the data of records. [`master`] reads the zone's file,
//! and [`zone`] has its record sets. [`answer`] answers questions, [`message`] whole messages. [`ready`] has the
//! handler's answers, [`serve`] the sockets, and [`reload`] reads the file again.

pub mod answer;
pub mod data;
pub mod master;
pub mod message;
pub mod name;
pub mod ready;
pub mod reload;
pub mod serve;
pub mod zone;

pub use zone::Zone;

use drystone_handlers::compile_text;

const PAGE: usize = 4096;

/// The handler's object, for a port and a table of that size ([`ready::Table::extent`]).
///
/// # Errors
/// There is no clang for it.
pub fn handler(port: u16, (sets, bytes): (usize, usize)) -> Result<Vec<u8>, String> {
    let pages = bytes.next_power_of_two() / PAGE;
    let macros = [format!("PORT={port}"), format!("SETS={sets}"), format!("PAGES={}", pages.max(1))];
    compile_text("dns.c", include_str!("dns.c"), &macros)
}
