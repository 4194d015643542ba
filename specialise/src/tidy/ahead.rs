//! Hoists tests for remaining space out of counted loops: instead of a test in each round, one test before the loop
//! covers all rounds. If it fails, the original loop runs. Decoders of arrays become loops that a compiler can
//! vectorise.

use crate::graph::{Graph, successors};
use crate::ir::{Binary, Block, BlockId, Body, Compare, Const, Op, Operand, Terminator, Type, ValueId};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A longer loop, in instructions, is not duplicated.
const LONGEST: usize = 32;

/// A loop with a test that can be hoisted.
struct Loop {
    members: BTreeSet<usize>,
    header: usize,
    /// The only block that enters it.
    before: usize,
    /// The successor of the header if there is room.
    inside: BlockId,
    room: Room,
    /// The number of rounds, in the type of the room; only meaningful if the loop is entered.
    rounds: Operand,
}

/// A quantity that decreases in each round: the initial amount, the decrease in each round, and the least amount that
/// must be left.
struct Room {
    first: Operand,
    step: u128,
    least: u128,
    bits: u32,
}

/// Hoists the tests of such loops. The result tells whether there were any.
pub(crate) fn ask(body: &mut Body) -> bool {
    let graph = Graph::of(successors(body));
    let mut loops: Vec<Loop> = graph
        .loops
        .iter()
        .filter_map(|(header, members)| Finder::new(body, &graph, *header, members)?.find())
        .collect();
    // Outer loops come first: they are duplicated before their inner loops have been changed.
    loops.sort_by_key(|found| Reverse(found.members.len()));
    for found in &loops {
        write(body, found);
    }
    !loops.is_empty()
}

/// Examines one loop.
struct Finder<'a> {
    body: &'a Body,
    members: &'a BTreeSet<usize>,
    header: usize,
    before: usize,
    /// The only block that goes back to the header.
    latch: usize,
    /// The operations inside the loop, by result.
    made_by: HashMap<ValueId, &'a Op>,
}

