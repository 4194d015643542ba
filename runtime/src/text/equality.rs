//! Compares records and sequences. What they consist of is told by a *form*, one byte after another: [`WORD`], [`REAL`]
//! or [`TEXT`]; [`SEQUENCE`], then the form of its elements; or [`RECORD`], then the forms of its words, then [`END`].

use super::equal;
use super::holding::{AT_ONCE, words};
use super::sequences::count;
use crate::layout::TextHead;
use crate::long::Caller;

/// An INTEGER, CHARACTER or BOOLEAN.
pub const WORD: u8 = b'i';
/// A REAL.
pub const REAL: u8 = b'r';
/// A TEXT.
pub const TEXT: u8 = b't';
/// A sequence.
pub const SEQUENCE: u8 = b'[';
/// A record.
pub const RECORD: u8 = b'(';
/// The end of a record.
pub const END: u8 = b')';

/// Whether two values are equal.
///
/// # Safety
/// Both are values of that form; what they own is live while the call lasts.
pub unsafe fn values_equal(by: Caller, a: u64, b: u64, form: &[u8]) -> bool {
    let (texts, rest) = ((a as *const TextHead, b as *const TextHead), &form[1..]);
    // SAFETY: the values are what their form says.
    unsafe {
        match form[0] {
            WORD => a == b,
            REAL => f64::from_bits(a) == f64::from_bits(b),
            TEXT => equal(by, texts.0, texts.1),
            SEQUENCE => sequences_equal(by, texts, rest),
            _ => records_equal(by, texts, rest),
        }
    }
}

/// # Safety
/// As for [`values_equal`], of sequences; `form` is that of their elements.
unsafe fn sequences_equal(by: Caller, (a, b): (*const TextHead, *const TextHead), form: &[u8]) -> bool {
    // SAFETY: both are sequences with as many elements.
    unsafe {
        let same = a == b && !has_real(form);
        same || count(a) == count(b)
            && (0..count(a)).all(|index| {
                if index % AT_ONCE == AT_ONCE - 1 {
                    by.pause();
                }
                values_equal(by, *words(a).add(index), *words(b).add(index), form)
            })
    }
}

/// # Safety
/// As for [`values_equal`], of records; `form` begins with those of their words.
unsafe fn records_equal(by: Caller, (a, b): (*const TextHead, *const TextHead), mut form: &[u8]) -> bool {
    // Null is a record whose words are 0.
    let word = |record: *const TextHead, index: usize| {
        // SAFETY: a record that isn't null has a word for each form.
        if record.is_null() { 0 } else { unsafe { *words(record).add(index) } }
    };
    let mut index = 0;
    while form[0] != END {
        // SAFETY: the words are what their forms say.
        if !unsafe { values_equal(by, word(a, index), word(b, index), form) } {
            return false;
        }
        form = &form[length(form)..];
        index += 1;
    }
    true
}

/// How many bytes the form of the first value takes.
fn length(form: &[u8]) -> usize {
    match form[0] {
        SEQUENCE => 1 + length(&form[1..]),
        RECORD => {
            let mut end = 1;
            while form[end] != END {
                end += length(&form[end..]);
            }
            end + 1
        }
        _ => 1,
    }
}

/// Whether there is a REAL in the first value: one that is no number differs from itself.
fn has_real(form: &[u8]) -> bool {
    form[..length(form)].contains(&REAL)
}
