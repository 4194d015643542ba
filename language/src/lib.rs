//! The component language: from source text to a checked program.
//!
//! Text goes through `lexer` and `parser` (which always give a tree and its errors), then `check` resolves
//! names and types, compiles protocols to automata, checks them statically and refuses races. What comes out
//! is `program`: everything resolved, nothing left to look up. This room knows nothing about code generation,
//! processes or operating systems.

pub mod accesses;
pub mod ast;
pub mod automaton;
pub mod check;
pub mod conformance;
pub mod format;
pub mod handlers;
mod identity;
pub mod imports;
pub mod lexer;
pub mod parser;
pub mod program;
pub mod races;
pub mod render;
pub mod source;
