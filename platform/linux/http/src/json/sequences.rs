//! Sequences as JSON: arrays, whose elements are what their form says. In between they are XDR, as the runtime takes
//! them.

use std::borrow::Cow;
use std::fmt;

use drystone_component::form::{Fields, Form, Kind};
use drystone_component::wire::{Reader, put_opaque, put_u32, put_u64};
use drystone_component::{Parameter, Type};
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use drystone_net::datum::Datum;

use super::plain::{self, Key, One, text};

/// A sequence, or something in one, that is read as XDR.
pub(super) struct Element {
    /// The parameter, for messages.
    pub(super) name: &'static str,
    pub(super) form: Form<'static>,
}

impl<'de> DeserializeSeed<'de> for Element {
    type Value = Vec<u8>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Vec<u8>, D::Error> {
        let Element { name, form } = self;
        let ty = match form.kind() {
            Kind::Sequence(element) => return deserializer.deserialize_seq(Array { name, element }),
            Kind::Record(fields) => return deserializer.deserialize_map(Object { name, fields }),
            Kind::Boolean => Type::Boolean,
            Kind::Character => Type::Character,
            Kind::Integer => Type::Integer,
            Kind::Real => Type::Real,
            Kind::Text => Type::Text,
        };
        let mut bytes = Vec::new();
        match (One { name, ty }).deserialize(deserializer)? {
            Datum::Boolean(x) => put_u32(&mut bytes, x.into()),
            Datum::Character(x) => put_u32(&mut bytes, x.into()),
            Datum::Integer(x) => put_u64(&mut bytes, x as u64),
            Datum::Real(x) => put_u64(&mut bytes, x.to_bits()),
            Datum::Text(x) => put_opaque(&mut bytes, &x),
            Datum::Sequence(_) => unreachable!("it is no value by itself"),
        }
        Ok(bytes)
    }
}

struct Array {
    name: &'static str,
    element: Form<'static>,
}

impl<'de> Visitor<'de> for Array {
    type Value = Vec<u8>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an array for {}", self.name)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Vec<u8>, A::Error> {
        let (mut bytes, mut count) = (vec![0; 4], 0_u32);
        while let Some(element) =
            elements.next_element_seed(Element { name: self.name, form: self.element })?
        {
            bytes.extend(element);
            count += 1;
        }
        bytes[..4].copy_from_slice(&count.to_be_bytes());
        Ok(bytes)
    }
}

struct Object {
    name: &'static str,
    fields: Fields<'static>,
}

impl<'de> Visitor<'de> for Object {
    type Value = Vec<u8>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object for an element of {}", self.name)
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Vec<u8>, A::Error> {
        let mut values: Vec<Option<Vec<u8>>> = self.fields.map(|_| None).collect();
        while let Some(name) = map.next_key_seed(Key)? {
            let found = self.fields.enumerate().find(|(_, (field, _))| *field == name);
            let Some((at, (_, form))) = found else {
                return Err(A::Error::custom(format_args!("there is no field {name} in {}", self.name)));
            };
            if values[at].is_some() {
                return Err(A::Error::custom(format_args!("{name} is there twice in {}", self.name)));
            }
            values[at] = Some(map.next_value_seed(Element { name: self.name, form })?);
        }
        if values.is_empty() {
            return Ok(vec![0; 4]);
        }
        let mut bytes = Vec::new();
        for value in values {
            let field = self.fields.next().map_or("", |(field, _)| field);
            let missing = || A::Error::custom(format_args!("{field} is missing in {}", self.name));
            bytes.extend(value.ok_or_else(missing)?);
        }
        Ok(bytes)
    }
}

/// Adds a sequence.
pub(super) fn write(out: &mut Vec<u8>, parameter: &Parameter, bytes: &[u8]) {
    let form = Form::new(parameter.form.get());
    write_element(out, form, &mut Reader::new(bytes)).expect("the program's own values are whole");
}

fn write_element(out: &mut Vec<u8>, form: Form<'_>, bytes: &mut Reader<'_>) -> Result<(), String> {
    let value = match form.kind() {
        Kind::Boolean => Datum::Boolean(bytes.word("")? != 0),
        Kind::Character => Datum::Character(bytes.word("")? as u8),
        Kind::Integer => Datum::Integer(bytes.hyper("")? as i64),
        Kind::Real => Datum::Real(f64::from_bits(bytes.hyper("")?)),
        Kind::Text => Datum::Text(Cow::Borrowed(bytes.opaque("")?)),
        Kind::Sequence(element) => {
            let count = bytes.word("")?;
            return between(out, *b"[]", 0..count, |out, _| write_element(out, element, bytes));
        }
        Kind::Record(fields) => {
            if fields.count() == 0 {
                bytes.word("")?;
            }
            return between(out, *b"{}", fields, |out, (name, form)| {
                text(out, name);
                out.push(b':');
                write_element(out, form, bytes)
            });
        }
    };
    plain::write(out, &value);
    Ok(())
}

/// Adds items with commas between them, and brackets around.
fn between<T>(
    out: &mut Vec<u8>,
    [open, close]: [u8; 2],
    items: impl IntoIterator<Item = T>,
    mut write: impl FnMut(&mut Vec<u8>, T) -> Result<(), String>,
) -> Result<(), String> {
    out.push(open);
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write(out, item)?;
    }
    out.push(close);
    Ok(())
}
