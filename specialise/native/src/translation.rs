//! The state of translating a function to Cranelift's IR.

use crate::error::{Attempt, place, refuse};
use crate::unit::Unit;
use cranelift_codegen::ir::{self as clif, FuncRef, GlobalValue, StackSlot, Value};
use cranelift_frontend::FunctionBuilder;
use cranelift_module::{FuncId, Module as _};
use drystone_specialise::ir::{BlockId, Body, Function, GlobalId, Terminator, ValueId};
use std::collections::HashMap;

/// How a value is held.
#[derive(Clone, Debug)]
pub(crate) enum Held {
    /// A scalar.
    One(Value),
    /// An address some bytes after another, which loads and stores add by themselves.
    Beyond(Value, i32),
    /// The scalars of an aggregate.
    Many(Vec<Value>),
}

impl Held {
    /// A value of these scalars.
    pub fn of(values: Vec<Value>) -> Held {
        match values[..] {
            [one] => Held::One(one),
            _ => Held::Many(values),
        }
    }
}

/// An instruction's position; the one past the last is the terminator.
#[derive(Clone, Copy)]
pub(crate) struct At {
    /// Its block.
    pub block: BlockId,
    /// Its place in the block.
    pub instruction: usize,
}

impl At {
    /// The instruction in words, for a message.
    pub fn describe(self, module: &drystone_specialise::ir::Module, body: &Body) -> Option<String> {
        let block = body.blocks.get(self.block.0 as usize)?;
        let (what, source) = match block.instructions.get(self.instruction) {
            Some(instruction) => (instruction.op.word(), instruction.place),
            None => (terminator_word(&block.terminator), block.place),
        };
        let source = place(module, source).map(|source| format!(" ({source})")).unwrap_or_default();
        Some(format!("block {}, instruction {}, `{what}`{source}", self.block.0, self.instruction))
    }
}

/// A function on its way into Cranelift's form.
pub(crate) struct Translation<'a, 'b, 'm> {
    /// Where instructions are added.
    pub builder: FunctionBuilder<'a>,
    /// The module that the function is in.
    pub unit: &'b mut Unit<'m>,
    /// The function.
    pub function: &'b Function,
    /// Its code.
    pub body: &'b Body,
    /// What is known of its values so far.
    pub held: Vec<Option<Held>>,
    /// Cranelift's blocks for those that can be reached.
    pub blocks: Vec<Option<clif::Block>>,
    /// Bytes on the stack so far.
    pub stack: u64,
    /// Blocks to which control can come back.
    pub on_cycle: Vec<bool>,
    functions: HashMap<FuncId, FuncRef>,
    globals: HashMap<GlobalId, GlobalValue>,
    /// The instruction that is being translated.
    pub at: Option<At>,
}

impl<'a, 'b, 'm> Translation<'a, 'b, 'm> {
    /// A function of which nothing is translated yet.
    pub fn new(
        builder: FunctionBuilder<'a>,
        unit: &'b mut Unit<'m>,
        function: &'b Function,
        body: &'b Body,
    ) -> Translation<'a, 'b, 'm> {
        Translation {
            builder,
            unit,
            function,
            body,
            held: vec![None; body.types.len()],
            blocks: vec![None; body.blocks.len()],
            stack: 0,
            on_cycle: Vec::new(),
            functions: HashMap::new(),
            globals: HashMap::new(),
            at: None,
        }
    }

    /// Says what a value of the function is.
    pub fn define(&mut self, value: ValueId, held: Held) -> Attempt<()> {
        match self.held.get_mut(value.0 as usize) {
            Some(place) => {
                *place = Some(held);
                Ok(())
            }
            None => refuse(format!("value {} has no type in the body's list", value.0)),
        }
    }

    /// How this function calls another one.
    pub fn function_reference(&mut self, id: FuncId) -> FuncRef {
        let Translation { functions, unit, builder, .. } = self;
        *functions.entry(id).or_insert_with(|| unit.jit.declare_func_in_func(id, builder.func))
    }

    /// How this function names a global variable.
    pub fn global_reference(&mut self, id: GlobalId) -> Attempt<GlobalValue> {
        if let Some(known) = self.globals.get(&id) {
            return Ok(*known);
        }
        let data = self.unit.global(id)?;
        let known = self.unit.jit.declare_data_in_func(data, self.builder.func);
        self.globals.insert(id, known);
        Ok(known)
    }

    /// A new place on the stack.
    pub fn slot(&mut self, size: u64, align: u64) -> Attempt<StackSlot> {
        /// The most bytes that a function may have on the stack.
        const MOST: u64 = 64 << 20;
        self.stack = self.stack.saturating_add(size).saturating_add(align);
        if self.stack > MOST {
            return refuse(format!("the function needs more than {MOST} bytes on the stack"));
        }
        let data = clif::StackSlotData::new(
            clif::StackSlotKind::ExplicitSlot,
            size as u32,
            align.trailing_zeros().min(4) as u8,
        );
        Ok(self.builder.create_sized_stack_slot(data))
    }
}

fn terminator_word(terminator: &Terminator) -> String {
    let word = match terminator {
        Terminator::Return(_) => "ret",
        Terminator::Jump(_) | Terminator::Branch(..) => "br",
        Terminator::Switch(..) => "switch",
        Terminator::Unreachable => "unreachable",
    };
    word.to_owned()
}
