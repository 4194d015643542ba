//! What comes out: the residual module, or one that calls the generic code and says why.

use super::error::Error;
use super::evaluator::Evaluator;
use super::machine::Machine;
use super::report::Specialised;
use crate::ir::{CallAttributes, Code, Const, Effects, Function, Module, Op, Operand, Terminator, Type};
use crate::{extract, passes};
use std::rc::Rc;

impl Evaluator<'_> {
    /// Puts the residual module together.
    pub(super) fn finish(mut self, attempts: u32) -> Result<Specialised, Error> {
        let report = &mut self.machine.notes.report;
        report.attempts = attempts;
        report.spent = std::mem::take(&mut self.meter.spent.given_up);
        report.evaluated = self.meter.evaluated;
        report.residual = self.machine.residual.size;
        let module = self.machine.module()?;
        Ok(Specialised { module, report: self.machine.notes.report })
    }
}

impl Machine<'_> {
    /// Makes the residual function one that only calls the generic one.
    pub(super) fn keep_generic(&mut self, reason: &str) {
        let task = self.task;
        let generic = self.program.function(task.entry);
        let result = generic.result.clone();
        self.notes.kept(&generic.name, reason);
        let mut args = Vec::new();
        for param in &task.params {
            let name = param.name.as_deref().unwrap_or("");
            args.push(Operand::Value(self.residual.value(param.ty.clone(), name)));
        }
        let block = self.residual.block(format!("generic, because {reason}"));
        let attributes = CallAttributes {
            params: task.params.iter().map(|param| param.attributes.clone()).collect(),
            ..CallAttributes::default()
        };
        let callee = Operand::Const(Const::Function(task.entry));
        let op = Op::Call { callee, args, variadic: None, attributes: Rc::new(attributes) };
        let value = if result == Type::Void {
            self.residual.effect(block, op);
            None
        } else {
            Some(Operand::Value(self.residual.emit(block, result, op)))
        };
        self.residual.end(block, Terminator::Return(value));
    }

    /// The residual module.
    fn module(&mut self) -> Result<Module, Error> {
        let task = self.task;
        let body = std::mem::take(&mut self.residual).finish();
        let entry = self.program.function(task.entry);
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
        let extra = std::mem::take(&mut self.program.found.extra);
        let mut module = extract::extract(task.module, extra, vec![residual]).map_err(Error)?;
        passes::polish(&mut module);
        self.fill_constant_copies(&mut module);
        self.check_copies(&module)?;
        Ok(module)
    }

    /// Copies of variables that are constant since the initialisers have run hold what these left, as far as it is
    /// numbers.
    fn fill_constant_copies(&self, module: &mut Module) {
        for copy in module.globals.iter_mut().filter(|copy| copy.internal && !copy.constant) {
            let object = self.task.module.global(&copy.name).and_then(|global| self.objects.global(global));
            let size = copy.ty.store_size();
            let bytes = object.and_then(|object| self.initial.contents.get(&object)?.bytes(size));
            if let Some(bytes) = bytes {
                copy.ty = Type::Array(size, Rc::new(Type::Int(8)));
                copy.initial = Some(Const::Bytes(bytes.into()));
                copy.constant = true;
            }
        }
    }
}
