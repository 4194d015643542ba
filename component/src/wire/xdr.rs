//! The values of a message as XDR (RFC 4506), by the types of its parameters: INTEGER is a hyper, REAL a double,
//! BOOLEAN a bool, CHARACTER an unsigned int, and TEXT an opaque of variable length. A sequence is an opaque, too,
//! which contains a variable-length array of its elements. A component can't be encoded.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::interface::Type;

/// Supplies the values of a message, by parameter number. The methods called match the declared types.
pub trait Source {
    /// An INTEGER.
    fn integer(&self, index: usize) -> i64;
    /// A REAL.
    fn real(&self, index: usize) -> f64;
    /// A CHARACTER, or a BOOLEAN as 0 and 1.
    fn byte(&self, index: usize) -> u8;
    /// A TEXT.
    fn text(&self, index: usize) -> &[u8];
    /// A sequence, as XDR: the number of its elements, then these.
    ///
    /// # Errors
    /// It takes 4 GB or more; or this source has none.
    fn sequence(&self, index: usize) -> Result<Vec<u8>, String> {
        let _ = index;
        Err("a sequence cannot leave its program in a message over this binding".to_string())
    }
}

/// Receives the values of a message, in the order of its parameters. The methods called match the declared types.
/// [`decode`] returns a sink's error, such as that there is no memory.
pub trait Sink {
    /// An INTEGER.
    fn integer(&mut self, value: i64) -> Result<(), String>;
    /// A REAL.
    fn real(&mut self, value: f64) -> Result<(), String>;
    /// A CHARACTER, or a BOOLEAN as 0 and 1.
    fn byte(&mut self, value: u8) -> Result<(), String>;
    /// A TEXT.
    fn text(&mut self, value: &[u8]) -> Result<(), String>;
    /// A sequence, as XDR, which may be wrong. Not every sink takes any.
    fn sequence(&mut self, value: &[u8]) -> Result<(), String> {
        let _ = value;
        Err("a sequence has come over a binding that carries none".to_string())
    }
}

/// Copies the values of a message from a source to a sink.
///
/// # Errors
/// An error of the source or the sink; or one of the values is a component.
pub fn hand_over(
    types: impl IntoIterator<Item = Type>,
    from: &(impl Source + ?Sized),
    to: &mut (impl Sink + ?Sized),
) -> Result<(), String> {
    types.into_iter().enumerate().try_for_each(|(index, ty)| match ty {
        Type::Integer => to.integer(from.integer(index)),
        Type::Real => to.real(from.real(index)),
        Type::Boolean | Type::Character => to.byte(from.byte(index)),
        Type::Text => to.text(from.text(index)),
        Type::Sequence => to.sequence(&from.sequence(index)?),
        Type::Component => Err("a component is handed over to who takes none".to_string()),
    })
}

/// Appends the values of a message. An error names the value that has no form outside the program; then nothing is
/// appended.
pub fn encode(
    types: impl IntoIterator<Item = Type>,
    values: &(impl Source + ?Sized),
    out: &mut Vec<u8>,
) -> Result<(), String> {
    let before = out.len();
    for (index, ty) in types.into_iter().enumerate() {
        match ty {
            Type::Integer => put_u64(out, values.integer(index) as u64),
            Type::Real => put_u64(out, values.real(index).to_bits()),
            Type::Boolean | Type::Character => put_u32(out, values.byte(index).into()),
            Type::Text => {
                let text = values.text(index);
                if u32::try_from(text.len()).is_err() {
                    out.truncate(before);
                    return Err("a text of 4 GB or more cannot leave the program".to_string());
                }
                put_opaque(out, text);
            }
            Type::Sequence => match values.sequence(index) {
                Ok(sequence) => put_opaque(out, &sequence),
                Err(why) => {
                    out.truncate(before);
                    return Err(why);
                }
            },
            Type::Component => {
                out.truncate(before);
                return Err("a component cannot leave its program in a message over this binding".to_string());
            }
        }
    }
    Ok(())
}

