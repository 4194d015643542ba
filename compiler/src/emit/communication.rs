//! Communication: the usual case is decided here, by one comparison with the communication's word; the runtime is
//! called for the rest.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types};
use cranelift_module::Module;
use drystone_language::ast::Direction;
use drystone_language::program::{InterfaceId, Pattern};
use drystone_runtime::layout::{CLIENT_CLOSED, FOR_CLIENT, NEWS, READY, ROOM, SERVICE_ENDED};

use super::{Build, offset, trusted};
use crate::entries;
use crate::mir::{BlockId, Failure, LocationId, Payload, Reach, Reg, Symbol};

/// Parts of a [`word_of`].
const STATE: u64 = 0xffff;
const TAG: u64 = 0xffff << 32;
const FLAGS: u64 = 0xffff << 48;

/// Where in a segment an operation stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Where {
    /// It is the segment's own suspension point: what is live is in the frame.
    Entry,
    /// It is another suspension point that is tried on the way: what is live must be saved if the process waits there.
    OnTheWay(BlockId),
    /// It is none: it never waits.
    Behind,
}

/// A communication's word in these bits.
#[derive(Clone, Copy)]
struct Alike {
    bits: u64,
    value: i64,
}

/// A message that may be sent in more states than this is left to the runtime in the others.
const MOST_COMPARED: usize = 3;

/// A `CommunicationWord` as generated code compares it.
fn word_of(state: u16, seen: u16, tag: u16, flags: u16) -> i64 {
    (state as u64 | (seen as u64) << 16 | (tag as u64) << 32 | (flags as u64) << 48) as i64
}

impl<M: Module> Build<'_, '_, M> {
    fn location_value(&mut self, location: LocationId) -> Value {
        self.builder.ins().iconst(types::I32, location as i64)
    }

    fn number(&mut self, value: i64) -> Value {
        self.builder.ins().iconst(types::I32, value)
    }

    /// The communication; waits here if there is none yet.
    fn communication(&mut self, reach: &Reach, interface: InterfaceId, location: LocationId) -> Value {
        if *reach == Reach::Service {
            return self.process;
        }
        let (there, absent) = (self.builder.create_block(), self.builder.create_block());
        let communication = self.builder.append_block_param(there, types::I64);
        self.builder.set_cold_block(absent);
        let slot = self.slot(reach, interface, location);
        match reach {
            Reach::Service => unreachable!("handled above"),
            Reach::Required(_) | Reach::Indexed { .. } => {
                self.reach_slot(slot, interface, location, there, absent);
            }
            Reach::Held { instance, .. } | Reach::HeldSlot { instance, .. } => {
                let instance = self.get(*instance);
                self.reach_held(instance, slot, interface, location, there, absent);
            }
        }
        self.builder.switch_to_block(there);
        communication
    }

    /// The slot through which a communication is reached, required or offered.
    fn slot(&mut self, reach: &Reach, interface: InterfaceId, location: LocationId) -> Value {
        let (instance, at) = match reach {
            Reach::Service => unreachable!("a service has its communication"),
            Reach::Required(at) => (self.instance(), *at),
            Reach::Indexed { offset, k } => return self.indexed_slot(*offset, *k, interface, location),
            Reach::Held { instance, offset: at } => (self.get(*instance), *at),
            Reach::HeldSlot { slot, .. } => return self.get(*slot),
        };
        self.builder.ins().iadd_imm_s(instance, at as i64)
    }

    /// One of several required slots; the runtime makes it before its first use.
    fn indexed_slot(&mut self, table: u32, k: Reg, interface: InterfaceId, location: LocationId) -> Value {
        let (slow, done) = self.slow_and_done();
        let slot = self.try_indexed_slot(table, k, slow);
        self.builder.ins().jump(done, &[slot.into()]);
        self.builder.switch_to_block(slow);
        let (instance, k) = (self.instance(), self.get(k));
        let description = self.symbol(&Symbol::Interface(interface));
        let location = self.location_value(location);
        let made = self
            .call_unusual(&entries::FIND_REQUIRED, &[instance, description, k, location])
            .expect("a slot");
        self.wait_on(Failure::Zero, made);
        self.builder.ins().jump(done, &[made.into()]);
        self.builder.switch_to_block(done);
        self.builder.block_params(done)[0]
    }

