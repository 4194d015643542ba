//! Where control comes from and where values are defined, in a body as it stands.

use super::{BlockId, Body};

impl Body {
    /// The blocks that control comes from, by block; one that may come in two ways is there twice.
    pub fn predecessors(&self) -> Vec<Vec<BlockId>> {
        let mut predecessors = vec![Vec::new(); self.blocks.len()];
        for (at, block) in self.blocks.iter().enumerate() {
            let from = BlockId(at as u32);
            block.terminator.successors().for_each(|to| predecessors[to.0 as usize].push(from));
        }
        predecessors
    }

    /// Where each value is defined: its block and its place among the instructions; parameters have no place.
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
