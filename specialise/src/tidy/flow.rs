//! Simplifies control flow: known branches, unreachable blocks, jumps to jumps, blocks with a single predecessor that
//! jumps to them, phis with one input.

use super::forward::Replaced;
use crate::ir::{Block, BlockId, Body, Compare, Const, Op, Operand, Terminator, Type};
use std::collections::{HashMap, HashSet};

/// Applies each simplification once.
pub(crate) fn straighten(body: &mut Body) {
    if body.blocks.is_empty() {
        return;
    }
    decide(body);
    branch_for_one_case(body);
    drop_unreachable(body);
    join_ends(body);
    skip_empty(body);
    decide(body);
    drop_unreachable(body);
    drop_choiceless_phis(body);
    merge_followers(body);
    drop_unreachable(body);
}

/// Turns branches on known values, or with equal targets, into jumps; removes cases that go to the default block.
fn decide(body: &mut Body) {
    let chooses: Vec<bool> = body.blocks.iter().map(has_phis).collect();
    for block in &mut body.blocks {
        if let Terminator::Switch(_, other, cases) = &mut block.terminator
            && !chooses[other.0 as usize]
        {
            cases.retain(|(_, to)| to != other);
        }
        let to = match &block.terminator {
            Terminator::Branch(_, then, other) if then == other => *then,
            Terminator::Branch(condition, then, other) => match condition.known_int() {
                Some(0) => *other,
                Some(_) => *then,
                None => continue,
            },
            Terminator::Switch(_, other, cases) if cases.iter().all(|(_, to)| to == other) => *other,
            Terminator::Switch(on, other, cases) => match on.known_int() {
                Some(on) => cases.iter().find(|(case, _)| *case == on).map_or(*other, |(_, to)| *to),
                None => continue,
            },
            _ => continue,
        };
        block.terminator = Terminator::Jump(to);
    }
}

/// Turns a switch with one case into a branch.
fn branch_for_one_case(body: &mut Body) {
    for at in 0..body.blocks.len() {
        let Terminator::Switch(on, other, cases) = &body.blocks[at].terminator else { continue };
        let [(case, to)] = cases[..] else { continue };
        let Type::Int(bits) = body.type_of(on) else { continue };
        let op = Op::Compare(Compare::Eq, on.clone(), Operand::Const(Const::int(bits, case)));
        let other = *other;
        let (compare, holds) = body.computing(Type::Int(1), op, body.blocks[at].place);
        let block = &mut body.blocks[at];
        block.instructions.push(compare);
        block.terminator = Terminator::Branch(holds, to, other);
    }
}

/// Joins blocks that only end the function, and in the same way.
fn join_ends(body: &mut Body) {
    let mut first: HashMap<Option<Option<&Operand>>, BlockId> = HashMap::new();
    let mut joined: HashMap<BlockId, BlockId> = HashMap::new();
    for (at, block) in body.blocks.iter().enumerate().skip(1).filter(|(_, b)| b.instructions.is_empty()) {
        let end = match &block.terminator {
            Terminator::Return(result) => Some(result.as_ref()),
            Terminator::Unreachable => None,
            _ => continue,
        };
        let own = BlockId(at as u32);
        let kept = *first.entry(end).or_insert(own);
        if kept != own {
            joined.insert(own, kept);
        }
    }
    if joined.is_empty() {
        return;
    }
    for block in &mut body.blocks {
        block.terminator.successors_mut().for_each(|to| *to = joined.get(to).copied().unwrap_or(*to));
    }
}

/// Removes unreachable blocks, and the phi inputs for their edges.
fn drop_unreachable(body: &mut Body) {
    let mut reached = vec![false; body.blocks.len()];
    let mut waiting = vec![BlockId(0)];
    reached[0] = true;
    while let Some(at) = waiting.pop() {
        for to in body.blocks[at.0 as usize].terminator.successors() {
            if !std::mem::replace(&mut reached[to.0 as usize], true) {
                waiting.push(to);
            }
        }
    }
    let mut number = 0..;
    let new: Vec<Option<BlockId>> =
        reached.iter().map(|reached| reached.then(|| BlockId(number.next().unwrap_or_default()))).collect();
    let mut keep = reached.iter();
    body.blocks.retain(|_| *keep.next().unwrap_or(&true));
    for block in &mut body.blocks {
        block.terminator.successors_mut().for_each(|to| *to = new[to.0 as usize].unwrap_or(*to));
    }
    let predecessors = body.predecessors();
    for (block, predecessors) in body.blocks.iter_mut().zip(&predecessors) {
        let mut phis = block.phis_mut().peekable();
        if phis.peek().is_none() {
            continue;
        }
        let mut edges: HashMap<BlockId, usize> = HashMap::new();
        predecessors.iter().for_each(|from| *edges.entry(*from).or_default() += 1);
        for inputs in phis {
            let mut left = edges.clone();
            inputs.retain_mut(|(_, from)| {
                let Some(now) = new.get(from.0 as usize).copied().flatten() else { return false };
                *from = now;
                left.get_mut(&now).is_some_and(|left| {
                    let stays = *left > 0;
                    *left = left.saturating_sub(1);
                    stays
                })
            });
        }
    }
}

/// Whether a block begins with a phi.
fn has_phis(block: &Block) -> bool {
    block.phi_count() > 0
}

