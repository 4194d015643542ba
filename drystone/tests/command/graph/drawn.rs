//! Checks the geometry of drawings: lines are horizontal or vertical, none crosses a name, and lines of different
//! connections overlap nowhere, though they may cross.

use std::path::Path;

use crate::{all_programs, complaint, drystone, printed, programs, status};

/// A rectangle, or a line that runs across or down.
#[derive(Clone, Copy, Debug)]
struct Area {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
}

impl Area {
    fn between((x, y): (f64, f64), (other_x, other_y): (f64, f64)) -> Area {
        Area { left: x.min(other_x), top: y.min(other_y), right: x.max(other_x), bottom: y.max(other_y) }
    }

    fn meets(&self, other: &Area) -> bool {
        self.left < other.right
            && self.right > other.left
            && self.top < other.bottom
            && self.bottom > other.top
    }

    /// Whether two lines overlap, or run so close that they can't be told apart.
    fn runs_along(&self, other: &Area) -> bool {
        let shared =
            |from: f64, to: f64, other_from: f64, other_to: f64| to.min(other_to) - from.max(other_from);
        let across = shared(self.left, self.right, other.left, other.right);
        let down = shared(self.top, self.bottom, other.top, other.bottom);
        let is_across = |line: &Area| line.bottom - line.top < 0.05;
        match (is_across(self), is_across(other)) {
            (true, true) => across > 0.2 && (self.top - other.top).abs() < 1.0,
            (false, false) => down > 0.2 && (self.left - other.left).abs() < 1.0,
            _ => false,
        }
    }
}

/// The visible parts of a drawing.
struct Drawn {
    names: Vec<(Area, String)>,
    /// By connections.
    lines: Vec<Vec<Area>>,
}

impl Drawn {
    fn read(text: &str) -> Drawn {
        let document = roxmltree::Document::parse(text).expect("it is XML");
        let (mut names, mut lines) = (Vec::new(), Vec::new());
        for node in document.descendants() {
            match node.tag_name().name() {
                "text" => names.push(name(&node)),
                "path" => lines.push(way(node.attribute("d").expect("a way"))),
                _ => {}
            }
        }
        Drawn { names, lines }
    }

    /// Its faults.
    fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for (number, line) in self.lines.iter().enumerate() {
            for part in line {
                if part.right - part.left > 0.05 && part.bottom - part.top > 0.05 {
                    faults.push(format!("connection {number} runs aslant: {part:?}"));
                }
                for (area, name) in self.names.iter().filter(|(area, _)| part.meets(area)) {
                    faults.push(format!("connection {number} crosses {name:?}: {part:?}, {area:?}"));
                }
                for (other, its) in self.lines[..number].iter().enumerate() {
                    for along in its.iter().filter(|its| its.runs_along(part)) {
                        faults.push(format!(
                            "connections {other} and {number} share a stretch: {along:?}, {part:?}"
                        ));
                    }
                }
            }
        }
        faults
    }
}

/// A name and its area, with letters 7 pixels wide.
fn name(node: &roxmltree::Node) -> (Area, String) {
    let text = node.text().unwrap_or_default();
    let number = |what: &str| node.attribute(what).and_then(|number| number.parse().ok()).expect("a number");
    let (x, y, width): (f64, f64, f64) = (number("x"), number("y"), text.chars().count() as f64 * 7.2);
    let left = match node.attribute("class") {
        Some("end") => x - width,
        Some(_) => x - width / 2.0,
        None => x,
    };
    (Area { left, top: y - 9.0, right: left + width, bottom: y + 2.0 }, text.into())
}

/// The lines between the corners of a path: its start, the corners of its curves, its end.
fn way(path: &str) -> Vec<Area> {
    let point = |text: &str| {
        let (x, y) = text.split_once(',').expect("two numbers");
        (x.parse().expect("a number"), y.parse().expect("a number"))
    };
    let words: Vec<&str> = path.split(' ').collect();
    let begin = words.first().and_then(|word| word.strip_prefix('M')).map(point);
    let bends = words.iter().filter_map(|word| word.strip_prefix('Q')).map(point);
    let end = words.last().and_then(|word| word.strip_prefix('L')).map(point);
    let corners: Vec<(f64, f64)> = begin.into_iter().chain(bends).chain(end).collect();
    corners.windows(2).map(|pair| Area::between(pair[0], pair[1])).collect()
}

/// The faults of a drawing.
pub fn faults(drawing: &str) -> Vec<String> {
    Drawn::read(drawing).faults()
}

fn is_well_drawn(folder: &Path, file: &str) {
    let output = drystone(folder, &["graph", file]);
    assert_eq!(status(&output), 0, "{file}: {}", complaint(&output));
    assert_eq!(faults(&printed(&output)), [""; 0], "{file}");
}

#[test]
fn no_line_crosses_a_name_or_lies_on_another_one() {
    for program in all_programs() {
        let folder = program.parent().expect("a program is in a folder");
        let name = program.file_name().and_then(|name| name.to_str()).expect("a plain name");
        is_well_drawn(folder, name);
    }
    let systems = programs().with_file_name("systems");
    for system in [
        "Files",
        "Shelves",
        "queue/Queue",
        "joints/Joints",
        "microkernel/Microkernel",
        "blocks/Blocks",
        "blink/Blink",
    ] {
        let file = format!("{system}.dry");
        assert!(systems.join(&file).exists(), "{file}");
        is_well_drawn(&systems, &file);
    }
}
