//! Elements of collections. Generated code looks up elements of arrays and of the dense part of other collections; the
//! runtime looks up the others.

use std::collections::HashSet;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, StackSlotData, StackSlotKind, Value, types};
use cranelift_module::Module;
use drystone_component::Kind;
use drystone_language::program::VariableId;
use drystone_runtime::layout::{Fault, QUEUED_BIT};

use super::known::{ArrayValues, Sizes};
use super::{Build, Form};
use crate::dispatch::trusted;
use crate::entries;
use crate::layout::kind_of;
use crate::mir::{
    Address, Base, BlockId, EntryPoint, IfAbsent, Inst, LocationId, Reg, SuspensionOp, SuspensionPoint,
    Symbol,
};
use crate::offset;

/// An array at a known address.
pub(super) struct Array {
    variable: VariableId,
    place: Address,
    dimensions: usize,
}

impl<M: Module> Build<'_, '_, M> {
    /// Stores words in this function's stack frame, where an entry point reads them.
    pub(super) fn words(&mut self, values: &[Reg]) -> Value {
        let slot = match self.words_slot {
            Some((slot, words)) if words >= values.len() => slot,
            _ => {
                let words = values.len().max(4);
                let data = StackSlotData::new(StackSlotKind::ExplicitSlot, 8 * words as u32, 3);
                let slot = self.builder.create_sized_stack_slot(data);
                self.words_slot = Some((slot, words));
                slot
            }
        };
        for (index, &reg) in values.iter().enumerate() {
            let value = self.get(reg);
            self.builder.ins().stack_store(types::I64, value, slot, 8 * index as i32);
        }
        self.builder.ins().stack_addr(types::I64, slot, 0)
    }

    /// The address of an element. Arrays and the dense part of a collection are looked up inline.
    pub(super) fn find(
        &mut self,
        to: Reg,
        variable: VariableId,
        collection: &Address,
        keys: &[Reg],
        absent: IfAbsent,
    ) {
        let declared = &self.functions.program.variables[variable.index()];
        let indices = declared.collection.as_ref().expect("a collection");
        let size = if kind_of(&declared.ty) == Kind::Byte { 1 } else { 8 };
        let element = (collection.base, collection.offset, keys.to_vec());
        if let Some(&known) = self.elements.get(&element) {
            return self.set(to, known);
        }
        let base = self.base(collection.base);
        let found = self.builder.create_block();
        let result = self.builder.append_block_param(found, types::I64);
        if indices.array {
            let outside = self.builder.create_block();
            self.builder.set_cold_block(outside);
            self.find_in_array(variable, collection, keys, size, found, outside);
            self.builder.switch_to_block(outside);
            match absent {
                IfAbsent::Make(_) => unreachable!("an array's elements are all made at once"),
                IfAbsent::Fault(fault, location) => self.missing(variable, keys, fault, location),
                IfAbsent::Null => {
                    let null = self.builder.ins().iconst(types::I64, 0);
                    self.builder.ins().jump(found, &[null.into()]);
                }
            }
        } else {
            let elsewhere = self.builder.create_block();
            if keys.len() == 1 && kind_of(&indices.indices[0]) != Kind::Text {
                let head = self.builder.ins().load(types::I64, trusted(), base, collection.offset);
                self.find_in_dense_part(head, keys[0], size, found, elsewhere);
            } else {
                self.builder.ins().jump(elsewhere, &[]);
            }
            self.builder.switch_to_block(elsewhere);
            let [cell, description, words] = self.element(variable, collection, keys);
            let address = match absent {
                IfAbsent::Make(location) => {
                    let location = self.builder.ins().iconst(types::I32, location as i64);
                    let made = self.call_entry(&entries::INSERT, &[cell, description, words, location]);
                    self.check_failure(entries::INSERT.failure, made);
                    made
                }
                _ => self.call_entry(&entries::FIND, &[cell, description, words]),
            };
            let address = address.expect("an address");
            if let IfAbsent::Fault(fault, location) = absent {
                let missing = self.builder.create_block();
                self.builder.set_cold_block(missing);
                self.builder.ins().brif(address, found, &[address.into()], missing, &[]);
                self.builder.switch_to_block(missing);
                self.missing(variable, keys, fault, location);
            } else {
                self.builder.ins().jump(found, &[address.into()]);
            }
        }
        self.builder.switch_to_block(found);
        self.set(to, result);
        if matches!(absent, IfAbsent::Fault(..))
            && self.arrays.contains_key(&(collection.base, collection.offset))
        {
            self.elements.insert(element, result);
        }
    }

