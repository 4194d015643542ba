//! Segments to Cranelift's form.

mod arithmetic;
mod collections;
mod communication;
mod heads;
mod instructions;
mod procedures;

use std::collections::HashMap;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    AbiParam, Block as IrBlock, FuncRef, GlobalValue, InstBuilder, MemFlagsData, SigRef, Signature,
    StackSlot, StackSlotData, StackSlotKind, Type as IrType, Value, types,
};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::{FunctionBuilder, Variable};
use cranelift_module::{DataId, FuncId, Module};
use drystone_language::program::VariableId;

use crate::TimeSlices;
use crate::descriptors::Descriptors;
use crate::entries;
use crate::mir::*;
use crate::segments::{Cut, Segment};

/// Offsets of what generated code touches itself; `drystone_runtime::layout` checks them.
pub(crate) mod offset {
    use drystone_runtime::layout::{
        Communication, FrameHead, Instance, OfferedSlot, Process, RequiredSlot, Worker,
    };
    use std::mem::offset_of;

    pub const READY_HEAD: i32 = offset_of!(Worker, ready_head) as i32;
    pub const READY_TAIL: i32 = offset_of!(Worker, ready_tail) as i32;
    pub const ATTENTION: i32 = offset_of!(Worker, attention) as i32;
    pub const AWAY: i32 = offset_of!(Worker, away) as i32;
    pub const RESULT: i32 = offset_of!(Worker, result) as i32;
    pub const SWITCHES: i32 = offset_of!(Worker, switches) as i32;
    pub const MESSAGES: i32 = offset_of!(Worker, messages) as i32;
    pub const ANSWER: i32 = offset_of!(Worker, answer) as i32;
    pub const NESTED: i32 = offset_of!(Worker, nested) as i32;
    pub const RESUME: i32 = offset_of!(Process, resume) as i32;
    pub const NEXT: i32 = offset_of!(Process, next) as i32;
    pub const INSTANCE: i32 = offset_of!(Process, instance) as i32;
    pub const LOCK_HELD: i32 = offset_of!(Process, lock) as i32;
    pub const LOCK: i32 = offset_of!(Instance, lock) as i32;
    pub const WAITER: i32 = offset_of!(Communication, waiter) as i32;
    pub const STATUS: i32 = offset_of!(Process, status) as i32;
    pub const TAG: i32 = WORD + 4;
    pub const WORD: i32 = offset_of!(Communication, word) as i32;
    pub const HOLDER: i32 = offset_of!(OfferedSlot, holder) as i32;
    pub const COMMUNICATION: i32 = offset_of!(RequiredSlot, communication) as i32;
    pub const RETURN_TO: i32 = offset_of!(FrameHead, return_to) as i32;
    pub const OUTER: i32 = offset_of!(FrameHead, outer) as i32;
}

/// What all functions of a program share while they are translated.
pub(crate) struct Functions<'a> {
    /// The checked program.
    pub program: &'a drystone_language::program::Program,
    /// All pieces of code, cut; procedure variants come after the bodies.
    pub cuts: &'a [Cut],
    /// Index of the first procedure variant.
    pub first_variant: usize,
    /// Function of each segment of each cut, or of a native cut under block 0.
    pub ids: HashMap<(usize, BlockId), FuncId>,
    /// Entry points of the runtime.
    pub entries: HashMap<&'static str, FuncId>,
    /// What calls the unusual ones of them and keeps all registers.
    pub unusual: HashMap<&'static str, FuncId>,
    /// What ends a process and goes on with the next.
    pub finish: FuncId,
    /// What makes a process await a condition and goes on with the next.
    pub wait_for_condition: FuncId,
    /// What makes a process wait for its component's lock and goes on with the next.
    pub wait_for_lock: FuncId,
    /// Read-only data.
    pub descriptors: Descriptors,
    /// Arrays that have one size for each dimension whenever they are there.
    pub sizes: &'a HashMap<VariableId, Vec<i64>>,
    /// Whether any procedure on the processor's stack makes an array; none deletes one.
    pub natives_make_arrays: bool,
    /// Whether time slices end.
    pub time_slices: TimeSlices,
}

/// Signature of a resume function.
pub(crate) fn resume_signature() -> Signature {
    let mut signature = Signature::new(CallConv::Tail);
    signature.params.extend([AbiParam::new(types::I64), AbiParam::new(types::I64)]);
    signature
}

