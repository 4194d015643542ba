//! Writes [`crate::ir`] as readable C: C11 with extensions that gcc and clang share (byte arithmetic on `void *`,
//! `__builtin_` functions, `__int128`).
//!
//! Memory is accessed by small inline functions around `memcpy`, which both compilers inline and vectorise: no access
//! depends on types or alignment. Integers are unsigned, so that arithmetic wraps as in the IR.
//!
//! Vectors are refused, like everything unknown; a [`Refusal`] names the reason. Three things are not preserved: floats
//! in structures that the IR passes as vectors; the place of structures of at most 16 bytes that the IR passes by
//! address (`byval`) once the registers are used up; how `long double` is passed.

mod address;
mod calls;
mod declare;
mod emit;
mod expression;
mod fold;
mod function;
mod globals;
mod intrinsics;
mod kinds;
mod library;
mod names;
mod polish;
mod statement;
mod structure;
mod symbols;
mod types;
mod variables;

use std::fmt;

use self::names::Names;
use self::symbols::Symbols;
use self::types::Prelude;
use crate::ir::{Binary, Code, FunctionId, Module, Op};

/// Why a module can't be written as C.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// The function or global variable that can't be written; empty if the whole module can't.
    pub name: String,
    /// The construct that can't be written.
    pub what: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.name.as_str() {
            "" => write!(f, "the module cannot be written as C: {}", self.what),
            name => write!(f, "`{name}` cannot be written as C, because of {}", self.what),
        }
    }
}

impl std::error::Error for Refusal {}

impl From<(String, String)> for Refusal {
    fn from((name, what): (String, String)) -> Refusal {
        Refusal { name, what }
    }
}

/// The functions visible from outside a module, and everything that they need, as the text of a C file.
pub fn print(module: &Module) -> Result<String, Refusal> {
    let mut names = Names::new();
    let symbols = Symbols::of(module, &mut names).map_err(|what| Refusal { name: String::new(), what })?;
    let mut prelude = Prelude::default();
    let mut functions = String::new();
    let mut multiplies = Contraction::CannotHappen;
    for &at in &symbols.needed_functions {
        let id = FunctionId(at);
        let function = &module.functions[at as usize];
        if matches!(function.code, Code::Declared) {
            continue;
        }
        let refusal = |what: String| Refusal { name: function.name.to_string(), what };
        let Some(body) = module.body(id).map_err(|unsupported| refusal(unsupported.to_string()))? else {
            continue;
        };
        let mut operations = body.blocks.iter().flat_map(|block| &block.instructions).map(|one| &one.op);
        if operations.any(|op| matches!(op, Op::Binary(Binary::FMul, ..))) {
            multiplies = Contraction::MustNotHappen;
        }
        functions.push('\n');
        let text =
            function::write(module, function, &body, &symbols, &names, &mut prelude).map_err(refusal)?;
        functions.push_str(&text);
    }
    let declarations = calls::declarations(module, &symbols, &mut prelude)?;
    let globals = globals::globals(module, &symbols, &mut prelude)?;
    Ok(assemble(&prelude, [&declarations, &globals, &functions], multiplies))
}

/// Whether a compiler could contract a multiplication and an addition of floats, which rounds differently from the IR.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Contraction {
    CannotHappen,
    MustNotHappen,
}

fn assemble(prelude: &Prelude, parts: [&str; 3], contraction: Contraction) -> String {
    let mut text = String::from("#include <stdbool.h>\n#include <stdint.h>\n#include <string.h>\n");
    let rest = [&prelude.text(), parts[0], parts[1], parts[2]].map(str::to_string);
    if contraction == Contraction::MustNotHappen {
        text.push_str(
            "\n/* Each operation of floats rounds by itself. */\n#if defined __clang__\n#pragma STDC FP_CONTRACT OFF\n\
             #else\n#pragma GCC optimize (\"fp-contract=off\")\n#endif\n",
        );
    }
    if parts[0].contains("printf(") {
        text.push_str("\n/* Pointers have no types here that formats could be compared with. */\n");
        text.push_str("#pragma GCC diagnostic ignored \"-Wformat\"\n");
    }
    let mentions = |name: &str| rest.iter().any(|part| part.contains(name));
    for (name, ty) in [("u128", "unsigned __int128"), ("i128", "__int128")] {
        if mentions(name) {
            text.push_str(&format!("\ntypedef {ty} {name};\n"));
        }
    }
    for part in rest {
        let part = part.trim_end();
        if !part.is_empty() {
            text.push('\n');
            text.push_str(part.trim_start_matches('\n'));
            text.push('\n');
        }
    }
    text
}
