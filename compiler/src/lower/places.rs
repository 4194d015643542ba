//! Places: where variables and elements lie, how they are read and written.

use drystone_component::Kind;
use drystone_language::program::*;
use drystone_language::source::Span;
use drystone_runtime::layout::{Fault, Kept};

use super::{Lower, OUTER, Runs, is_byte, reg_type};
use crate::classify::BodyKey;
use crate::effects::has_effects;
use crate::entries;
use crate::mir::*;

/// A place whose indices have been evaluated, but no address that could move has been taken.
pub(super) enum Target {
    Register(Reg),
    Memory(Address),
    Element {
        variable: VariableId,
        collection: Address,
        keys: Keys,
    },
    /// A `VARIABLE` parameter that may name an element: its word, see `references`.
    Named(Reg),
    /// The place of the text, and the index.
    Character(Box<Target>, Reg),
}

/// Evaluated indices of a collection.
pub(super) struct Keys {
    pub registers: Vec<Reg>,
    /// The temporary that owns each, for TEXT keys that are not borrowed.
    slots: Vec<Option<u32>>,
}

impl Lower<'_, '_> {
    pub(super) fn register_of(&mut self, id: VariableId) -> Reg {
        if let Some(&register) = self.registers.get(&id) {
            return register;
        }
        let ty = reg_type(&self.unit.variable(id).ty);
        let register = self.reg(ty);
        self.registers.insert(id, register);
        register
    }

    /// The frame of a procedure around this one.
    fn frame_of(&mut self, procedure: ProcedureId) -> Address {
        let Runs::Procedure(mut current) = self.runs else {
            unreachable!("a body has no procedure around it");
        };
        let mut frame = Base::Frame;
        while current != procedure {
            let Owner::Procedure(around) = self.unit.program.procedures[current.index()].owner else {
                unreachable!("the checker resolved the variable to a procedure around this one");
            };
            let pointer = match (frame, self.outer) {
                (Base::Frame, Some(outer)) => outer,
                _ => self.load(Address { base: frame, offset: OUTER, byte: false }, RegType::Int),
            };
            frame = Base::Reg(pointer);
            current = around;
        }
        Address { base: frame, offset: 0, byte: false }
    }

    /// What to pass as outer frame when calling a procedure that is declared in a procedure.
    pub(super) fn outer_for(&mut self, callee: ProcedureId) -> Option<Reg> {
        let Owner::Procedure(around) = self.unit.program.procedures[callee.index()].owner else {
            return None;
        };
        let frame = self.frame_of(around);
        let to = self.reg(RegType::Int);
        self.inst(Inst::Address { to, of: frame });
        Some(to)
    }

    /// Where a variable in memory lies: its own storage, or for a `VARIABLE` parameter, which names no element, what it
    /// refers to.
    pub(super) fn address_of(&mut self, id: VariableId) -> Address {
        let variable = self.unit.variable(id);
        let byte = variable.collection.is_none() && is_byte(&variable.ty);
        if variable.parameter == Some(Passing::Reference) {
            return Address { base: Base::Reg(self.reference_in(id)), offset: 0, byte };
        }
        self.storage_of(id, byte)
    }

    /// What a `VARIABLE` parameter was given.
    fn reference_in(&mut self, id: VariableId) -> Reg {
        if let Some(&register) = self.registers.get(&id) {
            return register;
        }
        let storage = self.storage_of(id, false);
        self.load(storage, RegType::Int)
    }

    fn storage_of(&mut self, id: VariableId, byte: bool) -> Address {
        let offset = self.unit.layouts.variables[&id] as i32;
        let base = match self.unit.variable(id).owner {
            Owner::Component(_) => match self.displaced(offset) {
                Some(there) => Base::Reg(there),
                None => Base::Instance,
            },
            Owner::Implementation(..) => Base::Process,
            Owner::Procedure(owner) => self.frame_of(owner).base,
            Owner::Program => unreachable!("a variable belongs to a component or a procedure"),
        };
        Address { base, offset, byte }
    }

