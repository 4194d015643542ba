//! Rewrites the code of a module for the module that it has been joined to.

use super::error::LinkError;
use super::names::{Item, Targets, moved};
use crate::ir::{Body, Code, Const, Function, Operand, PlaceId, Places, Source, Unread, Unsupported};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// The conversion of the names and places of a module.
#[derive(Debug)]
pub(super) struct Relink {
    module: Rc<str>,
    number: usize,
    targets: Rc<Targets>,
    from: Rc<Places>,
    to: Rc<Places>,
    /// The places converted so far.
    known: RefCell<HashMap<PlaceId, PlaceId>>,
}

impl Relink {
    /// The conversion for a module, given by its name, number and places.
    pub fn new(
        module: Rc<str>,
        number: usize,
        targets: Rc<Targets>,
        from: Rc<Places>,
        to: Rc<Places>,
    ) -> Relink {
        Relink { module, number, targets, from, to, known: RefCell::default() }
    }

    /// Converts a constant of the module.
    pub fn constant(&self, constant: &Const) -> Result<Const, LinkError> {
        moved(constant, &self.module, &|item| {
            Ok(match item {
                Item::Function(at) => self.targets.functions[self.number][at].clone(),
                Item::Global(at) => self.targets.globals[self.number][at].clone(),
                Item::Alias(_) => Const::Null,
            })
        })
    }

    fn place(&self, place: PlaceId) -> PlaceId {
        if let Some(known) = self.known.borrow().get(&place) {
            return *known;
        }
        let mut copy = self.from.get(place);
        // A chain of inlined calls is short: the reader has checked that.
        copy.inlined_at = copy.inlined_at.map(|outer| self.place(outer));
        let new = self.to.add(copy);
        self.known.borrow_mut().insert(place, new);
        new
    }

    fn body(&self, body: &mut Body) -> Result<(), LinkError> {
        let relink = |operand: &mut Operand| {
            if let Operand::Const(constant) = operand {
                *constant = self.constant(constant)?;
            }
            Ok(())
        };
        for block in &mut body.blocks {
            block.place = block.place.map(|place| self.place(place));
            for instruction in &mut block.instructions {
                instruction.place = instruction.place.map(|place| self.place(place));
                instruction.op.operands_mut().try_for_each(relink)?;
            }
            block.terminator.operand_mut().map_or(Ok(()), relink)?;
        }
        Ok(())
    }
}

/// Converts the code of a function.
pub(super) fn code(code: Code, relink: &Rc<Relink>) -> Result<Code, LinkError> {
    Ok(match code {
        Code::Declared => Code::Declared,
        Code::Body(body) => {
            let mut body = Rc::unwrap_or_clone(body);
            relink.body(&mut body)?;
            Code::Body(Rc::new(body))
        }
        Code::Unread(unread) => {
            Code::Unread(Unread::new(Relinked { source: unread.into_source(), relink: relink.clone() }))
        }
    })
}

/// A body that is relinked after it has been read.
#[derive(Debug)]
struct Relinked {
    source: Box<dyn Source>,
    relink: Rc<Relink>,
}

impl Source for Relinked {
    fn read(&self, function: &Function) -> Result<Body, Unsupported> {
        let mut body = self.source.read(function)?;
        self.relink.body(&mut body).map_err(|error| Unsupported {
            function: function.name.clone(),
            file: self.relink.module.clone(),
            line: 0,
            what: error.to_string(),
            excerpt: String::new(),
        })?;
        Ok(body)
    }

    fn parameter_names(&self) -> Vec<(usize, String)> {
        self.source.parameter_names()
    }
}
