//! Collects, for each place that uses a followed communication, whether a path leads through it, and reports the places
//! at fault. A place is at fault if no path that leads to it goes on behind it.

use super::positions::Positions;
use crate::ast::Direction;
use crate::program::{Interface, InterfaceId, Program};
use crate::source::{Diagnostic, Span};
use std::collections::{BTreeMap, BTreeSet};

/// How a protocol is used at some place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// Sends this message.
    Send(usize),
    /// Receives this message.
    Receive(usize),
    /// A service ends.
    End,
    /// A composite block ends.
    Leave,
}

/// A use that the protocol doesn't allow.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// The interface whose protocol it is.
    pub interface: InterfaceId,
    /// The use.
    pub what: What,
    /// The positions of the communication before it.
    pub before: Positions,
}

/// All places that use followed communications.
#[derive(Default)]
pub struct Sites(BTreeMap<Span, Site>);

#[derive(Default)]
struct Site {
    /// Some path leads through.
    fine: bool,
    /// The faults on other paths. Those of a call lie in the procedure.
    faults: BTreeMap<Span, Fault>,
}

impl Sites {
    /// A path leads through this place.
    pub fn fine(&mut self, span: Span) {
        self.0.entry(span).or_default().fine = true;
    }

    /// A path ends here with a fault.
    pub fn fault(&mut self, span: Span, fault: &Fault) {
        self.fault_in_call(span, &BTreeMap::from([(span, fault.clone())]));
    }

    /// All paths through this call end with one of these faults.
    pub fn fault_in_call(&mut self, span: Span, faults: &BTreeMap<Span, Fault>) {
        let known = &mut self.0.entry(span).or_default().faults;
        for (&place, fault) in faults {
            let before = &mut known.entry(place).or_insert_with(|| fault.clone()).before;
            *before = before.union(&fault.before);
        }
    }

    /// Adds the places of another process.
    pub fn merge(&mut self, other: Sites) {
        for (span, site) in other.0 {
            self.0.entry(span).or_default().fine |= site.fine;
            self.fault_in_call(span, &site.faults);
        }
    }

    /// Reports the places at fault. A call is reported only if the places of its faults are not at fault themselves,
    /// since other calls get through them.
    pub fn report(&self, program: &Program) -> Vec<Diagnostic> {
        let is_fault = |span: &Span| self.0.get(span).is_some_and(|site| !site.fine);
        let mut diagnostics = Vec::new();
        for (span, site) in self.0.iter().filter(|(_, site)| !site.fine) {
            if let Some(fault) = site.faults.get(span) {
                diagnostics.push(fault.describe(program, *span));
            } else if let Some((place, fault)) = site.faults.iter().next()
                && !site.faults.keys().any(is_fault)
            {
                let diagnostic =
                    fault.describe(program, *span).note(*place, "in this call, this is what fails");
                diagnostics.push(diagnostic);
            }
        }
        diagnostics
    }
}

impl Fault {
    fn describe(&self, program: &Program, span: Span) -> Diagnostic {
        let interface = &program.interfaces[self.interface.index()];
        let allowed = allowed(interface, &self.before);
        let diagnostic = match self.what {
            What::End => Diagnostic::new(
                "protocol-unfinished",
                span,
                format!("the service {} ends where its protocol may not", interface.name),
            )
            .label(format!("after this the protocol expects {allowed}")),
            What::Leave => Diagnostic::new(
                "protocol-unfinished",
                span,
                format!(
                    "the block ends where the protocol of {} goes on: its communications end with it",
                    interface.name
                ),
            )
            .label(format!("after this the protocol expects {allowed}")),
            What::Send(message) | What::Receive(message) => {
                let name = describe(interface, message);
                let how = if matches!(self.what, What::Send(_)) { "sent" } else { "received" };
                let here = if self.before.open.is_empty() {
                    "here the communication is over".to_string()
                } else {
                    format!("here the protocol allows {allowed}")
                };
                Diagnostic::new(
                    "protocol-violation",
                    span,
                    format!("{name} cannot be {how} here by the protocol of {}", interface.name),
                )
                .label(here)
                .help(format!("{name} comes only {}", when(interface, message)))
            }
        };
        if interface.span == Span::default() {
            return diagnostic;
        }
        diagnostic.note(interface.span, format!("the protocol of {}", interface.name))
    }
}

/// The messages that may come next, for a note.
pub fn allowed(interface: &Interface, positions: &Positions) -> String {
    let states = || positions.open.iter().map(|&state| &interface.states[state]);
    let messages: BTreeSet<usize> = states().flat_map(|state| &state.transitions).map(|it| it.0).collect();
    let mut all: Vec<String> = messages.iter().map(|&message| describe(interface, message)).collect();
    if states().any(|state| state.may_end) {
        all.push("the end".into());
    }
    one_of(all)
}

/// Where the protocol allows a message: at the start, or after other messages.
fn when(interface: &Interface, message: usize) -> String {
    let comes = |state: usize| interface.states[state].transitions.iter().any(|&(label, _)| label == message);
    let before: BTreeSet<usize> = interface
        .states
        .iter()
        .flat_map(|state| &state.transitions)
        .filter(|&&(_, next)| comes(next))
        .map(|&(label, _)| label)
        .collect();
    let names: Vec<String> = before.iter().map(|&label| describe(interface, label)).collect();
    match (comes(0), names.is_empty()) {
        (true, true) => "at the start".into(),
        (true, false) => format!("at the start or after {}", one_of(names)),
        (false, _) => format!("after {}", one_of(names)),
    }
}

/// A message as an interface declares it.
pub fn describe(interface: &Interface, message: usize) -> String {
    let message = &interface.messages[message];
    match message.direction {
        Direction::In => format!("IN {}", message.name),
        Direction::Out => format!("OUT {}", message.name),
    }
}

/// `a, b or c`, not too many of them.
pub fn one_of(mut all: Vec<String>) -> String {
    const MANY: usize = 6;
    if all.len() > MANY {
        let more = all.len() - (MANY - 1);
        all.truncate(MANY - 1);
        all.push(format!("one of {more} others"));
    }
    match all.split_last() {
        None => "nothing".into(),
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
    }
}
