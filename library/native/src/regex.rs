//! Regular expressions. Each thread keeps the patterns that it has used last, compiled.

use alloc::borrow::Cow;
use alloc::collections::VecDeque;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cell::RefCell;
use std::thread_local;

use regex::bytes::{Regex, RegexBuilder};

/// Compiled patterns that a thread keeps.
const KEPT: usize = 64;

/// Bytes that a compiled pattern may take.
const SIZE: usize = 1 << 20;

thread_local! {
    /// The one used last stands first.
    static COMPILED: RefCell<VecDeque<(Vec<u8>, Regex)>> = const { RefCell::new(VecDeque::new()) };
}

/// The compiled pattern; an error says what is wrong with it.
fn compiled(pattern: &[u8]) -> Result<Regex, String> {
    COMPILED.with_borrow_mut(|kept| {
        match kept.iter().position(|(known, _)| known == pattern) {
            Some(0) => {}
            Some(index) => {
                let found = kept.remove(index).expect("it is there");
                kept.push_front(found);
            }
            None => {
                let made = compile(pattern)?;
                kept.truncate(KEPT - 1);
                kept.push_front((pattern.to_vec(), made));
            }
        }
        Ok(kept[0].1.clone())
    })
}

fn compile(pattern: &[u8]) -> Result<Regex, String> {
    let text = core::str::from_utf8(pattern).map_err(|_| "the pattern is no UTF-8".to_string())?;
    RegexBuilder::new(text).size_limit(SIZE).dfa_size_limit(SIZE).build().map_err(|error| error.to_string())
}

pub(crate) fn is_pattern(pattern: &[u8]) -> bool {
    compiled(pattern).is_ok()
}

pub(crate) fn matches(pattern: &[u8], text: &[u8]) -> Result<bool, String> {
    Ok(compiled(pattern)?.is_match(text))
}

pub(crate) fn replaced(pattern: &[u8], text: &[u8], new: &[u8]) -> Result<Vec<u8>, String> {
    Ok(compiled(pattern)?.replace_all(text, new).into_owned())
}

/// Looks for a match from a position on. It is kept as where each group begins and ends, eight bytes each.
pub(crate) fn find(
    pattern: &[u8],
    text: &[u8],
    from: i64,
    groups: &mut Cow<'_, [u8]>,
) -> Result<bool, String> {
    let pattern = compiled(pattern)?;
    let from = usize::try_from(from).ok().filter(|&from| from <= text.len());
    let from = from.ok_or("the search begins outside the text")?;
    let Some(found) = pattern.captures_at(text, from) else { return Ok(false) };
    let place = |at: Option<usize>| at.map_or(-1, |at| at as i64).to_le_bytes();
    let places = found.iter().flat_map(|group| {
        let (start, end) = (group.map(|group| group.start()), group.map(|group| group.end()));
        [place(start), place(end)]
    });
    *groups = Cow::Owned(places.flatten().collect());
    Ok(true)
}

/// A number of a match; -1 if there is no such group, or it took no part.
fn number(groups: &[u8], index: Option<usize>) -> i64 {
    let bytes = index.and_then(|index| groups.get(index * 8..index * 8 + 8));
    bytes.map_or(-1, |bytes| i64::from_le_bytes(bytes.try_into().expect("there are eight")))
}

fn index(group: i64) -> Option<usize> {
    usize::try_from(group).ok()?.checked_mul(2).filter(|&index| index < 1 << 40)
}

pub(crate) fn start(groups: &[u8], group: i64) -> i64 {
    number(groups, index(group))
}

pub(crate) fn end(groups: &[u8], group: i64) -> i64 {
    number(groups, index(group).map(|index| index + 1))
}

/// The number of a group by its name; -1 if the pattern has no such group.
pub(crate) fn named(pattern: &[u8], name: &[u8]) -> Result<i64, String> {
    let pattern = compiled(pattern)?;
    let found = pattern.capture_names().position(|it| it.is_some_and(|it| it.as_bytes() == name));
    Ok(found.map_or(-1, |index| index as i64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    #[test]
    fn groups_are_found_by_number_and_name() {
        let mut groups = Cow::Borrowed(&b""[..]);
        let pattern = br"(?<year>\d{4})-(\d\d)(x)?";
        assert_eq!(find(pattern, b"on 2026-11-30", 0, &mut groups), Ok(true));
        let pair = |group| (start(&groups, group), end(&groups, group));
        assert_eq!([pair(0), pair(1), pair(2)], [(3, 10), (3, 7), (8, 10)]);
        assert_eq!([pair(3), pair(4), pair(-1), pair(i64::MAX)], [(-1, -1); 4]);
        assert_eq!((named(pattern, b"year"), named(pattern, b"day")), (Ok(1), Ok(-1)));
        assert_eq!(find(pattern, b"on 2026-11-30", 4, &mut groups), Ok(false));
        assert!(find(pattern, b"", 1, &mut groups).is_err());
    }

    #[test]
    fn patterns_are_bounded_and_so_is_what_is_kept() {
        assert!(!is_pattern(b"(") && !is_pattern(b"\xff") && !is_pattern(b"(a{1000}){1000}"));
        for number in 0..3 * KEPT {
            assert_eq!(matches(format!("^{number}$").as_bytes(), b"7"), Ok(number == 7));
        }
        assert_eq!(COMPILED.with_borrow(VecDeque::len), KEPT);
        assert_eq!(replaced(b"(a)(b)", b"xabab", b"$2-$1"), Ok(b"xb-ab-a".to_vec()));
    }
}
