//! The picture of a running program, as its control socket describes it: components with what their processes wait for
//! (`members`), connections, and bindings with their traffic (`joints`).
//!
//! If a component or a collection holds more than a few components that are alike, one box stands for all of them and
//! for everything inside them. So it is for components that hold one another one by one, as in a list. A name is a box,
//! as in the picture of a text.

mod joints;
mod members;
mod painter;

use std::path::Path;

use serde_json::json;

use super::picture::{Component, Picture};
use crate::control::{ask, list};
use crate::output::Status;

use joints::Joints;
use painter::Painter;

/// At most so many components are looked at.
const MOST: usize = 100_000;

/// Asks the program.
pub fn picture(socket: &Path) -> Result<Picture, Status> {
    let answer = ask(socket, &json!({"inspect": MOST}))?;
    let components = list(&answer["components"]);
    let mut painter = Painter { components, ..Painter::default() };
    let notes = match answer["more"].as_u64() {
        None | Some(0) => Vec::new(),
        Some(more) => vec![format!("{more} components more are not shown")],
    };
    let name = socket.display().to_string();
    let program = painter.picture.add(Component { name, notes, ..Component::default() });
    painter.place(program);
    let mut joints = Joints::default();
    (0..components.len()).for_each(|number| joints.connect(&mut painter, number));
    list(&answer["bindings"]).iter().for_each(|binding| joints.bind(&mut painter, binding));
    joints.finish(&mut painter.picture);
    Ok(painter.picture)
}
