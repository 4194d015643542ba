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
use crate::layout::payload_words;
use crate::mir::Payload;
use crate::offset;

/// [`Payload::word`] of a message that was received while others were behind it.
const TAKEN: i64 = -2;

/// The places of a buffer behind its first message.
#[derive(Clone, Copy)]
pub(super) struct Places {
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
        (interface.capacity > 1).then_some(Places { count: interface.capacity as i64 - 1, words })
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
        let (first, taken) = self.ring(communication, places);
        let wait = self.builder.create_block();
        let has_room = self.builder.ins().icmp_imm_u(IntCC::UnsignedLessThan, taken, places.count);
        self.builder.ins().brif(has_room, placed, &[], wait, &[]);
        self.builder.switch_to_block(wait);
        self.wait_for(point, communication, ROOM);

        self.builder.switch_to_block(placed);
        let index = self.builder.ins().iadd(first, taken);
        let place = self.place(communication, places, index);
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
        let state = self.builder.ins().band_imm_s(word, STATE as i64);
        let seen = self.builder.ins().ishl_imm_u(state, 16);
        let sent = self.builder.ins().bor_imm_s(seen, word_of(0, 0, message as u16 + 1, 0));
        self.builder.ins().store(trusted(), sent, place, PAYLOAD as i32 - 8);
        let mut transitions = self.transitions(interface, message);
        transitions.truncate(MOST_COMPARED);
        let last = transitions.pop().map_or(0, |(_, into)| into);
        let mut into = self.builder.ins().iconst(types::I64, last as i64);
        for (from, other) in transitions {
            let is_from = self.builder.ins().icmp_imm_s(IntCC::Equal, state, from as i64);
            let other = self.builder.ins().iconst(types::I64, other as i64);
            into = self.builder.ins().select(is_from, other, into);
        }
        let word = self.builder.ins().band_imm_s(word, !(STATE as i64));
        let word = self.builder.ins().bor(word, into);
        let word = self.builder.ins().bor_imm_s(word, word_of(0, 0, 0, MORE));
        self.builder.ins().store(trusted(), word, communication, offset::WORD);
        let taken_at = places.ring() + offset::RING_TAKEN;
        let taken = self.builder.ins().load(types::I32, trusted(), communication, taken_at);
        let taken = self.builder.ins().iadd_imm_s(taken, 1);
        self.builder.ins().store(trusted(), taken, communication, taken_at);
        self.count(offset::MESSAGES, 1);
        self.builder.ins().jump(done, &[]);
        self.builder.switch_to_block(first);
    }

    /// From what [`Build::try_receive`] looks at: whether the message is there, and its word for after it has been
    /// taken, if messages may be behind it.
    pub(super) fn or_before_others(
        &mut self,
        communication: Value,
        (message, flags): (usize, u16),
        [there, taken]: [Value; 2],
    ) -> [Value; 2] {
        let before_others = self.has_come(communication, message, flags | MORE);
        let by_advance = self.builder.ins().iconst(types::I64, TAKEN);
        let taken = self.builder.ins().select(before_others, by_advance, taken);
        [self.builder.ins().bor(there, before_others), taken]
    }

    /// If others are behind the message that has been taken: the next one becomes the first, and it goes on at `done`.
    pub(super) fn advance(&mut self, payload: Payload, places: Places, done: Block) {
        let (communication, word) = (self.get(payload.communication), self.get(payload.word));
        let (behind, other) = (self.builder.create_block(), self.builder.create_block());
        let is_taken = self.builder.ins().icmp_imm_s(IntCC::Equal, word, TAKEN);
        self.builder.ins().brif(is_taken, behind, &[], other, &[]);
        self.builder.switch_to_block(behind);
        let (first, taken) = self.ring(communication, places);
        let place = self.place(communication, places, first);
        for index in 0..places.words {
            let value = self.builder.ins().load(types::I64, trusted(), place, 8 + 8 * index);
            self.builder.ins().store(trusted(), value, communication, PAYLOAD as i32 + 8 * index);
        }
        let next = self.builder.ins().iadd_imm_s(first, 1);
        let next = self.around(places, next);
        let left = self.builder.ins().iadd_imm_s(taken, -1);
        self.builder.ins().store(trusted(), next, communication, places.ring() + offset::RING_FIRST);
        self.builder.ins().store(trusted(), left, communication, places.ring() + offset::RING_TAKEN);
        let sent = self.builder.ins().load(types::I64, trusted(), place, 0);
        let word = self.builder.ins().load(types::I64, trusted(), communication, offset::WORD);
        let kept = self.builder.ins().band_imm_s(word, (STATE | FLAGS) as i64);
        let last = self.builder.ins().band_imm_s(kept, !word_of(0, 0, 0, MORE));
        let kept = self.builder.ins().select(left, kept, last);
        let word = self.builder.ins().bor(kept, sent);
        self.builder.ins().store(trusted(), word, communication, offset::WORD);
        self.builder.ins().jump(done, &[]);
        self.builder.switch_to_block(other);
    }

    /// A tag with its flags, but for whether there are more messages.
    pub(super) fn without_more(&mut self, tag: Value) -> Value {
        self.builder.ins().band_imm_s(tag, !((MORE as i64) << 16))
    }

    /// The place of the second message, and how many places are taken.
    fn ring(&mut self, communication: Value, places: Places) -> (Value, Value) {
        const { assert!(size_of::<Ring>() == 8) };
        let mut load = |at| self.builder.ins().load(types::I32, trusted(), communication, places.ring() + at);
        (load(offset::RING_FIRST), load(offset::RING_TAKEN))
    }

    /// The address of a place.
    fn place(&mut self, communication: Value, places: Places, index: Value) -> Value {
        let index = self.around(places, index);
        let index = self.builder.ins().uextend(types::I64, index);
        let bytes = self.builder.ins().imul_imm_s(index, 8 * (1 + places.words as i64));
        let place = self.builder.ins().iadd(communication, bytes);
        self.builder.ins().iadd_imm_s(place, places.ring() as i64 + 8)
    }

    /// The place with an index that may be beyond the last.
    fn around(&mut self, places: Places, index: Value) -> Value {
        let wrapped = self.builder.ins().iadd_imm_s(index, -places.count);
        let is_within = self.builder.ins().icmp_imm_u(IntCC::UnsignedLessThan, index, places.count);
        self.builder.ins().select(is_within, index, wrapped)
    }
}