/// Whether all phis have the same inputs from two blocks.
pub(super) fn bring_the_same(block: &Block, one: BlockId, other: BlockId) -> bool {
    let input = |inputs: &[(Operand, BlockId)], from| {
        inputs.iter().find(|(_, block)| *block == from).map(|(input, _)| input.clone())
    };
    block.instructions.iter().all(|instruction| match &instruction.op {
        Op::Phi(inputs) => {
            input(inputs, one).is_some_and(|input_of_one| input(inputs, other) == Some(input_of_one))
        }
        _ => true,
    })
}

/// Redirects edges around blocks that only jump. Of consecutive ones, only the first is skipped; the others are merged,
/// or skipped in the next round.
fn skip_empty(body: &mut Body) {
    let predecessors = body.predecessors();
    let empty: Vec<Option<BlockId>> = body
        .blocks
        .iter()
        .enumerate()
        .map(|(at, block)| match block.terminator {
            Terminator::Jump(to) if at != 0 && to.0 as usize != at && block.instructions.is_empty() => {
                Some(to)
            }
            _ => None,
        })
        .collect();
    let mut skipped: HashMap<BlockId, BlockId> = HashMap::new();
    for (at, block) in body.blocks.iter_mut().enumerate() {
        // The phis of a block distinguish predecessors. So no predecessor may get two edges to it, unless the inputs on
        // both are equal.
        let mut taken: HashSet<BlockId> = predecessors[at].iter().copied().collect();
        let mut ways_in: HashMap<BlockId, &[BlockId]> = HashMap::new();
        for from in &predecessors[at] {
            let before = &predecessors[from.0 as usize];
            let first = before.iter().all(|before| empty[before.0 as usize].is_none());
            if empty[from.0 as usize].is_none() || !first || before.is_empty() {
                continue;
            }
            if has_phis(block) {
                if before
                    .iter()
                    .any(|before| taken.contains(before) && !bring_the_same(block, *before, *from))
                {
                    continue;
                }
                taken.extend(before);
                ways_in.insert(*from, before);
            }
            skipped.insert(*from, BlockId(at as u32));
        }
        if ways_in.is_empty() {
            continue;
        }
        for inputs in block.phis_mut() {
            let old = std::mem::take(inputs);
            for (input, from) in old {
                match ways_in.get(&from) {
                    Some(before) => inputs.extend(before.iter().map(|before| (input.clone(), *before))),
                    None => inputs.push((input, from)),
                }
            }
        }
    }
    if skipped.is_empty() {
        return;
    }
    for block in &mut body.blocks {
        block.terminator.successors_mut().for_each(|to| *to = skipped.get(to).copied().unwrap_or(*to));
    }
}

/// Replaces phis whose inputs are all the same by that input.
fn drop_choiceless_phis(body: &mut Body) {
    let mut replaced = Replaced::new(body);
    for block in &mut body.blocks {
        let phis = block.phi_count();
        let mut keep = vec![true; phis];
        for (instruction, keep) in block.instructions.iter_mut().zip(&mut keep) {
            let (Op::Phi(inputs), Some(result)) = (&mut instruction.op, instruction.result) else { continue };
            inputs.iter_mut().for_each(|(input, _)| replaced.resolve(input));
            let mut choices = inputs.iter().map(|(i, _)| i).filter(|i| **i != Operand::Value(result));
            if let Some(first) = choices.next()
                && choices.all(|other| other == first)
            {
                replaced.replace(result, first.clone());
                *keep = false;
            }
        }
        if keep.contains(&false) {
            let mut keep = keep.into_iter();
            block.instructions.retain(|_| keep.next().unwrap_or(true));
        }
    }
    replaced.apply(body);
}

/// Merges a block into its only predecessor if that ends with a jump.
fn merge_followers(body: &mut Body) {
    let predecessors = body.predecessors();
    let mut merged: HashMap<BlockId, BlockId> = HashMap::new();
    for at in 0..body.blocks.len() {
        let own = BlockId(at as u32);
        if merged.contains_key(&own) {
            continue;
        }
        while let Terminator::Jump(next) = body.blocks[at].terminator {
            let alone = predecessors[next.0 as usize].len() == 1;
            if next.0 == 0 || next == own || !alone || has_phis(&body.blocks[next.0 as usize]) {
                break;
            }
            if merged.contains_key(&next) {
                break; // only unreachable blocks form a circle
            }
            // The rest of the follower is unreachable, but remains a block until it is dropped.
            let follower = &mut body.blocks[next.0 as usize];
            let mut instructions = std::mem::take(&mut follower.instructions);
            let terminator = std::mem::replace(&mut follower.terminator, Terminator::Unreachable);
            let (place, comment) = (follower.place, std::mem::take(&mut follower.comment));
            let block = &mut body.blocks[at];
            block.instructions.append(&mut instructions);
            block.terminator = terminator;
            block.place = place;
            if block.comment.is_empty() {
                block.comment = comment;
            }
            merged.insert(next, own);
        }
    }
    if merged.is_empty() {
        return;
    }
    // A block may have absorbed others before it is absorbed itself.
    let last = |mut from: BlockId| {
        while let Some(into) = merged.get(&from) {
            from = *into;
        }
        from
    };
    for block in &mut body.blocks {
        for inputs in block.phis_mut() {
            inputs.iter_mut().for_each(|(_, from)| *from = last(*from));
        }
    }
}
