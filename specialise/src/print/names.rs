//! Names of values and blocks: their own, or LLVM's consecutive numbers.

use crate::ir::{Body, Function, ValueId};
use std::collections::{HashMap, HashSet};
use std::fmt::{self, Display};
use std::rc::Rc;

/// A name in LLVM's spelling, with quotes if necessary.
pub(super) struct Spelling<'a>(pub(super) &'a str);

impl Display for Spelling<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'$' | b'.' | b'_');
        let name = self.0;
        if name.bytes().all(plain)
            && !name.starts_with(|first: char| first.is_ascii_digit())
            && !name.is_empty()
        {
            return f.write_str(name);
        }
        write!(f, "\"{}\"", Escaped(name.as_bytes()))
    }
}

/// Bytes in LLVM's spelling between quotes.
pub(super) struct Escaped<'a>(pub(super) &'a [u8]);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        for byte in self.0 {
            match byte {
                b'"' | b'\\' | 0..0x20 | 0x7f.. => write!(f, "\\{byte:02X}")?,
                _ => write!(f, "{}", char::from(*byte))?,
            }
        }
        Ok(())
    }
}

/// The names of a function's values and blocks, with the `%` in front.
pub(crate) struct Names {
    pub(crate) values: Vec<String>,
    /// Without the `%`.
    pub(crate) blocks: Vec<String>,
}

impl Names {
    pub(crate) fn of(function: &Function, body: &Body) -> Names {
        let mut given = Given { taken: HashSet::new(), copies: HashMap::new(), next: 0 };
        let mut values = vec![String::new(); body.types.len()];
        for (position, value) in values.iter_mut().take(function.params.len()).enumerate() {
            let name = function.params[position].name.as_deref().or(name(body, position));
            *value = given.give(name);
        }
        let mut blocks = Vec::with_capacity(body.blocks.len());
        for block in &body.blocks {
            blocks.push(given.number());
            for ValueId(id) in block.instructions.iter().filter_map(|instruction| instruction.result) {
                values[id as usize] = given.give(name(body, id as usize));
            }
        }
        Names { values, blocks }
    }
}

/// The name of a value in the text, if it has one.
fn name(body: &Body, value: usize) -> Option<&str> {
    body.names.get(value).map(|name: &Rc<str>| &**name).filter(|name| !name.is_empty())
}

struct Given<'a> {
    taken: HashSet<String>,
    /// The last number appended to each name, so that the search need not begin at the first.
    copies: HashMap<&'a str, u32>,
    next: u32,
}

impl<'a> Given<'a> {
    fn number(&mut self) -> String {
        self.next += 1;
        (self.next - 1).to_string()
    }

    fn give(&mut self, name: Option<&'a str>) -> String {
        let Some(name) = name else { return format!("%{}", self.number()) };
        let mut chosen = name.to_string();
        let copies = self.copies.entry(name).or_default();
        while !self.taken.insert(chosen.clone()) {
            *copies += 1;
            chosen = format!("{name}.{copies}");
        }
        format!("%{}", Spelling(&chosen))
    }
}
