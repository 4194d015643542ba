//! What is known of memory before the entry is called: the initial values of variables that don't change, and what
//! initialisers left.
//!
//! What an initialiser left in a variable that isn't constant is known only as long as the entry itself doesn't change
//! it, for it may be called again: that is checked, and what it changes is taken to be unknown. Memory that an
//! initialiser allocated is found again through the variable that points to it; it is taken for granted that the
//! allocator had some.

use super::memory::{Cell, Contents, Held, Memory};
use super::objects::Identity;
use super::state::{Arrival, State};
use super::value::{ObjectId, Value};
use super::{Error, Evaluator, Stop};
use crate::ir::{Const, GlobalId, Type};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

impl Evaluator<'_> {
    /// Runs the initialisers of the context and remembers what they leave in memory.
    pub fn run_initialisers(&mut self) -> Result<(), Error> {
        if self.context.initialisers.is_empty() {
            return Ok(());
        }
        let mut memory = Memory::default();
        for at in 0..self.module.globals.len() {
            let object = self.global(GlobalId(at as u32));
            let variable = &self.module.globals[at];
            if let Some(initial) = &variable.initial {
                let mut contents = Contents { real: variable.constant, escaped: variable.constant, ..Contents::default() };
                self.fill_in(&mut contents, 0, initial);
                memory.insert(object, contents);
            }
        }
        let context = self.context;
        for name in &context.initialisers {
            memory = loop {
                match self.run_initialiser(name, memory.clone()) {
                    Ok(after) => break after,
                    Err(Stop::Again) => {}
                    Err(Stop::Fail(reason)) => return Err(Error(format!("the initialiser {name}: {reason}"))),
                }
            };
        }
        self.directives.clear();
        self.remember(&memory);
        Ok(())
    }

    fn run_initialiser(&mut self, name: &str, memory: Memory) -> Result<Memory, Stop> {
        let Some(function) = self.module.function(name) else {
            return Err(Stop::Fail("there is no such function".into()));
        };
        if !self.function(function).params.is_empty() {
            return Err(Stop::Fail("it takes arguments".into()));
        }
        self.begin();
        self.finished = None;
        self.initialising = true;
        self.residual.block(String::new());
        let block = self.residual.block(String::new());
        let mut state = State {
            frames: Vec::new(),
            memory,
            block,
            branches: 0,
            not_null: BTreeSet::new(),
            arrival: Arrival::Plain,
        };
        self.enter(&mut state, function, Vec::new(), &std::rc::Rc::default())?;
        self.suspend(state);
        while let Some((key, arrivals)) = self.waiting.pop_first() {
            for state in self.join(&key, arrivals)? {
                self.proceed(state)?;
            }
        }
        self.initialising = false;
        match self.finished.take() {
            Some(memory) => Ok(memory),
            None => Err(Stop::Fail("it does not return".into())),
        }
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
                    both.cells.retain(|at, cell| other.cells.get(at) == Some(cell));
                    common.insert(object, both);
                }
                common
            }
        };
        self.finished = Some(memory);
    }

    /// Takes over what is known after the initialisers.
    fn remember(&mut self, memory: &Memory) {
        let mut allocated: VecDeque<ObjectId> = VecDeque::new();
        let objects: Vec<ObjectId> = memory.iter().map(|(object, _)| object).collect();
        for object in &objects {
            if matches!(self.objects.identity(*object), Identity::Global(_)) {
                allocated.push_back(*object);
            }
        }
        let mut seen: BTreeSet<ObjectId> = allocated.iter().copied().collect();
        while let Some(object) = allocated.pop_front() {
            let Some(contents) = memory.get(object) else { continue };
            let unknown = match self.objects.identity(object) {
                Identity::Global(global) => {
                    let name = &self.module.globals[global.0 as usize].name;
                    self.context.global.get(&**name).is_some_and(|said| said.unknown)
                }
                _ => false,
            };
            let mut known = Contents { real: true, escaped: true, ..Contents::default() };
            for (at, cell) in contents.cells.iter().filter(|_| !unknown) {
                if !is_known(&cell.held) {
                    continue;
                }
                if let Held::Value(Value::Pointer(target, _), _) = &cell.held
                    && matches!(self.objects.identity(*target), Identity::Allocated(..))
                    && seen.insert(*target)
                {
                    let Held::Value(Value::Pointer(_, 0), 0) = &cell.held else {
                        seen.remove(target);
                        continue;
                    };
                    self.found_at.insert(*target, (object, *at));
                    self.objects.origin_mut(*target).allocated = false;
                    allocated.push_back(*target);
                }
                known.cells.insert(*at, cell.clone());
            }
            // What nothing was written to is undefined in memory that was allocated, and zero nowhere.
            if !self.objects.origin(object).constant {
                let bytes = known.cells.iter().map(|(at, cell)| (*at, cell.size)).collect();
                self.invariant.insert(object, bytes);
            }
            self.initial.insert(object, known);
        }
        let found: BTreeSet<ObjectId> = self.initial.keys().copied().collect();
        for contents in self.initial.values_mut() {
            contents.cells.retain(|_, cell| match &cell.held {
                Held::Value(value, _) => value.object().is_none_or(|object| found.contains(&object)),
                _ => true,
            });
        }
    }

    /// The entry writes to memory: if an initialiser had left something known there, it is not known any more.
    pub fn check_invariant(&mut self, object: ObjectId, at: u64, size: u64) -> Result<(), Stop> {
        let Some(bytes) = self.invariant.get_mut(&object) else { return Ok(()) };
        let end = at.saturating_add(size);
        let changed: Vec<(u64, u64)> = bytes.iter().copied().filter(|(from, len)| *from < end && at < from + len).collect();
        if changed.is_empty() || self.initialising {
            return Ok(());
        }
        let pointers: BTreeMap<(ObjectId, u64), ObjectId> =
            self.found_at.iter().map(|(found, place)| (*place, *found)).collect();
        for cell in changed {
            bytes.remove(&cell);
            if let Some(contents) = self.initial.get_mut(&object) {
                contents.cells.remove(&cell.0);
            }
            if pointers.contains_key(&(object, cell.0)) {
                return Err(Stop::Fail("it changes a pointer to memory that an initialiser allocated".into()));
            }
        }
        Err(Stop::Again)
    }

    /// What is known of a global variable when no initialiser has run.
    pub fn initial_contents(&mut self, global: GlobalId) -> Contents {
        let object = self.global(global);
        let module = self.module;
        let variable = &module.globals[global.0 as usize];
        let mut contents = Contents { real: true, escaped: true, ..Contents::default() };
        if let Some(initial) = variable.initial.as_ref().filter(|_| self.objects.origin(object).constant) {
            self.fill_in(&mut contents, 0, initial);
        }
        contents
    }

    /// Puts a constant into memory.
    fn fill_in(&mut self, contents: &mut Contents, at: u64, constant: &Const) {
        let mut put = |at: u64, size: u64, held: Held| {
            if size > 0 {
                contents.cells.insert(at, Cell { size, held });
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
                contents.cells.insert(at, Cell { size, held: Held::Value(value, 0) });
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
