//! Blocks that end the program, or its component: by HALT or ASSERT(FALSE).

use crate::program::{Block, ExpressionKind, Program, Statement, StatementKind};

/// How deeply [`stops`] looks into blocks and procedures.
const NESTED: usize = 8;

/// Whether a block does so by its last statement, perhaps in procedures that this calls.
pub fn stops(program: &Program, block: &Block) -> bool {
    block_stops(program, block, NESTED)
}

/// The same for a statement.
pub fn is_stop(program: &Program, statement: &Statement) -> bool {
    statement_stops(program, statement, NESTED)
}

fn block_stops(program: &Program, block: &Block, depth: usize) -> bool {
    let last = block.statements.last().filter(|_| depth > 0);
    last.is_some_and(|last| statement_stops(program, last, depth))
}

fn statement_stops(program: &Program, statement: &Statement, depth: usize) -> bool {
    match &statement.kind {
        StatementKind::Halt(_) => true,
        StatementKind::Assert(condition, _) => matches!(condition.kind, ExpressionKind::Boolean(false)),
        StatementKind::Call(procedure, _) => {
            block_stops(program, &program.procedures[procedure.index()].body, depth - 1)
        }
        StatementKind::Block(block) => block_stops(program, block, depth - 1),
        _ => false,
    }
}
