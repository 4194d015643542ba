//! Collects, for each place that uses a followed communication, whether a path leads through it, and reports the places
//! at fault. A place is at fault if no path that leads to it goes on behind it.

use super::choices::Choice;
use super::positions::Positions;
use super::wording::{allowed, describe, when};
use crate::program::{InterfaceId, Program};
use crate::source::{Diagnostic, Span};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

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
pub struct Sites {
    uses: BTreeMap<Span, Site>,
    /// CASE over what arrives.
    choices: BTreeMap<Span, Choice>,
}

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
        self.uses.entry(span).or_default().fine = true;
    }

    /// A path ends here with a fault.
    pub fn fault(&mut self, span: Span, fault: &Fault) {
        self.fault_in_call(span, &BTreeMap::from([(span, fault.clone())]));
    }

    /// All paths through this call end with one of these faults.
    pub fn fault_in_call(&mut self, span: Span, faults: &BTreeMap<Span, Fault>) {
        let known = &mut self.uses.entry(span).or_default().faults;
        for (&place, fault) in faults {
            let before = &mut known.entry(place).or_insert_with(|| fault.clone()).before;
            *before = before.union(&fault.before);
        }
    }

    /// Adds the places of another process.
    pub fn merge(&mut self, other: Sites) {
        for (span, site) in other.uses {
            self.uses.entry(span).or_default().fine |= site.fine;
            self.fault_in_call(span, &site.faults);
        }
        other.choices.into_iter().for_each(|(span, choice)| self.choose(span, choice));
    }

    /// A path leads to this CASE.
    pub fn choose(&mut self, span: Span, choice: Choice) {
        match self.choices.entry(span) {
            Entry::Vacant(entry) => _ = entry.insert(choice),
            Entry::Occupied(mut entry) => entry.get_mut().join(&choice),
        }
    }

    /// Reports the places at fault. A call is reported only if the places of its faults are not at fault themselves,
    /// since other calls get through them.
    pub fn report(&self, program: &Program) -> Vec<Diagnostic> {
        let is_fault = |span: &Span| self.uses.get(span).is_some_and(|site| !site.fine);
        let mut diagnostics = Vec::new();
        self.choices.iter().for_each(|(&span, choice)| diagnostics.extend(choice.faults(program, span)));
        for (span, site) in self.uses.iter().filter(|(_, site)| !site.fine) {
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
