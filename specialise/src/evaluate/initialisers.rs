//! What is known of memory before the entry is called: the initial values of variables that don't change, and what
//! initialisers left.
//!
//! What stands in a variable that the context calls constant is known as long as the entry itself doesn't change it:
//! that is checked, and what it changes is taken to be unknown from the beginning. Memory that an initialiser allocated
//! is found again through the variable that points to it; it is taken for granted that the allocator had some.

use super::error::Error;
use super::evaluator::{Evaluator, Learnt, Stop, Task};
use super::memory::{Cell, Contents, Held, Memory};
use super::objects::Identity;
use super::state::State;
use super::value::{ObjectId, Value};
use crate::ir::{Const, Global, GlobalId, Type};
use std::collections::{BTreeSet, VecDeque};
use std::rc::Rc;

/// Runs the initialisers of the context and remembers what they leave in memory.
pub(super) fn run(task: &Task, learnt: &mut Learnt) -> Result<(), Error> {
    if task.context.initialisers.is_empty() {
        return Ok(());
    }
    let mut memory = Evaluator::new(task, learnt).before_initialisers();
    for name in &task.context.initialisers {
        memory = loop {
            let evaluator = Evaluator { initialising: true, ..Evaluator::new(task, learnt) };
            match evaluator.initialise(name, memory.clone()) {
                Ok(after) => break after,
                Err(Stop::Again | Stop::Parted) => {}
                Err(Stop::Fail(reason)) => return Err(Error(format!("the initialiser {name}: {reason}"))),
            }
        };
    }
    learnt.directives.clear();
    Evaluator::new(task, learnt).remember(&memory);
    Ok(())
}

