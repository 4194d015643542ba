//! Finds the communication that an operation uses.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types};
use cranelift_module::Module;
use drystone_language::program::InterfaceId;

use super::Build;
use crate::dispatch::trusted;
use crate::entries;
use crate::mir::{EntryPoint, Failure, LocationId, Reach, Reg, Symbol};
use crate::offset;

impl<M: Module> Build<'_, '_, M> {
    /// The communication of an operation; waits if there is none yet.
    pub(super) fn communication(
        &mut self,
        reach: &Reach,
        interface: InterfaceId,
        location: LocationId,
    ) -> Value {
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

    /// The slot, required or offered, through which a communication is reached.
    pub(super) fn slot(&mut self, reach: &Reach, interface: InterfaceId, location: LocationId) -> Value {
        let (instance, at) = match reach {
            Reach::Service => unreachable!("a service has its communication"),
            Reach::Required(at) => (self.instance(), *at),
            Reach::Indexed { offset, k } => return self.indexed_slot(*offset, *k, interface, location),
            Reach::Held { instance, offset: at } => (self.get(*instance), *at),
            Reach::HeldSlot { slot, .. } => return self.get(*slot),
        };
        self.builder.ins().iadd_imm_s(instance, at as i64)
    }

    /// One of a table of required slots; the runtime makes it before its first use.
    pub(super) fn indexed_slot(
        &mut self,
        table: u32,
        k: Reg,
        interface: InterfaceId,
        location: LocationId,
    ) -> Value {
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

    pub(super) fn try_indexed_slot(&mut self, table: u32, k: Reg, slow: Block) -> Value {
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

    pub(super) fn reach_slot(
        &mut self,
        slot: Value,
        interface: InterfaceId,
        location: LocationId,
        there: Block,
        absent: Block,
    ) {
        let made = (&entries::REACH, &[slot][..]);
        self.reach_or_make((slot, offset::COMMUNICATION), made, (interface, location), there, absent);
    }

    pub(super) fn reach_held(
        &mut self,
        instance: Value,
        slot: Value,
        interface: InterfaceId,
        location: LocationId,
        there: Block,
        absent: Block,
    ) {
        let made = (&entries::REACH_HELD, &[instance, slot][..]);
        self.reach_or_make((slot, offset::HOLDER), made, (interface, location), there, absent);
    }

    /// The communication at an offset of a slot. If it does not exist, an entry point makes it.
    fn reach_or_make(
        &mut self,
        (slot, offset): (Value, i32),
        (entry, given): (&'static EntryPoint, &[Value]),
        (interface, location): (InterfaceId, LocationId),
        there: Block,
        absent: Block,
    ) {
        let communication = self.builder.ins().load(types::I64, trusted(), slot, offset);
        self.builder.ins().brif(communication, there, &[communication.into()], absent, &[]);
        self.builder.switch_to_block(absent);
        let description = self.symbol(&Symbol::Interface(interface));
        let location = self.location_value(location);
        let arguments = [given, &[description, location]].concat();
        let made = self.call_unusual(entry, &arguments).expect("a communication");
        self.wait_on(Failure::Zero, made);
        self.builder.ins().jump(there, &[made.into()]);
    }

    /// The communication if it exists; otherwise goes to `slow`.
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
}
