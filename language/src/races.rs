//! Refuses races. If two processes of a component can access a variable or connection, and one changes it, both need
//! the component's lock. Each component is checked by itself, since no other can access its variables. Procedures are
//! followed with the lock that their callers hold. The messages of communications play no part.

use crate::accesses::{Access, Event, walk_process};
use crate::program::{Block, Component, ComponentId, LockMode, Owner, ProcedureId, Program, VariableId};
use crate::source::{Diagnostic, Span};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// All races, and all uses of the lock that can't work.
pub fn check(program: &Program) -> Vec<Diagnostic> {
    let mut faults = Vec::new();
    for (index, component) in program.components.iter().enumerate() {
        let processes = processes(program, component);
        let uses = uses(program, &processes);
        let id = ComponentId(index as u32);
        let mut report = |diagnostic, it: &Use| faults.push(Fault::new(id, diagnostic, it));
        check_locks(&uses, &mut report);
        check_component(program, Owner::Component(id), component, &processes, &uses, &mut report);
    }
    let mut seen = HashSet::new();
    faults.retain(|fault| seen.insert((fault.diagnostic.code, fault.diagnostic.span)));
    one_for_each_cause(faults)
}

/// A fault at one place.
struct Fault {
    diagnostic: Diagnostic,
    /// The text in which a lock would mend it, if one would.
    cause: Option<Cause>,
    /// That lock must be exclusive.
    exclusive: bool,
}

/// The body around a fault, and whether the lock is held there, shared.
type Cause = (Text, bool);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Text {
    /// The body of a component's process.
    Process(ComponentId, usize),
    Procedure(ProcedureId),
}

impl Fault {
    fn new(component: ComponentId, diagnostic: Diagnostic, it: &Use) -> Fault {
        let text = match it.called.map(|call| call.event) {
            Some(Event::Call(procedure)) => Text::Procedure(procedure),
            _ => Text::Process(component, it.process),
        };
        let (cause, exclusive) = match it.access.event {
            Event::Exclusive => (None, false),
            Event::Await => (Some((text, false)), false),
            _ => (Some((text, it.access.lock.is_some())), it.changes()),
        };
        Fault { diagnostic, cause, exclusive }
    }
}

/// One error for each body that lacks a lock, at the first place: a single block with the lock mends all faults of the
/// body.
fn one_for_each_cause(faults: Vec<Fault>) -> Vec<Diagnostic> {
    let mut causes: BTreeMap<Cause, Vec<Fault>> = BTreeMap::new();
    let mut diagnostics = Vec::new();
    for fault in faults {
        match fault.cause {
            Some(cause) => causes.entry(cause).or_default().push(fault),
            None => diagnostics.push(fault.diagnostic),
        }
    }
    for mut faults in causes.into_values() {
        faults.sort_by_key(|fault| fault.diagnostic.span);
        let exclusive = faults.iter().any(|fault| fault.exclusive);
        let last = faults.last().map(|fault| fault.diagnostic.span);
        let more = faults.len() - 1;
        let first = faults.swap_remove(0).diagnostic;
        let is_talk = first.code == "race-communication";
        diagnostics.push(match (more, last) {
            (1.., Some(last)) => first.note(last, more_places(more)).help(match exclusive {
                true if is_talk => {
                    "put them in a block with {EXCLUSIVE}: a request and its answer in the same one"
                }
                true => "put them in a block with {EXCLUSIVE}, or in several",
                false => {
                    "put them in a block with {SHARED}; a WHILE test or an UNTIL takes {SHARED} before it"
                }
            }),
            _ => first,
        });
    }
    diagnostics
}

fn more_places(count: usize) -> String {
    match count {
        1 => "another such place".into(),
        _ => format!("the last of {count} more such places"),
    }
}

/// A process of a component; or the processes of a service, one for each client.
struct Process<'a> {
    block: &'a Block,
    /// Its description in messages.
    name: String,
    /// Its declaration, if there are many such processes.
    many: Option<Span>,
    /// It is `BEGIN` or `FINALLY`, beside which no other process of the component runs.
    alone: bool,
}

fn processes<'a>(program: &Program, component: &'a Component) -> Vec<Process<'a>> {
    let one = |block: &'a Option<Block>, name: &str, alone| {
        block.as_ref().map(|block| Process { block, name: name.into(), many: None, alone })
    };
    let services = component.implementations.iter().flat_map(|implementation| {
        let offered = component.offers[implementation.offered].interface;
        implementation.blocks().map(move |block| Process {
            block,
            name: format!("service {}", program.interfaces[offered.index()].name),
            many: Some(implementation.span),
            alone: false,
        })
    });
    let others = [
        one(&component.begin, "BEGIN", true),
        one(&component.activity, "ACTIVITY", false),
        one(&component.finally, "FINALLY", true),
    ];
    others.into_iter().flatten().chain(services).collect()
}

/// An access, its process, and, if a procedure does it, the call.
struct Use {
    process: usize,
    access: Access,
    called: Option<Access>,
}

/// All accesses of the processes, each once for each lock under which it is done.
fn uses(program: &Program, processes: &[Process]) -> Vec<Use> {
    let mut uses = Vec::new();
    for (process, Process { block, .. }) in processes.iter().enumerate() {
        walk_process(program, block, &mut |access, called| uses.push(Use { process, access, called }));
    }
    uses
}

