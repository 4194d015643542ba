//! Bar charts of rows. Each contender has a bar on a logarithmic scale that begins at a power of ten, with its name and
//! figure before it; a line shows the target.

use plotters::prelude::*;

use crate::plot::{Area, DARK_BLUE, DARK_RED, GREY, MARGIN, extent, fill, write, write_before};
use crate::row::Row;

const WIDTH: i32 = 860;
const TITLE: i32 = 36;
/// A row's name, above its bars.
const NAME: i32 = 18;
/// Where the contenders' names end.
const NAMES: i32 = 190;
/// Where the figures end.
const FIGURES: i32 = 262;
/// Where the bars begin and may end.
const BARS: (i32, i32) = (270, WIDTH - MARGIN - 8);
const BAR: i32 = 13;
/// Between two rows.
const GAP: i32 = 10;
/// Below all rows: labels of the scale, and a note.
const SCALE: i32 = 18;
const NOTE: i32 = 18;

const DRYSTONE: RGBColor = DARK_BLUE;
/// Colours of peers: as many as there are in any plot.
const PEERS: [RGBColor; 10] = [
    RGBColor(0xb8, 0xb8, 0xb8),
    GREY,
    RGBColor(0xd9, 0xb3, 0x6c),
    RGBColor(0xb0, 0x84, 0x2f),
    RGBColor(0x9f, 0xc3, 0x9f),
    RGBColor(0x5e, 0x94, 0x5e),
    RGBColor(0xd4, 0xa2, 0xa2),
    RGBColor(0xa8, 0x62, 0x62),
    RGBColor(0xb2, 0xa8, 0xd0),
    RGBColor(0x74, 0x66, 0xa0),
];
const TARGET: RGBColor = DARK_RED;
const POWER: RGBColor = RGBColor(0xe0, 0xe0, 0xe0);

/// A bar of a plot.
struct Bar<'a> {
    name: &'a str,
    colour: RGBColor,
    value: f64,
}

/// A plot of rows with the same unit.
pub fn svg(title: &str, rows: &[&Row]) -> Result<String, String> {
    let peers = peer_names(rows);
    let all: i32 = rows.iter().map(|row| height(row, &peers)).sum();
    let height = TITLE + all + SCALE + NOTE + MARGIN;
    let mut text = String::new();
    let area = SVGBackend::with_string(&mut text, (WIDTH as u32, height as u32)).into_drawing_area();
    draw(&area, title, rows, &peers, TITLE + all)
        .and_then(|()| area.present().map_err(|error| error.to_string()))?;
    drop(area);
    Ok(text)
}

fn draw(area: &Area, title: &str, rows: &[&Row], peers: &[&str], bottom: i32) -> Result<(), String> {
    area.fill(&WHITE).map_err(|error| error.to_string())?;
    let unit = rows.first().map_or("", |row| row.unit);
    write(area, &format!("{title}, {unit}, logarithmic"), (MARGIN, MARGIN), 15)?;
    let scale = Scale::of(rows, peers);
    for (value, name) in scale.powers() {
        let x = scale.place(value);
        fill(area, [(x, TITLE), (x + 1, bottom)], POWER)?;
        write(area, &name, (x - 3 * name.len() as i32, bottom + 3), 11)?;
    }
    let mut y = TITLE;
    for row in rows {
        write(area, &row.row, (MARGIN, y + 2), 13)?;
        let mut bar = y + NAME;
        for Bar { name, colour, value } in bars(row, peers) {
            write_before(area, name, (NAMES, bar), 11)?;
            write_before(area, &figure(value), (FIGURES, bar), 11)?;
            fill(area, [(BARS.0, bar), (scale.place(value), bar + BAR - 3)], colour)?;
            bar += BAR;
        }
        if let Some(target) = row.target {
            let x = scale.place(target);
            fill(area, [(x - 1, y + NAME - 3), (x + 1, bar)], TARGET)?;
        }
        y += height(row, peers);
    }
    write(area, &note(rows, peers), (MARGIN, bottom + SCALE + 4), 11)
}

