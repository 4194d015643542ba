//! What is known while a process is followed, and what was found so far.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::conformance::faults::{Fault, Sites};
use crate::conformance::positions::{Key, Known};
use crate::conformance::uses::Uses;
use crate::program::{InterfaceId, ProcedureId, Program, VariableId};
use crate::source::Span;

/// How much work one process is worth. What a larger one does wrong is found when it runs.
const BUDGET: usize = 10_000_000;

/// The situation of a process at a point; `None` where it cannot get.
pub type Here = Option<Known>;

/// What the analysis of a process needs to know beforehand.
pub struct Process<'p> {
    /// The whole program.
    pub program: &'p Program,
    /// The interface, if the process is a service.
    pub service: Option<InterfaceId>,
    /// What other processes use too; followed only while the lock is held.
    pub shared: &'p dyn Fn(Key) -> bool,
    /// Variables whose content cannot be followed.
    pub untracked: &'p HashSet<VariableId>,
}

/// What became of a process: where its communications are at its end, and what was found.
pub struct Outcome {
    /// `None` if it cannot end.
    pub end: Here,
    /// Every place that uses a followed communication.
    pub sites: Sites,
    /// What is used how.
    pub uses: Uses,
}

/// A procedure, whether the lock is held, and the situation in which it is called.
pub type Call = (ProcedureId, bool, Known);

/// What else can happen in a stretch of program than to get to its end.
#[derive(Clone, Default, PartialEq)]
pub struct Trace {
    /// It may stop or run forever without a fault.
    pub survives: bool,
    /// Where ways through it end with a fault.
    pub faults: BTreeMap<Span, Fault>,
}

impl Trace {
    pub fn include(&mut self, other: &Trace) {
        self.survives |= other.survives;
        self.faults.extend(other.faults.iter().map(|(&span, fault)| (span, fault.clone())));
    }
}

pub(super) struct Flow<'p> {
    pub(super) process: &'p Process<'p>,
    pub(super) budget: usize,
    /// The component's lock is held.
    pub(super) held: bool,
    pub(super) depth: usize,
    /// The situations at the RETURNs of the present procedure.
    pub(super) returned: Here,
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

    /// Others have had the lock in between.
    pub(super) fn without_shared(&self, mut here: Known) -> Known {
        here.retain(|key| !(self.process.shared)(key));
        here
    }
}