/// Checks that AWAIT is executed under a lock, which it gives up, and that no process takes the exclusive lock while it
/// holds the shared one.
fn check_locks(uses: &[Use], report: &mut impl FnMut(Diagnostic, &Use)) {
    for it in uses {
        let access = &it.access;
        let diagnostic = match (access.event, access.lock) {
            (Event::Await, None) => Diagnostic::new(
                "await-without-lock",
                access.span,
                "AWAIT where the component's lock is not held",
            )
            .help("put it in a block with {EXCLUSIVE}, or {SHARED} if nothing is changed"),
            (Event::Exclusive, Some(LockMode::Shared)) => Diagnostic::new(
                "exclusive-inside-shared",
                access.span,
                "{EXCLUSIVE} where the lock is held {SHARED} already",
            )
            .help(match it.deciding_call() {
                Some(_) => "call the procedure in a block with {EXCLUSIVE} instead",
                None => "make the outer block {EXCLUSIVE}",
            }),
            _ => continue,
        };
        report(note_call(diagnostic, it), it);
    }
}

fn note_call(diagnostic: Diagnostic, it: &Use) -> Diagnostic {
    let Some(call) = it.deciding_call() else { return diagnostic };
    let how = match call.lock {
        None => "without the lock",
        Some(LockMode::Shared) => "with the lock held {SHARED}",
        Some(LockMode::Exclusive) => "with the lock held {EXCLUSIVE}",
    };
    diagnostic.note(call.span, format!("the procedure is called {how} here"))
}

/// Something that processes can race for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Target {
    Variable(VariableId),
    /// Index into the component's `requires`.
    Required(usize),
}

fn target(event: Event) -> Option<Target> {
    match event {
        Event::Read(id) | Event::Write(id) | Event::Replace(id) | Event::Pass(id) | Event::TalkToHeld(id) => {
            Some(Target::Variable(id))
        }
        Event::TalkToRequired(index) => Some(Target::Required(index)),
        Event::Call(_) | Event::Await | Event::Exclusive => None,
    }
}

impl Use {
    fn changes(&self) -> bool {
        !matches!(self.access.event, Event::Read(_))
    }

    /// The call of the procedure, unless the procedure itself takes the lock.
    fn deciding_call(&self) -> Option<Access> {
        self.called.filter(|call| call.lock == self.access.lock)
    }

    fn is_protected(&self) -> bool {
        match self.access.lock {
            Some(LockMode::Exclusive) => true,
            Some(LockMode::Shared) => !self.changes(),
            None => false,
        }
    }
}

fn check_component(
    program: &Program,
    owner: Owner,
    component: &Component,
    processes: &[Process],
    uses: &[Use],
    report: &mut impl FnMut(Diagnostic, &Use),
) {
    let mut by_target: BTreeMap<Target, Vec<&Use>> = BTreeMap::new();
    for it in uses.iter().filter(|it| !processes[it.process].alone) {
        match target(it.access.event) {
            // The variables of an implementation or a procedure belong to one process.
            Some(Target::Variable(id)) if program.variables[id.index()].owner != owner => {}
            Some(target) => by_target.entry(target).or_default().push(it),
            None => {}
        }
    }
    for (target, uses) in by_target {
        let touching: BTreeSet<usize> = uses.iter().map(|it| it.process).collect();
        let many = touching.len() > 1 || touching.iter().any(|&it| processes[it].many.is_some());
        if !many || !uses.iter().any(|it| it.changes()) {
            continue;
        }
        let name = match target {
            Target::Variable(id) => &program.variables[id.index()].name,
            Target::Required(index) => &program.interfaces[component.requires[index].interface.index()].name,
        };
        for it in uses.iter().filter(|it| !it.is_protected()) {
            report(race(name, it, &uses, processes), it);
        }
    }
}

fn race(name: &str, it: &Use, uses: &[&Use], processes: &[Process]) -> Diagnostic {
    let span = it.access.span;
    let diagnostic = match it.access.event {
        Event::Read(_) => Diagnostic::new(
            "race-read",
            span,
            format!("{name} is read here while another process may change it"),
        ),
        Event::Write(_) | Event::Replace(_) | Event::Pass(_) => Diagnostic::new(
            "race-write",
            span,
            format!("{name} is changed here while another process may use it"),
        ),
        _ => Diagnostic::new(
            "race-communication",
            span,
            format!("the communication with {name} is used here while another process may use it"),
        ),
    };
    let label = match it.access.lock {
        None => "the lock is not held here",
        Some(_) => "the lock is only held {SHARED} here",
    };
    let diagnostic = note_call(diagnostic.label(label), it);
    let diagnostic = match opponent(it, uses, processes) {
        Some(other) => {
            let another = if other.process == it.process { "another process of " } else { "" };
            let text = format!("{another}{}", describe(other, &processes[other.process]));
            diagnostic.note(other.access.span, text)
        }
        None => match processes[it.process].many {
            Some(span) => diagnostic.note(span, "every client has such a process of its own"),
            None => diagnostic,
        },
    };
    diagnostic.help(match it.access.event {
        Event::Read(_) => {
            "put it in a block with {SHARED}; a WHILE test or an UNTIL takes {SHARED} before it"
        }
        _ => "put it in a block with {EXCLUSIVE}",
    })
}

/// An access that must not happen at the same time as this one, if possible of another process.
fn opponent<'u>(it: &Use, uses: &[&'u Use], processes: &[Process]) -> Option<&'u Use> {
    let conflicting = |other: &&&Use| {
        (it.changes() || other.changes())
            && other.access.span != it.access.span
            && (other.process != it.process || processes[it.process].many.is_some())
    };
    let found = || uses.iter().filter(conflicting).copied();
    found().find(|other| other.process != it.process).or_else(|| found().next())
}

fn describe(other: &Use, process: &Process) -> String {
    let what = match other.access.event {
        Event::Read(_) => "reads it",
        Event::Write(_) | Event::Replace(_) | Event::Pass(_) => "changes it",
        _ => "uses the communication",
    };
    format!("{} {what} here", process.name)
}
