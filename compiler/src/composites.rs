//! Blocks that may be shipped to a server (`{COMPOSITE}`; *composite calls*).
//!
//! For each such block, its component requires one more interface, whose messages carry the block's variables there and
//! back. `shipped` encodes the block itself.

mod shipped;

use std::borrow::Cow;

use drystone_language::ast::Direction;
use drystone_language::program::*;
use drystone_language::source::Span;
use drystone_runtime::binding::shipment::{ENDED, FAILED, REFUSED, RUN};

pub use self::shipped::{encoded, responder};

/// The program, with an interface for each of its blocks.
pub fn with_interfaces(program: &Program) -> Cow<'_, Program> {
    if program.composites.is_empty() {
        return Cow::Borrowed(program);
    }
    let mut program = program.clone();
    for composite in &program.composites {
        let id = InterfaceId(program.interfaces.len() as u32);
        program.interfaces.push(interface(&program, composite));
        let requires = &mut program.components[composite.component.index()].requires;
        requires.push(Facet { interface: id, cardinality: None });
    }
    Cow::Owned(program)
}

/// The interface of a block, in a program that has them.
pub fn interface_of(program: &Program, id: CompositeId) -> InterfaceId {
    InterfaceId((program.interfaces.len() - program.composites.len() + id.index()) as u32)
}

/// The index of that interface among those that its component requires.
pub fn required_by(program: &Program, id: CompositeId) -> usize {
    let interface = interface_of(program, id);
    let requires = &program.components[program.composites[id.index()].component.index()].requires;
    requires.iter().position(|facet| facet.interface == interface).expect("its component requires it")
}

/// The variables whose values are sent with a block.
pub fn taken(composite: &Composite) -> impl Iterator<Item = VariableId> {
    composite
        .variables
        .iter()
        .filter(|(_, travels)| matches!(travels, Travels::In | Travels::Both))
        .map(|(id, _)| *id)
}

/// The variables whose values are sent back.
pub fn given(composite: &Composite) -> impl Iterator<Item = VariableId> {
    composite
        .variables
        .iter()
        .filter(|(_, travels)| matches!(travels, Travels::Out | Travels::Both))
        .map(|(id, _)| *id)
}

fn interface(program: &Program, composite: &Composite) -> Interface {
    let of = |id: VariableId| {
        let variable = &program.variables[id.index()];
        (variable.name.clone(), variable.ty.clone())
    };
    let failure = [("fault", Type::Integer), ("location", Type::Integer), ("why", Type::Text)];
    let failure = failure.map(|(name, ty)| (name.to_string(), ty));
    let mut messages = vec![("", Direction::Out, Vec::new()); 4];
    messages[RUN] = ("Run", Direction::In, taken(composite).map(of).collect());
    messages[ENDED] = ("Ended", Direction::Out, given(composite).map(of).collect());
    messages[REFUSED] = ("Refused", Direction::Out, Vec::new());
    messages[FAILED] = ("Failed", Direction::Out, failure.into());
    let message = |(name, direction, values): (&str, _, Vec<_>)| Message {
        name: name.into(),
        direction,
        values: program.values_of(&values),
        parameters: values,
    };
    let states = vec![
        State { transitions: vec![(RUN, 1)], may_end: true },
        State { transitions: vec![(ENDED, 0), (REFUSED, 0), (FAILED, 0)], may_end: false },
    ];
    Interface {
        capacity: 1,
        name: drystone_component::Interface::FOR_BLOCK.into(),
        span: Span::default(),
        messages: messages.into_iter().map(message).collect(),
        states,
        native: None,
    }
}