/// Signature of a condition function.
pub(crate) fn condition_signature() -> Signature {
    let mut signature = Signature::new(CallConv::SystemV);
    signature.params.extend([AbiParam::new(types::I64), AbiParam::new(types::I64)]);
    signature.returns.push(AbiParam::new(types::I32));
    signature
}

/// Signature of a procedure on the processor's stack: the last result tells whether it has failed.
pub(crate) fn native_signature(code: &Code) -> Signature {
    let mut signature = Signature::new(CallConv::SystemV);
    signature.params.extend([AbiParam::new(types::I64), AbiParam::new(types::I64)]);
    signature
        .params
        .extend(code.parameters.iter().map(|reg| AbiParam::new(ir_type(code.registers[reg.0 as usize]))));
    signature.returns.extend(code.result.map(|ty| AbiParam::new(ir_type(ty))));
    signature.returns.push(AbiParam::new(types::I32));
    signature
}

/// Signature of what calls an unusual entry point: no register is changed, the answer is left in the worker.
pub(crate) fn unusual_signature(entry: &Entry) -> Signature {
    Signature { call_conv: CallConv::PreserveAll, returns: Vec::new(), ..entry_signature(entry) }
}

/// Signature of what calls an entry point that is a process's last, for now, and goes on with the next one.
pub(crate) fn last_signature(entry: &Entry) -> Signature {
    Signature { call_conv: CallConv::Tail, returns: Vec::new(), ..entry_signature(entry) }
}

/// Signature of an entry point of the runtime.
pub(crate) fn entry_signature(entry: &Entry) -> Signature {
    let mut signature = Signature::new(CallConv::SystemV);
    signature.params.extend((0..entries::passed(entry.passes)).map(|_| AbiParam::new(types::I64)));
    signature.params.extend(entry.arguments.iter().map(|&machine| AbiParam::new(machine_type(machine))));
    signature.returns.extend(entry.result.map(|machine| AbiParam::new(machine_type(machine))));
    signature
}

fn machine_type(machine: Machine) -> IrType {
    match machine {
        Machine::I32 => types::I32,
        Machine::I64 => types::I64,
        Machine::F64 => types::F64,
    }
}

fn ir_type(ty: RegType) -> IrType {
    match ty {
        RegType::Int => types::I64,
        RegType::Real => types::F64,
    }
}

/// Addresses of elements, by the array's own place and the registers of the indices.
type KnownElements = HashMap<(Base, i32, Vec<Reg>), Value>;

/// What describes an array, loaded once.
#[derive(Clone)]
pub(crate) struct ArrayValues {
    /// The array itself, 0 if it is not there; none if it is known to be there.
    made: Option<Value>,
    elements: Value,
    /// The size of each dimension.
    sizes: Sizes,
}

/// The sizes of an array.
#[derive(Clone)]
pub(crate) enum Sizes {
    /// What they are at run time.
    Loaded(Vec<Value>),
    /// What they are if it is there.
    Known(Vec<i64>),
}

/// Stands for the block that a function's parameters belong to.
const FUNCTION_ENTRY: BlockId = BlockId(u32::MAX);

/// Calls that a recursive procedure may nest on the processor's stack; elsewhere frames are in the process.
const MOST_NESTED: i64 = 4000;

/// How the function that is being built is called, and so how it ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// By dispatch; ends by dispatching.
    Resume,
    /// By whoever tests the condition: 0, 1, or 2 for a fault.
    Condition,
    /// As a plain call.
    Native,
}

/// Builds one function.
pub(crate) struct Build<'f, 'b, M: Module> {
    module: &'f mut M,
    functions: &'f mut Functions<'b>,
    builder: FunctionBuilder<'f>,
    /// Which piece of code.
    cut: usize,
    form: Form,
    entry: BlockId,
    /// The block that is being translated.
    at: BlockId,
    /// Where the answer of a condition goes that is tested on the way.
    answer_to: Option<IrBlock>,
    /// Which segment; none for a native procedure.
    segment: Option<&'b Segment>,
    /// The segment is known to run at home: it begins with an operation that does.
    at_home: bool,
    /// Arrays whose elements are used in loops of this function, which neither makes nor deletes any.
    arrays: HashMap<(Base, i32), ArrayValues>,
    /// Elements of these arrays that have been looked up on the way to here.
    elements: KnownElements,
    /// The same at the end of each block that has been translated.
    elements_after: HashMap<BlockId, KnownElements>,
    variables: HashMap<Reg, Variable>,
    blocks: HashMap<BlockId, IrBlock>,
    /// Where heads that this segment tries on its way begin; `blocks` has what follows them.
    inlined: HashMap<BlockId, IrBlock>,
    worker: Value,
    process: Value,
    frame: Value,
    frame_slot: Option<StackSlot>,
    /// Memory for words that an entry point reads, and how many fit.
    words_slot: Option<(StackSlot, usize)>,
    /// Leaves after a fault, or because the operation at the head waits.
    leave: Option<IrBlock>,
    fail: Option<IrBlock>,
    imported: HashMap<FuncId, FuncRef>,
    globals: HashMap<DataId, GlobalValue>,
    signature: Option<SigRef>,
}

