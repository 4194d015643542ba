//! Re-rolls long runs of equal groups of instructions into counted loops. The evaluator unrolls every loop with known
//! bounds, so that a copy of a thousand elements arrives here as a thousand copies.
//!
//! A run keeps the order of its effects. Each operand of a repetition must follow from the number of the repetition: it
//! is the same each time, a result of the same or of the previous repetition, or a number that grows by a constant
//! step. Fills and copies without gaps become one `memset` or `memcpy`; for `memcpy`, source and destination must be
//! known not to overlap.
//!
//! Runs inside of runs are not looked for.

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

/// Makes loops of the runs in all blocks, as they stand or, where that finds more, with what belongs together gathered.
/// Time grows with the size of the function, not faster. The body is to be tidied before (addresses must be folded) and
/// afterwards.
pub fn reroll(body: &mut Body, around: &Surroundings, bulk: &Bulk) {
    let mut fresh = draft::Fresh::after(body.types.len());
    let roots = Roots::new(body, around);
    let scene = bulk::Scene { around, roots: &roots, bulk };
    let all: Vec<usize> = (0..body.blocks.len()).collect();
    let mut changes = find_all(body, &all, &scene, &mut fresh);
    // What becomes loops for the most part is well as it stands.
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

/// The runs of some blocks and what becomes of each.
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

/// The runs of a block and what becomes of each.
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

/// How many instructions go when a block is changed.
fn replaced(changes: &[rewrite::Change]) -> usize {
    changes.iter().map(rewrite::Change::replaced).sum()
}