    fn try_indexed_slot(&mut self, table: u32, k: Reg, slow: Block) -> Value {
        let (instance, k) = (self.instance(), self.get(k));
        let table = self.builder.ins().load(types::I64, trusted(), instance, table as i32);
        self.branch_unless(table, slow);
        let length = self.builder.ins().load(types::I64, trusted(), table, offset::SLOTS_LENGTH);
        let index = self.builder.ins().iadd_imm_s(k, -1);
        let is_within = self.builder.ins().icmp(IntCC::UnsignedLessThan, index, length);
        self.branch_unless(is_within, slow);
        let at = self.builder.ins().ishl_imm_u(index, 3);
        let entry = self.builder.ins().iadd(table, at);
        let slot = self.builder.ins().load(types::I64, trusted(), entry, offset::SLOTS);
        self.branch_unless(slot, slow);
        slot
    }

    fn reach_slot(
        &mut self,
        slot: Value,
        interface: InterfaceId,
        location: LocationId,
        there: Block,
        absent: Block,
    ) {
        let communication = self.builder.ins().load(types::I64, trusted(), slot, offset::COMMUNICATION);
        self.builder.ins().brif(communication, there, &[communication.into()], absent, &[]);
        self.builder.switch_to_block(absent);
        let description = self.symbol(&Symbol::Interface(interface));
        let location = self.location_value(location);
        let made =
            self.call_unusual(&entries::REACH, &[slot, description, location]).expect("a communication");
        self.wait_on(Failure::Zero, made);
        self.builder.ins().jump(there, &[made.into()]);
    }

    fn reach_held(
        &mut self,
        instance: Value,
        slot: Value,
        interface: InterfaceId,
        location: LocationId,
        there: Block,
        absent: Block,
    ) {
        let communication = self.builder.ins().load(types::I64, trusted(), slot, offset::HOLDER);
        self.builder.ins().brif(communication, there, &[communication.into()], absent, &[]);
        self.builder.switch_to_block(absent);
        let description = self.symbol(&Symbol::Interface(interface));
        let location = self.location_value(location);
        let made = self
            .call_unusual(&entries::REACH_HELD, &[instance, slot, description, location])
            .expect("a communication");
        self.wait_on(Failure::Zero, made);
        self.builder.ins().jump(there, &[made.into()]);
    }

