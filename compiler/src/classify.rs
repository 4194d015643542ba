//! Facts about a program that lowering needs: which variables must lie in memory, which procedures run on the
//! processor's stack, and what the process block must hold for the procedures that a body calls.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};

use drystone_language::program::*;

use crate::naming::Naming;
use crate::reaching::Reaching;
use crate::walk::{self, Visitor};

/// Facts about a whole program.
pub struct Facts {
    /// One for each procedure.
    pub procedures: Vec<ProcedureFacts>,
    /// Variables of bodies and procedures that cannot be kept in registers: used by inner procedures, passed by
    /// reference, or not scalar.
    pub in_memory: HashSet<VariableId>,
    /// The sizes of arrays that are made with the same constants everywhere.
    pub sizes: HashMap<VariableId, Vec<i64>>,
    /// Offered interfaces (by template and index) that some required interface may be connected to.
    pub connected: HashSet<(ComponentId, usize)>,
    /// Which arguments are passed by name.
    pub naming: Naming,
    /// Which variables procedures use.
    pub reaching: Reaching,
    bodies: HashMap<BodyKey, CodeFacts>,
}

/// Facts about a procedure.
#[derive(Clone, Debug, Default)]
pub struct ProcedureFacts {
    /// It runs on the processor's stack: a crate carries it, or it has no loop and no recursion, waits nowhere and owns
    /// nothing, and neither its code nor a call of it is long.
    pub native: bool,
    /// If it is native: statements and expressions that a call executes at most, callees included.
    pub weight: u64,
    /// It or a callee contains an AWAIT.
    pub awaits: bool,
    /// It or a callee does something with texts or collections that may take long at once.
    pub lingers: bool,
    /// It or a callee writes to standard output.
    pub writes: bool,
}

/// Identifies a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BodyKey {
    /// BEGIN and ACTIVITY.
    Main(ComponentId),
    /// An implementation, by index.
    Service(ComponentId, usize),
    /// FINALLY
    Finally(ComponentId),
}

/// What a body or procedure contains itself, without its callees.
#[derive(Clone, Debug, Default)]
struct CodeFacts {
    waits: bool,
    loops: bool,
    owns: bool,
    awaits: bool,
    lingers: bool,
    writes: bool,
    /// Its statements and expressions.
    size: usize,
    /// The same, weighted: looking up an element takes longer.
    weight: u64,
    calls: Vec<ProcedureId>,
    /// Arrays that are made, with their sizes as far as they are constant.
    arrays: Vec<(VariableId, Option<Vec<i64>>)>,
    /// Offered interfaces that are connected to: the type of the component, and the interface.
    servers: Vec<(Type, InterfaceId)>,
}

/// Whether a value of this type is a block that counts its holders: a text or a record.
pub fn is_held(ty: &Type) -> bool {
    matches!(ty, Type::Text | Type::Record(_) | Type::Sequence(_))
}

/// Whether a value of this type must be freed.
pub fn is_owned(variable: &Variable) -> bool {
    if variable.parameter == Some(Passing::Reference) {
        return false;
    }
    variable.collection.is_some() || is_held(&variable.ty) || variable.ty.is_component()
}

impl Facts {
    /// Gathers the facts.
    pub fn of(program: &Program) -> Facts {
        let mut in_memory = HashSet::new();
        let mut codes = Vec::new();
        for (index, procedure) in program.procedures.iter().enumerate() {
            let owner = Owner::Procedure(ProcedureId(index as u32));
            if procedure.native.is_some() {
                codes.push(CodeFacts { lingers: true, weight: CARRIED, ..CodeFacts::default() });
                continue;
            }
            let mut facts = gather(program, owner, &[&procedure.body], &mut in_memory);
            facts.owns |= procedure.result.as_ref().is_some_and(is_held);
            facts.owns |= procedure
                .parameters
                .iter()
                .chain(&procedure.variables)
                .any(|&v| is_owned(&program.variables[v.index()]));
            in_memory.extend(procedure.variables.iter().skip(MOST_IN_REGISTERS));
            codes.push(facts);
        }
        let mut bodies = HashMap::new();
        for (index, component) in program.components.iter().enumerate() {
            let id = ComponentId(index as u32);
            let owner = Owner::Component(id);
            let main: Vec<&Block> = component.begin.iter().chain(&component.activity).collect();
            bodies.insert(BodyKey::Main(id), gather(program, owner, &main, &mut in_memory));
            let finally: Vec<&Block> = component.finally.iter().collect();
            bodies.insert(BodyKey::Finally(id), gather(program, owner, &finally, &mut in_memory));
            for (number, implementation) in component.implementations.iter().enumerate() {
                let owner = Owner::Implementation(id, number);
                let blocks: Vec<&Block> = implementation.blocks().collect();
                let facts = gather(program, owner, &blocks, &mut in_memory);
                in_memory.extend(implementation.variables.iter().skip(MOST_IN_REGISTERS));
                // FINALLY begins from anywhere in what stands before, as if somebody else ran it.
                if let Some(finally) = &implementation.finally {
                    gather(program, Owner::Program, &[finally], &mut in_memory);
                }
                bodies.insert(BodyKey::Service(id, number), facts);
            }
        }
        for (index, variable) in program.variables.iter().enumerate() {
            if is_owned(variable) {
                in_memory.insert(VariableId(index as u32));
            }
        }
        let sizes = constant_sizes(codes.iter().chain(bodies.values()));
        let servers = codes.iter().chain(bodies.values()).flat_map(|code| &code.servers);
        let servers: HashSet<_> = servers.collect();
        let connected =
            servers.into_iter().flat_map(|(ty, interface)| offering(program, ty, *interface)).collect();
        let procedures = classify(program, &codes);
        let naming = Naming::of(program, |id| !procedures[id.index()].native);
        let reaching = Reaching::of(program);
        Facts { procedures, in_memory, sizes, connected, naming, reaching, bodies }
    }

