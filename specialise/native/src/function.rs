//! Translates the body of a function to Cranelift's IR, block by block.

use crate::error::{Attempt, NativeError, refuse};
use crate::shape;
use crate::translation::{At, Held, Translation};
use crate::unit::Unit;
use crate::{abi, flow};
use cranelift_codegen::Context;
use cranelift_codegen::ir::{InstBuilder, TrapCode};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_module::Module as _;
use drystone_specialise::ir::{
    Block, BlockId, Body, Function, FunctionId, Instruction, Op, Terminator, Type, ValueId,
};

/// What is reused from one function to the next.
pub(crate) struct Workshop {
    context: Context,
    builder: FunctionBuilderContext,
}

impl Default for Workshop {
    fn default() -> Workshop {
        Workshop { context: Context::new(), builder: FunctionBuilderContext::new() }
    }
}

impl Workshop {
    /// Makes the code of a function.
    pub fn define(
        &mut self,
        unit: &mut Unit,
        id: FunctionId,
        function: &Function,
        body: &Body,
    ) -> Result<(), NativeError> {
        let at_large = |refusal: crate::error::Refusal| refusal.in_function(&function.name, None);
        let known = unit.function(id).map_err(at_large)?;
        self.context.clear();
        self.context.func.signature = abi::of_function(function).map_err(at_large)?;
        let module = unit.module;
        let builder = FunctionBuilder::new(&mut self.context.func, &mut self.builder);
        let mut translation = Translation::new(builder, unit, function, body);
        let outcome = translation.translate();
        let at = translation.at;
        let Translation { builder, unit, .. } = translation;
        if let Err(refusal) = outcome {
            self.builder = FunctionBuilderContext::new();
            return Err(refusal.in_function(&function.name, at.and_then(|at| at.describe(module, body))));
        }
        builder.finalize(unit.jit.target_config());
        unit.jit.define_function(known, &mut self.context).map_err(|error| at_large(error.into()))
    }
}

