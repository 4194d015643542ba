//! What all plots share: margin, colours, text, boxes, and the range of a logarithmic scale.

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// Pixels between a plot's edge and what is in it.
pub const MARGIN: i32 = 12;

pub const DARK_BLUE: RGBColor = RGBColor(0x1b, 0x4f, 0x8a);
pub const DARK_RED: RGBColor = RGBColor(0xc0, 0x30, 0x30);
pub const GREY: RGBColor = RGBColor(0x88, 0x88, 0x88);

pub type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Writes text from a place to the right and down.
pub fn write(area: &Area, text: &str, at: (i32, i32), size: i32) -> Result<(), String> {
    let style = ("sans-serif", size).into_font().color(&BLACK);
    area.draw(&Text::new(text.to_string(), at, style)).map_err(|error| error.to_string())
}

/// Writes text that ends at a place, with its upper edge there.
pub fn write_before(area: &Area, text: &str, at: (i32, i32), size: i32) -> Result<(), String> {
    let style = ("sans-serif", size).into_font().color(&BLACK).pos(Pos::new(HPos::Right, VPos::Top));
    area.draw(&Text::new(text.to_string(), at, style)).map_err(|error| error.to_string())
}

/// Fills a box, from its upper left corner to its lower right one.
pub fn fill(area: &Area, corners: [(i32, i32); 2], colour: RGBColor) -> Result<(), String> {
    area.draw(&Rectangle::new(corners, colour.filled())).map_err(|error| error.to_string())
}

/// The least and the greatest positive value; infinity and 0 without one.
pub fn extent(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values
        .filter(|&value| value > 0.0)
        .fold((f64::INFINITY, 0.0_f64), |(least, most), value| (least.min(value), most.max(value)))
}
