//! The page's section on how much run times vary.

use crate::curves::{Curve, Panel, svg};
use crate::page::Section;
use crate::row::{Row, cores};
use crate::statistics::sorted;

const PLOT: &str = "processes-jitter.svg";

/// Every run of every contender, if there are such rows.
pub fn section(rows: &[Row]) -> Result<Option<Section>, String> {
    let panels: Vec<Panel> = rows.iter().filter(|row| !row.runs.is_empty()).map(panel).collect();
    if panels.is_empty() {
        return Ok(None);
    }
    let text = format!(
        "![The runs of a small ring, the slowest first]({PLOT})\n\n\
         All runs of TokenRing (100 nodes, 1000 rounds), the paper's Figure 4: how many medians of its \
         process a run takes, the slowest run at the left, then the second slowest, and so on.\n"
    );
    Ok(Some(Section { title: "How much run times vary", text, plot: Some((PLOT, svg(&panels, 2)?)) }))
}

fn panel(row: &Row) -> Panel {
    let curves = row.runs.iter().map(|(name, runs)| {
        let slowest_first = sorted(runs).into_iter().rev();
        Curve { name: name.to_string(), points: (1..).map(f64::from).zip(slowest_first).collect() }
    });
    Panel { title: format!("run / median, {}", cores(row.cores)), curves: curves.collect() }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::row::tests::token_ring;

    #[test]
    fn the_slowest_run_stands_first() {
        let row = Row { runs: BTreeMap::from([("drystone", vec![1.0, 18.0, 0.9])]), ..token_ring() };
        assert_eq!(panel(&row).curves[0].points, [(1.0, 18.0), (2.0, 1.0), (3.0, 0.9)]);
    }

    #[test]
    fn other_rows_make_no_section() {
        assert!(section(&[token_ring()]).unwrap().is_none());
    }
}
