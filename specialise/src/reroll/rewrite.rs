//! Replaces runs by loops and bulk calls.

use super::draft::Fresh;
use super::fit::Fit;
use super::steps::Steps;
use crate::ir::{
    Binary, Block, BlockId, Body, Compare, Const, Instruction, Op, Operand, PlaceId, Terminator, Type,
    ValueId,
};

/// The replacement of a run.
pub(super) struct Change {
    /// The first instruction of the run in its block.
    first: usize,
    /// For each instruction from the first one on, its fate.
    fates: Vec<Fate>,
    /// The instructions that replace the run.
    made: Made,
}

/// The fate of an instruction within the range of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fate {
    /// It is removed.
    Gone,
    /// It moves before the replacement.
    Ahead,
    /// It moves after the replacement.
    Behind,
}

/// The replacement of a run.
pub(super) enum Made {
    /// A sequence of instructions.
    Bulk(Vec<Instruction>),
    /// A loop.
    Loop {
        /// The instructions before the loop.
        ahead: Vec<Instruction>,
        /// The values carried from repetition to repetition: the phi, its initial value, its next value.
        carried: Vec<(ValueId, Operand, Operand)>,
        /// The number of the repetition.
        index: ValueId,
        /// The number of the next repetition.
        next: ValueId,
        /// Whether there is a next repetition.
        goes_on: ValueId,
        /// The body of the loop.
        group: Vec<Instruction>,
        /// The number of repetitions.
        repetitions: usize,
        /// The source place of the loop.
        place: Option<PlaceId>,
    },
}

impl Change {
    /// Replaces a run. Address computations between its steps are kept where their operands are available: before the
    /// run, or after it if they need results of the last repetition. Those that need results of other repetitions are
    /// used by the run only, and are removed.
    pub(super) fn new(steps: &Steps, fit: &Fit, made: Made) -> Change {
        let first = steps.list[fit.start].raw as usize;
        let last = steps.list[fit.end() - 1].raw as usize;
        let group = fit.end() - fit.period;
        let fates = steps.body.blocks[steps.block].instructions[first..=last]
            .iter()
            .map(|instruction| {
                if !steps.uses.is_folded(instruction) {
                    return Fate::Gone;
                }
                let mut fate = Fate::Ahead;
                for operand in instruction.op.operands() {
                    let Operand::Value(value) = operand else { continue };
                    match steps.position(*value) {
                        Some(made) if made >= group => {
                            fate = if fate == Fate::Gone { Fate::Gone } else { Fate::Behind };
                        }
                        Some(made) if made >= fit.start => fate = Fate::Gone,
                        _ => {}
                    }
                }
                fate
            })
            .collect();
        Change { first, fates, made }
    }

    /// The number of instructions that are removed.
    pub(super) fn replaced(&self) -> usize {
        self.fates.iter().filter(|fate| **fate == Fate::Gone).count()
    }
}

/// Makes the changes of all blocks.
pub(super) fn rewrite(body: &mut Body, changes: Vec<Vec<Change>>, fresh: Fresh) {
    body.types.extend(fresh.types);
    let mut new = Blocks { types: &body.types, tails: Vec::new(), blocks: Vec::new(), indices: Vec::new() };
    let old = std::mem::take(&mut body.blocks);
    let counts = changes.iter().map(|changes| {
        1 + changes
            .iter()
            .map(|change| if matches!(change.made, Made::Loop { .. }) { 2 } else { 0 })
            .sum::<usize>()
    });
    let heads: Vec<BlockId> = counts
        .scan(0, |next, count| {
            let head = BlockId(*next as u32);
            *next += count;
            Some(head)
        })
        .collect();
    for (mut block, changes) in old.into_iter().zip(changes) {
        block.terminator.successors_mut().for_each(|to| *to = heads[to.0 as usize]);
        new.block(block, changes);
    }
    let Blocks { tails, mut blocks, indices, .. } = new;
    for head in &heads {
        for instruction in &mut blocks[head.0 as usize].instructions {
            let Op::Phi(inputs) = &mut instruction.op else { break };
            inputs.iter_mut().for_each(|(_, from)| *from = tails[from.0 as usize]);
        }
    }
    body.blocks = blocks;
    for index in indices {
        let at = index.0 as usize;
        if body.names.len() <= at {
            body.names.resize(at + 1, "".into());
        }
        body.names[at] = "i".into();
    }
}

/// The blocks of the new body.
struct Blocks<'a> {
    /// The types of all values.
    types: &'a [Type],
    /// For each old block, the last of the new blocks made from it.
    tails: Vec<BlockId>,
    /// The blocks.
    blocks: Vec<Block>,
    /// The values that count repetitions.
    indices: Vec<ValueId>,
}

impl Blocks<'_> {
    /// Makes the changes of a block.
    fn block(&mut self, mut block: Block, changes: Vec<Change>) {
        let mut old = std::mem::take(&mut block.instructions).into_iter();
        let mut at = 0;
        let mut comment = std::mem::take(&mut block.comment);
        let mut written: Vec<Instruction> = Vec::new();
        for change in changes {
            written.extend(old.by_ref().take(change.first - at));
            at = change.first + change.fates.len();
            let mut behind = Vec::new();
            for (fate, instruction) in change.fates.iter().zip(old.by_ref()) {
                match fate {
                    Fate::Gone => {}
                    Fate::Ahead => written.push(instruction),
                    Fate::Behind => behind.push(instruction),
                }
            }
            match change.made {
                Made::Bulk(instructions) => written.extend(instructions),
                made => self.loop_of(made, &mut written, std::mem::take(&mut comment)),
            }
            written.extend(behind);
        }
        written.extend(old);
        self.tails.push(BlockId(self.blocks.len() as u32));
        self.blocks.push(Block { instructions: written, comment, ..block });
    }

    /// Ends the current block, writes the loop, and begins the next block.
    fn loop_of(&mut self, made: Made, written: &mut Vec<Instruction>, comment: String) {
        let Made::Loop { ahead, carried, index, next, goes_on, group, repetitions, place } = made else {
            return;
        };
        let before = BlockId(self.blocks.len() as u32);
        let (own, after) = (BlockId(before.0 + 1), BlockId(before.0 + 2));
        written.extend(ahead);
        let word = |value: u64| Operand::Const(Const::int(64, u128::from(value)));
        let compute = |result, ty, op| Instruction { result: Some(result), ty, op, place };
        let add = Op::Binary(Binary::Add, Operand::Value(index), word(1));
        let test = Op::Compare(Compare::Ult, Operand::Value(next), word(repetitions as u64));
        let count = Op::Phi(vec![(word(0), before), (Operand::Value(next), own)]);
        let mut instructions = vec![compute(index, Type::WORD, count)];
        for (phi, initial, later) in carried {
            let ty = self.types[phi.0 as usize].clone();
            instructions.push(compute(phi, ty, Op::Phi(vec![(initial, before), (later, own)])));
        }
        instructions.extend(group);
        instructions.push(compute(next, Type::WORD, add));
        instructions.push(compute(goes_on, Type::Int(1), test));
        self.indices.push(index);
        self.blocks.push(Block {
            instructions: std::mem::take(written),
            terminator: Terminator::Jump(own),
            place,
            comment,
        });
        self.blocks.push(Block {
            instructions,
            terminator: Terminator::Branch(Operand::Value(goes_on), own, after),
            place,
            comment: format!("{repetitions} times"),
        });
    }
}
