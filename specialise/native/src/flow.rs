//! Control flow in Cranelift's form: blocks, their parameters, and loops.

use crate::error::{Attempt, refuse};
use crate::translation::Translation;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block as ClifBlock, BlockArg, InstBuilder, Value, types};
use cranelift_frontend::Switch;
use drystone_specialise::graph::{Graph, successors};
use drystone_specialise::ir::{BlockId, Body, Op, Operand};
use std::collections::HashSet;

/// So many cases of a switch are compared with one by one: a jump through a table waits for its load, and is predicted
/// worse.
const FEW: usize = 4;

/// The graph of a body's blocks, if what they say of each other makes sense.
pub(crate) fn graph(body: &Body) -> Attempt<Graph> {
    if body.blocks.is_empty() {
        return refuse("it has no blocks");
    }
    for to in body.blocks.iter().flat_map(|block| block.terminator.successors()) {
        if to.0 as usize >= body.blocks.len() {
            return refuse(format!("there is no block {}", to.0));
        }
        if to.0 == 0 {
            return refuse("no block may lead to the entry");
        }
    }
    Ok(Graph::of(successors(body)))
}

impl Translation<'_, '_, '_> {
    /// Goes on in another block.
    pub fn jump(&mut self, from: BlockId, to: BlockId) -> Attempt<()> {
        let (block, args) = self.edge(from, to)?;
        self.builder.ins().jump(block, &args);
        Ok(())
    }

    /// Goes on in one of two blocks.
    pub fn branch(&mut self, from: BlockId, condition: &Operand, yes: BlockId, no: BlockId) -> Attempt<()> {
        let condition = self.scalar(condition)?;
        let (yes, yes_args) = self.edge(from, yes)?;
        let (no, no_args) = self.edge(from, no)?;
        self.builder.ins().brif(condition, yes, &yes_args, no, &no_args);
        Ok(())
    }

    /// Goes on where a value belongs.
    pub fn switch(
        &mut self,
        from: BlockId,
        operand: &Operand,
        otherwise: BlockId,
        cases: &[(u128, BlockId)],
    ) -> Attempt<()> {
        let bits = self.bits(operand)?;
        if bits > 64 {
            return refuse("a switch on more than 64 bits");
        }
        let value = self.scalar(operand)?;
        let mut targets = Vec::new();
        let mut taken = HashSet::new();
        let mut edges = Vec::new();
        for (case, to) in cases {
            if *case >= 1 << bits || !taken.insert(*case) {
                return refuse(format!(
                    "a switch can't have the case {case} of {bits} bits, or has it twice"
                ));
            }
            targets.push((*case, self.edge_block(*to, &mut edges)?));
        }
        let otherwise = self.edge_block(otherwise, &mut edges)?;
        // Cases with the sign bit set can be compared with when the register is wider only.
        let value = match self.register_of(value) == types::I64 {
            true => value,
            false if cases.iter().any(|(case, _)| case >> (bits - 1) != 0) => {
                self.builder.ins().uextend(types::I64, value)
            }
            false => value,
        };
        if targets.len() <= FEW {
            self.compare_one_by_one(value, &targets, otherwise);
        } else {
            let mut switch = Switch::new();
            targets.into_iter().for_each(|(case, block)| switch.set_entry(case, block));
            switch.emit(&mut self.builder, value, otherwise);
        }
        for (block, to) in edges {
            self.builder.switch_to_block(block);
            self.jump(from, to)?;
        }
        Ok(())
    }

    /// Goes on in the block of the case that a value is.
    fn compare_one_by_one(&mut self, value: Value, targets: &[(u128, ClifBlock)], otherwise: ClifBlock) {
        for (case, block) in targets {
            let next = self.builder.create_block();
            let is_case = self.builder.ins().icmp_imm_s(IntCC::Equal, value, (*case as u64).cast_signed());
            self.builder.ins().brif(is_case, *block, &[], next, &[]);
            self.builder.switch_to_block(next);
        }
        self.builder.ins().jump(otherwise, &[]);
    }

    /// A switch can't hand over values: where there are any, a block in between does so.
    fn edge_block(&mut self, to: BlockId, edges: &mut Vec<(ClifBlock, BlockId)>) -> Attempt<ClifBlock> {
        let has_phis =
            self.body.blocks[to.0 as usize].instructions.first().is_some_and(|i| matches!(i.op, Op::Phi(_)));
        if !has_phis {
            return Ok(self.edge(to, to)?.0);
        }
        if let Some((block, _)) = edges.iter().find(|(_, target)| *target == to) {
            return Ok(*block);
        }
        let block = self.builder.create_block();
        edges.push((block, to));
        Ok(block)
    }

    /// Where a block is, and what it gets when control comes from another one.
    fn edge(&mut self, from: BlockId, to: BlockId) -> Attempt<(ClifBlock, Vec<BlockArg>)> {
        let body = self.body;
        let block = self.blocks[to.0 as usize].expect("the order holds every block that is led to");
        let mut args = Vec::new();
        for instruction in &body.blocks[to.0 as usize].instructions {
            let Op::Phi(incoming) = &instruction.op else { break };
            let Some((operand, _)) = incoming.iter().find(|(_, id)| *id == from) else {
                return refuse(format!("a phi of block {} has no value for block {}", to.0, from.0));
            };
            args.extend(self.parts(operand)?.into_iter().map(BlockArg::Value));
        }
        Ok((block, args))
    }
}
