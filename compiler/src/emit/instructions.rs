//! Instructions and the ends of blocks.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, StackSlotData, StackSlotKind, Value, types};
use cranelift_module::Module;
use drystone_component::Kind;
use drystone_language::program::VariableId;
use drystone_runtime::layout::Fault;

use super::{ArrayValues, Build, Form, offset, trusted};
use crate::entries;
use crate::layout::kind_of;
use crate::mir::{
    Address, Base, BlockId, Checked, Entry, Failure, Head, HeadOp, Inst, Op, PlaceId, Reg, Symbol, Terminator, Unary,
};

impl<M: Module> Build<'_, '_, M> {
    pub(super) fn instruction(&mut self, instruction: &Inst) {
        match instruction {
            Inst::Int(to, value) => {
                let value = self.builder.ins().iconst(types::I64, *value);
                self.set(*to, value);
            }
            Inst::Real(to, value) => {
                let value = self.builder.ins().f64const(*value);
                self.set(*to, value);
            }
            Inst::Copy(to, from) => {
                let value = self.get(*from);
                self.set(*to, value);
            }
            Inst::Op(to, op, a, b) => {
                let (a, b) = (self.get(*a), self.get(*b));
                let value = self.operation(*op, a, b);
                self.set(*to, value);
            }
            Inst::Checked(to, operator, a, b, place) => {
                let (a, b) = (self.get(*a), self.get(*b));
                let value = self.checked(*operator, a, b, *place);
                self.set(*to, value);
            }
            Inst::Unary(to, operator, a) => {
                let a = self.get(*a);
                let value = self.unary(*operator, a);
                self.set(*to, value);
            }
            Inst::Load(to, address) => {
                let base = self.base(address.base);
                let value = if address.byte {
                    self.builder.ins().uload8(types::I64, trusted(), base, address.offset)
                } else {
                    let ty = super::ir_type(self.code().registers[to.0 as usize]);
                    self.builder.ins().load(ty, trusted(), base, address.offset)
                };
                self.set(*to, value);
            }
            Inst::Store(address, value) => {
                let base = self.base(address.base);
                let value = self.get(*value);
                if address.byte {
                    self.builder.ins().istore8(trusted(), value, base, address.offset);
                } else {
                    self.builder.ins().store(trusted(), value, base, address.offset);
                }
            }
            Inst::Address(to, address) => {
                let base = self.base(address.base);
                let value = self.builder.ins().iadd_imm_s(base, address.offset as i64);
                self.set(*to, value);
            }
            Inst::Base(to, base) => {
                let value = self.base(*base);
                self.set(*to, value);
            }
            Inst::Symbol(to, symbol) => {
                let value = self.symbol(symbol);
                self.set(*to, value);
            }
            Inst::Require(reg, fault, place) => {
                let value = self.get(*reg);
                self.require(value, *fault, *place);
            }
            Inst::Fail(fault, place) => self.fail(*fault, *place),
            Inst::Call(to, entry, arguments) => {
                let arguments = self.arguments(entry, arguments);
                let result = self.call_entry(entry, &arguments);
                self.check_failure(entry.failure, result);
                if let (Some(to), Some(result)) = (to, result) {
                    self.set(*to, result);
                }
            }
            Inst::CallNative(to, variant, arguments) => self.call_native(*to, *variant, arguments),
            Inst::Result(to) => {
                let ty = super::ir_type(self.code().registers[to.0 as usize]);
                let value = self.builder.ins().load(ty, trusted(), self.worker, offset::RESULT);
                self.set(*to, value);
            }
            Inst::Find(to, variable, collection, keys, fault) => self.find(*to, *variable, collection, keys, *fault),
            Inst::Words(to, values) => {
                let value = self.words(values);
                self.set(*to, value);
            }
            Inst::Sent(to, interface, message) => self.sent(*to, *interface, *message),
            Inst::Received(to) => self.received(*to),
        }
    }

    pub(super) fn symbol(&mut self, symbol: &Symbol) -> Value {
        let data = self.functions.descriptors.data(self.module, self.functions.program, self.cut, symbol);
        let global = match self.globals.get(&data) {
            Some(&global) => global,
            None => {
                let global = self.module.declare_data_in_func(data, self.builder.func);
                self.globals.insert(data, global);
                global
            }
        };
        self.builder.ins().symbol_value(types::I64, global)
    }

