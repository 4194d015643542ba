//! Bodies that are only made when somebody first asks for them, because most of a program is never specialised.

use super::{Body, Code, FunctionId, Module};
use crate::ir::Function;
use std::cell::OnceCell;
use std::fmt;
use std::rc::Rc;

/// Where the body of a function comes from.
pub trait Source: fmt::Debug {
    /// The body of a function that has got this for its code.
    fn read(&self, function: &Function) -> Result<Body, Unsupported>;

    /// Names of the function's parameters in the source, by position, as far as they are known here.
    fn parameter_names(&self) -> Vec<(usize, String)>;
}

/// A body that nobody has asked for yet, or what it came to.
#[derive(Debug)]
pub struct Unread {
    source: Box<dyn Source>,
    result: OnceCell<Result<Rc<Body>, Unsupported>>,
}

/// Why the code of a function could not be read; all else can be used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unsupported {
    /// The name of the function at link time.
    pub function: Rc<str>,
    /// The file that it stands in.
    pub file: Rc<str>,
    /// The line in it, from 1.
    pub line: u32,
    /// What is not known.
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

impl Unread {
    /// A body to be read.
    pub fn new(source: impl Source + 'static) -> Unread {
        Unread { source: Box::new(source), result: OnceCell::new() }
    }

    /// Where it comes from.
    pub fn into_source(self) -> Box<dyn Source> {
        self.source
    }

    fn get(&self, function: &Function) -> Result<Rc<Body>, Unsupported> {
        self.result.get_or_init(|| self.source.read(function).map(Rc::new)).clone()
    }
}

impl Module {
    /// The code of a function, read now if nobody has asked for it yet; none if it is only declared.
    pub fn body(&self, id: FunctionId) -> Result<Option<Rc<Body>>, Unsupported> {
        let function = &self.functions[id.0 as usize];
        match &function.code {
            Code::Declared => Ok(None),
            Code::Body(body) => Ok(Some(body.clone())),
            Code::Unread(unread) => unread.get(function).map(Some),
        }
    }

    /// The names of a function's parameters: those of the IR, or else those that its source tells.
    pub fn parameter_names(&self, id: FunctionId) -> Vec<Option<Rc<str>>> {
        let function = &self.functions[id.0 as usize];
        let mut names: Vec<Option<Rc<str>>> =
            function.params.iter().map(|param| param.name.clone()).collect();
        if let Code::Unread(unread) = &function.code {
            for (position, name) in unread.source.parameter_names() {
                if let Some(slot @ None) = names.get_mut(position) {
                    *slot = Some(name.into());
                }
            }
        }
        names
    }
}
