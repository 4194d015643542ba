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
mod loops;
mod memory;
mod objects;
mod operands;
mod operations;
mod places;
mod recursion;
mod report;
mod residual;
mod slots;
mod state;
mod value;

pub use report::{Buffer, Copied, Outcome, Report};

use crate::context::{Budget, Context};
use crate::ir::{
    BlockId, Body, CallAttributes, Code, Const, Effects, Function, FunctionId, Module, Op, Operand, Param,
    ParamAttributes, PlaceId, Terminator, Type, ValueId,
};
use crate::{extract, tidy};
use flow::Flow;
use loops::{Directive, Variant};
use memory::{Contents, Origin};
use objects::{Identity, Objects};
use recursion::Recursion;
use residual::Residual;
use state::{Arrival, Frame, PathId, State};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt;
use std::rc::Rc;
use value::{ObjectId, Value};

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
    let mut evaluator = Evaluator::new(module, context)?;
    evaluator.run_initialisers()?;
    let mut reason = None;
    while reason.is_none() {
        evaluator.report.attempts += 1;
        match evaluator.attempt() {
            Ok(()) => break,
            Err(Stop::Fail(why)) => reason = Some(why),
            Err(Stop::Again) if evaluator.report.attempts >= context.budget.attempts => {
                reason = Some(format!("{} attempts did not come to an end", evaluator.report.attempts));
            }
            Err(Stop::Again | Stop::Parted) => {}
        }
    }
    if let Some(reason) = reason {
        evaluator.keep_generic(&reason);
    }
    evaluator.finish()
}

/// A function's code and its control flow.
type Analysed = (Rc<Body>, Rc<Flow>);

struct Evaluator<'m> {
    module: &'m Module,
    context: &'m Context,
    entry: FunctionId,
    /// The parameters of the entry, with the names of the source.
    params: Vec<Param>,
    objects: Objects,
    flows: HashMap<FunctionId, Analysed>,
    wanted: HashMap<(FunctionId, BlockId, usize, bool), Rc<[ValueId]>>,
    /// Functions that the residual program needs and the program hasn't got.
    extra: Vec<Function>,
    /// Calls within their own callee that are followed by more than giving back what they gave.
    followed: HashSet<PathId>,
    /// Loops that stay loops.
    directives: HashMap<(PathId, BlockId), Directive>,
    /// What is known of memory when the entry is called.
    initial: BTreeMap<ObjectId, Contents>,
    /// Where the address of memory that an initialiser allocated is found.
    found_at: HashMap<ObjectId, (ObjectId, u64)>,
    report: Report,

    // What follows belongs to one attempt.
    residual: Residual,
    place: Option<PlaceId>,
    waiting: BTreeMap<Vec<u32>, Vec<State>>,
    variants: HashMap<Vec<u32>, Vec<Variant>>,
    recursions: HashMap<PathId, Recursion>,
    /// The object that a residual pointer points into.
    pointees: HashMap<ValueId, ObjectId>,
    bases: HashMap<ObjectId, Operand>,
    /// The bytes that a residual value was loaded from.
    loaded: HashMap<ValueId, (ObjectId, u64)>,
    evaluated: u64,
    /// Whether an initialiser is being run, and the memory after it.
    initialising: bool,
    finished: Option<memory::Memory>,
}

/// The block of the residual function that allocates its local variables.
const PROLOGUE: BlockId = BlockId(0);