    fn operation(&mut self, op: Op, a: Value, b: Value) -> Value {
        use Op::*;
        let ins = self.builder.ins();
        let integer = |cc| (cc, None);
        let real = |cc| (IntCC::Equal, Some(cc));
        let (int_cc, real_cc) = match op {
            Add => return ins.iadd(a, b),
            Subtract => return ins.isub(a, b),
            And => return ins.band(a, b),
            Or => return ins.bor(a, b),
            Xor => return ins.bxor(a, b),
            AddReal => return ins.fadd(a, b),
            SubtractReal => return ins.fsub(a, b),
            MultiplyReal => return ins.fmul(a, b),
            DivideReal => return ins.fdiv(a, b),
            MinReal => return ins.fmin(a, b),
            MaxReal => return ins.fmax(a, b),
            Equal => integer(IntCC::Equal),
            NotEqual => integer(IntCC::NotEqual),
            Less => integer(IntCC::SignedLessThan),
            LessEqual => integer(IntCC::SignedLessThanOrEqual),
            Greater => integer(IntCC::SignedGreaterThan),
            GreaterEqual => integer(IntCC::SignedGreaterThanOrEqual),
            LessUnsigned => integer(IntCC::UnsignedLessThan),
            EqualReal => real(FloatCC::Equal),
            NotEqualReal => real(FloatCC::NotEqual),
            LessReal => real(FloatCC::LessThan),
            LessEqualReal => real(FloatCC::LessThanOrEqual),
            GreaterReal => real(FloatCC::GreaterThan),
            GreaterEqualReal => real(FloatCC::GreaterThanOrEqual),
        };
        let flag = match real_cc {
            Some(cc) => self.builder.ins().fcmp(cc, a, b),
            None => self.builder.ins().icmp(int_cc, a, b),
        };
        self.builder.ins().uextend(types::I64, flag)
    }

    fn unary(&mut self, operator: Unary, a: Value) -> Value {
        let ins = self.builder.ins();
        match operator {
            Unary::NegateReal => ins.fneg(a),
            Unary::SquareRoot => ins.sqrt(a),
            Unary::Floor => ins.floor(a),
            Unary::IntToReal => ins.fcvt_from_sint(types::F64, a),
            Unary::RealToInt => ins.fcvt_to_sint_sat(types::I64, a),
        }
    }

    fn checked(&mut self, operator: Checked, a: Value, b: Value, place: PlaceId) -> Value {
        let (value, overflow) = match operator {
            Checked::Add => self.builder.ins().sadd_overflow(a, b),
            Checked::Subtract => self.builder.ins().ssub_overflow(a, b),
            Checked::Multiply => self.builder.ins().smul_overflow(a, b),
            Checked::Div | Checked::Mod => return self.divide(operator, a, b, place),
        };
        self.fail_if(overflow, Fault::Overflow, place);
        value
    }

    /// Division that floors; by powers of two a shift or mask.
    fn divide(&mut self, operator: Checked, a: Value, b: Value, place: PlaceId) -> Value {
        if let Some(divisor) = self.constant(b)
            && divisor > 0
        {
            return self.divide_by_constant(operator, a, b, divisor);
        }
        let zero = self.builder.ins().icmp_imm_s(IntCC::Equal, b, 0);
        self.fail_if(zero, Fault::DivisionByZero, place);
        let smallest = self.builder.ins().icmp_imm_s(IntCC::Equal, a, i64::MIN);
        let minus_one = self.builder.ins().icmp_imm_s(IntCC::Equal, b, -1);
        let overflow = self.builder.ins().band(smallest, minus_one);
        if operator == Checked::Div {
            self.fail_if(overflow, Fault::Overflow, place);
            return self.floored(operator, a, b);
        }
        // The processor traps on smallest MOD -1, whose value is 0: divide by 1 instead.
        let one = self.builder.ins().iconst(types::I64, 1);
        let divisor = self.builder.ins().select(overflow, one, b);
        self.floored(operator, a, divisor)
    }

