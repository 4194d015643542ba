//! Writes the README's figures between two marks: the headline rows on one core, with the best mirror and the best
//! design of any peer.

use std::fmt::Write;
use std::fs;

use crate::places;
use crate::row::Row;
use crate::statistics::{Figure, rounded};

const BEGIN: &str = "<!-- figures: written by `cargo run --release -p drystone-bench -- processes` -->\n";
const END: &str = "<!-- end of the figures -->\n";

/// Writes the rows.
pub fn write(rows: &[Row]) -> Result<(), String> {
    let path = places::root().join("README.md");
    let fail = |error: std::io::Error| format!("{}: {error}", path.display());
    let text = fs::read_to_string(&path).map_err(fail)?;
    let text =
        with_table(&text, &table(rows)).ok_or_else(|| format!("{}: no place for figures", path.display()))?;
    fs::write(&path, text).map_err(fail)
}

fn with_table(text: &str, table: &str) -> Option<String> {
    let (before, rest) = text.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n{table}\n{END}{after}"))
}

fn table(rows: &[Row]) -> String {
    let headline = |row: &&Row| row.cores == 1 && !row.row.contains(": ") && !row.row.contains("ten million");
    let rows: Vec<&Row> = rows.iter().filter(headline).filter(|row| !is_further(&row.row)).collect();
    let mut table = String::from(
        "| one core | | Drystone | Go | Java | Erlang | tokio | quickest design of any peer |\n\
         |---|---|--:|--:|--:|--:|--:|--:|\n",
    );
    for row in rows {
        let mirror = |name| row.peers.get(name).copied().flatten();
        let any = quickest(row);
        let figures = [
            row.drystone,
            mirror("go-mirror"),
            mirror("java-mirror"),
            mirror("erlang-mirror"),
            mirror("tokio-mirror"),
            any.map(|(_, figure)| figure),
        ];
        let best = row.best(figures.iter().flatten().map(|figure| figure.value));
        let mut cells = figures.map(|figure| cell(figure, best));
        if let (Some((name, _)), Some(last)) = (any, cells.last_mut()) {
            *last += &format!(" ({})", name.trim_end_matches("-best"));
        }
        let _ = writeln!(table, "| {} | {} | {} |", row.row, row.unit, cells.join(" | "));
    }
    table
}

/// The best peer that isn't a mirror.
fn quickest(row: &Row) -> Option<(&'static str, Figure)> {
    let others = row.peers.iter().filter(|(name, _)| !name.ends_with("-mirror"));
    let others: Vec<_> = others.filter_map(|(name, figure)| Some((*name, (*figure)?))).collect();
    let best = row.best(others.iter().map(|(_, figure)| figure.value))?;
    others.into_iter().find(|(_, figure)| figure.value == best)
}

/// Rows besides the headline ones begin with a small letter, and have names of several words.
fn is_further(row: &str) -> bool {
    let headlines = [
        "bytes per process",
        "creation",
        "jitter",
        "http keep-alive 50",
        "http keep-alive 1000",
        "key-value pipelined",
        "word count",
        "parallel job",
    ];
    !headlines.contains(&row) && row.starts_with(char::is_lowercase)
}

/// A cell, in bold for the best of its row.
fn cell(figure: Option<Figure>, best: Option<f64>) -> String {
    let Some(figure) = figure else { return String::new() };
    let text = rounded(figure.value).to_string();
    if Some(figure.value) == best { format!("**{text}**") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::tests::token_ring;

    #[test]
    fn figures_replace_those_that_were_there() {
        let text = format!("a\n{BEGIN}old\n{END}b\n");
        assert_eq!(with_table(&text, "new\n").unwrap(), format!("a\n{BEGIN}\nnew\n\n{END}b\n"));
        assert_eq!(with_table("nothing", "new"), None);
    }

    #[test]
    fn headline_rows_on_one_core_are_shown() {
        let further = Row { row: "cold TokenRing".into(), ..token_ring() };
        let two = Row { cores: 2, ..token_ring() };
        let lines: Vec<String> = table(&[token_ring(), further, two]).lines().map(String::from).collect();
        assert_eq!(lines[2..], ["| TokenRing | ms | **7.1** | 209.3 |  |  |  |  |"]);
    }

    #[test]
    fn the_best_of_a_row_is_bold_whoever_it_is() {
        let mut row = token_ring();
        row.peers.insert("go-best", Some(Figure::single(5.0)));
        row.peers.insert("tokio-best", Some(Figure::single(6.0)));
        let shown = table(&[row]);
        assert!(shown.ends_with("| TokenRing | ms | 7.1 | 209.3 |  |  |  | **5** (go) |\n"), "{shown}");
    }
}
