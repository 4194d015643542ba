//! Names as messages have them: labels, each behind its length, the last one being empty; in small letters, so that
//! equal names are equal.

use std::fmt::Write;

/// The longest, with all lengths.
pub const LONGEST: usize = 255;

/// A name in small letters.
pub type Small = Box<[u8]>;

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

/// Labels before a name, if that isn't too long then.
pub fn joined(labels: &[u8], name: &[u8]) -> Option<Small> {
    (labels.len() + name.len() <= LONGEST).then(|| [labels, name].concat().into())
}

/// A label before a name, if that isn't too long then.
pub fn below(label: &[u8], name: &[u8]) -> Option<Small> {
    joined(&[&[label.len() as u8], label].concat(), name)
}

/// For people.
pub fn shown(name: &[u8]) -> String {
    let mut shown = String::new();
    for name in ancestors(name) {
        let length = usize::from(name[0]);
        for byte in &name[1..1 + length] {
            let _ = match byte {
                b'.' | b'\\' | b'"' | b'(' | b')' | b';' | b'@' | b'$' => {
                    write!(shown, "\\{}", char::from(*byte))
                }
                b'!'..=b'~' => write!(shown, "{}", char::from(*byte)),
                _ => write!(shown, "\\{byte:03}"),
            };
        }
        if length > 0 || shown.is_empty() {
            shown.push('.');
        }
    }
    shown
}
