//! Measures contenders in turns, so that disturbances meet all of them.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::statistics::Figure;

/// A contender and its measurement.
pub type Turn<'a> = (&'static str, &'a dyn Fn() -> Result<f64, String>);

/// Measures all of them in so many rounds; after `budget` no further round begins. A contender that fails has no
/// figure, and the reason is reported.
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
