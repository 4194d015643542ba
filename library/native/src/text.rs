//! Texts as Unicode. A text is bytes: what is no UTF-8 in it stays as it is, and counts as one code point for each
//! sequence that a decoder would replace.

use alloc::string::String;
use alloc::vec::Vec;
use core::str;

use unicode_segmentation::UnicodeSegmentation;

/// Changes all that is UTF-8.
fn changed(text: &[u8], change: impl Fn(&str) -> String, ascii: fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
    if text.is_ascii() {
        return ascii(text);
    }
    let mut all = Vec::with_capacity(text.len());
    for chunk in text.utf8_chunks() {
        all.extend_from_slice(change(chunk.valid()).as_bytes());
        all.extend_from_slice(chunk.invalid());
    }
    all
}

pub(crate) fn upper(text: &[u8]) -> Vec<u8> {
    changed(text, str::to_uppercase, <[u8]>::to_ascii_uppercase)
}

pub(crate) fn lower(text: &[u8]) -> Vec<u8> {
    changed(text, str::to_lowercase, <[u8]>::to_ascii_lowercase)
}

pub(crate) fn is_utf8(text: &[u8]) -> bool {
    str::from_utf8(text).is_ok()
}

pub(crate) fn code_points(text: &[u8]) -> i64 {
    text.utf8_chunks()
        .map(|chunk| chunk.valid().chars().count() + usize::from(!chunk.invalid().is_empty()))
        .sum::<usize>() as i64
}

/// The code point that begins at `at`, which moves behind it: -1, and the next byte, where no UTF-8 stands.
pub(crate) fn code_point(text: &[u8], at: &mut i64) -> Result<i64, String> {
    let from = usize::try_from(*at).ok().filter(|&from| from < text.len());
    let from = from.ok_or_else(|| alloc::format!("there is no byte {at} in a text of {}", text.len()))?;
    let next = &text[from..text.len().min(from + 4)];
    let first = next.utf8_chunks().next().and_then(|chunk| chunk.valid().chars().next());
    *at += first.map_or(1, char::len_utf8) as i64;
    Ok(first.map_or(-1, |letter| i64::from(u32::from(letter))))
}

/// The code point as UTF-8.
pub(crate) fn of_code_point(number: i64) -> Result<String, String> {
    let letter = u32::try_from(number).ok().and_then(char::from_u32);
    letter.map(String::from).ok_or_else(|| alloc::format!("{number} is no code point"))
}

/// How many letters people see: clusters of code points that belong together.
pub(crate) fn graphemes(text: &[u8]) -> i64 {
    text.utf8_chunks()
        .map(|chunk| chunk.valid().graphemes(true).count() + usize::from(!chunk.invalid().is_empty()))
        .sum::<usize>() as i64
}

/// The longest beginning of at most so many bytes that splits no such cluster.
pub(crate) fn cut(text: &[u8], most: i64) -> Vec<u8> {
    let most = usize::try_from(most).unwrap_or(0);
    if text.len() <= most {
        return text.to_vec();
    }
    let mut end = 0;
    for chunk in text.utf8_chunks() {
        let clusters = chunk.valid().graphemes(true).map(str::len);
        for length in clusters.chain([chunk.invalid().len()]) {
            if end + length > most {
                return text[..end].to_vec();
            }
            end += length;
        }
    }
    text[..end].to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_change_in_full_and_other_bytes_stay() {
        assert_eq!(upper("straße ÿ".as_bytes()), "STRASSE Ÿ".as_bytes());
        assert_eq!(lower("ΟΔΟΣ İ".as_bytes()), "οδος i\u{307}".as_bytes());
        assert_eq!(upper(b"\xffa\xc3"), b"\xffA\xc3");
    }

    #[test]
    fn code_points_are_walked_over_one_by_one() {
        let text = "a€𝄞\u{301}".as_bytes();
        let mut at = 0;
        let mut found = Vec::new();
        while (at as usize) < text.len() {
            found.push(code_point(text, &mut at).expect("there is one"));
        }
        assert_eq!(found, [0x61, 0x20ac, 0x1d11e, 0x301]);
        assert!(code_point(text, &mut at).is_err() && code_point(text, &mut -1).is_err());
        let mut at = 0;
        assert_eq!((code_point(b"\xe2\x82", &mut at), at), (Ok(-1), 1));
        assert_eq!(code_points(b"a\xe2\x82\xffb"), 4);
        assert!(of_code_point(0xd800).is_err() && of_code_point(-1).is_err());
    }

    #[test]
    fn a_cut_splits_no_cluster() {
        let family = "👩‍👩‍👧e\u{301}".as_bytes();
        assert_eq!(graphemes(family), 2);
        assert_eq!(cut(family, family.len() as i64 - 1), "👩‍👩‍👧".as_bytes());
        assert_eq!(cut(family, 17), b"");
        assert_eq!(cut(b"ab\xffc", 3), b"ab\xff");
        assert_eq!(cut(b"abc", -1), b"");
    }
}