impl<'m> Evaluator<'m> {
    fn new(module: &'m Module, context: &'m Context) -> Result<Evaluator<'m>, Error> {
        let entry = module
            .function(&context.entry)
            .ok_or_else(|| Error(format!("there is no function {} in the program", context.entry)))?;
        let names = module.parameter_names(entry);
        let params = module.functions[entry.0 as usize].params.iter().zip(names);
        let params: Vec<Param> = params.map(|(param, name)| Param { name, ..param.clone() }).collect();
        given::check_names(module, context, &params)?;
        Ok(Evaluator {
            module,
            context,
            entry,
            params,
            objects: Objects::default(),
            flows: HashMap::new(),
            wanted: HashMap::new(),
            extra: Vec::new(),
            followed: HashSet::new(),
            directives: HashMap::new(),
            initial: BTreeMap::new(),
            found_at: HashMap::new(),
            report: Report::default(),
            residual: Residual::default(),
            place: None,
            waiting: BTreeMap::new(),
            variants: HashMap::new(),
            recursions: HashMap::new(),
            pointees: HashMap::new(),
            bases: HashMap::new(),
            loaded: HashMap::new(),
            evaluated: 0,
            initialising: false,
            finished: None,
        })
    }

    fn budget(&self) -> &'m Budget {
        &self.context.budget
    }

    /// A function of the program or one that the residual program adds.
    fn function(&self, function: FunctionId) -> &Function {
        let known = self.module.functions.len();
        match self.module.functions.get(function.0 as usize) {
            Some(function) => function,
            None => &self.extra[function.0 as usize - known],
        }
    }

    /// The id of a function by its name, declared if it isn't there.
    fn external(&mut self, name: &str, params: &[Type], result: &Type, memory: Effects) -> FunctionId {
        if let Some(known) = self.module.function(name) {
            return known;
        }
        let known = self.module.functions.len() as u32;
        if let Some(at) = self.extra.iter().position(|f| &*f.name == name) {
            return FunctionId(known + at as u32);
        }
        let params = params.iter().map(|ty| Param {
            ty: ty.clone(),
            name: None,
            attributes: ParamAttributes::default(),
        });
        self.extra.push(Function {
            name: name.into(),
            params: params.collect(),
            result: result.clone(),
            result_extension: None,
            variadic: false,
            internal: false,
            memory,
            noreturn: false,
            code: Code::Declared,
            comment: String::new(),
        });
        FunctionId(known + self.extra.len() as u32 - 1)
    }

    fn is_defined(&self, name: &str) -> bool {
        let function = self.module.function(name);
        function.is_some_and(|f| !matches!(self.function(f).code, Code::Declared))
    }

    /// Whether another module may define a function, or nobody may.
    fn is_replaceable(&self, function: FunctionId) -> bool {
        self.module.weak.contains(&self.function(function).name)
    }

    fn is_variadic(&self, function: FunctionId) -> bool {
        self.function(function).variadic
    }

    /// A function's code and its control flow; none if it is only declared.
    fn body(&mut self, function: FunctionId) -> Result<Option<Analysed>, String> {
        if let Some((body, flow)) = self.flows.get(&function) {
            return Ok(Some((body.clone(), flow.clone())));
        }
        if function.0 as usize >= self.module.functions.len() {
            return Ok(None);
        }
        let Some(body) = self.module.body(function).map_err(|error| error.to_string())? else {
            return Ok(None);
        };
        let flow = Rc::new(Flow::new(&body));
        self.flows.insert(function, (body.clone(), flow.clone()));
        Ok(Some((body, flow)))
    }

    /// One attempt at the residual function.
    fn attempt(&mut self) -> Result<(), Stop> {
        self.begin();
        let params = self.params.clone();
        let mut args = Vec::new();
        for (at, param) in params.iter().enumerate() {
            let value = self.residual.value(param.ty.clone(), param.name.as_deref().unwrap_or(""));
            args.push((at as u32, value));
        }
        self.residual.block(String::new());
        let first = self.residual.block(String::new());
        let mut state = State {
            frames: Vec::new(),
            memory: memory::Memory::default(),
            block: first,
            branches: 0,
            not_null: BTreeSet::new(),
            seen: Rc::default(),
            not_zero: Rc::default(),
            arrival: Arrival::Plain,
        };
        let args: Vec<Value> = args
            .into_iter()
            .map(|(at, value)| self.argument(&mut state, at, value))
            .collect::<Result<_, _>>()?;
        self.enter(&mut state, self.entry, args, &Rc::default())?;
        self.suspend(state);
        while let Some((key, arrivals)) = self.waiting.pop_first() {
            for state in self.join(&key, arrivals)? {
                self.proceed(state)?;
            }
        }
        self.residual.end(PROLOGUE, Terminator::Jump(first));
        Ok(())
    }

    fn begin(&mut self) {
        self.residual = Residual::default();
        self.place = None;
        self.waiting.clear();
        self.variants.clear();
        self.recursions.clear();
        self.pointees.clear();
        self.bases.clear();
        self.loaded.clear();
        self.evaluated = 0;
        self.report.begin();
    }

    /// Enters a function.
    fn enter(
        &mut self,
        state: &mut State,
        function: FunctionId,
        args: Vec<Value>,
        attributes: &Rc<CallAttributes>,
    ) -> Result<(), Stop> {
        let Some((body, flow)) = self.body(function).map_err(Stop::Fail)? else {
            return Err(Stop::Fail(format!("the code of {} is not there", self.function(function).name)));
        };
        let path = match state.frames.last() {
            Some(caller) => self.objects.path(caller.path, caller.block, caller.index, function),
            None => PathId(0),
        };
        let mut values: Vec<Value> = body.types.iter().map(Value::undef).collect();
        let mut locals = Vec::new();
        let taken = self.function(function).params.len();
        for (at, arg) in args.into_iter().take(taken).enumerate() {
            let declared = self.function(function).params[at].attributes.byval;
            let byval = declared.or_else(|| attributes.params.get(at).and_then(|p| p.byval));
            values[at] = match byval {
                Some((size, align)) if !state.frames.is_empty() => {
                    let copy = self.objects.intern(Identity::Copy(path, at as u32), || Origin {
                        name: format!("copy of argument {at}").into(),
                        size: Some(size),
                        align: align.max(1),
                        constant: false,
                        shared: false,
                        allocated: false,
                    });
                    state.memory.insert(copy, Contents::default());
                    locals.push(copy);
                    let to = Value::Pointer(copy, 0);
                    self.copy_bytes(state, &to, &arg, &Value::int(64, u128::from(size)))?;
                    to
                }
                _ => arg,
            };
        }
        state.frames.push(Frame {
            function,
            body,
            flow,
            path,
            block: BlockId(0),
            index: 0,
            values: Rc::new(values),
            locals,
            loops: Vec::new(),
            branches: state.branches,
        });
        self.begin_recursion(state);
        Ok(())
    }

    /// Follows a path until it ends, splits, or must wait for others.
    fn proceed(&mut self, mut state: State) -> Result<(), Stop> {
        state.arrival = Arrival::Plain;
        loop {
            let frame = state.top();
            let (body, block, index) = (frame.body.clone(), frame.block, frame.index);
            let code = &body.blocks[block.0 as usize];
            let Some(instruction) = code.instructions.get(index) else {
                self.place = code.place;
                match self.terminate(state, &code.terminator)? {
                    Some(next) => state = next,
                    None => return Ok(()),
                }
                if state.arrival != Arrival::Plain || self.must_wait(&state) {
                    self.suspend(state);
                    return Ok(());
                }
                continue;
            };
            self.spend(&state)?;
            self.place = instruction.place;
            let before = self.residual.size;
            match self.step(&mut state, instruction) {
                Err(Stop::Parted) => return Ok(()),
                other => other?,
            }
            self.report.note(instruction, before != self.residual.size);
            if state.arrival != Arrival::Plain {
                self.suspend(state);
                return Ok(());
            }
        }
    }

    /// Whether another path must go on before this one.
    fn must_wait(&self, state: &State) -> bool {
        self.waiting.first_key_value().is_some_and(|(first, _)| *first <= state.key())
    }

    fn suspend(&mut self, state: State) {
        self.waiting.entry(state.key()).or_default().push(state);
    }

    fn spend(&mut self, state: &State) -> Result<(), Stop> {
        self.evaluated += 1;
        let budget = self.budget();
        if self.evaluated < budget.instructions && self.residual.size < budget.residual {
            return Ok(());
        }
        self.give_up_longest_loop(state)
    }

    /// Gives names of the source to values of the residual program.
    fn name_like(&mut self, state: &State, source: ValueId, residual: ValueId) {
        if let Some(frame) = state.frames.last()
            && let Some(name) = frame.body.names.get(source.0 as usize)
        {
            self.residual.name(residual, name);
        }
    }

    /// The residual function that only calls the generic one.
    fn keep_generic(&mut self, reason: &str) {
        self.begin();
        let name = self.function(self.entry).name.clone();
        self.report.keep(&name, reason);
        let params = self.params.clone();
        let mut args = Vec::new();
        for param in &params {
            args.push(Operand::Value(
                self.residual.value(param.ty.clone(), param.name.as_deref().unwrap_or("")),
            ));
        }
        let block = self.residual.block(format!("generic, because {reason}"));
        let attributes = CallAttributes {
            params: params.iter().map(|param| param.attributes.clone()).collect(),
            ..CallAttributes::default()
        };
        let callee = Operand::Const(Const::Function(self.entry));
        let op = Op::Call { callee, args, variadic: None, attributes: Rc::new(attributes) };
        let result = self.function(self.entry).result.clone();
        let value = if result == Type::Void {
            self.residual.effect(block, op, None);
            None
        } else {
            Some(Operand::Value(self.residual.emit(block, result, op, None)))
        };
        self.residual.end(block, Terminator::Return(value));
    }

    /// Puts the residual module together.
    fn finish(mut self) -> Result<Specialised, Error> {
        self.report.evaluated = self.evaluated;
        self.report.residual = self.residual.size;
        let body = std::mem::take(&mut self.residual).finish();
        let entry = self.function(self.entry);
        let residual = Function {
            name: self.context.residual_name().into(),
            params: self.params.clone(),
            result: entry.result.clone(),
            result_extension: entry.result_extension,
            variadic: false,
            internal: false,
            memory: Effects::Any,
            noreturn: entry.noreturn,
            code: Code::Body(Rc::new(body)),
            comment: format!("{}, specialised", entry.name),
        };
        let extra = std::mem::take(&mut self.extra);
        let mut module = extract::extract(self.module, extra, vec![residual]).map_err(Error)?;
        tidy::polish(&mut module);
        self.check_copies(&module)?;
        Ok(Specialised { module, report: self.report })
    }
}
