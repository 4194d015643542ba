//! Moves conditions and steps of loops into their heads.

use std::collections::BTreeSet;

use crate::c::statement::{Condition, Form, Stmt, inner_mut, own_mentions, set_number};
use crate::ir::{Compare, Const, Operand};

/// Appends an endless loop to `done`. If the loop is left at its beginning or its end, that condition moves into the
/// loop's head.
pub(super) fn shape_loop(header: usize, mut body: Vec<Stmt>, done: &mut Vec<Stmt>) {
    let mut count = Words::default();
    words(&body, Within::Loop, &mut count);
    let leaves = |statement: Option<&Stmt>| match statement {
        Some(Stmt::If { then, otherwise, .. }) if otherwise.is_empty() => match then.as_slice() {
            [Stmt::Break] => true,
            // Assignments on the only way out can move behind the loop.
            [moves @ .., Stmt::Break] => {
                count.breaks == 1 && moves.iter().all(|one| matches!(one, Stmt::Assign { .. }))
            }
            _ => false,
        },
        _ => false,
    };
    let exit = if leaves(body.first()) {
        Some(0)
    } else if count.continues == 0 && leaves(body.last()) {
        Some(body.len() - 1)
    } else {
        None
    };
    let mut behind = Vec::new();
    let mut form = Form::Forever;
    if let Some(at) = exit
        && let Stmt::If { condition, mut then, .. } = body.remove(at)
    {
        then.pop();
        behind = then;
        form = if at == 0 && (!body.is_empty() || count.continues > 0) {
            Form::While(condition.not())
        } else {
            Form::DoWhile(condition.not())
        };
    }
    let form = match count.continues {
        0 => counting(form, &mut body, done),
        _ => form,
    };
    if let Some(Stmt::Label(label)) = body.last() {
        let label = *label;
        continue_for(&mut body, label);
    }
    done.push(Stmt::Loop { header, form, body });
    done.extend(behind);
}

/// Turns jumps to the end of a loop's body into `continue`.
fn continue_for(list: &mut [Stmt], label: usize) {
    for statement in list {
        match statement {
            Stmt::Goto(to) if *to == label => *statement = Stmt::Continue,
            Stmt::If { .. } | Stmt::Switch { .. } => {
                for inner in inner_mut(statement) {
                    continue_for(inner, label);
                }
            }
            _ => {}
        }
    }
}

/// Makes a loop a `for` if its condition tests a variable that the body steps last.
fn counting(form: Form, body: &mut Vec<Stmt>, done: &mut Vec<Stmt>) -> Form {
    let (condition, is_tested_first) = match &form {
        Form::While(condition) => (condition, true),
        Form::DoWhile(condition) => (condition, false),
        _ => return form,
    };
    let steps = |statement: &Stmt| match statement {
        Stmt::Assign { variable, value, .. } => {
            (value.reads.contains(variable) && condition.yes.reads.contains(variable)).then_some(*variable)
        }
        _ => None,
    };
    let Some((step_at, variable)) = last_movable(body, &steps) else { return form };
    let starts = |statement: &Stmt| match statement {
        Stmt::Assign { variable: other, .. } if *other == variable => Some(variable),
        _ => None,
    };
    let start_at = last_movable(done, &starts).map(|(at, _)| at);
    if !is_tested_first && !start_at.is_some_and(|at| holds_at_first(&done[at], condition)) {
        return form;
    }
    let step = Box::new(body.remove(step_at));
    let start = start_at.map(|at| Box::new(done.remove(at)));
    match form {
        Form::While(condition) | Form::DoWhile(condition) => Form::For { start, condition, step },
        other => other,
    }
}

