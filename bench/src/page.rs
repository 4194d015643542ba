//! The page of a subject's figures: first the missed targets, then the tables, then how they were made.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use crate::row::{Better, Row, cores};
use crate::statistics::{Figure, rounded};
use crate::{chart, machine, places};

/// The contents of a page.
pub struct Page<'a> {
    /// The subject, as on the command line; also the name of the page's file.
    pub subject: &'static str,
    /// The page's title.
    pub title: &'static str,
    /// How the figures are made.
    pub notes: String,
    /// The table for a row.
    pub place: fn(&Row) -> Place,
    /// Why a row's target is missed, if that is known.
    pub reason: fn(&str) -> Option<&'static str>,
    /// The plots of the rows.
    pub plots: Vec<Plot<'a>>,
    /// The sections below the tables.
    pub sections: &'a [Section],
}

/// The place of a row on a page.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In the first table.
    Headline,
    /// In the second.
    More,
    /// In a section of its own form.
    Section,
}

/// Bars of rows with the same unit.
pub struct Plot<'a> {
    /// The file, beside the page.
    pub file: String,
    /// The plot's title.
    pub title: String,
    /// The rows, from the top.
    pub rows: Vec<&'a Row>,
}

/// A group of rows in a form of its own.
pub struct Section {
    /// The section's title.
    pub title: &'static str,
    /// The section's text.
    pub text: String,
    /// A file beside the page, and its contents.
    pub plot: Option<(&'static str, String)>,
}

/// Rewrites `docs/figures/SUBJECT.md` and its plots.
pub fn write(page: &Page, rows: &[Row]) -> Result<(), String> {
    let folder = folder()?;
    for Plot { file, title, rows } in &page.plots {
        fs::write(folder.join(file), chart::svg(title, rows)?).map_err(|error| format!("{file}: {error}"))?;
    }
    write_plots(page.sections)?;
    let path = folder.join(page.subject).with_extension("md");
    fs::write(&path, text(page, rows)).map_err(|error| format!("{}: {error}", path.display()))
}

/// Rewrites the plots of these sections, which are files of their own.
fn write_plots(sections: &[Section]) -> Result<(), String> {
    let folder = folder()?;
    for (plot, svg) in sections.iter().filter_map(|section| section.plot.as_ref()) {
        fs::write(folder.join(plot), svg).map_err(|error| format!("{plot}: {error}"))?;
    }
    Ok(())
}

fn folder() -> Result<PathBuf, String> {
    let folder = places::root().join("docs/figures");
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(folder)
}

/// The sections' text on a page.
pub fn told(sections: &[Section]) -> String {
    let told = sections.iter().map(|Section { title, text, .. }| format!("## {title}\n\n{text}\n"));
    told.collect()
}

fn text(page: &Page, rows: &[Row]) -> String {
    let of = |place| rows.iter().filter(move |row| (page.place)(row) == place);
    let mut text = format!("# {}\n\n{}\n{}\n", page.title, misses(page, rows), table(of(Place::Headline)));
    text += &remarks(rows);
    text.push('\n');
    for Plot { file, title, .. } in &page.plots {
        let _ = writeln!(text, "![Times, {title}]({file})");
    }
    text.push('\n');
    if of(Place::More).next().is_some() {
        let _ = write!(text, "## More\n\n{}\n", table(of(Place::More)));
    }
    text += &told(page.sections);
    let _ = write!(
        text,
        "## How these figures are made\n\n    cargo run --release -p drystone-bench -- {}\n\n{}\n{}",
        page.subject,
        machine::description(),
        page.notes
    );
    text
}

fn misses(page: &Page, rows: &[Row]) -> String {
    let mut missed: Vec<(f64, &Row)> = rows.iter().filter_map(|row| Some((row.miss()?, row))).collect();
    missed.sort_by(|a, b| b.0.total_cmp(&a.0));
    let failed = rows.iter().filter(|row| row.drystone.is_none());
    let mut text = String::new();
    for row in failed {
        let _ = writeln!(text, "* {}, {}: Drystone failed", row.row, cores(row.cores));
    }
    for (factor, row) in missed {
        let target = row.target.map_or(String::new(), |target| rounded(target).to_string());
        let _ = writeln!(
            text,
            "* {}, {}: {} {} instead of {target}, {factor:.2} x too {}",
            row.row,
            cores(row.cores),
            value(&row.drystone),
            row.unit,
            if row.better == Better::Lower { "much" } else { "little" }
        );
        if let Some(reason) = (page.reason)(&row.row) {
            text.pop();
            let _ = writeln!(text, " ({reason})");
        }
    }
    if text.is_empty() {
        "Every target is reached.\n".into()
    } else {
        format!("Targets that are missed:\n\n{text}")
    }
}

/// Tables with a column for each peer. A row with other peers than the rows before begins a new table.
pub fn table<'a>(rows: impl IntoIterator<Item = &'a Row>) -> String {
    let mut tables: Vec<(BTreeSet<&str>, Vec<&Row>)> = Vec::new();
    for row in rows {
        let its: BTreeSet<&str> = row.peers.keys().copied().collect();
        match tables.last_mut() {
            Some((peers, rows)) if its.is_empty() || peers.is_empty() || !peers.is_disjoint(&its) => {
                peers.extend(its);
                rows.push(row);
            }
            _ => tables.push((its, vec![row])),
        }
    }
    let tables: Vec<String> = tables.iter().map(|(peers, rows)| one_table(peers, rows)).collect();
    tables.join("\n")
}

