//! What was found at each place that uses a followed communication, and how to say it. A place is at fault if
//! nothing that leads there can go on from it.

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
    /// A block ends that is a composite call of its client's.
    Leave,
}

/// A use that the protocol doesn't allow.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// Whose protocol.
    pub interface: InterfaceId,
    /// How it is used.
    pub what: What,
    /// Where the communication may be there.
    pub before: Positions,
}

/// All places that use followed communications.
#[derive(Default)]
pub struct Sites(BTreeMap<Span, Site>);

#[derive(Default)]
struct Site {
    /// Some way leads through.
    fine: bool,
    /// Faults on other ways; those of a call are in the procedure.
    faults: BTreeMap<Span, Fault>,
}

impl Sites {
    /// A way leads through this place.
    pub fn fine(&mut self, span: Span) {
        self.0.entry(span).or_default().fine = true;
    }

    /// A way ends here.
    pub fn fault(&mut self, span: Span, fault: &Fault) {
        self.fault_in_call(span, &BTreeMap::from([(span, fault.clone())]));
    }

    /// All ways of this call end, in one of these places.
    pub fn fault_in_call(&mut self, span: Span, faults: &BTreeMap<Span, Fault>) {
        let known = &mut self.0.entry(span).or_default().faults;
        for (&place, fault) in faults {
            let before = &mut known.entry(place).or_insert_with(|| fault.clone()).before;
            *before = before.union(&fault.before);
        }
    }

    /// Adds what was found in another process.
    pub fn merge(&mut self, other: Sites) {
        for (span, site) in other.0 {
            self.0.entry(span).or_default().fine |= site.fine;
            self.fault_in_call(span, &site.faults);
        }
    }

    /// The places at fault. A call is only reported if its faults, in other calls, are none.
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

/// What may come next.
pub fn allowed(interface: &Interface, positions: &Positions) -> String {
    let states = || positions.open.iter().map(|&state| &interface.states[state]);
    let messages: BTreeSet<usize> = states().flat_map(|state| &state.transitions).map(|it| it.0).collect();
    let mut all: Vec<String> = messages.iter().map(|&message| describe(interface, message)).collect();
    if states().any(|state| state.may_end) {
        all.push("the end".into());
    }
    one_of(all)
}

/// What must have been before.
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

/// A message as interfaces declare it.
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
