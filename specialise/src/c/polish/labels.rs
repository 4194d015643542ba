//! Removes unused labels, and code that is unreachable without them.

use std::collections::BTreeSet;

use crate::c::statement::{Stmt, ends, inner, inner_mut};

/// The labels that are targets of jumps.
pub(super) fn targets(list: &[Stmt]) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let mut pending = vec![list];
    while let Some(list) = pending.pop() {
        for statement in list {
            if let Stmt::Goto(label) = statement {
                found.insert(*label);
            }
            pending.extend(inner(statement).into_iter().map(|list| list.as_slice()));
        }
    }
    found
}

/// Removes the statements after a jump, up to a label that is the target of a jump.
pub(super) fn remove_unreached(list: &mut Vec<Stmt>) {
    loop {
        let targets = targets(list);
        if !remove_behind_jumps(list, &targets) {
            return;
        }
    }
}

fn remove_behind_jumps(list: &mut Vec<Stmt>, targets: &BTreeSet<usize>) -> bool {
    let mut removed = false;
    let mut kept: Vec<Stmt> = Vec::with_capacity(list.len());
    for mut statement in std::mem::take(list) {
        if ends(&kept) && !holds_target(&statement, targets) {
            removed |= !matches!(statement, Stmt::Label(_));
            continue;
        }
        for inner in inner_mut(&mut statement) {
            removed |= remove_behind_jumps(inner, targets);
        }
        kept.push(statement);
    }
    *list = kept;
    removed
}

fn holds_target(statement: &Stmt, targets: &BTreeSet<usize>) -> bool {
    matches!(statement, Stmt::Label(label) if targets.contains(label))
        || inner(statement).iter().any(|list| list.iter().any(|one| holds_target(one, targets)))
}

pub(super) fn remove_labels(list: &mut Vec<Stmt>, targets: &BTreeSet<usize>) {
    list.retain(|statement| !matches!(statement, Stmt::Label(label) if !targets.contains(label)));
    for statement in list {
        for inner in inner_mut(statement) {
            remove_labels(inner, targets);
        }
    }
}