    /// Whether a body calls procedures that keep frames, and whether anything in it awaits.
    pub fn needs(&self, body: BodyKey) -> (bool, bool) {
        let facts = &self.bodies[&body];
        let frames = facts.calls.iter().any(|p| !self.procedures[p.index()].native);
        let awaits = facts.awaits || facts.calls.iter().any(|p| self.procedures[p.index()].awaits);
        (frames, awaits)
    }

    /// Whether testing a condition may take long, so that a process has to do it itself, and can be interrupted.
    pub fn takes_long(&self, program: &Program, condition: &Expression) -> bool {
        // What belongs to whom doesn't matter here.
        let owner = Owner::Procedure(ProcedureId(u32::MAX));
        let mut gather =
            Gather { program, owner, facts: CodeFacts::default(), in_memory: &mut HashSet::new() };
        walk::expression(&mut gather, condition);
        let CodeFacts { owns, lingers, weight, calls, .. } = gather.facts;
        let called = || calls.iter().map(|procedure| &self.procedures[procedure.index()]);
        let weight = weight + called().map(|procedure| procedure.weight).sum::<u64>();
        owns || lingers
            || weight > MOST_WEIGHT
            || called().any(|procedure| !procedure.native || procedure.lingers)
    }
}

/// The templates of a type that offer an interface, with its index among what they offer.
fn offering<'a>(
    program: &'a Program,
    ty: &'a Type,
    interface: InterfaceId,
) -> impl Iterator<Item = (ComponentId, usize)> + 'a {
    let name = &program.interfaces[interface.index()].name;
    let those = match ty {
        Type::Component(only) => only.0..only.0 + 1,
        _ => 0..program.components.len() as u32,
    };
    those.map(ComponentId).flat_map(move |id| {
        let offers = program.components[id.index()].offers.iter().enumerate();
        let same = offers.filter(move |(_, facet)| program.interfaces[facet.interface.index()].name == *name);
        same.map(move |(index, _)| (id, index))
    })
}

/// Sizes of the arrays that are made with the same constants wherever they are made.
fn constant_sizes<'a>(codes: impl Iterator<Item = &'a CodeFacts>) -> HashMap<VariableId, Vec<i64>> {
    let mut all: HashMap<VariableId, Option<Vec<i64>>> = HashMap::new();
    for (variable, sizes) in codes.flat_map(|code| &code.arrays) {
        let known = all.entry(*variable).or_insert_with(|| sizes.clone());
        if known != sizes {
            *known = None;
        }
    }
    all.into_iter().filter_map(|(variable, sizes)| Some((variable, sizes?))).collect()
}

/// Statements and expressions up to which a procedure runs on the processor's stack, where its code cannot be cut.
const MOST_NATIVE: usize = 2000;

/// The weight up to which it does so, since no other process runs meanwhile (*structured concurrent programs*, section
/// 3.2): some ten microseconds.
pub const MOST_WEIGHT: u64 = 10_000;

/// The weight of looking up an element.
const ELEMENT: u64 = 20;

/// The weight of a procedure that a crate carries: a guess.
const CARRIED: u64 = 1000;

/// Variables of one body or procedure that are kept in registers; more of them would be live in each of its segments.
const MOST_IN_REGISTERS: usize = 200;

