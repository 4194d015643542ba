//! Bodies are read when they are first asked for.

use super::attributes::Groups;
use super::body;
use super::constants::{Symbol, Symbols};
use super::cursor::Fail;
use super::metadata::Numbered;
use super::types::Types;
use super::{Unsupported, excerpt, line};
use crate::ir::{Body, Code, Const, FunctionId, Module, PlaceId, Places};
use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::fmt;
use std::rc::Rc;

/// What the bodies of a file have in common, whatever module they are in.
#[derive(Debug)]
pub(crate) struct File {
    pub(super) name: Rc<str>,
    pub(super) text: Rc<str>,
    pub(super) types: Types,
    pub(super) groups: Groups,
    pub(super) metadata: Numbered,
}

/// What the names in the bodies of a file stand for in a module.
#[derive(Debug)]
pub(crate) struct Scope {
    pub(super) file: Rc<File>,
    pub(super) symbols: Symbols,
    pub(super) places: Rc<Places>,
    /// Places by the number of their metadata.
    pub(super) known: RefCell<HashMap<u32, Option<PlaceId>>>,
    /// File and function of a scope, by the number of its metadata.
    pub(super) surroundings: RefCell<HashMap<u32, (Rc<str>, Rc<str>)>>,
}

impl Scope {
    pub(super) fn new(file: Rc<File>, symbols: Symbols, places: Rc<Places>) -> Self {
        Scope { file, symbols, places, known: RefCell::default(), surroundings: RefCell::default() }
    }
}

impl Scope {
    /// The same names in another module, where they stand for other things.
    pub(crate) fn with<E>(
        &self,
        places: Rc<Places>,
        moved: impl Fn(&Const) -> Result<Const, E>,
    ) -> Result<Scope, E> {
        let symbols = self.symbols.iter().map(|(name, symbol)| {
            let value = symbol.value.as_ref().map(&moved).transpose()?;
            Ok((name.clone(), Symbol { value, trouble: symbol.trouble.clone() }))
        });
        Ok(Scope::new(self.file.clone(), symbols.collect::<Result<_, E>>()?, places))
    }
}

/// The text of a function's body that nobody has asked for yet, or what it came to.
pub struct UnreadBody {
    pub(crate) scope: Rc<Scope>,
    /// Where the body begins, at its brace.
    start: usize,
    result: OnceCell<Result<Rc<Body>, Unsupported>>,
}

impl fmt::Debug for UnreadBody {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "UnreadBody({}:{})", self.scope.file.name, line(&self.scope.file.text, self.start))
    }
}

impl Module {
    /// The code of a function, read now if nobody has asked for it yet; none if it is only declared.
    pub fn body(&self, id: FunctionId) -> Result<Option<Rc<Body>>, Unsupported> {
        let function = &self.functions[id.0 as usize];
        match &function.code {
            Code::Declared => Ok(None),
            Code::Body(body) => Ok(Some(body.clone())),
            Code::Unread(unread) => {
                let read = || {
                    body::read(function, &unread.scope, unread.start)
                        .map(Rc::new)
                        .map_err(|fail| unread.unsupported(&function.name, fail))
                };
                unread.result.get_or_init(read).clone().map(Some)
            }
        }
    }
}

impl UnreadBody {
    /// The body of which the text begins here, with names that stand for things of a module.
    pub(crate) fn new(scope: Rc<Scope>, start: usize) -> Self {
        UnreadBody { scope, start, result: OnceCell::new() }
    }

    /// Where its text begins.
    pub(crate) fn start(&self) -> usize {
        self.start
    }

    fn unsupported(&self, function: &Rc<str>, fail: Fail) -> Unsupported {
        let file = &self.scope.file;
        Unsupported {
            function: function.clone(),
            file: file.name.clone(),
            line: line(&file.text, fail.at),
            what: fail.what,
            excerpt: excerpt(&file.text, fail.at),
        }
    }
}
