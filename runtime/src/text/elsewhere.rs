//! Sequences as bytes, for other programs: XDR (RFC 4506), a variable-length array of the elements that the
//! [`Layout`] describes. A record is a structure of its fields in their order; one without fields is an unsigned int,
//! 0, so that no number of elements fits into too few bytes.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use drystone_component::form::Layout;
use drystone_component::wire::{Reader, put_opaque, put_u32, put_u64};

use super::equality::word_of;
use super::holding::{Shape, words};
use super::sequences::{self, count};
use super::{bytes, drop, make, records};
use crate::heap::Heap;
use crate::layout::TextHead;
use crate::long::Caller;

/// Why bytes have not become a value.
#[derive(Debug)]
pub enum Undecoded {
    /// There is no memory.
    OutOfMemory,
    /// What is wrong with them.
    Wrong(String),
}

impl From<String> for Undecoded {
    fn from(wrong: String) -> Undecoded {
        Undecoded::Wrong(wrong)
    }
}

impl From<Undecoded> for String {
    fn from(why: Undecoded) -> String {
        match why {
            Undecoded::OutOfMemory => "out of memory".to_string(),
            Undecoded::Wrong(wrong) => wrong,
        }
    }
}

/// Appends a value.
///
/// # Errors
/// A text takes 4 GB or more.
///
/// # Safety
/// The word is a live value of that layout.
pub unsafe fn encode(word: u64, layout: &Layout, out: &mut Vec<u8>) -> Result<(), String> {
    let held = word as *const TextHead;
    // SAFETY: the value is what its layout says.
    unsafe {
        match layout {
            Layout::Boolean | Layout::Character => put_u32(out, word as u32),
            Layout::Integer | Layout::Real => put_u64(out, word),
            Layout::Text => {
                let text = bytes(held);
                if u32::try_from(text.len()).is_err() {
                    return Err("a text of 4 GB or more cannot leave the program".to_string());
                }
                put_opaque(out, text);
            }
            Layout::Sequence(element) => {
                put_u32(out, count(held) as u32);
                for index in 0..count(held) {
                    encode(*words(held).add(index), element, out)?;
                }
            }
            Layout::Record(fields) if fields.is_empty() => put_u32(out, 0),
            Layout::Record(fields) => {
                fields.iter().try_for_each(|(word, layout)| encode(word_of(held, *word), layout, out))?;
            }
        }
    }
    Ok(())
}

/// Reads a value that must be there whole. Its word owns it.
///
/// # Errors
/// What is wrong with the bytes; or there is no memory.
pub fn decode(heap: &mut Heap, layout: &Layout, bytes: &[u8]) -> Result<u64, Undecoded> {
    let mut reader = Reader::new(bytes);
    let word = value(heap, layout, &mut reader)?;
    reader.end().inspect_err(|_| {
        if layout.is_held() {
            // SAFETY: the value was just made, and nobody else knows it.
            unsafe { drop(heap, word as *mut TextHead) };
        }
    })?;
    Ok(word)
}

/// Reads one value.
fn value(heap: &mut Heap, layout: &Layout, reader: &mut Reader<'_>) -> Result<u64, Undecoded> {
    let memory = |_| Undecoded::OutOfMemory;
    match layout {
        Layout::Boolean => match reader.word("a BOOLEAN")? {
            value @ 0..=1 => Ok(value.into()),
            _ => Err(Undecoded::Wrong("a BOOLEAN is neither 0 nor 1".to_string())),
        },
        Layout::Character => match reader.word("a CHARACTER")? {
            value @ 0..=255 => Ok(value.into()),
            _ => Err(Undecoded::Wrong("a CHARACTER is above 255".to_string())),
        },
        Layout::Integer => Ok(reader.hyper("an INTEGER")?),
        Layout::Real => Ok(reader.hyper("a REAL")?),
        Layout::Text => make(heap, reader.opaque("a TEXT")?).map(|text| text as u64).map_err(memory),
        Layout::Sequence(element) => {
            let count = reader.word("the length of a sequence")? as usize;
            // Each element takes a word at least.
            if count > reader.left() / 4 {
                return Err(Undecoded::Wrong("a sequence is cut off".to_string()));
            }
            let places = (0..count).map(|index| (index, &**element));
            // SAFETY: the heap is borrowed, and no other process runs.
            let made = unsafe { sequences::make(Caller::HASTY, heap, count, element.is_held()) };
            fill(heap, made.map_err(memory)?, places, reader)
        }
        Layout::Record(fields) if fields.is_empty() => match reader.word("a record without fields")? {
            0 => Ok(0),
            _ => Err(Undecoded::Wrong("a record without fields isn't 0".to_string())),
        },
        Layout::Record(fields) => {
            let made = records::make(heap, Shape::of_fields(fields));
            let places = fields.iter().map(|(word, layout)| (*word, layout));
            fill(heap, made.map_err(memory)?, places, reader)
        }
    }
}

/// Reads the words of a new record or sequence. If one is wrong, all of it is dropped.
fn fill<'l>(
    heap: &mut Heap,
    whole: *mut TextHead,
    mut places: impl Iterator<Item = (usize, &'l Layout)>,
    reader: &mut Reader<'_>,
) -> Result<u64, Undecoded> {
    let filled = places.try_for_each(|(word, layout)| {
        let value = value(heap, layout, reader)?;
        // SAFETY: the block is new, nobody else knows it, and it has these words.
        unsafe { *words(whole).add(word) = value };
        Ok(())
    });
    match filled {
        Ok(()) => Ok(whole as u64),
        Err(why) => {
            // SAFETY: the block is new; its words are 0 or own what was read.
            unsafe { drop(heap, whole) };
            Err(why)
        }
    }
}
