//! Suspension points, instructions and the ends of blocks as text.

use drystone_language::ast::Direction;
use drystone_language::program::{AnyType, Cardinality, Facet, InterfaceId, LockMode, Pattern, VariableId};

use super::{Printer, list};
use crate::awaited::Dependence;
use crate::mir::*;

impl Printer<'_> {
    pub(super) fn suspension(&self, op: &SuspensionOp) -> String {
        match op {
            SuspensionOp::Send { reach, interface, message, payload } => {
                format!("{} = send {} over {}", pair(payload), self.message(*interface, *message), way(reach))
            }
            SuspensionOp::Receive { reach, interface, message, payload } => {
                let message = self.message(*interface, *message);
                format!("{} = receive {message} over {}", pair(payload), way(reach))
            }
            SuspensionOp::Test { reach, interface, side, question, to } => {
                format!("{to} = test {} over {}", self.question(*interface, *side, *question), way(reach))
            }
            SuspensionOp::Input { reach, interface, side, pattern, to } => {
                let pattern = self.question(*interface, *side, Question::Is(*pattern));
                format!("{to} = input {pattern} over {}", way(reach))
            }
            SuspensionOp::Select { sources, until, awaits, to } => {
                let sources: Vec<_> = sources.iter().map(|source| self.source(source)).collect();
                let until = until.map_or(String::new(), |until| format!(" until {until}"));
                let awaits = if *awaits { " or await" } else { "" };
                format!("{to} = select {}{until}{awaits}", sources.join(" or "))
            }
            SuspensionOp::Lock(mode) => format!("lock {}", lock(*mode)),
            SuspensionOp::Unlock { mode, written } => {
                format!("unlock {} having written {written:#x}", lock(*mode))
            }
            SuspensionOp::Home => "home".to_string(),
            SuspensionOp::Await { condition, dependence, written } => {
                format!("await {condition}, {}", waits(dependence, *written))
            }
            SuspensionOp::AwaitTested { holds, again, dependence, written } => {
                format!("await {holds} as tested from {again}, {}", waits(dependence, *written))
            }
            SuspensionOp::Call { to, entry, arguments } => call(*to, entry, arguments),
        }
    }

    fn source(&self, source: &Source) -> String {
        match source {
            Source::Arrival { reach, interface, side, question } => {
                format!("{} over {}", self.question(*interface, *side, *question), way(reach))
            }
            Source::Condition(reg) => format!("condition {reg}"),
        }
    }

    pub(super) fn instruction(&self, instruction: &Inst) -> String {
        match instruction {
            Inst::Int(to, value) => format!("{to} = {value}"),
            Inst::Real(to, value) => format!("{to} = {value:?}"),
            Inst::Copy { to, from } => format!("{to} = {from}"),
            Inst::Op { to, op, a, b } => format!("{to} = {op:?} {a}, {b}"),
            Inst::Checked { to, operator, a, b, location } => {
                format!("{to} = checked {operator:?} {a}, {b} at {}", self.location(*location))
            }
            Inst::Unary { to, operator, from } => format!("{to} = {operator:?} {from}"),
            Inst::Load { to, from } => format!("{to} = load {}", address(from)),
            Inst::Word { to, record, word } => format!("{to} = word {word} of record {record}"),
            Inst::Count { to, sequence } => format!("{to} = count of sequence {sequence}"),
            Inst::Place { to, cell, index, location } => {
                format!("{to} = place of {index} in sequence at {cell} at {}", self.location(*location))
            }
            Inst::Length { to, text } => format!("{to} = length of text {text}"),
            Inst::Bytes { to, text } => format!("{to} = bytes of text {text}"),
            Inst::Store { to, value } => format!("store {value} to {}", address(to)),
            Inst::Address { to, of } => format!("{to} = address of {}", address(of)),
            Inst::Base(to, of) => format!("{to} = {}", base(*of)),
            Inst::Symbol(to, symbol) => format!("{to} = {}", self.symbol(symbol)),
            Inst::Require(reg, fault, location) => {
                format!("require {reg} else {fault:?} at {}", self.location(*location))
            }
            Inst::Fail(fault, location) => format!("fail {fault:?} at {}", self.location(*location)),
            Inst::Call { to, entry, arguments } => call(*to, entry, arguments),
            Inst::CallNative { to, variant, arguments } => {
                format!("{}call {}({})", result(*to), self.variant(*variant), list(arguments))
            }
            Inst::Result(to) => format!("{to} = result"),
            Inst::Find { to, variable, collection, keys, by_text, absent } => {
                let element = self.element(*variable, collection, keys);
                let how = if *by_text { " by text" } else { "" };
                let absent = match absent {
                    IfAbsent::Fault(fault, location) => {
                        format!("else {fault:?} at {}", self.location(*location))
                    }
                    IfAbsent::Null => "else 0".to_string(),
                    IfAbsent::Make(location) => format!("else made at {}", self.location(*location)),
                };
                format!("{to} = find {element}{how} {absent}")
            }
            Inst::Watch { variable, collection, keys } => {
                format!("watch {}", self.element(*variable, collection, keys))
            }
            Inst::Wrote { variable, collection, keys } => {
                format!("wrote {}", self.element(*variable, collection, keys))
            }
            Inst::Words(to, values) => format!("{to} = words {}", list(values)),
            Inst::Room { interface, message, payload, location } => {
                let message = self.message(*interface, *message);
                format!("{} = room for {message} at {}", pair(payload), self.location(*location))
            }
            Inst::Sent { payload, interface, message } => {
                format!("sent {} with {}", self.message(*interface, *message), pair(payload))
            }
            Inst::Received { payload, interface, message } => {
                format!("received {} with {}", self.message(*interface, *message), pair(payload))
            }
        }
    }

    pub(super) fn end(&self, end: &Terminator) -> String {
        match end {
            Terminator::Goto(to) => format!("goto {to}"),
            Terminator::Branch { condition, yes, no } => format!("if {condition} goto {yes} else {no}"),
            Terminator::CallProcedure { variant, arguments, outer, then, location } => {
                let (name, location) = (self.variant(*variant), self.location(*location));
                let around = outer.map(|outer| format!(" around it {outer}")).unwrap_or_default();
                format!("call {name}({}){around} at {location} then {then}", list(arguments))
            }
            Terminator::Return(None) => "return".to_string(),
            Terminator::Return(Some(reg)) => format!("return {reg}"),
            Terminator::Finish(location) => format!("finish at {}", self.location(*location)),
            Terminator::Answer(reg) => format!("answer {reg}"),
            Terminator::Unreachable => "unreachable".to_string(),
        }
    }

    fn interface(&self, id: InterfaceId) -> &str {
        &self.names.interfaces[id.index()]
    }

    fn message(&self, interface: InterfaceId, message: usize) -> String {
        let name = &self.names.messages[interface.index()][message];
        format!("{}.{name}", self.interface(interface))
    }

    fn question(&self, interface: InterfaceId, side: Direction, question: Question) -> String {
        let end = match side {
            Direction::In => "client",
            Direction::Out => "server",
        };
        let what = match question {
            Question::Is(Pattern::Message(message)) => self.message(interface, message),
            Question::Is(Pattern::Any) => format!("any of {}", self.interface(interface)),
            Question::Is(Pattern::Finish) => format!("finish of {}", self.interface(interface)),
            Question::Which => format!("next of {}", self.interface(interface)),
        };
        format!("{what} as {end}")
    }

    fn element(&self, variable: VariableId, collection: &Address, keys: &[Reg]) -> String {
        let name = &self.names.variables[variable.index()];
        format!("{name}[{}] of {}", list(keys), address(collection))
    }

    fn symbol(&self, symbol: &Symbol) -> String {
        match symbol {
            Symbol::Interface(id) => format!("interface {}", self.interface(*id)),
            Symbol::Template(id) => format!("template {}", self.names.components[id.index()]),
            Symbol::Collection(id) => format!("collection {}", self.names.variables[id.index()]),
            Symbol::Any(any) => self.any(any),
            Symbol::NoArray => "no array".to_string(),
            Symbol::Text(bytes) => format!("text {}", literal(bytes)),
            Symbol::Owned => "what the frame owns".to_string(),
            Symbol::Frame(number) => format!("frame of {}", self.names.pieces[*number]),
            Symbol::Procedure(id) => format!("native {}", self.names.procedures[id.index()]),
        }
    }

    fn any(&self, any: &AnyType) -> String {
        let names =
            |facets: &[Facet]| facets.iter().map(|facet| self.facet(facet)).collect::<Vec<_>>().join(", ");
        match &any.requires {
            None => format!("ANY({})", names(&any.offers)),
            Some(requires) => format!("ANY({} | {})", names(&any.offers), names(requires)),
        }
    }

    fn facet(&self, facet: &Facet) -> String {
        let name = self.interface(facet.interface);
        match facet.cardinality {
            None => name.to_string(),
            Some(Cardinality { from, to: Some(to) }) => format!("{name}[{from}..{to}]"),
            Some(Cardinality { from, to: None }) => format!("{name}[{from}..*]"),
        }
    }
}

