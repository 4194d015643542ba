//! MIR to Cranelift's IR: one function for each segment, and one for each procedure on the processor's stack.

mod arithmetic;
mod blocks;
mod calls;
mod collections;
mod communication;
mod control;
mod instructions;
mod known;
mod more;
mod procedures;
mod reach;
mod receiving;
mod select;
mod sequences;
mod suspension;
mod texts;

use std::collections::HashMap;

use cranelift_codegen::ir::{
    Block as IrBlock, FuncRef, GlobalValue, InstBuilder, MemFlagsData, SigRef, StackSlot, StackSlotData,
    StackSlotKind, Value, types,
};
use cranelift_frontend::{FunctionBuilder, Variable};
use cranelift_module::{DataId, FuncId, Module};
use drystone_language::program::VariableId;

use crate::descriptors::Descriptors;
use crate::dispatch::trusted;
use crate::mir::*;
use crate::offset;
use crate::segments::{Cut, Segment};
use crate::signatures::ir_type;
use known::{ArrayValues, KnownElements};

/// Tables that all functions of a program share while they are translated.
pub(crate) struct Functions<'a> {
    /// The checked program.
    pub program: &'a drystone_language::program::Program,
    /// All pieces of code, cut into segments; procedure variants come after the bodies.
    pub cuts: &'a [Cut],
    /// Index of the first procedure variant.
    pub first_variant: usize,
    /// The function of each segment of each cut. A native procedure has one, under block 0.
    pub ids: HashMap<(usize, BlockId), FuncId>,
    /// The runtime's entry points.
    pub entries: HashMap<&'static str, FuncId>,
    /// Shims that call the unusual entry points and keep all registers.
    pub unusual: HashMap<&'static str, FuncId>,
    /// The shim that ends a process and switches to the next.
    pub finish: FuncId,
    /// The shim that makes a process await a condition and switches to the next.
    pub wait_for_condition: FuncId,
    /// The shim that makes a process wait for its component's lock and switches to the next.
    pub wait_for_lock: FuncId,
    /// Read-only data.
    pub descriptors: Descriptors,
    /// The sizes of arrays that are made with the same sizes everywhere.
    pub sizes: &'a HashMap<VariableId, Vec<i64>>,
    /// Whether any procedure on the processor's stack makes an array. None deletes one.
    pub natives_make_arrays: bool,
    /// Whether time slices end.
    pub time_slices: TimeSlices,
}

/// Whether code tests for the end of its time slice (*structured concurrent programs*, section 3.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TimeSlices {
    /// At loops and procedure entries, as it must.
    #[default]
    Kept,
    /// Never, to measure the cost of the tests.
    LeftOut,
}

/// Stands for the block that a function's parameters belong to.
const FUNCTION_ENTRY: BlockId = BlockId(u32::MAX);

/// How the function that is being built is called, and how it ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// By dispatch; it ends by dispatching.
    Resume,
    /// By the process that tests the condition; the result is 0, 1, or 2 for a fault.
    Condition,
    /// As a plain call.
    Native,
}

/// Builds one function.
pub(crate) struct Build<'f, 'b, M: Module> {
    module: &'f mut M,
    functions: &'f mut Functions<'b>,
    builder: FunctionBuilder<'f>,
    /// The piece of code, as an index into `cuts`.
    cut: usize,
    form: Form,
    entry: BlockId,
    /// The block that is being translated.
    at: BlockId,
    /// The block that receives the answer of a condition that this segment tests inline.
    answer_to: Option<IrBlock>,
    /// The segment; `None` for a native procedure.
    segment: Option<&'b Segment>,
    /// The segment is known to run at home, because its first operation always does.
    at_home: bool,
    /// Arrays whose elements are used in loops of this function, which neither makes nor deletes any.
    arrays: HashMap<(Base, i32), ArrayValues>,
    /// Elements of these arrays whose addresses are known here.
    elements: KnownElements,
    /// The known elements at the end of each block translated so far.
    elements_after: HashMap<BlockId, KnownElements>,
    /// The text whose length was loaded last in this block, and the address of its bytes.
    bytes: Option<(Reg, Value)>,
    /// The block also uses the bytes of the text whose length is being loaded.
    wants_bytes: bool,
    variables: HashMap<Reg, Variable>,
    blocks: HashMap<BlockId, IrBlock>,
    /// The beginnings of suspension points that this segment tries on its way. `blocks` has what follows each.
    inlined: HashMap<BlockId, IrBlock>,
    worker: Value,
    process: Value,
    frame: Value,
    frame_slot: Option<StackSlot>,
    /// Stack memory for words that an entry point reads, and its size in words.
    words_slot: Option<(StackSlot, usize)>,
    /// Leaves after a fault, or because the operation at the suspension point waits.
    leave: Option<IrBlock>,
    fail: Option<IrBlock>,
    imported: HashMap<FuncId, FuncRef>,
    globals: HashMap<DataId, GlobalValue>,
    signature: Option<SigRef>,
}

/// Translates one segment.
pub(crate) fn segment<M: Module>(
    module: &mut M,
    functions: &mut Functions,
    builder: FunctionBuilder,
    cut: usize,
    index: usize,
) {
    let cuts = functions.cuts;
    let segment: &Segment = &cuts[cut].segments[index];
    let form = if segment.is_condition { Form::Condition } else { Form::Resume };
    let mut build = Build::new(module, functions, builder, cut, form, segment.entry);
    build.segment = Some(segment);
    build.prologue();
    build.load_live(segment);
    build.segment(segment);
    build.finish();
}