/// The last statement of the wanted kind that could as well stand at the very end, because only assignments follow, and
/// none of them touches a variable that it reads or sets.
fn last_movable(list: &[Stmt], is_wanted: &dyn Fn(&Stmt) -> Option<usize>) -> Option<(usize, usize)> {
    let mut set_behind: BTreeSet<usize> = BTreeSet::new();
    let mut read_behind: BTreeSet<usize> = BTreeSet::new();
    for (at, statement) in list.iter().enumerate().rev() {
        let Stmt::Assign { variable, value, .. } = statement else { return None };
        let mentioned = own_mentions(statement);
        let is_free = !read_behind.contains(variable) && mentioned.is_disjoint(&set_behind);
        // A load or a call must not move across the statements that follow it.
        let is_plain = !value.text.contains('(') || at + 1 == list.len();
        if let Some(found) = is_wanted(statement).filter(|_| is_free && is_plain) {
            return Some((at, found));
        }
        set_behind.insert(*variable);
        read_behind.extend(&value.reads);
    }
    None
}

/// Whether a condition certainly holds after an assignment.
fn holds_at_first(start: &Stmt, condition: &Condition) -> bool {
    let (Some((variable, value)), Some(compared)) = (set_number(start), &condition.compared) else {
        return false;
    };
    let Operand::Const(Const::Int { bits, value: limit }) = compared.right else { return false };
    compared.variable == Some(variable) && compared.compare.holds(bits, value, limit)
}

/// Turns `if (n != 0) { int i = 0; do { .. i++; } while (i < n); }` into a `for`, if the guard is equivalent to the
/// condition before the first iteration. `i` is declared inside, so no code after the loop uses it.
pub(in crate::c) fn unguard(list: &mut [Stmt]) {
    for statement in list {
        for inner in inner_mut(statement) {
            unguard(inner);
        }
        let Stmt::If { condition: guard, then, otherwise } = statement else { continue };
        let [
            Stmt::Assign { variable, declares: Some(_), .. },
            Stmt::Loop { form: Form::DoWhile(again), body, .. },
        ] = then.as_slice()
        else {
            continue;
        };
        let mut count = Words::default();
        words(body, Within::Loop, &mut count);
        let steps = |statement: &Stmt| match statement {
            Stmt::Assign { variable: other, value, .. } if other == variable => {
                value.reads.contains(variable).then_some(*variable)
            }
            _ => None,
        };
        let is_same =
            otherwise.is_empty() && count.continues == 0 && says_the_same(guard, again, &then[0], *variable);
        let (true, Some((step_at, _))) = (is_same, last_movable(body, &steps)) else { continue };
        let (Some(Stmt::Loop { header, form: Form::DoWhile(condition), mut body }), Some(start)) =
            (then.pop(), then.pop())
        else {
            continue;
        };
        let step = Box::new(body.remove(step_at));
        let form = Form::For { start: Some(Box::new(start)), condition, step };
        *statement = Stmt::Loop { header, form, body };
    }
}

/// Whether a guard is equivalent to a loop's condition while the variable has its first value, 0.
fn says_the_same(guard: &Condition, again: &Condition, start: &Stmt, variable: usize) -> bool {
    let (Some(guard), Some(again)) = (&guard.compared, &again.compared) else { return false };
    let is_zero = matches!(guard.right, Operand::Const(Const::Int { value: 0, .. }));
    let counts = matches!(set_number(start), Some((counted, 0)) if counted == variable);
    let agrees = match again.compare {
        Compare::Ult | Compare::Ne => matches!(guard.compare, Compare::Ne | Compare::Ugt),
        Compare::Slt => guard.compare == Compare::Sgt,
        _ => false,
    };
    is_zero && counts && agrees && again.variable == Some(variable) && guard.left == again.right
}

/// The numbers of `break` and `continue` statements that belong to a loop itself.
#[derive(Default)]
struct Words {
    breaks: usize,
    continues: usize,
}

/// The statement that a `break` leaves.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    Loop,
    Switch,
}

fn words(list: &[Stmt], in_switch: Within, count: &mut Words) {
    for statement in list {
        match statement {
            Stmt::Break if in_switch == Within::Loop => count.breaks += 1,
            Stmt::Continue => count.continues += 1,
            Stmt::If { then, otherwise, .. } => {
                words(then, in_switch, count);
                words(otherwise, in_switch, count);
            }
            Stmt::Switch { arms, .. } => arms.iter().for_each(|arm| words(&arm.body, Within::Switch, count)),
            _ => {}
        }
    }
}
