//! Sending behind the first message of a buffer, and taking what is behind it, where an interface's capacity is more
//! than 1: see the runtime's `communication::more`.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types};
use cranelift_module::Module;
use drystone_language::program::InterfaceId;
use drystone_runtime::layout::{MORE, PAYLOAD, ROOM, Ring};

use super::Build;
use super::communication::{FLAGS, MOST_COMPARED, STATE, Where, word_of};
use crate::dispatch::trusted;
use crate::layout::{payload_words, queued};
use crate::mir::Payload;
use crate::offset;

/// The places of a buffer behind its first message.
#[derive(Clone, Copy)]
pub(super) struct Places {
    /// How many: a power of two.
    count: i64,
    /// Words of a message.
    words: i32,
}

impl Places {
    /// Where the ring is in a communication.
    fn ring(self) -> i32 {
        PAYLOAD as i32 + 8 * self.words
    }
}

impl<M: Module> Build<'_, '_, M> {
    /// `None`: the buffer holds one message.
    pub(super) fn places(&self, interface: InterfaceId) -> Option<Places> {
        let interface = &self.functions.program.interfaces[interface.index()];
        let words = payload_words(interface) as i32;
        let count = queued(interface) as i64;
        (count > 0).then_some(Places { count, words })
    }

    /// As [`Build::try_send`], where the buffer has places behind its first message. The word for after a message that
    /// goes there is the communication's address, negated.
    pub(super) fn try_send_behind(
        &mut self,
        point: Where,
        communication: Value,
        (interface, message): (InterfaceId, usize),
        places: Places,
        slow: Block,
    ) -> [Value; 2] {
        let flags = self.flags_for(interface, message);
        let (full, placed, usual) =
            (self.builder.create_block(), self.builder.create_block(), self.builder.create_block());
        let results = [types::I64; 2].map(|ty| self.builder.append_block_param(usual, ty));
        let mut transitions = self.transitions(interface, message);
        transitions.truncate(MOST_COMPARED);
        let word = self.builder.ins().load(types::I64, trusted(), communication, offset::WORD);
        for &(from, into) in &transitions {
            let sent = self.builder.ins().iconst(types::I64, word_of(into, from, message as u16 + 1, flags));
            let other = self.builder.create_block();
            let fits = self.builder.ins().icmp_imm_s(IntCC::Equal, word, word_of(from, from, 0, 0));
            self.builder.ins().brif(fits, usual, &[communication.into(), sent.into()], other, &[]);
            self.builder.switch_to_block(other);
        }
        let compared = (STATE | FLAGS) as i64 & !word_of(0, 0, 0, MORE);
        let compared = self.builder.ins().band_imm_s(word, compared);
        for &(from, _) in &transitions {
            let other = self.builder.create_block();
            let fits = self.builder.ins().icmp_imm_s(IntCC::Equal, compared, word_of(from, 0, 0, flags));
            self.builder.ins().brif(fits, full, &[], other, &[]);
            self.builder.switch_to_block(other);
        }
        self.builder.ins().jump(slow, &[]);

        self.builder.switch_to_block(full);
        let (first, next) = self.ring(communication, places);
        let wait = self.builder.create_block();
        let taken = self.builder.ins().isub(next, first);
        let has_room = self.builder.ins().icmp_imm_u(IntCC::UnsignedLessThan, taken, places.count);
        self.builder.ins().brif(has_room, placed, &[], wait, &[]);
        self.builder.switch_to_block(wait);
        self.wait_for(point, communication, ROOM);

        self.builder.switch_to_block(placed);
        let place = self.place(communication, places, next);
        // The message's words come behind the place's own, as they come behind a communication's head.
        let place = self.builder.ins().iadd_imm_s(place, 8 - PAYLOAD as i64);
        let owner = self.builder.ins().ineg(communication);
        self.builder.ins().jump(usual, &[place.into(), owner.into()]);
        self.builder.switch_to_block(usual);
        results
    }

