//! Receiving messages, and tests of what can be received.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types};
use cranelift_module::Module;
use drystone_language::ast::Direction;
use drystone_language::program::{InterfaceId, Pattern};
use drystone_runtime::layout::{CALLS, CLIENT_CLOSED, FOR_CLIENT, MORE, NEWS, ROOM, SERVICE_ENDED, STREAMS};

use super::Build;
use super::communication::{Alike, FLAGS, MARKS, MOST_COMPARED, STATE, TAG, Where, word_of};
use crate::dispatch::trusted;
use crate::entries;
use crate::mir::{Failure, LocationId, Payload, Question, Reach, Reg, Symbol};
use crate::offset;

impl<M: Module> Build<'_, '_, M> {
    /// Takes a message. The result is the communication's word for after the message has been taken. Waits while there
    /// is none.
    pub(super) fn try_receive(
        &mut self,
        point: Where,
        communication: Value,
        interface: InterfaceId,
        message: usize,
        slow: Block,
    ) -> Value {
        let mut waiting = Vec::new();
        for (from, _) in self.transitions(interface, message).into_iter().take(MOST_COMPARED) {
            let flags = self.flags_for(interface, message);
            // The buffer is empty, or holds a message that this side has sent itself.
            if flags == FOR_CLIENT {
                waiting.push(Alike { bits: STATE | FLAGS, value: word_of(from, 0, 0, 0) });
            } else {
                waiting.push(Alike { bits: STATE | TAG | FLAGS, value: word_of(from, 0, 0, 0) });
                waiting.push(Alike { bits: STATE | FLAGS, value: word_of(from, 0, 0, FOR_CLIENT) });
            }
        }
        let flags = self.flags_for(interface, message);
        let there = self.has_come(communication, interface, message, flags);
        self.go_on_or_wait(there, point, communication, (&waiting, NEWS), slow);
        match self.transitions(interface, message)[..] {
            [(_, into)] => self.builder.ins().iconst(types::I64, word_of(into, into, 0, 0)),
            _ => {
                let state = self.builder.ins().uload16(types::I64, trusted(), communication, offset::WORD);
                self.builder.ins().imul_imm_s(state, 0x1_0001)
            }
        }
    }

    pub(super) fn receive(
        &mut self,
        reach: &Reach,
        interface: InterfaceId,
        message: usize,
        payload: Payload,
        location: LocationId,
    ) {
        let communication = self.communication(reach, interface, location);
        let (slow, done) = self.slow_and_done();
        let taken = self.try_receive(Where::Entry, communication, interface, message, slow);
        self.builder.ins().jump(done, &[taken.into()]);
        self.builder.switch_to_block(slow);
        let flags = self.flags_for(interface, message);
        if flags == FOR_CLIENT {
            self.receive_if_called(communication, interface, message, done);
        }
        self.receive_if_streaming(communication, interface, message, done);
        let description = self.symbol(&Symbol::Interface(interface));
        let number = self.number(message as i64);
        let location = self.location_value(location);
        let arrived = self
            .call_unusual(&entries::RECEIVE, &[communication, description, number, location])
            .expect("a payload");
        self.wait_on(Failure::Zero, arrived);
        let by_runtime = self.builder.ins().iconst(types::I64, -1);
        self.builder.ins().jump(done, &[by_runtime.into()]);
        self.builder.switch_to_block(done);
        self.set(payload.communication, communication);
        let taken = self.builder.block_params(done)[0];
        self.set(payload.word, taken);
    }

    /// Receives from a native service that answers at once.
    fn receive_if_called(
        &mut self,
        communication: Value,
        interface: InterfaceId,
        message: usize,
        done: Block,
    ) {
        let there = self.has_come(communication, interface, message, FOR_CLIENT | CALLS);
        let state = self.builder.ins().uload16(types::I64, trusted(), communication, offset::WORD);
        let taken = self.builder.ins().imul_imm_s(state, 0x1_0001);
        let taken = self.builder.ins().bor_imm_s(taken, word_of(0, 0, 0, CALLS));
        self.unless(there, taken, done);
    }

    /// Receives from a pump that streams: the runtime then puts the next message into the buffer.
    fn receive_if_streaming(
        &mut self,
        communication: Value,
        interface: InterfaceId,
        message: usize,
        done: Block,
    ) {
        let flags = self.flags_for(interface, message);
        let there = self.has_come(communication, interface, message, flags | STREAMS);
        let by_runtime = self.builder.ins().iconst(types::I64, -1);
        self.unless(there, by_runtime, done);
    }