    /// The states that a message leads from and to.
    fn transitions(&self, interface: InterfaceId, message: usize) -> Vec<(u16, u16)> {
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

    fn flags_for(&self, interface: InterfaceId, message: usize) -> u16 {
        match self.functions.program.interfaces[interface.index()].messages[message].direction {
            Direction::In => 0,
            Direction::Out => FOR_CLIENT,
        }
    }

    /// The communication, if there is one already.
    pub(super) fn try_communication(&mut self, reach: &Reach, slow: Block) -> Value {
        let (base, at) = match reach {
            Reach::Service => return self.process,
            Reach::Required(slot) => (self.instance(), *slot as i32 + offset::COMMUNICATION),
            Reach::Indexed { offset: table, k } => {
                (self.try_indexed_slot(*table, *k, slow), offset::COMMUNICATION)
            }
            Reach::Held { instance, offset: slot } => (self.get(*instance), *slot as i32 + offset::HOLDER),
            Reach::HeldSlot { slot, .. } => (self.get(*slot), offset::HOLDER),
        };
        let communication = self.builder.ins().load(types::I64, trusted(), base, at);
        self.branch_unless(communication, slow);
        communication
    }

    /// Goes on if the value is not 0. Else waits, if the communication is in a state in which the operation does
    /// nothing else, or goes to `slow`.
    fn go_on_or_wait(
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
        let status = self.builder.ins().iconst(types::I8, status as i64);
        self.builder.ins().store(trusted(), status, self.process, offset::STATUS);
        self.builder.ins().store(trusted(), self.process, communication, offset::WAITER);
        self.resume_at(point);
        let leave = self.leave_block();
        self.builder.ins().jump(leave, &[]);
        self.builder.switch_to_block(usual);
    }

    /// The process shall be resumed there.
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

    /// Room for a message, if there is: the word once it counts as sent. Waits while the buffer is full.
    pub(super) fn try_send(
        &mut self,
        point: Where,
        communication: Value,
        interface: InterfaceId,
        message: usize,
        slow: Block,
    ) -> Value {
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
            return self.builder.ins().iconst(types::I64, after((from, into)));
        }
        let mut sent = self.builder.ins().iconst(types::I64, 0);
        for (from, into) in transitions {
            let fits = self.builder.ins().icmp_imm_s(IntCC::Equal, word, word_of(from, from, 0, 0));
            let after = self.builder.ins().iconst(types::I64, after((from, into)));
            sent = self.builder.ins().select(fits, after, sent);
        }
        self.go_on_or_wait(sent, point, communication, (&full, ROOM), slow);
        sent
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

    /// Room for a service's answer: it never has to wait for that.
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

    fn send_or_else(
        &mut self,
        point: Where,
        communication: Value,
        (interface, message): (InterfaceId, usize),
        (payload, location): (Payload, LocationId),
        unless_room: impl FnOnce(&mut Self, Value),
    ) {
        let (slow, done) = self.slow_and_done();
        let sent = self.try_send(point, communication, interface, message, slow);
        self.builder.ins().jump(done, &[sent.into()]);
        self.builder.switch_to_block(slow);
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
        self.set(payload.communication, communication);
        let sent = self.builder.block_params(done)[0];
        self.set(payload.word, sent);
    }

    /// A cold block for what the runtime must do, and one with a parameter for what follows.
    fn slow_and_done(&mut self) -> (Block, Block) {
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
        self.builder.ins().store(trusted(), word, communication, offset::WORD);
        self.count(offset::MESSAGES, 1);
        let waiter = self.builder.ins().load(types::I64, trusted(), communication, offset::WAITER);
        self.branch_unless(waiter, done);
        self.wake(communication, waiter);
        self.builder.ins().jump(done, &[]);
        self.builder.switch_to_block(done);
    }

    /// Puts the waiter at the end of the ready queue.
    fn wake(&mut self, communication: Value, waiter: Value) {
        let zero = self.builder.ins().iconst(types::I64, 0);
        self.builder.ins().store(trusted(), zero, communication, offset::WAITER);
        self.builder.ins().store(trusted(), zero, waiter, offset::NEXT);
        let ready = self.builder.ins().iconst(types::I8, READY as i64);
        self.builder.ins().store(trusted(), ready, waiter, offset::STATUS);
        let head = self.builder.ins().load(types::I64, trusted(), self.worker, offset::READY_HEAD);
        let tail = self.builder.ins().load(types::I64, trusted(), self.worker, offset::READY_TAIL);
        // The link to be written: the last process's, or the head of an empty queue.
        let last = self.builder.ins().iadd_imm_s(tail, offset::NEXT as i64);
        let first = self.builder.ins().iadd_imm_s(self.worker, offset::READY_HEAD as i64);
        let link = self.builder.ins().select(head, last, first);
        self.builder.ins().store(trusted(), waiter, link, 0);
        self.builder.ins().store(trusted(), waiter, self.worker, offset::READY_TAIL);
    }

    /// A message, if it is there: the word once it is taken. Waits while none is there.
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
            // Nothing is there, or what this side has sent itself.
            if flags == FOR_CLIENT {
                waiting.push(Alike { bits: STATE | FLAGS, value: word_of(from, 0, 0, 0) });
            } else {
                waiting.push(Alike { bits: STATE | TAG | FLAGS, value: word_of(from, 0, 0, 0) });
                waiting.push(Alike { bits: STATE | FLAGS, value: word_of(from, 0, 0, FOR_CLIENT) });
            }
        }
        let expected =
            (word_of(0, 0, message as u16 + 1, self.flags_for(interface, message)) as u64 >> 32) as i32;
        let arrived = self.builder.ins().load(types::I32, trusted(), communication, offset::TAG);
        let there = self.builder.ins().icmp_imm_s(IntCC::Equal, arrived, expected as i64);
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

    pub(super) fn received(&mut self, payload: Payload) {
        let (communication, word) = (self.get(payload.communication), self.get(payload.word));
        let (fast, slow, woken, done) = (
            self.builder.create_block(),
            self.builder.create_block(),
            self.builder.create_block(),
            self.builder.create_block(),
        );
        self.builder.set_cold_block(slow);
        let by_runtime = self.builder.ins().icmp_imm_s(IntCC::Equal, word, -1);
        self.builder.ins().brif(by_runtime, slow, &[], fast, &[]);
        self.builder.switch_to_block(slow);
        self.call_unusual(&entries::RECEIVED, &[communication]);
        self.builder.ins().jump(done, &[]);
        self.builder.switch_to_block(fast);
        self.builder.ins().store(trusted(), word, communication, offset::WORD);
        let waiter = self.builder.ins().load(types::I64, trusted(), communication, offset::WAITER);
        self.branch_unless(waiter, done);
        // Whoever waits for an answer goes on waiting; a sender that waits for room goes on.
        let status = self.builder.ins().load(types::I8, trusted(), waiter, offset::STATUS);
        let wants_room = self.builder.ins().icmp_imm_s(IntCC::Equal, status, ROOM as i64);
        self.builder.ins().brif(wants_room, woken, &[], done, &[]);
        self.builder.switch_to_block(woken);
        self.wake(communication, waiter);
        self.builder.ins().jump(done, &[]);
        self.builder.switch_to_block(done);
    }

