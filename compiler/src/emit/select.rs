//! Waiting for the first of several things: generated code describes them, and the runtime does the rest.

use cranelift_codegen::ir::{InstBuilder, StackSlotData, StackSlotKind, types};
use cranelift_module::Module;
use drystone_runtime::layout::{
    ANYTHING, NEVER, SOURCE_CONDITION, SOURCE_HELD, SOURCE_REQUIRED, SOURCE_SERVICE,
};

use super::Build;
use super::receiving::pattern_number;
use crate::entries;
use crate::mir::{LocationId, Question, Reach, Reg, Source, Symbol};
use crate::offset;

impl<M: Module> Build<'_, '_, M> {
    pub(super) fn select(
        &mut self,
        sources: &[Source],
        until: Option<Reg>,
        awaits: bool,
        to: Reg,
        location: LocationId,
    ) {
        let size = sources.len() as u32 * offset::SOURCE as u32;
        let data = StackSlotData::new(StackSlotKind::ExplicitSlot, size, 3);
        let array = self.builder.create_sized_stack_slot(data);
        for (index, source) in sources.iter().enumerate() {
            let zero = self.builder.ins().iconst(types::I64, 0);
            let (at, instance, interface, way, pattern) = match source {
                Source::Condition(reg) => (self.get(*reg), zero, zero, SOURCE_CONDITION, 0),
                Source::Arrival { reach, interface, question, .. } => {
                    let (at, instance, way) = match reach {
                        Reach::Service => (self.process, zero, SOURCE_SERVICE),
                        Reach::Required(_) | Reach::Indexed { .. } => {
                            (self.slot(reach, *interface, location), zero, SOURCE_REQUIRED)
                        }
                        Reach::Held { instance, .. } | Reach::HeldSlot { instance, .. } => {
                            let slot = self.slot(reach, *interface, location);
                            (slot, self.get(*instance), SOURCE_HELD)
                        }
                    };
                    let pattern = match question {
                        Question::Is(pattern) => pattern_number(*pattern),
                        Question::Which => ANYTHING as i64,
                    };
                    (at, instance, self.symbol(&Symbol::Interface(*interface)), way, pattern)
                }
            };
            let (way, pattern) = (self.number(way as i64), self.number(pattern));
            let begin = index as i32 * offset::SOURCE;
            for (value, at) in [
                (at, offset::SOURCE_AT),
                (instance, offset::SOURCE_INSTANCE),
                (interface, offset::SOURCE_INTERFACE),
            ] {
                self.builder.ins().stack_store(types::I64, value, array, begin + at);
            }
            for (value, at) in [(way, offset::SOURCE_WAY), (pattern, offset::SOURCE_PATTERN)] {
                self.builder.ins().stack_store(types::I32, value, array, begin + at);
            }
        }
        let count = self.number(sources.len() as i64);
        let deadline = match until {
            Some(until) => self.get(until),
            None => self.builder.ins().iconst(types::I64, NEVER),
        };
        let (awaits, location) = (self.number(awaits.into()), self.location_value(location));
        let array = self.builder.ins().stack_addr(types::I64, array, 0);
        let arguments = [array, count, deadline, awaits, location];
        let first = self.call_entry(&entries::SELECT, &arguments).expect("an index");
        self.wait_on(entries::SELECT.failure, first);
        self.set(to, first);
    }
}
