//! Which `VARIABLE` arguments are passed by name (see `lower::references`), because they may move or be deleted while
//! the procedure runs.
//!
//! A variable never moves. An element of an array that is never deleted stays where it is; an element of another
//! collection does so if the procedure cannot be interrupted and does nothing to the collection. Containers are always
//! named: the holder of a component follows from where its container lies, and a component takes its element with it.

use std::collections::{HashMap, HashSet};

use drystone_language::program::*;

use crate::effects::has_effects;
use crate::walk::{self, Visitor};

/// How elements are passed, in a whole program.
pub struct Naming {
    /// `VARIABLE` parameters that may be given a name.
    pub named: HashSet<VariableId>,
    /// Collections that are deleted somewhere.
    deleted: HashSet<VariableId>,
    /// For procedures that cannot be interrupted and are given elements: the collections that are used meanwhile.
    touched: HashMap<ProcedureId, HashSet<VariableId>>,
}

impl Naming {
    /// Looks at all calls; `interruptible` says of a procedure whether other processes may run meanwhile.
    pub fn of(program: &Program, interruptible: impl Fn(ProcedureId) -> bool) -> Naming {
        let mut uses = Vec::new();
        for procedure in &program.procedures {
            let mut own = Uses::default();
            walk::block(&mut own, &procedure.body);
            uses.push(own);
        }
        let mut outside = Uses::default();
        bodies(program).for_each(|block| walk::block(&mut outside, block));
        let all = || uses.iter().chain([&outside]);
        let calls: Vec<_> = all().flat_map(|code| &code.passed).collect();
        let mut naming = Naming {
            named: HashSet::new(),
            deleted: all().flat_map(|code| &code.deleted).copied().collect(),
            touched: HashMap::new(),
        };
        for (callee, _) in &calls {
            if !interruptible(*callee) && !naming.touched.contains_key(callee) {
                naming.touched.insert(*callee, touched(&uses, *callee));
            }
        }
        // What is named stays so when it is passed on.
        let mut passed_on: HashMap<VariableId, Vec<VariableId>> = HashMap::new();
        let mut open = Vec::new();
        for (callee, arguments) in calls {
            let parameters = &program.procedures[callee.index()].parameters;
            for (index, (argument, &parameter)) in arguments.iter().zip(parameters).enumerate() {
                match argument {
                    Passed::Variable(variable) => passed_on.entry(*variable).or_default().push(parameter),
                    Passed::Element(..) if naming.is_named(program, *callee, arguments, index) => {
                        open.push(parameter);
                    }
                    _ => {}
                }
            }
        }
        while let Some(parameter) = open.pop() {
            if naming.named.insert(parameter) {
                open.extend(passed_on.get(&parameter).into_iter().flatten());
            }
        }
        naming
    }

    /// Whether an element that is passed needs a name.
    pub fn needs_name(
        &self,
        program: &Program,
        callee: ProcedureId,
        arguments: &[Argument],
        index: usize,
    ) -> bool {
        let passed: Vec<Passed> = arguments.iter().map(Passed::of).collect();
        self.is_named(program, callee, &passed, index)
    }

    fn is_named(&self, program: &Program, callee: ProcedureId, arguments: &[Passed], index: usize) -> bool {
        let Passed::Element(collection, _) = arguments[index] else { return false };
        let variable = &program.variables[collection.index()];
        let is_array = variable.collection.as_ref().is_some_and(|declared| declared.array);
        if variable.ty.is_component() {
            return true;
        }
        if is_array && !self.deleted.contains(&collection) {
            return false;
        }
        let Some(touched) = self.touched.get(&callee) else { return true };
        // Another argument may change the collection while it is evaluated, or name an element that is not there any
        // more and is made by the procedure.
        let disturbs = |argument: &Passed| match argument {
            Passed::Value(effects) | Passed::Element(_, effects) => *effects,
            Passed::Variable(other) => {
                let other = &program.variables[other.index()];
                other.parameter == Some(Passing::Reference) && other.ty == variable.ty
            }
        };
        touched.contains(&collection) || arguments.iter().any(disturbs)
    }
}

/// An argument of a procedure.
enum Passed {
    /// Whether evaluating it may change anything.
    Value(bool),
    /// A variable, which may itself be a `VARIABLE` parameter.
    Variable(VariableId),
    /// An element of a collection, and whether evaluating its keys may change anything.
    Element(VariableId, bool),
}

impl Passed {
    fn of(argument: &Argument) -> Passed {
        match argument {
            Argument::Value(value) => Passed::Value(has_effects(value)),
            Argument::Place(place) => Passed::of_place(place),
        }
    }

    fn of_place(place: &Place) -> Passed {
        match &place.kind {
            PlaceKind::Variable(id) | PlaceKind::Character(id, _) => Passed::Variable(*id),
            PlaceKind::Element(id, keys) => Passed::Element(*id, keys.iter().any(has_effects)),
            PlaceKind::Field(inner, _) | PlaceKind::Item(inner, _) | PlaceKind::Guarded(inner) => {
                Passed::of_place(inner)
            }
        }
    }
}

/// What a body or procedure does itself, without its callees.
#[derive(Default)]
struct Uses {
    collections: HashSet<VariableId>,
    deleted: HashSet<VariableId>,
    calls: Vec<ProcedureId>,
    /// Calls with `VARIABLE` arguments.
    passed: Vec<(ProcedureId, Vec<Passed>)>,
}

impl Uses {
    fn call(&mut self, callee: ProcedureId, arguments: &[Argument]) {
        self.calls.push(callee);
        if arguments.iter().any(|argument| matches!(argument, Argument::Place(_))) {
            self.passed.push((callee, arguments.iter().map(Passed::of).collect()));
        }
    }
}

impl Visitor for Uses {
    fn statement(&mut self, statement: &Statement) {
        match &statement.kind {
            StatementKind::Call(callee, arguments) => self.call(*callee, arguments),
            StatementKind::DeleteCollection(collection) => {
                self.deleted.insert(*collection);
            }
            _ => {}
        }
    }

    fn expression(&mut self, expression: &Expression) {
        if let ExpressionKind::Call(callee, arguments) = &expression.kind {
            self.call(*callee, arguments);
        }
    }

    fn collection(&mut self, collection: VariableId) {
        self.collections.insert(collection);
    }
}

/// The collections that are used during a call, by the callee and its own callees.
fn touched(uses: &[Uses], callee: ProcedureId) -> HashSet<VariableId> {
    let mut seen = HashSet::from([callee]);
    let mut open = vec![callee];
    let mut touched = HashSet::new();
    while let Some(next) = open.pop() {
        let code = &uses[next.index()];
        touched.extend(&code.collections);
        open.extend(code.calls.iter().copied().filter(|&call| seen.insert(call)));
    }
    touched
}

/// The blocks of all bodies.
fn bodies(program: &Program) -> impl Iterator<Item = &Block> {
    program.components.iter().flat_map(|component| component.blocks())
}
