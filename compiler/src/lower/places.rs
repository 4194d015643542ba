//! Places: evaluates their indices, and reads and writes what lies there.

use drystone_component::Kind;
use drystone_language::program::*;
use drystone_language::source::Span;
use drystone_runtime::layout::Fault;

use super::Lower;
use super::builder::Builder;
use super::types::{is_byte, reg_type};
use crate::effects::has_effects;
use crate::entries;
use crate::mir::*;

/// A place whose indices have been evaluated. It holds no address of an element, which could move.
pub(super) enum Target {
    Register(Reg),
    Memory(Address),
    Element {
        variable: VariableId,
        collection: Address,
        keys: Keys,
    },
    /// The word of a `VARIABLE` parameter that may name an element, see `references`.
    Named(Reg),
    /// A character: the place of its text, and the index.
    Character(Box<Target>, Reg),
    /// A field: the place of its record, and which record and field that is.
    Field(Box<Target>, RecordId, usize),
    /// An element of a sequence: the place of the sequence, and the index.
    Item(Box<Target>, Reg),
}

impl Target {
    /// The place of the whole value, if this is a part of one.
    pub(super) fn root(&self) -> &Target {
        match self {
            Target::Field(whole, ..) | Target::Item(whole, _) => whole.root(),
            _ => self,
        }
    }
}

/// Evaluated indices of a collection.
pub(super) struct Keys {
    pub registers: Vec<Reg>,
    /// For each key, the temporary that owns it, if it is a TEXT that is not borrowed.
    slots: Vec<Option<u32>>,
}

