//! A program that is ready to run: checked, and verified and compiled where it is bytecode.
//!
//! `unsafe` here: engines are made of what the verifier accepted. That is sound because they run as it was told:
//! helpers are those of the contract's own table ([`helpers`]), which give what it says; own memory has the size that
//! it says; and a [`super::Run`] begins with the arguments that it says and is resumed with the program that stopped in
//! it, by an engine made of the same guards.

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

/// What runs a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Executor {
    /// The tree is interpreted as it is.
    Tree,
    /// Bytecode is interpreted; a tree is compiled to it first.
    Interpreter,
    /// Bytecode is compiled to the machine's code. The number should be one that nobody can guess: constants of the
    /// program are mixed with what follows from it. Where there is no such compiler, it is interpreted.
    Jit(u64),
}

/// A program that is ready to run with services of one kind: any number of times, also at once.
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
    /// Prepares the program that these bytes encode, which may be any, to be interpreted.
    pub fn of(bytes: &[u8], limits: &Limits) -> Result<Prepared<S>, Refusal> {
        Prepared::new(Program::decode(bytes, limits)?, limits, Executor::Interpreter)
    }

    /// Prepares a program, whoever sent it. It is refused in a sentence. Whether it fits the interfaces of what it will
    /// talk to is another question: see [`Program::check_interfaces`].
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

    /// The same program for another engine. Its runs may be handed from one to the other ([`super::Run::go_on_with`]).
    /// None for a tree.
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

    /// Bytes of memory that it takes, about.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Instructions that may be between one round and the next, about. Trees can't do more in a round than is written
    /// in them.
    pub(super) fn round(&self) -> u64 {
        match &self.body {
            Body::Tree => 1,
            Body::Bytecode(verified, _) => {
                // Loops may add that, and calls; and each function that is under way may do as much.
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
    // SAFETY: see the module.
    unsafe { Executable::new(verified, platform, key) }
}

/// Bytes of memory that a program takes, about: of what it was decoded to, and of what runs it.
fn bytes<S>(program: &Program, body: &Body<S>) -> usize {
    let Program { communications, variables, calls, code } = program;
    let arguments: usize = calls.iter().map(|call| size_of_val(call.arguments())).sum();
    // Calls are there once more, with where their values are.
    let shared = size_of_val(&**communications) + 2 * size_of_val(&**variables) + 3 * size_of_val(&**calls);
    let code = match (code, body) {
        (Code::Bytecode(slots), Body::Bytecode(verified, engine)) => {
            size_of_val(&**slots) + verified.bytes() + engine.bytes()
        }
        // Only who asks for it keeps a tree as it is.
        _ => 0,
    };
    shared + 4 * arguments + code
}