impl<'a> Finder<'a> {
    fn new(body: &'a Body, graph: &Graph, header: usize, members: &'a BTreeSet<usize>) -> Option<Finder<'a>> {
        let (back, ahead): (Vec<usize>, Vec<usize>) =
            graph.predecessors[header].iter().partition(|from| members.contains(from));
        let (&[latch], &[before]) = (&back[..], &ahead[..]) else { return None };
        // `before` may end another loop: once that loop is duplicated, its end exists twice.
        if graph.depth[before] + 1 != graph.depth[header] {
            return None;
        }
        let instructions = members.iter().flat_map(|at| &body.blocks[*at].instructions);
        let made_by: HashMap<_, _> = instructions.filter_map(|i| Some((i.result?, &i.op))).collect();
        Some(Finder { body, members, header, before, latch, made_by })
    }

    fn find(self) -> Option<Loop> {
        let (inside, room) = self.room()?;
        let rounds = self.rounds().filter(|rounds| self.body.type_of(rounds) == Type::Int(room.bits))?;
        let may_be_twice = self.is_short() && self.is_private();
        may_be_twice.then(|| Loop {
            members: self.members.clone(),
            header: self.header,
            before: self.before,
            inside,
            room,
            rounds,
        })
    }

    fn made_by(&self, operand: &Operand) -> Option<&'a Op> {
        match operand {
            Operand::Value(value) => self.made_by.get(value).copied(),
            Operand::Const(_) => None,
        }
    }

    /// The initial value of a phi of the header, and its value in the next round.
    fn phi(&self, operand: &Operand) -> Option<(&'a Operand, &'a Operand)> {
        let Op::Phi(inputs) = self.made_by(operand)? else { return None };
        let of =
            |block: usize| inputs.iter().find(|(_, from)| from.0 as usize == block).map(|(input, _)| input);
        Some((of(self.before)?, of(self.latch)?))
    }

    /// The test for room at the end of the header, and its successor if there is room.
    fn room(&self) -> Option<(BlockId, Room)> {
        let Terminator::Branch(condition, then, other) = &self.body.blocks[self.header].terminator else {
            return None;
        };
        let Op::Compare(comparison, left, least) = self.made_by(condition)? else { return None };
        let least = least.known_int()?;
        let (out, inside, least) = match comparison {
            Compare::Ult => (*then, *other, least),
            Compare::Ule => (*then, *other, least + 1),
            Compare::Uge => (*other, *then, least),
            Compare::Ugt => (*other, *then, least + 1),
            _ => return None,
        };
        if self.is_member(out) || !self.is_member(inside) {
            return None;
        }
        let Type::Int(bits @ 2..=64) = self.body.type_of(left) else { return None };
        let (first, next) = self.phi(left)?;
        let step = self.step(next, left, bits)?.wrapping_neg() & mask(bits);
        // An addition and a subtraction look the same here; the smaller amount is taken.
        let takes = step > 0 && step <= mask(bits) / 2 && least > 0 && least <= mask(bits);
        takes.then(|| (inside, Room { first: first.clone(), step, least, bits }))
    }

    /// The amount added to a value in each round.
    fn step(&self, next: &Operand, value: &Operand, bits: u32) -> Option<u128> {
        match self.made_by(next)? {
            Op::Binary(Binary::Add, same, by) if same == value => by.known_int(),
            Op::Binary(Binary::Sub, same, by) if same == value => {
                Some(by.known_int()?.wrapping_neg() & mask(bits))
            }
            _ => None,
        }
    }

    /// The number of rounds, if they are counted at the end of each round.
    fn rounds(&self) -> Option<Operand> {
        let Terminator::Branch(condition, then, other) = &self.body.blocks[self.latch].terminator else {
            return None;
        };
        let back = BlockId(self.header as u32);
        if *then != back || self.is_member(*other) {
            return None;
        }
        let Op::Compare(Compare::Ult | Compare::Ne, next, rounds) = self.made_by(condition)? else {
            return None;
        };
        let Op::Binary(Binary::Add, number, one) = self.made_by(next)? else { return None };
        let (first, following) = self.phi(number)?;
        let counts = one.known_int() == Some(1) && first.known_int() == Some(0) && following == next;
        (counts && self.made_by(rounds).is_none()).then(|| rounds.clone())
    }

    fn is_member(&self, block: BlockId) -> bool {
        self.members.contains(&(block.0 as usize))
    }

    fn is_short(&self) -> bool {
        let blocks = || self.members.iter().map(|at| &self.body.blocks[*at]);
        let allocates = blocks().any(|b| b.instructions.iter().any(|i| matches!(i.op, Op::Alloca { .. })));
        !allocates && blocks().map(|block| block.instructions.len()).sum::<usize>() <= LONGEST
    }

    /// Whether values of the loop are used outside only by phis, as inputs from blocks of the loop.
    fn is_private(&self) -> bool {
        let outside = self.body.blocks.iter().enumerate().filter(|(at, _)| !self.members.contains(at));
        let foreign = |operand: &Operand| self.made_by(operand).is_none();
        outside.into_iter().all(|(_, block)| {
            block.terminator.operand().is_none_or(foreign)
                && block.instructions.iter().all(|instruction| match &instruction.op {
                    Op::Phi(inputs) => {
                        inputs.iter().all(|(input, from)| self.is_member(*from) || foreign(input))
                    }
                    op => op.operands().all(foreign),
                })
        })
    }
}

fn mask(bits: u32) -> u128 {
    (1 << bits) - 1
}

/// Adds a copy of the loop without the test, and the test for all rounds before both loops.
fn write(body: &mut Body, found: &Loop) {
    let mut copy = Copy::default();
    for at in &found.members {
        copy.blocks.insert(BlockId(*at as u32), BlockId((body.blocks.len() + copy.blocks.len()) as u32));
    }
    let results = found.members.iter().flat_map(|at| &body.blocks[*at].instructions);
    for value in results.filter_map(|instruction| instruction.result).collect::<Vec<_>>() {
        let new = body.new_value(body.types[value.0 as usize].clone());
        body.names[new.0 as usize] = body.names[value.0 as usize].clone();
        copy.values.insert(value, new);
    }
    for at in (0..body.blocks.len()).filter(|at| !found.members.contains(at)) {
        body.blocks[at].phis_mut().for_each(|inputs| copy.add_inputs(inputs, found.header));
    }
    for at in &found.members {
        let mut block = body.blocks[*at].clone();
        if *at == found.header {
            block.terminator = Terminator::Jump(found.inside);
        }
        copy.rename(&mut block);
        body.blocks.push(block);
    }
    let header = BlockId(found.header as u32);
    let between = BlockId(body.blocks.len() as u32);
    let test = test(body, found, copy.blocks[&header], header);
    body.blocks.push(test);
    for header in [header, copy.blocks[&header]] {
        for (_, from) in body.blocks[header.0 as usize].phis_mut().flatten() {
            *from = if from.0 as usize == found.before { between } else { *from };
        }
    }
    let ahead = body.blocks[found.before].terminator.successors_mut();
    ahead.filter(|to| **to == header).for_each(|to| *to = between);
}

