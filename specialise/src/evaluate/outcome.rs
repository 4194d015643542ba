//! What comes out: the residual module, or one that calls the generic code and says why.

use super::error::Error;
use super::evaluator::Evaluator;
use super::report::Specialised;
use crate::ir::{CallAttributes, Code, Const, Effects, Function, Module, Op, Operand, Terminator, Type};
use crate::{extract, passes};
use std::rc::Rc;

impl Evaluator<'_> {
    /// The residual function that only calls the generic one.
    pub(super) fn keep_generic(&mut self, reason: &str) {
        let name = self.function(self.entry).name.clone();
        self.report.keep(&name, reason);
        let params = self.params;
        let mut args = Vec::new();
        for param in params {
            args.push(Operand::Value(
                self.residual.value(param.ty.clone(), param.name.as_deref().unwrap_or("")),
            ));
        }
        let block = self.residual.block(format!("generic, because {reason}"));
        let attributes = CallAttributes {
            params: params.iter().map(|param| param.attributes.clone()).collect(),
            ..CallAttributes::default()
        };
        let callee = Operand::Const(Const::Function(self.entry));
        let op = Op::Call { callee, args, variadic: None, attributes: Rc::new(attributes) };
        let result = self.function(self.entry).result.clone();
        let value = if result == Type::Void {
            self.residual.effect(block, op, None);
            None
        } else {
            Some(Operand::Value(self.residual.emit(block, result, op, None)))
        };
        self.residual.end(block, Terminator::Return(value));
    }

    /// Puts the residual module together.
    pub(super) fn finish(mut self, attempts: u32) -> Result<Specialised, Error> {
        self.report.attempts = attempts;
        self.report.spent = std::mem::take(&mut self.learnt.spent.given_up);
        self.report.evaluated = self.evaluated;
        self.report.residual = self.residual.size;
        let body = std::mem::take(&mut self.residual).finish();
        let entry = self.function(self.entry);
        let residual = Function {
            name: self.context.residual_name().into(),
            params: self.params.to_vec(),
            result: entry.result.clone(),
            result_extension: entry.result_extension,
            variadic: false,
            internal: false,
            memory: Effects::Any,
            noreturn: entry.noreturn,
            code: Code::Body(Rc::new(body)),
            comment: format!("{}, specialised", entry.name),
        };
        let extra = std::mem::take(&mut self.learnt.extra);
        let mut module = extract::extract(self.module, extra, vec![residual]).map_err(Error)?;
        passes::polish(&mut module);
        self.fill_constant_copies(&mut module);
        self.check_copies(&module)?;
        Ok(Specialised { module, report: self.report })
    }

    /// Copies of variables that are constant since the initialisers have run hold what these left, as far as it is
    /// numbers.
    fn fill_constant_copies(&self, module: &mut Module) {
        for copy in module.globals.iter_mut().filter(|copy| copy.internal && !copy.constant) {
            let object = self.module.global(&copy.name).and_then(|global| self.learnt.objects.global(global));
            let size = copy.ty.store_size();
            let bytes = object.and_then(|object| self.learnt.initial.get(&object)?.bytes(size));
            if let Some(bytes) = bytes {
                copy.ty = Type::Array(size, Rc::new(Type::Int(8)));
                copy.initial = Some(Const::Bytes(bytes.into()));
                copy.constant = true;
            }
        }
    }
}
