//! Memory that programs on several machines share: each has some of it, which others write to (the paper's section
//! V-C). Where a handler can run (`memory.c`), a write is done and acknowledged as it arrives, whatever the process
//! does just then.
//!
//! From below: [`memory`] is what others write to, [`peer`] writes to others', and [`relax`] is a parallel program on
//! both.

pub mod memory;
pub mod peer;
pub mod relax;

pub use memory::Memory;
pub use peer::Peer;

use drystone_handlers::compile_text;

/// Places in a memory.
pub const SLOTS: usize = 4;
/// Bytes of each.
pub const SLOT: usize = 1 << 16;
/// Bytes of one write at most.
pub const MOST: usize = 1024;

/// The handler's object, for a port.
///
/// # Errors
/// There is no clang for it.
pub fn handler(port: u16) -> Result<Vec<u8>, String> {
    compile_text("memory.c", include_str!("memory.c"), &[format!("PORT={port}")])
}