    /// Notes the element that a condition reads, while a waiting process's condition is tested.
    pub(super) fn watch(&mut self, variable: VariableId, collection: &Address, keys: &[Reg]) {
        match self.form {
            Form::Condition => self.say_read(variable, collection, keys),
            // The condition is tested inline where the process awaits it, not while the process waits.
            _ if self.answer_to.is_some() => {}
            _ => {
                let tests = self.tests_condition();
                let (say, done) = (self.builder.create_block(), self.builder.create_block());
                self.builder.ins().brif(tests, say, &[], done, &[]);
                self.builder.switch_to_block(say);
                self.say_read(variable, collection, keys);
                self.builder.ins().jump(done, &[]);
                self.builder.switch_to_block(done);
            }
        }
    }

    fn say_read(&mut self, variable: VariableId, collection: &Address, keys: &[Reg]) {
        let arguments = self.element(variable, collection, keys);
        self.call_entry(&entries::WATCH, &arguments);
    }

    /// Notes the element that is changed, if a process is queued for the lock or for a condition.
    pub(super) fn wrote(&mut self, variable: VariableId, collection: &Address, keys: &[Reg]) {
        let instance = self.instance();
        let lock = self.builder.ins().load(types::I32, trusted(), instance, offset::LOCK);
        let queued = self.builder.ins().band_imm_s(lock, QUEUED_BIT as i64);
        let (say, done) = (self.builder.create_block(), self.builder.create_block());
        self.builder.set_cold_block(say);
        self.builder.ins().brif(queued, say, &[], done, &[]);
        self.builder.switch_to_block(say);
        let arguments = self.element(variable, collection, keys);
        self.call_unusual(&entries::WROTE, &arguments);
        self.builder.ins().jump(done, &[]);
        self.builder.switch_to_block(done);
    }

    /// The collection's variable, its description and the keys, as arguments for the runtime.
    fn element(&mut self, variable: VariableId, collection: &Address, keys: &[Reg]) -> [Value; 3] {
        let base = self.base(collection.base);
        let cell = self.builder.ins().iadd_imm_s(base, collection.offset as i64);
        [cell, self.symbol(&Symbol::Collection(variable)), self.words(keys)]
    }

    /// Reports a missing element. The report includes the key if it has one or two parts, which need no memory.
    fn missing(&mut self, variable: VariableId, keys: &[Reg], fault: Fault, location: LocationId) {
        let (first, second) = match *keys {
            [key] => (self.get(key), self.builder.ins().iconst(types::I64, 0)),
            [first, second] => (self.get(first), self.get(second)),
            _ => return self.jump_to_fault(fault, location),
        };
        let description = self.symbol(&Symbol::Collection(variable));
        let location = self.builder.ins().iconst(types::I32, location as i64);
        self.call_unusual(&entries::MISSING, &[description, first, second, location]);
        let leave = self.leave_block();
        self.builder.ins().jump(leave, &[]);
    }

