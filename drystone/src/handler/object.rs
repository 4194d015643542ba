//! A handler's code, compiled and loaded.

use std::collections::hash_map::RandomState;
use std::fs;
use std::hash::{BuildHasher, Hasher};
use std::path::Path;

use drystone_extension::handler::{Image, Machine};
use drystone_handlers::compile;

use crate::arguments::HandlerFile;

/// The bytes of an object file, or of what clang makes of a C file.
fn object(file: &Path) -> Result<Vec<u8>, String> {
    match file.extension() {
        Some(extension) if extension == "c" => compile(file, &[]),
        _ => fs::read(file).map_err(|error| format!("{}: {error}", file.display())),
    }
}

/// The code for Drystone's own engine, and the code for Linux.
pub fn images(file: &HandlerFile) -> Result<[Image; 2], String> {
    let bytes = object(&file.file)?;
    let read = |machine| Image::read(&bytes, file.entry.as_deref(), machine);
    let named = |why| format!("{}: {why}", file.file.display());
    Ok([read(Machine::Drystone).map_err(named)?, read(Machine::Linux).map_err(named)?])
}

/// An unpredictable number.
pub fn seed() -> u64 {
    RandomState::new().build_hasher().finish()
}
