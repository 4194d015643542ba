//! Names as programs write them: a scheme, which says what naming context they belong to, a colon, and the rest.

use alloc::format;
use alloc::string::String;

/// A name, in its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name<'a> {
    /// All of it.
    pub whole: &'a [u8],
    /// What stands before the colon.
    pub scheme: &'a str,
}

impl<'a> Name<'a> {
    /// Takes a name apart.
    ///
    /// # Errors
    /// It is none; says so.
    pub fn parse(whole: &'a [u8]) -> Result<Name<'a>, String> {
        let colon = whole.iter().position(|&byte| byte == b':');
        let scheme = colon.and_then(|colon| core::str::from_utf8(&whole[..colon]).ok());
        match scheme.filter(|scheme| is_scheme(scheme) && whole.len() > scheme.len() + 1) {
            Some(scheme) => Ok(Name { whole, scheme }),
            None => {
                let shown = shown(whole);
                Err(format!(
                    "\"{shown}\" is no name: that is a scheme, a colon and the rest, as in local:printer"
                ))
            }
        }
    }

    /// Whether it is a name of this program's own.
    pub fn is_local(self) -> bool {
        self.scheme == "local"
    }

    /// For messages to people.
    pub fn shown(self) -> String {
        shown(self.whole)
    }
}

fn is_scheme(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_lowercase())
        && word
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'+' | b'-' | b'.'))
}

/// As much of a name as fits into a line.
fn shown(name: &[u8]) -> String {
    let most = 200;
    let text = String::from_utf8_lossy(&name[..name.len().min(most)]);
    let printable = text.chars().map(|c| if c.is_control() { '\u{FFFD}' } else { c });
    let mut shown: String = printable.collect();
    if name.len() > most {
        shown.push_str("..");
    }
    shown
}
