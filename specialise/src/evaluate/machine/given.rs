//! Facts from the context: the values of arguments, and the memory that they point to.

use super::Machine;
use crate::context::{Content, ContentType};
use crate::evaluate::facts::Facts;
use crate::evaluate::memory::{Contents, Held};
use crate::evaluate::objects::{Identity, Origin};
use crate::evaluate::stop::Stop;
use crate::evaluate::value::Value;
use crate::ir::{Const, Operand, Type, ValueId};

impl Machine<'_> {
    /// The value of an argument of the entry.
    pub fn argument(&mut self, facts: &mut Facts, at: u32, value: ValueId) -> Result<Value, Stop> {
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

    fn symbol(&mut self, name: &str, offset: i64) -> Result<Value, Stop> {
        if let Some(function) = self.task.module.function(name) {
            return Ok(Value::Const(Const::Function(function)));
        }
        match self.task.module.global(name) {
            Some(global) => Ok(Value::Pointer(self.objects.global_of(global, self.task.module), offset)),
            None => Err(Stop::Fail(format!("the context names {name}, which the program hasn't got"))),
        }
    }
}
