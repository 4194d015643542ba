//! `drystone graph`: what a program is put together from, as a drawing or as text for Graphviz.

mod dot;
mod layout;
mod picture;
mod routes;
mod svg;

use crate::arguments::Graph;
use crate::{Status, fail, sources, write};

use picture::Picture;

/// The output's name says what is wanted, unless `--dot` does.
fn wants_dot(command: &Graph) -> Result<bool, Status> {
    let extension = command.output.as_ref().and_then(|path| path.extension()?.to_str());
    match extension {
        Some("dot" | "gv") => Ok(true),
        Some("svg") | None => Ok(command.dot),
        Some(_) if command.dot => Ok(true),
        Some(other) => Err(fail(format_args!(
            "a drawing is SVG (-o NAME.svg) or text for Graphviz (-o NAME.dot), not .{other}"
        ))),
    }
}

/// Draws the program.
pub fn graph(command: &Graph) -> Result<(), Status> {
    let loaded = sources::load(&command.source)?;
    let picture = Picture::of(&loaded.program, &loaded.files);
    let text = if wants_dot(command)? { dot::write(&picture) } else { svg::write(&picture) };
    write(command.output.as_deref(), &text)
}
