//! The page's sections on how costs grow.

use std::fmt::Write;

use super::collections::{self, KINDS, MAPS, MEMORY, TIMES, counts_of};
use super::room::{self, ASIDE_MIB, MACHINES, SYSTEMS};
use crate::curves::{Curve, Panel, svg};
use crate::page::{Section, table};
use crate::row::Row;
use crate::statistics::{Figure, rounded};

/// Whether a row belongs to one of these sections.
pub fn is_growth(row: &Row) -> bool {
    ["growth ", "ten million: ", "fit ", "collection "].iter().any(|prefix| row.row.starts_with(prefix))
}

/// The sections for which there are rows.
pub fn sections(rows: &[Row]) -> Result<Vec<Section>, String> {
    if !rows.iter().any(is_growth) {
        return Ok(Vec::new());
    }
    Ok(vec![curves(rows)?, room(rows), elements(rows)?])
}

fn curves(rows: &[Row]) -> Result<Section, String> {
    let shown =
        rows.iter().filter(|row| row.row.starts_with("growth ") || row.row.starts_with("ten million: "));
    let text = format!(
        "![Bytes for each process, and time for each operation]({CURVES_PLOT})\n\n{}\n\
         *bytes* is the growth of resident memory with so many live servers, *create* the time to make one \
         among them, with a first message each way, *message* that of each message when all are asked a \
         second time, *delete* that to delete each. *creation* is the time to make, ask and delete one after \
         another, so many times, from the first one in a process that has done it {BEFOREHAND}. *ten \
         million* is the same run as 10000000 above, with the peak of its whole process, compiler and all.\n",
        table(shown)
    );
    let bytes = Panel { title: "bytes for each process".into(), curves: contenders(rows, "bytes") };
    let mut times = contenders(rows, "creation");
    for phase in ["create", "message", "delete"] {
        times.extend(contenders(rows, phase).into_iter().map(|curve| Curve { name: phase.into(), ..curve }));
    }
    let times =
        Panel { title: "ns for each creation; create, message, delete: Drystone's".into(), curves: times };
    let plot = (CURVES_PLOT, svg(&[bytes, times], 2)?);
    Ok(Section { title: "How cost grows", text, plot: Some(plot) })
}

const CURVES_PLOT: &str = "processes-growth.svg";
const COLLECTIONS_PLOT: &str = "collections.svg";
const BEFOREHAND: &str = "a hundred thousand times before";

/// Curves of Drystone and all peers over the number of processes.
fn contenders(rows: &[Row], what: &str) -> Vec<Curve> {
    let points = rows.iter().filter_map(|row| {
        let (n, name) = row.row.strip_prefix("growth ")?.split_once(": ")?;
        (name == what).then_some((n.parse().ok()?, row))
    });
    curves_of(&points.collect::<Vec<_>>())
}

/// A curve for each contender with figures.
fn curves_of(rows: &[(f64, &Row)]) -> Vec<Curve> {
    let peers = rows.iter().flat_map(|(_, row)| row.peers.keys().copied());
    let mut names: Vec<&str> = peers.collect();
    names.sort_unstable();
    names.dedup();
    names.insert(0, DRYSTONE);
    let curves = names.into_iter().map(|name| {
        let points = rows.iter().filter_map(|(n, row)| Some((*n, of(row, name)?.value)));
        Curve { name: name.into(), points: points.collect() }
    });
    curves.filter(|curve| !curve.points.is_empty()).collect()
}

const DRYSTONE: &str = "Drystone";

fn of(row: &Row, name: &str) -> Option<Figure> {
    if name == DRYSTONE { row.drystone } else { row.peers.get(name).copied().flatten() }
}

fn room(rows: &[Row]) -> Section {
    let mut text = String::from(
        "| memory | Drystone | paper | paper's C# | paper's Java | paper's AOS | Drystone / paper |\n\
         |---|--:|--:|--:|--:|--:|--:|\n",
    );
    for machine in &MACHINES {
        let row = rows.iter().find(|row| row.row == room::row_of(machine));
        let Some(row) = row else { continue };
        let paper = SYSTEMS.map(|system| whole(of(row, system)));
        let gain = of(row, SYSTEMS[0]).and_then(|paper| row.gain_over(paper.value));
        let gain = gain.map_or("-".into(), |gain| format!("{gain:.1}"));
        let _ = writeln!(
            text,
            "| {} MB | {} | {} | {gain} |",
            machine.mib,
            whole(row.drystone),
            paper.join(" | ")
        );
    }
    let mib = |what: &str| {
        let those = rows.iter().filter(|row| row.row.starts_with("fit ") && row.row.ends_with(what));
        let all: Vec<String> = those.map(|row| whole(row.drystone)).collect();
        all.join(", ")
    };
    let _ = write!(
        text,
        "\nServers are made, each answers a message, until the memory ends; they are counted by ten \
         thousands. That is the memory of the whole process, of which {ASIDE_MIB} MiB are set aside for what \
         is not the program's; it had {} MiB resident then. To end them all when the memory has ended takes \
         more: {} MiB at most. The paper's machines held their operating system in that memory, and ours \
         does not.\n",
        mib(": resident"),
        mib(": resident when they are ended")
    );
    Section { title: "How many processes fit: the paper's Table 1", text, plot: None }
}

