//! Counts the elements of sequences, and finds those that are to be changed, without a call where nobody else holds the
//! sequence. The null pointer is the empty one. Elements are words behind a head; the lower half of its length field is
//! their number.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use cranelift_module::Module;

use super::Build;
use crate::dispatch::trusted;
use crate::entries;
use crate::mir::{LocationId, Reg};
use crate::offset;

impl<M: Module> Build<'_, '_, M> {
    /// The number of elements.
    pub(super) fn count_elements(&mut self, to: Reg, of: Reg) {
        let sequence = self.get(of);
        let [some, done] = [(); 2].map(|()| self.builder.create_block());
        let found = self.builder.append_block_param(done, types::I64);
        // For the empty sequence, the null pointer serves as the number.
        self.builder.ins().brif(sequence, some, &[], done, &[sequence.into()]);
        self.builder.switch_to_block(some);
        let count = self.count_of_some(sequence);
        self.builder.ins().jump(done, &[count.into()]);
        self.builder.switch_to_block(done);
        self.set(to, found);
    }

    fn count_of_some(&mut self, sequence: Value) -> Value {
        self.builder.ins().uload32(trusted(), sequence, offset::TEXT_LENGTH)
    }

    /// The address of an element that is going to be changed. The runtime finds it where the sequence has other
    /// holders, or no such element.
    pub(super) fn place_of_element(&mut self, to: Reg, cell: Reg, index: Reg, location: LocationId) {
        let [cell, index] = [cell, index].map(|reg| self.get(reg));
        let [some, inside, alone, slow, done] = [(); 5].map(|()| self.builder.create_block());
        self.builder.set_cold_block(slow);
        let found = self.builder.append_block_param(done, types::I64);
        let sequence = self.builder.ins().load(types::I64, trusted(), cell, 0);
        self.builder.ins().brif(sequence, some, &[], slow, &[]);

        self.builder.switch_to_block(some);
        let count = self.count_of_some(sequence);
        let is_inside = self.builder.ins().icmp(IntCC::UnsignedLessThan, index, count);
        self.builder.ins().brif(is_inside, inside, &[], slow, &[]);

        self.builder.switch_to_block(inside);
        let is_alone = self.has_one_holder(sequence);
        self.builder.ins().brif(is_alone, alone, &[], slow, &[]);

        self.builder.switch_to_block(alone);
        let distance = self.builder.ins().ishl_imm_u(index, 3);
        let place = self.builder.ins().iadd(sequence, distance);
        let place = self.builder.ins().iadd_imm_s(place, offset::TEXT);
        self.builder.ins().jump(done, &[place.into()]);

        self.builder.switch_to_block(slow);
        let entry = &entries::SEQUENCE_PLACE;
        let at = self.builder.ins().iconst(types::I32, i64::from(location));
        let arguments = [cell, index, at];
        let result = self.call_entry(entry, &arguments);
        self.check_failure(entry.failure, result);
        let place = result.expect("it gives a place");
        self.builder.ins().jump(done, &[place.into()]);
        self.builder.switch_to_block(done);
        self.set(to, found);
    }
}
