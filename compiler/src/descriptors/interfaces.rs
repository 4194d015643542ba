//! Descriptions of interfaces: their messages and protocols.

use std::mem::{offset_of, size_of};

use cranelift_module::{DataId, Module};
use drystone_component as model;
use drystone_language::ast::Direction;
use drystone_language::program::{InterfaceId, Program, Type};

use super::Descriptors;
use super::blob::Blob;
use crate::layout::{payload_words, queued};

impl Descriptors {
    pub(super) fn interface(
        &mut self,
        module: &mut impl Module,
        program: &Program,
        id: InterfaceId,
    ) -> DataId {
        self.once(module, format!("interface{}", id.0), |this, module| {
            let mut blob = this.interface_blob(module, program, id);
            let model::Fingerprint([low, high]) = model::Fingerprint::of(&program.identity(id));
            let at = offset_of!(model::Interface, fingerprint);
            blob.u64(at, low);
            blob.u64(at + 8, high);
            blob
        })
    }

    fn interface_blob(&mut self, module: &mut impl Module, program: &Program, id: InterfaceId) -> Blob {
        use model::Interface as I;
        let interface = &program.interfaces[id.index()];
        let of = |number| self.message_blob(module, program, (id, number));
        let messages: Vec<_> = (0..interface.messages.len()).map(of).collect();
        let mut next = Blob::new(2 * interface.states.len() * interface.messages.len());
        let mut states = Blob::new(interface.states.len());
        for (number, state) in interface.states.iter().enumerate() {
            for message in 0..interface.messages.len() {
                let to = state
                    .transitions
                    .iter()
                    .find(|(m, _)| *m == message)
                    .map_or(I::NONE, |(_, to)| *to as u16);
                next.put(2 * (number * interface.messages.len() + message), &to.to_le_bytes());
            }
            let sends = |direction| {
                state.transitions.iter().any(|(m, _)| interface.messages[*m].direction == direction)
            };
            let mut bits = if state.may_end { I::MAY_END } else { 0 };
            bits |= if sends(Direction::In) { I::CLIENT_SENDS } else { 0 };
            bits |= if sends(Direction::Out) { I::SERVER_SENDS } else { 0 };
            states.put(number, &[bits]);
        }
        let mut blob = Blob::new(size_of::<I>());
        self.string(module, &mut blob, offset_of!(I, name), &interface.name);
        let count = messages.len();
        let messages = self.array(module, size_of::<model::Message>(), messages);
        blob.table(offset_of!(I, messages), messages, count);
        let transitions = interface.states.len() * interface.messages.len();
        let next = (transitions > 0).then(|| self.define(module, next));
        blob.table(offset_of!(I, next), next, transitions);
        let state_count = interface.states.len();
        let states = self.define(module, states);
        blob.table(offset_of!(I, states), Some(states), state_count);
        blob.u64(offset_of!(I, payload_words), payload_words(interface) as u64);
        blob.u64(offset_of!(I, queued), queued(interface) as u64);
        blob
    }

    fn message_blob(
        &mut self,
        module: &mut impl Module,
        program: &Program,
        which: (InterfaceId, usize),
    ) -> Blob {
        use model::{Message as M, Parameter as P};
        let message = &program.interfaces[which.0.index()].messages[which.1];
        let mut blob = Blob::new(size_of::<M>());
        self.string(module, &mut blob, offset_of!(M, name), &message.name);
        let sender = match message.direction {
            Direction::In => model::Side::Client,
            Direction::Out => model::Side::Server,
        };
        blob.put(offset_of!(M, sender), &[sender as u8]);
        let mut parameters = Vec::new();
        for (name, ty) in &message.values {
            let mut parameter = Blob::new(size_of::<P>());
            self.string(module, &mut parameter, offset_of!(P, name), name);
            parameter.put(offset_of!(P, ty), &[model_type(ty) as u8]);
            let form = if matches!(ty, Type::Sequence(_)) { program.form(ty) } else { String::new() };
            self.string(module, &mut parameter, offset_of!(P, form), &form);
            parameters.push(parameter);
        }
        let parameters = self.array(module, size_of::<P>(), parameters);
        blob.table(offset_of!(M, parameters), parameters, message.values.len());
        if let Some(code) = self.marshalling.get(&which) {
            let mut functions = Blob::new(size_of::<model::Marshalling>());
            functions.function(offset_of!(model::Marshalling, length), code.length);
            functions.function(offset_of!(model::Marshalling, encode), code.encode);
            functions.function(offset_of!(model::Marshalling, decode), code.decode);
            let functions = self.define(module, functions);
            blob.pointer(offset_of!(M, marshalling), functions);
        }
        blob
    }
}

/// As messages have it.
pub(crate) fn model_type(ty: &Type) -> model::Type {
    match ty {
        Type::Boolean => model::Type::Boolean,
        Type::Character => model::Type::Character,
        Type::Integer => model::Type::Integer,
        Type::Real => model::Type::Real,
        Type::Text => model::Type::Text,
        Type::Record(_) => unreachable!("a message carries the fields of records"),
        Type::Sequence(_) => model::Type::Sequence,
        Type::Component(_) | Type::Any(_) => model::Type::Component,
    }
}
