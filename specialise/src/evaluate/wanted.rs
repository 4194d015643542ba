//! Live values of a path. Paths that meet may differ in others.

use super::state::State;
use crate::ir::{BlockId, FunctionId, ValueId};
use std::collections::HashMap;
use std::rc::Rc;

/// The values that are wanted at each place that was asked for: before an instruction of a function that stands on top,
/// or behind the call that it is in.
#[derive(Default)]
pub(super) struct Wanted {
    known: HashMap<(FunctionId, BlockId, usize, bool), Rc<[ValueId]>>,
}

impl Wanted {
    /// The values of a frame that are still wanted where it stands.
    pub fn of(&mut self, state: &State, depth: usize) -> Rc<[ValueId]> {
        let frame = &state.frames[depth];
        let top = depth + 1 == state.frames.len();
        let key = (frame.function, frame.block, frame.index, top);
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let code = &frame.body.blocks[frame.block.0 as usize];
        let phis = code.phi_count();
        let wanted: Rc<[ValueId]> = if top && frame.index == phis {
            frame.flow.live_at(frame.block).iter().collect()
        } else if top {
            frame.flow.live_before(&frame.body, frame.block, frame.index).iter().collect()
        } else {
            let result = code.instructions[frame.index].result;
            let live = frame.flow.live_before(&frame.body, frame.block, frame.index + 1);
            live.iter().filter(|value| Some(*value) != result).collect()
        };
        self.known.insert(key, wanted.clone());
        wanted
    }
}
