//! The handler that answers where requests arrive.

use drystone_handlers::compile_text;

use crate::shadow;

const PAGE: usize = 4096;

/// The handler's object, for a port and a table of at most so many bytes.
///
/// # Errors
/// There is no clang for it.
pub fn handler(port: u16, bytes: usize) -> Result<Vec<u8>, String> {
    let sets = shadow::sets_in(bytes);
    let pages = shadow::bytes_of(sets).next_power_of_two() / PAGE;
    let macros = [format!("PORT={port}"), format!("SETS={sets}"), format!("PAGES={pages}")];
    compile_text("cache.c", include_str!("cache.c"), &macros)
}
