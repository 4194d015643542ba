//! Reads names of master files into wire format.

use domain::base::scan::Symbol;

use super::lexer::{Token, byte_of};
use crate::name::LONGEST;

const LONGEST_LABEL: usize = 63;

/// The token as a name. Without a dot at the end it is below `origin`, for which `@` stands.
///
/// # Errors
/// What is wrong with it.
pub fn read(token: Token<'_>, origin: Option<&[u8]>) -> Result<Vec<u8>, String> {
    let shown = || String::from_utf8_lossy(token.raw).into_owned();
    let origin = || origin.ok_or_else(|| format!("`{}` is below nothing: there is no $ORIGIN", shown()));
    match (token.raw, token.is_quoted) {
        (b"@", false) => return origin().map(<[u8]>::to_vec),
        (b".", _) => return Ok(vec![0]),
        (b"", _) => return Err("a name is empty".into()),
        _ => {}
    }
    // Label by label, each after its length.
    let (mut name, mut label) = (vec![0], 0);
    let mut is_whole = false;
    for symbol in token.symbols() {
        let symbol = symbol?;
        let length = name.len() - label - 1;
        if symbol == Symbol::Char('.') {
            if length == 0 {
                return Err(format!("`{}` has an empty label", shown()));
            }
            label = name.len();
            is_whole = true;
            name.push(0);
        } else if length == LONGEST_LABEL {
            return Err(format!("`{}` has a label of more than 63 bytes", shown()));
        } else {
            is_whole = false;
            name.push(byte_of(symbol));
            name[label] += 1;
        }
    }
    if !is_whole {
        name.extend_from_slice(origin()?);
    }
    if name.len() > LONGEST {
        return Err(format!("`{}` has more than 255 bytes", shown()));
    }
    Ok(name)
}
