//! What is known at a place of a body or procedure: where the variables are that it can name (in registers, in its own
//! frame, in that of a procedure around it, or in the component), and how the component's lock is held.

use std::collections::HashMap;

use drystone_language::program::*;
use drystone_runtime::layout::{FrameHead, Kept};

use super::builder::Builder;
use super::types::{is_byte, reg_type};
use super::unit::Unit;
use crate::classify::BodyKey;
use crate::mir::*;

/// Offset of the outer frame in a frame's head.
pub(super) const OUTER: i32 = std::mem::offset_of!(FrameHead, outer) as i32;

/// The code that is being lowered.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Runs {
    Body(BodyKey),
    Procedure(ProcedureId),
}

/// What a body or procedure can name, and where that is.
pub(super) struct Scope {
    pub(super) runs: Runs,
    /// The template whose code this is; none for a procedure at the top level, which any may call.
    pub(super) template: Option<ComponentId>,
    /// The registers of variables that are not in memory, and of `VARIABLE` parameters.
    pub(super) registers: HashMap<VariableId, Reg>,
    /// A native procedure's outer frame.
    pub(super) outer: Option<Reg>,
}

impl Scope {
    pub(super) fn new(runs: Runs, template: Option<ComponentId>) -> Scope {
        Scope { runs, template, registers: HashMap::new(), outer: None }
    }

    /// The component around what only stands in one.
    pub(super) fn component(&self) -> ComponentId {
        self.template.expect("a procedure at the top level uses nothing of its caller's component")
    }

    pub(super) fn register_of(&mut self, unit: &Unit, code: &mut Builder, id: VariableId) -> Reg {
        if let Some(&register) = self.registers.get(&id) {
            return register;
        }
        let ty = reg_type(&unit.variable(id).ty);
        let register = code.reg(ty);
        self.registers.insert(id, register);
        register
    }

    /// The frame of a procedure around this one.
    fn frame_of(&self, unit: &Unit, code: &mut Builder, procedure: ProcedureId) -> Address {
        let Runs::Procedure(mut current) = self.runs else {
            unreachable!("a body has no procedure around it");
        };
        let mut frame = Base::Frame;
        while current != procedure {
            let Owner::Procedure(around) = unit.program.procedures[current.index()].owner else {
                unreachable!("the checker resolved the variable to a procedure around this one");
            };
            let pointer = match (frame, self.outer) {
                (Base::Frame, Some(outer)) => outer,
                _ => code.load(Address { base: frame, offset: OUTER, byte: false }, RegType::Int),
            };
            frame = Base::Reg(pointer);
            current = around;
        }
        Address { base: frame, offset: 0, byte: false }
    }

    /// The outer frame for a call of a procedure that is declared in a procedure.
    pub(super) fn outer_for(&self, unit: &Unit, code: &mut Builder, callee: ProcedureId) -> Option<Reg> {
        let Owner::Procedure(around) = unit.program.procedures[callee.index()].owner else {
            return None;
        };
        let frame = self.frame_of(unit, code, around);
        Some(code.address(frame))
    }

    /// Where a variable in memory lies: its own storage, or for a `VARIABLE` parameter, which names no element, what it
    /// refers to.
    pub(super) fn address_of(&self, unit: &Unit, code: &mut Builder, id: VariableId) -> Address {
        let variable = unit.variable(id);
        let byte = variable.collection.is_none() && is_byte(&variable.ty);
        if variable.parameter == Some(Passing::Reference) {
            return Address { base: Base::Reg(self.reference_in(unit, code, id)), offset: 0, byte };
        }
        self.storage_of(unit, code, id, byte)
    }

    /// What a `VARIABLE` parameter was given.
    pub(super) fn reference_in(&self, unit: &Unit, code: &mut Builder, id: VariableId) -> Reg {
        if let Some(&register) = self.registers.get(&id) {
            return register;
        }
        let storage = self.storage_of(unit, code, id, false);
        code.load(storage, RegType::Int)
    }

    fn storage_of(&self, unit: &Unit, code: &mut Builder, id: VariableId, byte: bool) -> Address {
        let offset = unit.layouts.variables[&id] as i32;
        let base = match unit.variable(id).owner {
            Owner::Component(_) => match self.displaced(unit, code, offset) {
                Some(there) => Base::Reg(there),
                None => Base::Instance,
            },
            Owner::Implementation(..) => Base::Process,
            Owner::Procedure(owner) => self.frame_of(unit, code, owner).base,
            Owner::Program => unreachable!("a variable belongs to a component or a procedure"),
        };
        Address { base, offset, byte }
    }

    /// The base from which a variable that handlers use is addressed, in place of the instance; none for all other
    /// variables.
    fn displaced(&self, unit: &Unit, code: &mut Builder, offset: i32) -> Option<Reg> {
        let template = self.template?;
        let (begin, words) = unit.layouts.instances[template.index()].kept?;
        let within = begin as i32..begin as i32 + (Kept::WORDS + 8 * words as usize) as i32;
        if !within.contains(&offset) {
            return None;
        }
        let place = Address { base: Base::Instance, offset: begin as i32, byte: false };
        let displacement = code.load(place, RegType::Int);
        let instance = code.own_instance();
        Some(code.op(Op::Add, instance, displacement))
    }

    pub(super) fn is_in_register(&self, unit: &Unit, id: VariableId) -> bool {
        let variable = unit.variable(id);
        !matches!(variable.owner, Owner::Component(_))
            && variable.parameter != Some(Passing::Reference)
            && !unit.facts.in_memory.contains(&id)
    }
}

/// Where EXIT goes.
pub(super) struct Exit {
    /// The block after the loop.
    pub(super) outside: BlockId,
    /// The loop began under a lock that was taken in this body.
    pub(super) is_locked: bool,
}

/// What the code knows of its component's lock.
#[derive(Clone, Copy)]
pub(super) struct Lock {
    /// How it is held, by this code or by its caller.
    mode: Option<LockMode>,
    /// If this code has taken it, and must release it: the bits of what may have been written by then.
    written: Option<u64>,
    /// Inside a condition that names the elements that it reads.
    pub(super) watches: bool,
}

impl Lock {
    /// Held by the caller, or not at all.
    pub(super) fn of_caller(mode: Option<LockMode>) -> Lock {
        Lock { mode, written: None, watches: false }
    }

    /// How it is held.
    pub(super) fn mode(self) -> Option<LockMode> {
        self.mode
    }

    /// The bits of what may have been written when this code releases it; none if that is for the caller.
    pub(super) fn written(self) -> Option<u64> {
        self.written
    }

    pub(super) fn take(&mut self, mode: LockMode, written: u64) {
        (self.mode, self.written) = (Some(mode), Some(written));
    }

    /// Gives how it was held, and what may have been written.
    pub(super) fn release(&mut self) -> (LockMode, u64) {
        self.mode.take().zip(self.written.take()).expect("it was taken here")
    }
}
