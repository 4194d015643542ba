//! The function under construction: its blocks, registers and instructions.
//!
//! A [`Builder`] appends to the current block, and cuts long code into segments. It knows MIR and the entry points of
//! the runtime, but nothing of the program: what a variable is, where it lies and which lock is held is for `Lower`.

use drystone_language::program::ProcedureId;

use crate::classify::MOST_WEIGHT;
use crate::mir::{
    Address, Base, Block, BlockId, Checked, Code, Counter, EntryPoint, Inst, LocationId, Loop, Machine, Op,
    Payload, Reg, RegType, Shape, SuspensionOp, SuspensionPoint, Symbol, Terminator, Unary,
};

/// Instructions and blocks after which a segment ends with the statement.
const LONGEST: usize = 400;

/// A body or procedure, as far as it has been made.
pub(super) struct Builder {
    pub(super) code: Code,
    /// The block that instructions are appended to.
    current: BlockId,
    /// The innermost loop around it.
    in_loop: Option<usize>,
    /// The current block belongs to a condition function, which runs on the stack of the process that tests it.
    pub(super) in_condition: bool,
    /// Instructions and blocks since a segment was begun last.
    since_cut: usize,
    /// How many segments were begun.
    cuts: usize,
    /// What may have been done since the time slice was looked at last, as the weights of procedures say.
    since_look: u64,
    /// Temporaries that own nothing now: see `temporaries`.
    pub(super) free_texts: Vec<u32>,
    pub(super) free_components: Vec<u32>,
}

impl Builder {
    /// Begins with the entry block.
    pub(super) fn new(code: Code) -> Builder {
        Builder {
            code,
            current: BlockId(0),
            in_loop: None,
            in_condition: false,
            since_cut: 0,
            cuts: 0,
            since_look: 0,
            free_texts: Vec::new(),
            free_components: Vec::new(),
        }
    }

    /// What has been made.
    pub(super) fn finish(self) -> Code {
        self.code
    }

    /// Whether it runs on the processor's stack.
    pub(super) fn is_native(&self) -> bool {
        self.code.native
    }

    /// Where the process keeps what frames and conditions need.
    pub(super) fn shape(&self) -> Shape {
        self.code.shape
    }

    /// The procedure that is being made, if it is one.
    pub(super) fn procedure(&self) -> Option<ProcedureId> {
        self.code.procedure
    }

    /// The block that instructions are appended to.
    pub(super) fn current(&self) -> BlockId {
        self.current
    }

    /// How many segments were begun so far.
    pub(super) fn cuts(&self) -> usize {
        self.cuts
    }

    pub(super) fn is_in_loop(&self) -> bool {
        self.in_loop.is_some()
    }

    /// What was appended last.
    pub(super) fn last(&self) -> Option<&Inst> {
        self.code.blocks[self.current.0 as usize].instructions.last()
    }

    pub(super) fn type_of(&self, reg: Reg) -> RegType {
        self.code.registers[reg.0 as usize]
    }

    /// A parameter, and where its caller leaves it if that is not where registers are saved.
    pub(super) fn parameter(&mut self, ty: RegType, slot: Option<u32>) -> Reg {
        let reg = self.reg(ty);
        self.code.parameters.push(reg);
        self.code.parameter_slots.extend(slot.map(|slot| (reg, slot)));
        reg
    }

    /// FINALLY begins here.
    pub(super) fn begin_finally(&mut self) {
        self.begin_segment();
        self.code.finally = Some(self.current);
    }

    pub(super) fn reg(&mut self, ty: RegType) -> Reg {
        self.code.registers.push(ty);
        Reg(self.code.registers.len() as u32 - 1)
    }

    pub(super) fn int(&mut self, value: i64) -> Reg {
        let to = self.reg(RegType::Int);
        self.inst(Inst::Int(to, value));
        to
    }

    pub(super) fn inst(&mut self, instruction: Inst) {
        self.since_cut += 1;
        self.code.blocks[self.current.0 as usize].instructions.push(instruction);
    }

