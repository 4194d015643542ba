//! The values and blocks of a function that is being read. Both may be mentioned before they are defined.

use super::lexer::plain;
use crate::ir::{BlockId, Body, Op, Operand, Type, ValueId};
use std::borrow::Cow;
use std::collections::HashMap;
use std::rc::Rc;

/// Values or blocks, by number or by name.
struct Named<'t> {
    numbered: Vec<Option<u32>>,
    named: HashMap<Cow<'t, str>, u32>,
    /// Greater numbers do not occur in the text.
    limit: usize,
}

impl<'t> Named<'t> {
    fn new(limit: usize) -> Self {
        Named { numbered: Vec::new(), named: HashMap::new(), limit }
    }

    /// The meaning of a name; it becomes `next` if the name has none yet. `None` if such a number can't occur.
    fn find(&mut self, spelling: &'t str, next: u32) -> Option<u32> {
        if spelling.is_empty() {
            return None;
        }
        if !spelling.bytes().all(|byte| byte.is_ascii_digit()) {
            return Some(*self.named.entry(plain(spelling)).or_insert(next));
        }
        self.number(spelling.parse().ok()?, next)
    }

    fn number(&mut self, number: usize, next: u32) -> Option<u32> {
        if number > self.limit {
            return None;
        }
        if self.numbered.len() <= number {
            self.numbered.resize(number + 1, None);
        }
        Some(*self.numbered[number].get_or_insert(next))
    }
}

struct Value {
    ty: Type,
    /// Its position among all definitions; `None` until it is defined.
    defined: Option<u32>,
}

/// The values and blocks of a function.
pub(super) struct Values<'t> {
    values: Named<'t>,
    known: Vec<Value>,
    names: Vec<(u32, Rc<str>)>,
    defined: u32,
    /// Whether all values were defined in the order of their first mentions.
    in_order: bool,
    blocks: Named<'t>,
    /// The position of each block; `None` until it is defined.
    placed: Vec<Option<u32>>,
    count: u32,
    /// The next number of an unnamed value or block.
    next: usize,
}

impl<'t> Values<'t> {
    /// The tables for a text of this many bytes.
    pub(super) fn new(length: usize) -> Self {
        Values {
            values: Named::new(length),
            known: Vec::new(),
            names: Vec::new(),
            defined: 0,
            in_order: true,
            blocks: Named::new(length),
            placed: Vec::new(),
            count: 0,
            next: 0,
        }
    }

    /// The value with this name, which must have this type.
    pub(super) fn mention(&mut self, spelling: &'t str, ty: &Type) -> Result<ValueId, String> {
        let id = self.value(spelling, ty)?;
        if self.known[id as usize].ty != *ty {
            return Err(format!("`%{spelling}` has another type"));
        }
        Ok(ValueId(id))
    }

    fn value(&mut self, spelling: &'t str, ty: &Type) -> Result<u32, String> {
        let next = self.known.len() as u32;
        let id = self.values.find(spelling, next).ok_or_else(|| format!("there is no `%{spelling}`"))?;
        if id == next {
            self.known.push(Value { ty: ty.clone(), defined: None });
        }
        Ok(id)
    }

    /// Defines a value under a name of the text, or under the next number.
    pub(super) fn define(&mut self, spelling: Option<&'t str>, ty: Type) -> Result<ValueId, String> {
        let next = self.known.len() as u32;
        let id = match spelling {
            Some(spelling) => self.value(spelling, &ty)?,
            None => self.values.number(self.next, next).ok_or("too many values")?,
        };
        if id == self.known.len() as u32 {
            self.known.push(Value { ty: ty.clone(), defined: None });
        }
        match spelling.map(|spelling| (spelling, spelling.parse::<usize>())) {
            None => self.next += 1,
            Some((_, Ok(number))) => self.next = self.next.max(number + 1),
            Some((spelling, Err(_))) => self.names.push((id, plain(spelling).into())),
        }
        let value = &mut self.known[id as usize];
        if value.defined.is_some() {
            return Err("this value is there twice".into());
        }
        if value.ty != ty {
            return Err("this value was used as one of another type".into());
        }
        value.defined = Some(self.defined);
        self.in_order &= id == self.defined;
        self.defined += 1;
        Ok(ValueId(id))
    }

