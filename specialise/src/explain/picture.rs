//! The copy history as a picture: a box for each buffer, and an arrow from the bytes that were copied to their
//! destination. Eliminated buffers are dashed.

use crate::evaluate::{Buffer, Copied, Report};
use std::fmt::Write;

const WIDTH: f64 = 110.0;
const GAP: f64 = 120.0;
const MARGIN: f64 = 30.0;
const LEAST: f64 = 26.0;
const MOST: f64 = 260.0;
/// The greatest number of arrows between two buffers; more would hide the boxes.
const ARROWS: usize = 24;

struct Drawn {
    x: f64,
    y: f64,
    height: f64,
    size: u64,
}

/// An SVG picture of the copies.
pub fn picture(report: &Report) -> String {
    let used: Vec<usize> = (0..report.buffers.len())
        .filter(|buffer| report.copies.iter().any(|copy| copy.from == *buffer || copy.to == *buffer))
        .collect();
    let ranks = ranks(report);
    let columns = used.iter().map(|buffer| ranks[*buffer]).max().map_or(1, |last| last + 1);
    let mut bottoms = vec![MARGIN + 40.0; columns];
    let mut drawn: Vec<Option<Drawn>> = report.buffers.iter().map(|_| None).collect();
    for buffer in &used {
        let size = extent(report, *buffer);
        let height = (LEAST + (size as f64).sqrt() * 9.0).min(MOST);
        let column = ranks[*buffer];
        let x = MARGIN + column as f64 * (WIDTH + GAP);
        drawn[*buffer] = Some(Drawn { x, y: bottoms[column], height, size });
        bottoms[column] += height + 44.0;
    }
    let width = MARGIN * 2.0 + columns as f64 * (WIDTH + GAP) - GAP;
    let height = bottoms.iter().fold(120.0f64, |most, bottom| most.max(*bottom)) + MARGIN;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" \
         height=\"{height:.0}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" \
         orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"#456\"/></marker></defs>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <text x=\"{MARGIN}\" y=\"24\">Copies between buffers; those that are dashed are no longer there</text>\n"
    );
    for (buffer, place) in report.buffers.iter().zip(&drawn) {
        if let Some(place) = place {
            draw_buffer(&mut svg, buffer, place);
        }
    }
    let mut drawn_between = std::collections::BTreeMap::new();
    for copy in &report.copies {
        let count = drawn_between.entry((copy.from, copy.to)).or_insert(0usize);
        *count += 1;
        if let (Some(from), Some(to), true) = (&drawn[copy.from], &drawn[copy.to], *count <= ARROWS) {
            draw_copy(&mut svg, copy, from, to);
        }
    }
    svg.push_str("</svg>\n");
    svg
}

fn draw_buffer(svg: &mut String, buffer: &Buffer, place: &Drawn) {
    let (dash, fill) = if buffer.real { ("none", "#dfe9f5") } else { ("5 4", "#f6f6f6") };
    let Drawn { x, y, height, size } = place;
    let name = buffer.name.replace('&', "&amp;").replace('<', "&lt;");
    let _ = write!(
        svg,
        "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{WIDTH}\" height=\"{height:.1}\" fill=\"{fill}\" stroke=\"#456\" \
         stroke-dasharray=\"{dash}\"/>\n<text x=\"{x:.1}\" y=\"{:.1}\">{name}, {size} bytes</text>\n",
        y - 6.0
    );
}

fn draw_copy(svg: &mut String, copy: &Copied, from: &Drawn, to: &Drawn) {
    let at = |place: &Drawn, offset: u64| {
        place.y + place.height * (offset as f64 + copy.size as f64 / 2.0) / place.size.max(1) as f64
    };
    let backwards = to.x <= from.x;
    let (x1, x2) = (from.x + WIDTH, if backwards { to.x + WIDTH } else { to.x });
    let (y1, y2) = (at(from, copy.from_offset), at(to, copy.to_offset));
    let bend = GAP / 2.0;
    let end = if backwards { x2 + bend } else { x2 - bend };
    let _ = writeln!(
        svg,
        "<path d=\"M{x1:.1} {y1:.1}C{:.1} {y1:.1} {end:.1} {y2:.1} {x2:.1} {y2:.1}\" fill=\"none\" stroke=\"#456\" \
         marker-end=\"url(#tip)\"><title>{} bytes, from {} to {}</title></path>",
        x1 + bend,
        copy.size,
        copy.from_offset,
        copy.to_offset
    );
}

/// The size of a buffer: its known size, or that of the copied bytes.
fn extent(report: &Report, buffer: usize) -> u64 {
    report.buffers[buffer].size.unwrap_or_else(|| {
        let from =
            report.copies.iter().filter(|copy| copy.from == buffer).map(|copy| copy.from_offset + copy.size);
        let to = report.copies.iter().filter(|copy| copy.to == buffer).map(|copy| copy.to_offset + copy.size);
        from.chain(to).max().unwrap_or(1)
    })
}

/// For each buffer, the length of the longest chain of copies that leads to it. Cycles are cut.
fn ranks(report: &Report) -> Vec<usize> {
    let mut ranks = vec![0usize; report.buffers.len()];
    for _ in 0..report.buffers.len().min(12) {
        for copy in report.copies.iter().filter(|copy| copy.from != copy.to) {
            ranks[copy.to] = ranks[copy.to].max((ranks[copy.from] + 1).min(11));
        }
    }
    let mut seen: Vec<usize> = ranks.clone();
    seen.sort_unstable();
    seen.dedup();
    ranks.iter().map(|rank| seen.binary_search(rank).unwrap_or(0)).collect()
}
