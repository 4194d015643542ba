//! Names in wire format: labels, each after its length, the last one empty. In small letters, so that equal names
//! compare as equal.

use std::fmt::Write;

/// The longest name, with its length bytes.
pub const LONGEST: usize = 255;

/// A name in small letters.
pub type Small = Box<[u8]>;

/// The name at the beginning of some bytes, if it has no pointers.
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

/// The name without its first label; the root has no parent.
pub fn parent(name: &[u8]) -> Option<&[u8]> {
    match usize::from(*name.first()?) {
        0 => None,
        length => name.get(1 + length..),
    }
}

/// The name and all its ancestors, up to the root.
pub fn ancestors(name: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::successors(Some(name), |name| parent(name))
}

/// A name with labels in front, if it isn't too long.
pub fn joined(labels: &[u8], name: &[u8]) -> Option<Small> {
    (labels.len() + name.len() <= LONGEST).then(|| [labels, name].concat().into())
}

/// A name with a label in front, if it isn't too long.
pub fn below(label: &[u8], name: &[u8]) -> Option<Small> {
    joined(&[&[label.len() as u8], label].concat(), name)
}

/// The name as text.
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
