//! Calls of the program's own functions. A function is analysed separately for each place that calls it, while these
//! are few, so that the time stays linear however calls are nested. Its result includes what it may have changed in its
//! callers' frames.

use alloc::{boxed::Box, format, vec::Vec};

use super::analysis::Analysis;
use super::context::{ANYWHERE, Context, Link};
use super::marks::{BUDGET, CALLED};
use super::rejection::{Holds, Rejection};
use super::state::{Merge, Outer, State};
use super::value::Kind;
use crate::DEPTH;
use crate::bytecode::Register;

/// The most contexts of a function at one depth for single places.
const PLACES: usize = 8;
/// The most functions that one call of a register may reach.
const CHOICES: usize = 64;

impl Analysis<'_> {
    /// Analyses a call. Returns whether it returns.
    pub(super) fn call_function(
        &mut self,
        at: usize,
        function: usize,
        state: &mut State,
    ) -> Result<bool, Rejection> {
        self.marks[at] |= CALLED;
        let recurs = self.chain.iter().any(|link| link.function == function);
        self.call_counted(at, function, recurs, state)
    }

    /// Analyses a call of a register. Returns whether it returns.
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
            let what = format!("{holds}; call a function's address, or a constant helper number");
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
            self.marks[at] |= BUDGET;
        }
        if state.depth() + 1 == DEPTH {
            // With a budget, the depth of calls is checked at run time, and this call stops the program.
            return if may_recur { Ok(false) } else { Err(self.too_deep(at)) };
        }
        self.chain.push(Link { function, may_recur });
        let exit = self.exit_of(at, function, self.entry_of(state));
        self.chain.pop();
        let Some(exit) = exit? else { return Ok(false) };
        come_back(&exit, state);
        Ok(true)
    }

    /// The state at the beginning of a callee.
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

    /// The state at the end of a function, if it returns.
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
        // During its analysis other contexts of the function may be added, but this one isn't needed: calls within it
        // are deeper.
        let mut context = contexts[index].set_aside();
        let walked = self.walk(function, &mut context);
        let exit = context.exit.clone();
        self.contexts[function][index] = context;
        walked.map(|()| exit)
    }

    #[cold]
    fn too_deep(&self, at: usize) -> Rejection {
        let what = format!("calls are nested more than {DEPTH} deep here; nest them less");
        self.refuse(at, what)
    }
}

/// The state of a caller after a call.
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
