//! Values of the language as JSON, by their forms: a record is an object, a sequence an array. In between they are XDR,
//! as the runtime takes them.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use alloc::{format, vec};
use core::fmt;
use core::ops::Range;

use drystone_component::Type;
use drystone_component::form::{Fields, Form, Kind};
use drystone_component::wire::{Reader, put_opaque, put_u32, put_u64};
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::plain::{self, Key, One, Plain, text};

/// What becomes of a field that an object has not.
#[derive(Clone, Copy)]
pub enum Missing<'b> {
    /// The object is refused, and so is one with other members than the fields.
    Refused,
    /// It stays what this value, in XDR, has there. So does what is `null`; other members are passed over.
    Stays(&'b [u8]),
    /// It is the zero of its type; likewise.
    Zero,
}

/// Reads a value, which is added to `out` as XDR.
pub struct Element<'n, 'o> {
    /// What it is for, for messages.
    pub name: &'n str,
    /// What it consists of.
    pub form: Form<'n>,
    /// What becomes of missing fields.
    pub missing: Missing<'n>,
    /// Where it goes. If it can't be read, a part of it may be there.
    pub out: &'o mut Vec<u8>,
}

impl<'de> DeserializeSeed<'de> for Element<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        match self.missing {
            Missing::Refused => self.read(deserializer),
            _ => deserializer.deserialize_option(Unless(self)),
        }
    }
}

impl Element<'_, '_> {
    fn read<'de, D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        let Element { name, form, missing, out } = self;
        let ty = match form.kind() {
            Kind::Sequence(element) => {
                let missing = if let Missing::Refused = missing { missing } else { Missing::Zero };
                return deserializer.deserialize_seq(Array { name, element, missing, out });
            }
            Kind::Record(fields) => {
                return deserializer.deserialize_map(Object { name, fields, missing, out });
            }
            plain => type_of(plain),
        };
        match (One { name, ty }).deserialize(deserializer)? {
            Plain::Boolean(x) => put_u32(out, x.into()),
            Plain::Character(x) => put_u32(out, x.into()),
            Plain::Integer(x) => put_u64(out, x as u64),
            Plain::Real(x) => put_u64(out, x.to_bits()),
            Plain::Text(x) if u32::try_from(x.len()).is_ok() => put_opaque(out, &x),
            Plain::Text(_) => return Err(too_large(name)),
        }
        Ok(())
    }
}

/// The type of a value by itself.
fn type_of(kind: Kind<'_>) -> Type {
    match kind {
        Kind::Boolean => Type::Boolean,
        Kind::Character => Type::Character,
        Kind::Integer => Type::Integer,
        Kind::Real => Type::Real,
        Kind::Text => Type::Text,
        Kind::Sequence(_) | Kind::Record(_) => unreachable!("it consists of others"),
    }
}

/// XDR has no lengths beyond 32 bits.
fn too_large<E: Error>(name: &str) -> E {
    E::custom(format_args!("{name} is too large"))
}

/// A value, unless it is `null`.
struct Unless<'n, 'o>(Element<'n, 'o>);

impl<'de> Visitor<'de> for Unless<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a value for {}", self.0.name)
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        match self.0.missing {
            Missing::Stays(before) => self.0.out.extend(before),
            _ => put_zero(self.0.out, self.0.form),
        }
        Ok(())
    }

    fn visit_none<E: Error>(self) -> Result<(), E> {
        self.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.0.read(deserializer)
    }
}

struct Array<'n, 'o> {
    name: &'n str,
    element: Form<'n>,
    missing: Missing<'n>,
    out: &'o mut Vec<u8>,
}

impl<'de> Visitor<'de> for Array<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an array for {}", self.name)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        let Array { name, element: form, missing, out } = self;
        let begin = out.len();
        let mut count = 0_u32;
        put_u32(out, count);
        while let Some(()) = elements.next_element_seed(Element { name, form, missing, out: &mut *out })? {
            count = count.checked_add(1).ok_or_else(|| too_large(name))?;
        }
        out[begin..begin + 4].copy_from_slice(&count.to_be_bytes());
        Ok(())
    }
}

struct Object<'n, 'o> {
    name: &'n str,
    fields: Fields<'n>,
    missing: Missing<'n>,
    out: &'o mut Vec<u8>,
}

impl<'de> Visitor<'de> for Object<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.missing {
            Missing::Refused => write!(f, "an object for an element of {}", self.name),
            _ => write!(f, "an object for {}", self.name),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let is_strict = matches!(self.missing, Missing::Refused);
        let missing = missing_fields(self.fields, self.missing).map_err(A::Error::custom)?;
        let fields: Vec<_> = self.fields.collect();
        let Object { name: record, out, .. } = self;
        let begin = out.len();
        let mut places: Vec<Option<Range<usize>>> = vec![None; fields.len()];
        let mut expected = 0;
        while let Some(name) = map.next_key_seed(Key)? {
            // Most come in the order of the fields.
            let is_next = fields.get(expected).is_some_and(|(field, _)| *field == name);
            let found =
                if is_next { Some(expected) } else { fields.iter().position(|(field, _)| *field == name) };
            let Some((at, (field, form))) = found.map(|at| (at, fields[at])) else {
                if is_strict {
                    return Err(A::Error::custom(format_args!("there is no field {name} in {record}")));
                }
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            if places[at].is_some() {
                return Err(A::Error::custom(format_args!("{name} is there twice in {record}")));
            }
            expected = at + 1;
            let name = if is_strict { record } else { field };
            let from = out.len() - begin;
            map.next_value_seed(Element { name, form, missing: missing[at], out: &mut *out })?;
            places[at] = Some(from..out.len() - begin);
        }
        if fields.is_empty() {
            put_u32(out, 0);
        } else if !are_whole(&places, out.len() - begin) {
            let read = out.split_off(begin);
            for ((place, missing), (field, form)) in places.into_iter().zip(missing).zip(fields) {
                match (place, missing) {
                    (Some(place), _) => out.extend(&read[place]),
                    (None, Missing::Stays(before)) => out.extend(before),
                    (None, Missing::Zero) => put_zero(out, form),
                    (None, Missing::Refused) => {
                        return Err(A::Error::custom(format_args!("{field} is missing in {record}")));
                    }
                }
            }
        }
        Ok(())
    }
}

