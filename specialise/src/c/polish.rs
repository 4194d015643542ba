//! Rewrites statements into the forms that people write: `while`, `do` and `for` instead of endless loops with `break`,
//! `if` instead of jumps over code. Removes unreachable code.

mod choices;
mod labels;
mod loops;

use self::choices::{merge_choices, set_before, turn_round, wrap_jumped_over};
use self::labels::{remove_labels, remove_unreached, targets};
use self::loops::shape_loop;
pub(super) use self::loops::unguard;
use super::statement::{Form, Stmt, inner_mut};

/// Rewrites the statements of a function.
pub(super) fn polish(list: &mut Vec<Stmt>) {
    remove_unreached(list);
    remove_labels(list, &targets(list));
    rewrite(list);
    remove_labels(list, &targets(list));
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