impl Translation<'_, '_, '_> {
    fn translate(&mut self) -> Attempt<()> {
        let graph = flow::graph(self.body)?;
        let order: Vec<BlockId> = graph.order.iter().map(|&block| BlockId(block as u32)).collect();
        self.on_cycle = graph.on_cycles();
        self.begin_blocks(&order)?;
        self.take_parameters()?;
        for &id in &order {
            let block = &self.body.blocks[id.0 as usize];
            self.builder.switch_to_block(self.blocks[id.0 as usize].expect("it can be reached"));
            for (instruction, what) in block.instructions.iter().enumerate() {
                self.at = Some(At { block: id, instruction });
                self.instruction(id, what)?;
            }
            self.at = Some(At { block: id, instruction: block.instructions.len() });
            self.terminator(id, block)?;
        }
        self.at = None;
        self.builder.seal_all_blocks();
        Ok(())
    }

    fn begin_blocks(&mut self, order: &[BlockId]) -> Attempt<()> {
        for (number, &id) in order.iter().enumerate() {
            let clif_block = self.builder.create_block();
            self.blocks[id.0 as usize] = Some(clif_block);
            let block = &self.body.blocks[id.0 as usize];
            if number > 0 && matches!(block.terminator, Terminator::Unreachable) {
                self.builder.set_cold_block(clif_block);
            }
            for (at, phi) in block.instructions.iter().enumerate() {
                let (Op::Phi(_), Some(result)) = (&phi.op, phi.result) else { break };
                self.at = Some(At { block: id, instruction: at });
                if number == 0 {
                    return refuse("a phi can't stand in the entry block");
                }
                let mut values = Vec::new();
                for leaf in shape::leaves(&phi.ty)? {
                    values.push(self.builder.append_block_param(clif_block, shape::register(&leaf.ty)?));
                }
                self.define(result, Held::of(values))?;
            }
        }
        Ok(())
    }

    fn take_parameters(&mut self) -> Attempt<()> {
        self.at = None;
        let entry = self.blocks[0].expect("the entry can be reached");
        self.builder.append_block_params_for_function_params(entry);
        self.builder.switch_to_block(entry);
        let mut given = self.builder.block_params(entry).to_vec().into_iter();
        for (at, param) in self.function.params.iter().enumerate() {
            let mut values = Vec::new();
            for leaf in shape::leaves(&param.ty)? {
                let Some(value) = given.next() else {
                    return refuse("its parameters don't fit its signature");
                };
                // Whoever calls may leave anything in the bits beyond the width, unless he is told not to.
                let value = match (&leaf.ty, param.attributes.extension) {
                    (Type::Int(bits), None | Some(drystone_specialise::ir::Extension::Sign)) => {
                        self.trimmed(value, *bits)
                    }
                    _ => value,
                };
                values.push(value);
            }
            self.define(ValueId(at as u32), Held::of(values))?;
        }
        Ok(())
    }

    fn instruction(&mut self, block: BlockId, instruction: &Instruction) -> Attempt<()> {
        let Instruction { result, ty, op, .. } = instruction;
        let held = match op {
            Op::Phi(_) => return Ok(()),
            Op::Binary(operation, a, b) => self.arithmetic(*operation, a, b)?,
            Op::FNeg(a) => {
                let a = self.scalar(a)?;
                Held::One(self.builder.ins().fneg(a))
            }
            Op::Compare(comparison, a, b) => Held::One(self.compare(*comparison, a, b)?),
            Op::FloatCompare(comparison, a, b) => Held::One(self.float_compare(*comparison, a, b)?),
            Op::Cast(cast, a) => Held::One(self.cast(*cast, a, ty)?),
            Op::Select(condition, a, b) => self.select(condition, a, b)?,
            Op::Freeze(a) => Held::of(self.parts(a)?),
            Op::Load { from, align, access } => self.load(ty, from, *align, *access)?,
            Op::Store { value, to, align, access } => return self.store(value, to, *align, *access),
            Op::Alloca { size, count, align } => Held::One(self.alloca(block, *size, count, *align)?),
            Op::Address { base, offset, terms } => self.address_of(base, *offset, terms)?,
            Op::Call { callee, args, variadic, attributes } => {
                let values = self.call(ty, callee, args, *variadic, attributes)?;
                Held::of(values)
            }
            Op::ExtractValue(from, path) => {
                let range = shape::part(&self.body.type_of(from), path)?;
                Held::of(self.parts(from)?[range].to_vec())
            }
            Op::InsertValue(into, value, path) => {
                let range = shape::part(&self.body.type_of(into), path)?;
                let mut parts = self.parts(into)?;
                parts.splice(range, self.parts(value)?);
                Held::of(parts)
            }
            Op::ExtractElement(..) | Op::InsertElement(..) | Op::Shuffle(..) => {
                return refuse(
                    "vectors can't be compiled; compile the C code with -fno-vectorize -fno-slp-vectorize",
                );
            }
            Op::AtomicUpdate(operation, at, value) => Held::One(self.atomic_update(operation, at, value)?),
            Op::CompareExchange(at, expected, new) => self.compare_exchange(at, expected, new)?,
            Op::Fence => {
                self.builder.ins().fence();
                return Ok(());
            }
        };
        match result {
            Some(result) => self.define(*result, held),
            None => Ok(()),
        }
    }

    fn terminator(&mut self, id: BlockId, block: &Block) -> Attempt<()> {
        match &block.terminator {
            Terminator::Return(value) => {
                let values = match value {
                    Some(value) => self.parts(value)?,
                    None => Vec::new(),
                };
                let values = match (self.function.result_extension, &self.function.result) {
                    (Some(drystone_specialise::ir::Extension::Sign), Type::Int(bits))
                        if values.len() == 1 =>
                    {
                        vec![self.signed(values[0], *bits)]
                    }
                    _ => values,
                };
                self.builder.ins().return_(&values);
                Ok(())
            }
            Terminator::Jump(to) => self.jump(id, *to),
            Terminator::Branch(condition, yes, no) => self.branch(id, condition, *yes, *no),
            Terminator::Switch(value, otherwise, cases) => self.switch(id, value, *otherwise, cases),
            Terminator::Unreachable => {
                self.builder.ins().trap(TrapCode::unwrap_user(1));
                Ok(())
            }
        }
    }
}
