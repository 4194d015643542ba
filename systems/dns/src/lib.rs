//! A name server for one zone. A handler (`dns.c`) answers most questions where the datagram arrives, out of ready
//! answers; all else is this process's.
//!
//! From below: [`name`] is names as messages have them, [`data`] the data of records, [`master`] reads the zone's file,
//! [`zone`] has its record sets, [`answer`] is what is answered to a question, [`message`] whole messages, [`ready`]
//! the answers that the handler has, [`serve`] the sockets, and [`reload`] reads the file again.

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

/// The handler's object, for a port and a table of such an extent ([`ready::Table::extent`]).
///
/// # Errors
/// There is no clang for it.
pub fn handler(port: u16, (sets, bytes): (usize, usize)) -> Result<Vec<u8>, String> {
    let pages = bytes.next_power_of_two() / PAGE;
    let macros = [format!("PORT={port}"), format!("SETS={sets}"), format!("PAGES={}", pages.max(1))];
    compile_text("dns.c", include_str!("dns.c"), &macros)
}