    /// Defines a value that has no name or number in the text.
    pub(super) fn insert(&mut self, ty: Type) -> ValueId {
        let id = self.known.len() as u32;
        self.known.push(Value { ty, defined: Some(self.defined) });
        self.in_order &= id == self.defined;
        self.defined += 1;
        ValueId(id)
    }

    /// Defines a parameter under its name, or under the next number.
    pub(super) fn parameter(&mut self, name: Option<&Rc<str>>, ty: Type) -> Result<ValueId, String> {
        let Some(name) = name else { return self.define(None, ty) };
        let id = self.known.len() as u32;
        if self.values.named.insert(Cow::Owned(name.to_string()), id).is_some() {
            return Err(format!("two parameters are called `%{name}`"));
        }
        self.known.push(Value { ty, defined: Some(self.defined) });
        self.names.push((id, name.clone()));
        self.defined += 1;
        Ok(ValueId(id))
    }

    /// The block with this name.
    pub(super) fn block(&mut self, spelling: &'t str) -> Result<BlockId, String> {
        let next = self.placed.len() as u32;
        let id = self.blocks.find(spelling, next).ok_or_else(|| format!("there is no `%{spelling}`"))?;
        if id == next {
            self.placed.push(None);
        }
        Ok(BlockId(id))
    }

    /// Begins a block, under a label or under the next number.
    pub(super) fn place(&mut self, label: Option<&'t str>) -> Result<(), String> {
        let next = self.placed.len() as u32;
        let id = match label {
            Some(label) => self.block(label)?.0,
            None => self.blocks.number(self.next, next).ok_or("too many blocks")?,
        };
        if id == self.placed.len() as u32 {
            self.placed.push(None);
        }
        match label.map(str::parse::<usize>) {
            None => self.next += 1,
            Some(Ok(number)) => self.next = self.next.max(number + 1),
            Some(Err(_)) => {}
        }
        let place = &mut self.placed[id as usize];
        if place.is_some() {
            return Err("this label is there twice".into());
        }
        *place = Some(self.count);
        self.count += 1;
        Ok(())
    }

    /// Finishes a body: checks that all mentioned values and blocks are defined, and numbers them in their order of
    /// definition.
    pub(super) fn settle(self, body: &mut Body) -> Result<(), String> {
        let values: Option<Vec<u32>> = self.known.iter().map(|value| value.defined).collect();
        let values = values.ok_or("a value is used that is nowhere defined")?;
        let blocks: Option<Vec<u32>> = self.placed.iter().copied().collect();
        let blocks = blocks.ok_or("a block is mentioned that is not there")?;
        for block in &mut body.blocks {
            for instruction in &mut block.instructions {
                if let Op::Phi(incoming) = &mut instruction.op {
                    incoming.iter_mut().for_each(|(_, from)| renumber(from, &blocks));
                }
            }
            block.terminator.successors_mut().for_each(|to| renumber(to, &blocks));
        }
        if !self.in_order {
            let renumber = |operand: &mut Operand| {
                if let Operand::Value(value) = operand {
                    value.0 = values[value.0 as usize];
                }
            };
            for block in &mut body.blocks {
                for instruction in &mut block.instructions {
                    if let Some(result) = &mut instruction.result {
                        result.0 = values[result.0 as usize];
                    }
                    instruction.op.operands_mut().for_each(renumber);
                }
                block.terminator.operand_mut().into_iter().for_each(renumber);
            }
        }
        body.types = vec![Type::Void; values.len()];
        for (value, position) in self.known.into_iter().zip(&values) {
            body.types[*position as usize] = value.ty;
        }
        if !self.names.is_empty() {
            body.names = vec!["".into(); values.len()];
        }
        for (id, name) in self.names {
            body.names[values[id as usize] as usize] = name;
        }
        Ok(())
    }
}

fn renumber(block: &mut BlockId, positions: &[u32]) {
    block.0 = positions[block.0 as usize];
}
