//! Simplifies `if`: removes empty sides, code repeated on both sides, and jumps over code.

use crate::c::expression::Expr;
use crate::c::statement::{Condition, Stmt, set_number};

/// Removes empty first sides of `if`, and empty `default` arms.
pub(super) fn turn_round(list: &mut Vec<Stmt>) {
    let mut done: Vec<Stmt> = Vec::with_capacity(list.len());
    for statement in std::mem::take(list) {
        match statement {
            Stmt::If { condition, then, otherwise } if then.is_empty() && otherwise.is_empty() => {
                // A call in the condition must still happen.
                if condition.yes.text.contains('(') {
                    let text = format!("(void)({})", condition.yes.text);
                    done.push(Stmt::Do(Expr { text, ..condition.yes }));
                }
            }
            Stmt::If { condition, then, otherwise } if then.is_empty() => {
                done.push(Stmt::If { condition: condition.not(), then: otherwise, otherwise: Vec::new() });
            }
            Stmt::Switch { on, mut arms } => {
                if !arms.iter().any(|arm| arm.falls_through) {
                    arms.retain(|arm| !(arm.is_default && arm.values.is_empty() && arm.body.is_empty()));
                }
                done.push(Stmt::Switch { on, arms });
            }
            other => done.push(other),
        }
    }
    *list = done;
}

/// If both sides of an `if` begin by setting a variable to the same number, sets it before the `if`.
pub(super) fn set_before(list: &mut Vec<Stmt>) {
    let mut done: Vec<Stmt> = Vec::with_capacity(list.len());
    for mut statement in std::mem::take(list) {
        if let Stmt::If { condition, then, otherwise } = &mut statement
            && is_set_by(otherwise, then, condition)
        {
            let set: Vec<usize> = then.iter().filter_map(set_number).map(|(variable, _)| variable).collect();
            otherwise.retain(|one| !set_number(one).is_some_and(|(variable, _)| set.contains(&variable)));
            done.append(then);
            if !otherwise.is_empty() {
                let (condition, then) = (condition.clone().not(), std::mem::take(otherwise));
                done.push(Stmt::If { condition, then, otherwise: Vec::new() });
            }
            continue;
        }
        done.push(statement);
    }
    *list = done;
}

/// Whether one side only sets numbers, and the other side begins by setting the same ones and does not set these
/// variables to numbers again at this depth.
fn is_set_by(whole: &[Stmt], part: &[Stmt], condition: &Condition) -> bool {
    let begins: Vec<(usize, u128)> = whole.iter().map_while(set_number).collect();
    let later = whole.iter().skip(begins.len());
    let is_set_later =
        |variable: usize| later.clone().filter_map(set_number).any(|(other, _)| other == variable);
    !part.is_empty()
        && part.iter().all(|statement| {
            set_number(statement).is_some_and(|set| {
                begins.contains(&set) && !condition.yes.reads.contains(&set.0) && !is_set_later(set.0)
            })
        })
}

/// Merges `if (a) { if (b) { .. } }` into `if (a && b) { .. }`.
pub(super) fn merge_choices(list: &mut [Stmt]) {
    for statement in list {
        let Stmt::If { condition, then, otherwise } = statement else { continue };
        let is_nested = matches!(then.as_slice(), [Stmt::If { otherwise, .. }] if otherwise.is_empty());
        if !is_nested || !otherwise.is_empty() {
            continue;
        }
        if let Some(Stmt::If { condition: second, then: innermost, .. }) = then.pop() {
            *condition = condition.clone().and(second);
            *then = innermost;
        }
    }
}

/// Rewrites `if (a) goto b; .. b:` as `if (!a) { .. }`.
pub(super) fn wrap_jumped_over(list: &mut Vec<Stmt>) -> bool {
    for at in 0..list.len() {
        let Stmt::If { then, otherwise, .. } = &list[at] else { continue };
        let ([Stmt::Goto(label)], []) = (then.as_slice(), otherwise.as_slice()) else { continue };
        let Some(end) = list[at..].iter().position(|one| matches!(one, Stmt::Label(other) if other == label))
        else {
            continue;
        };
        let end = at + end;
        let jumped_over: Vec<Stmt> = list.drain(at + 1..end).collect();
        let Stmt::If { condition, .. } = list.remove(at) else { return false };
        if !jumped_over.is_empty() {
            list.insert(
                at,
                Stmt::If { condition: condition.not(), then: jumped_over, otherwise: Vec::new() },
            );
        }
        return true;
    }
    false
}