    pub(super) fn op(&mut self, op: Op, a: Reg, b: Reg) -> Reg {
        let to = self.reg(op.types().1);
        self.inst(Inst::Op { to, op, a, b });
        to
    }

    pub(super) fn unary(&mut self, operator: Unary, a: Reg) -> Reg {
        let to = self.reg(operator.types().1);
        self.inst(Inst::Unary { to, operator, from: a });
        to
    }

    pub(super) fn checked(&mut self, operator: Checked, a: Reg, b: Reg, location: LocationId) -> Reg {
        let to = self.reg(RegType::Int);
        self.inst(Inst::Checked { to, operator, a, b, location });
        to
    }

    /// A variable's register may be assigned before its value is used: takes a copy.
    pub(super) fn snapshot(&mut self, value: Reg) -> Reg {
        let to = self.reg(self.type_of(value));
        self.inst(Inst::Copy { to, from: value });
        to
    }

    pub(super) fn load(&mut self, address: Address, ty: RegType) -> Reg {
        let to = self.reg(ty);
        self.inst(Inst::Load { to, from: address });
        to
    }

    pub(super) fn store(&mut self, address: Address, value: Reg) {
        self.inst(Inst::Store { to: address, value });
    }

    /// The length of a text, which may be the null pointer.
    pub(super) fn text_length(&mut self, text: Reg) -> Reg {
        let length = self.reg(RegType::Int);
        self.inst(Inst::Length { to: length, text });
        length
    }

    pub(super) fn address(&mut self, of: Address) -> Reg {
        let to = self.reg(RegType::Int);
        self.inst(Inst::Address { to, of });
        to
    }

    pub(super) fn add(&mut self, base: Reg, offset: u32) -> Reg {
        self.address(Address { base: Base::Reg(base), offset: offset as i32, byte: false })
    }

    pub(super) fn own_instance(&mut self) -> Reg {
        self.base(Base::Instance)
    }

    /// The process block, the frame, or the component.
    pub(super) fn base(&mut self, base: Base) -> Reg {
        let to = self.reg(RegType::Int);
        self.inst(Inst::Base(to, base));
        to
    }

    pub(super) fn symbol(&mut self, symbol: Symbol) -> Reg {
        let to = self.reg(RegType::Int);
        self.inst(Inst::Symbol(to, symbol));
        to
    }

    /// Words in memory, for a call that takes their address.
    pub(super) fn words(&mut self, words: &[Reg]) -> Reg {
        let to = self.reg(RegType::Int);
        self.inst(Inst::Words(to, words.to_vec()));
        to
    }

    /// Calls an entry point with a result.
    pub(super) fn call(&mut self, entry: &'static EntryPoint, arguments: Vec<Reg>) -> Reg {
        let to = self.reg(if entry.result == Some(Machine::F64) { RegType::Real } else { RegType::Int });
        self.inst(Inst::Call { to: Some(to), entry, arguments });
        to
    }

    /// Calls an entry point for what it does.
    pub(super) fn perform(&mut self, entry: &'static EntryPoint, arguments: Vec<Reg>) {
        self.inst(Inst::Call { to: None, entry, arguments });
    }

    pub(super) fn payload(&mut self) -> Payload {
        Payload { communication: self.reg(RegType::Int), word: self.reg(RegType::Int) }
    }

    pub(super) fn new_block(&mut self) -> BlockId {
        self.since_cut += 1;
        self.code.blocks.push(Block { in_loop: self.in_loop, ..Block::new() });
        BlockId(self.code.blocks.len() as u32 - 1)
    }

    pub(super) fn end(&mut self, end: Terminator) {
        self.code.blocks[self.current.0 as usize].end = end;
    }

    pub(super) fn go(&mut self, to: BlockId) {
        self.end(Terminator::Goto(to));
    }

    pub(super) fn start(&mut self, block: BlockId) {
        self.current = block;
    }

