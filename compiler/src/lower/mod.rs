//! Checked bodies and procedures to the mid-level form.
//!
//! Scalars that nobody else sees live in registers; texts, components, collections and shared variables live in
//! the frame or the instance, so that what a process owns can be found and freed wherever it stops. A text that an
//! expression makes is kept in an owned temporary of the frame until it has found its place.

mod appending;
mod communication;
mod components;
mod composites;
mod connections;
mod expressions;
mod frames;
mod locations;
mod loops;
mod places;
mod references;
mod statements;
mod texts;
mod unit;
mod unrolling;

use std::collections::HashMap;

use drystone_language::program::{Block as Block_, *};
use drystone_language::source::Span;
use drystone_runtime::layout::{Fault, FrameHead};

pub use self::locations::Locations;
pub use self::unit::Unit;
use crate::classify::{BodyKey, MOST_WEIGHT};
use crate::entries;
use crate::mir::{
    Address, Base, Block, BlockId, Code, EntryPoint, Inst, LocationId, Loop, Machine, Op, Reg, RegType,
    SuspensionOp, SuspensionPoint, Symbol, Terminator, Variant,
};

/// Who runs the code that is being lowered.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Runs {
    Body(BodyKey),
    Procedure(ProcedureId),
}

/// The state of lowering one body or procedure.
pub(crate) struct Lower<'u, 'a> {
    unit: &'u mut Unit<'a>,
    code: Code,
    runs: Runs,
    /// The template whose code this is; none for a procedure at the top level, which any may call.
    template: Option<ComponentId>,
    current: BlockId,
    in_loop: Option<usize>,
    registers: HashMap<VariableId, Reg>,
    /// A native procedure's outer frame.
    outer: Option<Reg>,
    /// The lock that is held here, by us or by the caller.
    lock: Option<LockMode>,
    /// It was taken in this code, which must release it: what may have been written by then.
    ours: Option<u64>,
    /// Inside a condition function, which runs on the stack of whoever tests it.
    in_condition: bool,
    /// Inside a condition that says which elements it reads.
    watches: bool,
    free_texts: Vec<u32>,
    free_components: Vec<u32>,
    /// Where RETURN goes in a body; procedures return in place.
    finish: Option<BlockId>,
    /// Instructions and blocks since a segment was begun last, and how many were begun.
    since_cut: usize,
    cuts: usize,
    /// What may have been done since the time slice was looked at last, as the weights of procedures say.
    since_look: u64,
}

/// Lowers BEGIN and ACTIVITY, an implementation, or FINALLY.
pub fn body(unit: &mut Unit, key: BodyKey) -> Code {
    let program = unit.program;
    let layout = unit.layouts.bodies[&key].clone();
    let (component, name) = match key {
        BodyKey::Main(id) => (id, program.components[id.index()].name.clone()),
        BodyKey::Finally(id) => (id, format!("{}.FINALLY", program.components[id.index()].name)),
        BodyKey::Service(id, number) => {
            let component = &program.components[id.index()];
            let interface = component.offers[component.implementations[number].offered].interface;
            (id, format!("{}.{}", component.name, program.interfaces[interface.index()].name))
        }
    };
    let code = Code::new(name, false, layout.size, layout.owned, layout.shape);
    let mut lower = Lower::new(unit, code, Runs::Body(key), Some(component), None);
    let template = &program.components[component.index()];
    match key {
        BodyKey::Main(_) => {
            if let Some(begin) = &template.begin {
                lower.part(begin);
            }
            let location = lower.location(template.span);
            lower.suspend(
                SuspensionOp::Call { to: None, entry: &entries::BEGUN, arguments: Vec::new() },
                location,
            );
            if let Some(activity) = &template.activity {
                lower.part(activity);
            }
        }
        BodyKey::Finally(_) => lower.part(template.finally.as_ref().expect("a FINALLY body exists")),
        BodyKey::Service(_, number) => {
            let implementation = &template.implementations[number];
            lower.zero_registers(&implementation.variables);
            lower.part(&implementation.body);
            if let Some(finally) = &implementation.finally {
                lower.ending(finally, implementation.span);
            }
        }
    }
    let span = match key {
        BodyKey::Service(_, number) => template.implementations[number].span,
        _ => template.span,
    };
    let location = lower.location(span);
    lower.drop_frame(location);
    lower.suspend(SuspensionOp::Home, location);
    lower.end(Terminator::Finish(location));
    lower.code
}

