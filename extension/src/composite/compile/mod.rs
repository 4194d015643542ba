//! Compiles trees to bytecode: programs that are shipped ([`Program::compile`]), and services that answer datagrams as
//! handlers ([`Program::respond`]).
//!
//! * [`compiler`]: where variables, values and failures are kept while code is made.
//! * [`commands`], [`conditions`], [`words`], [`texts`]: the code of each kind of node.
//! * [`conversation`], [`responder`]: what only handlers need.
//! * [`assembler`]: instructions with labels.

mod assembler;
mod commands;
mod compiler;
mod conditions;
mod conversation;
mod responder;
mod responding;
mod texts;
mod words;

use self::compiler::Compiler;
pub use self::responder::Responder;
pub use self::responding::shared;
use super::check::Limits;
use super::program::{Code, Program, Refusal};

impl Program {
    /// The same program as bytecode (`compile` in *composite calls*). Compiling adds variables behind its own.
    pub fn compile(&self, limits: &Limits) -> Result<Program, Refusal> {
        self.check(limits)?;
        let Code::Tree(tree) = &self.code else { return Ok(self.clone()) };
        let mut compiler = Compiler::new(self)?;
        compiler.program(tree);
        let Compiler { assembler, variables, .. } = compiler;
        let code = Code::Bytecode(assembler.finish());
        let program = Program {
            communications: self.communications.clone(),
            variables,
            calls: self.calls.clone(),
            code,
        };
        program.check(limits)?;
        Ok(program)
    }
}
