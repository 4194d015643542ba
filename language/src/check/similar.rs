//! Which known name a misspelt one was most likely meant to be.

use std::cmp::Reverse;

/// The candidate that was most likely meant, if any is close.
pub fn similar<'n>(name: &str, candidates: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let limit = name.chars().count().div_ceil(3);
    let near = candidates.into_iter().map(|candidate| {
        let distance = if candidate.eq_ignore_ascii_case(name) { 0 } else { distance(name, candidate) };
        let differ = name.bytes().zip(candidate.bytes()).position(|(a, b)| a != b).unwrap_or(name.len());
        (distance, Reverse(differ), candidate)
    });
    near.filter(|&(distance, _, candidate)| distance <= limit && candidate.len() > distance)
        .min()
        .map(|(_, _, candidate)| candidate)
}

/// Single-character changes, insertions, deletions and swaps of neighbours between two names.
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().collect();
    let b: Vec<char> = b.chars().collect();
    if a.len().abs_diff(b.len()) > 8 || a.len() > 64 {
        return usize::MAX;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut next = vec![i];
        for j in 1..=b.len() {
            let change = row[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = change.min(row[j] + 1).min(next[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(before[j - 2] + 1);
            }
            next.push(best);
        }
        before = std::mem::replace(&mut row, next);
    }
    row[b.len()]
}