    /// Whether the message is the first in the buffer, with exactly these flags.
    fn has_come(
        &mut self,
        communication: Value,
        interface: InterfaceId,
        message: usize,
        flags: u16,
    ) -> Value {
        let expected = (word_of(0, 0, message as u16 + 1, flags) as u64 >> 32) as i32;
        let arrived = self.tag(communication, interface);
        self.builder.ins().icmp_imm_s(IntCC::Equal, arrived, expected as i64)
    }

    /// The tag with the flags behind it, but for whether there are more messages.
    fn tag(&mut self, communication: Value, interface: InterfaceId) -> Value {
        let tag = self.builder.ins().load(types::I32, trusted(), communication, offset::TAG);
        match self.places(interface) {
            Some(_) => self.builder.ins().band_imm_s(tag, !((MORE as i64) << 16)),
            None => tag,
        }
    }

    pub(super) fn received(&mut self, payload: Payload, interface: InterfaceId) {
        let (communication, word) = (self.get(payload.communication), self.get(payload.word));
        let [fast, slow, taken, woken, done] = [(); 5].map(|()| self.builder.create_block());
        self.builder.set_cold_block(slow);
        let by_runtime = self.builder.ins().icmp_imm_s(IntCC::Equal, word, -1);
        self.builder.ins().brif(by_runtime, slow, &[], fast, &[]);
        self.builder.switch_to_block(slow);
        self.call_unusual(&entries::RECEIVED, &[communication]);
        self.builder.ins().jump(done, &[]);
        self.builder.switch_to_block(fast);
        if let Some(places) = self.places(interface) {
            self.advance(payload, places, taken);
        }
        self.builder.ins().store(trusted(), word, communication, offset::WORD);
        self.builder.ins().jump(taken, &[]);
        self.builder.switch_to_block(taken);
        let waiter = self.builder.ins().load(types::I64, trusted(), communication, offset::WAITER);
        self.branch_unless(waiter, done);
        // A peer that waits for an answer goes on waiting; a sender that waits for room is woken.
        let status = self.builder.ins().load(types::I8, trusted(), waiter, offset::STATUS);
        let wants_room = self.builder.ins().icmp_imm_s(IntCC::Equal, status, ROOM as i64);
        self.builder.ins().brif(wants_room, woken, &[], done, &[]);
        self.builder.switch_to_block(woken);
        self.wake(communication, waiter);
        self.builder.ins().jump(done, &[]);
        self.builder.switch_to_block(done);
    }

    /// The answer of a receive test, if a message for this side is there and neither side has closed. The tag alone
    /// tells. Waits while nothing has happened.
    pub(super) fn try_test(
        &mut self,
        point: Where,
        communication: Value,
        (interface, side): (InterfaceId, Direction),
        question: Question,
        slow: Block,
    ) -> Value {
        let waiting: &[Alike] = match side {
            Direction::In => &[Alike { bits: FLAGS, value: 0 }],
            Direction::Out => &[
                Alike { bits: TAG | FLAGS, value: 0 },
                Alike { bits: FLAGS, value: word_of(0, 0, 0, FOR_CLIENT) },
            ],
        };
        let tag = self.tag(communication, interface);
        let (index, plain) = self.message_of(tag, side);
        self.go_on_or_wait(plain, point, communication, (waiting, NEWS), slow);
        self.reply(index, question)
    }

    /// From a tag with its flags: the index of the message for this side, and whether there is such a message and no
    /// other flag is set.
    fn message_of(&mut self, tag: Value, side: Direction) -> (Value, Value) {
        let mine = if side == Direction::In { FOR_CLIENT } else { 0 };
        let index = self.builder.ins().iadd_imm_s(tag, -((mine as i64) << 16) - 1);
        (index, self.builder.ins().icmp_imm_s(IntCC::UnsignedLessThan, index, 0xffff))
    }

    /// The answer if this message is in the buffer.
    fn reply(&mut self, index: Value, question: Question) -> Value {
        match question {
            Question::Is(Pattern::Message(message)) => {
                let same = self.builder.ins().icmp_imm_s(IntCC::Equal, index, message as i64);
                self.builder.ins().uextend(types::I64, same)
            }
            Question::Is(Pattern::Any) => self.builder.ins().iconst(types::I64, 1),
            Question::Is(Pattern::Finish) => self.builder.ins().iconst(types::I64, 0),
            Question::Which => {
                let number = self.builder.ins().uextend(types::I64, index);
                self.builder.ins().iadd_imm_s(number, 1)
            }
        }
    }