/// The blocks and values of the copy, by the originals.
#[derive(Default)]
struct Copy {
    blocks: BTreeMap<BlockId, BlockId>,
    values: BTreeMap<ValueId, ValueId>,
}

impl Copy {
    fn operand(&self, operand: &mut Operand) {
        if let Operand::Value(value) = operand {
            *value = self.values.get(value).copied().unwrap_or(*value);
        }
    }

    fn block(&self, block: &mut BlockId) {
        *block = self.blocks.get(block).copied().unwrap_or(*block);
    }

    fn rename(&self, block: &mut Block) {
        for instruction in &mut block.instructions {
            instruction.result = instruction.result.map(|result| self.values[&result]);
            instruction.op.operands_mut().for_each(|operand| self.operand(operand));
        }
        block.phis_mut().flatten().for_each(|(_, from)| self.block(from));
        block.terminator.operand_mut().into_iter().for_each(|operand| self.operand(operand));
        block.terminator.successors_mut().for_each(|to| self.block(to));
    }

    /// The blocks after the loop get inputs from the copy too, except for the exit of the header, which the copy lacks.
    fn add_inputs(&self, inputs: &mut Vec<(Operand, BlockId)>, header: usize) {
        let leaves = |from: &BlockId| self.blocks.contains_key(from) && from.0 as usize != header;
        let mut more: Vec<_> = inputs.iter().filter(|(_, from)| leaves(from)).cloned().collect();
        for (input, from) in &mut more {
            self.operand(input);
            self.block(from);
        }
        inputs.extend(more);
    }
}

/// A block that tests whether there is room for all rounds: after the first round, there must be room for the remaining
/// ones.
fn test(body: &mut Body, found: &Loop, enough: BlockId, other: BlockId) -> Block {
    let Room { first, step, least, bits } = &found.room;
    let number = |value: u128| Operand::Const(Const::int(*bits, value));
    let place = body.blocks[found.header].place;
    let mut instructions = Vec::new();
    let mut compute = |ty: Type, op: Op| {
        let (instruction, result) = body.computing(ty, op, place);
        instructions.push(instruction);
        result
    };
    let ty = Type::Int(*bits);
    // The number of rounds may be undefined if the loop is left before it is used.
    let rounds = compute(ty.clone(), Op::Freeze(found.rounds.clone()));
    let more = compute(ty.clone(), Op::Binary(Binary::Sub, rounds, number(1)));
    let left = |first: u128| first.checked_sub(*least);
    let enough_left = match first.known_int().map(left) {
        Some(Some(left)) => compute(Type::Int(1), Op::Compare(Compare::Ule, more, number(left / step))),
        Some(None) => Operand::Const(Const::int(1, 0)),
        None => {
            let is_one = compute(Type::Int(1), Op::Compare(Compare::Uge, first.clone(), number(*least)));
            let left = compute(ty.clone(), Op::Binary(Binary::Sub, first.clone(), number(*least)));
            let steps = compute(ty, Op::Binary(Binary::UDiv, left, number(*step)));
            let are_more = compute(Type::Int(1), Op::Compare(Compare::Ule, more, steps));
            compute(Type::Int(1), Op::Binary(Binary::And, is_one, are_more))
        }
    };
    let terminator = Terminator::Branch(enough_left, enough, other);
    Block { instructions, terminator, place, comment: String::new() }
}
