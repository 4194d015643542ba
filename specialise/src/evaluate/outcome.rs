//! Puts the residual module together. If the evaluation has failed, the module only calls the generic code, with the
//! reason as a comment.

use super::error::Error;
use super::evaluator::Evaluator;
use super::initial::Initial;
use super::machine::Machine;
use super::objects::Objects;
use super::program::Program;
use super::report::Specialised;
use super::task::Task;
use crate::ir::{
    Body, CallAttributes, Code, Const, Effects, Function, Module, Op, Operand, Terminator, Type,
};
use crate::{extract, passes};
use std::rc::Rc;

impl Evaluator<'_> {
    /// The result of the evaluation.
    pub(super) fn finish(self, attempts: u32) -> Result<Specialised, Error> {
        let Machine { task, mut program, objects, initial, residual, notes, .. } = self.machine;
        let mut report = notes.report;
        report.attempts = attempts;
        report.spent = std::mem::take(&mut self.meter.spent.given_up);
        report.evaluated = self.meter.evaluated;
        report.residual = residual.size;
        let mut module = module(residual.finish(), task, &mut program)?;
        passes::polish(&mut module);
        fill_constant_copies(&mut module, task, objects, initial);
        check_copies(&module, task, objects, initial)?;
        Ok(Specialised { module, report })
    }

    /// Replaces the residual function by one that only calls the generic function.
    pub(super) fn keep_generic(&mut self, reason: &str) {
        let Machine { task, program, residual, notes, .. } = &mut self.machine;
        let generic = program.function(task.entry);
        notes.kept(&generic.name, reason);
        let mut args = Vec::new();
        for param in &task.params {
            let name = param.name.as_deref().unwrap_or("");
            args.push(Operand::Value(residual.value(param.ty.clone(), name)));
        }
        let block = residual.block(format!("generic, because {reason}"));
        let attributes = CallAttributes {
            params: task.params.iter().map(|param| param.attributes.clone()).collect(),
            ..CallAttributes::default()
        };
        let callee = Operand::Const(Const::Function(task.entry));
        let op = Op::Call { callee, args, variadic: None, attributes: Rc::new(attributes) };
        let value = if generic.result == Type::Void {
            residual.effect(block, op);
            None
        } else {
            Some(Operand::Value(residual.emit(block, generic.result.clone(), op)))
        };
        residual.end(block, Terminator::Return(value));
    }
}

/// The residual function, in a module with everything that it needs.
fn module(body: Body, task: &Task, program: &mut Program) -> Result<Module, Error> {
    let entry = program.function(task.entry);
    let residual = Function {
        name: task.context.residual_name().into(),
        params: task.params.clone(),
        result: entry.result.clone(),
        result_extension: entry.result_extension,
        variadic: false,
        internal: false,
        memory: Effects::Any,
        noreturn: entry.noreturn,
        code: Code::Body(Rc::new(body)),
        comment: format!("{}, specialised", entry.name),
    };
    let extra = std::mem::take(&mut program.found.extra);
    extract::extract(task.module, extra, vec![residual]).map_err(Error)
}

/// Copies of variables that are constant after the initialisers get the contents that these left, if these contents are
/// numbers.
fn fill_constant_copies(residual: &mut Module, task: &Task, objects: &Objects, initial: &Initial) {
    for copy in residual.globals.iter_mut().filter(|copy| copy.internal && !copy.constant) {
        let object = task.module.global(&copy.name).and_then(|global| objects.global(global));
        let size = copy.ty.store_size();
        let bytes = object.and_then(|object| initial.contents.get(&object)?.bytes(size));
        if let Some(bytes) = bytes {
            copy.ty = Type::Array(size, Rc::new(Type::Int(8)));
            copy.initial = Some(Const::Bytes(bytes.into()));
            copy.constant = true;
        }
    }
}

/// The residual program can't refer to a variable that only its module sees. It may have a copy of the variable if the
/// context allows that. Otherwise this is an error, because one program would not see the changes that the other makes.
fn check_copies(residual: &Module, task: &Task, objects: &Objects, initial: &Initial) -> Result<(), Error> {
    let said = |name: &str| task.context.global.get(name);
    let allowed = |name: &str| said(name).is_some_and(|said| said.owned || said.temporary);
    let written = |name: &str| {
        let object = task.module.global(name).and_then(|global| objects.global(global));
        object.is_some_and(|object| initial.changed.contains(&object))
    };
    let changing = extract::changing_copies(residual);
    let begun = changing.iter().find(|name| said(name).is_some_and(|said| said.owned) && written(name));
    if let Some(name) = begun {
        return Err(Error(format!(
            "{name} can't be `owned`: an initialiser writes to it, and the residual program's own would begin \
             without that; make it visible to the residual program, or say that it is `constant`"
        )));
    }
    let copies: Vec<Rc<str>> = changing.into_iter().filter(|name| !allowed(name)).collect();
    if copies.is_empty() {
        return Ok(());
    }
    Err(Error(format!(
        "the residual program needs {}, which the original program declares `static`: make it visible \
         there; or say in the context that it is `temporary`, or that the residual program may have its \
         own (`owned = true`)",
        copies.join(", ")
    )))
}