/// Counts have no decimals.
fn figure(value: f64) -> String {
    if value.fract() == 0.0 { format!("{value:.0}") } else { format!("{value:.1}") }
}

/// A note of what the bars don't show.
fn note(rows: &[&Row], peers: &[&str]) -> String {
    let kinds = [
        ("-mirror", "mirror: built as Drystone's, process for process"),
        ("-best", "best: as its language would have it"),
    ];
    let there = kinds.iter().filter(|(end, _)| peers.iter().any(|peer| peer.ends_with(end)));
    let target = rows.iter().any(|row| row.target.is_some()).then_some("the red line is the target");
    let parts: Vec<&str> = target.into_iter().chain(there.map(|kind| kind.1)).collect();
    parts.join("; ")
}

/// Maps figures to pixels.
struct Scale {
    least: f64,
    most: f64,
}

impl Scale {
    fn of(rows: &[&Row], peers: &[&str]) -> Scale {
        let values =
            rows.iter().flat_map(|row| bars(row, peers).into_iter().map(|bar| bar.value).chain(row.target));
        let (least, most) = extent(values);
        // Even the shortest bar is visible.
        Scale { least: 10_f64.powf((least / 1.2).log10().floor()), most }
    }

    fn place(&self, value: f64) -> i32 {
        let room = f64::from(BARS.1 - BARS.0);
        let part = (value / self.least).ln() / (self.most / self.least).ln();
        BARS.0 + (part.max(0.0) * room) as i32
    }

    /// The powers of ten on the scale, as numbers and as text.
    fn powers(&self) -> Vec<(f64, String)> {
        let (first, last) = (self.least.log10().round() as i32, self.most.log10().floor() as i32);
        let text = |power: i32| match power {
            -3..0 => format!("{:.*}", -power as usize, 10_f64.powi(power)),
            0..6 => format!("{:.0}", 10_f64.powi(power)),
            _ => format!("1e{power}"),
        };
        (first..=last).map(|power| (10_f64.powi(power), text(power))).collect()
    }
}

fn peer_names<'a>(rows: &[&'a Row]) -> Vec<&'a str> {
    let mut names: Vec<&str> = rows.iter().flat_map(|row| row.peers.keys().copied()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// The bars of a row, Drystone's first.
fn bars<'a>(row: &Row, peers: &[&'a str]) -> Vec<Bar<'a>> {
    let drystone = row.drystone.map(|figure| Bar { name: "Drystone", colour: DRYSTONE, value: figure.value });
    let peers = peers.iter().enumerate().filter_map(|(i, &name)| {
        let figure = (*row.peers.get(name)?)?;
        Some(Bar { name, colour: PEERS[i % PEERS.len()], value: figure.value })
    });
    drystone.into_iter().chain(peers).collect()
}

fn height(row: &Row, peers: &[&str]) -> i32 {
    NAME + BAR * (bars(row, peers).len() as i32).max(1) + GAP
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::tests::token_ring;

    #[test]
    fn a_plot_names_every_row_and_contender() {
        let row = token_ring();
        let svg = svg("1 core", &[&row]).unwrap();
        for text in ["1 core, ms", "TokenRing", "7.1", "Drystone", "209.3", "go-mirror", "mirror: built as"] {
            assert!(svg.contains(text), "{text}");
        }
        assert!(!svg.contains("tokio"), "there is no bar for who could not run");
    }

    #[test]
    fn longer_bars_are_larger_figures() {
        let row = token_ring();
        let scale = Scale::of(&[&row], &["go-mirror"]);
        assert!(BARS.0 < scale.place(7.1) && scale.place(7.1) < scale.place(8.0));
        assert!(scale.place(8.0) < scale.place(209.3) && scale.place(209.3) <= BARS.1);
        let powers: Vec<String> = scale.powers().into_iter().map(|(_, name)| name).collect();
        assert_eq!(powers, ["1", "10", "100"]);
    }
}
