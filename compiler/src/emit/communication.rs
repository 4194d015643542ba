//! Sending, and what all communication shares. One comparison with the communication's word decides whether the usual
//! case applies; otherwise generated code calls the runtime. `reach` finds the communication, `receiving` takes
//! messages.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types};
use cranelift_module::Module;
use drystone_language::ast::Direction;
use drystone_language::program::InterfaceId;
use drystone_runtime::layout::{CALLS, FOR_CLIENT, READY, ROOM, STREAMS};

use super::Build;
use crate::dispatch::trusted;
use crate::entries;
use crate::mir::{BlockId, Failure, LocationId, Payload, Reach, Symbol};
use crate::offset;

/// Masks for the parts of a communication's word.
pub(super) const STATE: u64 = 0xffff;
pub(super) const TAG: u64 = 0xffff << 32;
pub(super) const FLAGS: u64 = 0xffff << 48;

/// The place of an operation in its segment.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Where {
    /// At the segment's own suspension point: live registers are in the frame.
    Entry,
    /// At another suspension point that the segment tries on its way: if the process waits there, live registers must
    /// be saved.
    OnTheWay(BlockId),
    /// Not at a suspension point: it never waits.
    Behind,
}

/// Some bits of a communication's word, and the value that they are compared with.
#[derive(Clone, Copy)]
pub(super) struct Alike {
    pub(super) bits: u64,
    pub(super) value: i64,
}

/// The greatest number of states that generated code compares. If a message may be sent in more, the runtime handles
/// the rest.
pub(super) const MOST_COMPARED: usize = 3;

/// Flags that do not change what the buffer allows. The runtime must be told of each operation on such a communication.
pub(super) const MARKS: u16 = CALLS | STREAMS;

/// The bits of a `CommunicationWord`, as generated code compares them.
pub(super) fn word_of(state: u16, seen: u16, tag: u16, flags: u16) -> i64 {
    (state as u64 | (seen as u64) << 16 | (tag as u64) << 32 | (flags as u64) << 48) as i64
}

impl<M: Module> Build<'_, '_, M> {
    pub(super) fn location_value(&mut self, location: LocationId) -> Value {
        self.builder.ins().iconst(types::I32, location as i64)
    }

    pub(super) fn number(&mut self, value: i64) -> Value {
        self.builder.ins().iconst(types::I32, value)
    }

    /// The states from and to which a message leads.
    pub(super) fn transitions(&self, interface: InterfaceId, message: usize) -> Vec<(u16, u16)> {
        let states = &self.functions.program.interfaces[interface.index()].states;
        let leads = states.iter().enumerate().flat_map(|(from, state)| {
            state
                .transitions
                .iter()
                .filter(|(by, _)| *by == message)
                .map(move |(_, to)| (from as u16, *to as u16))
        });
        leads.collect()
    }

    pub(super) fn flags_for(&self, interface: InterfaceId, message: usize) -> u16 {
        match self.functions.program.interfaces[interface.index()].messages[message].direction {
            Direction::In => 0,
            Direction::Out => FOR_CLIENT,
        }
    }

    /// Goes on if the value is not 0. Otherwise waits if the communication's word matches one of the `waiting`
    /// patterns, in which the operation can only wait, and goes to `slow` if not.
    pub(super) fn go_on_or_wait(
        &mut self,
        value: Value,
        point: Where,
        communication: Value,
        (waiting, status): (&[Alike], u8),
        slow: Block,
    ) {
        if point == Where::Behind {
            return self.branch_unless(value, slow);
        }
        let (usual, other, wait) =
            (self.builder.create_block(), self.builder.create_block(), self.builder.create_block());
        self.builder.ins().brif(value, usual, &[], other, &[]);
        self.builder.switch_to_block(other);
        let word = self.builder.ins().load(types::I64, trusted(), communication, offset::WORD);
        for pattern in waiting {
            let next = self.builder.create_block();
            let bits = self.builder.ins().band_imm_s(word, pattern.bits as i64);
            let is_alike = self.builder.ins().icmp_imm_s(IntCC::Equal, bits, pattern.value);
            self.builder.ins().brif(is_alike, wait, &[], next, &[]);
            self.builder.switch_to_block(next);
        }
        self.builder.ins().jump(slow, &[]);
        self.builder.switch_to_block(wait);
        self.wait_for(point, communication, status);
        self.builder.switch_to_block(usual);
    }

