//! Tokens to a syntax tree: recursive descent along the grammar of the language reference, section 2. Always
//! gives a tree and its errors; what could not be read is missing from the tree, which says where. Knows nothing
//! about what names mean.
//!
//! A function that meets an error reports it and returns `Failed`; whoever can go on catches that, skips to
//! where its own construct continues, and keeps the rest. How much an error loses: a statement, a declaration, or,
//! where the parser can't be sure which END belongs to what, everything that is open. Nesting is bounded, so that
//! neither this parser nor anyone who walks the tree runs out of stack.

mod blocks;
mod branches;
mod declarations;
mod designators;
mod elsewhere;
mod expressions;
mod foreign;
mod habits;
mod parameters;
mod protocols;
mod state;
mod statements;
mod units;

pub(crate) use expressions::JOINED_COMPARISONS;

use crate::ast::{self, Name};
use crate::lexer;
use crate::source::Diagnostic;

use state::Parser;

/// Reads the text of file number `file`: the tree, and all independent errors in order of place.
pub fn parse(file: u32, text: &str) -> (ast::File, Vec<Diagnostic>) {
    let lexed = lexer::lex(file, text);
    let mut parser = Parser::new(text, lexed.tokens);
    let tree = parser.file();
    let mut diagnostics = lexed.diagnostics;
    diagnostics
        .retain(|diagnostic| diagnostic.code != "bad-character" || !parser.has_skipped(diagnostic.span));
    diagnostics.append(&mut parser.diagnostics);
    diagnostics.sort_by_key(|diagnostic| (diagnostic.span.start, diagnostic.span.end));
    (tree, diagnostics)
}

/// The names of the files that a text imports; what is wrong with it is left for `parse` to say.
pub fn imports(text: &str) -> Vec<Name> {
    Parser::new(text, lexer::lex(0, text).tokens).imports()
}

/// Reads what stands behind BY, alone; where there are no options, `()` may be left out.
pub fn factories(file: u32, text: &str) -> (Vec<ast::Call>, Vec<Diagnostic>) {
    let lexed = lexer::lex(file, text);
    let mut parser = Parser::new(text, lexed.tokens);
    let calls = parser.factories_alone().unwrap_or_default();
    let mut diagnostics = lexed.diagnostics;
    diagnostics.append(&mut parser.diagnostics);
    (calls, diagnostics)
}