    /// What stands for the instance's address where the variable at this offset is one that handlers have.
    fn displaced(&mut self, offset: i32) -> Option<Reg> {
        let template = self.template?;
        let (begin, words) = self.unit.layouts.instances[template.index()].kept?;
        let within = begin as i32..begin as i32 + (Kept::WORDS + 8 * words as usize) as i32;
        if !within.contains(&offset) {
            return None;
        }
        let place = Address { base: Base::Instance, offset: begin as i32, byte: false };
        let displacement = self.load(place, RegType::Int);
        let instance = self.own_instance();
        Some(self.op(Op::Add, instance, displacement))
    }

    /// Takes the lock that keeps the handlers of this component away where they run elsewhere, or gives it up.
    pub(super) fn keep_handlers_away(&mut self, away: bool) {
        let Runs::Body(BodyKey::Service(id, number)) = self.runs else { return };
        if !self.unit.program.components[id.index()].implementations[number].handler {
            return;
        }
        let (begin, _) = self.unit.layouts.instances[id.index()].kept.expect("it has handlers");
        let of = Address { base: Base::Instance, offset: begin as i32, byte: false };
        let kept = self.reg(RegType::Int);
        self.inst(Inst::Address { to: kept, of });
        self.perform(if away { &entries::KEEP } else { &entries::GIVE_BACK }, vec![kept]);
    }

    pub(super) fn is_in_register(&self, id: VariableId) -> bool {
        let variable = self.unit.variable(id);
        !matches!(variable.owner, Owner::Component(_))
            && variable.parameter != Some(Passing::Reference)
            && !self.unit.facts.in_memory.contains(&id)
    }

    /// Evaluates the indices of a place.
    pub(super) fn prepare(&mut self, place: &Place) -> Target {
        if let PlaceKind::Element(id, _) | PlaceKind::Variable(id) = place.kind
            && (place.ty.is_component() || matches!(place.kind, PlaceKind::Element(..)))
        {
            self.unit.locations.name(place.span, &self.unit.program.variables[id.index()].name);
        }
        match &place.kind {
            PlaceKind::Variable(id) => self.variable_target(*id),
            PlaceKind::Element(id, indices) => {
                let keys = self.keys(indices);
                Target::Element { variable: *id, collection: self.address_of(*id), keys }
            }
            PlaceKind::Character(id, index) => {
                let index = self.value(index);
                Target::Character(Box::new(self.variable_target(*id)), index)
            }
            PlaceKind::Guarded(inner) => self.prepare(inner),
        }
    }

    fn variable_target(&mut self, id: VariableId) -> Target {
        if self.is_in_register(id) {
            Target::Register(self.register_of(id))
        } else if self.unit.facts.naming.named.contains(&id) {
            Target::Named(self.reference_in(id))
        } else {
            Target::Memory(self.address_of(id))
        }
    }

    pub(super) fn keys(&mut self, indices: &[Expression]) -> Keys {
        let mut keys = Keys { registers: Vec::new(), slots: Vec::new() };
        for (number, index) in indices.iter().enumerate() {
            if index.ty != Type::Text {
                let value = self.value(index);
                keys.registers.push(value);
                keys.slots.push(None);
                continue;
            }
            let text = self.text(index);
            let text = if indices[number + 1..].iter().any(has_effects) { self.own(text) } else { text };
            keys.slots.push(text.slot);
            keys.registers.push(text.reg);
        }
        keys
    }

    /// Makes borrowed TEXT keys safe to hold while other code runs.
    pub(super) fn hold_keys(&mut self, variable: VariableId, keys: &mut Keys) {
        let collection = self.unit.variable(variable).collection.as_ref().expect("a collection");
        for (index, ty) in collection.indices.clone().iter().enumerate() {
            if *ty == Type::Text && keys.slots[index].is_none() {
                let text = self.own_register(keys.registers[index]);
                keys.registers[index] = text.reg;
                keys.slots[index] = text.slot;
            }
        }
    }

    pub(super) fn drop_keys(&mut self, keys: &Keys) {
        for &slot in keys.slots.iter().flatten() {
            self.drop_slot(slot);
            self.give_slot(slot, Kind::Text);
        }
    }

