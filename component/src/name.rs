//! Names of interfaces, and the contexts that resolve them (*THINK*, section 3.1).

use alloc::format;
use alloc::string::String;
use core::fmt;

/// The name of an interface in a *naming context*. The whole name is a URL, as seen from the program. It is split into
/// the context's own name and the interface's name in that context: `tcp://host:7000/files` is `//host:7000/files` in
/// the context `tcp`.
///
/// Its byte form is itself: [`Name::decode`] and [`Name::bytes`] are the paper's `byteToName` and `toByte`, and
/// [`Name::context`] is its `getNC`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name<'a> {
    whole: &'a str,
    /// Where the name in the context begins: after a colon or a slash.
    own: usize,
}

/// Bytes of a name at most: whoever resolves a name reads all of it.
const LONGEST: usize = 64 << 10;

impl<'a> Name<'a> {
    /// Reads a name as programs write it, in the context of its scheme.
    ///
    /// # Errors
    /// A sentence that says why the bytes are no name.
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

    /// The whole name, as [`Name::decode`] reads it.
    pub fn bytes(self) -> &'a [u8] {
        self.whole.as_bytes()
    }

    /// The same as text.
    pub fn whole(self) -> &'a str {
        self.whole
    }

    /// The name of its context.
    pub fn context(self) -> &'a str {
        &self.whole[..self.own - 1]
    }

    /// Its name in its context.
    pub fn rest(self) -> &'a str {
        &self.whole[self.own..]
    }

    /// The same interface, named in an inner context: the first `bytes` bytes of [`Name::rest`], which end with the
    /// separator, name that context in the present one.
    ///
    /// # Panics
    /// The last of these bytes is neither a colon nor a slash.
    pub fn within(self, bytes: usize) -> Name<'a> {
        let own = self.own + bytes;
        assert!(
            bytes > 0 && self.whole[..own].ends_with([':', '/']),
            "a context's name ends with a separator"
        );
        Name { own, ..self }
    }

    /// The same interface in each context that its slashes allow, the innermost first.
    pub fn contexts(self) -> impl Iterator<Item = Name<'a>> {
        self.rest().rmatch_indices('/').map(move |(at, _)| self.within(at + 1))
    }

    /// Whether the name stays inside this program.
    pub fn is_local(self) -> bool {
        self.whole.starts_with("local:")
    }
}

/// A text shortened to a line, for messages.
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
