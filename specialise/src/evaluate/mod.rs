//! The evaluator: it runs the entry with what is known, and what it can't compute becomes the residual program.
//!
//! It evaluates one *path* (`State`) at a time. A branch on an unknown value splits the path in two, and paths that come
//! to the same place wait for one another there: those that know the same go on as one, with phis for what differs; a
//! few versions that know different things go on apart (polyvariance). A loop whose rounds an unknown value decides is
//! found when control comes back to its header; then the attempt is given up, the loop is noted down as one that stays,
//! with the variables in which its rounds differ, and everything begins anew (`loops`). This ends, since each attempt
//! forgets more, and budgets end it sooner; what can't be had is a call of the generic code.

mod access;
mod arithmetic;
mod attempt;
mod branches;
mod calls;
mod copies;
mod effects;
mod flow;
mod given;
mod initialisers;
mod instructions;
mod joins;
mod library;
mod limits;
mod loops;
mod memory;
mod objects;
mod operands;
mod operations;
mod outcome;
mod places;
mod program;
mod recursion;
mod report;
mod residual;
mod sense;
mod slots;
mod state;
mod value;

pub use report::{Buffer, Copied, Outcome, Report};

use crate::context::{Budget, Context};
use crate::ir::{BlockId, Body, Function, FunctionId, Module, Operand, Param, PlaceId, ValueId};
use flow::Flow;
use limits::Spent;
use loops::{Directive, Variant};
use memory::Contents;
use objects::Objects;
use recursion::Recursion;
use residual::Residual;
use state::{PathId, State};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt;
use std::rc::Rc;
use value::ObjectId;

/// A residual program, and how it came about.
#[derive(Debug)]
pub struct Specialised {
    /// The residual function and what it needs: declarations of what is defined elsewhere, copies of what only its
    /// module sees.
    pub module: Module,
    /// What became of the source, and what was left generic.
    pub report: Report,
}

/// Why there is no residual program.
#[derive(Debug)]
pub struct Error(String);

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

/// Why an attempt ended early.
#[derive(Debug)]
enum Stop {
    /// Something was learnt that the next attempt must begin with.
    Again,
    /// It can't be done; why.
    Fail(String),
    /// The path became two at an instruction; both wait.
    Parted,
}

/// Specialises a program to a context.
pub fn specialise(module: &Module, context: &Context) -> Result<Specialised, Error> {
    let task = Task::new(module, context)?;
    let mut learnt = Learnt::default();
    initialisers::run(&task, &mut learnt)?;
    let mut attempts = 0;
    let reason = loop {
        attempts += 1;
        let mut evaluator = Evaluator::new(&task, &mut learnt);
        match evaluator.attempt() {
            Ok(()) => return evaluator.finish(attempts),
            Err(Stop::Fail(reason)) => break reason,
            Err(Stop::Again | Stop::Parted) if attempts >= context.budget.attempts => {
                break evaluator.not_enough(&format!("the budget of {attempts} attempts"));
            }
            Err(Stop::Again | Stop::Parted) => {}
        }
    };
    let mut evaluator = Evaluator::new(&task, &mut learnt);
    evaluator.keep_generic(&reason);
    evaluator.finish(attempts)
}

/// What is to be specialised, and to what.
struct Task<'m> {
    module: &'m Module,
    context: &'m Context,
    entry: FunctionId,
    /// The parameters of the entry, with the names of the source.
    params: Vec<Param>,
}

impl<'m> Task<'m> {
    fn new(module: &'m Module, context: &'m Context) -> Result<Task<'m>, Error> {
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
type Analysed = (Rc<Body>, Rc<Flow>);

/// What one attempt finds out for all that come after it.
#[derive(Default)]
struct Learnt {
    objects: Objects,
    flows: HashMap<FunctionId, Analysed>,
    wanted: HashMap<(FunctionId, BlockId, usize, bool), Rc<[ValueId]>>,
    /// Functions that the residual program needs and the program hasn't got.
    extra: Vec<Function>,
    /// Calls within their own callee that are followed by more than giving back what they gave.
    followed: HashSet<PathId>,
    /// Loops that stay loops.
    directives: HashMap<(PathId, BlockId), Directive>,
    /// Variables that initialisers write to.
    initialised: BTreeSet<ObjectId>,
    /// What is known of memory when the entry is called.
    initial: BTreeMap<ObjectId, Contents>,
    /// Where the address of memory that an initialiser allocated is found.
    found_at: HashMap<ObjectId, (ObjectId, u64)>,
    spent: Spent,
}

/// One attempt: at the residual function, or to run an initialiser.
struct Evaluator<'m> {
    module: &'m Module,
    context: &'m Context,
    entry: FunctionId,
    params: &'m [Param],
    learnt: &'m mut Learnt,
    /// Whether it is an initialiser that is run, and the memory after it.
    initialising: bool,
    finished: Option<memory::Memory>,
    report: Report,
    residual: Residual,
    place: Option<PlaceId>,
    waiting: BTreeMap<Vec<u32>, Vec<State>>,
    variants: HashMap<Vec<u32>, Vec<Variant>>,
    recursions: HashMap<PathId, Recursion>,
    /// Whether what follows a call is only tried.
    trying: bool,
    /// The object that a residual pointer points into.
    pointees: HashMap<ValueId, ObjectId>,
    bases: HashMap<ObjectId, Operand>,
    /// The bytes that a residual value was loaded from.
    loaded: HashMap<ValueId, (ObjectId, u64)>,
    /// Instructions that were evaluated, and with the ends of blocks.
    evaluated: u64,
    steps: u64,
}

/// The block of the residual function that allocates its local variables.
const PROLOGUE: BlockId = BlockId(0);

impl<'m> Evaluator<'m> {
    fn new(task: &'m Task<'m>, learnt: &'m mut Learnt) -> Evaluator<'m> {
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

    fn budget(&self) -> &'m Budget {
        &self.context.budget
    }
}
