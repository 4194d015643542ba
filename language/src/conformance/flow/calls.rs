//! Calls of procedures. Each procedure is followed once for each situation in which it is called; the result is its
//! summary. The summary of a recursive call is taken from the round before.

use super::state::{Call, Flow, Here, Trace};
use crate::conformance::positions::{Key, Known, join};
use crate::program::{Owner, ProcedureId};
use crate::source::Span;
use std::collections::BTreeMap;

/// How deep calls are followed.
const MAX_DEPTH: usize = 100;

impl Flow<'_> {
    pub(super) fn call(&mut self, procedure: ProcedureId, span: Span, here: Known) -> Here {
        if self.depth == MAX_DEPTH {
            self.budget = 0;
            return None;
        }
        self.spend(1 + here.size())?;
        let call = (procedure, self.held, here);
        if self.entered.insert(call.clone()) {
            self.enter(&call);
        }
        let (end, trace) = match self.summaries.get(&call) {
            Some(known) => known.clone(),
            None => (None, Trace { survives: true, faults: BTreeMap::new() }),
        };
        match &end {
            None if !trace.survives => self.sites.fault_in_call(span, &trace.faults),
            _ => self.sites.fine(span),
        }
        self.trace.include(&trace);
        end
    }

    /// Follows a procedure and keeps its summary.
    pub(super) fn enter(&mut self, call: &Call) {
        let (procedure, held, here) = call;
        let outer = (std::mem::take(&mut self.trace), self.returned.take());
        self.depth += 1;
        let body = &self.process.program.procedures[procedure.index()].body;
        let end = self.block(body, here.clone());
        let end = join(end, self.returned.take()).map(|mut end| {
            let local = Owner::Procedure(*procedure);
            let variables = &self.process.program.variables;
            for &variable in &self.process.program.procedures[procedure.index()].variables {
                self.leave_behind(variable, &end);
            }
            end.retain(|key| !matches!(key, Key::Held(id, _) if variables[id.index()].owner == local));
            if *held { end } else { self.without_shared(end) }
        });
        self.depth -= 1;
        let mut found = (end, std::mem::take(&mut self.trace));
        (self.trace, self.returned) = outer;
        let before = self.summaries.get(call);
        if let Some((end, trace)) = before {
            found.0 = join(found.0, end.clone());
            found.1.include(trace);
        }
        if before != Some(&found) {
            self.changed = true;
            self.summaries.insert(call.clone(), found);
        }
    }
}