    /// What a test answers, if a message for this side is there and nobody has closed: the tag says it all. Waits
    /// while nothing has happened.
    pub(super) fn try_test(
        &mut self,
        point: Where,
        communication: Value,
        side: Direction,
        pattern: Pattern,
        slow: Block,
    ) -> Value {
        let mine = if side == Direction::In { FOR_CLIENT } else { 0 };
        let waiting: &[Alike] = match side {
            Direction::In => &[Alike { bits: FLAGS, value: 0 }],
            Direction::Out => &[
                Alike { bits: TAG | FLAGS, value: 0 },
                Alike { bits: FLAGS, value: word_of(0, 0, 0, FOR_CLIENT) },
            ],
        };
        let tag = self.builder.ins().load(types::I32, trusted(), communication, offset::TAG);
        let index = self.builder.ins().iadd_imm_s(tag, -((mine as i64) << 16) - 1);
        let plain = self.builder.ins().icmp_imm_s(IntCC::UnsignedLessThan, index, 0xffff);
        self.go_on_or_wait(plain, point, communication, (waiting, NEWS), slow);
        match pattern {
            Pattern::Message(message) => {
                let same = self.builder.ins().icmp_imm_s(IntCC::Equal, index, message as i64);
                self.builder.ins().uextend(types::I64, same)
            }
            Pattern::Any => self.builder.ins().iconst(types::I64, 1),
            Pattern::Finish => self.builder.ins().iconst(types::I64, 0),
        }
    }

    pub(super) fn test(
        &mut self,
        reach: &Reach,
        interface: InterfaceId,
        side: Direction,
        pattern: Pattern,
        to: Reg,
        location: LocationId,
    ) {
        let communication = self.communication(reach, interface, location);
        let (slow, done) = self.slow_and_done();
        let quick = self.try_test(Where::Entry, communication, side, pattern, slow);
        self.builder.ins().jump(done, &[quick.into()]);
        self.builder.switch_to_block(slow);
        self.answer_if_over(communication, side, pattern, done);
        let description = self.symbol(&Symbol::Interface(interface));
        let side = self.number(side_number(side));
        let pattern = self.number(pattern_number(pattern));
        let location = self.location_value(location);
        let arguments = [communication, description, side, pattern, location];
        let slowly = self.call_unusual(&entries::TEST, &arguments).expect("an answer");
        self.wait_on(Failure::Two, slowly);
        self.builder.ins().jump(done, &[slowly.into()]);
        self.builder.switch_to_block(done);
        let answer = self.builder.block_params(done)[0];
        self.set(to, answer);
    }

    /// Answers if nothing is there and nothing will come, because the other side has closed.
    fn answer_if_over(&mut self, communication: Value, side: Direction, pattern: Pattern, done: Block) {
        let closed = if side == Direction::In { SERVICE_ENDED } else { CLIENT_CLOSED };
        let word = self.builder.ins().load(types::I64, trusted(), communication, offset::WORD);
        let bits = self.builder.ins().band_imm_s(word, (TAG | FLAGS) as i64);
        let is_over = self.builder.ins().icmp_imm_s(IntCC::Equal, bits, word_of(0, 0, 0, closed));
        let answer = self.builder.ins().iconst(types::I64, (pattern == Pattern::Finish) as i64);
        let open = self.builder.create_block();
        self.builder.set_cold_block(open);
        self.builder.ins().brif(is_over, done, &[answer.into()], open, &[]);
        self.builder.switch_to_block(open);
    }

    /// Asks without waiting, also where there is no communication yet.
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

fn side_number(side: Direction) -> i64 {
    match side {
        Direction::In => drystone_component::Side::Client as i64,
        Direction::Out => drystone_component::Side::Server as i64,
    }
}

fn pattern_number(pattern: Pattern) -> i64 {
    match pattern {
        Pattern::Message(index) => index as i64,
        Pattern::Any => -1,
        Pattern::Finish => -2,
    }
}