/// Translates a procedure that runs on the processor's stack.
pub(crate) fn native<M: Module>(
    module: &mut M,
    functions: &mut Functions,
    builder: FunctionBuilder,
    cut: usize,
) {
    let code = &functions.cuts[cut].code;
    let mut build = Build::new(module, functions, builder, cut, Form::Native, BlockId(0));
    build.prologue();
    for (index, &reg) in code.parameters.iter().enumerate() {
        let value = build.builder.block_params(build.blocks[&FUNCTION_ENTRY])[2 + index];
        build.set(reg, value);
    }
    let all: Vec<BlockId> = (0..code.blocks.len() as u32).map(BlockId).collect();
    build.body(&all);
    build.finish();
}

impl<'f, 'b, M: Module> Build<'f, 'b, M> {
    fn new(
        module: &'f mut M,
        functions: &'f mut Functions<'b>,
        builder: FunctionBuilder<'f>,
        cut: usize,
        form: Form,
        entry: BlockId,
    ) -> Self {
        let nothing = Value::from_u32(0);
        let at_home = functions.cuts[cut].code.block(entry).suspension.is_some();
        Build {
            module,
            functions,
            builder,
            cut,
            form,
            entry,
            at: entry,
            answer_to: None,
            segment: None,
            at_home,
            arrays: HashMap::new(),
            elements: HashMap::new(),
            elements_after: HashMap::new(),
            bytes: None,
            wants_bytes: false,
            variables: HashMap::new(),
            blocks: HashMap::new(),
            inlined: HashMap::new(),
            worker: nothing,
            process: nothing,
            frame: nothing,
            frame_slot: None,
            words_slot: None,
            leave: None,
            fail: None,
            imported: HashMap::new(),
            globals: HashMap::new(),
            signature: None,
        }
    }

    fn code(&self) -> &'b Code {
        let cuts = self.functions.cuts;
        &cuts[self.cut].code
    }

    fn the_cut(&self) -> &'b Cut {
        let cuts = self.functions.cuts;
        &cuts[self.cut]
    }

    /// The entry block: takes the parameters, and finds the frame.
    fn prologue(&mut self) {
        let block = self.builder.create_block();
        self.blocks.insert(FUNCTION_ENTRY, block);
        self.builder.append_block_params_for_function_params(block);
        self.builder.switch_to_block(block);
        self.worker = self.builder.block_params(block)[0];
        self.process = self.builder.block_params(block)[1];
        let code = self.code();
        self.frame = match self.form {
            Form::Native => {
                let data = StackSlotData::new(StackSlotKind::ExplicitSlot, code.frame_size.max(8), 3);
                let slot = self.builder.create_sized_stack_slot(data);
                self.frame_slot = Some(slot);
                self.builder.ins().stack_addr(types::I64, slot, 0)
            }
            _ if code.procedure.is_some() => {
                self.builder.ins().load(types::I64, trusted(), self.process, code.shape.frame as i32)
            }
            _ => self.process,
        };
    }

    fn load_live(&mut self, segment: &Segment) {
        let cut = self.the_cut();
        for &reg in &cut.live[&segment.entry] {
            if segment.touched.contains(&reg) {
                let ty = ir_type(cut.code.registers[reg.0 as usize]);
                let slot = cut.slots[&reg] as i32;
                let value = self.builder.ins().load(ty, trusted(), self.frame, slot);
                self.set(reg, value);
            }
        }
    }

    fn segment(&mut self, segment: &Segment) {
        let code = self.code();
        let block = code.block(segment.entry);
        let begins = code.procedure.is_some() && segment.entry == BlockId(0) && self.form == Form::Resume;
        if begins || block.looks || self.looks_at_time_slice(segment.entry) {
            self.give_way();
        }
        if let Some(point) = &block.suspension {
            self.suspend(point);
        }
        self.body(&segment.blocks);
    }

    fn finish(self) {
        let config = self.module.target_config();
        self.builder.finalize(config);
    }

    fn get(&mut self, reg: Reg) -> Value {
        let variable = self.variable(reg);
        self.builder.use_var(variable)
    }

    fn set(&mut self, reg: Reg, value: Value) {
        self.elements.retain(|(_, _, keys), _| !keys.contains(&reg));
        self.bytes = self.bytes.filter(|&(text, _)| text != reg);
        let variable = self.variable(reg);
        self.builder.def_var(variable, value);
    }

    fn variable(&mut self, reg: Reg) -> Variable {
        if let Some(&variable) = self.variables.get(&reg) {
            return variable;
        }
        let ty = ir_type(self.code().registers[reg.0 as usize]);
        let variable = self.builder.declare_var(ty);
        self.variables.insert(reg, variable);
        variable
    }

    fn instance(&mut self) -> Value {
        let flags = MemFlagsData::trusted().with_readonly().with_can_move();
        self.builder.ins().load(types::I64, flags, self.process, offset::INSTANCE)
    }

    fn base(&mut self, base: Base) -> Value {
        match base {
            Base::Process => self.process,
            Base::Frame => self.frame,
            Base::Instance => self.instance(),
            Base::Reg(reg) => self.get(reg),
        }
    }
}
