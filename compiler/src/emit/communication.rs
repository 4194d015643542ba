//! Communication: the usual case is decided here, by one comparison with the communication's word; the runtime is
//! called for the rest.

use cranelift_codegen::ir::{Block, InstBuilder, Value, types};
use cranelift_module::Module;
use drystone_language::ast::Direction;
use drystone_language::program::{InterfaceId, Pattern};

use super::{Build, offset};
use crate::entries;
use crate::mir::*;

impl<M: Module> Build<'_, '_, M> {
    fn place_value(&mut self, place: PlaceId) -> Value {
        self.builder.ins().iconst(types::I32, place as i64)
    }

    fn number(&mut self, value: i64) -> Value {
        self.builder.ins().iconst(types::I32, value)
    }

    /// The communication; waits here if there is none yet.
    fn communication(&mut self, reach: &Reach, interface: InterfaceId, place: PlaceId) -> Value {
        if *reach == Reach::Service {
            return self.process;
        }
        let (there, absent) = (self.builder.create_block(), self.builder.create_block());
        let communication = self.builder.append_block_param(there, types::I64);
        self.builder.set_cold_block(absent);
        match reach {
            Reach::Service => unreachable!("handled above"),
            Reach::Required(at) => {
                let instance = self.instance();
                let slot = self.builder.ins().iadd_imm_s(instance, *at as i64);
                self.reach_slot(slot, interface, place, there, absent);
            }
            Reach::Slot(reg) => {
                let slot = self.get(*reg);
                self.reach_slot(slot, interface, place, there, absent);
            }
            Reach::Held(instance, at) => {
                let instance = self.get(*instance);
                let slot = self.builder.ins().iadd_imm_s(instance, *at as i64);
                self.reach_held(instance, slot, interface, place, there, absent);
            }
            Reach::HeldSlot(instance, slot) => {
                let (instance, slot) = (self.get(*instance), self.get(*slot));
                self.reach_held(instance, slot, interface, place, there, absent);
            }
        }
        self.builder.switch_to_block(there);
        communication
    }

    fn reach_slot(&mut self, slot: Value, interface: InterfaceId, place: PlaceId, there: Block, absent: Block) {
        let communication = self.communication_of_slot(slot);
        self.builder.ins().brif(communication, there, &[communication.into()], absent, &[]);
        self.builder.switch_to_block(absent);
        let description = self.symbol(&Symbol::Interface(interface));
        let place = self.place_value(place);
        let made = self.call_entry(&entries::REACH, &[slot, description, place]).expect("a communication");
        self.wait_on(Failure::Zero, made);
        self.builder.ins().jump(there, &[made.into()]);
    }

    fn reach_held(
        &mut self,
        instance: Value,
        slot: Value,
        interface: InterfaceId,
        place: PlaceId,
        there: Block,
        absent: Block,
    ) {
        let communication = self.load_pointer(slot, offset::HOLDER);
        self.builder.ins().brif(communication, there, &[communication.into()], absent, &[]);
        self.builder.switch_to_block(absent);
        let description = self.symbol(&Symbol::Interface(interface));
        let place = self.place_value(place);
        let made = self.call_entry(&entries::REACH_HELD, &[instance, slot, description, place]).expect("a communication");
        self.wait_on(Failure::Zero, made);
        self.builder.ins().jump(there, &[made.into()]);
    }

    pub(super) fn send(
        &mut self,
        reach: &Reach,
        interface: InterfaceId,
        message: usize,
        to: (Reg, Reg),
        place: PlaceId,
    ) {
        let communication = self.communication(reach, interface, place);
        let description = self.symbol(&Symbol::Interface(interface));
        let number = self.number(message as i64);
        let place = self.place_value(place);
        let payload = self.call_entry(&entries::SEND, &[communication, description, number, place]).expect("a payload");
        self.wait_on(Failure::Zero, payload);
        self.set(to.0, communication);
        self.set(to.1, payload);
    }

    pub(super) fn sent(&mut self, communication: Reg, interface: InterfaceId, message: usize) {
        let communication = self.get(communication);
        let description = self.symbol(&Symbol::Interface(interface));
        let number = self.number(message as i64);
        self.call_entry(&entries::SENT, &[communication, description, number]);
    }

    pub(super) fn receive(
        &mut self,
        reach: &Reach,
        interface: InterfaceId,
        message: usize,
        to: (Reg, Reg),
        place: PlaceId,
    ) {
        let communication = self.communication(reach, interface, place);
        let description = self.symbol(&Symbol::Interface(interface));
        let number = self.number(message as i64);
        let place = self.place_value(place);
        let payload =
            self.call_entry(&entries::RECEIVE, &[communication, description, number, place]).expect("a payload");
        self.wait_on(Failure::Zero, payload);
        self.set(to.0, communication);
        self.set(to.1, payload);
    }

    pub(super) fn received(&mut self, communication: Reg, _interface: InterfaceId, _message: usize) {
        let communication = self.get(communication);
        self.call_entry(&entries::RECEIVED, &[communication]);
    }

    pub(super) fn test(
        &mut self,
        reach: &Reach,
        interface: InterfaceId,
        side: Direction,
        pattern: Pattern,
        to: Reg,
        place: PlaceId,
    ) {
        let communication = self.communication(reach, interface, place);
        let description = self.symbol(&Symbol::Interface(interface));
        let side = self.number(side_number(side));
        let pattern = self.number(pattern_number(pattern));
        let place = self.place_value(place);
        let arguments = [communication, description, side, pattern, place];
        let answer = self.call_entry(&entries::TEST, &arguments).expect("an answer");
        self.wait_on(Failure::Two, answer);
        self.set(to, answer);
    }

    /// Asks without waiting, also where there is no communication yet.
    pub(super) fn input(
        &mut self,
        reach: &Reach,
        interface: InterfaceId,
        side: Direction,
        pattern: Pattern,
        to: Reg,
        place: PlaceId,
    ) {
        let description = self.symbol(&Symbol::Interface(interface));
        let pattern = self.number(pattern_number(pattern));
        let place = self.place_value(place);
        let answer = match reach {
            Reach::Service => {
                let side = self.number(side_number(side));
                self.call_entry(&entries::INPUT, &[self.process, description, side, pattern])
            }
            Reach::Required(at) => {
                let instance = self.instance();
                let slot = self.builder.ins().iadd_imm_s(instance, *at as i64);
                self.call_entry(&entries::INPUT_SLOT, &[slot, description, pattern, place])
            }
            Reach::Slot(reg) => {
                let slot = self.get(*reg);
                self.call_entry(&entries::INPUT_SLOT, &[slot, description, pattern, place])
            }
            Reach::Held(instance, at) => {
                let instance = self.get(*instance);
                let slot = self.builder.ins().iadd_imm_s(instance, *at as i64);
                self.call_entry(&entries::INPUT_HELD, &[instance, slot, description, pattern, place])
            }
            Reach::HeldSlot(instance, slot) => {
                let (instance, slot) = (self.get(*instance), self.get(*slot));
                self.call_entry(&entries::INPUT_HELD, &[instance, slot, description, pattern, place])
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