impl Lower<'_, '_> {
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
                Target::Element {
                    variable: *id,
                    collection: self.scope.address_of(self.unit, &mut self.code, *id),
                    keys,
                }
            }
            PlaceKind::Character(id, index) => {
                let index = self.value(index);
                Target::Character(Box::new(self.variable_target(*id)), index)
            }
            PlaceKind::Field(inner, field) => {
                let Type::Record(id) = inner.ty else { unreachable!("only records have fields") };
                let variable = self.unit.variable(place.variable());
                self.unit.locations.name(place.span, &variable.name);
                Target::Field(Box::new(self.prepare(inner)), id, *field)
            }
            PlaceKind::Item(inner, index) => {
                let mut sequence = self.prepare(inner);
                if has_effects(index) {
                    self.hold_target(&mut sequence);
                }
                let index = self.value(index);
                Target::Item(Box::new(sequence), self.code.snapshot(index))
            }
            PlaceKind::Guarded(inner) => self.prepare(inner),
        }
    }

    fn variable_target(&mut self, id: VariableId) -> Target {
        if self.scope.is_in_register(self.unit, id) {
            Target::Register(self.scope.register_of(self.unit, &mut self.code, id))
        } else if self.unit.facts.naming.named.contains(&id) {
            Target::Named(self.scope.reference_in(self.unit, &mut self.code, id))
        } else {
            Target::Memory(self.scope.address_of(self.unit, &mut self.code, id))
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
            let text = if indices[number + 1..].iter().any(has_effects) { self.code.own(text) } else { text };
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
                let text = self.code.own_register(keys.registers[index]);
                keys.registers[index] = text.reg;
                keys.slots[index] = text.slot;
            }
        }
    }

    pub(super) fn is_array(&self, variable: VariableId) -> bool {
        self.unit.variable(variable).collection.as_ref().is_some_and(|collection| collection.array)
    }

    /// Notes that a condition which names its elements reads this one.
    fn watch(&mut self, variable: VariableId, collection: Address, keys: &Keys) {
        if self.lock.watches && self.unit.awaited.is_watched(variable) {
            self.code.inst(Inst::Watch { variable, collection, keys: keys.registers.clone() });
        }
    }

    /// Notes that an element is changed, if conditions may watch it. Elements that are changed without the lock are not
    /// shared, so no process awaits them; a procedure on the processor's stack does not know its callers' lock.
    pub(super) fn wrote(&mut self, variable: VariableId, collection: Address, keys: &Keys) {
        if (self.lock.mode().is_some() || self.code.is_native()) && self.unit.awaited.is_watched(variable) {
            self.code.inst(Inst::Wrote { variable, collection, keys: keys.registers.clone() });
        }
    }

    /// The address of an element, 0 if it is absent.
    pub(super) fn find(&mut self, target: &Target) -> Reg {
        match target {
            Target::Named(word) => self.code.find_named(*word, IfAbsent::Null),
            _ => self.look_up(target, IfAbsent::Null),
        }
    }

    /// The address of an element that must be there.
    pub(super) fn find_present(&mut self, target: &Target, span: Span) -> Reg {
        let location = self.location(span);
        match target {
            Target::Named(word) => {
                self.code.find_named(*word, IfAbsent::Fault(Fault::MissingElement, location))
            }
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
            Target::Named(word) => self.code.find_named(*word, IfAbsent::Make(location)),
            Target::Element { variable, .. } if self.is_array(*variable) => self.find_present(target, span),
            _ => self.look_up(target, IfAbsent::Make(location)),
        }
    }

    /// Where an element or a part of a value is that is changed before anything can move it. It must be there.
    pub(super) fn changed_element(&mut self, target: &Target, place: &Place) -> Option<Target> {
        match target {
            Target::Element { .. } | Target::Named(_) => {
                let cell = self.cell_to_change(target, place.span);
                Some(Target::Memory(cell_of(cell, &place.ty)))
            }
            Target::Field(record, id, field) => {
                Some(Target::Memory(self.field_to_change(record, *id, *field, place.span)))
            }
            Target::Item(sequence, index) => {
                Some(Target::Memory(self.item_to_change(sequence, *index, place.span)))
            }
            Target::Register(_) | Target::Memory(_) | Target::Character(..) => None,
        }
    }

    /// The address of a text, record or sequence that is changed in its place, before anything can move it. An element
    /// of a collection must be there.
    pub(super) fn cell_to_change(&mut self, target: &Target, span: Span) -> Reg {
        match target {
            Target::Memory(address) => self.code.address(*address),
            Target::Element { variable, collection, keys } => {
                self.wrote(*variable, *collection, keys);
                self.find_present(target, span)
            }
            Target::Named(_) => self.find_present(target, span),
            Target::Field(record, id, field) => {
                let word = self.field_to_change(record, *id, *field, span);
                self.code.address(word)
            }
            Target::Item(sequence, index) => {
                let word = self.item_to_change(sequence, *index, span);
                self.code.address(word)
            }
            Target::Register(_) | Target::Character(..) => unreachable!("it lies in memory"),
        }
    }

    fn look_up(&mut self, target: &Target, absent: IfAbsent) -> Reg {
        let Target::Element { variable, collection, keys } = target else {
            unreachable!("only elements are looked up");
        };
        self.watch(*variable, *collection, keys);
        let to = self.code.reg(RegType::Int);
        let (variable, collection, keys) = (*variable, *collection, keys.registers.clone());
        let declared = self.unit.variable(variable).collection.as_ref().expect("it has elements");
        let by_text = declared.indices.contains(&Type::Text);
        self.code.inst(Inst::Find { to, variable, collection, keys, by_text, absent });
        to
    }

    /// Removes an element of a collection that is no array.
    pub(super) fn remove(&mut self, variable: VariableId, collection: Address, keys: &Keys) -> Reg {
        let cell = self.code.address(collection);
        let description = self.code.symbol(Symbol::Collection(variable));
        self.wrote(variable, collection, keys);
        let words = self.code.words(&keys.registers);
        self.code.call(&entries::REMOVE, vec![cell, description, words])
    }

    pub(super) fn location_register(&mut self, span: Span) -> Reg {
        let location = self.location(span);
        self.code.int(location as i64)
    }

    /// Reads a prepared place; a text is borrowed.
    pub(super) fn load_target(&mut self, target: &Target, ty: &Type, span: Span) -> Reg {
        match target {
            Target::Register(register) => *register,
            Target::Memory(address) => self.code.load(*address, reg_type(ty)),
            Target::Element { .. } | Target::Named(_) => {
                let cell = self.find_present(target, span);
                self.code.load(cell_of(cell, ty), reg_type(ty))
            }
            Target::Field(record, id, field) => {
                let record = self.load_target(record, &Type::Record(*id), span);
                self.field_of(record, *id, *field)
            }
            Target::Item(sequence, index) => {
                // Whatever it consists of, it is a pointer.
                let sequence = self.load_target(sequence, &Type::Text, span);
                let address = self.item(sequence, *index, span);
                self.code.load(address, reg_type(ty))
            }
            Target::Character(text, index) => {
                let text = self.load_target(text, &Type::Text, span);
                let address = self.character(text, *index, span);
                self.code.load(address, RegType::Int)
            }
        }
    }

    fn character(&mut self, text: Reg, index: Reg, span: Span) -> Address {
        let location = self.location(span);
        let length = self.code.text_length(text);
        let inside = self.code.op(Op::LessUnsigned, index, length);
        self.code.inst(Inst::Require(inside, Fault::IndexOutOfBounds, location));
        let bytes = self.code.reg(RegType::Int);
        self.code.inst(Inst::Bytes { to: bytes, text });
        let byte = self.code.op(Op::Add, bytes, index);
        Address { base: Base::Reg(byte), offset: 0, byte: true }
    }

    /// Writes a scalar into a prepared place.
    pub(super) fn store_target(&mut self, target: &Target, ty: &Type, value: Reg, span: Span) {
        match target {
            Target::Register(register) => self.code.inst(Inst::Copy { to: *register, from: value }),
            Target::Memory(address) => self.code.store(*address, value),
            Target::Element { .. } | Target::Named(_) => {
                let cell = self.find_or_make(target, span);
                self.code.store(cell_of(cell, ty), value);
            }
            Target::Field(record, id, field) => {
                let word = self.field_to_change(record, *id, *field, span);
                self.code.store(word, value);
            }
            Target::Item(sequence, index) => {
                let word = self.item_to_change(sequence, *index, span);
                self.code.store(word, value);
            }
            Target::Character(text, index) => {
                let cell = match **text {
                    Target::Memory(address) => self.code.address(address),
                    _ => self.find_present(text, span),
                };
                let at = self.location_register(span);
                let status = self.code.call(&entries::TEXT_SET, vec![cell, *index, value, at]);
                let _ = status;
            }
        }
    }

    /// Writes a text or record that a temporary owns into a prepared place; the temporary is given back.
    pub(super) fn store_text(&mut self, target: &Target, slot: u32, span: Span) {
        let address = match target {
            Target::Memory(address) => *address,
            Target::Element { .. } | Target::Named(_) => {
                let cell = self.find_or_make(target, span);
                cell_of(cell, &Type::Text)
            }
            Target::Field(record, id, field) => self.field_to_change(record, *id, *field, span),
            Target::Item(sequence, index) => self.item_to_change(sequence, *index, span),
            Target::Register(_) | Target::Character(..) => unreachable!("a TEXT lies in memory"),
        };
        let old = self.code.load(address, RegType::Int);
        let new = self.code.take_from_slot(slot, Kind::Text);
        self.code.store(address, new);
        self.code.perform(&entries::TEXT_DROP, vec![old]);
    }

    /// Makes what a target borrows safe to hold while other code runs.
    pub(super) fn hold_target(&mut self, target: &mut Target) {
        match target {
            Target::Element { variable, keys, .. } => self.hold_keys(*variable, keys),
            Target::Field(whole, ..) | Target::Item(whole, _) => self.hold_target(whole),
            _ => {}
        }
    }
}

impl Builder {
    pub(super) fn drop_keys(&mut self, keys: &Keys) {
        for &slot in keys.slots.iter().flatten() {
            self.free_text(slot);
        }
    }

    pub(super) fn drop_target(&mut self, target: &Target) {
        if let Target::Element { keys, .. } = target.root() {
            self.drop_keys(keys);
        }
    }
}

/// The memory of an element, from its address.
pub(super) fn cell_of(cell: Reg, ty: &Type) -> Address {
    Address { base: Base::Reg(cell), offset: 0, byte: is_byte(ty) }
}
