//! A picture as SVG.

use std::fmt::Write;

use super::layout::{Frame, LINE, Layout, NOTE};
use super::picture::{Component, Connection, Interface, Picture, Port, Side};
use super::routes::{Point, laid_out};

/// The radius of rounded corners, pixels.
const ROUNDING: f64 = 6.0;

const STYLE: &str = "\
text { font: 12px monospace; fill: #222; stroke: #f2f2f2; stroke-width: 3px; paint-order: stroke } \
.name { font-weight: bold; text-anchor: middle } \
.note { fill: #666; text-anchor: middle } \
.end { text-anchor: end } rect { fill: #000; fill-opacity: .03; stroke: #555; rx: 4px } \
.any { stroke-dasharray: 5 4 } circle, line { stroke: #1f5fa8; fill: #1f5fa8 } \
line { stroke-width: 3; stroke-linecap: round } .required { fill: #fff } \
path { fill: none; stroke: #1f5fa8; stroke-opacity: .75; stroke-width: 1.3 }";

/// The drawing.
pub fn write(picture: &Picture) -> String {
    let (layout, ways) = laid_out(picture);
    let (width, height) = (layout.width, layout.height);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.0} {height:.0}\">\n<style>{STYLE}</style>\n\
         <rect width=\"100%\" height=\"100%\" style=\"fill: #fff; fill-opacity: 1; stroke: none\"/>\n"
    );
    for (component, frame) in picture.boxes.iter().zip(&layout.frames) {
        rectangle(&mut text, component, frame);
    }
    for (connection, corners) in picture.connections.iter().zip(ways) {
        path(&mut text, &corners, connection);
    }
    // On top, so that no line hides a name.
    for (owner, component) in picture.boxes.iter().enumerate() {
        name(&mut text, component, &layout.frames[owner]);
        interfaces(&mut text, &layout, owner, Side::Offered, &component.offers);
        interfaces(&mut text, &layout, owner, Side::Required, &component.requires);
    }
    text + "</svg>\n"
}

fn rectangle(text: &mut String, component: &Component, frame: &Frame) {
    let Frame { x, y, width, height } = frame;
    let class = if component.any { " class=\"any\"" } else { "" };
    let _ = writeln!(
        text,
        "<rect{class} x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\"/>"
    );
}

fn name(text: &mut String, component: &Component, frame: &Frame) {
    let (middle, line, name) = (frame.x + frame.width / 2.0, frame.y + LINE * 0.8, escaped(&component.name));
    let _ = writeln!(text, "<text class=\"name\" x=\"{middle:.1}\" y=\"{line:.1}\">{name}</text>");
    for (number, note) in component.notes.iter().enumerate() {
        let (line, note) = (line + NOTE * (number + 1) as f64, escaped(note));
        let _ = writeln!(text, "<text class=\"note\" x=\"{middle:.1}\" y=\"{line:.1}\">{note}</text>");
    }
}

fn interfaces(text: &mut String, layout: &Layout, owner: usize, side: Side, list: &[Interface]) {
    let (class, label, to_text) = match side {
        Side::Offered => ("offered", "", 9.0),
        Side::Required => ("required", " class=\"end\"", -9.0),
    };
    // Lines within the box begin at its interfaces: there the names stand above the lines.
    let below = if layout.has_lines(owner) { -5.0 } else { 4.0 };
    for (index, interface) in list.iter().enumerate() {
        let (x, first, last) = layout.port(Port { owner, side, index });
        let (text_x, text_y, name) = (x + to_text, first + below, escaped(&interface.name));
        if last > first {
            let _ = writeln!(
                text,
                "<line class=\"{class}\" x1=\"{x:.1}\" y1=\"{first:.1}\" x2=\"{x:.1}\" y2=\"{last:.1}\"/>"
            );
        }
        let _ = writeln!(
            text,
            "<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{first:.1}\" r=\"4\"/>\
             <text{label} x=\"{text_x:.1}\" y=\"{text_y:.1}\">{name}</text>"
        );
    }
}

fn path(text: &mut String, corners: &[Point], connection: &Connection) {
    let [(x, y), inner @ .., (to_x, to_y)] = corners else { return };
    let mut curve = format!("M{x:.1},{y:.1}");
    for (index, &(x, y)) in inner.iter().enumerate() {
        let (before, after) = (towards((x, y), corners[index]), towards((x, y), corners[index + 2]));
        let _ =
            write!(curve, " L{:.1},{:.1} Q{x:.1},{y:.1} {:.1},{:.1}", before.0, before.1, after.0, after.1);
    }
    let title = escaped(&connection.title);
    let _ = writeln!(text, "<path d=\"{curve} L{to_x:.1},{to_y:.1}\"><title>{title}</title></path>");
}

/// Where the rounding of a corner begins, in the direction of a neighbouring corner.
fn towards((x, y): Point, (to_x, to_y): Point) -> Point {
    let (across, down) = (to_x - x, to_y - y);
    let part = (ROUNDING / across.hypot(down).max(1e-9)).min(0.5);
    (x + across * part, y + down * part)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