/// A text in quotes, by its bytes if it is not UTF-8.
fn literal(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => format!("{text:?}"),
        Err(_) => format!("\"{}\"", bytes.escape_ascii()),
    }
}

fn call(to: Option<Reg>, entry: &EntryPoint, arguments: &[Reg]) -> String {
    format!("{}{}({})", result(to), entry.name, list(arguments))
}

fn result(to: Option<Reg>) -> String {
    to.map(|to| format!("{to} = ")).unwrap_or_default()
}

/// The communication and its word.
fn pair(payload: &Payload) -> String {
    format!("{}, {}", payload.communication, payload.word)
}

fn way(reach: &Reach) -> String {
    match reach {
        Reach::Service => "its service".to_string(),
        Reach::Required(offset) => format!("[instance+{offset}]"),
        Reach::Indexed { offset, k } => format!("[instance+{offset}][{k}]"),
        Reach::Held { instance, offset } => format!("[{instance}+{offset}]"),
        Reach::HeldSlot { instance, slot } => format!("[{slot}] of {instance}"),
    }
}

fn lock(mode: LockMode) -> &'static str {
    match mode {
        LockMode::Exclusive => "exclusive",
        LockMode::Shared => "shared",
    }
}

fn base(of: Base) -> String {
    match of {
        Base::Process => "process".to_string(),
        Base::Frame => "frame".to_string(),
        Base::Instance => "instance".to_string(),
        Base::Reg(reg) => reg.to_string(),
    }
}

fn address(at: &Address) -> String {
    let byte = if at.byte { "byte " } else { "" };
    match at.offset {
        0 => format!("{byte}[{}]", base(at.base)),
        offset => format!("{byte}[{}{offset:+}]", base(at.base)),
    }
}

fn waits(dependence: &Dependence, written: u64) -> String {
    let elements = if dependence.watches { " and elements" } else { "" };
    let whose = if dependence.common { "everybody's" } else { "its own" };
    let bits = dependence.bits;
    format!("{whose}, depending on {bits:#x}{elements}, having written {written:#x}")
}
