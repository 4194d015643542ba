//! Turns recursion of unknown depth into a loop, if a function only returns the result of its recursive call. The call
//! then goes back to the beginning of the active function, whose activation is no longer needed.
//!
//! Such a function is a loop whose header is its entry; `loops` finds the differences between its activations. The code
//! after the call is evaluated as a trial for each value that the function may return. If it returns the same value and
//! neither emits code nor changes memory, the same holds for any number of activations. Otherwise the call is recorded
//! in `followed`, and the evaluation starts again.

use super::evaluator::Evaluator;
use super::flow::ENTRY;
use super::kept::{Call, Return};
use super::machine::Machine;
use super::memory::{Contents, Held, Memory};
use super::objects::CallString;
use super::state::{Arrival, Frame, Round, State};
use super::stop::Stop;
use super::value::{ObjectId, Value};
use crate::ir::{CallAttributes, FunctionId, Terminator, ValueId};
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

impl Evaluator<'_> {
    /// Whether a call may go back to the beginning of an activation, as far as can be told in advance: the activations
    /// that end may not be visible later.
    pub(super) fn may_go_back(
        &mut self,
        state: &State,
        depth: usize,
        function: FunctionId,
        args: &[Value],
        attributes: &CallAttributes,
    ) -> bool {
        let by_value = |at: usize| {
            let declared = &self.machine.program.function(function).params[at].attributes;
            declared.byval.is_some() || attributes.params.get(at).is_some_and(|p| p.byval.is_some())
        };
        if (0..self.machine.program.function(function).params.len()).any(by_value) {
            return false;
        }
        let site = self.site(state, function);
        if self.loops.followed.contains(&site) {
            return false;
        }
        let given_up = locals(&state.frames[depth..]);
        let escaped =
            |local: &ObjectId| state.facts.memory.get(*local).is_some_and(|contents| contents.escaped);
        let held = state.facts.memory.iter().filter(|(object, _)| !given_up.contains(object));
        let mut cells = held.flat_map(|(_, contents)| contents.cells.values());
        !given_up.iter().any(escaped)
            && !args.iter().any(|arg| refers(arg, &given_up, &self.machine))
            && !cells.any(
                |cell| matches!(&cell.held, Held::Value(value, _) if refers(value, &given_up, &self.machine)),
            )
    }

    fn site(&mut self, state: &State, function: FunctionId) -> CallString {
        let caller = state.frames.last().expect("a call has a caller");
        self.machine.objects.chain(caller.site(), function)
    }

    /// Goes back to the beginning of an activation, with other arguments.
    pub(super) fn go_back_to(
        &mut self,
        state: &mut State,
        depth: usize,
        function: FunctionId,
        args: Vec<Value>,
        attributes: &Rc<CallAttributes>,
    ) -> Result<(), Stop> {
        let chain = state.frames[depth].chain;
        if !self.loops.stays(chain, ENTRY) {
            return self.loops.keep(chain, ENTRY);
        }
        let site = self.site(state, function);
        let frames = state.frames.edit(|frames| frames.split_off(depth));
        for local in locals(&frames) {
            self.machine.end_of_life(&mut state.facts, local)?;
        }
        let allocated = state.facts.allocations(self.machine.objects);
        let living = self.recursions.get(&chain).and_then(|recursion| recursion.living.as_ref());
        if living.is_some_and(|living| !allocated.is_subset(living)) {
            // The next activation could mistake this one's allocated objects for its own.
            return self.stay_a_call(chain, site);
        }
        self.enter(state, function, args, attributes)?;
        state.arrival = Arrival::Back;
        let call = Rc::new(Call { site, frames });
        let recursion = self.recursions.entry(chain).or_default();
        recursion.calls.push(call.clone());
        let returns = recursion.returns.clone();
        returns.iter().try_for_each(|end| self.check(&call, end))
    }

    /// Begins a function whose recursion is a loop.
    pub(super) fn begin_recursion(&mut self, state: &mut State) {
        let branches = state.branches;
        let chain = state.top().chain;
        if !self.loops.stays(chain, ENTRY) {
            return;
        }
        let allocated = state.facts.allocations(self.machine.objects);
        let living = &mut self.recursions.entry(chain).or_default().living;
        *living = Some(living.take().map_or(allocated.clone(), |living| &living & &allocated));
        state.top().loops.edit(|loops| loops.push(Round::first(ENTRY, branches)));
        state.arrival = Arrival::Header;
    }

    /// Ends an activation of a function. If calls went back to its beginning, they must return the same value.
    pub(super) fn end_recursion(
        &mut self,
        state: &State,
        chain: CallString,
        value: &Value,
    ) -> Result<(), Stop> {
        if self.trying || !self.loops.stays(chain, ENTRY) {
            return Ok(());
        }
        let end = Rc::new(Return { state: state.clone(), values: self.choices(value) });
        let recursion = self.recursions.entry(chain).or_default();
        recursion.returns.push(end.clone());
        let calls = recursion.calls.clone();
        calls.iter().try_for_each(|call| self.check(call, &end))
    }

    /// The known values among which a value is; only the value itself if they aren't known.
    fn choices(&mut self, value: &Value) -> Vec<Value> {
        let Value::Dynamic(residual) = value else { return vec![value.clone()] };
        match self.machine.residual.choices(*residual) {
            Some(choices) => choices.iter().map(|choice| self.machine.constant(choice)).collect(),
            None => vec![value.clone()],
        }
    }

    /// Checks that the code after a call only returns its value; if not, the call can't go back to the beginning.
    fn check(&mut self, call: &Call, end: &Return) -> Result<(), Stop> {
        for value in &end.values {
            self.trying = true;
            let given_back = self.gives_back(call, &end.state, value);
            self.trying = false;
            if !given_back? {
                return self.stay_a_call(call.frames[0].chain, call.site);
            }
        }
        Ok(())
    }

    /// Records a call whose function does more after it. The function becomes a loop again only if another call asks
    /// for it.
    fn stay_a_call(&mut self, chain: CallString, site: CallString) -> Result<(), Stop> {
        self.loops.followed.insert(site);
        self.loops.directives.remove(&(chain, ENTRY));
        Err(Stop::Again)
    }

    /// Whether the code after a call only returns the call's value. If so, the residual program is unchanged; otherwise
    /// this attempt ends.
    fn gives_back(&mut self, call: &Call, end: &State, value: &Value) -> Result<bool, Stop> {
        let depth = end.frames.len();
        let given_up = locals(&call.frames);
        let mut state = end.clone();
        state.facts.block = self.machine.residual.block(String::new());
        let frames = strangers(&call.frames, &mut self.machine);
        state.frames.edit(|all| all.extend(frames));
        for local in &given_up {
            // The contents are unknown, and reading them emits code.
            state.facts.memory.insert(*local, Contents { real: true, ..Contents::default() });
        }
        let size = self.machine.residual.size;
        let frame = state.top();
        let body = frame.body.clone();
        let instruction = &body.blocks[frame.block.0 as usize].instructions[frame.index];
        self.give(&mut state, instruction, value.clone());
        loop {
            self.spend(&state)?;
            let outermost = state.frames.len() == depth + 1;
            let frame = state.top();
            let body = frame.body.clone();
            let block = &body.blocks[frame.block.0 as usize];
            match (block.instructions.get(frame.index), &block.terminator) {
                (Some(instruction), _) => match self.step(&mut state, instruction) {
                    Err(Stop::Parted) => return Ok(false),
                    done => done?,
                },
                (None, Terminator::Return(given)) if outermost => {
                    let same = given.as_ref().is_none_or(|given| self.value(&state, given) == *value);
                    return Ok(same && same_memory(&state.facts.memory, &end.facts.memory, &given_up));
                }
                (None, terminator) => match self.terminate(state, terminator)? {
                    Some(next) => state = next,
                    None => return Ok(false),
                },
            }
            if self.machine.residual.size != size || state.arrival != Arrival::Plain {
                return Ok(false);
            }
        }
    }
}

