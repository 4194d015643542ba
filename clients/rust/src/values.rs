//! Sequences of programs: a TEXT variable holds the bytes of one, which [`held`] makes and [`elements`] reads. What a
//! message's sequences consist of, [`Description::form`](drystone_component::wire::Description::form) tells.

use drystone_component::wire::{Reader, put_opaque, put_u32, put_u64};
use drystone_extension::composite::builder::Text;

use crate::Error;

/// A type of elements: `bool`, `u8` (CHARACTER), `i64`, `f64`, [`Text`], a vector for a sequence, and a tuple of its
/// fields for a record.
pub trait Listed: Sized {
    /// Appends it, as it is in a sequence.
    fn put(&self, out: &mut Vec<u8>);
    /// Reads it from bytes that may be anything.
    ///
    /// # Errors
    /// What is wrong with them.
    fn take(from: &mut Reader<'_>) -> Result<Self, String>;
}

/// The value of a TEXT variable that holds a sequence of these elements.
pub fn held<T: Listed>(elements: &[T]) -> Text {
    let mut out = Vec::new();
    put_all(elements, &mut out);
    Text::from(out)
}

/// The elements of the sequence that such a variable holds.
///
/// # Errors
/// It holds none of such elements.
pub fn elements<T: Listed>(held: &[u8]) -> Result<Vec<T>, Error> {
    let mut reader = Reader::new(held);
    let elements = Vec::take(&mut reader).and_then(|elements| reader.end().map(|()| elements));
    elements.map_err(|why| Error::Lost(format!("a sequence makes no sense: {why}")))
}

fn put_all<T: Listed>(elements: &[T], out: &mut Vec<u8>) {
    put_u32(out, elements.len() as u32);
    elements.iter().for_each(|element| element.put(out));
}

impl<T: Listed> Listed for Vec<T> {
    fn put(&self, out: &mut Vec<u8>) {
        put_all(self, out);
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, String> {
        let count = from.word("the length of a sequence")? as usize;
        // Each element takes a word at least.
        match count <= from.left() / 4 {
            true => (0..count).map(|_| T::take(from)).collect(),
            false => Err("a sequence is cut off".into()),
        }
    }
}

impl Listed for bool {
    fn put(&self, out: &mut Vec<u8>) {
        put_u32(out, (*self).into());
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, String> {
        match from.word("a BOOLEAN")? {
            value @ 0..=1 => Ok(value == 1),
            _ => Err("a BOOLEAN is neither 0 nor 1".into()),
        }
    }
}

impl Listed for u8 {
    fn put(&self, out: &mut Vec<u8>) {
        put_u32(out, (*self).into());
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, String> {
        from.word("a CHARACTER")?.try_into().map_err(|_| "a CHARACTER is above 255".into())
    }
}

impl Listed for i64 {
    fn put(&self, out: &mut Vec<u8>) {
        put_u64(out, *self as u64);
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, String> {
        Ok(from.hyper("an INTEGER")? as i64)
    }
}

impl Listed for f64 {
    fn put(&self, out: &mut Vec<u8>) {
        put_u64(out, self.to_bits());
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, String> {
        from.hyper("a REAL").map(f64::from_bits)
    }
}

impl Listed for Text {
    fn put(&self, out: &mut Vec<u8>) {
        put_opaque(out, self);
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, String> {
        from.opaque("a TEXT").map(Text::from)
    }
}

/// A record without fields.
impl Listed for () {
    fn put(&self, out: &mut Vec<u8>) {
        put_u32(out, 0);
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, String> {
        match from.word("a record without fields")? {
            0 => Ok(()),
            _ => Err("a record without fields isn't 0".into()),
        }
    }
}

macro_rules! records {
    ($($field:ident),+) => {
        #[allow(non_snake_case)]
        impl<$($field: Listed),+> Listed for ($($field,)+) {
            fn put(&self, out: &mut Vec<u8>) {
                let ($($field,)+) = self;
                $($field.put(out);)+
            }

            fn take(from: &mut Reader<'_>) -> Result<Self, String> {
                Ok(($($field::take(from)?,)+))
            }
        }
    };
}

records!(A);
records!(A, B);
records!(A, B, C);
records!(A, B, C, D);
records!(A, B, C, D, E);
records!(A, B, C, D, E, F);
records!(A, B, C, D, E, F, G);
records!(A, B, C, D, E, F, G, H);

#[cfg(test)]
mod tests {
    use super::*;

    type Entry = (Text, Vec<i64>, (), (f64, bool), u8);

    #[test]
    fn elements_are_read_as_they_were_written() {
        let entry = |key: &str, sizes| (Text::from(key.as_bytes()), sizes, (), (0.5, true), b'c');
        let entries: Vec<Entry> = vec![entry("abcde", vec![1, -2]), entry("", Vec::new())];
        let bytes = held(&entries);
        assert_eq!(elements::<Entry>(&bytes).expect("it was written"), entries);
        (0..bytes.len()).for_each(|end| assert!(elements::<Entry>(&bytes[..end]).is_err(), "{end} bytes"));
        assert!(elements::<Entry>(&[&bytes[..], &[0; 4]].concat()).is_err());
        assert!(elements::<()>(&[255; 4]).is_err(), "there aren't so many");
        assert_eq!(held::<i64>(&[])[..], [0; 4]);
    }
}
