//! Decides whether a program is safe to run, and what must be watched while it runs.
//!
//! It is an abstract interpretation. A [`state::State`] says what is known where ways through the program meet: of
//! every value its [`value::Kind`] (a number, or what it points to) and [`number::Number`] (ranges, bits). There is one
//! state for each such place ([`flow`]), for each place that a function is called from; where ways meet, it contains
//! both, and where they go round it is widened. So the time is about linear in the length of the program, and no loop
//! is ever unrolled ([`walk`]). Steps are [`transfer`], [`memory`], [`helper`], [`branch`] and [`call`]. What can't be
//! proven and can be watched gets a [`crate::Guard`]; [`bounds`] decides it for loops. All else is a [`Rejection`].

mod arithmetic;
mod bits;
mod bounds;
mod branch;
mod call;
mod compare;
mod contract;
mod drift;
mod flow;
mod frame;
mod helper;
mod memory;
mod number;
mod rejection;
mod state;
mod transfer;
mod value;
mod vectors;
mod walk;
mod workspace;

#[cfg(test)]
mod tests;

use alloc::{collections::BTreeMap, vec::Vec};

pub use contract::{Bytes, Contract, Extent, Field, Given, Helper, Map, Memory, OWN, Region, Wanted};
pub use rejection::Rejection;
pub use workspace::Workspace;

use crate::bytecode::{Instruction, Program, Register};
use crate::{Guard, Verified};
use state::State;
use value::Value;
use vectors::{emptied, filled};
use workspace::Pieces;

/// Proves that a program keeps to a contract, as far as it must be proven; the rest is guarded.
pub fn verify(program: Program, contract: &Contract) -> Result<Verified, Rejection> {
    Workspace::default().verify(program, contract)
}

/// What is being found out about a program.
struct Verifier<'a> {
    program: &'a Program,
    contract: &'a Contract,
    flow: flow::Flow,
    block_at: flow::BlockAt,
    /// For each slot, what was found out about it on some way.
    marks: Vec<u8>,
    rewrites: BTreeMap<usize, Instruction>,
    /// For each loop: what was found out when it was jumped back in.
    rounds: Vec<bounds::Rounds>,
    /// For each function, how it is called.
    contexts: Vec<Vec<call::Context>>,
    /// The functions that are being called, the outermost one first.
    chain: Vec<call::Link>,
    pieces: Pieces,
    #[cfg(test)]
    seen: Option<BTreeMap<usize, Vec<State>>>,
}

/// An access that must be confined.
const CONFINED: u8 = 1;
/// An access that is proven, but not to be in the program's own memory.
const ELSEWHERE: u8 = 1 << 1;
/// An access that is done as it stands.
const PLAIN: u8 = 1 << 2;
/// An access that is done at another place.
const REWRITTEN: u8 = 1 << 3;
/// Something that takes from the budget.
const BUDGET: u8 = 1 << 4;
/// A call that may be done.
const CALLED: u8 = 1 << 5;

impl<'a> Verifier<'a> {
    fn new(program: &'a Program, contract: &'a Contract, from: &mut Workspace) -> Result<Self, Rejection> {
        let mut flow = core::mem::take(&mut from.flow);
        let block_at = flow.read(program, core::mem::take(&mut from.block_at))?;
        let mut rounds = emptied(&mut from.rounds);
        rounds.resize_with(flow.loops.len(), bounds::Rounds::default);
        let mut contexts = emptied(&mut from.contexts);
        contexts.resize_with(flow.functions.len(), Vec::new);
        Ok(Verifier {
            program,
            contract,
            marks: filled(&mut from.marks, program.slots(), 0),
            rewrites: BTreeMap::new(),
            rounds,
            contexts,
            chain: emptied(&mut from.chain),
            pieces: core::mem::take(&mut from.pieces),
            flow,
            block_at,
            #[cfg(test)]
            seen: None,
        })
    }

    /// Gives back what it works with, unless that is much.
    fn leave(self, to: &mut Workspace) {
        const LARGE: usize = 1 << 16;
        if self.program.slots() > LARGE {
            return;
        }
        let Verifier { flow, block_at, marks, rounds, contexts, chain, pieces, .. } = self;
        *to = Workspace { flow, block_at, marks, rounds, contexts, chain, pieces };
    }

    /// Goes all ways from where the program begins.
    fn start(&mut self) -> Result<(), Rejection> {
        let mut state = State::new(0);
        for (index, &given) in self.contract.registers.iter().enumerate() {
            let register = Register::new(index as u8 + 1).expect("there are more registers than arguments");
            state.set(register, Value::given(given, None));
        }
        self.chain.push(call::Link { function: 0, may_recur: false });
        let states = emptied(&mut self.pieces.states);
        let grown = emptied(&mut self.pieces.grown);
        let mut context =
            call::Context::new(call::OUTERMOST, state, self.flow.functions[0].blocks.len(), (states, grown));
        self.walk(0, &mut context)?;
        for state in context.states.drain(..).flatten() {
            self.pieces.give_up(state);
        }
        (self.pieces.states, self.pieces.grown) = (context.states, context.grown);
        Ok(())
    }

    fn guards(&mut self) -> Vec<Guard> {
        self.bound();
        let guard = |&mark: &u8| match mark {
            mark if mark & BUDGET != 0 => Guard::Budget,
            mark if mark & CONFINED != 0 => Guard::Confine,
            _ => Guard::None,
        };
        self.marks.iter().map(guard).collect()
    }
}
