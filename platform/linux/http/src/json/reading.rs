//! Reads messages from JSON. Each value is read as what it has to be, so that errors have a place.

use std::borrow::Cow;
use std::fmt;

use drystone_component::form::Form;
use drystone_component::{Interface, Member, Parameter, Side, Type, members};
use drystone_library::json::plain::{Key, One, Plain};
use drystone_library::json::values::{Element, Missing};
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Visitor};

use drystone_net::datum::Datum;

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
            return One { name, ty }.deserialize(deserializer).map(datum);
        }
        let mut bytes = Vec::new();
        let form = Form::new(self.0.form.get());
        Element { name, form, missing: Missing::Refused, out: &mut bytes }.deserialize(deserializer)?;
        Ok(Datum::Sequence(Cow::Owned(bytes)))
    }
}

fn datum(value: Plain<'_>) -> Datum<'_> {
    match value {
        Plain::Boolean(x) => Datum::Boolean(x),
        Plain::Character(x) => Datum::Character(x),
        Plain::Integer(x) => Datum::Integer(x),
        Plain::Real(x) => Datum::Real(x),
        Plain::Text(x) => Datum::Text(x),
    }
}