/// Whether all fields are there, one after the other, in so many bytes.
fn are_whole(places: &[Option<Range<usize>>], bytes: usize) -> bool {
    let end = places
        .iter()
        .try_fold(0, |end, place| place.as_ref().filter(|place| place.start == end).map(|place| place.end));
    end == Some(bytes)
}

/// What becomes of each field of a record if it is missing.
fn missing_fields<'n>(fields: Fields<'n>, missing: Missing<'n>) -> Result<Vec<Missing<'n>>, String> {
    let Missing::Stays(before) = missing else {
        return Ok(fields.map(|_| missing).collect());
    };
    let mut reader = Reader::new(before);
    let place = |reader: &Reader<'_>| before.len() - reader.left();
    fields
        .map(|(_, form)| {
            let from = place(&reader);
            skip(form, &mut reader)?;
            Ok(Missing::Stays(&before[from..place(&reader)]))
        })
        .collect()
}

/// Passes over a value.
fn skip(form: Form<'_>, bytes: &mut Reader<'_>) -> Result<(), String> {
    match form.kind() {
        Kind::Boolean | Kind::Character => bytes.word("").map(drop),
        Kind::Integer | Kind::Real => bytes.hyper("").map(drop),
        Kind::Text => bytes.opaque("").map(drop),
        Kind::Sequence(element) => {
            let count = bytes.word("")?;
            (0..count).try_for_each(|_| skip(element, bytes))
        }
        Kind::Record(fields) if fields.count() == 0 => bytes.word("").map(drop),
        Kind::Record(mut fields) => fields.try_for_each(|(_, form)| skip(form, bytes)),
    }
}

/// Adds the zero of a type.
fn put_zero(out: &mut Vec<u8>, form: Form<'_>) {
    match form.kind() {
        Kind::Integer | Kind::Real => put_u64(out, 0),
        Kind::Record(fields) if fields.count() > 0 => fields.for_each(|(_, form)| put_zero(out, form)),
        Kind::Boolean | Kind::Character | Kind::Text | Kind::Sequence(_) | Kind::Record(_) => put_u32(out, 0),
    }
}

/// Adds a value as JSON.
///
/// # Errors
/// The bytes are none of that form.
pub fn write(out: &mut Vec<u8>, form: Form<'_>, bytes: &mut Reader<'_>) -> Result<(), String> {
    Shape::of(form).write(out, bytes)
}

/// A form as JSON has it: it is read once, for all the values that are written.
enum Shape {
    Plain(Type),
    Sequence(Box<Shape>),
    /// For each field what stands before its value.
    Record(Vec<(Vec<u8>, Shape)>),
}

impl Shape {
    fn of(form: Form<'_>) -> Shape {
        match form.kind() {
            Kind::Sequence(element) => Shape::Sequence(Box::new(Shape::of(element))),
            Kind::Record(fields) => {
                let field = |(index, (name, form))| {
                    let mut before = vec![if index == 0 { b'{' } else { b',' }];
                    text(&mut before, name);
                    before.push(b':');
                    (before, Shape::of(form))
                };
                Shape::Record(fields.enumerate().map(field).collect())
            }
            plain => Shape::Plain(type_of(plain)),
        }
    }

    fn write(&self, out: &mut Vec<u8>, bytes: &mut Reader<'_>) -> Result<(), String> {
        match self {
            Shape::Plain(ty) => plain::write(out, &plain::read(*ty, bytes)?),
            Shape::Sequence(element) => {
                out.push(b'[');
                for index in 0..bytes.word("")? {
                    if index > 0 {
                        out.push(b',');
                    }
                    element.write(out, bytes)?;
                }
                out.push(b']');
            }
            Shape::Record(fields) if fields.is_empty() => {
                bytes.word("")?;
                out.extend_from_slice(b"{}");
            }
            Shape::Record(fields) => {
                for (before, field) in fields {
                    out.extend_from_slice(before);
                    field.write(out, bytes)?;
                }
                out.push(b'}');
            }
        }
        Ok(())
    }
}

/// Reads a document that is one value. What is missing of `before`, which is of the same form, stays.
///
/// # Errors
/// A sentence says what is wrong, and where.
pub fn read(json: &[u8], form: Form<'_>, before: &[u8]) -> Result<Vec<u8>, String> {
    let mut deserializer = serde_json::Deserializer::from_slice(json);
    let mut read = Vec::new();
    let element = Element { name: "the value", form, missing: Missing::Stays(before), out: &mut read };
    let done = element.deserialize(&mut deserializer).and_then(|()| deserializer.end());
    done.map(|()| read).map_err(|error| format!("{error}"))
}