fn classify(program: &Program, codes: &[CodeFacts]) -> Vec<ProcedureFacts> {
    let simple = |code: &CodeFacts| !code.waits && !code.loops && !code.owns && code.size <= MOST_NATIVE;
    // A procedure is native only if those that it calls and those inside it are.
    let mut needs: Vec<Vec<ProcedureId>> = codes.iter().map(|code| code.calls.clone()).collect();
    for (inner, procedure) in program.procedures.iter().enumerate() {
        if let Owner::Procedure(outer) = procedure.owner {
            needs[outer.index()].push(ProcedureId(inner as u32));
        }
    }
    let weights: Vec<Cell<u64>> = vec![Cell::new(0); codes.len()];
    // Those that it calls have been weighed before.
    let is_light = |index: usize| {
        let called = codes[index].calls.iter().map(|callee| weights[callee.index()].get());
        weights[index].set(codes[index].weight + called.sum::<u64>());
        weights[index].get() <= MOST_WEIGHT
    };
    let native = from_the_leaves(&needs, |index| simple(&codes[index]) && is_light(index));
    let awaits = some_callee(codes, |code| code.awaits);
    let lingers = some_callee(codes, |code| code.lingers);
    let writes = some_callee(codes, |code| code.writes);
    (0..codes.len())
        .map(|index| ProcedureFacts {
            native: native[index],
            weight: weights[index].get(),
            awaits: awaits[index],
            lingers: lingers[index],
            writes: writes[index],
        })
        .collect()
}

fn calls_of(codes: &[CodeFacts]) -> Vec<Vec<ProcedureId>> {
    codes.iter().map(|code| code.calls.clone()).collect()
}

/// Inverts lists of callees: for each procedure, its callers.
fn turned_round(lists: &[Vec<ProcedureId>]) -> Vec<Vec<usize>> {
    let mut round = vec![Vec::new(); lists.len()];
    for (index, list) in lists.iter().enumerate() {
        for id in list {
            round[id.index()].push(index);
        }
    }
    round
}

/// Which procedures are `good`, and so are all that they need, directly or not. A procedure that needs itself is not.
fn from_the_leaves(needs: &[Vec<ProcedureId>], good: impl Fn(usize) -> bool) -> Vec<bool> {
    let needed_by = turned_round(needs);
    let mut missing: Vec<usize> = needs.iter().map(Vec::len).collect();
    let mut found = vec![false; needs.len()];
    let mut open: Vec<usize> = (0..needs.len()).filter(|&index| missing[index] == 0).collect();
    while let Some(index) = open.pop() {
        if !good(index) {
            continue;
        }
        found[index] = true;
        for &other in &needed_by[index] {
            missing[other] -= 1;
            if missing[other] == 0 {
                open.push(other);
            }
        }
    }
    found
}

/// Which procedures are `such`, or call one that is, directly or not.
fn some_callee(codes: &[CodeFacts], such: impl Fn(&CodeFacts) -> bool) -> Vec<bool> {
    let callers = turned_round(&calls_of(codes));
    let mut found: Vec<bool> = codes.iter().map(such).collect();
    let mut open: Vec<usize> = (0..codes.len()).filter(|&index| found[index]).collect();
    while let Some(index) = open.pop() {
        for &caller in &callers[index] {
            if !std::mem::replace(&mut found[caller], true) {
                open.push(caller);
            }
        }
    }
    found
}

fn is_constant(expression: &Expression) -> bool {
    matches!(expression.kind, ExpressionKind::Text(_))
}

struct Gather<'a> {
    program: &'a Program,
    owner: Owner,
    facts: CodeFacts,
    in_memory: &'a mut HashSet<VariableId>,
}

fn gather(
    program: &Program,
    owner: Owner,
    blocks: &[&Block],
    in_memory: &mut HashSet<VariableId>,
) -> CodeFacts {
    let mut gather = Gather { program, owner, facts: CodeFacts::default(), in_memory };
    blocks.iter().for_each(|block| walk::block(&mut gather, block));
    gather.facts
}