    fn find_in_array(
        &mut self,
        variable: VariableId,
        collection: &Address,
        keys: &[Reg],
        size: i64,
        found: Block,
        absent: Block,
    ) {
        let array = match self.arrays.get(&(collection.base, collection.offset)) {
            Some(array) => array.clone(),
            None => self.load_array(&Array { variable, place: *collection, dimensions: keys.len() }),
        };
        // If the sizes are not known, those of an array that has not been made are 0, so no index is in bounds.
        if let (Sizes::Known(_), Some(made)) = (&array.sizes, array.made) {
            self.branch_unless(made, absent);
        }
        // The offset is `index + constant`; either part may be missing.
        let (mut index, mut constant) = (None, 0_i64);
        for (dimension, &reg) in keys.iter().enumerate() {
            self.check_index(&array.sizes, dimension, reg, absent);
            index = index.map(|row| self.times_size(row, &array.sizes, dimension));
            match (&array.sizes, self.known_index(reg)) {
                (Sizes::Known(sizes), key) => {
                    constant = constant.wrapping_mul(sizes[dimension]).wrapping_add(key.unwrap_or(0));
                    if key.is_none() {
                        index = Some(self.plus_key(index, reg));
                    }
                }
                (Sizes::Loaded(_), _) => index = Some(self.plus_key(index, reg)),
            }
        }
        let start = match index {
            Some(index) => {
                let distance = self.builder.ins().imul_imm_s(index, size);
                self.builder.ins().iadd(array.elements, distance)
            }
            None => array.elements,
        };
        // The constant is added last: so it becomes part of the instruction that reads or writes the element.
        let address = self.builder.ins().iadd_imm_s(start, constant.wrapping_mul(size));
        self.builder.ins().jump(found, &[address.into()]);
    }

    fn times_size(&mut self, row: Value, sizes: &Sizes, dimension: usize) -> Value {
        match sizes {
            Sizes::Known(sizes) => self.builder.ins().imul_imm_s(row, sizes[dimension]),
            Sizes::Loaded(sizes) => self.builder.ins().imul(row, sizes[dimension]),
        }
    }

    fn plus_key(&mut self, start: Option<Value>, key: Reg) -> Value {
        let key = self.get(key);
        start.map_or(key, |start| self.builder.ins().iadd(start, key))
    }

    /// The value of an index, if it is constant.
    fn known_index(&mut self, reg: Reg) -> Option<i64> {
        let (least, greatest) = self.the_cut().ranges.of(self.code(), reg, self.at)?;
        (least == greatest).then_some(least)
    }

    /// Goes to `absent` if the index is out of bounds. No test if it is known to be in bounds.
    fn check_index(&mut self, sizes: &Sizes, dimension: usize, reg: Reg, absent: Block) {
        let key = self.get(reg);
        let inside = match sizes {
            Sizes::Loaded(sizes) => self.builder.ins().icmp(IntCC::UnsignedLessThan, key, sizes[dimension]),
            Sizes::Known(sizes) => {
                let size = sizes[dimension];
                let range = self.the_cut().ranges.of(self.code(), reg, self.at);
                if range.is_some_and(|(least, greatest)| least >= 0 && greatest < size) {
                    return;
                }
                self.builder.ins().icmp_imm_u(IntCC::UnsignedLessThan, key, size)
            }
        };
        self.branch_unless(inside, absent);
    }

    /// Loads an array's head. An array that has not been made has no elements.
    fn load_array(&mut self, array: &Array) -> ArrayValues {
        let made = self.load_made(array);
        let none = self.symbol(&Symbol::NoArray);
        let head = self.builder.ins().select(made, made, none);
        let sizes = match self.functions.sizes.get(&array.variable) {
            Some(sizes) => Sizes::Known(sizes.clone()),
            None => {
                let size = |dimension| 16 + 8 * dimension;
                let load = |at| self.builder.ins().load(types::I64, trusted(), head, at);
                Sizes::Loaded((0..array.dimensions as i32).map(size).map(load).collect())
            }
        };
        ArrayValues { made: Some(made), elements: self.load_elements(head), sizes }
    }

    /// Loads the head of an array that has been made and has known sizes.
    fn load_known_array(&mut self, array: &Array, sizes: &[i64]) -> ArrayValues {
        let made = self.load_made(array);
        ArrayValues { made: None, elements: self.load_elements(made), sizes: Sizes::Known(sizes.to_vec()) }
    }

    fn load_made(&mut self, array: &Array) -> Value {
        let base = self.base(array.place.base);
        self.builder.ins().load(types::I64, trusted(), base, array.place.offset)
    }

    fn load_elements(&mut self, head: Value) -> Value {
        self.builder.ins().load(types::I64, trusted(), head, 0)
    }

