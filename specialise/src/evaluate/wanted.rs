//! The live values of a path. When paths are merged, differences in other values do not matter.

use super::state::State;
use crate::ir::{BlockId, FunctionId, ValueId};
use std::collections::HashMap;
use std::rc::Rc;

/// The live values at each place that has been asked for: before an instruction of the top frame's function, or after
/// the call that another frame is in.
#[derive(Default)]
pub(super) struct Wanted {
    known: HashMap<(FunctionId, BlockId, usize, bool), Rc<[ValueId]>>,
}

impl Wanted {
    /// The values of a frame that are live at its current place.
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
