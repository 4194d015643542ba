//! `VARIABLE` parameters: what is passed for them, and how the procedure finds the variable.
//!
//! The parameter's word is the address of the variable that was passed. An element of a collection may move, be deleted
//! and be made again while the procedure runs: then the word is the address of an [`ElementName`] in the caller's
//! frame, marked with [`IS_NAME`], and every use looks the element up. `naming` decides which parameters may be given
//! names, and which elements stay where they are during a call.

use std::mem::{offset_of, size_of};

use drystone_language::program::*;
use drystone_runtime::layout::{ElementName, IS_NAME};

use super::Lower;
use super::builder::Builder;
use super::places::Target;
use crate::entries;
use crate::mir::*;

impl Lower<'_, '_> {
    /// The word for a `VARIABLE` parameter, and what must be dropped after the call.
    pub(super) fn reference(&mut self, place: &Place, needs_name: bool) -> (Reg, Option<Target>) {
        let mut target = self.prepare(place);
        match &target {
            Target::Named(word) => return (*word, None),
            Target::Memory(address) => return (self.code.address(*address), None),
            Target::Register(_) | Target::Character(..) | Target::Field(..) | Target::Item(..) => {
                unreachable!("what is passed lies in memory of its own")
            }
            Target::Element { .. } => {}
        }
        let present =
            if place.ty.is_component() { None } else { Some(self.find_present(&target, place.span)) };
        match present {
            Some(cell) if !needs_name => {
                self.code.drop_target(&target);
                (cell, None)
            }
            _ => {
                self.hold_target(&mut target);
                (self.name_of(&target), Some(target))
            }
        }
    }

    /// Makes a name in the frame.
    fn name_of(&mut self, target: &Target) -> Reg {
        let Target::Element { variable, collection, keys } = target else {
            unreachable!("only elements have names");
        };
        let head = size_of::<ElementName>() as u32;
        let name = self.code.take_words(head / 8 + keys.registers.len() as u32);
        let cell = self.code.address(*collection);
        let description = self.code.symbol(Symbol::Collection(*variable));
        self.code.store(self.code.slot(name + offset_of!(ElementName, cell) as u32), cell);
        self.code.store(self.code.slot(name + offset_of!(ElementName, collection) as u32), description);
        for (index, &key) in keys.registers.iter().enumerate() {
            self.code.store(self.code.slot(name + head + 8 * index as u32), key);
        }
        let address = self.code.address(self.code.slot(name));
        let mark = self.code.int(IS_NAME as i64);
        self.code.op(Op::Or, address, mark)
    }
}

impl Builder {
    /// The address that a parameter's word stands for.
    pub(super) fn find_named(&mut self, word: Reg, absent: IfAbsent) -> Reg {
        self.unless_address(word, |code| match absent {
            IfAbsent::Null => code.call(&entries::NAMED_FIND, vec![word]),
            IfAbsent::Fault(_, location) => {
                let at = code.int(location as i64);
                code.call(&entries::NAMED_PRESENT, vec![word, at])
            }
            IfAbsent::Make(location) => {
                let at = code.int(location as i64);
                code.call(&entries::NAMED_MAKE, vec![word, at])
            }
        })
    }

    /// The address of the variable that a parameter's word leads to: for an element, of its collection.
    pub(super) fn variable_behind(&mut self, word: Reg) -> Reg {
        self.unless_address(word, |code| {
            let mark = code.int(IS_NAME as i64);
            let name = code.op(Op::Xor, word, mark);
            let offset = offset_of!(ElementName, cell) as i32;
            code.load(Address { base: Base::Reg(name), offset, byte: false }, RegType::Int)
        })
    }

    /// The word itself if it is an address; else what `made` gives for the name.
    fn unless_address(&mut self, word: Reg, made: impl FnOnce(&mut Self) -> Reg) -> Reg {
        let to = self.reg(RegType::Int);
        self.inst(Inst::Copy { to, from: word });
        let zero = self.int(0);
        let is_name = self.op(Op::Less, word, zero);
        let (name, done) = (self.new_block(), self.new_block());
        self.end(Terminator::Branch { condition: is_name, yes: name, no: done });
        self.start(name);
        let address = made(self);
        self.inst(Inst::Copy { to, from: address });
        self.go(done);
        self.start(done);
        to
    }

    /// Empties the container that a parameter names, see `empty`.
    pub(super) fn empty_named(&mut self, word: Reg) {
        self.perform(&entries::NAMED_EMPTY, vec![word]);
    }
}
