//! The state that processes share: instances, communications, processes, time and output.
//!
//! All of it is plain data in one cell, and nothing here waits. A process that must wait names an [`Event`]. A change
//! wakes the processes that wait for its event. They test again, so waking too many does no harm.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use drystone_language::program::{Component, ComponentId, InterfaceId, LockMode, Program};
use drystone_language::source::Span;

use super::communication::Communication;
use super::identity::{CommunicationId, Event, InstanceId, ProcessId, Role, SYSTEM};
use super::links::{End, Link, Target};
use super::monitor::Monitor;
use super::names::Names;
use super::outcome::{self, Failure, Kind, Options, Outcome};
use super::scope::Scope;
use crate::random::Random;

/// A process that has not ended.
pub(super) struct ProcessRecord {
    pub instance: InstanceId,
    pub role: Role,
    /// The event for which the process waits; `None` while it is ready.
    pub waiting: Option<Event>,
    /// The mode in which the process has its instance's lock.
    pub lock: Option<LockMode>,
    /// The current statement.
    pub span: Span,
    /// The depth of procedure calls.
    pub depth: usize,
}

/// A component instance that has not been freed.
pub(super) struct Instance<'p> {
    /// `None` for the system.
    pub template: Option<ComponentId>,
    pub scope: Rc<Scope>,
    /// The component that holds this one, or to which this one is under way.
    pub parent: Option<InstanceId>,
    /// The name of the container that holds it, e.g. `house[17]`.
    pub name: String,
    /// `BEGIN` has ended.
    pub begun: bool,
    /// `ACTIVITY` has ended.
    pub finished: bool,
    /// An error has ended it.
    pub dead: bool,
    /// The error that has ended it, if it was the nearest isolated one.
    pub fault: Option<Kind>,
    /// Required interfaces, by index into `requires` and k.
    pub required: BTreeMap<(usize, i64), Target>,
    /// Inward connections of offered interfaces, by index into `offers`.
    pub inward: BTreeMap<usize, Target>,
    /// Connections that lead to one of its offered interfaces.
    pub clients: BTreeSet<(InterfaceId, Link)>,
    /// Communications that are served by it or pass through it.
    pub communications: BTreeSet<CommunicationId>,
    pub monitor: Monitor<'p>,
}

/// The tables of everything that exists.
pub(super) struct State<'p> {
    pub instances: BTreeMap<InstanceId, Instance<'p>>,
    pub communications: BTreeMap<CommunicationId, Communication>,
    /// The present communication of each client's end.
    pub ends: BTreeMap<End, CommunicationId>,
    pub processes: BTreeMap<ProcessId, ProcessRecord>,
    pub ready: Vec<ProcessId>,
    pub waiters: BTreeMap<Event, Vec<ProcessId>>,
    /// New processes that the scheduler has not taken over.
    pub started: Vec<ProcessId>,
    /// Processes that the scheduler must drop.
    pub killed: Vec<ProcessId>,
    /// Components in messages that no process will receive. The running process deletes them.
    pub orphans: Vec<InstanceId>,
    /// Sleeping processes, by the time when each wakes and the order in which they went to sleep.
    pub sleeping: BTreeMap<(i64, usize), ProcessId>,
    pub names: Names,
    pub time: i64,
    pub steps: u64,
    pub random: Random,
    pub outcome: Outcome,
    pub ended: bool,
    next: usize,
}

/// A running program.
pub(super) struct World<'p> {
    pub program: &'p Program,
    pub options: &'p Options,
    pub state: RefCell<State<'p>>,
    /// Whether a condition of `AWAIT` is being tested; meanwhile no process may wait or be preempted.
    pub testing: Cell<bool>,
}

