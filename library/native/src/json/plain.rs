//! Values by themselves, as JSON: neither records nor sequences.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use data_encoding::BASE64;
use drystone_component::Type;
use drystone_component::wire::Reader;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Unexpected, Visitor};

/// A value by itself; texts are borrowed where they can be.
pub enum Plain<'a> {
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

/// The member of an object that stands for a TEXT that is not UTF-8.
const BYTES: &str = "base64";

/// REALs for which JSON has no numbers.
const UNUSUAL: [(&str, f64); 3] =
    [("NaN", f64::NAN), ("Infinity", f64::INFINITY), ("-Infinity", f64::NEG_INFINITY)];

/// Whole numbers below this are exact as REALs.
const EXACT: f64 = (1_u64 << 53) as f64;

/// A member's name, or a string.
pub struct Key;

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

/// Reads a value by itself.
pub struct One<'n> {
    /// What it is for, for messages.
    pub name: &'n str,
    /// Its type, which is neither Component nor Sequence.
    pub ty: Type,
}

impl<'de> DeserializeSeed<'de> for One<'_> {
    type Value = Plain<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl One<'_> {
    fn of_text<'de, E: Error>(&self, text: Cow<'de, str>) -> Result<Plain<'de>, E> {
        let found = match self.ty {
            Type::Text => {
                return Ok(Plain::Text(match text {
                    Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
                    Cow::Owned(text) => Cow::Owned(text.into_bytes()),
                }));
            }
            Type::Character => character(&text).map(Plain::Character),
            Type::Real => UNUSUAL.iter().find(|(name, _)| *name == text).map(|(_, x)| Plain::Real(*x)),
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

impl<'de> Visitor<'de> for One<'_> {
    type Value = Plain<'de>;

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
            Type::Boolean => Ok(Plain::Boolean(x)),
            _ => Err(E::invalid_type(Unexpected::Bool(x), &self)),
        }
    }

    fn visit_i64<E: Error>(self, x: i64) -> Result<Self::Value, E> {
        match self.ty {
            Type::Integer => Ok(Plain::Integer(x)),
            Type::Real => Ok(Plain::Real(x as f64)),
            _ => Err(E::invalid_type(Unexpected::Signed(x), &self)),
        }
    }

    fn visit_u64<E: Error>(self, x: u64) -> Result<Self::Value, E> {
        match i64::try_from(x) {
            Ok(x) => self.visit_i64(x),
            Err(_) if self.ty == Type::Real => Ok(Plain::Real(x as f64)),
            Err(_) => Err(E::invalid_value(Unexpected::Unsigned(x), &self)),
        }
    }

    fn visit_f64<E: Error>(self, x: f64) -> Result<Self::Value, E> {
        match self.ty {
            Type::Real => Ok(Plain::Real(x)),
            // JSON has no whole numbers but those that have no fraction: -0, 1.0, 1e3. Beyond this they may have been
            // others.
            Type::Integer if x.abs() < EXACT && x as i64 as f64 == x => Ok(Plain::Integer(x as i64)),
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
            None => Ok(Plain::Text(Cow::Owned(bytes))),
            Some(_) => Err(A::Error::invalid_type(Unexpected::Map, &self)),
        }
    }
}

/// Takes a value out of XDR.
///
/// # Errors
/// It isn't there.
pub fn read<'a>(ty: Type, bytes: &mut Reader<'a>) -> Result<Plain<'a>, String> {
    Ok(match ty {
        Type::Boolean => Plain::Boolean(bytes.word("")? != 0),
        Type::Character => Plain::Character(bytes.word("")? as u8),
        Type::Integer => Plain::Integer(bytes.hyper("")? as i64),
        Type::Real => Plain::Real(f64::from_bits(bytes.hyper("")?)),
        Type::Text => Plain::Text(Cow::Borrowed(bytes.opaque("")?)),
        Type::Component | Type::Sequence => unreachable!("it is no value by itself"),
    })
}

/// Adds a value.
pub fn write(out: &mut Vec<u8>, value: &Plain<'_>) {
    match value {
        Plain::Boolean(x) => out.extend_from_slice(if *x { b"true" } else { b"false" }),
        Plain::Character(x) => text(out, char::from(*x).encode_utf8(&mut [0; 2])),
        Plain::Integer(x) => out.extend_from_slice(itoa::Buffer::new().format(*x).as_bytes()),
        Plain::Real(x) if x.is_finite() => {
            out.extend_from_slice(zmij::Buffer::new().format_finite(*x).as_bytes());
        }
        Plain::Real(x) => {
            text(out, UNUSUAL.iter().find(|(_, it)| same(*it, *x)).map_or("NaN", |(name, _)| name))
        }
        Plain::Text(x) => match core::str::from_utf8(x) {
            Ok(x) => text(out, x),
            Err(_) => {
                out.extend_from_slice(b"{\"base64\":");
                text(out, &BASE64.encode(x));
                out.push(b'}');
            }
        },
    }
}

fn same(a: f64, b: f64) -> bool {
    a == b || a.is_nan() && b.is_nan()
}

/// Adds a string.
pub fn text(out: &mut Vec<u8>, text: &str) {
    let is_escaped = |byte: &u8| *byte < b' ' || matches!(byte, b'"' | b'\\');
    if text.as_bytes().iter().any(is_escaped) {
        let json = serde_json::to_string(text).expect("a string is JSON's");
        out.extend_from_slice(json.as_bytes());
    } else {
        out.reserve(text.len() + 2);
        out.push(b'"');
        out.extend_from_slice(text.as_bytes());
        out.push(b'"');
    }
}
