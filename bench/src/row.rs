//! A row of figures: Drystone, its peers, and the target.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use crate::statistics::{Figure, rounded};

/// Which direction is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// Times and sizes.
    Lower,
    /// Rates.
    Higher,
}

/// Receives each row.
pub type Tell<'a> = &'a mut dyn FnMut(Row) -> Result<(), String>;

/// A row. As JSON, its names and their order are the bench's contract.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// What is measured.
    pub row: String,
    /// The number of processors.
    pub cores: usize,
    /// The unit of all figures.
    pub unit: &'static str,
    /// Which way is better.
    pub better: Better,
    /// `None`: it failed.
    pub drystone: Option<Figure>,
    /// By name; `None`: the peer could not run.
    pub peers: BTreeMap<&'static str, Option<Figure>>,
    /// Drystone's target.
    pub target: Option<f64>,
    /// A remark on Drystone's figure, for the page.
    #[serde(skip)]
    pub note: String,
    /// Each run of each contender, Drystone included, where single runs are shown.
    #[serde(skip)]
    pub runs: BTreeMap<&'static str, Vec<f64>>,
}

impl Row {
    /// A row for one core, without figures and target; less is better.
    pub fn new(row: String, unit: &'static str) -> Row {
        Row {
            row,
            cores: 1,
            unit,
            better: Better::Lower,
            drystone: None,
            peers: BTreeMap::new(),
            target: None,
            note: String::new(),
            runs: BTreeMap::new(),
        }
    }

    /// The row as a line of JSON.
    pub fn json(&self) -> String {
        serde_json::to_string(self).expect("a row is numbers and names")
    }

    /// The best of the peers' figures.
    pub fn best_peer(&self) -> Option<f64> {
        self.best(self.peers.values().flatten().map(|figure| figure.value))
    }

    /// The best of some figures.
    pub fn best(&self, values: impl Iterator<Item = f64>) -> Option<f64> {
        match self.better {
            Better::Lower => values.min_by(f64::total_cmp),
            Better::Higher => values.max_by(f64::total_cmp),
        }
    }

    /// How many times better Drystone is than a figure.
    pub fn gain_over(&self, figure: f64) -> Option<f64> {
        let drystone = self.drystone?.value;
        let gain = match self.better {
            Better::Lower => figure / drystone,
            Better::Higher => drystone / figure,
        };
        Some(gain).filter(|gain| !gain.is_nan())
    }

    /// The factor by which the target is missed, if it is.
    pub fn miss(&self) -> Option<f64> {
        self.gain_over(self.target?).filter(|&gain| gain < 1.0).map(|gain| 1.0 / gain)
    }
}

/// For people who watch the measurement.
impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let show = |figure: &Option<Figure>| {
            figure.map_or("-".to_string(), |figure| rounded(figure.value).to_string())
        };
        write!(f, "{}, {}: drystone {}", self.row, cores(self.cores), show(&self.drystone))?;
        for (name, figure) in &self.peers {
            write!(f, ", {name} {}", show(figure))?;
        }
        if let Some(target) = self.target {
            write!(f, ", target {}", rounded(target))?;
        }
        write!(f, " {}", self.unit)?;
        if self.note.is_empty() { Ok(()) } else { write!(f, " ({})", self.note) }
    }
}

/// `1 core`, `2 cores`.
pub fn cores(n: usize) -> String {
    format!("{n} core{}", if n == 1 { "" } else { "s" })
}

#[cfg(test)]
pub mod tests {
    use super::*;

    pub fn token_ring() -> Row {
        Row {
            drystone: Some(Figure { value: 7.1, low: 7.0, high: 7.25 }),
            peers: BTreeMap::from([("go-mirror", Some(Figure::single(209.3))), ("tokio-mirror", None)]),
            target: Some(8.0),
            ..Row::new("TokenRing".into(), "ms")
        }
    }

    #[test]
    fn a_row_as_json_is_as_the_contract_says() {
        let json = concat!(
            r#"{"row":"TokenRing","cores":1,"unit":"ms","better":"lower","drystone":7.1,"#,
            r#""peers":{"go-mirror":209.3,"tokio-mirror":null},"target":8.0}"#
        );
        assert_eq!(token_ring().json(), json);
    }

    #[test]
    fn a_target_that_is_reached_is_not_missed() {
        assert_eq!(token_ring().miss(), None);
    }

    #[test]
    fn a_miss_is_the_factor_to_the_target() {
        assert_eq!(Row { target: Some(3.55), ..token_ring() }.miss(), Some(2.0));
        let creation = Row { better: Better::Higher, target: Some(14.2), ..token_ring() };
        assert_eq!(creation.miss(), Some(2.0));
    }

    #[test]
    fn the_best_peer_is_the_quickest() {
        let mut row = token_ring();
        row.peers.insert("go-best", Some(Figure::single(100.0)));
        assert_eq!(row.best_peer(), Some(100.0));
        assert_eq!(Row { better: Better::Higher, ..row }.best_peer(), Some(209.3));
    }
}
