//! Writes programs in Rust, as the paper's Figure 3 does in C++:
//!
//! ```
//! # use drystone_extension::composite::{Refusal, builder::*};
//! # use drystone_component::wire::Description;
//! # fn copy(description: &Description) -> Result<drystone_extension::composite::Program, Refusal> {
//! let vars = Builder::new();
//! let (source, target) = (vars.communication(description), vars.communication(description));
//! let (buf, copied) = (vars.local::<Text>(), vars.out::<i64>());
//! vars.program(sequence([
//!     source.call("Read", (100,), "Data", (buf,)),
//!     while_(buf.length().gt(0), sequence([
//!         target.call("Write", (buf,), "Written", ()),
//!         copied.set(copied + buf.length()),
//!         source.call("Read", (100,), "Data", (buf,)),
//!     ])),
//! ]))
//! # }
//! ```
//!
//! Variables and expressions have Rust's types: `bool`, `u8` (CHARACTER), `i64`, `f64`, [`Text`]; so what doesn't fit
//! doesn't compile. Messages are found by name, and what doesn't fit them is said when the program is taken
//! ([`Builder::program`]). Errors of the program's name the line of Rust where it was written.

mod calls;
mod commands;
mod expressions;

use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::RefCell;
use core::marker::PhantomData;
use core::panic::Location;

use drystone_component::wire::Description;
use drystone_component::{Protocol, Type};

pub use self::calls::{Communication, Given, Gives, Place, Takes};
pub use self::commands::{
    abort_on_error, assert_, do_not_abort_on_error, for_, if_, if_else, repeat, repeat_until, sequence, stop,
    strided, while_,
};
pub use self::expressions::{Element, Expr, failed, text};
use super::check::Limits;
use super::program::{Code, Program, Refusal, Travels};
use super::table::VarTable;
use super::tree::Command;
pub use super::value::Text;
use super::value::Value;

/// A type of variables.
pub trait Typed: Sized + Clone {
    /// What it is in programs.
    const TYPE: Type;
    /// Its value.
    fn value(self) -> Value;
    /// The value, if it is of this type.
    fn of(value: Value) -> Option<Self>;
}

macro_rules! typed {
    ($($type:ty: $kind:ident,)*) => { $(
        impl Typed for $type {
            const TYPE: Type = Type::$kind;

            fn value(self) -> Value {
                Value::$kind(self)
            }

            fn of(value: Value) -> Option<Self> {
                if let Value::$kind(value) = value { Some(value) } else { None }
            }
        }
    )* };
}

typed! { bool: Boolean, u8: Character, i64: Integer, f64: Real, Text: Text, }

/// A variable.
#[derive(Debug)]
pub struct Var<T> {
    number: u32,
    ty: PhantomData<T>,
}

/// An array of variables.
#[derive(Debug)]
pub struct Array<T> {
    number: u32,
    ty: PhantomData<T>,
}

macro_rules! copies {
    ($($name:ident),*) => { $(
        impl<T> Clone for $name<T> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<T> Copy for $name<T> {}

        impl<T> $name<T> {
            fn new(number: u32) -> Self {
                $name { number, ty: PhantomData }
            }

            /// Its number in the program.
            pub fn number(self) -> u32 {
                self.number
            }
        }
    )* };
}

copies!(Var, Array);

/// A program that is being written: its variables and communications are had from here. (The paper has a VarTable for
/// that.)
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
    /// Nothing yet.
    pub fn new() -> Builder {
        Builder::default()
    }

    /// Goes on with a program that somebody else began: what is written then is done behind what it does.
    pub fn extending(program: Program) -> Builder {
        let builder = Builder::new();
        builder.0.borrow_mut().program = Some(program);
        builder
    }

    fn variable<T: Typed>(&self, length: Option<u32>, travels: Travels) -> u32 {
        self.0.borrow_mut().program().add_variable(T::TYPE, length, travels)
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

    /// The same with another value in the beginning.
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

    /// A communication of a server's interface.
    pub fn communication(&self, interface: &Description) -> Communication {
        let number = self.0.borrow_mut().program().add_communication(interface.fingerprint());
        Communication { builder: self.clone(), number, interface: Rc::new(interface.clone()) }
    }

    /// The program that does this. It fails in a sentence if something in it doesn't fit; the builder begins anew.
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

    fn is_wrong(&self, line: u32, what: String) {
        self.0.borrow_mut().error.get_or_insert(format!("line {line}: {what}"));
    }
}

impl VarTable {
    /// Gives a variable of a builder's another value.
    pub fn assign<T: Typed>(&mut self, variable: Var<T>, value: T) -> Result<(), Refusal> {
        self.set(variable.number, 0, value.value())
    }

    /// Gives an element of an array of a builder's another value.
    pub fn assign_element<T: Typed>(&mut self, array: Array<T>, index: u32, value: T) -> Result<(), Refusal> {
        self.set(array.number, index, value.value())
    }

    /// The values of an array of a builder's.
    pub fn values<T: Typed>(&self, array: Array<T>) -> Vec<T> {
        (0..).map_while(|index| self.get(array.number, index).and_then(T::of)).collect()
    }

    /// The value of a variable of a builder's; none if it is another program's.
    pub fn value<T: Typed>(&self, variable: Var<T>) -> Option<T> {
        self.get(variable.number, 0).and_then(T::of)
    }
}

#[track_caller]
fn line() -> u32 {
    Location::caller().line()
}
