//! `drystone check`: files that need not be a whole program, and the crates of their native parts.

use crate::arguments::{Platform, Source};
use crate::output::Status;
use crate::system::Composed;
use crate::{carried, sources, with};

/// Shows errors and warnings.
pub fn check(source: &Source) -> Result<(), Status> {
    let loaded = sources::load_any(source)?;
    match &loaded.program.system {
        Some(system) => Composed::new(&loaded.program, system, source).map(drop),
        None => {
            carried::check(&loaded, source, Platform::Linux)?;
            with::check(&source.with).map(drop)
        }
    }
}
