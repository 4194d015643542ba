//! A value of a message, between the runtime and a foreign format.

use std::borrow::Cow;

use drystone_component::{Interface, Message, Parameter, Type};
use drystone_runtime::native::{Value, Values};

/// A value; texts are borrowed where they can be.
#[derive(Clone, Debug, PartialEq)]
pub enum Datum<'a> {
    /// `BOOLEAN`
    Boolean(bool),
    /// `CHARACTER`
    Character(u8),
    /// `INTEGER`
    Integer(i64),
    /// `REAL`
    Real(f64),
    /// `TEXT`
    Text(Cow<'a, [u8]>),
}

impl Datum<'_> {
    /// The same value, as the runtime takes it.
    pub fn value(&self) -> Value<'_> {
        match self {
            Datum::Boolean(x) => Value::Byte(u8::from(*x)),
            Datum::Character(x) => Value::Byte(*x),
            Datum::Integer(x) => Value::Integer(*x),
            Datum::Real(x) => Value::Real(*x),
            Datum::Text(x) => Value::Text(x),
        }
    }

    /// The same value, which borrows nothing.
    pub fn into_owned(self) -> Datum<'static> {
        match self {
            Datum::Boolean(x) => Datum::Boolean(x),
            Datum::Character(x) => Datum::Character(x),
            Datum::Integer(x) => Datum::Integer(x),
            Datum::Real(x) => Datum::Real(x),
            Datum::Text(x) => Datum::Text(Cow::Owned(x.into_owned())),
        }
    }
}

/// The values of a message that the program sends.
///
/// # Panics
/// A parameter is a component or a sequence: the interface was not checked by [`only_data`].
pub fn data<'a>(parameters: &'a [Parameter], values: Values<'a>) -> impl Iterator<Item = Datum<'a>> {
    parameters.iter().enumerate().map(move |(index, parameter)| match parameter.ty {
        Type::Boolean => Datum::Boolean(values.byte(index) != 0),
        Type::Character => Datum::Character(values.byte(index)),
        Type::Integer => Datum::Integer(values.integer(index)),
        Type::Real => Datum::Real(values.real(index)),
        Type::Text => Datum::Text(Cow::Borrowed(values.text(index))),
        Type::Component | Type::Sequence => {
            unreachable!("messages with such values are refused when a binding is made")
        }
    })
}

/// Components and sequences can't leave the program in a foreign format.
///
/// # Errors
/// A sentence names a message of the interface that carries one.
pub fn only_data(interface: &Interface) -> Result<(), String> {
    let kept = |message: &Message| Some((message.name.get(), message.kept()?));
    match interface.messages.get().iter().find_map(kept) {
        None => Ok(()),
        Some((message, what)) => {
            let interface = interface.name.get();
            Err(format!("{message} of {interface} carries {what}, which can't leave the program this way"))
        }
    }
}
