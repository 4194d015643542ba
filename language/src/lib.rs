//! The component language: from source text to a checked program.
//!
//! `lexer` and `parser` always give a syntax tree (`ast`) and its errors. `check` resolves names and types, and
//! compiles protocols to automata (`automaton`). The analyses `conformance` (of protocols), `races` and `handlers`
//! refuse what can't go well. The result is a [`program::Program`], in which every name is resolved. Editors use
//! `format`, which lays out source text, and `render`, which shows diagnostics.
//!
//! This crate knows nothing of code generation, processes or operating systems.

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
mod stops;
