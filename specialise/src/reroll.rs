//! Re-rolls long runs of equal groups of instructions into counted loops. The evaluator unrolls every loop with known
//! bounds, so that a copy of a thousand elements arrives here as a thousand copies.
//!
//! A run keeps the order of its effects. Each operand of a repetition must follow from the number of the repetition: it
//! is the same each time, or a result of the same or of the previous repetition, or a number that grows by a constant
//! step. Fills and copies without gaps become one `memset` or `memcpy`. For `memcpy`, source and destination must be
//! known not to overlap.
//!
//! Nested runs are not searched for.

mod alike;
mod bulk;
mod counted;
mod draft;
mod fit;
mod gather;
mod periods;
mod rewrite;
mod steps;

pub use bulk::Bulk;

use crate::ir::Body;
use crate::tidy::{Roots, Surroundings};

/// Turns the runs in all blocks into loops. Where that finds more runs, the instructions of a block are reordered first
/// (`gather`). The time is proportional to the size of the function. The body must be tidied before (addresses must
/// be folded) and afterwards.
pub fn reroll(body: &mut Body, around: &Surroundings, bulk: &Bulk) {
    let mut fresh = draft::Fresh::after(body.types.len());
    let roots = Roots::new(body, around);
    let scene = bulk::Scene { around, roots: &roots, bulk };
    let all: Vec<usize> = (0..body.blocks.len()).collect();
    let mut changes = find_all(body, &all, &scene, &mut fresh);
    // A block that mostly becomes loops need not be reordered.
    let is_loose = |at: &usize| 2 * replaced(&changes[*at]) < body.blocks[*at].instructions.len();
    let loose: Vec<usize> = all.into_iter().filter(is_loose).collect();
    let mut gathered = gather::gathered(body, &loose, around, &roots);
    for (at, others) in loose.iter().zip(find_all(&gathered, &loose, &scene, &mut fresh)) {
        if replaced(&others) > replaced(&changes[*at]) {
            std::mem::swap(&mut body.blocks[*at], &mut gathered.blocks[*at]);
            changes[*at] = others;
        }
    }
    if changes.iter().any(|changes| !changes.is_empty()) {
        rewrite::rewrite(body, changes, fresh);
    }
}

/// The runs of some blocks, each with its replacement.
fn find_all(
    body: &Body,
    blocks: &[usize],
    scene: &bulk::Scene,
    fresh: &mut draft::Fresh,
) -> Vec<Vec<rewrite::Change>> {
    let uses = steps::Uses::new(body);
    let mut position = vec![steps::NOWHERE; body.types.len()];
    let mut all = Vec::new();
    for at in blocks {
        let steps = steps::Steps::new(body, *at, &uses, scene.around, position);
        all.push(find(&steps, scene, fresh));
        position = steps.into_position();
    }
    all
}

/// The runs of a block, each with its replacement.
fn find(steps: &steps::Steps, scene: &bulk::Scene, fresh: &mut draft::Fresh) -> Vec<rewrite::Change> {
    let mut changes = Vec::new();
    periods::each_run(steps, |run| {
        let runs = fit::fit(steps, run);
        let end = runs.last().map(|run| run.end());
        changes.extend(runs.iter().filter_map(|run| bulk::choose(steps, run, scene, fresh)));
        end
    });
    changes
}

/// The number of instructions that the changes remove.
fn replaced(changes: &[rewrite::Change]) -> usize {
    changes.iter().map(rewrite::Change::replaced).sum()
}
