//! Checked bodies and procedures to MIR.
//!
//! Scalars that no other code sees live in registers. Texts, components, collections and shared variables live in the
//! frame or the instance, so that what a process owns can be found and freed wherever it stops. A text that an
//! expression makes is kept in an owned temporary of the frame until it is stored.
//!
//! * [`Builder`] is the function under construction. It knows MIR, and nothing of the program (`builder`,
//!   `temporaries`, `arithmetic`).
//! * [`Scope`] says where the variables are that the code can name.
//! * [`Unit`] has the tables of the program.
//! * [`Lock`] says whether the component's lock is held.
//! * [`Lower`] puts them together: all other files.

mod appending;
mod arithmetic;
mod builder;
mod carried;
mod cases;
mod communication;
mod components;
mod composites;
mod connections;
mod equality;
mod expressions;
mod frames;
mod locations;
mod locks;
mod loops;
mod places;
mod records;
mod references;
mod scope;
mod select;
mod sequences;
mod statements;
mod temporaries;
mod texts;
mod types;
mod unit;
mod unrolling;

use drystone_language::program::{Block as Block_, *};
use drystone_language::source::Span;
use drystone_runtime::layout::Fault;

use self::builder::Builder;
pub use self::locations::Locations;
use self::scope::{Exit, Lock, OUTER, Runs, Scope};
pub(crate) use self::types::reg_type;
pub use self::unit::Unit;
use crate::classify::BodyKey;
use crate::entries;
use crate::mir::{
    Address, Base, BlockId, Code, Inst, LocationId, RegType, SuspensionOp, Terminator, Variant,
};

/// The state of lowering one body or procedure.
pub(crate) struct Lower<'u, 'a> {
    unit: &'u mut Unit<'a>,
    code: Builder,
    scope: Scope,
    lock: Lock,
    /// Where RETURN goes in a body; procedures return in place.
    finish: Option<BlockId>,
    /// The loops around the present statement, the innermost last.
    exits: Vec<Exit>,
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
            lower.code.suspend(
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
    lower.code.drop_frame(location);
    lower.code.suspend(SuspensionOp::Home, location);
    lower.code.end(Terminator::Finish(location));
    lower.code.finish()
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
        let outer = lower.code.parameter(RegType::Int, None);
        lower.code.store(Address { base: Base::Frame, offset: OUTER, byte: false }, outer);
        lower.scope.outer = Some(outer);
    }
    if variant.native {
        lower.code.clear_owned();
    }
    for &parameter in &procedure.parameters {
        lower.receive_parameter(parameter);
    }
    lower.zero_registers(&procedure.variables);
    lower.zero_memory(&procedure.variables);
    lower.block_of_statements(&procedure.body);
    let location = lower.location(procedure.span);
    if procedure.result.is_some() {
        lower.code.inst(Inst::Fail(Fault::MissingReturn, location));
        lower.code.end(Terminator::Unreachable);
    } else {
        lower.code.drop_frame(location);
        lower.code.end(Terminator::Return(None));
    }
    lower.code.finish()
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
            code: Builder::new(code),
            scope: Scope::new(runs, template),
            lock: Lock::of_caller(lock),
            finish: None,
            exits: Vec::new(),
        }
    }

    /// A part of a body (BEGIN, ACTIVITY, ...): RETURN ends it, and what follows goes on.
    fn part(&mut self, block: &Block_) {
        let end = self.code.new_block();
        self.finish = Some(end);
        self.block_of_statements(block);
        self.code.go(end);
        self.code.start(end);
    }

    /// The FINALLY of a service, which begins here, or where the runtime has ended what stands before.
    fn ending(&mut self, finally: &Block_, span: Span) {
        let location = self.location(span);
        let at = self.code.int(location as i64);
        self.code
            .suspend(SuspensionOp::Call { to: None, entry: &entries::ENDING, arguments: vec![at] }, location);
        self.code.begin_finally();
        self.part(finally);
    }

    fn location(&mut self, span: Span) -> LocationId {
        self.unit.locations.number(span)
    }
}
