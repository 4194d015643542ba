//! Measures handlers (*ASHs* (Wallach)): what running code where a message arrives saves, beside processes that poll
//! and processes that wait; and whole services beside other implementations.
//!
//! Most rows are [`Experiment`]s: a work, a number of pending requests, and the parties that do it. Each party's server
//! has a network namespace and a processor of its own, with a pair of interfaces to the client's.

mod autogroup;
mod demultiplexer;
mod effort;
mod experiment;
mod far;
mod increment;
mod near;
mod page;
mod parties;
mod party;
#[cfg(target_arch = "x86_64")]
mod pipes;
mod protocols;
mod work;

use std::cell::RefCell;
use std::collections::BTreeMap;

pub use effort::Effort;
use experiment::{EXPERIMENTS, Experiment, Values};
pub use far::Far;
pub use increment::Increment;
pub use near::Near;
pub use page::page;
use parties::Parties;
use party::Party;

use crate::row::{Better, Row, Tell};
use crate::statistics::{Figure, rounded};
use crate::turns::{Turn, by_turns};

/// Measures row after row.
pub fn measure(effort: Effort, tell: Tell) -> Result<(), String> {
    let mut bench = Bench { effort, parties: Parties::new()?, own: Values::new() };
    for experiment in &EXPERIMENTS {
        bench.rows(experiment, tell)?;
    }
    demultiplexer::rows(effort, tell)?;
    #[cfg(target_arch = "x86_64")]
    pipes::rows(effort, tell)?;
    if effort.is_full { protocols::rows(tell) } else { Ok(()) }
}

/// What all experiments share.
struct Bench {
    effort: Effort,
    parties: Parties,
    /// Drystone's figures of earlier experiments.
    own: Values,
}

impl Bench {
    /// Measures both rows of an experiment.
    fn rows(&mut self, experiment: &Experiment, tell: Tell) -> Result<(), String> {
        let requests = experiment.requests(self.effort);
        let late: RefCell<BTreeMap<&'static str, Vec<f64>>> = RefCell::default();
        let all: Vec<Party> = [&experiment.drystone].into_iter().chain(experiment.peers).copied().collect();
        let measures: Vec<_> = all
            .iter()
            .map(|&party| {
                let (late, parties) = (&late, &self.parties);
                move || {
                    let told = parties.measure(experiment, party, requests)?;
                    late.borrow_mut().entry(party.name()).or_default().push(told.p99);
                    Ok(if experiment.window == 1 { told.median } else { told.rate })
                }
            })
            .collect();
        let turns: Vec<Turn> =
            all.iter().zip(&measures).map(|(party, measure)| (party.name(), measure as _)).collect();
        let figures = by_turns(self.effort.rounds, self.effort.budget, &turns);
        let late = all
            .iter()
            .map(|party| (party.name(), late.borrow().get(party.name()).and_then(|it| Figure::of(it))));
        let (unit, better) = match experiment.window {
            1 => ("us", Better::Lower),
            _ => ("requests/s", Better::Higher),
        };
        let first = row(experiment.name.into(), unit, better, &experiment.drystone, figures);
        let values: Values =
            first.peers.iter().filter_map(|(name, figure)| Some((*name, (*figure)?.value))).collect();
        let target = experiment.target.and_then(|target| target.value(&values, &self.own)).map(rounded);
        self.own.extend(first.drystone.map(|figure| (experiment.name, figure.value)));
        tell(Row { target, ..first })?;
        let name = format!("{}, p99", experiment.name);
        tell(row(name, "us", Better::Lower, &experiment.drystone, late.collect()))
    }
}

fn row(
    name: String,
    unit: &'static str,
    better: Better,
    drystone: &Party,
    mut figures: BTreeMap<&'static str, Option<Figure>>,
) -> Row {
    let drystone = figures.remove(drystone.name()).flatten();
    Row { cores: 2, better, drystone, peers: figures, ..Row::new(name, unit) }
}
