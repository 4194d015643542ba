//! Reads messages from JSON. Each value is read as what it has to be, so that errors have a place.

use std::borrow::Cow;
use std::fmt;

use data_encoding::BASE64;
use drystone_component::form::Form;
use drystone_component::{Interface, Member, Parameter, Side, Type, members};
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Unexpected, Visitor};

use drystone_net::datum::Datum;

use super::sequences::Element;

/// The member of an object that stands for a TEXT that is not UTF-8.
const BYTES: &str = "base64";

/// REALs for which JSON has no numbers.
pub(super) const UNUSUAL: [(&str, f64); 3] =
    [("NaN", f64::NAN), ("Infinity", f64::INFINITY), ("-Infinity", f64::NEG_INFINITY)];

/// Whole numbers below this are exact as REALs.
const EXACT: f64 = (1_u64 << 53) as f64;

/// A message by its name.
pub(super) struct Named {
    pub(super) interface: &'static Interface,
    pub(super) sender: Side,
}

impl<'de> DeserializeSeed<'de> for Named {
    type Value = (usize, Vec<Datum<'de>>);

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Named {
    type Value = (usize, Vec<Datum<'de>>);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with one member, which is a message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let name = map.next_key_seed(Key)?.ok_or_else(|| A::Error::invalid_length(0, &self))?;
        let messages = self.interface.messages.get();
        let number =
            messages.iter().position(|message| message.sender == self.sender && message.name.get() == name);
        let Some(number) = number else {
            return Err(A::Error::custom(format_args!(
                "{} has no message {name}",
                self.interface.name.get()
            )));
        };
        let values =
            map.next_value_seed(Values { parameters: messages[number].parameters.get(), within: 0 })?;
        match map.next_key_seed(Key)? {
            None => Ok((number, values)),
            Some(_) => Err(A::Error::invalid_length(2, &self)),
        }
    }
}

/// A member's name, or a string.
pub(super) struct Key;

impl<'de> DeserializeSeed<'de> for Key {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Key {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.into()))
    }
}

/// The values of these parameters, or of a record in them, whose names go on at byte `within`.
pub(super) struct Values {
    pub(super) parameters: &'static [Parameter],
    pub(super) within: usize,
}

impl<'de> DeserializeSeed<'de> for Values {
    type Value = Vec<Datum<'de>>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Values {
    type Value = Vec<Datum<'de>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.parameters.first() {
            Some(first) if self.within > 0 => {
                write!(f, "an object for the record {}", &first.name.get()[..self.within - 1])
            }
            _ => f.write_str("an object with the message's parameters"),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let Values { parameters, within } = self;
        let mut values: Vec<Option<Datum<'de>>> = parameters.iter().map(|_| None).collect();
        while let Some(name) = map.next_key_seed(Key)? {
            let (mut at, mut found) = (0, None);
            for member in members(parameters, within) {
                let (Member::Value(known, _) | Member::Record(known, _)) = member;
                if known == name {
                    found = Some(member);
                    break;
                }
                at += if let Member::Record(_, fields) = member { fields.len() } else { 1 };
            }
            let Some(member) = found else {
                let what = if within > 0 { "field" } else { "parameter" };
                return Err(A::Error::custom(format_args!("there is no {what} {name}")));
            };
            if values[at].is_some() {
                return Err(A::Error::custom(format_args!("{name} is there twice")));
            }
            match member {
                Member::Value(..) => values[at] = Some(map.next_value_seed(OneOf(&parameters[at]))?),
                Member::Record(name, fields) => {
                    let parameters = &parameters[at..at + fields.len()];
                    let fields = Values { parameters, within: within + name.len() + 1 };
                    let read = map.next_value_seed(fields)?;
                    values[at..].iter_mut().zip(read).for_each(|(value, read)| *value = Some(read));
                }
            }
        }
        let missing =
            |parameter: &Parameter| A::Error::custom(format_args!("{} is missing", parameter.name.get()));
        values
            .into_iter()
            .zip(parameters)
            .map(|(value, parameter)| value.ok_or_else(|| missing(parameter)))
            .collect()
    }
}

