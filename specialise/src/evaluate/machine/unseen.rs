//! Calls that are left to the residual program: the memory that they may read, and the memory that they may have
//! changed.

use super::Machine;
use super::operands::Leak;
use crate::evaluate::facts::Facts;
use crate::evaluate::stop::Stop;
use crate::evaluate::value::Value;
use crate::ir::{CallAttributes, Const, Effects, Op, ParamAttributes, Type};
use std::rc::Rc;

impl Machine<'_> {
    /// Leaves a call to the residual program. The arguments have the types that the program uses.
    pub fn unseen_call(
        &mut self,
        facts: &mut Facts,
        ty: &Type,
        callee: &Value,
        args: &[(Value, Type)],
        variadic: Option<usize>,
        attributes: &Rc<CallAttributes>,
    ) -> Result<Value, Stop> {
        let effects = self.effects_of(callee, attributes);
        let declared: Vec<ParamAttributes> = match callee {
            Value::Const(Const::Function(f)) => {
                self.program.function(*f).params.iter().map(|p| p.attributes.clone()).collect()
            }
            _ => Vec::new(),
        };
        let said = |at: usize, what: fn(&ParamAttributes) -> bool| {
            declared.get(at).is_some_and(what) || attributes.params.get(at).is_some_and(what)
        };
        let (mut passed, mut lent) = (Vec::new(), Vec::new());
        for (at, (arg, ty)) in args.iter().enumerate() {
            let kept =
                !(effects == Effects::None || said(at, |p| p.nocapture) || said(at, |p| p.byval.is_some()));
            if let Some(object) = self.pointee(arg) {
                if kept {
                    self.escape(facts, object)?;
                } else {
                    self.materialise(facts, object)?;
                    if !said(at, |p| p.readonly || p.byval.is_some()) {
                        lent.push(object);
                    }
                }
            }
            let leak = if kept { Leak::Yes } else { Leak::No };
            passed.push(self.operand(facts, arg, ty, leak)?);
        }
        let writes = matches!(effects, Effects::Any | Effects::Arguments | Effects::ArgumentsOrInaccessible);
        if writes {
            for object in &lent {
                self.clobber(facts, *object)?;
            }
            self.clobber_escaped(facts)?;
        }
        let callee = self.operand(facts, callee, &Type::Ptr, Leak::Yes)?;
        let op = Op::Call { callee, args: passed, variadic, attributes: attributes.clone() };
        if *ty == Type::Void {
            self.effect(facts, op);
            return Ok(Value::undef(&Type::Int(1)));
        }
        Ok(Value::Dynamic(self.emit(facts, ty.clone(), op)))
    }

    /// The memory that a function touches, according to its declaration and the call.
    fn effects_of(&self, callee: &Value, attributes: &CallAttributes) -> Effects {
        let declared = match callee {
            Value::Const(Const::Function(function)) => self.program.function(*function).memory,
            _ => Effects::Any,
        };
        match (attributes.memory, declared) {
            (Some(Effects::None), _) | (_, Effects::None) => Effects::None,
            (Some(said), Effects::Any) => said,
            (_, declared) => declared,
        }
    }
}
