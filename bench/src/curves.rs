//! Curves over sizes, with logarithmic axes: panels side by side, and one legend for all.

use std::ops::Range;

use plotters::prelude::*;

use crate::plot::{Area, DARK_BLUE, DARK_RED, GREY, MARGIN, extent, fill, write};

/// Pixels.
const PANEL: (u32, u32) = (430, 260);
const LEGEND_LINE: i32 = 18;
const LEGEND_ENTRY: i32 = 160;

/// In the order in which names first appear.
const COLOURS: [RGBColor; 10] = [
    DARK_BLUE,
    DARK_RED,
    RGBColor(0x3f, 0x8f, 0x4f),
    RGBColor(0xd9, 0x93, 0x2c),
    RGBColor(0x7a, 0x5f, 0xb8),
    GREY,
    RGBColor(0x4f, 0xb0, 0xc0),
    RGBColor(0xc0, 0x6a, 0x9a),
    RGBColor(0x8f, 0x6f, 0x4f),
    RGBColor(0x20, 0x20, 0x20),
];

/// Curves with the same axes.
pub struct Panel {
    /// The title, with the unit of the vertical axis.
    pub title: String,
    /// Drawn in this order.
    pub curves: Vec<Curve>,
}

/// The figures of one contender.
pub struct Curve {
    /// Its name in the legend; a name has the same colour in all panels.
    pub name: String,
    /// Size and figure, in ascending order.
    pub points: Vec<(f64, f64)>,
}

/// Draws panels in so many columns.
pub fn svg(panels: &[Panel], columns: usize) -> Result<String, String> {
    let names = names(panels);
    let columns = columns.min(panels.len()).max(1);
    let width = PANEL.0 * columns as u32;
    let beside = (width as usize - 2 * MARGIN as usize) / LEGEND_ENTRY as usize;
    let legend = 2 * MARGIN + LEGEND_LINE * names.len().div_ceil(beside) as i32;
    let rows = panels.len().div_ceil(columns).max(1);
    let mut text = String::new();
    let area = SVGBackend::with_string(&mut text, (width, legend as u32 + PANEL.1 * rows as u32))
        .into_drawing_area();
    area.fill(&WHITE).map_err(|error| error.to_string())?;
    let (top, rest) = area.split_vertically(legend);
    draw_legend(&top, &names, beside as i32)?;
    for (panel, area) in panels.iter().zip(rest.split_evenly((rows, columns))) {
        draw(&area, panel, &names)?;
    }
    area.present().map_err(|error| error.to_string())?;
    drop((top, rest, area));
    Ok(text)
}

fn draw_legend(area: &Area, names: &[&str], beside: i32) -> Result<(), String> {
    for (i, name) in (0..).zip(names) {
        let (x, y) = (MARGIN + i % beside * LEGEND_ENTRY, MARGIN + i / beside * LEGEND_LINE);
        fill(area, [(x, y + 5), (x + 18, y + 7)], colour(i as usize))?;
        write(area, name, (x + 24, y), 12)?;
    }
    Ok(())
}

fn draw(area: &Area, panel: &Panel, names: &[&str]) -> Result<(), String> {
    let points = || panel.curves.iter().flat_map(|curve| &curve.points);
    let (Some(x), Some(y)) = (range(points().map(|point| point.0)), range(points().map(|point| point.1)))
    else {
        return Ok(());
    };
    let mut chart = ChartBuilder::on(area)
        .caption(&panel.title, ("sans-serif", 13))
        .margin(MARGIN)
        .x_label_area_size(24)
        .y_label_area_size(44)
        .build_cartesian_2d(x.log_scale(), y.log_scale())
        .map_err(|error| error.to_string())?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .label_style(("sans-serif", 11))
        .x_label_formatter(&|n| format!("10^{:.0}", n.log10()))
        .y_label_formatter(&|figure| figure.to_string())
        .draw()
        .map_err(|error| error.to_string())?;
    for curve in &panel.curves {
        let place = names.iter().position(|name| *name == curve.name).expect("all names were collected");
        let line = LineSeries::new(curve.points.iter().copied(), colour(place).stroke_width(2));
        chart.draw_series(line).map_err(|error| error.to_string())?;
    }
    Ok(())
}

fn names(panels: &[Panel]) -> Vec<&str> {
    let mut names = Vec::new();
    for curve in panels.iter().flat_map(|panel| &panel.curves) {
        if !names.contains(&curve.name.as_str()) {
            names.push(&curve.name);
        }
    }
    names
}

fn colour(i: usize) -> RGBColor {
    COLOURS[i % COLOURS.len()]
}

/// Whole powers of ten around all values; `None` without values.
fn range(values: impl Iterator<Item = f64>) -> Option<Range<f64>> {
    let (least, most) = extent(values);
    let (low, high) = (least.log10().floor() as i32, most.log10().ceil() as i32);
    (most > 0.0).then(|| 10_f64.powi(low)..10_f64.powi(high.max(low + 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plot_names_its_panels_and_each_contender_once() {
        let curve = |name: &str| Curve { name: name.into(), points: vec![(1e3, 96.0), (1e6, 97.5)] };
        let panel =
            |title: &str| Panel { title: title.into(), curves: vec![curve("Drystone"), curve("go-mirror")] };
        let svg = svg(&[panel("bytes"), panel("creation, ns")], 2).unwrap();
        for (text, times) in [("bytes", 1), ("creation, ns", 1), ("Drystone", 1), ("go-mirror", 1)] {
            assert_eq!(svg.matches(text).count(), times, "{text}");
        }
    }

    #[test]
    fn axes_end_at_powers_of_ten() {
        assert_eq!(range([96.0, 1500.0].into_iter()), Some(10.0..10_000.0));
        assert_eq!(range([1000.0, 1000.0].into_iter()), Some(1000.0..10_000.0));
        assert_eq!(range([].into_iter()), None);
    }
}
