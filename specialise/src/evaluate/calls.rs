//! Calls: unfolded if the callee is known and its code is there; done here if it is one of the few library functions
//! whose meaning the C standard fixes; else left to the residual program.

use super::evaluator::{Evaluator, Stop};
use super::flow::ENTRY;
use super::memory::{Contents, Origin};
use super::objects::Identity;
use super::operands::Leak;
use super::state::{Frame, PathId, State};
use super::value::Value;
use crate::account::Counted;
use crate::ir::{
    CallAttributes, Const, Effects, FunctionId, Instruction, Op, Operand, ParamAttributes, Type,
};
use std::rc::Rc;

/// What is done with a call of a known function.
enum Unfolding {
    /// It is evaluated in its place.
    Enter,
    /// It goes back to the beginning of an activation of the same function.
    GoBack(usize),
    /// It is left to the residual program.
    Keep,
}

impl Evaluator<'_> {
    pub(super) fn call(
        &mut self,
        state: &mut State,
        instruction: &Instruction,
        callee: &Operand,
        args: &[Operand],
        variadic: Option<usize>,
        attributes: &Rc<CallAttributes>,
    ) -> Result<(), Stop> {
        let callee = self.value(state, callee);
        let args: Vec<Value> = args.iter().map(|arg| self.value(state, arg)).collect();
        if let Value::Const(Const::Function(function)) = callee {
            let name = self.function(function).name.clone();
            if let Some(result) = self.library(state, instruction, &name, &args)? {
                self.give(state, instruction, result);
                return Ok(());
            }
            match self.unfolding(state, function, &args, &name, attributes)? {
                Unfolding::Enter => return self.enter(state, function, args, attributes),
                Unfolding::GoBack(depth) => return self.go_back_to(state, depth, function, args, attributes),
                Unfolding::Keep => {}
            }
        }
        let result = self.residual_call(state, instruction, &callee, &args, variadic, attributes)?;
        self.give(state, instruction, result);
        Ok(())
    }

    /// Enters a function.
    pub(super) fn enter(
        &mut self,
        state: &mut State,
        function: FunctionId,
        args: Vec<Value>,
        attributes: &Rc<CallAttributes>,
    ) -> Result<(), Stop> {
        let Some((body, flow)) = self.body(function).map_err(Stop::Fail)? else {
            return Err(Stop::Fail(format!("the code of {} is not there", self.function(function).name)));
        };
        let path = match state.frames.last() {
            Some(caller) => self.learnt.objects.path(caller.path, caller.block, caller.index, function),
            None => PathId(0),
        };
        let mut values: Vec<Value> = body.types.iter().map(Value::undef).collect();
        let mut locals = Vec::new();
        let taken = self.function(function).params.len();
        for (at, arg) in args.into_iter().take(taken).enumerate() {
            let declared = self.function(function).params[at].attributes.byval;
            let byval = declared.or_else(|| attributes.params.get(at).and_then(|p| p.byval));
            values[at] = match byval {
                Some((size, align)) if !state.frames.is_empty() => {
                    let copy = self.learnt.objects.intern(Identity::Copy(path, at as u32), || Origin {
                        name: format!("copy of argument {at}").into(),
                        size: Some(size),
                        align: align.max(1),
                        constant: false,
                        shared: false,
                        allocated: false,
                    });
                    state.memory.insert(copy, Contents::default());
                    locals.push(copy);
                    let to = Value::Pointer(copy, 0);
                    self.copy_bytes(state, &to, &arg, &Value::int(64, u128::from(size)))?;
                    to
                }
                _ => arg,
            };
        }
        let frame = Frame {
            function,
            body,
            flow,
            path,
            block: ENTRY,
            index: 0,
            values: Rc::new(Counted::new(values)),
            locals,
            loops: Counted::default(),
            branches: state.branches,
        };
        state.frames.edit(|frames| frames.push(frame));
        self.visit(function, ENTRY);
        self.begin_recursion(state);
        Ok(())
    }

    /// Hands a call's result over and goes on after it.
    pub(super) fn give(&mut self, state: &mut State, instruction: &Instruction, value: Value) {
        if let Some(result) = instruction.result {
            if let Value::Dynamic(residual) = value {
                self.name_like(state, result, residual);
            }
            state.top().set(result, value);
        }
        state.top().index += 1;
    }

    /// What a function touches in memory, by its declaration and the call.
    fn effects(&self, callee: &Value, attributes: &CallAttributes) -> Effects {
        let declared = match callee {
            Value::Const(Const::Function(function)) => self.function(*function).memory,
            _ => Effects::Any,
        };
        match (attributes.memory, declared) {
            (Some(Effects::None), _) | (_, Effects::None) => Effects::None,
            (Some(said), Effects::Any) => said,
            (_, declared) => declared,
        }
    }

    /// Leaves a call to the residual program.
    fn residual_call(
        &mut self,
        state: &mut State,
        instruction: &Instruction,
        callee: &Value,
        args: &[Value],
        variadic: Option<usize>,
        attributes: &Rc<CallAttributes>,
    ) -> Result<Value, Stop> {
        let effects = self.effects(callee, attributes);
        let declared: Vec<ParamAttributes> = match callee {
            Value::Const(Const::Function(f)) => {
                self.function(*f).params.iter().map(|p| p.attributes.clone()).collect()
            }
            _ => Vec::new(),
        };
        let said = |at: usize, what: fn(&ParamAttributes) -> bool| {
            declared.get(at).is_some_and(what) || attributes.params.get(at).is_some_and(what)
        };
        let body = state.top().body.clone();
        let Op::Call { args: operands, .. } = &instruction.op else {
            return Err(Stop::Fail("a call that is none".into()));
        };
        let (mut passed, mut lent) = (Vec::new(), Vec::new());
        for (at, arg) in args.iter().enumerate() {
            let ty = operands.get(at).map_or_else(|| self.type_of(arg), |operand| body.type_of(operand));
            let kept =
                !(effects == Effects::None || said(at, |p| p.nocapture) || said(at, |p| p.byval.is_some()));
            if let Some(object) = self.pointee(arg) {
                if kept {
                    self.escape(state, object)?;
                } else {
                    self.materialise(state, object)?;
                    if !said(at, |p| p.readonly || p.byval.is_some()) {
                        lent.push(object);
                    }
                }
            }
            let leak = if kept { Leak::Yes } else { Leak::No };
            passed.push(self.operand(state, arg, &ty, leak)?);
        }
        let writes = matches!(effects, Effects::Any | Effects::Arguments | Effects::ArgumentsOrInaccessible);
        if writes {
            for object in &lent {
                self.clobber(state, *object)?;
            }
            self.clobber_escaped(state)?;
        }
        let callee = self.operand(state, callee, &Type::Ptr, Leak::Yes)?;
        let op = Op::Call { callee, args: passed, variadic, attributes: attributes.clone() };
        if instruction.ty == Type::Void {
            self.effect(state, op);
            return Ok(Value::undef(&Type::Int(1)));
        }
        Ok(Value::Dynamic(self.emit(state, instruction.ty.clone(), op)))
    }

    /// What is done with a call of a known function.
    fn unfolding(
        &mut self,
        state: &State,
        function: FunctionId,
        args: &[Value],
        name: &str,
        attributes: &CallAttributes,
    ) -> Result<Unfolding, Stop> {
        if let Some(reason) = self.never_unfolded(function, args, name) {
            self.report_kept(name, &reason);
            return Ok(Unfolding::Keep);
        }
        let active: Vec<usize> =
            (0..state.frames.len()).filter(|at| state.frames[*at].function == function).collect();
        if let Some(last) = active.last()
            && active.len() >= self.context.budget.recursion
            && state.frames[*last].branches != state.branches
        {
            if self.may_go_back(state, *last, function, args, attributes) {
                return Ok(Unfolding::GoBack(*last));
            }
            self.report_kept(name, "how often it calls itself is not known");
            return Ok(Unfolding::Keep);
        }
        if state.frames.len() >= self.context.budget.depth {
            self.report_kept(name, "the calls within one another are too many");
            return Ok(Unfolding::Keep);
        }
        Ok(Unfolding::Enter)
    }

    /// Why a function is never unfolded, if it isn't.
    fn never_unfolded(&mut self, function: FunctionId, args: &[Value], name: &str) -> Option<String> {
        if self.context.keep.iter().any(|kept| kept == name) {
            return Some("the context says so".into());
        }
        if self.is_variadic(function) {
            return Some("it takes a variable number of arguments".into());
        }
        if self.is_replaceable(function) {
            return Some("another module may define it".into());
        }
        match self.body(function) {
            Err(reason) => Some(reason),
            Ok(None) => Some("its code is not there".into()),
            // More than it takes are passed in vain, as the calling convention allows; fewer can't be.
            Ok(Some(_)) if self.function(function).params.len() > args.len() => {
                Some("it is called with fewer arguments than it takes".into())
            }
            Ok(Some(_)) => None,
        }
    }

    /// A call of an intrinsic that does nothing but compute, to be appended.
    pub(super) fn intrinsic(&mut self, name: &str, params: &[Type], result: &Type, args: Vec<Operand>) -> Op {
        let function = self.external(name, params, result, Effects::None);
        let callee = Operand::Const(Const::Function(function));
        Op::Call { callee, args, variadic: None, attributes: Rc::default() }
    }

    /// Appends a call of `memcpy`, `memmove` or `memset`.
    pub(super) fn emit_memory_call(
        &mut self,
        state: &State,
        name: &str,
        mut args: Vec<Operand>,
    ) -> Result<(), Stop> {
        let (full, second) = match name {
            "memset" => ("llvm.memset.p0.i64".to_owned(), Type::Int(8)),
            _ => (format!("llvm.{name}.p0.p0.i64"), Type::Ptr),
        };
        let params = [Type::Ptr, second, Type::WORD, Type::Int(1)];
        let function = self.external(&full, &params, &Type::Void, Effects::Arguments);
        args.push(Operand::Const(Const::int(1, 0)));
        let callee = Operand::Const(Const::Function(function));
        self.effect(state, Op::Call { callee, args, variadic: None, attributes: Rc::default() });
        Ok(())
    }
}
