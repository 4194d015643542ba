//! Calls of the program's own functions. Each is gone through for itself, once for each place that calls it (as long as
//! they are few), so that the time stays linear however calls are nested; of what its callers had on their stacks, it
//! says what it may have changed.

use alloc::{boxed::Box, format, vec::Vec};

use super::Verifier;
use super::rejection::{Holds, Rejection};
use super::state::{Merge, Outer, State};
use super::value::Kind;
use crate::DEPTH;
use crate::bytecode::Register;

/// A function as it is called from one place at one depth, or from all places that have none of their own.
pub(super) struct Context {
    place: (usize, usize),
    pub entry: State,
    /// How often the entry has grown.
    calls: u8,
    /// What is known where its blocks begin, as long as that is needed.
    pub states: Vec<Option<Box<State>>>,
    /// How often each of them has grown.
    pub grown: Vec<u8>,
    /// What is known after it, if it comes back.
    pub exit: Option<Box<State>>,
}

/// A function that is being called.
pub(super) struct Link {
    pub function: usize,
    /// Whether the call may be one of endlessly many.
    pub may_recur: bool,
}

/// Where the outermost function is called from.
pub(super) const OUTERMOST: (usize, usize) = (usize::MAX, 0);
/// Where a function is called from in a context that places share.
const ANYWHERE: usize = usize::MAX;
/// Places, for each function and depth, that have a context of their own.
const PLACES: usize = 8;
/// Functions to which one call of a register may lead.
const CHOICES: usize = 64;

impl Context {
    /// With empty vectors for its blocks.
    pub fn new(
        place: (usize, usize),
        entry: State,
        blocks: usize,
        (mut states, mut grown): (Vec<Option<Box<State>>>, Vec<u8>),
    ) -> Context {
        states.resize_with(blocks, || None);
        grown.resize(blocks, 0);
        Context { place, entry, calls: 0, grown, states, exit: None }
    }

    /// Takes it out of its place, which it must be brought back to.
    fn set_aside(&mut self) -> Context {
        let place = self.place;
        let nothing = Context {
            place,
            entry: State::new(0),
            calls: 0,
            states: Vec::new(),
            grown: Vec::new(),
            exit: None,
        };
        core::mem::replace(self, nothing)
    }

    /// Takes in another call; says whether it brings something new.
    fn take_in(&mut self, entry: &State) -> bool {
        let how = match self.calls {
            0..4 => Merge::Join,
            4..8 => Merge::Widen(&[]),
            _ => Merge::GiveUp,
        };
        let grows = self.entry.merge(entry, how);
        self.calls = self.calls.saturating_add(grows.into());
        grows
    }
}