    pub(super) fn is_array(&self, variable: VariableId) -> bool {
        self.unit.variable(variable).collection.as_ref().is_some_and(|collection| collection.array)
    }

    /// A condition that says which elements it reads reads this one.
    fn watch(&mut self, variable: VariableId, collection: Address, keys: &Keys) {
        if self.watches && self.unit.awaited.is_watched(variable) {
            self.inst(Inst::Watch { variable, collection, keys: keys.registers.clone() });
        }
    }

    /// An element is changed that conditions may watch. What is changed without the lock isn't shared by processes, so
    /// nobody awaits it meanwhile; procedures on the processor's stack don't know their callers' lock.
    pub(super) fn wrote(&mut self, variable: VariableId, collection: Address, keys: &Keys) {
        if (self.lock.is_some() || self.code.native) && self.unit.awaited.is_watched(variable) {
            self.inst(Inst::Wrote { variable, collection, keys: keys.registers.clone() });
        }
    }

    /// The address of an element, 0 if it is absent.
    pub(super) fn find(&mut self, target: &Target) -> Reg {
        match target {
            Target::Named(word) => self.find_named(*word, IfAbsent::Null),
            _ => self.look_up(target, IfAbsent::Null),
        }
    }

    /// The address of an element that must be there.
    pub(super) fn find_present(&mut self, target: &Target, span: Span) -> Reg {
        let location = self.location(span);
        match target {
            Target::Named(word) => self.find_named(*word, IfAbsent::Fault(Fault::MissingElement, location)),
            Target::Element { variable, .. } if self.is_array(*variable) => {
                self.look_up(target, IfAbsent::Fault(Fault::IndexOutOfBounds, location))
            }
            _ => self.look_up(target, IfAbsent::Fault(Fault::MissingElement, location)),
        }
    }

    /// The address of an element, which is made if it is not there (of an array it must be).
    pub(super) fn find_or_make(&mut self, target: &Target, span: Span) -> Reg {
        if let Target::Element { variable, collection, keys } = target {
            self.wrote(*variable, *collection, keys);
        }
        let location = self.location(span);
        match target {
            Target::Named(word) => self.find_named(*word, IfAbsent::Make(location)),
            Target::Element { variable, .. } if self.is_array(*variable) => self.find_present(target, span),
            _ => self.look_up(target, IfAbsent::Make(location)),
        }
    }

    /// Where the element lies that is there and will be changed at once.
    pub(super) fn changed_element(&mut self, target: &Target, place: &Place) -> Option<Target> {
        match target {
            Target::Element { variable, collection, keys } => self.wrote(*variable, *collection, keys),
            Target::Named(_) => {}
            _ => return None,
        }
        let cell = self.find_present(target, place.span);
        Some(Target::Memory(cell_of(cell, &place.ty)))
    }

    fn look_up(&mut self, target: &Target, absent: IfAbsent) -> Reg {
        let Target::Element { variable, collection, keys } = target else {
            unreachable!("only elements are looked up");
        };
        self.watch(*variable, *collection, keys);
        let to = self.reg(RegType::Int);
        let (variable, collection, keys) = (*variable, *collection, keys.registers.clone());
        let declared = self.unit.variable(variable).collection.as_ref().expect("it has elements");
        let by_text = declared.indices.contains(&Type::Text);
        self.inst(Inst::Find { to, variable, collection, keys, by_text, absent });
        to
    }

    /// Removes an element of a collection that is no array.
    pub(super) fn remove(&mut self, variable: VariableId, collection: Address, keys: &Keys) -> Reg {
        let cell = self.reg(RegType::Int);
        self.inst(Inst::Address { to: cell, of: collection });
        let description = self.symbol(Symbol::Collection(variable));
        self.wrote(variable, collection, keys);
        let words = self.words(keys);
        self.call(&entries::REMOVE, vec![cell, description, words])
    }

    fn words(&mut self, keys: &Keys) -> Reg {
        let to = self.reg(RegType::Int);
        self.inst(Inst::Words(to, keys.registers.clone()));
        to
    }