/// One parameter's value.
pub(super) struct OneOf(pub(super) &'static Parameter);

impl<'de> DeserializeSeed<'de> for OneOf {
    type Value = Datum<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        let (name, ty) = (self.0.name.get(), self.0.ty);
        if ty != Type::Sequence {
            return One { name, ty }.deserialize(deserializer);
        }
        let form = Form::new(self.0.form.get());
        Element { name, form }.deserialize(deserializer).map(|bytes| Datum::Sequence(Cow::Owned(bytes)))
    }
}

/// A value by itself.
pub(super) struct One {
    pub(super) name: &'static str,
    pub(super) ty: Type,
}

impl<'de> DeserializeSeed<'de> for One {
    type Value = Datum<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl One {
    fn of_text<'de, E: Error>(&self, text: Cow<'de, str>) -> Result<Datum<'de>, E> {
        let found = match self.ty {
            Type::Text => {
                return Ok(Datum::Text(match text {
                    Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
                    Cow::Owned(text) => Cow::Owned(text.into_bytes()),
                }));
            }
            Type::Character => character(&text).map(Datum::Character),
            Type::Real => UNUSUAL.iter().find(|(name, _)| *name == text).map(|(_, x)| Datum::Real(*x)),
            _ => None,
        };
        found.ok_or_else(|| E::invalid_value(Unexpected::Str(&text), self))
    }
}

fn character(text: &str) -> Option<u8> {
    let mut characters = text.chars();
    let first = characters.next()?;
    characters.next().is_none().then(|| u8::try_from(first).ok())?
}

impl<'de> Visitor<'de> for One {
    type Value = Datum<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let wanted = match self.ty {
            Type::Boolean => "true or false",
            Type::Character => "a string of one character up to U+00FF",
            Type::Integer => "a whole number of 64 bits",
            Type::Real => "a number",
            Type::Text => "a string, or an object such as {\"base64\":\"AAEC\"}",
            Type::Component | Type::Sequence => unreachable!("it is no value by itself"),
        };
        write!(f, "{wanted} for {}", self.name)
    }

    fn visit_bool<E: Error>(self, x: bool) -> Result<Self::Value, E> {
        match self.ty {
            Type::Boolean => Ok(Datum::Boolean(x)),
            _ => Err(E::invalid_type(Unexpected::Bool(x), &self)),
        }
    }

    fn visit_i64<E: Error>(self, x: i64) -> Result<Self::Value, E> {
        match self.ty {
            Type::Integer => Ok(Datum::Integer(x)),
            Type::Real => Ok(Datum::Real(x as f64)),
            _ => Err(E::invalid_type(Unexpected::Signed(x), &self)),
        }
    }

    fn visit_u64<E: Error>(self, x: u64) -> Result<Self::Value, E> {
        match i64::try_from(x) {
            Ok(x) => self.visit_i64(x),
            Err(_) if self.ty == Type::Real => Ok(Datum::Real(x as f64)),
            Err(_) => Err(E::invalid_value(Unexpected::Unsigned(x), &self)),
        }
    }

    fn visit_f64<E: Error>(self, x: f64) -> Result<Self::Value, E> {
        match self.ty {
            Type::Real => Ok(Datum::Real(x)),
            // JSON has no whole numbers but those that have no fraction: -0, 1.0, 1e3. Beyond this they may have been
            // others.
            Type::Integer if x.fract() == 0.0 && x.abs() < EXACT => Ok(Datum::Integer(x as i64)),
            _ => Err(E::invalid_type(Unexpected::Float(x), &self)),
        }
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        self.of_text(Cow::Borrowed(text))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        self.of_text(Cow::Owned(text.into()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let key = map.next_key_seed(Key)?;
        if self.ty != Type::Text || key.as_deref() != Some(BYTES) {
            return Err(A::Error::invalid_type(Unexpected::Map, &self));
        }
        let text = map.next_value_seed(Key)?;
        let bytes = BASE64.decode(text.as_bytes());
        let bytes = bytes.map_err(|_| A::Error::custom(format_args!("{}: that is no base64", self.name)))?;
        match map.next_key_seed(Key)? {
            None => Ok(Datum::Text(Cow::Owned(bytes))),
            Some(_) => Err(A::Error::invalid_type(Unexpected::Map, &self)),
        }
    }
}
