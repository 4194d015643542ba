//! What an evaluation is made of: what it is to do, what was found out for all attempts, and one attempt.

use super::error::Error;
use super::flow::Flow;
use super::kept::{Directive, Recursion, Variant};
use super::memory::{self, Contents};
use super::objects::Objects;
use super::report::Report;
use super::residual::Residual;
use super::sense;
use super::spent::Spent;
use super::state::{PathId, State};
use super::value::ObjectId;
use crate::context::{Budget, Context};
use crate::ir::{BlockId, Body, Function, FunctionId, Module, Operand, Param, PlaceId, ValueId};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;

/// Why an attempt ended early.
#[derive(Debug)]
pub(super) enum Stop {
    /// Something was learnt that the next attempt must begin with.
    Again,
    /// It can't be done; why.
    Fail(String),
    /// The path became two at an instruction; both wait.
    Parted,
}

/// What is to be specialised, and to what.
pub(super) struct Task<'m> {
    pub(super) module: &'m Module,
    pub(super) context: &'m Context,
    pub(super) entry: FunctionId,
    /// The parameters of the entry, with the names of the source.
    pub(super) params: Vec<Param>,
}

impl<'m> Task<'m> {
    pub fn new(module: &'m Module, context: &'m Context) -> Result<Task<'m>, Error> {
        let entry = module
            .function(&context.entry)
            .ok_or_else(|| Error(format!("there is no function {} in the program", context.entry)))?;
        let names = module.parameter_names(entry);
        let params = module.functions[entry.0 as usize].params.iter().zip(names);
        let params: Vec<Param> = params.map(|(param, name)| Param { name, ..param.clone() }).collect();
        sense::check(module, context, &params)?;
        Ok(Task { module, context, entry, params })
    }
}

/// A function's code and its control flow.
pub(super) type Analysed = (Rc<Body>, Rc<Flow>);

/// What one attempt finds out for all that come after it.
#[derive(Default)]
pub(super) struct Learnt {
    pub(super) objects: Objects,
    pub(super) flows: HashMap<FunctionId, Analysed>,
    pub(super) wanted: HashMap<(FunctionId, BlockId, usize, bool), Rc<[ValueId]>>,
    /// Functions that the residual program needs and the program hasn't got.
    pub(super) extra: Vec<Function>,
    /// Calls within their own callee that are followed by more than giving back what they gave.
    pub(super) followed: HashSet<PathId>,
    /// Loops that stay loops.
    pub(super) directives: HashMap<(PathId, BlockId), Directive>,
    /// Variables that initialisers write to.
    pub(super) initialised: BTreeSet<ObjectId>,
    /// What is known of memory when the entry is called.
    pub(super) initial: BTreeMap<ObjectId, Contents>,
    /// Where the address of memory that an initialiser allocated is found.
    pub(super) found_at: HashMap<ObjectId, (ObjectId, u64)>,
    pub(super) spent: Spent,
}

/// One attempt: at the residual function, or to run an initialiser.
pub(super) struct Evaluator<'m> {
    pub(super) module: &'m Module,
    pub(super) context: &'m Context,
    pub(super) entry: FunctionId,
    pub(super) params: &'m [Param],
    pub(super) learnt: &'m mut Learnt,
    /// Whether it is an initialiser that is run, and the memory after it.
    pub(super) initialising: bool,
    pub(super) finished: Option<memory::Memory>,
    pub(super) report: Report,
    pub(super) residual: Residual,
    pub(super) place: Option<PlaceId>,
    pub(super) waiting: BTreeMap<Vec<u32>, Vec<State>>,
    pub(super) variants: HashMap<Vec<u32>, Vec<Variant>>,
    pub(super) recursions: HashMap<PathId, Recursion>,
    /// Whether what follows a call is only tried.
    pub(super) trying: bool,
    /// The object that a residual pointer points into.
    pub(super) pointees: HashMap<ValueId, ObjectId>,
    pub(super) bases: HashMap<ObjectId, Operand>,
    /// The bytes that a residual value was loaded from.
    pub(super) loaded: HashMap<ValueId, (ObjectId, u64)>,
    /// Instructions that were evaluated, and with the ends of blocks.
    pub(super) evaluated: u64,
    pub(super) steps: u64,
}

/// The block of the residual function that allocates its local variables.
pub(super) const PROLOGUE: BlockId = BlockId(0);

impl<'m> Evaluator<'m> {
    pub fn new(task: &'m Task<'m>, learnt: &'m mut Learnt) -> Evaluator<'m> {
        Evaluator {
            module: task.module,
            context: task.context,
            entry: task.entry,
            params: &task.params,
            learnt,
            initialising: false,
            finished: None,
            report: Report::default(),
            residual: Residual::default(),
            place: None,
            waiting: BTreeMap::new(),
            variants: HashMap::new(),
            recursions: HashMap::new(),
            trying: false,
            pointees: HashMap::new(),
            bases: HashMap::new(),
            loaded: HashMap::new(),
            evaluated: 0,
            steps: 0,
        }
    }

    pub fn budget(&self) -> &'m Budget {
        &self.context.budget
    }
}
