//! Protocol conformance: refuses a statement that violates its protocol on every path that leads to it. Such are sends
//! and receives that the protocol allows in none of its possible states, and services that end where their protocol may
//! not. A statement that may go well is left to the run-time check, so a program that can run correctly is never
//! refused.
//!
//! This is a data-flow analysis. `positions` is the abstract domain: sets of protocol states. `flow` follows processes
//! through their statements. `faults` collects and explains the errors, `uses` finds what deserves a warning.

mod choices;
mod faults;
mod flow;
mod positions;
mod uses;
mod wording;

use crate::accesses::{Event, walk, walk_process};
use crate::ast::Direction;
use crate::program::{Block, Component, Implementation, Owner, Program, VariableId};
use crate::source::{Diagnostic, Span};
use faults::Sites;
use flow::{Process, follow};
use positions::{Key, Known, Positions};
use std::collections::HashSet;
use uses::Uses;

/// The errors and warnings about the communications of a program.
pub fn check(program: &Program) -> Found {
    let untracked = untracked(program);
    let components = program.components.iter();
    let found: Vec<_> = components.map(|component| check_component(program, component, &untracked)).collect();
    let errors = found.iter().flatten().flat_map(|(sites, _)| sites.report(program)).collect();
    // If a process wasn't followed to its end, it is not known which messages it sends and receives.
    let uses: Option<Vec<Uses>> = found.into_iter().map(|found| Some(found?.1)).collect();
    let warnings = uses.map_or(Vec::new(), |uses| uses::doubts(program, &uses));
    Found { errors, warnings }
}

/// The errors and warnings about a program.
pub struct Found {
    /// Communications that cannot go well.
    pub errors: Vec<Diagnostic>,
    /// Communications that are probably not as they were meant.
    pub warnings: Vec<Diagnostic>,
}

/// Follows all processes of a component: `BEGIN`, with fresh communications, then `ACTIVITY`, then `FINALLY`; and the
/// services, which begin at any time. `None` if that would take too long.
fn check_component(
    program: &Program,
    component: &Component,
    untracked: &HashSet<VariableId>,
) -> Option<(Sites, Uses)> {
    let services = used_by_services(program, component);
    let shared = |key| services.contains(&whole(key));
    let alone = Process { program, service: None, shared: &|_| false, untracked };
    let among_services = Process { shared: &shared, ..alone };

    let (mut sites, mut uses) = (Sites::default(), Uses::default());
    let mut here = Known::default();
    for index in 0..component.requires.len() {
        here.set(Key::Required(index), Positions::start());
    }
    let processes =
        [(&alone, &component.begin), (&among_services, &component.activity), (&alone, &component.finally)];
    for (process, block) in processes {
        if let Some(block) = block {
            let outcome = follow(process, block, here, component.span)?;
            sites.merge(outcome.sites);
            uses.merge(outcome.uses);
            here = outcome.end.unwrap_or_default();
        }
        here.retain(|key| !shared(key));
    }
    for (key, positions) in here.iter() {
        let interface = match key {
            Key::Required(index) => component.requires[index].interface,
            Key::Held(_, interface) => interface,
            Key::Service => continue,
        };
        uses.leave((interface, Direction::Out), positions);
    }
    for implementation in &component.implementations {
        let service = component.offers[implementation.offered].interface;
        let process = Process { service: Some(service), ..among_services };
        let parts = [
            (Positions::start(), Some(&implementation.body)),
            (Positions::over(), implementation.finally.as_ref()),
        ];
        for (positions, block) in parts {
            let Some(block) = block else { continue };
            // The body may have been left anywhere before FINALLY, so nothing else is known there.
            let mut here = Known::default();
            here.set(Key::Service, positions);
            let outcome = follow(&process, block, here, end_of(block, implementation))?;
            sites.merge(outcome.sites);
            uses.merge(outcome.uses);
        }
    }
    Some((sites, uses))
}

/// The place right after the last statement.
pub fn end_of(block: &Block, implementation: &Implementation) -> Span {
    match block.statements.last() {
        Some(last) => Span { start: last.span.end, ..last.span },
        None => implementation.span,
    }
}

/// A required interface or a variable, with all its communications.
#[derive(PartialEq, Eq, Hash)]
enum Whole {
    Service,
    Required(usize),
    Held(VariableId),
}

fn whole(key: Key) -> Whole {
    match key {
        Key::Service => Whole::Service,
        Key::Required(index) => Whole::Required(index),
        Key::Held(id, _) => Whole::Held(id),
    }
}

/// The interfaces and variables that services of a component use. Each client has a service process of its own, so the
/// processes share them.
fn used_by_services(program: &Program, component: &Component) -> HashSet<Whole> {
    let mut used = HashSet::new();
    for implementation in &component.implementations {
        walk_process(program, &implementation.body, &mut |access, _| match access.event {
            Event::Write(id) | Event::Replace(id) | Event::Pass(id) | Event::TalkToHeld(id) => {
                let owner = program.variables[id.index()].owner;
                if matches!(owner, Owner::Component(_)) {
                    used.insert(Whole::Held(id));
                }
            }
            Event::TalkToRequired(index) => {
                used.insert(Whole::Required(index));
            }
            Event::Read(_) | Event::Call(_) | Event::Await | Event::Exclusive => {}
        });
    }
    used
}

/// Variables that may change through an alias: those that are passed to procedures, and those of procedures that may be
/// active more than once.
fn untracked(program: &Program) -> HashSet<VariableId> {
    let mut untracked = HashSet::new();
    for block in program.blocks() {
        walk(block, None, &mut |access| {
            if let Event::Pass(id) = access.event {
                untracked.insert(id);
            }
        });
    }
    for (procedure, recursive) in program.procedures.iter().zip(recursive(program)) {
        untracked.extend(&procedure.parameters);
        if recursive {
            untracked.extend(&procedure.variables);
        }
    }
    untracked
}

/// Whether each procedure may be called while it runs. Repeatedly leaves out procedures that call no other or are
/// called by no other; the rest is taken for recursive. (A procedure between two recursive ones is wrongly taken for
/// one.)
fn recursive(program: &Program) -> Vec<bool> {
    let mut callees = vec![Vec::new(); program.procedures.len()];
    let mut callers = callees.clone();
    for (caller, procedure) in program.procedures.iter().enumerate() {
        walk(&procedure.body, None, &mut |access| {
            if let Event::Call(callee) = access.event {
                callees[caller].push(callee.index());
                callers[callee.index()].push(caller);
            }
        });
    }
    let mut recursive = vec![true; callees.len()];
    for (ahead, back) in [(&callees, &callers), (&callers, &callees)] {
        let left_ahead =
            |it: usize, recursive: &[bool]| ahead[it].iter().filter(|&&other| recursive[other]).count();
        let mut counts: Vec<usize> = (0..ahead.len()).map(|it| left_ahead(it, &recursive)).collect();
        let mut free: Vec<usize> = (0..ahead.len()).filter(|&it| recursive[it] && counts[it] == 0).collect();
        while let Some(it) = free.pop() {
            recursive[it] = false;
            for &other in &back[it] {
                counts[other] -= 1;
                if counts[other] == 0 && recursive[other] {
                    free.push(other);
                }
            }
        }
    }
    recursive
}
