//! What handlers are made of.

use std::collections::hash_map::RandomState;
use std::fs;
use std::hash::{BuildHasher, Hasher};
use std::path::Path;

use drystone_extension::handler::{Image, Machine};
use drystone_handlers::compile;

use crate::arguments::HandlerFile;

/// An object file, or what clang makes of C.
fn object(file: &Path) -> Result<Vec<u8>, String> {
    match file.extension() {
        Some(extension) if extension == "c" => compile(file, &[]),
        _ => fs::read(file).map_err(|error| format!("{}: {error}", file.display())),
    }
}

/// What Drystone's own engine is to run, and what Linux is.
pub fn images(file: &HandlerFile) -> Result<[Image; 2], String> {
    let bytes = object(&file.file)?;
    let read = |machine| Image::read(&bytes, file.entry.as_deref(), machine);
    let named = |why| format!("{}: {why}", file.file.display());
    Ok([read(Machine::Drystone).map_err(named)?, read(Machine::Linux).map_err(named)?])
}

/// A number that nobody can guess.
pub fn seed() -> u64 {
    RandomState::new().build_hasher().finish()
}
