//! Blocks that may be shipped (`{COMPOSITE}`): lowered twice, as one message with its answer and as an ordinary block.
//! At the block, generated code asks the runtime which of the two to run.

use drystone_language::program::*;
use drystone_language::source::Span;
use drystone_runtime::binding::shipment::{ENDED, FAILED, REFUSED, RUN};

use super::communication::payload_word;
use super::{Block_, Lower};
use crate::composites::{encoded, given, interface_of, required_by, taken};
use crate::entries;
use crate::mir::{BlockId, Inst, Reg, RegType, SuspensionOp, Terminator};

impl Lower<'_, '_> {
    pub(super) fn composite(&mut self, id: CompositeId, block: &Block_, span: Span) {
        let program = self.unit.program;
        let composite = &program.composites[id.index()];
        let kind = ChannelKind::Required(required_by(program, id), None);
        let own = Channel { kind, interface: interface_of(program, id) };
        let [shipped, ordinary, done] = [self.code.new_block(), self.code.new_block(), self.code.new_block()];
        let ships = self.ships(composite, &own, block, span);
        self.code.end(Terminator::Branch { condition: ships, yes: shipped, no: ordinary });
        self.code.start(shipped);
        self.ship(composite, &own, ordinary, span);
        self.code.go(done);
        // Where it is refused.
        self.code.start(ordinary);
        self.block_of_statements(block);
        self.leave(&composite.channels, span);
        self.code.go(done);
        self.code.start(done);
    }

    /// Asks the runtime whether to ship the block.
    fn ships(&mut self, composite: &Composite, own: &Channel, block: &Block_, span: Span) -> Reg {
        let code = encoded(self.unit.program, composite, block, span, &mut |span| self.location(span) + 1);
        let code = Expression { kind: ExpressionKind::Text(code), ty: Type::Text, span };
        let interface = self.leaving_interface(own.interface);
        let location = self.location(span);
        // Connections are the home's, and what is found here holds until the message is sent.
        self.code.suspend(SuspensionOp::Home, location);
        let slots: Vec<Reg> = composite.channels.iter().map(|channel| self.slot_of(channel, span)).collect();
        let own = self.slot_of(own, span);
        let count = self.code.int(slots.len() as i64);
        let words = self.code.words(&slots);
        let code = self.text(&code);
        let ships = self.code.call(&entries::SHIPS, vec![own, interface, words, count, code.reg]);
        self.code.drop_text(code);
        ships
    }

    /// Ships the block and receives the answer; goes on at `ordinary` if the server refuses it.
    fn ship(&mut self, composite: &Composite, own: &Channel, ordinary: BlockId, span: Span) {
        let variables = &self.unit.program.variables;
        let place = |id: VariableId| Place {
            kind: PlaceKind::Variable(id),
            ty: variables[id.index()].ty.clone(),
            span,
        };
        let value = |id: VariableId| {
            let place = place(id);
            Argument::Value(Expression { ty: place.ty.clone(), kind: ExpressionKind::Read(place), span })
        };
        let test = |message: usize| {
            let kind = ExpressionKind::ReceiveTest(own.clone(), Pattern::Message(message));
            Expression { kind, ty: Type::Boolean, span }
        };
        let values: Vec<_> = taken(composite).map(value).collect();
        let places: Vec<_> = given(composite).map(place).collect();
        self.send(own, RUN, &values, span);
        let [ended, other, refused, unrefused, failed, lost, done] =
            std::array::from_fn(|_| self.code.new_block());
        self.condition(&test(ENDED), ended, other);
        self.code.start(other);
        self.condition(&test(REFUSED), refused, unrefused);
        self.code.start(refused);
        self.receive(own, REFUSED, &[], span);
        self.code.go(ordinary);
        self.code.start(unrefused);
        self.condition(&test(FAILED), failed, lost);
        self.code.start(failed);
        self.fail_as_there(own, span);
        self.code.go(done);
        self.code.start(lost);
        let slot = self.slot_of(own, span);
        let location = self.location(span);
        let at = self.code.int(location as i64);
        self.code.suspending_call(&entries::SHIPPED_LOST, vec![slot, at], location);
        self.code.go(done);
        self.code.start(ended);
        self.receive(own, ENDED, &places, span);
        self.code.go(done);
        self.code.start(done);
    }

    /// A run-time error at the server is a run-time error here.
    fn fail_as_there(&mut self, own: &Channel, span: Span) {
        let reach = self.reach(own, span);
        let payload = self.code.payload();
        let location = self.location(span);
        let interface = own.interface;
        self.code.suspend(SuspensionOp::Receive { reach, interface, message: FAILED, payload }, location);
        let [fault, place, why] =
            [0, 1, 2].map(|index| self.code.load(payload_word(payload.communication, index), RegType::Int));
        let why = self.code.keep(why);
        self.code.inst(Inst::Received { payload, interface, message: FAILED });
        let at = self.code.int(location as i64);
        self.code.suspending_call(&entries::SHIPPED_FAILED, vec![fault, place, why.reg, at], location);
        self.code.drop_text(why);
    }

    /// The block ends, and its communications with it.
    fn leave(&mut self, channels: &[Channel], span: Span) {
        for channel in channels {
            let slot = self.slot_of(channel, span);
            let location = self.location(span);
            let at = self.code.int(location as i64);
            self.code.suspending_call(&entries::LEAVE, vec![slot, at], location);
        }
    }

    /// The slot of a required interface.
    fn slot_of(&mut self, channel: &Channel, span: Span) -> Reg {
        let ChannelKind::Required(index, k) = &channel.kind else {
            unreachable!("a block that is shipped talks over required interfaces");
        };
        let k = k.as_ref().map(|k| self.value(k));
        self.own_required(*index, k, span)
    }
}