fn whole(figure: Option<Figure>) -> String {
    figure.map_or("-".into(), |figure| format!("{:.0}", figure.value))
}

fn elements(rows: &[Row]) -> Result<Section, String> {
    let mut text = format!(
        "![Times and bytes of collections over their elements]({COLLECTIONS_PLOT})\n\n\
         Nanoseconds for each operation, and bytes for each element: Drystone / Rust's BTreeMap / Rust's \
         HashMap. Keys: *dense* are successive integers, *sparse* integers far from each other, *pairs* two \
         such integers, *texts* such integers' digits; elements are integers. Keys are inserted in ascending \
         order if dense and else in none, and looked up and deleted in another order. *first visit* is the \
         first ordered FOREACH, which may change the representation, *visit* the second, *lookup in order* \
         is behind them; a HashMap is sorted for each visit. *needed* is the key and the element, a text \
         counted as its characters.\n"
    );
    for kind in &KINDS {
        let _ = write!(
            text,
            "\n**{}**, {} bytes needed\n\n| elements | {} | {} |\n|--:|{}\n",
            kind.name,
            kind.needed,
            TIMES.join(" | "),
            MEMORY.join(" | "),
            "--:|".repeat(TIMES.len() + MEMORY.len())
        );
        for n in counts_of(kind) {
            line(&mut text, rows, &n.to_string(), |what| collections::row_of(kind, n, what));
        }
        line(&mut text, rows, "most / fewest", |what| collections::growth_of(kind, what));
    }
    text += &beyond_promise(rows);
    Ok(Section { title: "Collections", text, plot: Some((COLLECTIONS_PLOT, svg(&panels(rows), 4)?)) })
}

/// A line of a kind's table.
fn line(text: &mut String, rows: &[Row], head: &str, name: impl Fn(&str) -> String) {
    let _ = write!(text, "| {head} |");
    for what in TIMES.into_iter().chain(MEMORY) {
        let name = name(what);
        let cell = rows.iter().find(|row| row.row == name).map_or(String::new(), |row| {
            let maps = MAPS.iter().filter(|map| row.peers.contains_key(*map)).map(|map| short(of(row, map)));
            let all: Vec<String> = [short(row.drystone)].into_iter().chain(maps).collect();
            all.join(" / ")
        });
        let _ = write!(text, " {cell} |");
    }
    text.push('\n');
}

/// A figure with three digits.
fn short(figure: Option<Figure>) -> String {
    let figure = figure.map(|figure| figure.value);
    figure
        .map_or("-".into(), |value| if value < 100.0 { format!("{value:.1}") } else { format!("{value:.0}") })
}

/// Sentences on collections that take more than twice what their elements need.
fn beyond_promise(rows: &[Row]) -> String {
    let beyond = rows.iter().filter(|row| row.row.starts_with("collection ") && row.unit == "bytes");
    let beyond: Vec<String> = beyond
        .filter_map(|row| {
            let factor = 2.0 * row.miss()?;
            let bytes = rounded(row.drystone?.value);
            Some(format!("* {}: {bytes}, {factor:.2} times\n", row.row))
        })
        .collect();
    match beyond.is_empty() {
        true => "\nNo collection takes more than twice what its elements need.\n".into(),
        false => format!("\nMore than twice what key and element need:\n\n{}", beyond.concat()),
    }
}

/// A line of panels for each kind of keys.
fn panels(rows: &[Row]) -> Vec<Panel> {
    let kinds = KINDS.iter().flat_map(|kind| {
        ["insert", "lookup in order", "visit", "bytes in order"].map(|what| {
            let find = |n: u64| rows.iter().find(|row| row.row == collections::row_of(kind, n, what));
            let points: Vec<_> = counts_of(kind).filter_map(|n| Some((n as f64, find(n)?))).collect();
            let unit = if MEMORY.contains(&what) { "" } else { ", ns" };
            Panel { title: format!("{}: {what}{unit}", kind.name), curves: curves_of(&points) }
        })
    });
    kinds.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::tests::token_ring;

    #[test]
    fn other_rows_make_no_section() {
        assert!(sections(&[token_ring()]).unwrap().is_empty());
    }

    #[test]
    fn what_takes_more_than_promised_is_named() {
        let row = Row {
            row: "collection 100 texts: bytes".into(),
            unit: "bytes",
            drystone: Some(Figure::single(57.2)),
            target: Some(40.0),
            ..token_ring()
        };
        let text = beyond_promise(&[row]);
        assert!(text.contains("collection 100 texts: bytes: 57.2, 2.86 times"), "{text}");
        assert!(beyond_promise(&[]).contains("No collection"));
    }

    #[test]
    fn curves_hold_the_figures_of_their_contender() {
        let row = |n| Row { row: format!("growth {n}: bytes"), ..token_ring() };
        let curves = contenders(
            &[row(1000), row(10_000), Row { row: "growth 1000: x".into(), ..token_ring() }],
            "bytes",
        );
        let known: Vec<_> = curves.iter().map(|curve| (curve.name.as_str(), curve.points.clone())).collect();
        let drystone = vec![(1000.0, 7.1), (10_000.0, 7.1)];
        let go = vec![(1000.0, 209.3), (10_000.0, 209.3)];
        assert_eq!(known, [("Drystone", drystone), ("go-mirror", go)], "who has no figure has no curve");
    }
}