    fn divide_by_constant(&mut self, operator: Checked, a: Value, b: Value, divisor: i64) -> Value {
        if divisor & (divisor - 1) == 0 {
            return match operator {
                Checked::Div => self.builder.ins().sshr_imm_s(a, divisor.trailing_zeros() as i64),
                _ => self.builder.ins().band_imm_s(a, divisor - 1),
            };
        }
        self.floored(operator, a, b)
    }

    fn floored(&mut self, operator: Checked, a: Value, b: Value) -> Value {
        let quotient = self.builder.ins().sdiv(a, b);
        let product = self.builder.ins().imul(quotient, b);
        let rest = self.builder.ins().isub(a, product);
        let not_exact = self.builder.ins().icmp_imm_s(IntCC::NotEqual, rest, 0);
        let signs = self.builder.ins().bxor(rest, b);
        let opposite = self.builder.ins().icmp_imm_s(IntCC::SignedLessThan, signs, 0);
        let adjust = self.builder.ins().band(not_exact, opposite);
        if operator == Checked::Div {
            let one = self.builder.ins().uextend(types::I64, adjust);
            self.builder.ins().isub(quotient, one)
        } else {
            let zero = self.builder.ins().iconst(types::I64, 0);
            let addend = self.builder.ins().select(adjust, b, zero);
            self.builder.ins().iadd(rest, addend)
        }
    }

    fn constant(&self, value: Value) -> Option<i64> {
        use cranelift_codegen::ir::{InstructionData, Opcode, ValueDef};
        let dfg = &self.builder.func.dfg;
        let ValueDef::Result(inst, 0) = dfg.value_def(dfg.resolve_aliases(value)) else { return None };
        match dfg.insts[inst] {
            InstructionData::UnaryImm { opcode: Opcode::Iconst, imm } => Some(imm.bits()),
            _ => None,
        }
    }

    /// Reports a fault if the value is not 0.
    pub(super) fn fail_if(&mut self, value: Value, fault: Fault, place: PlaceId) {
        let fail = self.fail_block();
        let go_on = self.builder.create_block();
        let arguments = self.fault_arguments(fault, place);
        self.builder.ins().brif(value, fail, &arguments, go_on, &[]);
        self.builder.switch_to_block(go_on);
    }

    /// Reports a fault if the value is 0.
    pub(super) fn require(&mut self, value: Value, fault: Fault, place: PlaceId) {
        let fail = self.fail_block();
        let go_on = self.builder.create_block();
        let arguments = self.fault_arguments(fault, place);
        self.builder.ins().brif(value, go_on, &[], fail, &arguments);
        self.builder.switch_to_block(go_on);
    }

    fn jump_to_fault(&mut self, fault: Fault, place: PlaceId) {
        let fail = self.fail_block();
        let arguments = self.fault_arguments(fault, place);
        self.builder.ins().jump(fail, &arguments);
    }

    fn fail(&mut self, fault: Fault, place: PlaceId) {
        self.jump_to_fault(fault, place);
        let never = self.builder.create_block();
        self.builder.switch_to_block(never);
    }

    fn fault_arguments(&mut self, fault: Fault, place: PlaceId) -> [BlockArg; 2] {
        let fault = self.builder.ins().iconst(types::I32, fault as i64);
        let place = self.builder.ins().iconst(types::I32, place as i64);
        [fault.into(), place.into()]
    }

    fn call_native(&mut self, to: Option<Reg>, variant: usize, arguments: &[Reg]) {
        let cut = self.functions.first_variant + variant;
        let function = self.segment_function(cut, BlockId(0));
        let mut all = vec![self.worker, self.process];
        for &reg in arguments {
            let value = self.get(reg);
            all.push(value);
        }
        let call = self.builder.ins().call(function, &all);
        let results = self.builder.inst_results(call).to_vec();
        let failed = *results.last().expect("every procedure tells whether it failed");
        self.check_failure(Failure::NotZero, Some(failed));
        if let Some(to) = to {
            self.set(to, results[0]);
        }
    }

