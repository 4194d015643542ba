//! The state of the analysis of one process: the situation, the summaries of procedures, and the findings so far.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::conformance::faults::{Fault, Sites};
use crate::conformance::positions::{Key, Known};
use crate::conformance::uses::Uses;
use crate::program::{InterfaceId, ProcedureId, Program, VariableId};
use crate::source::Span;

/// The work that is spent on one process. Errors in a process that takes more are found when it runs.
const BUDGET: usize = 10_000_000;

/// The situation of a process at a point. `None` if it can't get there.
pub type Here = Option<Known>;

/// A process, with the facts that its analysis needs.
pub struct Process<'p> {
    /// The whole program.
    pub program: &'p Program,
    /// The interface, if the process is a service.
    pub service: Option<InterfaceId>,
    /// Whether other processes use a communication too. Such a communication is followed only while the lock is held.
    pub shared: &'p dyn Fn(Key) -> bool,
    /// Variables whose content cannot be followed.
    pub untracked: &'p HashSet<VariableId>,
}

/// The result of the analysis of a process.
pub struct Outcome {
    /// The situation at its end; `None` if it can't end.
    pub end: Here,
    /// The places that use followed communications.
    pub sites: Sites,
    /// The messages and states that it uses.
    pub uses: Uses,
}

/// A call: the procedure, whether the lock is held, and the situation before it.
pub type Call = (ProcedureId, bool, Known);

/// What may happen in a procedure, apart from a return.
#[derive(Clone, Default, PartialEq)]
pub struct Trace {
    /// It may stop or run forever without a fault.
    pub survives: bool,
    /// The places at which paths through it end with a fault.
    pub faults: BTreeMap<Span, Fault>,
}

impl Trace {
    pub fn include(&mut self, other: &Trace) {
        self.survives |= other.survives;
        self.faults.extend(other.faults.iter().map(|(&span, fault)| (span, fault.clone())));
    }
}

/// A loop around the present place.
pub(super) struct Loop {
    /// It began under the component's lock.
    pub(super) held: bool,
    /// The situations at its EXITs.
    pub(super) left: Here,
}

pub(super) struct Flow<'p> {
    pub(super) process: &'p Process<'p>,
    pub(super) budget: usize,
    /// The component's lock is held.
    pub(super) held: bool,
    pub(super) depth: usize,
    /// The situations at the RETURNs of the present procedure.
    pub(super) returned: Here,
    /// The loops around the present place, the innermost last.
    pub(super) loops: Vec<Loop>,
    pub(super) trace: Trace,
    pub(super) sites: Sites,
    pub(super) uses: Uses,
    pub(super) summaries: HashMap<Call, (Here, Trace)>,
    /// Calls followed in this round.
    pub(super) entered: HashSet<Call>,
    /// In this round a summary changed.
    pub(super) changed: bool,
}

impl<'p> Flow<'p> {
    /// Before anything is followed.
    pub(super) fn new(process: &'p Process<'p>) -> Self {
        Flow {
            process,
            budget: BUDGET,
            held: false,
            depth: 0,
            returned: None,
            loops: Vec::new(),
            trace: Trace::default(),
            sites: Sites::default(),
            uses: Uses::default(),
            summaries: HashMap::new(),
            entered: HashSet::new(),
            changed: false,
        }
    }

    pub(super) fn spend(&mut self, work: usize) -> Option<()> {
        self.budget = self.budget.saturating_sub(work);
        (self.budget > 0).then_some(())
    }

    pub(super) fn locked(
        &mut self,
        locks: bool,
        here: Known,
        inside: impl FnOnce(&mut Self, Known) -> Here,
    ) -> Here {
        if !locks || self.held {
            return inside(self, here);
        }
        self.held = true;
        let end = inside(self, here);
        self.held = false;
        Some(self.without_shared(end?))
    }

    /// Forgets shared communications, since other processes have had the lock in between.
    pub(super) fn without_shared(&self, mut here: Known) -> Known {
        here.retain(|key| !(self.process.shared)(key));
        here
    }
}
