//! `drystone graph`: what a program is put together from, as a drawing or as text for Graphviz.

mod dot;
mod layout;
mod picture;
mod svg;

use std::fs;
use std::io::Write;

use crate::arguments::Graph;
use crate::{Status, fail, sources};

use picture::Picture;

/// Draws the program.
pub fn graph(command: &Graph) -> Result<(), Status> {
    let loaded = sources::load(&command.source)?;
    let picture = Picture::of(&loaded.program, &loaded.files);
    let text = if command.dot { dot::write(&picture) } else { svg::write(&picture) };
    match &command.output {
        Some(path) => fs::write(path, text)
            .map_err(|error| fail(format_args!("cannot write {}: {error}", path.display()))),
        None => std::io::stdout()
            .write_all(text.as_bytes())
            .map_err(|error| fail(format_args!("standard output: {error}"))),
    }
}
