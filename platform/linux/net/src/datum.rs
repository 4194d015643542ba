//! A value of a message, between the runtime and a foreign format.

use std::borrow::Cow;

use drystone_component::{Interface, Parameter, Type};
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
    /// A sequence, as XDR: the number of its elements, then these.
    Sequence(Cow<'a, [u8]>),
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
            Datum::Sequence(x) => Value::Sequence(x),
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
            Datum::Sequence(x) => Datum::Sequence(Cow::Owned(x.into_owned())),
        }
    }
}

/// The values of a message that the program sends.
///
/// # Panics
/// A parameter is a component: the interface was not checked by [`no_components`].
pub fn data<'a>(parameters: &'a [Parameter], values: Values<'a>) -> impl Iterator<Item = Datum<'a>> {
    parameters.iter().enumerate().map(move |(index, parameter)| match parameter.ty {
        Type::Boolean => Datum::Boolean(values.byte(index) != 0),
        Type::Character => Datum::Character(values.byte(index)),
        Type::Integer => Datum::Integer(values.integer(index)),
        Type::Real => Datum::Real(values.real(index)),
        Type::Text => Datum::Text(Cow::Borrowed(values.text(index))),
        // No sequence of 4 GB is in a message that could be sent.
        Type::Sequence => Datum::Sequence(Cow::Owned(values.sequence(index).unwrap_or_default())),
        Type::Component => unreachable!("messages with components are refused when a binding is made"),
    })
}

/// Components can't leave the program in a foreign format.
///
/// # Errors
/// A sentence names a message of the interface that carries one.
pub fn no_components(interface: &Interface) -> Result<(), String> {
    match interface.messages.get().iter().find(|message| message.has_component()) {
        None => Ok(()),
        Some(message) => {
            let (message, interface) = (message.name.get(), interface.name.get());
            Err(format!(
                "{message} of {interface} carries a component, which can't leave the program this way"
            ))
        }
    }
}