/// Lowers a procedure in one of its contexts.
pub fn procedure(unit: &mut Unit, variant: Variant) -> Code {
    let program = unit.program;
    let procedure = &program.procedures[variant.procedure.index()];
    let layout = unit.layouts.procedures[variant.procedure.index()].clone();
    let mut code =
        Code::new(procedure.name.clone(), variant.native, layout.size, layout.owned, variant.shape);
    code.procedure = Some(variant.procedure);
    code.result = procedure.result.as_ref().map(reg_type);
    let runs = Runs::Procedure(variant.procedure);
    let mut lower = Lower::new(unit, code, runs, procedure.component, variant.lock);
    if variant.native && matches!(procedure.owner, Owner::Procedure(_)) {
        let outer = lower.reg(RegType::Int);
        lower.code.parameters.push(outer);
        lower.store(Address { base: Base::Frame, offset: OUTER, byte: false }, outer);
        lower.outer = Some(outer);
    }
    if variant.native {
        lower.clear_owned();
    }
    for &parameter in &procedure.parameters {
        lower.receive_parameter(parameter);
    }
    lower.zero_registers(&procedure.variables);
    lower.zero_memory(&procedure.variables);
    lower.block_of_statements(&procedure.body);
    let location = lower.location(procedure.span);
    if procedure.result.is_some() {
        lower.inst(Inst::Fail(Fault::MissingReturn, location));
        lower.end(Terminator::Unreachable);
    } else {
        lower.drop_frame(location);
        lower.end(Terminator::Return(None));
    }
    lower.code
}

/// Instructions and blocks after which a segment ends with the statement.
const LONGEST: usize = 400;

/// Offset of the outer frame in a frame's head.
const OUTER: i32 = std::mem::offset_of!(FrameHead, outer) as i32;

/// What a register for a value of this type holds.
pub(crate) fn reg_type(ty: &Type) -> RegType {
    if *ty == Type::Real { RegType::Real } else { RegType::Int }
}

/// Whether a value of this type takes one byte in memory.
fn is_byte(ty: &Type) -> bool {
    matches!(ty, Type::Boolean | Type::Character)
}

impl<'u, 'a> Lower<'u, 'a> {
    fn new(
        unit: &'u mut Unit<'a>,
        code: Code,
        runs: Runs,
        template: Option<ComponentId>,
        lock: Option<LockMode>,
    ) -> Self {
        Lower {
            unit,
            code,
            runs,
            template,
            current: BlockId(0),
            in_loop: None,
            registers: HashMap::new(),
            outer: None,
            lock,
            ours: None,
            in_condition: false,
            watches: false,
            free_texts: Vec::new(),
            free_components: Vec::new(),
            finish: None,
            since_cut: 0,
            cuts: 0,
            since_look: 0,
        }
    }

    /// The component around what only stands in one.
    fn component(&self) -> ComponentId {
        self.template.expect("a procedure at the top level uses nothing of its caller's component")
    }

    /// A part of a body (BEGIN, ACTIVITY, ...): RETURN ends it, and what follows goes on.
    fn part(&mut self, block: &Block_) {
        let end = self.new_block();
        self.finish = Some(end);
        self.block_of_statements(block);
        self.go(end);
        self.current = end;
    }

    /// The FINALLY of a service, which begins here, or where the runtime has ended what stands before.
    fn ending(&mut self, finally: &Block_, span: Span) {
        let location = self.location(span);
        let at = self.int(location as i64);
        self.suspend(SuspensionOp::Call { to: None, entry: &entries::ENDING, arguments: vec![at] }, location);
        self.begin_segment();
        self.code.finally = Some(self.current);
        self.part(finally);
    }

    fn location(&mut self, span: Span) -> LocationId {
        self.unit.locations.number(span)
    }

    fn reg(&mut self, ty: RegType) -> Reg {
        self.code.registers.push(ty);
        Reg(self.code.registers.len() as u32 - 1)
    }

    fn int(&mut self, value: i64) -> Reg {
        let to = self.reg(RegType::Int);
        self.inst(Inst::Int(to, value));
        to
    }

