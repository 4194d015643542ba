//! A running process: it waits, is preempted, and fails.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use drystone_language::source::Span;

use super::identity::{CommunicationId, Event, InstanceId, ProcessId, Role, SYSTEM};
use super::links::Link;
use super::outcome::{End, Failure, Kind};
use super::world::World;

/// A process's view of the world.
#[derive(Clone, Copy)]
pub(super) struct Process<'w, 'p> {
    pub world: &'w World<'p>,
    pub id: ProcessId,
    /// The component whose code the process runs.
    pub instance: InstanceId,
}

/// Why a process stops before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// An error, which has been reported. Nothing more may happen in this process.
    Failed,
    /// A service whose client is lost stops at this point. Its lock has been released.
    Quiet,
}

/// The result of a part of a process.
pub(super) type Step<T> = Result<T, Stop>;

/// A part of a process that can be suspended.
pub(super) type Walk<'a, T> = Pin<Box<dyn Future<Output = Step<T>> + 'a>>;

/// Gives control back to the scheduler once.
struct Suspend(bool);

impl Future for Suspend {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context) -> Poll<()> {
        if std::mem::replace(&mut self.0, true) { Poll::Ready(()) } else { Poll::Pending }
    }
}

impl Process<'_, '_> {
    /// Waits for the event. Returns after any change that the event stands for.
    pub async fn wait(&self, event: Event) {
        {
            let mut state = self.world.state.borrow_mut();
            if let Some(record) = state.processes.get_mut(&self.id) {
                record.waiting = Some(event);
            }
            state.waiters.entry(event).or_default().push(self.id);
        }
        Suspend(false).await;
    }

    /// Waits for the event, until a time at most.
    pub async fn wait_until(&self, event: Event, deadline: i64) {
        let alarm = {
            let mut state = self.world.state.borrow_mut();
            let alarm = (deadline, state.fresh());
            state.sleeping.insert(alarm, self.id);
            alarm
        };
        self.wait(event).await;
        self.world.state.borrow_mut().sleeping.remove(&alarm);
    }

    /// Between two statements: counts a step, and sometimes lets other processes run.
    pub async fn pause(&self, span: Span) {
        if self.world.testing.get() {
            return;
        }
        let preempted = {
            let mut state = self.world.state.borrow_mut();
            state.steps += 1;
            let exhausted = state.steps > self.world.options.max_steps;
            if exhausted && !state.ended {
                state.ended = true;
                state.outcome.end = End::OutOfSteps;
            }
            let mut depth = 0;
            if let Some(record) = state.processes.get_mut(&self.id) {
                record.span = span;
                depth = record.depth;
            }
            // Some schedules switch at every statement, some let each process run for long. Resuming a process takes a
            // time in proportion to its depth, so processes with deep calls are preempted less often.
            let every = [1, 3, 10, 64][(self.world.options.seed % 4) as usize] * (1 + depth / 16);
            let preempted = exhausted || state.random.one_in(every);
            if preempted {
                state.ready.push(self.id);
            }
            preempted
        };
        if preempted {
            Suspend(false).await;
        }
    }

    /// Reports an error of this process.
    pub fn fail(&self, kind: Kind, span: Span) -> Stop {
        if self.world.testing.get() {
            return Stop::Failed;
        }
        let interface = match self.world.state.borrow().processes.get(&self.id).map(|record| record.role) {
            Some(Role::Service(id)) => Some(self.world.interface_name(id)),
            _ => None,
        };
        self.world.fail(self.instance, interface, kind, span);
        Stop::Failed
    }

    /// Reports the error of a result.
    pub fn check<T>(&self, result: Result<T, Kind>, span: Span) -> Step<T> {
        result.map_err(|kind| self.fail(kind, span))
    }
}

impl World<'_> {
    /// The name of a communication's interface.
    pub fn interface_name(&self, id: CommunicationId) -> String {
        let state = self.state.borrow();
        let interface = state.communications.get(&id).map(|communication| communication.interface);
        interface.map_or(String::new(), |interface| self.program.interfaces[interface.index()].name.clone())
    }

    /// An error in a component: ends the nearest isolated one around it, or the program.
    pub fn fail(&self, instance: InstanceId, interface: Option<String>, kind: Kind, span: Span) {
        let (failure, isolated) = {
            let state = self.state.borrow();
            let path = state.path(instance);
            // An error ends the program even if the entry component is isolated: its holder is the system.
            let isolated = state.around(instance).into_iter().find(|id| {
                let template = state.instances[id].template;
                state.instances[id].parent != Some(SYSTEM)
                    && template.is_some_and(|template| self.program.components[template.index()].isolated)
            });
            (Failure { kind, span, path, interface }, isolated)
        };
        match isolated.filter(|_| kind != Kind::Deadlock) {
            None => self.end(End::Failed(failure)),
            Some(isolated) => {
                self.state.borrow_mut().contain(failure);
                let holder = {
                    let mut state = self.state.borrow_mut();
                    let instance = state.instances.get_mut(&isolated).expect("it is there");
                    instance.fault = Some(kind);
                    instance.parent
                };
                self.kill(isolated);
                if let Some(holder) = holder {
                    self.changed(holder);
                }
                self.fill_places();
            }
        }
    }

    /// Ends a component and everything in it. Only broken communications remain of them.
    fn kill(&self, isolated: InstanceId) {
        let mut state = self.state.borrow_mut();
        let dying: Vec<InstanceId> =
            state.instances.keys().copied().filter(|&id| state.around(id).contains(&isolated)).collect();
        for id in &dying {
            state.instances.get_mut(id).expect("just listed").dead = true;
        }
        let doomed: Vec<ProcessId> = state
            .processes
            .iter()
            .filter(|(_, record)| dying.contains(&record.instance))
            .map(|(&id, _)| id)
            .collect();
        for process in doomed {
            state.processes.remove(&process);
            state.ready.retain(|&ready| ready != process);
            state.sleeping.retain(|_, sleeper| *sleeper != process);
            state.killed.push(process);
        }
        let mut links = Vec::new();
        for id in &dying {
            let instance = &state.instances[id];
            links.extend(instance.required.keys().map(|&(index, k)| Link::Required(*id, index, k)));
        }
        for link in links {
            state.disconnect(link);
        }
        let broken: Vec<_> = state
            .communications
            .iter()
            .filter(|(_, one)| {
                let through = one.path.iter().any(|link| dying.contains(&link.instance()));
                dying.contains(&one.client) || dying.contains(&one.server) || through
            })
            .map(|(&id, _)| id)
            .collect();
        drop(state);
        for id in broken {
            self.break_communication(id);
        }
        self.state.borrow_mut().wake_all();
    }
}