    pub(super) fn test(
        &mut self,
        reach: &Reach,
        interface: InterfaceId,
        side: Direction,
        question: Question,
        to: Reg,
        location: LocationId,
    ) {
        let communication = self.communication(reach, interface, location);
        let (slow, done) = self.slow_and_done();
        let quick = self.try_test(Where::Entry, communication, (interface, side), question, slow);
        self.builder.ins().jump(done, &[quick.into()]);
        self.builder.switch_to_block(slow);
        self.test_if_marked(communication, side, question, done);
        self.answer_if_over(communication, side, question, done);
        let description = self.symbol(&Symbol::Interface(interface));
        let number = self.number(side_number(side));
        let asked = if let Question::Is(pattern) = question { pattern } else { Pattern::Any };
        let pattern = self.number(pattern_number(asked));
        let location = self.location_value(location);
        let arguments = [communication, description, number, pattern, location];
        let slowly = self.call_unusual(&entries::TEST, &arguments).expect("an answer");
        self.wait_on(Failure::Two, slowly);
        let answer = match question {
            Question::Is(_) => slowly,
            Question::Which => {
                let tag = self.builder.ins().uload16(types::I64, trusted(), communication, offset::TAG);
                self.builder.ins().imul(tag, slowly)
            }
        };
        self.builder.ins().jump(done, &[answer.into()]);
        self.builder.switch_to_block(done);
        let answer = self.builder.block_params(done)[0];
        self.set(to, answer);
    }

    /// The answer if a native service has answered at once, or a pump has put the next message of a stream into the
    /// buffer.
    fn test_if_marked(&mut self, communication: Value, side: Direction, question: Question, done: Block) {
        let tag = self.builder.ins().load(types::I32, trusted(), communication, offset::TAG);
        let unmarked = self.builder.ins().band_imm_s(tag, !((MARKS as i64) << 16));
        let (index, is_there) = self.message_of(unmarked, side);
        let answer = self.reply(index, question);
        self.unless(is_there, answer, done);
    }

    /// The answer if no message is there and none will come, because the other side has closed.
    fn answer_if_over(&mut self, communication: Value, side: Direction, question: Question, done: Block) {
        let closed = if side == Direction::In { SERVICE_ENDED } else { CLIENT_CLOSED };
        let word = self.builder.ins().load(types::I64, trusted(), communication, offset::WORD);
        let bits = self.builder.ins().band_imm_s(word, (TAG | FLAGS) as i64);
        let is_over = self.builder.ins().icmp_imm_s(IntCC::Equal, bits, word_of(0, 0, 0, closed));
        let answer = (question == Question::Is(Pattern::Finish)) as i64;
        let answer = self.builder.ins().iconst(types::I64, answer);
        let open = self.builder.create_block();
        self.builder.set_cold_block(open);
        self.builder.ins().brif(is_over, done, &[answer.into()], open, &[]);
        self.builder.switch_to_block(open);
    }

    /// A receive test that does not wait. The communication may not exist yet.
    pub(super) fn input(
        &mut self,
        reach: &Reach,
        interface: InterfaceId,
        side: Direction,
        pattern: Pattern,
        to: Reg,
        location: LocationId,
    ) {
        let description = self.symbol(&Symbol::Interface(interface));
        let pattern = self.number(pattern_number(pattern));
        let answer = match reach {
            Reach::Service => {
                let side = self.number(side_number(side));
                self.call_entry(&entries::INPUT, &[self.process, description, side, pattern])
            }
            Reach::Required(_) | Reach::Indexed { .. } => {
                let (slot, location) = (self.slot(reach, interface, location), self.location_value(location));
                self.call_entry(&entries::INPUT_SLOT, &[slot, description, pattern, location])
            }
            Reach::Held { instance, .. } | Reach::HeldSlot { instance, .. } => {
                let (slot, location) = (self.slot(reach, interface, location), self.location_value(location));
                let instance = self.get(*instance);
                self.call_entry(&entries::INPUT_HELD, &[instance, slot, description, pattern, location])
            }
        };
        let answer = answer.expect("an answer");
        self.wait_on(Failure::Two, answer);
        self.set(to, answer);
    }
}

pub(super) fn side_number(side: Direction) -> i64 {
    match side {
        Direction::In => drystone_component::Side::Client as i64,
        Direction::Out => drystone_component::Side::Server as i64,
    }
}

pub(super) fn pattern_number(pattern: Pattern) -> i64 {
    match pattern {
        Pattern::Message(index) => index as i64,
        Pattern::Any => -1,
        Pattern::Finish => -2,
    }
}
