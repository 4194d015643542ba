//! Memory that programs on several machines share: each has a part, to which the other programs write (section V-C of
//! *ASHs* (Wallach)). If a handler can run (`memory.c`), a write is done and acknowledged as it arrives, whatever the
//! process does just then.
//!
//! From below: [`memory`] is a program's own part, [`peer`] writes to another program's, and [`relax`] is a parallel
//! program on both.

pub mod memory;
pub mod peer;
pub mod relax;

pub use memory::Memory;
pub use peer::Peer;

use drystone_handlers::compile_text;

/// Slots of a memory.
pub const SLOTS: usize = 4;
/// Bytes of a slot.
pub const SLOT: usize = 1 << 16;
/// The most bytes of one write.
pub const MOST: usize = 1024;

/// The handler's object, for a port.
///
/// # Errors
/// There is no clang for it.
pub fn handler(port: u16) -> Result<Vec<u8>, String> {
    compile_text("memory.c", include_str!("memory.c"), &[format!("PORT={port}")])
}
