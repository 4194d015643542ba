//! From JSON to a tape, by `serde_json`: it knows the grammar, decodes strings and numbers, and bounds the depth.

use alloc::vec::Vec;
use core::fmt;

use serde::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserializer, de};

use super::tape::{Making, Mark};

/// A document is no longer, so that all numbers of a tape fit: no value takes more than 12 links.
const LONGEST: usize = (u32::MAX / 12) as usize;

/// The tape of a document.
pub(super) fn read(text: &[u8]) -> Result<Vec<u8>, serde_json::Error> {
    if text.len() > LONGEST {
        return Err(serde_json::Error::custom("the document is too long"));
    }
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let mut reading = Reading::default();
    Value(&mut reading).deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(reading.making.finish())
}

#[derive(Default)]
struct Reading {
    making: Making,
    /// The elements of the arrays that are being read, the innermost last.
    elements: Vec<u32>,
}

/// Reads a value, and gives the number of its node.
struct Value<'r>(&'r mut Reading);

impl<'de> DeserializeSeed<'de> for Value<'_> {
    type Value = u32;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<u32, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Value<'_> {
    fn plain(self, mark: Mark, value: u64) -> u32 {
        let number = self.0.making.begin();
        self.0.making.set(number, mark, 0, value);
        number
    }
}

impl<'de> Visitor<'de> for Value<'_> {
    type Value = u32;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: de::Error>(self) -> Result<u32, E> {
        Ok(self.plain(Mark::Null, 0))
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<u32, E> {
        Ok(self.plain(Mark::Truth, u64::from(value)))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<u32, E> {
        Ok(self.plain(Mark::Whole, value as u64))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<u32, E> {
        match i64::try_from(value) {
            Ok(value) => self.visit_i64(value),
            Err(_) => self.visit_f64(value as f64),
        }
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<u32, E> {
        Ok(self.plain(Mark::Fraction, value.to_bits()))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<u32, E> {
        let number = self.0.making.begin();
        self.0.making.set_string(number, value);
        Ok(number)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<u32, A::Error> {
        let Value(reading) = self;
        let number = reading.making.begin();
        let first = reading.elements.len();
        while let Some(element) = elements.next_element_seed(Value(reading))? {
            reading.elements.push(element);
        }
        reading.making.set_array(number, &reading.elements[first..]);
        reading.elements.truncate(first);
        Ok(number)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<u32, A::Error> {
        let Value(reading) = self;
        let number = reading.making.begin();
        let mut members = Vec::new();
        while let Some(name) = map.next_key_seed(Value(reading))? {
            members.push([name, map.next_value_seed(Value(reading))?]);
        }
        reading.making.set_object(number, &mut members);
        Ok(number)
    }
}