impl Evaluator<'_> {
    /// Memory when the first initialiser is called.
    fn before_initialisers(&mut self) -> Memory {
        let mut memory = Memory::default();
        for at in 0..self.module.globals.len() {
            let object = self.global(GlobalId(at as u32));
            let variable = &self.module.globals[at];
            if let Some(initial) = &variable.initial {
                let known = self.is_settled(variable);
                // Calls that are left may change it, unless only this module sees it and no address of it gets out.
                let seen = !variable.internal || variable.constant || !known;
                let mut contents = Contents { real: seen, escaped: seen, ..Contents::default() };
                if known {
                    self.fill_in(&mut contents, 0, initial);
                }
                memory.insert(object, contents);
            }
        }
        memory
    }

    /// Runs an initialiser; gives the memory after it.
    fn initialise(mut self, name: &str, memory: Memory) -> Result<Memory, Stop> {
        let Some(function) = self.module.function(name) else {
            return Err(Stop::Fail("there is no such function".into()));
        };
        if !self.function(function).params.is_empty() {
            return Err(Stop::Fail("it takes arguments".into()));
        }
        if self.is_replaceable(function) {
            return Err(Stop::Fail("another module may define it".into()));
        }
        self.residual.block(String::new());
        let block = self.residual.block(String::new());
        let mut state = State::new(memory, block);
        self.enter(&mut state, function, Vec::new(), &Rc::default())?;
        self.follow(state)?;
        self.finished.ok_or_else(|| Stop::Fail("it does not return".into()))
    }

    /// A path came back from the function that is being run: what its memory is, in common with other such paths.
    pub fn returned(&mut self, state: &State) {
        if !self.initialising {
            return;
        }
        let memory = match self.finished.take() {
            None => state.memory.clone(),
            Some(before) => {
                let mut common = Memory::default();
                for (object, contents) in before.iter() {
                    let Some(other) = state.memory.get(object) else { continue };
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

    /// Takes over what the initialisers left in variables that the context calls constant, and in the allocated memory
    /// that these lead to.
    fn remember(&mut self, memory: &Memory) {
        let globals = memory.iter().map(|(object, _)| object).filter(|object| self.is_invariant(*object));
        let mut to_do: VecDeque<ObjectId> = globals.collect();
        let mut seen: BTreeSet<ObjectId> = to_do.iter().copied().collect();
        while let Some(object) = to_do.pop_front() {
            let Some(contents) = memory.get(object) else { continue };
            let mut known = Contents { real: true, escaped: true, ..Contents::default() };
            for (at, cell) in contents.cells.iter().filter(|(_, cell)| is_known(&cell.held)) {
                if let Held::Value(Value::Pointer(target, offset), _) = cell.held
                    && matches!(self.learnt.objects.identity(target), Identity::Allocated(..))
                    && !seen.contains(&target)
                {
                    if offset != 0 {
                        continue;
                    }
                    seen.insert(target);
                    self.learnt.found_at.insert(target, (object, *at));
                    self.learnt.objects.origin_mut(target).allocated = false;
                    to_do.push_back(target);
                }
                known.cells.edit(|cells| cells.insert(*at, cell.clone()));
            }
            self.learnt.initial.insert(object, known);
        }
    }

    /// Whether the context says of a variable that the initialisers' values stay in it.
    fn is_invariant(&self, object: ObjectId) -> bool {
        let Identity::Global(global) = self.learnt.objects.identity(object) else { return false };
        let variable = &self.module.globals[global.0 as usize];
        variable.constant && self.is_settled(variable) || self.is_said_constant(variable)
    }

    /// Whether the program runs with the initial value that is here.
    fn is_settled(&self, variable: &Global) -> bool {
        !self.module.replaceable.contains(&variable.name) || self.is_said_constant(variable)
    }

    fn is_said_constant(&self, variable: &Global) -> bool {
        self.context.global.get(&*variable.name).is_some_and(|said| said.constant)
    }

    /// The entry writes to memory: if something was known to stand there always, it is not known any more.
    pub fn check_invariant(&mut self, object: ObjectId, at: u64, size: u64) -> Result<(), Stop> {
        if self.initialising || self.learnt.objects.origin(object).constant {
            return Ok(());
        }
        let Some(initial) = self.learnt.initial.get_mut(&object) else { return Ok(()) };
        let end = at.saturating_add(size);
        let cells = initial.cells.iter().filter(|(from, cell)| **from < end && at < **from + cell.size);
        let changed: Vec<u64> = cells.map(|(from, _)| *from).collect();
        if changed.is_empty() {
            return Ok(());
        }
        initial.cells.edit(|cells| cells.retain(|from, _| !changed.contains(from)));
        let lost =
            self.learnt.found_at.iter().find(|(_, (holder, at))| *holder == object && changed.contains(at));
        match lost {
            None => Err(Stop::Again),
            Some((found, _)) => {
                let name = &self.learnt.objects.origin(*found).name;
                Err(Stop::Fail(format!(
                    "it changes a pointer to memory that an initialiser allocated ({name})"
                )))
            }
        }
    }

    /// What is known of a global variable when no initialiser has run.
    pub fn initial_contents(&mut self, global: GlobalId) -> Contents {
        let object = self.global(global);
        let module = self.module;
        let variable = &module.globals[global.0 as usize];
        if self.context.global.get(&*variable.name).is_some_and(|said| said.temporary) {
            return Contents::default();
        }
        let mut contents = Contents { real: true, escaped: true, ..Contents::default() };
        if let Some(initial) = variable.initial.as_ref().filter(|_| self.is_invariant(object)) {
            self.fill_in(&mut contents, 0, initial);
        }
        contents
    }

    /// Puts a constant into memory.
    fn fill_in(&mut self, contents: &mut Contents, at: u64, constant: &Const) {
        let mut put = |at: u64, size: u64, held: Held| {
            if size > 0 {
                contents.cells.edit(|cells| cells.insert(at, Cell { size, held }));
            }
        };
        match constant {
            Const::Undef(_) => {}
            Const::Zero(ty) => put(at, ty.layout().size, Held::Fill(0)),
            Const::Bytes(bytes) => {
                for (offset, byte) in bytes.iter().enumerate() {
                    put(at + offset as u64, 1, Held::Value(Value::int(8, u128::from(*byte)), 0));
                }
            }
            Const::Aggregate(ty, fields) => {
                let offsets = match ty {
                    Type::Array(_, element) | Type::Vector(_, element) => {
                        let size = element.layout().size;
                        (0..fields.len() as u64).map(|field| field * size).collect()
                    }
                    _ => ty.offsets(),
                };
                for (field, offset) in fields.iter().zip(offsets) {
                    self.fill_in(contents, at + offset, field);
                }
            }
            scalar => {
                let size = scalar.ty().store_size();
                let value = self.constant(scalar);
                let held = Held::Value(value, 0);
                contents.cells.edit(|cells| cells.insert(at, Cell { size, held }));
            }
        }
    }
}

/// Whether what a cell holds doesn't depend on a residual program.
fn is_known(held: &Held) -> bool {
    match held {
        Held::Fill(_) => true,
        Held::Value(value, 0) => value.is_static() && !value.is_undef(),
        _ => false,
    }
}