    /// The process becomes the communication's waiter, and leaves.
    pub(super) fn wait_for(&mut self, point: Where, communication: Value, status: u8) {
        let status = self.builder.ins().iconst(types::I8, status as i64);
        self.builder.ins().store(trusted(), status, self.process, offset::STATUS);
        self.builder.ins().store(trusted(), self.process, communication, offset::WAITER);
        self.resume_at(point);
        let leave = self.leave_block();
        self.builder.ins().jump(leave, &[]);
    }

    /// Sets where the process will be resumed.
    pub(super) fn resume_at(&mut self, point: Where) {
        match point {
            Where::Entry => self.set_resume(self.entry),
            Where::OnTheWay(point) => {
                self.save_for(point);
                self.set_resume(point);
            }
            Where::Behind => unreachable!("what stands behind a suspension point does not wait"),
        }
    }

    /// Makes room for a message. The result is where the message goes, as if that were the communication, and its word
    /// for after the message has been sent. Waits while the buffer is full.
    pub(super) fn try_send(
        &mut self,
        point: Where,
        communication: Value,
        interface: InterfaceId,
        message: usize,
        slow: Block,
    ) -> [Value; 2] {
        if let Some(places) = self.places(interface).filter(|_| point != Where::Behind) {
            return self.try_send_behind(point, communication, (interface, message), places, slow);
        }
        let flags = self.flags_for(interface, message);
        let full = |&(from, _): &(u16, u16)| Alike { bits: STATE | FLAGS, value: word_of(from, 0, 0, flags) };
        let mut transitions = self.transitions(interface, message);
        transitions.truncate(MOST_COMPARED);
        let full: Vec<Alike> = transitions.iter().map(full).collect();
        let word = self.builder.ins().load(types::I64, trusted(), communication, offset::WORD);
        let after = |(from, into)| word_of(into, from, message as u16 + 1, flags);
        if let [(from, into)] = transitions[..] {
            let fits = self.builder.ins().icmp_imm_s(IntCC::Equal, word, word_of(from, from, 0, 0));
            self.go_on_or_wait(fits, point, communication, (&full, ROOM), slow);
            return [communication, self.builder.ins().iconst(types::I64, after((from, into)))];
        }
        let mut sent = self.builder.ins().iconst(types::I64, 0);
        for (from, into) in transitions {
            let fits = self.builder.ins().icmp_imm_s(IntCC::Equal, word, word_of(from, from, 0, 0));
            let after = self.builder.ins().iconst(types::I64, after((from, into)));
            sent = self.builder.ins().select(fits, after, sent);
        }
        self.go_on_or_wait(sent, point, communication, (&full, ROOM), slow);
        [communication, sent]
    }

    pub(super) fn send(
        &mut self,
        reach: &Reach,
        interface: InterfaceId,
        message: usize,
        payload: Payload,
        location: LocationId,
    ) {
        let communication = self.communication(reach, interface, location);
        self.send_or_else(
            Where::Entry,
            communication,
            (interface, message),
            (payload, location),
            |build, room| build.wait_on(Failure::Zero, room),
        );
    }

    /// Makes room for a service's answer. It never waits.
    pub(super) fn room(
        &mut self,
        interface: InterfaceId,
        message: usize,
        payload: Payload,
        location: LocationId,
    ) {
        self.send_or_else(
            Where::Behind,
            self.process,
            (interface, message),
            (payload, location),
            |build, room| build.check_failure(Failure::Zero, Some(room)),
        );
    }

    pub(super) fn send_or_else(
        &mut self,
        point: Where,
        communication: Value,
        (interface, message): (InterfaceId, usize),
        (payload, location): (Payload, LocationId),
        unless_room: impl FnOnce(&mut Self, Value),
    ) {
        let (slow, done) = self.slow_and_done();
        let [place, sent] = self.try_send(point, communication, interface, message, slow);
        self.set(payload.communication, place);
        self.builder.ins().jump(done, &[sent.into()]);
        self.builder.switch_to_block(slow);
        self.set(payload.communication, communication);
        self.send_if_marked(communication, interface, message, done);
        let description = self.symbol(&Symbol::Interface(interface));
        let number = self.number(message as i64);
        let location = self.location_value(location);
        let entry = if point == Where::Behind { &entries::ROOM } else { &entries::SEND };
        let room =
            self.call_unusual(entry, &[communication, description, number, location]).expect("a payload");
        unless_room(self, room);
        let by_runtime = self.builder.ins().iconst(types::I64, 0);
        self.builder.ins().jump(done, &[by_runtime.into()]);
        self.builder.switch_to_block(done);
        let sent = self.builder.block_params(done)[0];
        self.set(payload.word, sent);
    }

