//! Most texts are short: up to 32 bytes are compared and copied here by one or two words, which may overlap, because
//! the library's functions for any length take longer to find out how many bytes there are.

use crate::long::Caller;

/// Whether both are the same.
#[inline]
pub fn equal(by: Caller, a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    match a.len() {
        0 => true,
        1..4 => a[0] == b[0] && a[a.len() / 2] == b[a.len() / 2] && a[a.len() - 1] == b[a.len() - 1],
        4..8 => equal_ends::<4>(a, b),
        8..=16 => equal_ends::<8>(a, b),
        17..=32 => equal_ends::<16>(a, b),
        _ => by.equal(a, b),
    }
}

#[inline]
fn equal_ends<const N: usize>(a: &[u8], b: &[u8]) -> bool {
    a.first_chunk::<N>() == b.first_chunk::<N>() && a.last_chunk::<N>() == b.last_chunk::<N>()
}

/// Copies bytes.
///
/// # Safety
/// `to` may be written for as many bytes. They don't overlap.
#[inline]
pub unsafe fn copy(by: Caller, from: &[u8], to: *mut u8) {
    // SAFETY: each part that is written lies within as many bytes.
    unsafe {
        match from.len() {
            0 => {}
            1..4 => {
                let (middle, last) = (from.len() / 2, from.len() - 1);
                to.write(from[0]);
                to.add(middle).write(from[middle]);
                to.add(last).write(from[last]);
            }
            4..8 => copy_ends::<4>(from, to),
            8..=16 => copy_ends::<8>(from, to),
            17..=32 => copy_ends::<16>(from, to),
            length => by.copy(from.as_ptr(), to, length),
        }
    }
}

/// Copies the first and the last `N` bytes, which may overlap.
///
/// # Safety
/// As for [`copy`]; there are at least `N` bytes.
#[inline]
unsafe fn copy_ends<const N: usize>(from: &[u8], to: *mut u8) {
    // SAFETY: both ends lie within the bytes.
    unsafe {
        let (first, last) = (from.as_ptr(), from.as_ptr().add(from.len() - N));
        let last = last.cast::<[u8; N]>().read();
        to.cast::<[u8; N]>().write(first.cast::<[u8; N]>().read());
        to.add(from.len() - N).cast::<[u8; N]>().write(last);
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn texts_of_all_lengths_are_compared_and_copied() {
        for length in 0..40 {
            let text: Vec<u8> = (1..=length).collect();
            let mut copied = vec![0; text.len() + 1];
            // SAFETY: `copied` is longer than the text.
            unsafe { copy(Caller::HASTY, &text, copied.as_mut_ptr()) };
            assert_eq!(copied.pop(), Some(0));
            assert!(copied == text && equal(Caller::HASTY, &copied, &text));
            assert!(!equal(Caller::HASTY, &text, &[&text[..], &[0]].concat()));
            for place in 0..text.len() {
                copied[place] = 0;
                assert!(!equal(Caller::HASTY, &copied, &text), "{length} {place}");
                copied[place] = text[place];
            }
        }
    }
}
