//! Names (paper 002, section 3.1).

use alloc::format;
use alloc::string::String;
use core::fmt;

/// What an interface is called, in a *naming context*: a path in the graph of contexts, of which the part behind is
/// what the context calls it, and the part before is what the context itself is called. All of it is a URL, from the
/// program's own context: `tcp://host:7000/files` is `//host:7000/files` in the context `tcp`.
///
/// Its byte form is itself: [`Name::decode`] and [`Name::bytes`] are the paper's `byteToName` and `toByte`, and
/// [`Name::context`] is its `getNC`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name<'a> {
    whole: &'a str,
    /// Where what the context calls it begins: behind a colon or a slash.
    own: usize,
}

/// Names are looked at as a whole, by everyone whom they pass.
const LONGEST: usize = 64 << 10;

impl<'a> Name<'a> {
    /// Reads a name as programs write it, in the context of its scheme.
    ///
    /// # Errors
    /// It is none; says so.
    pub fn decode(bytes: &'a [u8]) -> Result<Name<'a>, String> {
        if bytes.len() > LONGEST {
            return Err(format!("a name has {LONGEST} bytes at most, this one {}", bytes.len()));
        }
        let whole = core::str::from_utf8(bytes).ok();
        let parts = whole.and_then(|whole| Some((whole, whole.split_once(':')?)));
        match parts {
            Some((whole, (scheme, rest))) if is_scheme(scheme) && !rest.is_empty() => {
                Ok(Name { whole, own: scheme.len() + 1 })
            }
            _ => Err(format!(
                "\"{}\" is no name: that is a scheme, a colon and the rest, as in local:printer",
                shown(&String::from_utf8_lossy(bytes))
            )),
        }
    }

    /// All of it, from which [`Name::decode`] makes it again.
    pub fn bytes(self) -> &'a [u8] {
        self.whole.as_bytes()
    }

    /// The same as text.
    pub fn whole(self) -> &'a str {
        self.whole
    }

    /// What its context is called.
    pub fn context(self) -> &'a str {
        &self.whole[..self.own - 1]
    }

    /// What its context calls it.
    pub fn rest(self) -> &'a str {
        &self.whole[self.own..]
    }

    /// The same in the context that stands in its context under so many bytes of [`Name::rest`], of which the last one
    /// separates them.
    ///
    /// # Panics
    /// The last one is no colon or slash.
    pub fn within(self, bytes: usize) -> Name<'a> {
        let own = self.own + bytes;
        assert!(
            bytes > 0 && self.whole[..own].ends_with([':', '/']),
            "a context's name ends with a separator"
        );
        Name { own, ..self }
    }

    /// The same in each context that its slashes allow, the innermost first.
    pub fn contexts(self) -> impl Iterator<Item = Name<'a>> {
        self.rest().rmatch_indices('/').map(move |(at, _)| self.within(at + 1))
    }

    /// Whether it is a name of this program's own.
    pub fn is_local(self) -> bool {
        self.whole.starts_with("local:")
    }
}

/// As much as fits into a line, for people.
impl fmt::Display for Name<'_> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&shown(self.whole))
    }
}

fn is_scheme(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_lowercase())
        && word
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'+' | b'-' | b'.'))
}

fn shown(name: &str) -> String {
    let most = name.floor_char_boundary(200);
    let mut shown: String =
        name[..most].chars().map(|c| if c.is_control() { '\u{FFFD}' } else { c }).collect();
    if most < name.len() {
        shown.push_str("..");
    }
    shown
}
