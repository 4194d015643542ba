//! What the context gives: the values of arguments, and what they point to.

use super::error::Error;
use super::facts::Facts;
use super::machine::Machine;
use super::memory::{Contents, Held};
use super::objects::{Identity, Origin};
use super::stop::Stop;
use super::value::Value;
use crate::context::{Content, ContentType};
use crate::extract;
use crate::ir::{Const, Module, Operand, Type, ValueId};
use std::rc::Rc;

impl Machine<'_> {
    /// What an argument of the entry is known to be.
    pub(super) fn argument(&mut self, facts: &mut Facts, at: u32, value: ValueId) -> Result<Value, Stop> {
        let param = self.task.params[at as usize].clone();
        let name = param.name.as_deref().unwrap_or("").to_owned();
        let known =
            self.task.context.argument.get(&name).or_else(|| self.task.context.argument.get(&at.to_string()));
        if param.ty != Type::Ptr {
            return Ok(match (known.and_then(|known| known.value), &param.ty) {
                (Some(known), Type::Int(bits)) => Value::int(*bits, known as u128),
                _ => Value::Dynamic(value),
            });
        }
        if let Some(symbol) = known.and_then(|known| known.symbol.as_deref()) {
            return self.symbol(symbol, 0);
        }
        if known.is_some_and(|known| known.value == Some(0)) {
            return Ok(Value::Const(Const::Null));
        }
        let said = known.cloned().unwrap_or_default();
        let unaliased = said.unaliased || param.attributes.noalias || param.attributes.byval.is_some();
        let object = self.objects.intern(Identity::Argument(at), || Origin {
            name: if name.is_empty() { format!("argument {at}") } else { name }.into(),
            size: said.size,
            align: said.align.or(param.attributes.align).unwrap_or(1).max(1),
            constant: false,
            shared: !unaliased,
            allocated: said.size.is_none()
                && said.align.is_none()
                && !said.unaliased
                && said.contents.is_empty(),
        });
        let mut contents = Contents { real: true, escaped: !unaliased, ..Contents::default() };
        for content in &said.contents {
            contents.put(content.at, content.bytes(), Held::Value(self.content(content)?, 0));
        }
        self.bases.insert(object, Operand::Value(value));
        facts.memory.insert(object, contents);
        Ok(Value::Pointer(object, 0))
    }

    fn content(&mut self, content: &Content) -> Result<Value, Stop> {
        match (&content.symbol, content.value) {
            (Some(symbol), _) => self.symbol(symbol, content.offset),
            (None, Some(value)) if content.ty != ContentType::Ptr => {
                Ok(Value::int(content.ty.bits(), value as u128))
            }
            _ => Ok(Value::Const(Const::Null)),
        }
    }

    pub(super) fn symbol(&mut self, name: &str, offset: i64) -> Result<Value, Stop> {
        if let Some(function) = self.task.module.function(name) {
            return Ok(Value::Const(Const::Function(function)));
        }
        match self.task.module.global(name) {
            Some(global) => Ok(Value::Pointer(self.objects.global_of(global, self.task.module), offset)),
            None => Err(Stop::Fail(format!("the context names {name}, which the program hasn't got"))),
        }
    }

    /// A variable that only its module sees can't be reached from the residual program. It may have a copy if the
    /// context allows that; else what the one does with it the other wouldn't see.
    pub(super) fn check_copies(&self, residual: &Module) -> Result<(), Error> {
        let said = |name: &str| self.task.context.global.get(name);
        let allowed = |name: &str| said(name).is_some_and(|said| said.owned || said.temporary);
        let written = |name: &str| {
            let object = self.task.module.global(name).and_then(|global| self.objects.global(global));
            object.is_some_and(|object| self.initial.changed.contains(&object))
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
}
