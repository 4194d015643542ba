//! Sending, receiving, and tests of what can be received.

use drystone_component::Kind;
use drystone_language::ast::Direction;
use drystone_language::program::*;
use drystone_language::source::Span;
use drystone_runtime::layout::PAYLOAD;

use super::Lower;
use super::records::Part;
use super::types::reg_type;
use crate::classify::is_held;
use crate::entries;
use crate::layout::kind_of;
use crate::mir::{Address, Base, Inst, Question, Reach, Reg, RegType, Source, SuspensionOp};

/// An argument of a message, before there is room for the message.
enum Prepared<'a> {
    /// A constant or variable, read when the buffer is free: nobody can change it meanwhile.
    Late(&'a Expression),
    Scalar(Reg),
    /// Owned by a temporary.
    Slot(u32, Kind),
}

impl Lower<'_, '_> {
    /// How a channel's communication is reached.
    pub(super) fn reach(&mut self, channel: &Channel, span: Span) -> Reach {
        match &channel.kind {
            ChannelKind::Service => Reach::Service,
            ChannelKind::Required(index, k) => {
                let offset = self.unit.layouts.instances[self.scope.component().index()].required[*index];
                if self.facet(*index).cardinality.is_none() {
                    return Reach::Required(offset);
                }
                let k = match k {
                    Some(k) => self.value(k),
                    None => self.code.int(1),
                };
                Reach::Indexed { offset, k }
            }
            ChannelKind::Held(place) => {
                let instance = self.instance_in(place);
                match self.offered_offset(&place.ty, channel.interface) {
                    Some(offset) => Reach::Held { instance, offset },
                    None => Reach::HeldSlot {
                        instance,
                        slot: self.find_offered(instance, channel.interface, span),
                    },
                }
            }
        }
    }

    fn facet(&self, index: usize) -> &Facet {
        &self.unit.program.components[self.scope.component().index()].requires[index]
    }

    pub(super) fn send(&mut self, channel: &Channel, message: usize, arguments: &[Argument], span: Span) {
        let program = self.unit.program;
        let prepared: Vec<Prepared> =
            arguments.iter().map(|argument| self.prepare_argument(argument)).collect();
        let reach = self.reach(channel, span);
        let payload = self.code.payload();
        let location = self.location(span);
        self.code
            .suspend(SuspensionOp::Send { reach, interface: channel.interface, message, payload }, location);
        let parameters = &program.interfaces[channel.interface.index()].messages[message].parameters;
        let mut words = (0..).map(|index| payload_word(payload.communication, index));
        for (argument, (_, ty)) in prepared.into_iter().zip(parameters) {
            if let Type::Record(id) = ty {
                self.send_record(*id, argument, &mut words);
                continue;
            }
            let value = match argument {
                Prepared::Late(expression) if is_held(&expression.ty) => {
                    let text = self.text(expression);
                    self.code.call(&entries::TEXT_COPY, vec![text.reg])
                }
                Prepared::Late(expression) => self.value(expression),
                Prepared::Scalar(register) => register,
                Prepared::Slot(slot, kind) => self.code.take_from_slot(slot, kind),
            };
            let word = words.next().expect("a message has a word for each value");
            self.code.store(word, value);
        }
        self.code.inst(Inst::Sent { payload, interface: channel.interface, message });
    }

    /// Puts the values of a record into a message.
    fn send_record(&mut self, id: RecordId, record: Prepared, words: &mut impl Iterator<Item = Address>) {
        match record {
            Prepared::Late(expression) => {
                let record = self.text(expression);
                self.take_apart(id, record.reg, words);
                self.code.drop_text(record);
            }
            Prepared::Slot(slot, _) => {
                let record = self.code.load(self.code.slot(slot), RegType::Int);
                self.take_apart(id, record, words);
                self.code.free_text(slot);
            }
            Prepared::Scalar(_) => unreachable!("a record is held"),
        }
    }