    /// If the message is behind others: completes it, and goes to `done`.
    pub(super) fn sent_behind(
        &mut self,
        payload: Payload,
        (interface, message): (InterfaceId, usize),
        places: Places,
        done: Block,
    ) {
        let (place, word) = (self.get(payload.communication), self.get(payload.word));
        let (behind, first) = (self.builder.create_block(), self.builder.create_block());
        let is_behind = self.builder.ins().icmp_imm_s(IntCC::SignedLessThan, word, 0);
        self.builder.ins().brif(is_behind, behind, &[], first, &[]);
        self.builder.switch_to_block(behind);
        let communication = self.builder.ins().ineg(word);
        let word = self.builder.ins().load(types::I64, trusted(), communication, offset::WORD);
        let [sent, word] = self.state_after(word, interface, message);
        self.builder.ins().store(trusted(), sent, place, PAYLOAD as i32 - 8);
        let word = self.builder.ins().bor_imm_s(word, word_of(0, 0, 0, MORE));
        self.builder.ins().store(trusted(), word, communication, offset::WORD);
        let next_at = places.ring() + offset::RING_NEXT;
        let next = self.builder.ins().load(types::I32, trusted(), communication, next_at);
        let next = self.builder.ins().iadd_imm_s(next, 1);
        self.builder.ins().store(trusted(), next, communication, next_at);
        self.count(offset::MESSAGES, 1);
        self.builder.ins().jump(done, &[]);
        self.builder.switch_to_block(first);
    }

    /// What a place says of a message that is sent now, and the communication's word with the state after it.
    fn state_after(&mut self, word: Value, interface: InterfaceId, message: usize) -> [Value; 2] {
        let tag = message as u16 + 1;
        let mut transitions = self.transitions(interface, message);
        transitions.truncate(MOST_COMPARED);
        if let [(from, into)] = transitions[..] {
            let sent = self.builder.ins().iconst(types::I64, Ring::place(from, tag) as i64);
            return [sent, self.builder.ins().bxor_imm_s(word, (from ^ into) as i64)];
        }
        let state = self.builder.ins().band_imm_s(word, STATE as i64);
        let seen = self.builder.ins().ishl_imm_u(state, 16);
        let sent = self.builder.ins().bor_imm_s(seen, Ring::place(0, tag) as i64);
        let mut change = self.builder.ins().iconst(types::I64, 0);
        for (from, into) in transitions {
            let is_from = self.builder.ins().icmp_imm_s(IntCC::Equal, state, from as i64);
            let other = self.builder.ins().iconst(types::I64, (from ^ into) as i64);
            change = self.builder.ins().select(is_from, other, change);
        }
        [sent, self.builder.ins().bxor(word, change)]
    }

    /// If others are behind the message that has been taken: the next one becomes the first, and it goes on at `done`.
    pub(super) fn advance(&mut self, payload: Payload, places: Places, done: Block) {
        let communication = self.get(payload.communication);
        let (behind, other) = (self.builder.create_block(), self.builder.create_block());
        let word = self.builder.ins().load(types::I64, trusted(), communication, offset::WORD);
        let more = self.builder.ins().band_imm_s(word, word_of(0, 0, 0, MORE));
        self.builder.ins().brif(more, behind, &[], other, &[]);
        self.builder.switch_to_block(behind);
        let (first, next) = self.ring(communication, places);
        let place = self.place(communication, places, first);
        for index in 0..places.words {
            let value = self.builder.ins().load(types::I64, trusted(), place, 8 + 8 * index);
            self.builder.ins().store(trusted(), value, communication, PAYLOAD as i32 + 8 * index);
        }
        let first = self.builder.ins().iadd_imm_s(first, 1);
        self.builder.ins().store(trusted(), first, communication, places.ring() + offset::RING_FIRST);
        let sent = self.builder.ins().load(types::I64, trusted(), place, 0);
        let kept = self.builder.ins().band_imm_s(word, (STATE | FLAGS) as i64);
        let last = self.builder.ins().bxor(kept, more);
        let is_last = self.builder.ins().icmp(IntCC::Equal, first, next);
        let kept = self.builder.ins().select(is_last, last, kept);
        let word = self.builder.ins().bor(kept, sent);
        self.builder.ins().store(trusted(), word, communication, offset::WORD);
        self.builder.ins().jump(done, &[]);
        self.builder.switch_to_block(other);
    }

    /// The numbers of the second message, and of the one that is sent next.
    fn ring(&mut self, communication: Value, places: Places) -> (Value, Value) {
        let mut load = |at| self.builder.ins().load(types::I32, trusted(), communication, places.ring() + at);
        (load(offset::RING_FIRST), load(offset::RING_NEXT))
    }

    /// The address of a message's place.
    fn place(&mut self, communication: Value, places: Places, number: Value) -> Value {
        let index = self.builder.ins().band_imm_s(number, places.count - 1);
        let index = self.builder.ins().uextend(types::I64, index);
        let bytes = self.builder.ins().imul_imm_s(index, 8 * (1 + places.words as i64));
        let place = self.builder.ins().iadd(communication, bytes);
        self.builder.ins().iadd_imm_s(place, (places.ring() as usize + size_of::<Ring>()) as i64)
    }
}
