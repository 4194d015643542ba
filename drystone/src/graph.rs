//! `drystone graph`: draws a program's composition, from its text or while it runs, as SVG or as text for Graphviz.

mod dot;
mod layout;
mod picture;
mod routes;
mod running;
mod slots;
mod svg;
mod written;

use crate::arguments::{Graph, Source};
use crate::output::{Status, fail, write};
use crate::sources;

use picture::Picture;

/// Whether Graphviz text is wanted: `--dot` says so, or the output's name.
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
pub fn graph(command: Graph) -> Result<(), Status> {
    let is_dot = wants_dot(&command)?;
    let Graph { files, entry, with, live, output, .. } = command;
    let picture = match live {
        Some(socket) => running::picture(&socket)?,
        None => by_text(Source { files, entry, with })?,
    };
    let text = if is_dot { dot::write(&picture) } else { svg::write(&picture) };
    write(output.as_deref(), &text)
}

fn by_text(mut source: Source) -> Result<Picture, Status> {
    source.complete()?;
    let loaded = sources::load(&source)?;
    Ok(written::picture(&loaded.program, &loaded.files))
}
