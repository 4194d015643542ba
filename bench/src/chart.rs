//! Plots of rows: a bar for each contender on a logarithmic scale, a line for the target.

use plotters::prelude::*;

use crate::plot::{Area, DARK_BLUE, DARK_RED, GREY, MARGIN, extent, fill, write};
use crate::row::Row;

const WIDTH: u32 = 860;
const TITLE: i32 = 36;
/// Of the names of rows.
const NAMES: i32 = 170;
const BAR: i32 = 11;
/// Between the bars of two rows.
const GAP: i32 = 12;

const DRYSTONE: RGBColor = DARK_BLUE;
const PEERS: [RGBColor; 6] = [
    RGBColor(0xb0, 0xb0, 0xb0),
    GREY,
    RGBColor(0xd9, 0xb3, 0x6c),
    RGBColor(0x8f, 0xb3, 0x8f),
    RGBColor(0xc0, 0x8a, 0x8a),
    RGBColor(0x9a, 0x8f, 0xb8),
];
const TARGET: RGBColor = DARK_RED;

/// A bar of a plot.
struct Bar<'a> {
    name: &'a str,
    colour: RGBColor,
    value: f64,
}

/// A plot of rows with the same unit.
pub fn svg(title: &str, rows: &[&Row]) -> Result<String, String> {
    let peers = peer_names(rows);
    let height: i32 = TITLE + rows.iter().map(|row| height(row, &peers)).sum::<i32>() + MARGIN;
    let mut text = String::new();
    let area = SVGBackend::with_string(&mut text, (WIDTH, height as u32)).into_drawing_area();
    draw(&area, title, rows, &peers).and_then(|()| area.present().map_err(|error| error.to_string()))?;
    drop(area);
    Ok(text)
}

fn draw(area: &Area, title: &str, rows: &[&Row], peers: &[&str]) -> Result<(), String> {
    area.fill(&WHITE).map_err(|error| error.to_string())?;
    let unit = rows.first().map_or("", |row| row.unit);
    let heading = format!("{title}, {unit}, logarithmic; the red line is the target");
    write(area, &heading, (MARGIN, MARGIN), 15)?;
    let scale = Scale::of(rows, peers);
    let mut y = TITLE;
    for row in rows {
        write(area, &row.row, (MARGIN, y), 13)?;
        let top = y;
        for Bar { name, colour, value } in bars(row, peers) {
            let end = scale.place(value);
            fill(area, [(NAMES, y), (end, y + BAR - 1)], colour)?;
            write(area, &format!("{value:.1}  {name}"), (end + 6, y - 1), 11)?;
            y += BAR;
        }
        if let Some(target) = row.target {
            let x = scale.place(target);
            fill(area, [(x - 1, top - 3), (x + 1, y + 2)], TARGET)?;
        }
        y = top + height(row, peers);
    }
    Ok(())
}

/// From figures to pixels.
struct Scale {
    least: f64,
    most: f64,
}

impl Scale {
    fn of(rows: &[&Row], peers: &[&str]) -> Scale {
        let values =
            rows.iter().flat_map(|row| bars(row, peers).into_iter().map(|bar| bar.value).chain(row.target));
        let (least, most) = extent(values);
        // The shortest bar can be seen.
        Scale { least: least / 2.0, most }
    }

    fn place(&self, value: f64) -> i32 {
        // Room for the text behind the longest bar.
        let room = f64::from(WIDTH as i32 - NAMES - 150);
        let part = (value / self.least).ln() / (self.most / self.least).ln();
        NAMES + (part.max(0.0) * room) as i32
    }
}

fn peer_names<'a>(rows: &[&'a Row]) -> Vec<&'a str> {
    let mut names: Vec<&str> = rows.iter().flat_map(|row| row.peers.keys().copied()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Drystone first.
fn bars<'a>(row: &Row, peers: &[&'a str]) -> Vec<Bar<'a>> {
    let drystone = row.drystone.map(|figure| Bar { name: "Drystone", colour: DRYSTONE, value: figure.value });
    let peers = peers.iter().enumerate().filter_map(|(i, &name)| {
        let figure = (*row.peers.get(name)?)?;
        Some(Bar { name, colour: PEERS[i % PEERS.len()], value: figure.value })
    });
    drystone.into_iter().chain(peers).collect()
}

fn height(row: &Row, peers: &[&str]) -> i32 {
    BAR * (bars(row, peers).len() as i32).max(1) + GAP
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::tests::token_ring;

    #[test]
    fn a_plot_names_every_row_and_contender() {
        let row = token_ring();
        let svg = svg("1 core", &[&row]).unwrap();
        for text in ["1 core, ms", "TokenRing", "7.1  Drystone", "209.3  go-mirror"] {
            assert!(svg.contains(text), "{text}");
        }
        assert!(!svg.contains("tokio"), "there is no bar for who could not run");
    }

    #[test]
    fn longer_bars_are_larger_figures() {
        let row = token_ring();
        let scale = Scale::of(&[&row], &["go-mirror"]);
        assert!(NAMES < scale.place(7.1) && scale.place(7.1) < scale.place(8.0));
        assert!(scale.place(8.0) < scale.place(209.3) && scale.place(209.3) < WIDTH as i32);
    }
}
