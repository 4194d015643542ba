//! Variables and arrays with Rust's types, and their values in a [`VarTable`].

use alloc::vec::Vec;
use core::marker::PhantomData;

use drystone_component::Type;

use crate::composite::program::Refusal;
use crate::composite::table::VarTable;
use crate::composite::value::{Text, Value};

/// A type of variables.
pub trait Typed: Sized + Clone {
    /// What it is in programs.
    const TYPE: Type;
    /// As a value of a program.
    fn value(self) -> Value;
    /// Of a value of a program, if that has this type.
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
    pub(super) number: u32,
    ty: PhantomData<T>,
}

/// An array of variables.
#[derive(Debug)]
pub struct Array<T> {
    pub(super) number: u32,
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
            pub(super) fn new(number: u32) -> Self {
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

impl VarTable {
    /// Assigns a value to a variable of a builder.
    pub fn assign<T: Typed>(&mut self, variable: Var<T>, value: T) -> Result<(), Refusal> {
        self.set(variable.number, 0, value.value())
    }

    /// Assigns a value to an element of an array of a builder.
    pub fn assign_element<T: Typed>(&mut self, array: Array<T>, index: u32, value: T) -> Result<(), Refusal> {
        self.set(array.number, index, value.value())
    }

    /// The values of an array of a builder.
    pub fn values<T: Typed>(&self, array: Array<T>) -> Vec<T> {
        (0..).map_while(|index| self.get(array.number, index).and_then(T::of)).collect()
    }

    /// The value of a variable of a builder; none if the variable is another program's.
    pub fn value<T: Typed>(&self, variable: Var<T>) -> Option<T> {
        self.get(variable.number, 0).and_then(T::of)
    }
}
