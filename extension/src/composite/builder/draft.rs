//! The builder: a program that is being written.

use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::RefCell;

use super::variables::{Array, Typed, Var};
use crate::composite::check::Limits;
use crate::composite::program::{Code, Program, Refusal, Travels};
use crate::composite::tree::Command;
use crate::composite::value::Value;

/// A program that is being written. Makes its variables and communications (in *composite calls*, VarTable does).
#[derive(Clone, Debug, Default)]
pub struct Builder(Rc<RefCell<Draft>>);

#[derive(Debug, Default)]
struct Draft {
    program: Option<Program>,
    /// The first thing that is wrong.
    error: Option<String>,
}

impl Draft {
    fn program(&mut self) -> &mut Program {
        self.program.get_or_insert_with(|| Program {
            communications: Vec::new(),
            variables: Vec::new(),
            calls: Vec::new(),
            code: Code::Tree(Command::Sequence(Vec::new())),
        })
    }
}

impl Builder {
    /// A builder of an empty program.
    pub fn new() -> Builder {
        Builder::default()
    }

    /// Extends a program: the commands given to [`Builder::program`] run after its own.
    pub fn extending(program: Program) -> Builder {
        let builder = Builder::new();
        builder.0.borrow_mut().program = Some(program);
        builder
    }

    /// Changes the program.
    pub(super) fn with<T>(&self, change: impl FnOnce(&mut Program) -> T) -> T {
        change(self.0.borrow_mut().program())
    }

    fn variable<T: Typed>(&self, length: Option<u32>, travels: Travels) -> u32 {
        self.with(|program| program.add_variable(T::TYPE, length, travels))
    }

    /// A variable whose value goes to the server.
    pub fn input<T: Typed>(&self) -> Var<T> {
        Var::new(self.variable::<T>(None, Travels::In))
    }

    /// A variable whose value comes back.
    pub fn out<T: Typed>(&self) -> Var<T> {
        Var::new(self.variable::<T>(None, Travels::Out))
    }

    /// A variable whose value goes to the server and comes back.
    pub fn both<T: Typed>(&self) -> Var<T> {
        Var::new(self.variable::<T>(None, Travels::Both))
    }

    /// A variable for the program alone.
    pub fn local<T: Typed>(&self) -> Var<T> {
        Var::new(self.variable::<T>(None, Travels::Not(Value::initial(T::TYPE))))
    }

    /// A variable for the program alone, with this initial value.
    pub fn constant<T: Typed>(&self, value: T) -> Var<T> {
        Var::new(self.variable::<T>(None, Travels::Not(value.value())))
    }

    /// An array whose values go to the server.
    pub fn inputs<T: Typed>(&self, length: u32) -> Array<T> {
        Array::new(self.variable::<T>(Some(length), Travels::In))
    }

    /// An array whose values come back.
    pub fn outs<T: Typed>(&self, length: u32) -> Array<T> {
        Array::new(self.variable::<T>(Some(length), Travels::Out))
    }

    /// An array for the program alone.
    pub fn locals<T: Typed>(&self, length: u32) -> Array<T> {
        Array::new(self.variable::<T>(Some(length), Travels::Not(Value::initial(T::TYPE))))
    }

    /// The program that runs this command. The builder is empty afterwards.
    ///
    /// # Errors
    /// The first thing that doesn't fit: a message, its types, or a limit of programs.
    pub fn program(&self, command: Command) -> Result<Program, Refusal> {
        let Draft { program, error } = self.0.take();
        let mut draft = Draft { program, error };
        let mut program = draft.program().clone();
        if let Some(error) = draft.error {
            return Err(error.into());
        }
        program.add_command(command)?;
        program.check(&Limits::default())?;
        Ok(program)
    }

    /// Keeps the error, if it is the first.
    pub(super) fn report(&self, line: u32, what: String) {
        self.0.borrow_mut().error.get_or_insert(format!("line {line}: {what}"));
    }
}
