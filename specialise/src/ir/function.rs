//! Functions: signatures, and code. Code is read when it is first asked for, because most of a program is never
//! specialised.

use std::cell::OnceCell;
use std::fmt;
use std::rc::Rc;

use super::{Body, Effects, Extension, ParamAttributes, Type, Unsupported};

/// A parameter of a function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Param {
    /// Its type.
    pub ty: Type,
    /// Its name in the source, if it is known.
    pub name: Option<Rc<str>>,
    /// Its attributes.
    pub attributes: ParamAttributes,
}

/// A function.
#[derive(Debug)]
pub struct Function {
    /// Its name at link time.
    pub name: Rc<str>,
    /// Its parameters.
    pub params: Vec<Param>,
    /// The type of its result.
    pub result: Type,
    /// The widening of a narrow result.
    pub result_extension: Option<Extension>,
    /// Whether it takes more arguments than it names.
    pub variadic: bool,
    /// Whether only its module sees it.
    pub internal: bool,
    /// The memory that it accesses, as declared.
    pub memory: Effects,
    /// Whether it never returns.
    pub noreturn: bool,
    /// Its code.
    pub code: Code,
    /// A comment for readers of the residual program; may be empty.
    pub comment: String,
}

impl Function {
    /// A function that is defined elsewhere.
    pub fn declared(name: &str, params: &[Type], result: Type, memory: Effects) -> Function {
        let param = |ty: &Type| Param { ty: ty.clone(), name: None, attributes: ParamAttributes::default() };
        Function {
            name: name.into(),
            params: params.iter().map(param).collect(),
            result,
            result_extension: None,
            variadic: false,
            internal: false,
            memory,
            noreturn: false,
            code: Code::Declared,
            comment: String::new(),
        }
    }

    /// The same function without its code.
    pub fn declaration(&self) -> Function {
        Function {
            name: self.name.clone(),
            params: self.params.clone(),
            result: self.result.clone(),
            code: Code::Declared,
            comment: String::new(),
            ..*self
        }
    }
}

/// The code of a function.
#[derive(Debug)]
pub enum Code {
    /// It is only declared.
    Declared,
    /// Its text, read when it is first asked for (by `Module::body`).
    Unread(Unread),
    /// Its body, as read or created.
    Body(Rc<Body>),
}

/// The source of a function's body.
pub trait Source: fmt::Debug {
    /// Reads the body of this function.
    fn read(&self, function: &Function) -> Result<Body, Unsupported>;

    /// The source names of the function's parameters, by position, as far as the source knows them.
    fn parameter_names(&self) -> Vec<(usize, String)>;
}

/// A body that is read on demand, or the result of reading it.
#[derive(Debug)]
pub struct Unread {
    source: Box<dyn Source>,
    result: OnceCell<Result<Rc<Body>, Unsupported>>,
}

impl Unread {
    /// A body to be read.
    pub fn new(source: impl Source + 'static) -> Unread {
        Unread { source: Box::new(source), result: OnceCell::new() }
    }

    /// The source of the body.
    pub fn into_source(self) -> Box<dyn Source> {
        self.source
    }

    /// The body, which is read now if it has not been read yet.
    pub(super) fn get(&self, function: &Function) -> Result<Rc<Body>, Unsupported> {
        self.result.get_or_init(|| self.source.read(function).map(Rc::new)).clone()
    }

    /// The source names of the function's parameters, by position, as far as they are known.
    pub(super) fn parameter_names(&self) -> Vec<(usize, String)> {
        self.source.parameter_names()
    }
}
