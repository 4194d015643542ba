//! A module: functions, global variables, and the linkage of their names.

use std::collections::HashSet;
use std::rc::Rc;

use super::{
    Body, Code, Const, Effects, Function, FunctionId, GlobalId, Place, PlaceId, Places, Type, Unsupported,
};

/// A global variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Global {
    /// Its name at link time.
    pub name: Rc<str>,
    /// Its type.
    pub ty: Type,
    /// Its initial contents; `None` if it is defined elsewhere.
    pub initial: Option<Const>,
    /// Whether it is never written.
    pub constant: bool,
    /// Whether only its module sees it.
    pub internal: bool,
    /// Whether each thread has a copy of its own.
    pub thread_local: bool,
    /// Its alignment.
    pub align: u64,
}

/// An alias.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Alias {
    /// The name at link time.
    pub name: Rc<str>,
    /// The target: a function, or a place in a global variable.
    pub target: Const,
}

/// A program or a part of one.
#[derive(Debug, Default)]
pub struct Module {
    /// The name in messages: that of the file.
    pub name: Rc<str>,
    /// Its functions.
    pub functions: Vec<Function>,
    /// Its global variables.
    pub globals: Vec<Global>,
    /// Aliases for other modules. The code of this module refers to their targets.
    pub aliases: Vec<Alias>,
    /// Weak names (`weak`, `linkonce`, `common`, `available_externally`, `extern_weak`): a definition in another module
    /// overrides the one here, and the address of a weak declaration may be null.
    pub weak: HashSet<Rc<str>>,
    /// Names whose definition here may not be relied on, because the program may run with a different one. For a
    /// replaceable alias there is a declaration of the same name, to which the code refers.
    pub replaceable: HashSet<Rc<str>>,
    /// Places that instructions refer to.
    pub places: Rc<Places>,
}

impl Module {
    /// A function by its name at link time.
    pub fn function(&self, name: &str) -> Option<FunctionId> {
        self.functions.iter().position(|f| &*f.name == name).map(|at| FunctionId(at as u32))
    }

    /// A function by its name, which is declared if it does not exist.
    pub fn declare(&mut self, name: &str, params: &[Type], result: Type, memory: Effects) -> FunctionId {
        self.function(name).unwrap_or_else(|| {
            self.functions.push(Function::declared(name, params, result, memory));
            FunctionId(self.functions.len() as u32 - 1)
        })
    }

    /// A place that an instruction of this module refers to.
    pub fn place(&self, id: PlaceId) -> Place {
        self.places.get(id)
    }

    /// A global variable by its name at link time.
    pub fn global(&self, name: &str) -> Option<GlobalId> {
        self.globals.iter().position(|g| &*g.name == name).map(|at| GlobalId(at as u32))
    }

    /// The code of a function, which is read now if it has not been read yet; `None` if it is only declared.
    pub fn body(&self, id: FunctionId) -> Result<Option<Rc<Body>>, Unsupported> {
        let function = &self.functions[id.0 as usize];
        match &function.code {
            Code::Declared => Ok(None),
            Code::Body(body) => Ok(Some(body.clone())),
            Code::Unread(unread) => unread.get(function).map(Some),
        }
    }

    /// The names of a function's parameters: from the IR, or otherwise from its source.
    pub fn parameter_names(&self, id: FunctionId) -> Vec<Option<Rc<str>>> {
        let function = &self.functions[id.0 as usize];
        let mut names: Vec<Option<Rc<str>>> =
            function.params.iter().map(|param| param.name.clone()).collect();
        if let Code::Unread(unread) = &function.code {
            for (position, name) in unread.parameter_names() {
                if let Some(slot @ None) = names.get_mut(position) {
                    *slot = Some(name.into());
                }
            }
        }
        names
    }
}