/// Memory that generated code reads and writes is always there and aligned.
fn trusted() -> MemFlagsData {
    MemFlagsData::trusted()
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
    build.enter_recursion();
    for (index, &reg) in code.parameters.iter().enumerate() {
        let value = build.builder.block_params(build.blocks[&FUNCTION_ENTRY])[2 + index];
        build.set(reg, value);
    }
    let all: Vec<BlockId> = (0..code.blocks.len() as u32).map(BlockId).collect();
    build.body(&all);
    build.finish();
}

/// Goes on with the next ready process, or returns to the scheduler.
pub(crate) fn dispatch(builder: &mut FunctionBuilder, worker: Value) {
    let next = builder.ins().load(types::I64, trusted(), worker, offset::READY_HEAD);
    let (some, run, none) = (builder.create_block(), builder.create_block(), builder.create_block());
    builder.set_cold_block(none);
    builder.ins().brif(next, some, &[], none, &[]);
    builder.switch_to_block(some);
    let attention = attention(builder, worker);
    builder.ins().brif(attention, none, &[], run, &[]);
    builder.switch_to_block(run);
    let after = builder.ins().load(types::I64, trusted(), next, offset::NEXT);
    builder.ins().store(trusted(), after, worker, offset::READY_HEAD);
    count(builder, worker, offset::SWITCHES, 1);
    let resume = builder.ins().load(types::I64, trusted(), next, offset::RESUME);
    let signature = builder.import_signature(resume_signature());
    builder.ins().return_call_indirect(signature, resume, &[worker, next]);
    builder.switch_to_block(none);
    builder.ins().return_(&[]);
}

/// Adds to a counter of the worker.
fn count(builder: &mut FunctionBuilder, worker: Value, counter: i32, by: i64) {
    let value = builder.ins().load(types::I64, trusted(), worker, counter);
    let value = builder.ins().iadd_imm_s(value, by);
    builder.ins().store(trusted(), value, worker, counter);
}

