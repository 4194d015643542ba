//! Runs the initialisers of the context. The entry is evaluated with the memory that they leave.
//!
//! Memory that an initialiser has allocated is reached through the variable that points to it. The allocation is
//! assumed to have succeeded.

use super::error::Error;
use super::evaluator::Evaluator;
use super::learnt::Learnt;
use super::machine::Machine;
use super::memory::{Contents, Held, Memory};
use super::objects::Identity;
use super::state::State;
use super::stop::Stop;
use super::task::Task;
use super::value::{ObjectId, Value};
use crate::ir::GlobalId;
use std::collections::{BTreeSet, VecDeque};
use std::rc::Rc;

/// Runs the initialisers of the context, and remembers the memory that they leave.
pub(super) fn run(task: &Task, learnt: &mut Learnt) -> Result<(), Error> {
    if task.context.initialisers.is_empty() {
        return Ok(());
    }
    let mut memory = before_initialisers(&mut Evaluator::new(task, learnt).machine);
    for name in &task.context.initialisers {
        memory = loop {
            match Evaluator::new(task, learnt).initialise(name, memory.clone()) {
                Ok(after) => break after,
                Err(Stop::Again | Stop::Parted) => {}
                Err(Stop::Fail(reason)) => return Err(Error(format!("the initialiser {name}: {reason}"))),
            }
        };
    }
    learnt.loops.directives.clear();
    remember(&memory, &mut Evaluator::new(task, learnt).machine);
    Ok(())
}

/// The memory at the call of the first initialiser.
fn before_initialisers(machine: &mut Machine) -> Memory {
    let mut memory = Memory::default();
    for at in 0..machine.task.module.globals.len() {
        let object = machine.objects.global_of(GlobalId(at as u32), machine.task.module);
        let variable = &machine.task.module.globals[at];
        if let Some(initial) = &variable.initial {
            let known = machine.task.is_settled(variable);
            // Residual calls may change the variable, unless only this module sees it and its address does not escape.
            let seen = !variable.internal || variable.constant || !known;
            let mut contents = Contents { real: seen, escaped: seen, ..Contents::default() };
            if known {
                machine.fill_in(&mut contents, 0, initial);
            }
            memory.insert(object, contents);
        }
    }
    memory
}

/// Remembers the contents of variables that the context calls constant, and of the allocated memory that these point
/// to.
fn remember(memory: &Memory, machine: &mut Machine) {
    let globals = memory.iter().map(|(object, _)| object).filter(|object| machine.is_invariant(*object));
    let mut to_do: VecDeque<ObjectId> = globals.collect();
    let mut seen: BTreeSet<ObjectId> = to_do.iter().copied().collect();
    while let Some(object) = to_do.pop_front() {
        let Some(contents) = memory.get(object) else { continue };
        let mut known = Contents { real: true, escaped: true, ..Contents::default() };
        for (at, cell) in contents.cells.iter().filter(|(_, cell)| is_known(&cell.held)) {
            if let Held::Value(Value::Pointer(target, offset), _) = cell.held
                && matches!(machine.objects.identity(target), Identity::Allocated(..))
                && !seen.contains(&target)
            {
                if offset != 0 {
                    continue;
                }
                seen.insert(target);
                machine.objects.found_at.insert(target, (object, *at));
                machine.objects.origin_mut(target).allocated = false;
                to_do.push_back(target);
            }
            known.cells.edit(|cells| cells.insert(*at, cell.clone()));
        }
        machine.initial.contents.insert(object, known);
    }
}

impl Evaluator<'_> {
    /// Runs an initialiser. The result is the memory afterwards.
    fn initialise(mut self, name: &str, memory: Memory) -> Result<Memory, Stop> {
        let Some(function) = self.machine.program.module.function(name) else {
            return Err(Stop::Fail("there is no such function".into()));
        };
        if !self.machine.program.function(function).params.is_empty() {
            return Err(Stop::Fail("it takes arguments".into()));
        }
        if self.machine.program.is_replaceable(function) {
            return Err(Stop::Fail("another module may define it".into()));
        }
        self.machine.initialising = true;
        self.machine.residual.block(String::new());
        let block = self.machine.residual.block(String::new());
        let mut state = State::new(memory, block);
        self.enter(&mut state, function, Vec::new(), &Rc::default())?;
        self.follow(state)?;
        self.finished.ok_or_else(|| Stop::Fail("it does not return".into()))
    }

    /// Records the memory at a return from the initialiser: the facts that all returns have in common.
    pub fn returned(&mut self, state: &State) {
        if !self.machine.initialising {
            return;
        }
        let memory = match self.finished.take() {
            None => state.facts.memory.clone(),
            Some(before) => {
                let mut common = Memory::default();
                for (object, contents) in before.iter() {
                    let Some(other) = state.facts.memory.get(object) else { continue };
                    let mut both = contents.clone();
                    both.real |= other.real;
                    both.cells.edit(|cells| cells.retain(|at, cell| other.cells.get(at) == Some(cell)));
                    common.insert(object, both);
                }
                common
            }
        };
        self.finished = Some(memory);
    }
}

/// Whether the contents of a cell are known without a residual program.
fn is_known(held: &Held) -> bool {
    match held {
        Held::Fill(_) => true,
        Held::Value(value, 0) => value.is_static() && !value.is_undef(),
        _ => false,
    }
}
