//! Names as messages have them: labels, each behind its length, the last one being empty; in small letters, so that equal names are equal.

use domain::base::ToName;

/// The longest, with all lengths.
pub const LONGEST: usize = 255;

/// A name in small letters.
pub type Small = Vec<u8>;

/// Of a name of the library's.
pub fn small(name: &impl ToName) -> Small {
    let mut small = Vec::new();
    for label in name.iter_labels() {
        small.push(label.len() as u8);
        small.extend(label.as_slice().iter().map(u8::to_ascii_lowercase));
    }
    small
}

/// The name that something begins with, as it stands there, if there is one without pointers.
pub fn first(bytes: &[u8]) -> Option<&[u8]> {
    let mut at = 0;
    loop {
        match usize::from(*bytes.get(at)?) {
            0 => break,
            length @ 1..64 => at += 1 + length,
            _ => return None,
        }
    }
    bytes.get(..=at).filter(|name| name.len() <= LONGEST)
}

/// Without the first label; the root has none.
pub fn parent(name: &[u8]) -> Option<&[u8]> {
    match usize::from(*name.first()?) {
        0 => None,
        length => name.get(1 + length..),
    }
}

/// The name itself, and what it is below, up to the root.
pub fn ancestors(name: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::successors(Some(name), |name| parent(name))
}

/// A label before a name, if that isn't too long then.
pub fn below(label: &[u8], name: &[u8]) -> Option<Small> {
    let below = [&[label.len() as u8], label, name].concat();
    (below.len() <= LONGEST).then_some(below)
}
