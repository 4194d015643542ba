//! `drystone check`: files that need not be a whole program, and the crates of their native parts.

use std::mem::take;

use crate::arguments::{Platform, Source};
use crate::output::Status;
use crate::system::Composed;
use crate::{carried, sources, with};

/// Shows errors and warnings.
pub fn check(mut source: Source) -> Result<(), Status> {
    source.complete()?;
    let source = &source;
    let mut loaded = sources::load_any(source)?;
    match &loaded.program.system {
        Some(system) => Composed::new(&loaded.program, system, source).map(drop),
        None => {
            let crates = with::all(&source.with, take(&mut loaded.natives))?;
            carried::check(&loaded, &crates, Platform::Linux)
        }
    }
}