    fn inst(&mut self, instruction: Inst) {
        self.since_cut += 1;
        self.code.blocks[self.current.0 as usize].instructions.push(instruction);
    }

    fn op(&mut self, op: Op, a: Reg, b: Reg) -> Reg {
        let to = self.reg(op.types().1);
        self.inst(Inst::Op { to, op, a, b });
        to
    }

    fn load(&mut self, address: Address, ty: RegType) -> Reg {
        let to = self.reg(ty);
        self.inst(Inst::Load { to, from: address });
        to
    }

    fn store(&mut self, address: Address, value: Reg) {
        self.inst(Inst::Store { to: address, value });
    }

    fn symbol(&mut self, symbol: Symbol) -> Reg {
        let to = self.reg(RegType::Int);
        self.inst(Inst::Symbol(to, symbol));
        to
    }

    /// Calls an entry point with a result.
    fn call(&mut self, entry: &'static EntryPoint, arguments: Vec<Reg>) -> Reg {
        let to = self.reg(if entry.result == Some(Machine::F64) { RegType::Real } else { RegType::Int });
        self.inst(Inst::Call { to: Some(to), entry, arguments });
        to
    }

    /// Calls an entry point for what it does.
    fn perform(&mut self, entry: &'static EntryPoint, arguments: Vec<Reg>) {
        self.inst(Inst::Call { to: None, entry, arguments });
    }

    fn new_block(&mut self) -> BlockId {
        self.since_cut += 1;
        self.code.blocks.push(Block { in_loop: self.in_loop, ..Block::new() });
        BlockId(self.code.blocks.len() as u32 - 1)
    }

    fn end(&mut self, end: Terminator) {
        self.code.blocks[self.current.0 as usize].end = end;
    }

    fn go(&mut self, to: BlockId) {
        self.end(Terminator::Goto(to));
    }

    fn start(&mut self, block: BlockId) {
        self.current = block;
    }

    /// Ends the current block and begins one with an operation that may wait.
    fn suspend(&mut self, op: SuspensionOp, location: LocationId) {
        let block = self.new_block();
        self.go(block);
        self.start(block);
        self.code.blocks[block.0 as usize].suspension = Some(SuspensionPoint { op, location });
    }

    /// An entry point that may wait and has a result.
    fn suspending_call(
        &mut self,
        entry: &'static EntryPoint,
        arguments: Vec<Reg>,
        location: LocationId,
    ) -> Reg {
        let to = self.reg(RegType::Int);
        self.suspend(SuspensionOp::Call { to: Some(to), entry, arguments }, location);
        to
    }

    /// What follows is a segment of its own, unless this code must stay whole.
    fn begin_segment(&mut self) {
        let next = self.new_block();
        self.code.blocks[next.0 as usize].entry = !self.code.native;
        self.go(next);
        self.start(next);
        self.since_cut = 0;
        self.cuts += 1;
    }

    /// Something is done next that is not interrupted: the time slice is looked at before, if much has been done
    /// already.
    fn look_before(&mut self, weight: u64) {
        self.since_look += weight;
        if self.since_look > MOST_WEIGHT && !self.in_condition && !self.code.native {
            self.begin_segment();
            self.code.blocks[self.current.0 as usize].looks = true;
            self.since_look = weight;
        }
    }

    /// Cuts long code where only variables are live: Cranelift takes more time for each instruction the more there
    /// are in a function.
    fn cut_if_long(&mut self) {
        if self.since_cut > LONGEST && !self.code.native {
            self.begin_segment();
        }
    }

    /// What follows a RETURN or HALT is never reached, but is lowered all the same.
    fn unreachable(&mut self, end: Terminator) {
        self.end(end);
        let next = self.new_block();
        self.start(next);
    }

    /// Begins a loop: its header is where time slices are checked.
    fn begin_loop(&mut self) -> BlockId {
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

    /// Something is written here: see [`Loop::writes`].
    fn note_writing(&mut self) {
        let mut around = self.in_loop;
        while let Some(number) = around {
            self.code.loops[number].writes = true;
            around = self.code.loops[number].outer;
        }
    }

    /// Goes on with a block that lies outside the innermost loop.
    fn end_loop(&mut self) -> BlockId {
        let number = self.in_loop.expect("a loop was begun");
        self.in_loop = self.code.loops[number].outer;
        self.new_block()
    }
}
