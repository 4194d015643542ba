//! Compares records and sequences. What they consist of, their [`Form`] tells.

use drystone_component::form::{Form, Kind};

use super::equal;
use super::holding::{AT_ONCE, words};
use super::sequences::count;
use crate::layout::TextHead;
use crate::long::Caller;

/// Whether two values are equal.
///
/// # Safety
/// Both are values of that form; what they own is live while the call lasts.
pub unsafe fn values_equal(by: Caller, a: u64, b: u64, form: Form<'_>) -> bool {
    let held = (a as *const TextHead, b as *const TextHead);
    // SAFETY: the values are what their form says.
    unsafe {
        match form.kind() {
            Kind::Real => f64::from_bits(a) == f64::from_bits(b),
            Kind::Text => equal(by, held.0, held.1),
            Kind::Sequence(element) => sequences_equal(by, held, element),
            Kind::Record(fields) => fields
                .words()
                .all(|(word, form)| values_equal(by, word_of(held.0, word), word_of(held.1, word), form)),
            Kind::Boolean | Kind::Character | Kind::Integer => a == b,
        }
    }
}

/// A word of a record; null is a record whose words are 0.
///
/// # Safety
/// The record is null, or live and has this word.
pub unsafe fn word_of(record: *const TextHead, word: usize) -> u64 {
    // SAFETY: a record that isn't null has the word.
    if record.is_null() { 0 } else { unsafe { *words(record).add(word) } }
}

/// # Safety
/// As for [`values_equal`], of sequences with such elements.
unsafe fn sequences_equal(by: Caller, (a, b): (*const TextHead, *const TextHead), element: Form<'_>) -> bool {
    // What is no number differs from itself.
    if a == b && !element.has_real() {
        return true;
    }
    // SAFETY: both are sequences with as many elements.
    unsafe {
        count(a) == count(b)
            && (0..count(a)).all(|index| {
                if index % AT_ONCE == AT_ONCE - 1 {
                    by.pause();
                }
                values_equal(by, *words(a).add(index), *words(b).add(index), element)
            })
    }
}
