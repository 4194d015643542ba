//! The functions of the program, and those that the residual program adds to them.

use super::evaluator::{Analysed, Evaluator};
use super::flow::Flow;
use crate::account::Room;
use crate::ir::{Body, Code, Const, Effects, Function, FunctionId, Op, Operand, Type};
use std::rc::Rc;

/// The functions of the C library that return more than once.
const RETURN_TWICE: [&str; 7] =
    ["setjmp", "_setjmp", "sigsetjmp", "__sigsetjmp", "vfork", "getcontext", "swapcontext"];

impl Evaluator<'_> {
    /// A function of the program or one that the residual program adds.
    pub(super) fn function(&self, function: FunctionId) -> &Function {
        let known = self.module.functions.len();
        match self.module.functions.get(function.0 as usize) {
            Some(function) => function,
            None => &self.learnt.extra[function.0 as usize - known],
        }
    }

    /// The id of a function by its name, declared if it isn't there.
    pub(super) fn external(
        &mut self,
        name: &str,
        params: &[Type],
        result: &Type,
        memory: Effects,
    ) -> FunctionId {
        if let Some(known) = self.module.function(name) {
            return known;
        }
        let known = self.module.functions.len() as u32;
        if let Some(at) = self.learnt.extra.iter().position(|f| &*f.name == name) {
            return FunctionId(known + at as u32);
        }
        self.learnt.extra.push(Function::declared(name, params, result.clone(), memory));
        FunctionId(known + self.learnt.extra.len() as u32 - 1)
    }

    pub(super) fn is_defined(&self, name: &str) -> bool {
        let function = self.module.function(name);
        function.is_some_and(|f| !matches!(self.function(f).code, Code::Declared))
    }

    /// Whether the program may run with another definition of a function than the one that is here.
    pub(super) fn is_replaceable(&self, function: FunctionId) -> bool {
        self.module.replaceable.contains(&self.function(function).name)
    }

    /// Whether nobody may define a function, so that its address is null.
    pub(super) fn may_be_missing(&self, function: FunctionId) -> bool {
        let function = self.function(function);
        matches!(function.code, Code::Declared) && self.module.weak.contains(&function.name)
    }

    pub(super) fn is_variadic(&self, function: FunctionId) -> bool {
        self.function(function).variadic
    }

    /// A function's code and its control flow; none if it is only declared.
    pub(super) fn body(&mut self, function: FunctionId) -> Result<Option<Analysed>, String> {
        if let Some((body, flow)) = self.learnt.flows.get(&function) {
            return Ok(Some((body.clone(), flow.clone())));
        }
        if function.0 as usize >= self.module.functions.len() {
            return Ok(None);
        }
        let Some(body) = self.module.body(function).map_err(|error| error.to_string())? else {
            return Ok(None);
        };
        if let Some(name) = self.returns_twice(&body) {
            return Err(format!("{} calls {name}, which returns twice", self.function(function).name));
        }
        let flow = Rc::new(Flow::new(&body, Room::within(self.budget().memory))?);
        self.learnt.flows.insert(function, (body.clone(), flow.clone()));
        Ok(Some((body, flow)))
    }

    /// A function that a body calls and that may return more than once: what is known before the second time is not
    /// what was known before the first.
    fn returns_twice(&self, body: &Body) -> Option<&str> {
        let calls =
            body.blocks.iter().flat_map(|block| &block.instructions).filter_map(|call| match &call.op {
                Op::Call { callee: Operand::Const(Const::Function(callee)), .. } => Some(*callee),
                _ => None,
            });
        let mut names = calls.map(|callee| &*self.function(callee).name);
        names.find(|name| RETURN_TWICE.contains(name))
    }
}