    /// Whether all arrays with known sizes have been made; `None` if no array has known sizes.
    pub(super) fn all_known_arrays_are_made(&mut self, arrays: &[Array]) -> Option<Value> {
        let mut all = None;
        for array in arrays.iter().filter(|array| self.functions.sizes.contains_key(&array.variable)) {
            let made = self.load_made(array);
            let is_made = self.builder.ins().icmp_imm_s(IntCC::NotEqual, made, 0);
            all = Some(match all {
                None => is_made,
                Some(others) => self.builder.ins().band(others, is_made),
            });
        }
        all
    }

    /// Loads the heads of arrays. With `known_are_made`, those of known sizes have been made.
    pub(super) fn look_at_arrays(&mut self, arrays: &[Array], known_are_made: bool) {
        let sizes = self.functions.sizes;
        for array in arrays {
            let values = match sizes.get(&array.variable).filter(|_| known_are_made) {
                Some(sizes) => self.load_known_array(array, sizes),
                None => self.load_array(array),
            };
            self.arrays.insert((array.place.base, array.place.offset), values);
        }
    }

    /// The arrays that are used in loops, if nothing in these blocks makes or deletes an array. Each is listed once, in
    /// the order of first use, so that the same program gives the same code.
    pub(super) fn arrays_used_in_loops(&self, blocks: &[BlockId]) -> Vec<Array> {
        if self.functions.natives_make_arrays {
            // Such a procedure may be called here, or by a condition that an UNLOCK on the way tests.
            return Vec::new();
        }
        let code = self.code();
        let changes = |entry: &EntryPoint| {
            entry.name == entries::ARRAY_NEW.name || entry.name == entries::DELETE_COLLECTION.name
        };
        let may_change = self.others_may_run_before_a_lock(blocks);
        let mut used = Vec::new();
        let mut places = HashSet::new();
        for block in blocks.iter().map(|&id| code.block(id)) {
            if let Some(SuspensionPoint { op: SuspensionOp::Call { entry, .. }, .. }) = &block.suspension
                && changes(entry)
            {
                return Vec::new();
            }
            for instruction in &block.instructions {
                match instruction {
                    Inst::Call { entry, .. } if changes(entry) => return Vec::new(),
                    Inst::Find { variable, collection: place, keys, .. } if block.in_loop.is_some() => {
                        let declared = &self.functions.program.variables[variable.index()].collection;
                        let stays = match place.base {
                            Base::Reg(_) => false,
                            Base::Instance => !may_change,
                            _ => true,
                        };
                        if stays
                            && declared.as_ref().is_some_and(|declared| declared.array)
                            && places.insert((place.base, place.offset))
                        {
                            used.push(Array { variable: *variable, place: *place, dimensions: keys.len() });
                        }
                    }
                    _ => {}
                }
            }
        }
        used
    }

    /// Whether other processes may change the component's arrays before this segment takes a lock on its way.
    fn others_may_run_before_a_lock(&self, blocks: &[BlockId]) -> bool {
        let code = self.code();
        let takes_lock = self.segment.is_some_and(|segment| {
            let mut on_the_way = segment.inlined.iter().filter_map(|&id| code.block(id).suspension.as_ref());
            on_the_way.any(|point| matches!(point.op, SuspensionOp::Lock(_)))
        });
        let lets_run = |id: &BlockId| code.block(*id).instructions.iter().any(Inst::lets_others_run);
        takes_lock && blocks.iter().any(lets_run)
    }

    pub(super) fn find_in_dense_part(
        &mut self,
        head: Value,
        key: Reg,
        size: i64,
        found: Block,
        elsewhere: Block,
    ) {
        self.branch_unless(head, elsewhere);
        let key = self.get(key);
        let low = self.builder.ins().load(types::I64, trusted(), head, 8);
        let length = self.builder.ins().load(types::I64, trusted(), head, 16);
        let index = self.builder.ins().isub(key, low);
        let inside = self.builder.ins().icmp(IntCC::UnsignedLessThan, index, length);
        self.branch_unless(inside, elsewhere);
        let dense = self.builder.ins().load(types::I64, trusted(), head, 0);
        let distance = self.builder.ins().imul_imm_s(index, size);
        let address = self.builder.ins().iadd(dense, distance);
        self.builder.ins().jump(found, &[address.into()]);
    }
}
