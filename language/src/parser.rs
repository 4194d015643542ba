//! Parses tokens to a syntax tree, by recursive descent along the grammar of the language reference, section 2. Always
//! gives a tree and its errors; text that could not be read is missing from the tree, which says where. Knows nothing
//! of what names mean.
//!
//! *Error recovery.* A function that meets an error reports it and returns `Failed`. The innermost caller that can go
//! on catches that, skips to where its own construct continues, and keeps the rest. An error loses a statement or a
//! declaration; or all open units, if it is not certain which END belongs to which.
//!
//! *Other languages.* Constructs of other languages are recognised where nothing of this one can stand (`foreign`,
//! `elsewhere`, `branches`, `habits`). Each gives one error, which says what to write instead.
//!
//! Nesting is bounded, so that neither the parser nor a walk over the tree runs out of stack.

mod blocks;
mod branches;
mod cases;
mod declarations;
mod designators;
mod elsewhere;
mod expressions;
mod foreign;
mod habits;
mod parameters;
mod protocols;
mod records;
mod select;
mod state;
mod statements;
mod units;

pub(crate) use cases::is_case;
pub(crate) use expressions::JOINED_COMPARISONS;
pub(crate) use select::is_select;

use crate::ast::{self, Name};
use crate::lexer;
use crate::source::Diagnostic;

use state::Parser;

/// Parses the text of file number `file`. Gives the tree, and all independent errors in order of place.
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

/// The names of the files that a text imports. Errors in it are left to `parse`.
pub fn imports(text: &str) -> Vec<Name> {
    Parser::new(text, lexer::lex(0, text).tokens).imports()
}

/// Parses the calls of factories behind a BY, without the rest of the statement. Without options, `()` may be left out.
pub fn factories(file: u32, text: &str) -> (Vec<ast::Call>, Vec<Diagnostic>) {
    let lexed = lexer::lex(file, text);
    let mut parser = Parser::new(text, lexed.tokens);
    let calls = parser.factories_alone().unwrap_or_default();
    let mut diagnostics = lexed.diagnostics;
    diagnostics.append(&mut parser.diagnostics);
    (calls, diagnostics)
}
