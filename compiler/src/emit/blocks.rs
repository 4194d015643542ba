//! Translates the blocks of a segment or procedure in order.

use std::collections::HashMap;

use cranelift_codegen::ir::InstBuilder;
use cranelift_module::Module;

use super::known::KnownElements;
use super::texts::asks_for_bytes;
use super::{Build, Form};
use crate::mir::BlockId;

impl<M: Module> Build<'_, '_, M> {
    /// Translates the blocks of a segment or procedure; the first is entered from the current block. Emits two versions
    /// if that saves tests in loops: a quick one for when all arrays of known size have been made, and a careful one.
    pub(super) fn body(&mut self, blocks: &[BlockId]) {
        let arrays = self.arrays_used_in_loops(blocks);
        if let Some(made) = self.all_known_arrays_are_made(&arrays) {
            let (quick, careful) = (self.builder.create_block(), self.builder.create_block());
            self.builder.set_cold_block(careful);
            self.builder.ins().brif(made, quick, &[], careful, &[]);
            self.builder.switch_to_block(quick);
            self.look_at_arrays(&arrays, true);
            self.version(blocks);
            self.builder.switch_to_block(careful);
            self.elements_after.clear();
        }
        self.look_at_arrays(&arrays, false);
        self.version(blocks);
        self.finish_shared_blocks();
        self.builder.seal_all_blocks();
    }

    fn version(&mut self, blocks: &[BlockId]) {
        let inlined = self.segment.into_iter().flat_map(|segment| &segment.inlined);
        for &id in inlined {
            let block = self.builder.create_block();
            self.inlined.insert(id, block);
        }
        for &id in blocks {
            let block = self.builder.create_block();
            self.blocks.insert(id, block);
        }
        let first = match self.looks_at_time_slice(blocks[0]) {
            true => self.builder.create_block(),
            false => self.blocks[&blocks[0]],
        };
        self.builder.ins().jump(first, &[]);
        for &id in blocks {
            self.at = id;
            if let Some(&inlined) = self.inlined.get(&id) {
                self.builder.switch_to_block(inlined);
                self.try_suspension(id);
                self.builder.ins().jump(self.blocks[&id], &[]);
            }
            self.builder.switch_to_block(self.blocks[&id]);
            if self.looks_at_time_slice(id) {
                // The function's beginning has looked at the time slice already.
                let go_on = if id == blocks[0] { first } else { self.builder.create_block() };
                self.check_time_slice(id, go_on);
            }
            self.instructions(id);
        }
    }

    /// Whether the block is a loop's header where a time slice may end.
    pub(super) fn looks_at_time_slice(&self, id: BlockId) -> bool {
        self.code().block(id).header_of.is_some() && self.form == Form::Resume
    }

    /// Translates a block without its suspension point.
    pub(super) fn instructions(&mut self, id: BlockId) {
        let block = self.code().block(id);
        self.at = id;
        self.elements = self.known_elements(id);
        self.bytes = None;
        for (index, instruction) in block.instructions.iter().enumerate() {
            self.wants_bytes = asks_for_bytes(&block.instructions[index..]);
            self.instruction(instruction);
        }
        if !self.elements.is_empty() {
            let known = std::mem::take(&mut self.elements);
            self.elements_after.insert(id, known);
        }
        self.end(&block.end);
    }

    /// The elements known at the block's beginning: those of its predecessor, if it has only one.
    fn known_elements(&self, id: BlockId) -> KnownElements {
        if self.arrays.is_empty() || self.inlined.contains_key(&id) {
            return HashMap::new();
        }
        match self.the_cut().predecessors[id.0 as usize][..] {
            [only] => self.elements_after.get(&only).cloned().unwrap_or_default(),
            _ => HashMap::new(),
        }
    }
}
