//! Values of variables.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Deref;

use drystone_component::Type;

/// A value of a variable. REALs are compared by their bits, so that NaN equals itself.
#[derive(Clone, Debug)]
pub enum Value {
    /// BOOLEAN
    Boolean(bool),
    /// CHARACTER
    Character(u8),
    /// INTEGER
    Integer(i64),
    /// REAL
    Real(f64),
    /// TEXT
    Text(Text),
}

impl Value {
    /// Its type.
    pub fn ty(&self) -> Type {
        match self {
            Value::Boolean(_) => Type::Boolean,
            Value::Character(_) => Type::Character,
            Value::Integer(_) => Type::Integer,
            Value::Real(_) => Type::Real,
            Value::Text(_) => Type::Text,
        }
    }

    /// The initial value of a variable of this type. There are no values of components.
    pub fn initial(ty: Type) -> Value {
        if ty == Type::Text { Value::Text(Text::default()) } else { Value::of_word(ty, 0) }
    }

    /// The word that represents it; 0 for a TEXT.
    pub(super) fn word(&self) -> u64 {
        match self {
            Value::Boolean(it) => u64::from(*it),
            Value::Character(it) => u64::from(*it),
            Value::Integer(it) => *it as u64,
            Value::Real(it) => it.to_bits(),
            Value::Text(_) => 0,
        }
    }

    /// The value that a word represents. Programs can write any word, so every word represents a value.
    pub(super) fn of_word(ty: Type, word: u64) -> Value {
        match ty {
            Type::Boolean => Value::Boolean(word != 0),
            Type::Character => Value::Character(word as u8),
            Type::Real => Value::Real(f64::from_bits(word)),
            _ => Value::Integer(word as i64),
        }
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Text(a), Value::Text(b)) => a == b,
            _ => self.ty() == other.ty() && self.word() == other.word(),
        }
    }
}

macro_rules! from {
    ($($type:ty => $kind:ident($make:expr)),* $(,)?) => { $(
        impl From<$type> for Value {
            fn from(value: $type) -> Value {
                Value::$kind(($make)(value))
            }
        }
    )* };
}

from! {
    bool => Boolean(|it| it), u8 => Character(|it| it), i64 => Integer(|it| it), f64 => Real(|it| it),
    &str => Text(|it: &str| Text::from(it.as_bytes())), &[u8] => Text(Text::from), Vec<u8> => Text(Text::from),
    Text => Text(|it| it),
}

/// A byte string. Copies share it until one is changed.
#[derive(Clone, Debug, Default)]
pub struct Text(Option<Arc<Vec<u8>>>);

impl Text {
    /// Appends bytes. Bytes that aren't shared aren't copied.
    pub(super) fn joined(mut self, more: &[u8]) -> Text {
        match self.0.as_mut().and_then(Arc::get_mut) {
            Some(bytes) => bytes.extend_from_slice(more),
            None if more.is_empty() => {}
            None => self = [&*self, more].concat().into(),
        }
        self
    }

    /// Whether its bytes are shared, so that a change copies them first.
    pub(super) fn is_shared(&self) -> bool {
        self.0.as_ref().is_some_and(|bytes| Arc::strong_count(bytes) > 1)
    }

    /// Its bytes, to be changed: not shared from now on.
    pub(super) fn bytes_mut(&mut self) -> &mut Vec<u8> {
        Arc::make_mut(self.0.get_or_insert_default())
    }
}

impl Deref for Text {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.0.as_ref().map_or(&[], |bytes| bytes)
    }
}

impl From<Vec<u8>> for Text {
    fn from(bytes: Vec<u8>) -> Text {
        Text((!bytes.is_empty()).then(|| Arc::new(bytes)))
    }
}

impl From<&[u8]> for Text {
    fn from(bytes: &[u8]) -> Text {
        Text::from(bytes.to_vec())
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Text) -> bool {
        **self == **other
    }
}

impl Eq for Text {}
