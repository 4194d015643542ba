//! Programs that are ready to run: checked, and, if they are bytecode, verified and perhaps compiled.
//!
//! `unsafe` here: engines run verified programs, for which the contract holds: [`helpers`] has both the contract and
//! the functions; own memory has the size of the layout. A [`super::Run`] begins with the contract's arguments, and is
//! only resumed with the program that stopped in it, by an engine with the same guards.

use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;

use super::check::Limits;
use super::helpers;
use super::host::{Calls, Host};
use super::program::{Code, Program, Refusal};
use super::services::Services;
use super::table::Layout;
use crate::bytecode;
use crate::engine::{Executable, Platform};
use crate::verifier::verify;
use crate::{DEPTH, Verified};

/// The engine that runs a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Executor {
    /// The tree is interpreted as it is.
    Tree,
    /// Bytecode is interpreted; a tree is compiled to it first.
    Interpreter,
    /// Bytecode is compiled to machine code; interpreted where there is no compiler. The number should be
    /// unpredictable: the program's constants are blinded with it.
    Jit(u64),
}

/// A program that is ready to run with one type of services, any number of times, also concurrently.
pub struct Prepared<S> {
    program: Program,
    pub(super) layout: Arc<Layout>,
    pub(super) calls: Arc<Calls>,
    pub(super) body: Body<S>,
    bytes: usize,
}

pub(super) enum Body<S> {
    Tree,
    Bytecode(Arc<Verified>, Engine<S>),
}

type Engine<S> = Executable<Host<S>>;

impl<S: Services> Prepared<S> {
    /// Decodes a program from untrusted bytes, and prepares it to be interpreted.
    pub fn of(bytes: &[u8], limits: &Limits) -> Result<Prepared<S>, Refusal> {
        Prepared::new(Program::decode(bytes, limits)?, limits, Executor::Interpreter)
    }

    /// Prepares an untrusted program, or says in a sentence why it is refused. This doesn't check it against the
    /// interfaces of its servers: see [`Program::check_interfaces`].
    pub fn new(program: Program, limits: &Limits, by: Executor) -> Result<Prepared<S>, Refusal> {
        program.check(limits)?;
        let program = match (&program.code, by) {
            (Code::Tree(_), Executor::Interpreter | Executor::Jit(_)) => program.compile(limits)?,
            _ => program,
        };
        let layout = Layout::of(&program).ok_or("its variables take more memory than there is")?;
        let layout = Arc::new(layout);
        let calls = Arc::new(Calls::new(&program.calls, layout.clone()));
        let body = match &program.code {
            Code::Tree(_) => Body::Tree,
            Code::Bytecode(slots) => {
                let code = bytecode::Program::decode(slots).map_err(|error| Refusal(error.what))?;
                let contract = helpers::contract(&layout, program.calls.len());
                let verified = verify(code, &contract).map_err(|rejection| format!("{rejection}"))?;
                let engine = engine(&verified, &layout, by)?;
                Body::Bytecode(Arc::new(verified), engine)
            }
        };
        let bytes = bytes(&program, &body);
        Ok(Prepared { program, layout, calls, body, bytes })
    }

    /// The same program for another engine; `None` for a tree. Runs can be moved from one engine to the other
    /// ([`super::Run::go_on_with`]).
    pub fn with(&self, by: Executor) -> Result<Option<Prepared<S>>, Refusal> {
        let Body::Bytecode(verified, _) = &self.body else { return Ok(None) };
        let body = Body::Bytecode(verified.clone(), engine(verified, &self.layout, by)?);
        let (program, layout, calls) = (self.program.clone(), self.layout.clone(), self.calls.clone());
        let bytes = bytes(&program, &body);
        Ok(Some(Prepared { program, layout, calls, body, bytes }))
    }
}

impl<S> Prepared<S> {
    /// The program as it runs: as bytecode, if a tree was compiled.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Whether bytecode is interpreted.
    pub(super) fn is_interpreted(&self) -> bool {
        matches!(&self.body, Body::Bytecode(_, engine) if engine.is_interpreted())
    }

    /// Bytes of memory that it takes, approximately.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Instructions between one round and the next, at most, approximately. A tree can't do more in a round than is
    /// written in it.
    pub(super) fn round(&self) -> u64 {
        match &self.body {
            Body::Tree => 1,
            Body::Bytecode(verified, _) => {
                // Loops and calls may add so many instructions each, in each function under way.
                let calls = |it| {
                    matches!(
                        it,
                        bytecode::Instruction::CallLocal { .. } | bytecode::Instruction::CallRegister { .. }
                    )
                };
                let depth =
                    if verified.program().instructions().any(|(_, it)| calls(it)) { DEPTH } else { 1 };
                depth as u64 * (verified.program().slots() as u64 + 2 * helpers::PATIENCE)
            }
        }
    }

    /// Where its variables are, for a [`super::VarTable`].
    pub fn layout(&self) -> &Arc<Layout> {
        &self.layout
    }
}

fn engine<S: Services>(verified: &Verified, layout: &Layout, by: Executor) -> Result<Engine<S>, String> {
    let helpers = helpers::table::<S>();
    let platform = Platform { helpers: &helpers, values: &[], memory: layout.memory() };
    let key = match by {
        Executor::Jit(key) => Some(key),
        Executor::Interpreter | Executor::Tree => None,
    };
    // SAFETY: the contract holds: see the head of this file.
    unsafe { Executable::new(verified, platform, key) }
}

/// Bytes of memory that a program takes, approximately: decoded, and prepared for its engine.
fn bytes<S>(program: &Program, body: &Body<S>) -> usize {
    let Program { communications, variables, calls, code } = program;
    let arguments: usize = calls.iter().map(|call| size_of_val(call.arguments())).sum();
    // Calls are kept twice, the second time with the places of their values.
    let shared = size_of_val(&**communications) + 2 * size_of_val(&**variables) + 3 * size_of_val(&**calls);
    let code = match (code, body) {
        (Code::Bytecode(slots), Body::Bytecode(verified, engine)) => {
            size_of_val(&**slots) + verified.bytes() + engine.bytes()
        }
        // Trees are interpreted only on demand.
        _ => 0,
    };
    shared + 4 * arguments + code
}