/// Reads the values of a message. All bytes must be used. An error says what is wrong with them.
pub fn decode(
    types: impl IntoIterator<Item = Type>,
    bytes: &[u8],
    values: &mut (impl Sink + ?Sized),
) -> Result<(), String> {
    let mut reader = Reader::new(bytes);
    for ty in types {
        match ty {
            Type::Integer => values.integer(reader.hyper("an INTEGER")? as i64)?,
            Type::Real => values.real(f64::from_bits(reader.hyper("a REAL")?))?,
            Type::Boolean => match reader.word("a BOOLEAN")? {
                value @ 0..=1 => values.byte(value as u8)?,
                _ => return Err("a BOOLEAN is neither 0 nor 1".to_string()),
            },
            Type::Character => match u8::try_from(reader.word("a CHARACTER")?) {
                Ok(value) => values.byte(value)?,
                Err(_) => return Err("a CHARACTER is above 255".to_string()),
            },
            Type::Text => values.text(reader.opaque("a TEXT")?)?,
            Type::Sequence => values.sequence(reader.opaque("a sequence")?)?,
            Type::Component => {
                return Err("a component has come over a binding that carries none".to_string());
            }
        }
    }
    reader.end()
}

/// Appends an unsigned int.
pub fn put_u32(out: &mut Vec<u8>, value: u32) {
    out.extend_from_slice(&value.to_be_bytes());
}

/// Appends a hyper.
pub fn put_u64(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(&value.to_be_bytes());
}

/// Appends an opaque of variable length, of less than 4 GB.
pub fn put_opaque(out: &mut Vec<u8>, bytes: &[u8]) {
    put_u32(out, bytes.len() as u32);
    out.extend_from_slice(bytes);
    out.extend_from_slice(&[0; 3][..padding(bytes.len())]);
}

/// The number of bytes that pad an opaque to a multiple of four.
fn padding(length: usize) -> usize {
    length.wrapping_neg() % 4
}

/// Reads XDR from bytes that may be anything. An error names the item that was to be read.
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// A reader of all the bytes.
    pub fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { rest: bytes }
    }

    /// The number of bytes left.
    pub fn left(&self) -> usize {
        self.rest.len()
    }

    #[inline]
    fn bytes(&mut self, count: usize, what: &str) -> Result<&'a [u8], String> {
        let (bytes, rest) =
            self.rest.split_at_checked(count).ok_or_else(|| what.to_string() + " is cut off")?;
        self.rest = rest;
        Ok(bytes)
    }

    /// Reads `N` bytes; `N` must be a multiple of four.
    #[inline]
    pub fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N], String> {
        let mut array = [0; N];
        array.copy_from_slice(self.bytes(N, what)?);
        Ok(array)
    }

    /// Reads an unsigned int.
    #[inline]
    pub fn word(&mut self, what: &str) -> Result<u32, String> {
        self.array(what).map(u32::from_be_bytes)
    }

    /// Reads a hyper.
    #[inline]
    pub fn hyper(&mut self, what: &str) -> Result<u64, String> {
        self.array(what).map(u64::from_be_bytes)
    }

    /// Reads an opaque of variable length.
    #[inline]
    pub fn opaque(&mut self, what: &str) -> Result<&'a [u8], String> {
        let length = self.word(what)? as usize;
        let bytes = self.bytes(length, what)?;
        match self.bytes(padding(length), what)?.iter().all(|&byte| byte == 0) {
            true => Ok(bytes),
            false => Err(what.to_string() + " is not padded with zeros"),
        }
    }

    /// Checks that no bytes are left.
    pub fn end(&self) -> Result<(), String> {
        match self.rest.len() {
            0 => Ok(()),
            n => Err(alloc::format!("{n} bytes too many")),
        }
    }
}