    /// Goes to `done` if the buffer is empty and a native service answers at once or a pump streams. The runtime then
    /// hands the message on as soon as it is complete.
    fn send_if_marked(&mut self, communication: Value, interface: InterfaceId, message: usize, done: Block) {
        let [(from, _)] = self.transitions(interface, message)[..] else { return };
        let word = self.builder.ins().load(types::I64, trusted(), communication, offset::WORD);
        let unmarked = self.builder.ins().band_imm_s(word, !word_of(0, 0, 0, MARKS));
        let is_empty = self.builder.ins().icmp_imm_s(IntCC::Equal, unmarked, word_of(from, from, 0, 0));
        let by_runtime = self.builder.ins().iconst(types::I64, 0);
        self.unless(is_empty, by_runtime, done);
    }

    /// Goes to `done` with `value` if the condition holds; otherwise goes on in another cold block.
    pub(super) fn unless(&mut self, holds: Value, value: Value, done: Block) {
        let other = self.builder.create_block();
        self.builder.set_cold_block(other);
        self.builder.ins().brif(holds, done, &[value.into()], other, &[]);
        self.builder.switch_to_block(other);
    }

    /// A cold block for a call of the runtime, and the block that follows, with one parameter.
    pub(super) fn slow_and_done(&mut self) -> (Block, Block) {
        let (slow, done) = (self.builder.create_block(), self.builder.create_block());
        self.builder.set_cold_block(slow);
        self.builder.append_block_param(done, types::I64);
        (slow, done)
    }

    pub(super) fn sent(&mut self, payload: Payload, interface: InterfaceId, message: usize) {
        let (communication, word) = (self.get(payload.communication), self.get(payload.word));
        let (fast, slow, done) =
            (self.builder.create_block(), self.builder.create_block(), self.builder.create_block());
        self.builder.set_cold_block(slow);
        self.builder.ins().brif(word, fast, &[], slow, &[]);
        self.builder.switch_to_block(slow);
        let description = self.symbol(&Symbol::Interface(interface));
        let number = self.number(message as i64);
        self.call_unusual(&entries::SENT, &[communication, description, number]);
        self.builder.ins().jump(done, &[]);
        self.builder.switch_to_block(fast);
        if let Some(places) = self.places(interface) {
            self.sent_behind(payload, (interface, message), places, done);
        }
        self.builder.ins().store(trusted(), word, communication, offset::WORD);
        self.count(offset::MESSAGES, 1);
        let waiter = self.builder.ins().load(types::I64, trusted(), communication, offset::WAITER);
        self.branch_unless(waiter, done);
        self.wake(communication, waiter);
        self.builder.ins().jump(done, &[]);
        self.builder.switch_to_block(done);
    }

    /// Puts the waiter at the end of the ready queue.
    pub(super) fn wake(&mut self, communication: Value, waiter: Value) {
        let zero = self.builder.ins().iconst(types::I64, 0);
        self.builder.ins().store(trusted(), zero, communication, offset::WAITER);
        self.builder.ins().store(trusted(), zero, waiter, offset::NEXT);
        let ready = self.builder.ins().iconst(types::I8, READY as i64);
        self.builder.ins().store(trusted(), ready, waiter, offset::STATUS);
        let head = self.builder.ins().load(types::I64, trusted(), self.worker, offset::READY_HEAD);
        let tail = self.builder.ins().load(types::I64, trusted(), self.worker, offset::READY_TAIL);
        // The link to be written: that of the last process, or the head of the empty queue.
        let last = self.builder.ins().iadd_imm_s(tail, offset::NEXT as i64);
        let first = self.builder.ins().iadd_imm_s(self.worker, offset::READY_HEAD as i64);
        let link = self.builder.ins().select(head, last, first);
        self.builder.ins().store(trusted(), waiter, link, 0);
        self.builder.ins().store(trusted(), waiter, self.worker, offset::READY_TAIL);
    }
}
