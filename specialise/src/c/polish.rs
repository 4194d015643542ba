//! Makes statements read as people write them: `while`, `do` and `for` instead of endless loops with `break`, `if`
//! instead of jumps over code, nothing that is never reached.

use std::collections::BTreeSet;

use super::expression::Expr;
use super::statement::{Condition, Form, Stmt, Test, ends, inner, inner_mut, own_mentions};
use crate::ir::{Compare, Const, Operand};

/// Rewrites the statements of a function.
pub(super) fn polish(list: &mut Vec<Stmt>) {
    remove_unreached(list);
    remove_labels(list, &targets(list));
    rewrite(list);
    remove_labels(list, &targets(list));
}

/// The labels that some jump leads to.
fn targets(list: &[Stmt]) -> BTreeSet<usize> {
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

/// Takes out what stands behind a jump without a label that anything jumps to.
fn remove_unreached(list: &mut Vec<Stmt>) {
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

fn remove_labels(list: &mut Vec<Stmt>, targets: &BTreeSet<usize>) {
    list.retain(|statement| !matches!(statement, Stmt::Label(label) if !targets.contains(label)));
    for statement in list {
        for inner in inner_mut(statement) {
            remove_labels(inner, targets);
        }
    }
}

fn rewrite(list: &mut Vec<Stmt>) {
    for statement in list.iter_mut() {
        for inner in inner_mut(statement) {
            rewrite(inner);
        }
    }
    turn_round(list);
    set_before(list);
    merge_choices(list);
    while wrap_jumped_over(list) {}
    merge_choices(list);
    let mut done: Vec<Stmt> = Vec::with_capacity(list.len());
    for statement in std::mem::take(list) {
        match statement {
            Stmt::Loop { header, form: Form::Forever, body } => shape_loop(header, body, &mut done),
            other => done.push(other),
        }
    }
    *list = done;
}

/// No choice has an empty first side, no `switch` an empty `default`.
fn turn_round(list: &mut Vec<Stmt>) {
    let mut done: Vec<Stmt> = Vec::with_capacity(list.len());
    for statement in std::mem::take(list) {
        match statement {
            Stmt::If { condition, then, otherwise } if then.is_empty() && otherwise.is_empty() => {
                // A call in it must still happen.
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

/// What both sides of a choice begin by setting to the same number is set before it.
fn set_before(list: &mut Vec<Stmt>) {
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

/// The variable and number of an assignment of a number.
fn set_number(statement: &Stmt) -> Option<(usize, u128)> {
    match statement {
        Stmt::Assign { variable, constant: Some(number), .. } => Some((*variable, *number)),
        _ => None,
    }
}

/// Whether the numbers that one side sets, and nothing else, are set at the beginning of the other side too, by its only
/// assignments of numbers to these variables at this depth.
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

/// `if (n != 0) { int i = 0; do { .. i++; } while (i < n); }` is a `for`, if the condition says the same before the
/// first round; `i` is declared there, so nothing behind can see it.
pub(super) fn unguard(list: &mut [Stmt]) {
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

/// Whether a guard holds just when a loop's condition does with the variable at its first value, 0.
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

/// `if (a) { if (b) { .. } }` is `if (a && b) { .. }`.
fn merge_choices(list: &mut [Stmt]) {
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

/// `if (a) goto b; .. b:` is `if (!a) { .. }`.
fn wrap_jumped_over(list: &mut Vec<Stmt>) -> bool {
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

/// How often a loop is left or begun anew by words of its own body.
#[derive(Default)]
struct Words {
    breaks: usize,
    continues: usize,
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

/// What a `break` leaves.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    Loop,
    Switch,
}

fn shape_loop(header: usize, mut body: Vec<Stmt>, done: &mut Vec<Stmt>) {
    let mut count = Words::default();
    words(&body, Within::Loop, &mut count);
    let leaves = |statement: Option<&Stmt>| match statement {
        Some(Stmt::If { then, otherwise, .. }) if otherwise.is_empty() => match then.as_slice() {
            [Stmt::Break] => true,
            // What is assigned on the only way out may come behind the loop.
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

/// Jumps to the end of a loop's body are `continue`.
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

/// A loop whose condition is on a variable that its body steps last is a `for`.
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

/// The last statement of a kind that could as well stand at the very end: only assignments follow that don't touch
/// what it reads or sets.
fn last_movable(list: &[Stmt], is_wanted: &dyn Fn(&Stmt) -> Option<usize>) -> Option<(usize, usize)> {
    let mut set_behind: BTreeSet<usize> = BTreeSet::new();
    let mut read_behind: BTreeSet<usize> = BTreeSet::new();
    for (at, statement) in list.iter().enumerate().rev() {
        let Stmt::Assign { variable, value, .. } = statement else { return None };
        let mentioned = own_mentions(statement);
        let is_free = !read_behind.contains(variable) && mentioned.is_disjoint(&set_behind);
        // A load or a call would cross what follows.
        let is_plain = !value.text.contains('(') || at + 1 == list.len();
        if let Some(found) = is_wanted(statement).filter(|_| is_free && is_plain) {
            return Some((at, found));
        }
        set_behind.insert(*variable);
        read_behind.extend(&value.reads);
    }
    None
}

/// Whether a condition surely holds after an assignment.
fn holds_at_first(start: &Stmt, condition: &Condition) -> bool {
    let (Stmt::Assign { variable, constant: Some(value), .. }, Some(test)) = (start, &condition.test) else {
        return false;
    };
    test.variable == *variable && compares(test, *value) == test.holds
}

fn compares(test: &Test, value: u128) -> bool {
    let shift = 128 - test.bits.clamp(1, 128);
    let with_sign = |value: u128| ((value << shift) as i128) >> shift;
    let (a, b) = (value, test.constant);
    match test.compare {
        Compare::Eq => a == b,
        Compare::Ne => a != b,
        Compare::Ugt => a > b,
        Compare::Uge => a >= b,
        Compare::Ult => a < b,
        Compare::Ule => a <= b,
        Compare::Sgt => with_sign(a) > with_sign(b),
        Compare::Sge => with_sign(a) >= with_sign(b),
        Compare::Slt => with_sign(a) < with_sign(b),
        Compare::Sle => with_sign(a) <= with_sign(b),
    }
}
