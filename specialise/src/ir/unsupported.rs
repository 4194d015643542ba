//! The error for code that the IR can't express.

use std::fmt;
use std::rc::Rc;

/// The reason why the code of a function could not be read. The rest of the module can be used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unsupported {
    /// The name of the function at link time.
    pub function: Rc<str>,
    /// The file that contains it.
    pub file: Rc<str>,
    /// The line in it, from 1.
    pub line: u32,
    /// The construct that is not supported.
    pub what: String,
    /// The text of the line.
    pub excerpt: String,
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Unsupported { function, file, line, what, excerpt } = self;
        write!(f, "{file}:{line}: the function `{function}` cannot be read: {what}\n    {excerpt}")
    }
}

impl std::error::Error for Unsupported {}