/// Whether a value points into one of these objects.
fn refers(value: &Value, to: &BTreeSet<ObjectId>, machine: &Machine) -> bool {
    match value {
        Value::Aggregate(fields) => fields.iter().any(|field| refers(field, to, machine)),
        _ => value.object().or(machine.pointee(value)).is_some_and(|object| to.contains(&object)),
    }
}

/// The same activations with fresh unknown values. In the residual program a value has one name in all rounds, but
/// differs between rounds: facts about the last round's value do not hold in an earlier round.
fn strangers(frames: &[Frame], machine: &mut Machine) -> Vec<Frame> {
    let mut strangers = HashMap::new();
    let mut frames = frames.to_vec();
    for value in frames.iter_mut().flat_map(|frame| Rc::make_mut(&mut frame.values).elements()) {
        make_strange(value, &mut strangers, machine);
    }
    frames
}

fn make_strange(value: &mut Value, strangers: &mut HashMap<ValueId, ValueId>, machine: &mut Machine) {
    match value {
        Value::Dynamic(known) => {
            let known = *known;
            let stranger = *strangers.entry(known).or_insert_with(|| {
                let ty = machine.residual.type_of(known).clone();
                machine.residual.value(ty, "")
            });
            if let Some(object) = machine.pointee(&Value::Dynamic(known)) {
                machine.points_into(stranger, object);
            }
            *value = Value::Dynamic(stranger);
        }
        Value::Aggregate(fields) => {
            let mut fields_now = fields.to_vec();
            fields_now.iter_mut().for_each(|field| make_strange(field, strangers, machine));
            *fields = fields_now.into();
        }
        _ => {}
    }
}

/// The local variables of these activations.
fn locals(frames: &[Frame]) -> BTreeSet<ObjectId> {
    frames.iter().flat_map(|frame| frame.locals.iter().copied()).collect()
}

fn same_memory(a: &Memory, b: &Memory, aside: &BTreeSet<ObjectId>) -> bool {
    let seen = |memory: &Memory| memory.iter().filter(|(object, _)| !aside.contains(object)).count();
    seen(a) == seen(b)
        && a.iter()
            .filter(|(object, _)| !aside.contains(object))
            .all(|(object, contents)| b.get(object).is_some_and(|other| contents == other))
}
