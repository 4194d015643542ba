//! Functions whose end can be reached, where there is no result.

use crate::program::{Alternative, Block, ExpressionKind, Procedure, Program, Statement, StatementKind};
use crate::source::Diagnostic;
use crate::stops::is_stop;

/// A warning for each.
pub(super) fn find(program: &Program) -> impl Iterator<Item = Diagnostic> {
    let has_end =
        move |it: &&Procedure| it.result.is_some() && it.native.is_none() && !is_final(program, &it.body);
    program.procedures.iter().filter(has_end).map(|procedure| {
        let message = format!("{} may end without a result", procedure.name);
        let warning = Diagnostic::warning("missing-return", procedure.span, message);
        warning
            .label("its END can be reached")
            .help("end it by RETURN; where that can't be, by ASSERT(FALSE)")
    })
}

/// Whether nothing behind it is reached.
fn is_final(program: &Program, block: &Block) -> bool {
    block.statements.iter().any(|statement| ends(program, statement))
}

fn ends(program: &Program, statement: &Statement) -> bool {
    let is_final = |block: &Block| is_final(program, block);
    match &statement.kind {
        StatementKind::Return(_) => true,
        StatementKind::If(branches, Some(otherwise)) => {
            branches.iter().all(|(_, block)| is_final(block)) && is_final(otherwise)
        }
        // A value without a branch is an error.
        StatementKind::Case(_, branches, otherwise) => {
            branches.iter().all(|(_, block)| is_final(block)) && otherwise.as_ref().is_none_or(&is_final)
        }
        StatementKind::Arrivals { branches, otherwise, .. } => {
            branches.iter().all(|branch| is_final(&branch.block)) && otherwise.as_ref().is_none_or(&is_final)
        }
        StatementKind::Select(alternatives) => alternatives.iter().map(Alternative::block).all(is_final),
        StatementKind::While(condition, body) => {
            matches!(condition.kind, ExpressionKind::Boolean(true)) && !has_exit(body)
        }
        StatementKind::Repeat(body, until) => {
            !has_exit(body) && (is_final(body) || matches!(until.kind, ExpressionKind::Boolean(false)))
        }
        StatementKind::Block(body) | StatementKind::Composite(_, body) => is_final(body),
        _ => is_stop(program, statement),
    }
}

/// Whether the loop around it may be left by EXIT.
fn has_exit(block: &Block) -> bool {
    block.statements.iter().any(|statement| match &statement.kind {
        StatementKind::Exit => true,
        StatementKind::While(..)
        | StatementKind::Repeat(..)
        | StatementKind::For { .. }
        | StatementKind::Foreach { .. } => false,
        other => other.blocks().into_iter().any(has_exit),
    })
}