impl<'p> World<'p> {
    /// A world with only the system, and the process that will make the entry component.
    pub fn new(program: &'p Program, options: &'p Options) -> Self {
        let mut state = State {
            instances: BTreeMap::new(),
            communications: BTreeMap::new(),
            ends: BTreeMap::new(),
            processes: BTreeMap::new(),
            ready: Vec::new(),
            waiters: BTreeMap::new(),
            started: Vec::new(),
            killed: Vec::new(),
            orphans: Vec::new(),
            sleeping: BTreeMap::new(),
            names: Names::default(),
            time: 0,
            steps: 0,
            random: Random::new(options.seed),
            outcome: Outcome { output: Vec::new(), end: outcome::End::Finished, contained: Vec::new() },
            ended: false,
            next: 1,
        };
        let scope = Scope::new(
            program,
            drystone_language::program::Owner::Component(ComponentId(u32::MAX)),
            None,
            SYSTEM,
            &[],
        );
        state.add_instance(None, scope, None);
        state.start(SYSTEM, Role::Program);
        World { program, options, state: RefCell::new(state), testing: Cell::new(false) }
    }

    /// The template of an instance that is not the system.
    pub fn template(&self, instance: InstanceId) -> &'p Component {
        let template = self.state.borrow().instances[&instance].template;
        &self.program.components[template.expect("the system runs no program text").index()]
    }

    /// Ends the program.
    pub fn end(&self, end: outcome::End) {
        let mut state = self.state.borrow_mut();
        if !state.ended {
            state.ended = true;
            state.outcome.end = end;
        }
    }
}

impl<'p> State<'p> {
    /// A number that has not been given before.
    pub fn fresh(&mut self) -> usize {
        self.next += 1;
        self.next - 1
    }

    /// Adds a new instance; its `BEGIN` has not started.
    pub fn add_instance(
        &mut self,
        template: Option<ComponentId>,
        scope: Rc<Scope>,
        parent: Option<InstanceId>,
    ) -> InstanceId {
        let id = scope.instance;
        let instance = Instance {
            template,
            scope,
            parent,
            name: String::new(),
            begun: template.is_none(),
            finished: template.is_none(),
            dead: false,
            fault: None,
            required: BTreeMap::new(),
            inward: BTreeMap::new(),
            clients: BTreeSet::new(),
            communications: BTreeSet::new(),
            monitor: Monitor::default(),
        };
        self.instances.insert(id, instance);
        id
    }

    /// Starts a process.
    pub fn start(&mut self, instance: InstanceId, role: Role) -> ProcessId {
        let id = ProcessId(self.fresh());
        let span = Span::default();
        let record = ProcessRecord { instance, role, waiting: None, lock: None, span, depth: 0 };
        self.processes.insert(id, record);
        self.started.push(id);
        self.ready.push(id);
        id
    }

    /// Makes the processes that wait for the event ready.
    pub fn wake(&mut self, event: Event) {
        if event != Event::Anything {
            self.wake(Event::Anything);
        }
        for process in self.waiters.remove(&event).unwrap_or_default() {
            if let Some(record) = self.processes.get_mut(&process)
                && record.waiting == Some(event)
            {
                record.waiting = None;
                self.ready.push(process);
            }
        }
    }

    /// Makes all waiting processes ready.
    pub fn wake_all(&mut self) {
        let events: Vec<_> = self.waiters.keys().copied().collect();
        for event in events {
            self.wake(event);
        }
    }

    /// Whether the instance exists, and has not been ended by an error.
    pub fn alive(&self, instance: InstanceId) -> bool {
        self.instances.get(&instance).is_some_and(|instance| !instance.dead)
    }

    /// The path from the entry to the instance, e.g. `City.house[17]`.
    pub fn path(&self, instance: InstanceId) -> String {
        let instance = &self.instances[&instance];
        match instance.parent {
            None | Some(SYSTEM) => instance.name.clone(),
            Some(parent) => format!("{}.{}", self.path(parent), instance.name),
        }
    }

    /// The instance and its holders, from the inside outwards, without the system.
    pub fn around(&self, instance: InstanceId) -> Vec<InstanceId> {
        let mut chain = Vec::new();
        let mut next = Some(instance);
        while let Some(id) = next.filter(|&id| id != SYSTEM) {
            chain.push(id);
            next = self.instances.get(&id).and_then(|instance| instance.parent);
        }
        chain
    }

    /// Records an error that an isolated component contained.
    pub fn contain(&mut self, failure: Failure) {
        self.outcome.contained.push(failure);
    }
}
