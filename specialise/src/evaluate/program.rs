//! The functions of the program, and functions that the residual program adds.

use super::flow::Flow;
use crate::account::Room;
use crate::ir::{BlockId, Body, Code, Const, Effects, Function, FunctionId, Module, Op, Operand, Type};
use std::collections::HashMap;
use std::rc::Rc;

/// The functions of the C library that return more than once.
const RETURN_TWICE: [&str; 7] =
    ["setjmp", "_setjmp", "sigsetjmp", "__sigsetjmp", "vfork", "getcontext", "swapcontext"];

/// A function's code and its control flow.
pub(super) type Analysed = (Rc<Body>, Rc<Flow>);

/// Findings about functions, and added functions.
#[derive(Default)]
pub(super) struct Found {
    flows: HashMap<FunctionId, Analysed>,
    /// Functions that the residual program needs and the program lacks.
    pub extra: Vec<Function>,
}

/// The functions of the program, and the findings about them.
pub(super) struct Program<'m> {
    pub module: &'m Module,
    pub found: &'m mut Found,
    /// The limit of memory, in bytes.
    pub memory: u64,
}

impl Program<'_> {
    /// A function of the program, or one that the residual program adds.
    pub fn function(&self, function: FunctionId) -> &Function {
        let known = self.module.functions.len();
        match self.module.functions.get(function.0 as usize) {
            Some(function) => function,
            None => &self.found.extra[function.0 as usize - known],
        }
    }

    /// The id of a function with this name, which is declared if it does not exist.
    pub fn external(&mut self, name: &str, params: &[Type], result: &Type, memory: Effects) -> FunctionId {
        if let Some(known) = self.module.function(name) {
            return known;
        }
        let known = self.module.functions.len() as u32;
        if let Some(at) = self.found.extra.iter().position(|f| &*f.name == name) {
            return FunctionId(known + at as u32);
        }
        self.found.extra.push(Function::declared(name, params, result.clone(), memory));
        FunctionId(known + self.found.extra.len() as u32 - 1)
    }

    pub fn is_defined(&self, name: &str) -> bool {
        let function = self.module.function(name);
        function.is_some_and(|f| !matches!(self.function(f).code, Code::Declared))
    }

    /// Whether the program may run with a different definition of a function.
    pub fn is_replaceable(&self, function: FunctionId) -> bool {
        self.module.replaceable.contains(&self.function(function).name)
    }

    /// Whether a function may have no definition, so that its address is null.
    pub fn may_be_missing(&self, function: FunctionId) -> bool {
        let function = self.function(function);
        matches!(function.code, Code::Declared) && self.module.weak.contains(&function.name)
    }

    pub fn is_variadic(&self, function: FunctionId) -> bool {
        self.function(function).variadic
    }

    /// A function's code and its control flow; none if it is only declared.
    pub fn body(&mut self, function: FunctionId) -> Result<Option<Analysed>, String> {
        if let Some((body, flow)) = self.found.flows.get(&function) {
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
        let flow = Rc::new(Flow::new(&body, Room::within(self.memory))?);
        self.found.flows.insert(function, (body.clone(), flow.clone()));
        Ok(Some((body, flow)))
    }

    /// A called function that may return more than once. Facts known at its first return do not hold at its second.
    fn returns_twice(&self, body: &Body) -> Option<&str> {
        let calls =
            body.blocks.iter().flat_map(|block| &block.instructions).filter_map(|call| match &call.op {
                Op::Call { callee: Operand::Const(Const::Function(callee)), .. } => Some(*callee),
                _ => None,
            });
        let mut names = calls.map(|callee| &*self.function(callee).name);
        names.find(|name| RETURN_TWICE.contains(name))
    }

    /// A call of a pure intrinsic, to be added to the residual program.
    pub fn intrinsic(&mut self, name: &str, params: &[Type], result: &Type, args: Vec<Operand>) -> Op {
        let function = self.external(name, params, result, Effects::None);
        let callee = Operand::Const(Const::Function(function));
        Op::Call { callee, args, variadic: None, attributes: Rc::default() }
    }

    /// A call of `memcpy`, `memmove` or `memset`, to be added to the residual program.
    pub fn memory_call(&mut self, name: &str, mut args: Vec<Operand>) -> Op {
        let (full, second) = match name {
            "memset" => ("llvm.memset.p0.i64".to_owned(), Type::Int(8)),
            _ => (format!("llvm.{name}.p0.p0.i64"), Type::Ptr),
        };
        let params = [Type::Ptr, second, Type::WORD, Type::Int(1)];
        let function = self.external(&full, &params, &Type::Void, Effects::Arguments);
        args.push(Operand::Const(Const::int(1, 0)));
        let callee = Operand::Const(Const::Function(function));
        Op::Call { callee, args, variadic: None, attributes: Rc::default() }
    }

    /// A place in words: the function, and the line if it is known.
    pub fn describe(&self, function: FunctionId, block: BlockId) -> String {
        let name = &self.function(function).name;
        let line = self.found.flows.get(&function).and_then(|(body, _)| {
            let code = &body.blocks[block.0 as usize];
            let places = code.instructions.iter().map(|instruction| instruction.place).chain([code.place]);
            places.flatten().map(|place| self.module.place(place)).find(|place| place.line != 0)
        });
        line.map_or_else(|| name.to_string(), |place| format!("{name} ({}:{})", place.file, place.line))
    }
}