impl Visitor for Gather<'_> {
    fn block(&mut self, block: &Block) {
        self.facts.waits |= block.lock.is_some();
    }

    fn channel(&mut self, _: &Channel) {
        self.facts.waits = true;
    }

    fn statement(&mut self, statement: &Statement) {
        use StatementKind::*;
        self.facts.size += 1;
        self.facts.weight += 1;
        match &statement.kind {
            While(..) | Repeat(..) | For { .. } | Foreach { .. } => self.facts.loops = true,
            NewComponent(..)
            | DeleteComponent(..)
            | DeleteCollection(..)
            | Move(..)
            | Connect(_, ConnectEnd::OwnOffered(_) | ConnectEnd::OwnRequired(..), _)
            | Export { offered: ConnectEnd::OwnOffered(_) | ConnectEnd::OwnRequired(..), .. }
            | Bind { .. }
            | Disconnect(..)
            | Passivate(..)
            | Halt(..) => self.facts.waits = true,
            Await(..) => {
                self.facts.waits = true;
                self.facts.awaits = true;
            }
            Select(alternatives) => {
                self.facts.waits = true;
                self.facts.awaits |= alternatives.iter().any(|it| matches!(it, Alternative::Await(..)));
            }
            Call(procedure, arguments) => self.call(*procedure, arguments),
            NewComponentAt { template, .. } => {
                self.facts.waits = true;
                // Where it is made its clients come from elsewhere.
                let offers = &self.program.components[template.index()].offers;
                let servers = offers.iter().map(|facet| (Type::Component(*template), facet.interface));
                self.facts.servers.extend(servers);
            }
            Connect(_, ConnectEnd::Of { component, interface, .. }, _)
            | Export { offered: ConnectEnd::Of { component, interface, .. }, .. } => {
                self.facts.waits = true;
                self.facts.servers.push((component.ty.clone(), *interface));
            }
            Assign(place, _) | Increase(place, _) | Decrease(place, _) => self.writes(place),
            Write(_) | WriteHex(_) | WriteLine => self.facts.writes = true,
            NewElement(_) | NewText(..) | NewSequence(..) | Insert(..) | Remove(..) | DeleteElement(_) => {
                self.facts.lingers = true;
            }
            NewArray(variable, sizes) => {
                self.facts.lingers = true;
                let constant = |size: &Expression| match size.kind {
                    ExpressionKind::Integer(n) => Some(n),
                    _ => None,
                };
                self.facts.arrays.push((*variable, sizes.iter().map(constant).collect()));
            }
            _ => {}
        }
    }

    fn expression(&mut self, expression: &Expression) {
        use ExpressionKind::*;
        self.facts.size += 1;
        self.facts.weight += 1;
        match &expression.kind {
            Locked(..) | Count(..) => self.facts.waits = true,
            Await(..) => {
                self.facts.waits = true;
                self.facts.awaits = true;
            }
            Call(procedure, arguments) => self.call(*procedure, arguments),
            Number(_, target) => {
                self.facts.lingers = true;
                self.reference(target);
            }
            Binary(drystone_language::program::Binary::Compare(_), a, b) => {
                // What is compared with a constant is so no further than that is long.
                self.facts.lingers |= [a, b].iter().all(|side| is_held(&side.ty) && !is_constant(side));
            }
            Builtin(drystone_language::program::Builtin::Find, _) => self.facts.lingers = true,
            _ => {}
        }
        let borrowed = matches!(expression.kind, Read(_) | Text(_));
        self.facts.owns |= is_held(&expression.ty) && !borrowed;
    }

    fn place(&mut self, place: &Place) {
        match place.kind {
            PlaceKind::Variable(variable) | PlaceKind::Character(variable, _) => self.used(variable),
            // A key is hashed as a whole.
            PlaceKind::Element(_, ref keys) => {
                self.facts.lingers |= keys.iter().any(|key| key.ty == Type::Text && !is_constant(key));
            }
            PlaceKind::Field(..) | PlaceKind::Item(..) | PlaceKind::Guarded(_) => {}
        }
    }

    fn collection(&mut self, variable: VariableId) {
        self.facts.weight += ELEMENT;
        self.used(variable);
    }

    fn reference(&mut self, place: &Place) {
        match &place.kind {
            PlaceKind::Variable(variable) => {
                self.in_memory.insert(*variable);
            }
            PlaceKind::Element(_, keys) => self.facts.owns |= keys.iter().any(|key| key.ty == Type::Text),
            _ => {}
        }
    }
}

impl Gather<'_> {
    fn call(&mut self, procedure: ProcedureId, arguments: &[Argument]) {
        self.facts.calls.push(procedure);
        let called = &self.program.procedures[procedure.index()];
        if called.native.is_some() {
            // What it gives back is kept in temporaries first.
            let parameters = called.parameters.iter().map(|id| &self.program.variables[id.index()].ty);
            self.facts.owns |= parameters.chain(&called.result).any(is_held);
        }
        for argument in arguments {
            if let Argument::Value(value) = argument {
                self.facts.owns |= is_held(&value.ty);
            }
        }
    }

    /// Elements may have to be made, and texts to be copied.
    fn writes(&mut self, place: &Place) {
        self.facts.lingers |= match place.kind {
            PlaceKind::Variable(id) => {
                self.program.variables[id.index()].parameter == Some(Passing::Reference)
            }
            _ => true,
        };
    }

    fn used(&mut self, variable: VariableId) {
        let owner = self.program.variables[variable.index()].owner;
        if owner != self.owner && !matches!(owner, Owner::Component(_)) {
            self.in_memory.insert(variable);
        }
    }
}