fn one_table(peers: &BTreeSet<&str>, rows: &[&Row]) -> String {
    let mut table = String::from("| | cores | unit | Drystone |");
    let mut line = String::from("\n|---|--:|---|--:|");
    for peer in peers {
        let _ = write!(table, " {peer} |");
        line += "--:|";
    }
    table += " best peer / Drystone | target | |";
    table += &line;
    table += "--:|--:|---|\n";
    for row in rows {
        let _ =
            write!(table, "| {} | {} | {} | {} |", row.row, row.cores, row.unit, with_spread(&row.drystone));
        for peer in peers {
            // Unlike a peer that couldn't run, a peer without such a row has an empty cell.
            let cell = row.peers.get(peer).map_or(String::new(), with_spread);
            let _ = write!(table, " {cell} |");
        }
        let gain = row.best_peer().and_then(|figure| row.gain_over(figure));
        let gain = gain.map_or(String::new(), |gain| format!("{gain:.2}"));
        let target = row.target.map_or(String::new(), |target| rounded(target).to_string());
        let verdict = match (row.target, row.miss()) {
            (None, _) => String::new(),
            (Some(_), None) if row.drystone.is_some() => "reached".into(),
            (Some(_), None) => "failed".into(),
            (Some(_), Some(factor)) => format!("missed by {factor:.2} x"),
        };
        let _ = writeln!(table, " {gain} | {target} | {verdict} |");
    }
    table
}

/// The remarks besides the numbers.
fn remarks(rows: &[Row]) -> String {
    let rows = rows.iter().filter(|row| !row.note.is_empty());
    rows.map(|row| format!("* {}, {}: {}\n", row.row, cores(row.cores), row.note)).collect()
}

fn value(figure: &Option<Figure>) -> String {
    figure.map_or("-".into(), |figure| rounded(figure.value).to_string())
}

/// `7.1 (7.0-7.3)`
fn with_spread(figure: &Option<Figure>) -> String {
    match figure {
        Some(Figure { low, high, .. }) if low < high => {
            format!("{} ({}-{})", value(figure), rounded(*low), rounded(*high))
        }
        _ => value(figure),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::tests::token_ring;

    fn processes() -> Page<'static> {
        Page {
            subject: "processes",
            title: "Processes",
            notes: String::new(),
            place: |_| Place::Headline,
            reason: |_| None,
            plots: Vec::new(),
            sections: &[],
        }
    }

    #[test]
    fn a_table_has_all_peers_and_says_what_is_missed() {
        let scaling =
            Row { row: "scaling TokenRing".into(), peers: Default::default(), target: None, ..token_ring() };
        let missed = Row { target: Some(3.55), ..token_ring() };
        let lines = [
            "| | cores | unit | Drystone | go-mirror | tokio-mirror | best peer / Drystone | target | |",
            "|---|--:|---|--:|--:|--:|--:|--:|---|",
            "| TokenRing | 1 | ms | 7.1 (7-7.25) | 209.3 | - | 29.48 | 8 | reached |",
            "| scaling TokenRing | 1 | ms | 7.1 (7-7.25) |  |  |  |  |  |",
            "| TokenRing | 1 | ms | 7.1 (7-7.25) | 209.3 | - | 29.48 | 3.55 | missed by 2.00 x |",
        ];
        assert_eq!(table(&[token_ring(), scaling, missed]).lines().collect::<Vec<_>>(), lines);
    }

    #[test]
    fn who_has_other_peers_stands_in_another_table() {
        let other = Row { peers: [("another", None)].into(), ..token_ring() };
        let table = table(&[token_ring(), other.clone(), other]);
        assert_eq!(table.lines().filter(|line| line.starts_with("| |")).count(), 2, "{table}");
        assert_eq!(table.lines().filter(|line| line.is_empty()).count(), 1, "{table}");
    }

    #[test]
    fn misses_stand_first_the_worst_at_the_top() {
        let city = Row { row: "City".into(), target: Some(7.0), ..token_ring() };
        let some = Row { row: "Some".into(), target: Some(3.55), ..token_ring() };
        let page = text(&processes(), &[token_ring(), city, some]);
        let start = "# Processes\n\nTargets that are missed:\n\n\
                     * Some, 1 core: 7.1 ms instead of 3.55, 2.00 x too much\n\
                     * City, 1 core: 7.1 ms instead of 7, 1.01 x too much\n\n| | cores |";
        assert!(page.starts_with(start), "{page}");
    }

    #[test]
    fn without_misses_the_page_says_so() {
        let page = text(&processes(), &[token_ring()]);
        assert!(page.starts_with("# Processes\n\nEvery target is reached.\n\n|"));
    }

    #[test]
    fn what_failed_is_a_miss() {
        let failed = Row { drystone: None, ..token_ring() };
        assert!(misses(&processes(), &[failed]).contains("* TokenRing, 1 core: Drystone failed"));
    }
}
