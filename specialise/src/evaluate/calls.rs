//! Calls. A call is unfolded if the callee is known and has code; evaluated directly if the callee is one of the few
//! library functions with a meaning fixed by the C standard; otherwise left to the residual program.

use super::evaluator::Evaluator;
use super::flow::ENTRY;
use super::objects::{CallString, Identity};
use super::state::{Frame, State};
use super::stop::Stop;
use super::value::Value;
use crate::account::Counted;
use crate::ir::{CallAttributes, Const, FunctionId, Instruction, Operand, Type};
use std::rc::Rc;

/// The treatment of a call of a known function.
enum Unfolding {
    /// The callee is evaluated in place of the call.
    Enter,
    /// The call goes back to the beginning of an activation of the same function.
    GoBack(usize),
    /// The call is left to the residual program.
    Keep,
}

impl Evaluator<'_> {
    pub(super) fn call(
        &mut self,
        state: &mut State,
        instruction: &Instruction,
        callee: &Operand,
        operands: &[Operand],
        variadic: Option<usize>,
        attributes: &Rc<CallAttributes>,
    ) -> Result<(), Stop> {
        let callee = self.value(state, callee);
        let args: Vec<Value> = operands.iter().map(|operand| self.value(state, operand)).collect();
        if let Value::Const(Const::Function(function)) = callee {
            let name = self.machine.program.function(function).name.clone();
            let site = state.top().site();
            if let Some(result) = self.machine.library(&mut state.facts, site, instruction, &name, &args)? {
                self.give(state, instruction, result);
                return Ok(());
            }
            match self.unfolding(state, function, &args, &name, attributes)? {
                Unfolding::Enter => return self.enter(state, function, args, attributes),
                Unfolding::GoBack(depth) => return self.go_back_to(state, depth, function, args, attributes),
                Unfolding::Keep => {}
            }
        }
        let body = state.top().body.clone();
        let types: Vec<Type> = operands.iter().map(|operand| body.type_of(operand)).collect();
        let args: Vec<(Value, Type)> = args.into_iter().zip(types).collect();
        let result = self.machine.unseen_call(
            &mut state.facts,
            &instruction.ty,
            &callee,
            &args,
            variadic,
            attributes,
        )?;
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
        let Some((body, flow)) = self.machine.program.body(function).map_err(Stop::Fail)? else {
            return Err(Stop::Fail(format!(
                "the code of {} is not there",
                self.machine.program.function(function).name
            )));
        };
        let chain = match state.frames.last() {
            Some(caller) => self.machine.objects.chain(caller.site(), function),
            None => CallString(0),
        };
        let mut values: Vec<Value> = body.types.iter().map(Value::undef).collect();
        let mut locals = Vec::new();
        let taken = self.machine.program.function(function).params.len();
        for (at, arg) in args.into_iter().take(taken).enumerate() {
            let declared = self.machine.program.function(function).params[at].attributes.byval;
            let byval = declared.or_else(|| attributes.params.get(at).and_then(|p| p.byval));
            values[at] = match byval {
                Some((size, align)) if !state.frames.is_empty() => {
                    let name = format!("copy of argument {at}").into();
                    let identity = Identity::Copy(chain, at as u32);
                    let copy = self.machine.argument_copy(&mut state.facts, identity, name, size, align);
                    locals.push(copy);
                    let to = Value::Pointer(copy, 0);
                    self.machine.copy_bytes(
                        &mut state.facts,
                        &to,
                        &arg,
                        &Value::int(64, u128::from(size)),
                    )?;
                    to
                }
                _ => arg,
            };
        }
        let frame = Frame {
            function,
            body,
            flow,
            chain,
            block: ENTRY,
            index: 0,
            values: Rc::new(Counted::new(values)),
            locals,
            loops: Counted::default(),
            branches: state.branches,
        };
        state.frames.edit(|frames| frames.push(frame));
        self.meter.visit(function, ENTRY);
        self.begin_recursion(state);
        Ok(())
    }

    /// Sets a call's result, and goes on after the call.
    pub(super) fn give(&mut self, state: &mut State, instruction: &Instruction, value: Value) {
        if let Some(result) = instruction.result {
            if let Value::Dynamic(residual) = value {
                self.name_like(state, result, residual);
            }
            state.top().set(result, value);
        }
        state.top().index += 1;
    }

    /// Chooses the treatment of a call of a known function.
    fn unfolding(
        &mut self,
        state: &State,
        function: FunctionId,
        args: &[Value],
        name: &str,
        attributes: &CallAttributes,
    ) -> Result<Unfolding, Stop> {
        if let Some(reason) = self.never_unfolded(function, args, name) {
            self.machine.notes.kept(name, &reason);
            return Ok(Unfolding::Keep);
        }
        let active: Vec<usize> =
            (0..state.frames.len()).filter(|at| state.frames[*at].function == function).collect();
        if let Some(last) = active.last()
            && active.len() >= self.meter.budget.recursion
            && state.frames[*last].branches != state.branches
        {
            if self.may_go_back(state, *last, function, args, attributes) {
                return Ok(Unfolding::GoBack(*last));
            }
            self.machine.notes.kept(name, "how often it calls itself is not known");
            return Ok(Unfolding::Keep);
        }
        if state.frames.len() >= self.meter.budget.depth {
            self.machine.notes.kept(name, "the calls within one another are too many");
            return Ok(Unfolding::Keep);
        }
        Ok(Unfolding::Enter)
    }

    /// The reason why a function is never unfolded; `None` if it may be.
    fn never_unfolded(&mut self, function: FunctionId, args: &[Value], name: &str) -> Option<String> {
        if self.machine.task.context.keep.iter().any(|kept| kept == name) {
            return Some("the context says so".into());
        }
        if self.machine.program.is_variadic(function) {
            return Some("it takes a variable number of arguments".into());
        }
        if self.machine.program.is_replaceable(function) {
            return Some("another module may define it".into());
        }
        match self.machine.program.body(function) {
            Err(reason) => Some(reason),
            Ok(None) => Some("its code is not there".into()),
            // The calling convention allows more arguments than parameters, but not fewer.
            Ok(Some(_)) if self.machine.program.function(function).params.len() > args.len() => {
                Some("it is called with fewer arguments than it takes".into())
            }
            Ok(Some(_)) => None,
        }
    }
}