    /// Puts words into memory of this function for an entry point to read.
    fn words(&mut self, values: &[Reg]) -> Value {
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

    /// The address of an element: arrays and the dense part of a collection are looked up here.
    fn find(
        &mut self,
        to: Reg,
        variable: VariableId,
        collection: &Address,
        keys: &[Reg],
        fault: Option<(Fault, PlaceId)>,
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
            let absent = self.builder.create_block();
            self.builder.set_cold_block(absent);
            self.find_in_array(collection, keys, size, found, absent);
            self.builder.switch_to_block(absent);
            match fault {
                Some((fault, place)) => self.jump_to_fault(fault, place),
                None => {
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
            let cell = self.builder.ins().iadd_imm_s(base, collection.offset as i64);
            let description = self.symbol(&Symbol::Collection(variable));
            let words = self.words(keys);
            let address = self.call_entry(&entries::FIND, &[cell, description, words]).expect("an address");
            if let Some((fault, place)) = fault {
                self.require(address, fault, place);
            }
            self.builder.ins().jump(found, &[address.into()]);
        }
        self.builder.switch_to_block(found);
        self.set(to, result);
        if fault.is_some() && self.arrays.contains_key(&(collection.base, collection.offset)) {
            self.elements.insert(element, result);
        }
    }

    fn find_in_array(&mut self, collection: &Address, keys: &[Reg], size: i64, found: Block, absent: Block) {
        let array = match self.arrays.get(&(collection.base, collection.offset)) {
            Some(array) => array.clone(),
            None => self.load_array(collection, keys.len()),
        };
        let mut index = None;
        for (&key, &bound) in keys.iter().zip(&array.sizes) {
            let key = self.get(key);
            let inside = self.builder.ins().icmp(IntCC::UnsignedLessThan, key, bound);
            self.branch_unless(inside, absent);
            index = Some(match index {
                None => key,
                Some(row) => {
                    let start = self.builder.ins().imul(row, bound);
                    self.builder.ins().iadd(start, key)
                }
            });
        }
        let distance = self.builder.ins().imul_imm_s(index.expect("an array has an index"), size);
        let address = self.builder.ins().iadd(array.elements, distance);
        self.builder.ins().jump(found, &[address.into()]);
    }

    /// An array that was not made has no elements.
    fn load_array(&mut self, collection: &Address, dimensions: usize) -> ArrayValues {
        let base = self.base(collection.base);
        let made = self.builder.ins().load(types::I64, trusted(), base, collection.offset);
        let none = self.symbol(&Symbol::NoArray);
        let head = self.builder.ins().select(made, made, none);
        let sizes = (0..dimensions as i32)
            .map(|dimension| self.builder.ins().load(types::I64, trusted(), head, 16 + 8 * dimension))
            .collect();
        ArrayValues { elements: self.builder.ins().load(types::I64, trusted(), head, 0), sizes }
    }

    /// Loads what describes the arrays that are used in loops, if nothing here makes or deletes one.
    pub(super) fn look_at_arrays(&mut self, blocks: &[BlockId]) {
        let code = self.code();
        let changes = |entry: &Entry| {
            entry.name == entries::ARRAY_NEW.name || entry.name == entries::DELETE_COLLECTION.name
        };
        let mut used = Vec::new();
        for block in blocks.iter().map(|&id| code.block(id)) {
            if let Some(Head { op: HeadOp::Call(_, entry, _), .. }) = &block.head
                && changes(entry)
            {
                return;
            }
            for instruction in &block.instructions {
                match instruction {
                    Inst::CallNative(..) => return,
                    Inst::Call(_, entry, _) if changes(entry) => return,
                    Inst::Find(_, variable, collection, keys, _) if block.in_loop.is_some() => {
                        let declared = &self.functions.program.variables[variable.index()].collection;
                        let in_register = matches!(collection.base, Base::Reg(_));
                        if !in_register && declared.as_ref().is_some_and(|declared| declared.array) {
                            used.push((*collection, keys.len()));
                        }
                    }
                    _ => {}
                }
            }
        }
        for (collection, dimensions) in used {
            if !self.arrays.contains_key(&(collection.base, collection.offset)) {
                let array = self.load_array(&collection, dimensions);
                self.arrays.insert((collection.base, collection.offset), array);
            }
        }
    }

    fn find_in_dense_part(
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

    /// Goes to the block if the value is 0, else on.
    pub(super) fn branch_unless(&mut self, value: Value, block: Block) {
        let go_on = self.builder.create_block();
        self.builder.ins().brif(value, go_on, &[], block, &[]);
        self.builder.switch_to_block(go_on);
    }

    pub(super) fn end(&mut self, _at: BlockId, end: &Terminator) {
        match end {
            Terminator::Goto(to) => self.go(*to),
            Terminator::Branch(reg, yes, no) => {
                let value = self.get(*reg);
                self.branch(value, *yes, *no);
            }
            Terminator::CallProcedure { variant, arguments, outer, then, place, .. } => {
                self.call_procedure(*variant, arguments, *outer, *then, *place);
            }
            Terminator::Return(result) => self.return_from_procedure(*result),
            Terminator::Finish(place) => {
                let place = self.builder.ins().iconst(types::I32, *place as i64);
                self.call_entry(&entries::FINISH, &[place]);
                let leave = self.leave_block();
                self.builder.ins().jump(leave, &[]);
            }
            Terminator::Answer(reg) => {
                let value = self.get(*reg);
                let answer = self.builder.ins().ireduce(types::I32, value);
                self.builder.ins().return_(&[answer]);
            }
            Terminator::Unreachable => {
                let leave = self.leave_block();
                self.builder.ins().jump(leave, &[]);
            }
        }
    }

    /// The block of this function that control goes to; none if another segment begins there.
    fn inside(&self, to: BlockId) -> Option<Block> {
        if let Some(&inlined) = self.inlined.get(&to) {
            return Some(inlined);
        }
        let outside = self.form != Form::Native && self.the_cut().leaves(self.entry, to);
        (!outside).then(|| self.blocks[&to])
    }

    fn go(&mut self, to: BlockId) {
        match self.inside(to) {
            Some(block) => {
                self.builder.ins().jump(block, &[]);
            }
            None => self.go_to_segment(to),
        }
    }

    fn branch(&mut self, value: Value, yes: BlockId, no: BlockId) {
        let mut outside = Vec::new();
        let [yes, no] = [yes, no].map(|to| {
            self.inside(to).unwrap_or_else(|| {
                let block = self.builder.create_block();
                outside.push((block, to));
                block
            })
        });
        self.builder.ins().brif(value, yes, &[], no, &[]);
        for (block, to) in outside {
            self.builder.switch_to_block(block);
            self.go_to_segment(to);
        }
    }

    fn call_procedure(
        &mut self,
        variant: usize,
        arguments: &[Reg],
        outer: Option<Reg>,
        then: BlockId,
        place: PlaceId,
    ) {
        let cut = self.functions.first_variant + variant;
        let description = self.symbol(&Symbol::Frame(cut));
        let place = self.builder.ins().iconst(types::I32, place as i64);
        let frame = self.call_entry(&entries::FRAME_NEW, &[description, place]);
        self.check_failure(Failure::Zero, frame);
        let frame = frame.expect("a frame");
        let cuts = self.functions.cuts;
        let callee = &cuts[cut];
        for (&argument, parameter) in arguments.iter().zip(&callee.code.parameters) {
            let value = self.get(argument);
            self.builder.ins().store(trusted(), value, frame, callee.slots[parameter] as i32);
        }
        if let Some(outer) = outer {
            let outer = self.get(outer);
            self.builder.ins().store(trusted(), outer, frame, offset::OUTER);
        }
        let after = self.segment_function(self.cut, then);
        let return_to = self.builder.ins().func_addr(types::I64, after);
        self.builder.ins().store(trusted(), return_to, frame, offset::RETURN_TO);
        self.save_for(then);
        let entry = self.segment_function(cut, BlockId(0));
        self.builder.ins().return_call(entry, &[self.worker, self.process]);
    }

    fn return_from_procedure(&mut self, result: Option<Reg>) {
        if self.form == Form::Native {
            let mut results = Vec::new();
            if let Some(result) = result {
                let value = self.get(result);
                results.push(value);
            }
            results.push(self.builder.ins().iconst(types::I32, 0));
            self.leave_recursion();
            self.builder.ins().return_(&results);
            return;
        }
        if let Some(result) = result {
            let value = self.get(result);
            self.builder.ins().store(trusted(), value, self.worker, offset::RESULT);
        }
        let return_to = self.builder.ins().load(types::I64, trusted(), self.frame, offset::RETURN_TO);
        self.call_entry(&entries::FRAME_END, &[]);
        self.jump_to_address(return_to, self.process);
    }
}
