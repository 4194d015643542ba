//! Reads texts without a call, and changes a character where that may be done in place. The null pointer is the empty
//! text. A text whose length field is 0 is a slice, which holds its length and the address of its bytes. Reads the
//! words of records, too, which are held as texts are: null is the record whose words are 0.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, Value, types};
use cranelift_module::Module;

use super::Build;
use crate::dispatch::trusted;
use crate::entries;
use crate::mir::{Inst, Reg};
use crate::offset;
use crate::signatures::ir_type;

/// The number of instructions after a length that are searched for a use of the same text's bytes.
const LOOKED_AT: usize = 8;

/// Whether the first instruction loads a text's length, and a later one, within `LOOKED_AT`, the address of its bytes.
pub(super) fn asks_for_bytes(instructions: &[Inst]) -> bool {
    let Some((Inst::Length { text: of, .. }, rest)) = instructions.split_first() else { return false };
    rest.iter().take(LOOKED_AT).any(|next| matches!(next, Inst::Bytes { text, .. } if text == of))
}

impl<M: Module> Build<'_, '_, M> {
    /// The number of bytes. Also loads their address if it is used soon.
    pub(super) fn text_length(&mut self, to: Reg, of: Reg) {
        let text = self.get(of);
        let found = self.look_at_text(text, true, self.wants_bytes);
        self.set(to, found[0]);
        if let Some(&bytes) = found.get(1) {
            self.bytes = Some((of, bytes));
        }
    }

    /// The address of the bytes.
    pub(super) fn text_bytes(&mut self, to: Reg, of: Reg) {
        let known = self.bytes.filter(|&(text, _)| text == of).map(|(_, bytes)| bytes);
        let bytes = known.unwrap_or_else(|| {
            let text = self.get(of);
            self.look_at_text(text, false, true)[0]
        });
        self.set(to, bytes);
    }

    /// A word of a record.
    pub(super) fn record_word(&mut self, to: Reg, of: Reg, word: u32) {
        let record = self.get(of);
        let ty = ir_type(self.code().registers[to.0 as usize]);
        let [some, done] = [(); 2].map(|()| self.builder.create_block());
        let found = self.builder.append_block_param(done, ty);
        let zero = match ty {
            types::F64 => self.builder.ins().f64const(0.0),
            _ => self.builder.ins().iconst(ty, 0),
        };
        self.builder.ins().brif(record, some, &[], done, &[zero.into()]);
        self.builder.switch_to_block(some);
        let value = self.builder.ins().load(ty, trusted(), record, offset::TEXT as i32 + 8 * word as i32);
        self.builder.ins().jump(done, &[value.into()]);
        self.builder.switch_to_block(done);
        self.set(to, found);
    }

    /// `t[i] := c`, for the arguments of `TEXT_SET`. The runtime does it where the text has other holders, is a slice
    /// (whose own length is 0), or is too short.
    pub(super) fn set_character(&mut self, arguments: &[Reg]) {
        let [cell, index, character] = [0, 1, 2].map(|at| self.get(arguments[at]));
        let [some, inside, alone, slow, done] = [(); 5].map(|()| self.builder.create_block());
        self.builder.set_cold_block(slow);
        let text = self.builder.ins().load(types::I64, trusted(), cell, 0);
        self.builder.ins().brif(text, some, &[], slow, &[]);

        self.builder.switch_to_block(some);
        let length = self.builder.ins().load(types::I64, trusted(), text, offset::TEXT_LENGTH);
        let is_inside = self.builder.ins().icmp(IntCC::UnsignedLessThan, index, length);
        self.builder.ins().brif(is_inside, inside, &[], slow, &[]);

        self.builder.switch_to_block(inside);
        let is_alone = self.has_one_holder(text);
        self.builder.ins().brif(is_alone, alone, &[], slow, &[]);

        self.builder.switch_to_block(alone);
        let place = self.builder.ins().iadd(text, index);
        self.builder.ins().istore8(trusted(), character, place, offset::TEXT as i32);
        self.builder.ins().jump(done, &[]);

        self.builder.switch_to_block(slow);
        let arguments = self.arguments(&entries::TEXT_SET, arguments);
        let status = self.call_entry(&entries::TEXT_SET, &arguments);
        self.check_failure(entries::TEXT_SET.failure, status);
        self.builder.ins().jump(done, &[]);
        self.builder.switch_to_block(done);
    }

    /// Whether a text or sequence, which isn't null, may be changed in its place.
    pub(super) fn has_one_holder(&mut self, text: Value) -> Value {
        let count = self.builder.ins().load(types::I64, trusted(), text, offset::TEXT_COUNT);
        let holders = self.builder.ins().ushr_imm_s(count, 8);
        self.builder.ins().icmp_imm_s(IntCC::Equal, holders, 1)
    }

    /// A text's length, the address of its bytes, or both.
    fn look_at_text(&mut self, text: Value, length: bool, bytes: bool) -> Vec<Value> {
        let [some, slice, done] = [(); 3].map(|()| self.builder.create_block());
        self.builder.set_cold_block(slice);
        let wanted = usize::from(length) + usize::from(bytes);
        let found = (0..wanted).map(|_| self.builder.append_block_param(done, types::I64)).collect();
        // For the empty text, the null pointer serves as the length too.
        self.builder.ins().brif(text, some, &[], done, &vec![text.into(); wanted]);

        self.builder.switch_to_block(some);
        let own = self.builder.ins().load(types::I64, trusted(), text, offset::TEXT_LENGTH);
        let first = self.builder.ins().iadd_imm_s(text, offset::TEXT);
        self.builder.ins().brif(own, done, &both((length, own), (bytes, first)), slice, &[]);

        self.in_slice(slice, text, done, (length, bytes));
        self.builder.switch_to_block(done);
        found
    }

    fn in_slice(&mut self, slice: Block, text: Value, done: Block, (length, bytes): (bool, bool)) {
        self.builder.switch_to_block(slice);
        let part = self.builder.ins().load(types::I64, trusted(), text, offset::SLICE_LENGTH);
        let first = self.builder.ins().load(types::I64, trusted(), text, offset::SLICE_BYTES);
        self.builder.ins().jump(done, &both((length, part), (bytes, first)));
    }
}

/// The values that are wanted.
fn both(length: (bool, Value), bytes: (bool, Value)) -> Vec<BlockArg> {
    [length, bytes].into_iter().filter(|(wanted, _)| *wanted).map(|(_, value)| value.into()).collect()
}