    pub(super) fn location_register(&mut self, span: Span) -> Reg {
        let location = self.location(span);
        self.int(location as i64)
    }

    /// Reads a prepared place; a text is borrowed.
    pub(super) fn load_target(&mut self, target: &Target, ty: &Type, span: Span) -> Reg {
        match target {
            Target::Register(register) => *register,
            Target::Memory(address) => self.load(*address, reg_type(ty)),
            Target::Element { .. } | Target::Named(_) => {
                let cell = self.find_present(target, span);
                self.load(cell_of(cell, ty), reg_type(ty))
            }
            Target::Character(text, index) => {
                let text = self.load_target(text, &Type::Text, span);
                let address = self.character(text, *index, span);
                self.load(address, RegType::Int)
            }
        }
    }

    fn character(&mut self, text: Reg, index: Reg, span: Span) -> Address {
        let location = self.location(span);
        let length = self.text_length(text);
        let inside = self.op(Op::LessUnsigned, index, length);
        self.inst(Inst::Require(inside, Fault::IndexOutOfBounds, location));
        let bytes = self.reg(RegType::Int);
        self.inst(Inst::Bytes { to: bytes, text });
        let byte = self.op(Op::Add, bytes, index);
        Address { base: Base::Reg(byte), offset: 0, byte: true }
    }

    /// The length of a text, which may be the null pointer.
    pub(super) fn text_length(&mut self, text: Reg) -> Reg {
        let length = self.reg(RegType::Int);
        self.inst(Inst::Length { to: length, text });
        length
    }

    /// Writes a scalar into a prepared place.
    pub(super) fn store_target(&mut self, target: &Target, ty: &Type, value: Reg, span: Span) {
        match target {
            Target::Register(register) => self.inst(Inst::Copy { to: *register, from: value }),
            Target::Memory(address) => self.store(*address, value),
            Target::Element { .. } | Target::Named(_) => {
                let cell = self.find_or_make(target, span);
                self.store(cell_of(cell, ty), value);
            }
            Target::Character(text, index) => {
                let cell = match **text {
                    Target::Memory(address) => self.address(address),
                    _ => self.find_present(text, span),
                };
                let at = self.location_register(span);
                let status = self.call(&entries::TEXT_SET, vec![cell, *index, value, at]);
                let _ = status;
            }
        }
    }

    /// Writes a text that a temporary owns into a prepared place; the temporary is given back.
    pub(super) fn store_text(&mut self, target: &Target, slot: u32, span: Span) {
        let address = match target {
            Target::Memory(address) => *address,
            Target::Element { .. } | Target::Named(_) => {
                let cell = self.find_or_make(target, span);
                cell_of(cell, &Type::Text)
            }
            Target::Register(_) | Target::Character(..) => unreachable!("a TEXT lies in memory"),
        };
        let old = self.load(address, RegType::Int);
        let new = self.take_from_slot(slot, Kind::Text);
        self.store(address, new);
        self.perform(&entries::TEXT_DROP, vec![old]);
    }

    /// Takes the owned value out of a temporary, which is given back.
    pub(super) fn take_from_slot(&mut self, slot: u32, kind: Kind) -> Reg {
        let address = self.slot(slot);
        let value = self.load(address, RegType::Int);
        let zero = self.int(0);
        self.store(address, zero);
        self.give_slot(slot, kind);
        value
    }

    pub(super) fn drop_target(&mut self, target: &Target) {
        if let Target::Element { keys, .. } = target {
            self.drop_keys(keys);
        }
    }

    /// Makes what a target borrows safe to hold while other code runs.
    pub(super) fn hold_target(&mut self, target: &mut Target) {
        if let Target::Element { variable, keys, .. } = target {
            self.hold_keys(*variable, keys);
        }
    }
}

/// An element's memory; the address has been found.
pub(super) fn cell_of(cell: Reg, ty: &Type) -> Address {
    Address { base: Base::Reg(cell), offset: 0, byte: is_byte(ty) }
}