    fn prepare_argument<'e>(&mut self, argument: &'e Argument) -> Prepared<'e> {
        match argument {
            Argument::Value(value) if self.is_late(value) => Prepared::Late(value),
            Argument::Value(value) if is_held(&value.ty) => {
                Prepared::Slot(self.owned_text(value), Kind::Text)
            }
            Argument::Value(value) => Prepared::Scalar(self.value(value)),
            Argument::Place(place) => Prepared::Slot(self.depart(place), Kind::Component),
        }
    }

    /// Whether a value can be read once there is room: that cannot fail, and reads only the frame and the instance.
    fn is_late(&self, value: &Expression) -> bool {
        use ExpressionKind::*;
        match &value.kind {
            Boolean(_) | Character(_) | Integer(_) | Real(_) | Text(_) => true,
            Read(place) => match place.kind {
                PlaceKind::Variable(id) => !self.unit.facts.naming.named.contains(&id),
                _ => false,
            },
            _ => false,
        }
    }

    pub(super) fn receive(&mut self, channel: &Channel, message: usize, targets: &[Place], span: Span) {
        let reach = self.reach(channel, span);
        self.receive_over(reach, channel.interface, message, targets, span);
    }

    pub(super) fn receive_over(
        &mut self,
        reach: Reach,
        interface: InterfaceId,
        message: usize,
        targets: &[Place],
        span: Span,
    ) {
        let payload = self.code.payload();
        let location = self.location(span);
        self.code.suspend(SuspensionOp::Receive { reach, interface, message, payload }, location);
        let declared = &self.unit.program.interfaces[interface.index()].messages[message];
        let mut arrived = Vec::new();
        for (index, (_, ty)) in declared.values.iter().enumerate() {
            let word = payload_word(payload.communication, index);
            let value = self.code.load(word, reg_type(ty));
            let kind = kind_of(ty);
            arrived.push(match kind {
                Kind::Text | Kind::Component => {
                    let slot = self.code.take_slot(kind);
                    let address = self.code.slot(slot);
                    self.code.store(address, value);
                    Part::Held(slot)
                }
                _ => Part::Plain(value),
            });
        }
        self.code.inst(Inst::Received { payload, interface, message });
        let mut arrived = arrived.into_iter();
        for (target, (_, ty)) in targets.iter().zip(&declared.parameters) {
            let part = match ty {
                Type::Record(id) => Part::Held(self.put_together(*id, &mut arrived, span)),
                _ => arrived.next().expect("a message brings each value"),
            };
            let prepared = self.prepare(target);
            match part {
                Part::Held(slot) if target.ty.is_component() => self.arrive(&prepared, target, slot),
                Part::Held(slot) => self.store_text(&prepared, slot, target.span),
                Part::Plain(value) => self.store_target(&prepared, &target.ty, value, target.span),
            }
            self.code.drop_target(&prepared);
        }
    }

    /// Waits until the answer to a question about what comes next is known.
    pub(super) fn ask(&mut self, reach: Reach, channel: &Channel, question: Question, span: Span) -> Reg {
        let to = self.code.reg(RegType::Int);
        let location = self.location(span);
        let (interface, side) = (channel.interface, side_of(channel));
        self.code.suspend(SuspensionOp::Test { reach, interface, side, question, to }, location);
        to
    }

    /// `INPUT`. With a limit, it waits first until anything is known, or the time is up.
    pub(super) fn input(
        &mut self,
        channel: &Channel,
        pattern: Pattern,
        limit: Option<&Expression>,
        span: Span,
    ) -> Reg {
        let limit = limit.map(|limit| self.value(limit));
        let reach = self.reach(channel, span);
        if let Some(limit) = limit {
            let until = Some(self.time_limit(limit, span));
            let source = arrival(reach.clone(), channel, Question::Which);
            self.select_among(vec![source], until, false, span);
        }
        let to = self.code.reg(RegType::Int);
        let location = self.location(span);
        let side = side_of(channel);
        self.code.suspend(
            SuspensionOp::Input { reach, interface: channel.interface, side, pattern, to },
            location,
        );
        to
    }
}

/// Something that comes over a channel, as one of several things.
pub(super) fn arrival(reach: Reach, channel: &Channel, question: Question) -> Source {
    Source::Arrival { reach, interface: channel.interface, side: side_of(channel), question }
}

/// A word of the message in a communication's buffer.
pub(super) fn payload_word(communication: Reg, index: usize) -> Address {
    Address { base: Base::Reg(communication), offset: (PAYLOAD + 8 * index) as i32, byte: false }
}

/// The end of a channel at which the code is.
fn side_of(channel: &Channel) -> Direction {
    if matches!(channel.kind, ChannelKind::Service) { Direction::Out } else { Direction::In }
}
