//! Contenders that are measured in turns, so that what else goes on meets all of them.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::statistics::Figure;

/// A contender, and what measures it once.
pub type Turn<'a> = (&'static str, &'a dyn Fn() -> Result<f64, String>);

/// Asks all of them in so many rounds; none begins after that time. Who fails has no figure, and it is told why.
pub fn by_turns(rounds: usize, budget: Duration, turns: &[Turn]) -> BTreeMap<&'static str, Option<Figure>> {
    let mut samples: Vec<Option<Vec<f64>>> = turns.iter().map(|_| Some(Vec::new())).collect();
    let start = Instant::now();
    for round in 0..rounds {
        if round > 0 && start.elapsed() > budget {
            break;
        }
        for ((name, measure), samples) in turns.iter().zip(&mut samples) {
            let Some(known) = samples else { continue };
            match measure() {
                Ok(figure) => known.push(figure),
                Err(why) => {
                    eprintln!("{name} has no figure: {why}");
                    *samples = None;
                }
            }
        }
    }
    let figures = samples.into_iter().map(|samples| Figure::of(&samples?));
    turns.iter().map(|(name, _)| *name).zip(figures).collect()
}
