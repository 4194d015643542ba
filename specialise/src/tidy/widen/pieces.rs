//! The accesses of a group by offset, and how they combine into wider accesses.

use crate::tidy::memory::Place;
use std::collections::BTreeMap;

/// The widths in bytes of joined accesses.
pub(super) const WIDTHS: [i64; 3] = [8, 4, 2];

/// The accesses of a group: by offset, the end of the bytes and the access.
pub(super) type Pieces<T> = BTreeMap<i64, (i64, T)>;

/// Whether one of the pieces overlaps these bytes.
pub(super) fn overlaps<T>(pieces: &Pieces<T>, from: i64, to: i64) -> bool {
    pieces.range(..to).next_back().is_some_and(|(_, (end, _))| *end > from)
}

/// Divides contiguous pieces into parts of an access's width. Gives only parts with several pieces.
pub(super) fn parts<T: Copy>(pieces: &Pieces<T>, widths: &[i64]) -> Vec<(i64, Vec<(i64, T)>)> {
    let all: Vec<(i64, i64, T)> = pieces.iter().map(|(start, (end, piece))| (*start, *end, *piece)).collect();
    let mut parts = Vec::new();
    let mut at = 0;
    while at < all.len() {
        let start = all[at].0;
        let joined = widths.iter().find_map(|width| {
            let mut end = start;
            let mut next = at;
            while next < all.len() && all[next].0 == end && end < start + width {
                end = all[next].1;
                next += 1;
            }
            (end == start + width && next > at + 1).then_some((*width, next))
        });
        match joined {
            Some((width, next)) => {
                parts.push((width, all[at..next].iter().map(|(start, _, piece)| (*start, *piece)).collect()));
                at = next;
            }
            None => at += 1,
        }
    }
    parts
}

/// The range of bytes of a place, relative to its anchor.
pub(super) fn range(place: &Place) -> Option<(i64, i64)> {
    let size = i64::try_from(place.size?).ok()?;
    Some((place.offset, place.offset.checked_add(size)?))
}