    /// Ends the current block and begins one with an operation that may wait.
    pub(super) fn suspend(&mut self, op: SuspensionOp, location: LocationId) {
        let block = self.new_block();
        self.go(block);
        self.start(block);
        self.code.blocks[block.0 as usize].suspension = Some(SuspensionPoint { op, location });
    }

    /// An entry point that may wait and has a result.
    pub(super) fn suspending_call(
        &mut self,
        entry: &'static EntryPoint,
        arguments: Vec<Reg>,
        location: LocationId,
    ) -> Reg {
        let to = self.reg(RegType::Int);
        self.suspend(SuspensionOp::Call { to: Some(to), entry, arguments }, location);
        to
    }

    /// Calls a procedure that may wait: goes on in a segment of its own.
    pub(super) fn call_and_return(
        &mut self,
        variant: usize,
        arguments: Vec<Reg>,
        outer: Option<Reg>,
        location: LocationId,
    ) {
        let then = self.new_block();
        self.code.blocks[then.0 as usize].entry = true;
        self.end(Terminator::CallProcedure { variant, arguments, outer, then, location });
        self.start(then);
    }

    /// What follows is a segment of its own, unless this code must stay whole.
    pub(super) fn begin_segment(&mut self) {
        let next = self.new_block();
        self.code.blocks[next.0 as usize].entry = !self.code.native;
        self.go(next);
        self.start(next);
        self.since_cut = 0;
        self.cuts += 1;
    }

    /// Something is done next that is not interrupted: the time slice is looked at before, if much has been done
    /// already.
    pub(super) fn look_before(&mut self, weight: u64) {
        self.since_look += weight;
        if self.since_look > MOST_WEIGHT && !self.in_condition && !self.code.native {
            self.begin_segment();
            self.code.blocks[self.current.0 as usize].looks = true;
            self.since_look = weight;
        }
    }

    /// Cuts long code where only variables are live: Cranelift takes more time for each instruction the more there
    /// are in a function.
    pub(super) fn cut_if_long(&mut self) {
        if self.since_cut > LONGEST && !self.code.native {
            self.begin_segment();
        }
    }

    /// What follows a RETURN or HALT is never reached, but is lowered all the same.
    pub(super) fn unreachable(&mut self, end: Terminator) {
        self.end(end);
        let next = self.new_block();
        self.start(next);
    }

    /// Begins a loop: its header is where time slices are checked.
    pub(super) fn begin_loop(&mut self) -> BlockId {
        self.code.loops.push(Loop { outer: self.in_loop, header: BlockId(0), counter: None, writes: false });
        let number = self.code.loops.len() - 1;
        self.in_loop = Some(number);
        let header = self.new_block();
        self.code.loops[number].header = header;
        self.code.blocks[header.0 as usize].header_of = Some(number);
        self.go(header);
        self.start(header);
        header
    }

    /// The innermost loop counts so.
    pub(super) fn counts(&mut self, counter: Counter) {
        let number = self.in_loop.expect("a loop was begun");
        self.code.loops[number].counter = Some(counter);
    }

    /// Ends a block that was left before.
    pub(super) fn end_earlier(&mut self, block: BlockId, end: Terminator) {
        self.code.blocks[block.0 as usize].end = end;
    }

    /// Something is written here: see [`Loop::writes`].
    pub(super) fn note_writing(&mut self) {
        let mut around = self.in_loop;
        while let Some(number) = around {
            self.code.loops[number].writes = true;
            around = self.code.loops[number].outer;
        }
    }

    /// A block after the innermost loop, made while its body is still being lowered.
    pub(super) fn outside_loop(&mut self) -> BlockId {
        let inner = self.in_loop.expect("a loop was begun");
        let outside = self.new_block();
        self.code.blocks[outside.0 as usize].in_loop = self.code.loops[inner].outer;
        outside
    }

    pub(super) fn leave_loop(&mut self, outside: BlockId) {
        self.in_loop = self.code.blocks[outside.0 as usize].in_loop;
        self.start(outside);
    }
}
