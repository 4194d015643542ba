//! Blocks that may be shipped: one message and its answer where they are, ordinary blocks where not.

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
        let [shipped, ordinary, done] = [self.new_block(), self.new_block(), self.new_block()];
        let ships = self.ships(composite, &own, block, span);
        self.end(Terminator::Branch { condition: ships, yes: shipped, no: ordinary });
        self.start(shipped);
        self.ship(composite, &own, ordinary, span);
        self.go(done);
        // Where it is refused.
        self.start(ordinary);
        self.block_of_statements(block);
        self.leave(&composite.channels, span);
        self.go(done);
        self.start(done);
    }

    /// Whether the block is to be shipped now.
    fn ships(&mut self, composite: &Composite, own: &Channel, block: &Block_, span: Span) -> Reg {
        let code = encoded(self.unit.program, composite, block, span, &mut |span| self.location(span) + 1);
        let code = Expression { kind: ExpressionKind::Text(code), ty: Type::Text, span };
        let interface = self.leaving_interface(own.interface);
        let location = self.location(span);
        // Connections are the home's, and what is found here holds until the message is sent.
        self.suspend(SuspensionOp::Home, location);
        let slots: Vec<Reg> = composite.channels.iter().map(|channel| self.slot_of(channel, span)).collect();
        let own = self.slot_of(own, span);
        let count = self.int(slots.len() as i64);
        let words = self.reg(RegType::Int);
        self.inst(Inst::Words(words, slots));
        let code = self.text(&code);
        let ships = self.call(&entries::SHIPS, vec![own, interface, words, count, code.reg]);
        self.drop_text(code);
        ships
    }

    /// Sends it, and takes what comes back; goes on at `ordinary` where it is refused.
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
            std::array::from_fn(|_| self.new_block());
        self.condition(&test(ENDED), ended, other);
        self.start(other);
        self.condition(&test(REFUSED), refused, unrefused);
        self.start(refused);
        self.receive(own, REFUSED, &[], span);
        self.go(ordinary);
        self.start(unrefused);
        self.condition(&test(FAILED), failed, lost);
        self.start(failed);
        self.fail_as_there(own, span);
        self.go(done);
        self.start(lost);
        let slot = self.slot_of(own, span);
        let location = self.location(span);
        let at = self.int(location as i64);
        self.suspending_call(&entries::SHIPPED_LOST, vec![slot, at], location);
        self.go(done);
        self.start(ended);
        self.receive(own, ENDED, &places, span);
        self.go(done);
        self.start(done);
    }

    /// What has failed there fails here.
    fn fail_as_there(&mut self, own: &Channel, span: Span) {
        let reach = self.reach(own, span);
        let payload = self.payload();
        let location = self.location(span);
        let interface = own.interface;
        self.suspend(SuspensionOp::Receive { reach, interface, message: FAILED, payload }, location);
        let [fault, place, why] =
            [0, 1, 2].map(|index| self.load(payload_word(payload.communication, index), RegType::Int));
        let why = self.keep(why);
        self.inst(Inst::Received(payload));
        let at = self.int(location as i64);
        self.suspending_call(&entries::SHIPPED_FAILED, vec![fault, place, why.reg, at], location);
        self.drop_text(why);
    }

    /// The end of the block, with which its communications end.
    fn leave(&mut self, channels: &[Channel], span: Span) {
        for channel in channels {
            let slot = self.slot_of(channel, span);
            let location = self.location(span);
            let at = self.int(location as i64);
            self.suspending_call(&entries::LEAVE, vec![slot, at], location);
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
