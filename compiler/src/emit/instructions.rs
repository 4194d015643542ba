//! Instructions and terminators.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, Value, types};
use cranelift_module::{DataId, Module};
use drystone_runtime::layout::Fault;

use super::{Build, Form};
use crate::dispatch::trusted;
use crate::entries;
use crate::mir::{BlockId, Inst, LocationId, Op, Symbol, Terminator};
use crate::offset;
use crate::signatures::ir_type;

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
            Inst::Copy { to, from } => {
                let value = self.get(*from);
                self.set(*to, value);
            }
            Inst::Op { to, op: Op::Shift, a, b: by } => {
                let range = self.the_cut().ranges.of(self.code(), *by, self.at);
                let (a, by) = (self.get(*a), self.get(*by));
                let value = self.shift(a, by, range);
                self.set(*to, value);
            }
            Inst::Op { to, op, a, b } => {
                let (a, b) = (self.get(*a), self.get(*b));
                let value = self.operation(*op, a, b);
                self.set(*to, value);
            }
            Inst::Checked { to, operator, a, b, location } => {
                let (ranges, code) = (&self.the_cut().ranges, self.code());
                let is_exact = ranges.cannot_overflow(code, *operator, *a, *b, self.at);
                let signs = [*a, *b].map(|reg| ranges.sign(code, reg, self.at));
                let (a, b) = (self.get(*a), self.get(*b));
                let value = match is_exact {
                    true => self.exact(*operator, a, b),
                    false => self.checked(*operator, a, b, signs, *location),
                };
                self.set(*to, value);
            }
            Inst::Unary { to, operator, from: a } => {
                let a = self.get(*a);
                let value = self.unary(*operator, a);
                self.set(*to, value);
            }
            Inst::Load { to, from: address } => {
                let base = self.base(address.base);
                let value = if address.byte {
                    self.builder.ins().uload8(types::I64, trusted(), base, address.offset)
                } else {
                    let ty = ir_type(self.code().registers[to.0 as usize]);
                    self.builder.ins().load(ty, trusted(), base, address.offset)
                };
                self.set(*to, value);
            }
            Inst::Word { to, record, word } => self.record_word(*to, *record, *word),
            Inst::Count { to, sequence } => self.count_elements(*to, *sequence),
            Inst::Place { to, cell, index, location } => self.place_of_element(*to, *cell, *index, *location),
            Inst::Length { to, text } => self.text_length(*to, *text),
            Inst::Bytes { to, text } => self.text_bytes(*to, *text),
            Inst::Store { to: address, value } => {
                let base = self.base(address.base);
                let value = self.get(*value);
                if address.byte {
                    self.builder.ins().istore8(trusted(), value, base, address.offset);
                } else {
                    self.builder.ins().store(trusted(), value, base, address.offset);
                }
            }
            Inst::Address { to, of: address } => {
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
            Inst::Require(reg, ..) if self.the_cut().ranges.is_true(self.code(), *reg, self.at) => {}
            Inst::Require(reg, fault, location) => {
                let value = self.get(*reg);
                self.require(value, *fault, *location);
            }
            Inst::Fail(fault, location) => self.fail(*fault, *location),
            Inst::Call { entry, arguments, .. } if entry.name == entries::TEXT_SET.name => {
                self.set_character(arguments)
            }
            Inst::Call { to, entry, arguments } => {
                let arguments = self.arguments(entry, arguments);
                let result = self.call_entry(entry, &arguments);
                self.check_failure(entry.failure, result);
                if let (Some(to), Some(result)) = (to, result) {
                    self.set(*to, result);
                }
            }
            Inst::CallNative { to, variant, arguments } => self.call_native(*to, *variant, arguments),
            Inst::Result(to) => {
                let ty = ir_type(self.code().registers[to.0 as usize]);
                let value = self.builder.ins().load(ty, trusted(), self.worker, offset::RESULT);
                self.set(*to, value);
            }
            Inst::Find { to, variable, collection, keys, absent, .. } => {
                self.find(*to, *variable, collection, keys, *absent)
            }
            Inst::Watch { variable, collection, keys } => self.watch(*variable, collection, keys),
            Inst::Wrote { variable, collection, keys } => self.wrote(*variable, collection, keys),
            Inst::Words(to, values) => {
                let value = self.words(values);
                self.set(*to, value);
            }
            Inst::Room { interface, message, payload, location } => {
                self.room(*interface, *message, *payload, *location)
            }
            Inst::Sent { payload, interface, message } => self.sent(*payload, *interface, *message),
            Inst::Received { payload, interface, .. } => self.received(*payload, *interface),
        }
    }

    pub(super) fn symbol(&mut self, symbol: &Symbol) -> Value {
        let data = self.functions.descriptors.data(self.module, self.functions.program, self.cut, symbol);
        self.address_of_data(data)
    }

    /// The address of read-only data.
    pub(super) fn address_of_data(&mut self, data: DataId) -> Value {
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

    /// Reports a fault if the value is not 0.
    pub(super) fn fail_if(&mut self, value: Value, fault: Fault, location: LocationId) {
        let (fails, go_on) = (self.builder.create_block(), self.builder.create_block());
        self.builder.ins().brif(value, fails, &[], go_on, &[]);
        self.go_on_beside_fault(fails, go_on, fault, location);
    }

    /// Reports a fault if the value is 0.
    pub(super) fn require(&mut self, value: Value, fault: Fault, location: LocationId) {
        let (fails, go_on) = (self.builder.create_block(), self.builder.create_block());
        self.builder.ins().brif(value, go_on, &[], fails, &[]);
        self.go_on_beside_fault(fails, go_on, fault, location);
    }

    /// Reports the fault in a cold block of its own, which also computes the arguments.
    fn go_on_beside_fault(&mut self, fails: Block, go_on: Block, fault: Fault, location: LocationId) {
        self.builder.set_cold_block(fails);
        self.builder.switch_to_block(fails);
        self.jump_to_fault(fault, location);
        self.builder.switch_to_block(go_on);
    }

    pub(super) fn jump_to_fault(&mut self, fault: Fault, location: LocationId) {
        let fail = self.fail_block();
        let arguments = self.fault_arguments(fault, location);
        self.builder.ins().jump(fail, &arguments);
    }

    fn fail(&mut self, fault: Fault, location: LocationId) {
        self.jump_to_fault(fault, location);
        let never = self.builder.create_block();
        self.builder.switch_to_block(never);
    }

    fn fault_arguments(&mut self, fault: Fault, location: LocationId) -> [BlockArg; 2] {
        let fault = self.builder.ins().iconst(types::I32, fault as i64);
        let location = self.builder.ins().iconst(types::I32, location as i64);
        [fault.into(), location.into()]
    }

    /// Goes to `block` if the value is 0; otherwise goes on.
    pub(super) fn branch_unless(&mut self, value: Value, block: Block) {
        let go_on = self.builder.create_block();
        self.builder.ins().brif(value, go_on, &[], block, &[]);
        self.builder.switch_to_block(go_on);
    }

    pub(super) fn end(&mut self, end: &Terminator) {
        match end {
            Terminator::Goto(to) => self.go(*to),
            Terminator::Branch { condition: reg, yes, no } => {
                if !self.count_on(*yes, *no) {
                    let value = self.get(*reg);
                    self.branch(value, *yes, *no);
                }
            }
            Terminator::CallProcedure { variant, arguments, outer, then, location, .. } => {
                self.call_procedure(*variant, arguments, *outer, *then, *location);
            }
            Terminator::Return(result) => self.return_from_procedure(*result),
            Terminator::Finish(location) => {
                let location = self.builder.ins().iconst(types::I32, *location as i64);
                let finish = self.import(self.functions.finish);
                self.builder.ins().return_call(finish, &[self.worker, self.process, location]);
            }
            Terminator::Answer(reg) => {
                let value = self.get(*reg);
                match self.answer_to {
                    Some(block) => drop(self.builder.ins().jump(block, &[value.into()])),
                    None => {
                        let answer = self.builder.ins().ireduce(types::I32, value);
                        self.builder.ins().return_(&[answer]);
                    }
                }
            }
            Terminator::Unreachable => {
                let leave = self.leave_block();
                self.builder.ins().jump(leave, &[]);
            }
        }
    }

    /// At the end of a FOR loop, steps the counter before the test and jumps straight to the loop's header, so that the
    /// counter keeps its register. Gives false, and emits nothing, if the step may overflow or the blocks do not end
    /// such a loop.
    fn count_on(&mut self, next: BlockId, outside: BlockId) -> bool {
        let code = self.code();
        let Some(inner) = code.block(next).in_loop.map(|number| &code.loops[number]) else { return false };
        let Some(counter) = inner.counter.as_ref().filter(|counter| counter.next == next) else {
            return false;
        };
        if !self.the_cut().ranges.can_step(code, counter) {
            return false;
        }
        let (current, last) = (self.get(counter.variable), self.get(counter.last));
        let following = self.builder.ins().iadd_imm_s(current, counter.step);
        let not_past = match counter.step > 0 {
            true => IntCC::SignedLessThanOrEqual,
            false => IntCC::SignedGreaterThanOrEqual,
        };
        let goes_on = self.builder.ins().icmp(not_past, following, last);
        let past = self.builder.create_block();
        self.set(counter.variable, following);
        let again = self.inside(inner.header);
        let onwards = again.unwrap_or_else(|| self.builder.create_block());
        self.builder.ins().brif(goes_on, onwards, &[], past, &[]);
        if again.is_none() {
            self.builder.switch_to_block(onwards);
            self.go_to_segment(inner.header);
        }
        self.builder.switch_to_block(past);
        // After the loop, the variable keeps its value of the last iteration.
        self.set(counter.variable, current);
        self.go(outside);
        true
    }

    /// The block of this function that control goes to; `None` if another segment begins there.
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
}
