//! The state of the analysis of one program, and its beginning and end.

use alloc::{collections::BTreeMap, vec::Vec};
use core::mem::take;

use super::bounds::Bounds;
use super::context::{Context, Link, OUTERMOST};
use super::contract::Contract;
use super::flow::{BlockAt, Flow};
use super::marks::{BUDGET, CONFINED};
use super::rejection::Rejection;
use super::rounds::Rounds;
use super::state::State;
use super::value::Value;
use super::vectors::{emptied, filled};
use super::workspace::{Pieces, Workspace};
use crate::Guard;
use crate::bytecode::{Instruction, Program, Register};

/// The analysis of a program.
pub(super) struct Analysis<'a> {
    pub program: &'a Program,
    pub contract: &'a Contract,
    pub flow: Flow,
    pub block_at: BlockAt,
    /// For each slot, the marks ([`super::marks`]) that some path has set.
    pub marks: Vec<u8>,
    pub rewrites: BTreeMap<usize, Instruction>,
    /// What is known of each loop.
    pub rounds: Vec<Rounds>,
    /// The contexts in which each function is called.
    pub contexts: Vec<Vec<Context>>,
    /// The chain of calls under way, the outermost function first.
    pub chain: Vec<Link>,
    pub pieces: Pieces,
    #[cfg(test)]
    pub seen: Option<BTreeMap<usize, Vec<State>>>,
}

impl<'a> Analysis<'a> {
    pub fn new(
        program: &'a Program,
        contract: &'a Contract,
        from: &mut Workspace,
    ) -> Result<Self, Rejection> {
        let mut flow = take(&mut from.flow);
        let block_at = flow.read(program, take(&mut from.block_at))?;
        let mut rounds = emptied(&mut from.rounds);
        rounds.resize_with(flow.loops.len(), Rounds::default);
        let mut contexts = emptied(&mut from.contexts);
        contexts.resize_with(flow.functions.len(), Vec::new);
        Ok(Analysis {
            program,
            contract,
            marks: filled(&mut from.marks, program.slots(), 0),
            rewrites: BTreeMap::new(),
            rounds,
            contexts,
            chain: emptied(&mut from.chain),
            pieces: take(&mut from.pieces),
            flow,
            block_at,
            #[cfg(test)]
            seen: None,
        })
    }

    /// Returns its memory to the workspace, unless there is much of it.
    pub fn leave(self, to: &mut Workspace) {
        const LARGE: usize = 1 << 16;
        if self.program.slots() > LARGE {
            return;
        }
        let Analysis { flow, block_at, marks, rounds, contexts, chain, pieces, .. } = self;
        *to = Workspace { flow, block_at, marks, rounds, contexts, chain, pieces };
    }

    /// Analyses the program from its beginning.
    pub fn start(&mut self) -> Result<(), Rejection> {
        let mut state = State::new(0);
        for (index, &given) in self.contract.registers.iter().enumerate() {
            let register = Register::new(index as u8 + 1).expect("there are more registers than arguments");
            state.set(register, Value::given(given, None));
        }
        self.chain.push(Link { function: 0, may_recur: false });
        let states = emptied(&mut self.pieces.states);
        let grown = emptied(&mut self.pieces.grown);
        let mut context =
            Context::new(OUTERMOST, state, self.flow.functions[0].blocks.len(), (states, grown));
        self.walk(0, &mut context)?;
        for state in context.states.drain(..).flatten() {
            self.pieces.give_up(state);
        }
        (self.pieces.states, self.pieces.grown) = (context.states, context.grown);
        Ok(())
    }

    pub fn guards(&mut self) -> Vec<Guard> {
        let Pieces { costs, drifts, .. } = &mut self.pieces;
        let bounds = Bounds {
            program: self.program,
            flow: &self.flow,
            block_at: &self.block_at,
            rounds: &self.rounds,
            marks: &mut self.marks,
            patience: self.contract.patience,
        };
        bounds.bound(costs, drifts);
        let guard = |&mark: &u8| match mark {
            mark if mark & BUDGET != 0 => Guard::Budget,
            mark if mark & CONFINED != 0 => Guard::Confine,
            _ => Guard::None,
        };
        self.marks.iter().map(guard).collect()
    }
}
