//! Predecessors and definitions of a body.

use super::{BlockId, Body};

impl Body {
    /// The predecessors of each block, once for each edge.
    pub fn predecessors(&self) -> Vec<Vec<BlockId>> {
        let mut predecessors = vec![Vec::new(); self.blocks.len()];
        for (at, block) in self.blocks.iter().enumerate() {
            let from = BlockId(at as u32);
            block.terminator.successors().for_each(|to| predecessors[to.0 as usize].push(from));
        }
        predecessors
    }

    /// The block and position at which each value is defined; `None` for parameters.
    pub fn definitions(&self) -> Vec<Option<(usize, usize)>> {
        let mut places = vec![None; self.types.len()];
        for (block, code) in self.blocks.iter().enumerate() {
            for (index, instruction) in code.instructions.iter().enumerate() {
                if let Some(result) = instruction.result {
                    places[result.0 as usize] = Some((block, index));
                }
            }
        }
        places
    }
}