/// Other threads write it: the load must not be merged with another one.
fn attention(builder: &mut FunctionBuilder, worker: Value) -> Value {
    let address = builder.ins().iadd_imm_s(worker, offset::ATTENTION as i64);
    builder.ins().atomic_load(types::I32, MemFlagsData::trusted(), address)
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
        let at_home = functions.cuts[cut].code.block(entry).head.is_some();
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

    /// The entry block: parameters, and where the frame is.
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
        if code.procedure.is_some() && segment.entry == BlockId(0) && self.form == Form::Resume {
            self.check_time_slice(segment.entry);
        }
        if let Some(head) = &block.head {
            self.head(head);
        }
        self.body(&segment.blocks);
    }

    /// Translates the blocks of a segment or procedure, the first of which is entered now: twice, if that saves
    /// tests in loops.
    fn body(&mut self, blocks: &[BlockId]) {
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
        let first = self.blocks[&blocks[0]];
        self.builder.ins().jump(first, &[]);
        for &id in blocks {
            self.at = id;
            if let Some(&inlined) = self.inlined.get(&id) {
                self.builder.switch_to_block(inlined);
                self.try_head(id);
                self.builder.ins().jump(self.blocks[&id], &[]);
            }
            self.builder.switch_to_block(self.blocks[&id]);
            if self.code().block(id).header_of.is_some() && self.form == Form::Resume {
                self.check_time_slice(id);
            }
            self.instructions(id);
        }
    }

    /// What a block does behind its head.
    fn instructions(&mut self, id: BlockId) {
        let block = self.code().block(id);
        self.at = id;
        self.elements = self.known_elements(id);
        for instruction in &block.instructions {
            self.instruction(instruction);
        }
        if !self.elements.is_empty() {
            let known = std::mem::take(&mut self.elements);
            self.elements_after.insert(id, known);
        }
        self.end(&block.end);
    }

    fn finish(self) {
        let config = self.module.target_config();
        self.builder.finalize(config);
    }

    /// What was looked up before a block that can be reached in one way only.
    fn known_elements(&self, id: BlockId) -> KnownElements {
        if self.arrays.is_empty() || self.inlined.contains_key(&id) {
            return HashMap::new();
        }
        match self.the_cut().predecessors[id.0 as usize][..] {
            [only] => self.elements_after.get(&only).cloned().unwrap_or_default(),
            _ => HashMap::new(),
        }
    }

    fn finish_shared_blocks(&mut self) {
        if let Some(fail) = self.fail {
            self.builder.switch_to_block(fail);
            let fault = self.builder.block_params(fail)[0];
            let place = self.builder.block_params(fail)[1];
            self.call_unusual(&entries::FAIL, &[fault, place]);
            let leave = self.leave_block();
            self.builder.ins().jump(leave, &[]);
        }
        if let Some(leave) = self.leave {
            self.builder.switch_to_block(leave);
            match self.form {
                Form::Resume => dispatch(&mut self.builder, self.worker),
                Form::Condition => {
                    let failed = self.builder.ins().iconst(types::I32, 2);
                    self.builder.ins().return_(&[failed]);
                }
                Form::Native => {
                    let mut results = Vec::new();
                    if let Some(ty) = self.code().result {
                        results.push(match ty {
                            RegType::Int => self.builder.ins().iconst(types::I64, 0),
                            RegType::Real => self.builder.ins().f64const(0.0),
                        });
                    }
                    results.push(self.builder.ins().iconst(types::I32, 1));
                    self.leave_recursion();
                    self.builder.ins().return_(&results);
                }
            }
        }
    }

    /// Where to go when the process cannot go on here: a fault has been recorded, or it waits.
    fn leave_block(&mut self) -> IrBlock {
        if let Some(block) = self.leave {
            return block;
        }
        let block = self.builder.create_block();
        self.leave = Some(block);
        block
    }

    /// Where a fault is reported; takes its number and its place.
    fn fail_block(&mut self) -> IrBlock {
        if let Some(block) = self.fail {
            return block;
        }
        let block = self.builder.create_block();
        self.builder.append_block_param(block, types::I32);
        self.builder.append_block_param(block, types::I32);
        self.builder.set_cold_block(block);
        self.fail = Some(block);
        block
    }

    /// Adds to a counter of the worker.
    fn count(&mut self, counter: i32, by: i64) {
        count(&mut self.builder, self.worker, counter, by);
    }

    fn jump_to_address(&mut self, resume: Value, process: Value) {
        let signature = match self.signature {
            Some(signature) => signature,
            None => {
                let signature = self.builder.import_signature(resume_signature());
                self.signature = Some(signature);
                signature
            }
        };
        self.builder.ins().return_call_indirect(signature, resume, &[self.worker, process]);
    }

    /// Saves what the segment that begins there needs, as far as this one has changed it.
    fn save_for(&mut self, to: BlockId) {
        let cut = self.the_cut();
        let Some(segment) = self.segment else { return };
        let loaded = &cut.live[&self.entry];
        for &reg in &cut.live[&to] {
            if loaded.binary_search(&reg).is_ok() && !segment.written.contains(&reg) {
                continue;
            }
            let value = self.get(reg);
            self.builder.ins().store(trusted(), value, self.frame, cut.slots[&reg] as i32);
        }
    }

    /// Goes on with another segment of the same process.
    fn go_to_segment(&mut self, to: BlockId) {
        self.save_for(to);
        let function = self.segment_function(self.cut, to);
        if self.code().block(to).head.is_some() && !self.at_home {
            let away = self.builder.ins().load(types::I32, trusted(), self.worker, offset::AWAY);
            let (go_home, here) = (self.builder.create_block(), self.builder.create_block());
            self.builder.set_cold_block(go_home);
            self.builder.ins().brif(away, go_home, &[], here, &[]);
            self.builder.switch_to_block(go_home);
            self.set_resume(to);
            self.call_unusual(&entries::GO_HOME, &[]);
            self.builder.ins().return_(&[]);
            self.builder.switch_to_block(here);
        }
        self.builder.ins().return_call(function, &[self.worker, self.process]);
    }

    fn set_resume(&mut self, at: BlockId) {
        let function = self.segment_function(self.cut, at);
        let address = self.builder.ins().func_addr(types::I64, function);
        self.builder.ins().store(trusted(), address, self.process, offset::RESUME);
    }

    fn segment_function(&mut self, cut: usize, at: BlockId) -> FuncRef {
        let id = self.functions.ids[&(cut, at)];
        self.import(id)
    }

    fn import(&mut self, id: FuncId) -> FuncRef {
        if let Some(&function) = self.imported.get(&id) {
            return function;
        }
        let function = self.module.declare_func_in_func(id, self.builder.func);
        self.imported.insert(id, function);
        function
    }

    /// At loop headers and procedure entries: lets others run if the time slice is over.
    fn check_time_slice(&mut self, at: BlockId) {
        if self.functions.time_slices == TimeSlices::LeftOut {
            return;
        }
        let attention = attention(&mut self.builder, self.worker);
        let (over, go_on) = (self.builder.create_block(), self.builder.create_block());
        self.builder.set_cold_block(over);
        self.builder.ins().brif(attention, over, &[], go_on, &[]);
        self.builder.switch_to_block(over);
        if at != self.entry {
            // The segment that begins there looks again, and nothing here is kept in registers for that.
            self.go_to_segment(at);
            return self.builder.switch_to_block(go_on);
        }
        self.save_for(at);
        self.set_resume(at);
        let status = self.call_unusual(&entries::PREEMPT, &[]).expect("a status");
        let leave = self.leave_block();
        self.builder.ins().brif(status, leave, &[], go_on, &[]);
        self.builder.switch_to_block(go_on);
    }

    fn get(&mut self, reg: Reg) -> Value {
        let variable = self.variable(reg);
        self.builder.use_var(variable)
    }

    fn set(&mut self, reg: Reg, value: Value) {
        self.elements.retain(|(_, _, keys), _| !keys.contains(&reg));
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

    /// Calls an entry point with arguments of the right types; the result is widened. Does not look for failure.
    fn call_entry(&mut self, entry: &'static Entry, arguments: &[Value]) -> Option<Value> {
        let id = self.functions.entries[entry.name];
        let function = self.import(id);
        let mut all = vec![self.worker, self.process];
        all.truncate(entries::passed(entry.passes));
        all.extend(arguments);
        let call = self.builder.ins().call(function, &all);
        let result = self.builder.inst_results(call).first().copied()?;
        Some(match entry.result {
            Some(Machine::I32) => self.builder.ins().sextend(types::I64, result),
            _ => result,
        })
    }

    /// Calls an entry point where something unusual has happened; the result is widened.
    fn call_unusual(&mut self, entry: &'static Entry, arguments: &[Value]) -> Option<Value> {
        let id = self.functions.unusual[entry.name];
        let function = self.import(id);
        let mut all = vec![self.worker, self.process];
        all.truncate(entries::passed(entry.passes));
        all.extend(arguments);
        self.builder.ins().call(function, &all);
        entry.result?;
        Some(self.builder.ins().load(types::I64, trusted(), self.worker, offset::ANSWER))
    }

    /// Arguments in registers, narrowed where the entry point wants it.
    fn arguments(&mut self, entry: &'static Entry, registers: &[Reg]) -> Vec<Value> {
        let mut values = Vec::new();
        for (&reg, &machine) in registers.iter().zip(entry.arguments) {
            let value = self.get(reg);
            values.push(match machine {
                Machine::I32 => self.builder.ins().ireduce(types::I32, value),
                _ => value,
            });
        }
        values
    }

    /// Not 0 if the result of an entry point means failure; none if it cannot fail.
    fn is_failure(&mut self, failure: Failure, result: Value) -> Option<Value> {
        let failed = match failure {
            Failure::Never => return None,
            Failure::NotZero => return Some(result),
            Failure::Zero => 0,
            Failure::MinusOne => -1,
            Failure::Two => 2,
            Failure::Smallest => i64::MIN,
        };
        Some(self.builder.ins().icmp_imm_s(IntCC::Equal, result, failed))
    }

    /// Leaves if the result says so.
    fn check_failure(&mut self, failure: Failure, result: Option<Value>) {
        let Some(failed) = result.and_then(|result| self.is_failure(failure, result)) else { return };
        let leave = self.leave_block();
        let go_on = self.builder.create_block();
        self.builder.ins().brif(failed, leave, &[], go_on, &[]);
        self.builder.switch_to_block(go_on);
    }
}
