//! The figures in the README: the headline rows on one core beside the mirrors, between two marks.

use std::fmt::Write;
use std::fs;

use crate::places;
use crate::row::Row;
use crate::statistics::{Figure, rounded};

const BEGIN: &str = "<!-- figures: written by `cargo run --release -p drystone-bench -- processes` -->\n";
const END: &str = "<!-- end of the figures -->\n";

/// Puts the rows there.
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
        "| one core | | Drystone | Go | Java | Erlang | tokio |\n|---|---|--:|--:|--:|--:|--:|\n",
    );
    for row in rows {
        let mirror = |name| cell(row.peers.get(name).copied().flatten());
        let _ = writeln!(
            table,
            "| {} | {} | **{}** | {} | {} | {} | {} |",
            row.row,
            row.unit,
            cell(row.drystone),
            mirror("go-mirror"),
            mirror("java-mirror"),
            mirror("erlang-mirror"),
            mirror("tokio-mirror"),
        );
    }
    table
}

/// Rows besides the headline ones begin with a small letter and have a name of several words.
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

fn cell(figure: Option<Figure>) -> String {
    figure.map_or(String::new(), |figure| rounded(figure.value).to_string())
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
        assert_eq!(lines[2..], ["| TokenRing | ms | **7.1** | 209.3 |  |  |  |"]);
    }
}