impl Verifier<'_> {
    /// Does a call; says whether it comes back.
    pub(super) fn call_function(
        &mut self,
        at: usize,
        function: usize,
        state: &mut State,
    ) -> Result<bool, Rejection> {
        self.marks[at] |= super::CALLED;
        let recurs = self.chain.iter().any(|link| link.function == function);
        self.call_counted(at, function, recurs, state)
    }

    /// Calls what a register names.
    pub(super) fn call_register(
        &mut self,
        at: usize,
        target: Register,
        state: &mut State,
    ) -> Result<bool, Rejection> {
        let value = *self.readable(at, target, state)?;
        let number = value.number;
        if value.is_number()
            && let Some(helper) = number.constant().and_then(|number| u32::try_from(number).ok())
        {
            return self.call_helper(at, helper, state).map(|()| true);
        }
        let holds = Holds(target, &value, self.contract);
        if value.kind != Kind::Code {
            let what =
                format!("{holds}; call a function's address, or a helper's number that is always the same");
            return Err(self.refuse(at, what));
        }
        let candidates: Vec<usize> = (0..self.flow.functions.len())
            .filter(|&it| {
                self.flow.functions[it].named && number.contains(self.flow.functions[it].first as u64)
            })
            .take(CHOICES + 1)
            .collect();
        if candidates.len() > CHOICES {
            let what = format!(
                "it may call more than {CHOICES} functions; choose between them by comparisons first"
            );
            return Err(self.refuse(at, what));
        }
        let mut after: Option<State> = None;
        for function in candidates {
            let mut called = state.clone();
            if self.call_counted(at, function, true, &mut called)? {
                match &mut after {
                    Some(after) => _ = after.merge(&called, Merge::Join),
                    None => after = Some(called),
                }
            }
        }
        let comes_back = after.is_some();
        *state = after.unwrap_or_else(|| state.clone());
        Ok(comes_back)
    }

    fn call_counted(
        &mut self,
        at: usize,
        function: usize,
        may_recur: bool,
        state: &mut State,
    ) -> Result<bool, Rejection> {
        let may_recur =
            may_recur || state.depth() + 1 == DEPTH && self.chain.iter().any(|link| link.may_recur);
        if may_recur {
            self.marks[at] |= super::BUDGET;
        }
        if state.depth() + 1 == DEPTH {
            // With a budget, calls are counted while the program runs, and this one stops it.
            return if may_recur { Ok(false) } else { Err(self.too_deep(at)) };
        }
        self.chain.push(Link { function, may_recur });
        let exit = self.exit_of(at, function, self.entry_of(state));
        self.chain.pop();
        let Some(exit) = exit? else { return Ok(false) };
        come_back(&exit, state);
        Ok(true)
    }

    /// What a callee knows where it begins.
    fn entry_of(&self, state: &State) -> State {
        let mut entry = State::new(state.depth() + 1);
        for register in (1..6).filter_map(Register::new) {
            entry.set(register, *state.get(register));
        }
        entry.packet = state.packet;
        entry.callers = state.callers.iter().map(|outer| Outer { changed: 0, ..outer.clone() }).collect();
        entry.callers.push(Outer { frame: state.frame.clone(), changed: 0 });
        entry.untie_all();
        entry
    }

    /// What is known after a function, if it comes back.
    fn exit_of(&mut self, at: usize, function: usize, entry: State) -> Result<Option<Box<State>>, Rejection> {
        let depth = entry.depth();
        let contexts = &mut self.contexts[function];
        let own = contexts.iter().position(|it| it.place == (at, depth));
        let index = own.or_else(|| {
            let places = contexts.iter().filter(|it| it.place.1 == depth).count();
            if places < PLACES { None } else { contexts.iter().position(|it| it.place == (ANYWHERE, depth)) }
        });
        let index = match index {
            Some(index) if !contexts[index].take_in(&entry) => return Ok(contexts[index].exit.clone()),
            Some(index) => index,
            None => {
                let places = contexts.iter().filter(|it| it.place.1 == depth).count();
                let place = if places < PLACES { at } else { ANYWHERE };
                let blocks = self.flow.functions[function].blocks.len();
                contexts.push(Context::new((place, depth), entry, blocks, Default::default()));
                contexts.len() - 1
            }
        };
        // While it is gone through, others of the function may come, but not this one: calls within it are deeper.
        let mut context = contexts[index].set_aside();
        let walked = self.walk(function, &mut context);
        let exit = context.exit.clone();
        self.contexts[function][index] = context;
        walked.map(|()| exit)
    }

    #[cold]
    fn too_deep(&self, at: usize) -> Rejection {
        let what = format!(
            "calls are nested more than {DEPTH} deep here; make functions of them that call fewer others"
        );
        self.refuse(at, what)
    }
}

/// What a caller knows after a call.
fn come_back(exit: &State, state: &mut State) {
    state.forget(exit.moved);
    state.packet = state.packet.max(exit.packet);
    let result = Register::new(0).expect("r0 is a register");
    state.come_back(*exit.get(result));
    for (depth, outer) in exit.callers.iter().enumerate() {
        state.change_frame(depth as u8, |frame| {
            frame.take_over(outer.changed, &outer.frame);
            outer.changed
        });
    }
}
