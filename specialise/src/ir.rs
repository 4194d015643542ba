//! The code that the specialiser reads and writes: LLVM's, as far as C needs it, with opaque pointers and with every
//! address already computed to bytes. The residual program is made of the same types, so that what comes out can be
//! printed as LLVM IR, as C, or handed to Cranelift, and specialised again.
//!
//! It refuses to know names of types, metadata other than places, and the flags that only an optimiser reads (`nsw`,
//! `nuw`, `exact`, `inbounds`, fast-math): leaving them out never changes what a defined program computes.

mod attributes;
mod consts;
mod ids;
mod ops;
mod places;
mod types;
mod unread;
mod ways;

use std::collections::HashSet;
use std::rc::Rc;

pub use attributes::{CallAttributes, Effects, Extension, ParamAttributes};
pub use consts::{Const, signed};
pub use ids::{BlockId, FunctionId, GlobalId, ValueId};
pub use ops::{Access, Binary, Cast, Compare, FloatCompare, Op, Operand};
pub use places::{Place, PlaceId, Places};
pub use types::{Layout, Type};
pub use unread::{Source, Unread, Unsupported};

/// One instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Instruction {
    /// What its result is called; none if it has none.
    pub result: Option<ValueId>,
    /// The type of its result.
    pub ty: Type,
    /// What it does.
    pub op: Op,
    /// Where it stands in the source.
    pub place: Option<PlaceId>,
}

/// How a block ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Terminator {
    /// Back to the caller.
    Return(Option<Operand>),
    /// On in another block.
    Jump(BlockId),
    /// On in the first if the condition (`i1`) is true, else in the second.
    Branch(Operand, BlockId, BlockId),
    /// On where the value belongs, else in the block given first.
    Switch(Operand, BlockId, Vec<(u128, BlockId)>),
    /// Never reached.
    Unreachable,
}

/// Instructions that run one after the other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Block {
    /// The instructions, phis first.
    pub instructions: Vec<Instruction>,
    /// How it ends.
    pub terminator: Terminator,
    /// Where its terminator stands in the source.
    pub place: Option<PlaceId>,
    /// Why it is there, for a reader of the residual program; empty if there is nothing to say.
    pub comment: String,
}

/// The code of a function.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Body {
    /// The blocks; the first is the entry and has no phis.
    pub blocks: Vec<Block>,
    /// The types of all values, parameters first.
    pub types: Vec<Type>,
    /// Names that values have in the text, by value, for readers; may be shorter than `types`, may hold empty names.
    pub names: Vec<Rc<str>>,
}

impl Block {
    /// How many phis it begins with.
    pub fn phi_count(&self) -> usize {
        self.instructions.iter().take_while(|instruction| matches!(instruction.op, Op::Phi(_))).count()
    }

    /// What its phis choose from, to be rewritten.
    pub fn phis_mut(&mut self) -> impl Iterator<Item = &mut Vec<(Operand, BlockId)>> {
        self.instructions.iter_mut().map_while(|instruction| match &mut instruction.op {
            Op::Phi(inputs) => Some(inputs),
            _ => None,
        })
    }
}

impl Body {
    /// A new value, without a name, that no instruction defines yet.
    pub fn new_value(&mut self, ty: Type) -> ValueId {
        self.types.push(ty);
        self.names.resize(self.types.len(), "".into());
        ValueId(self.types.len() as u32 - 1)
    }

    /// An instruction that computes a new value, and that value.
    pub fn computing(&mut self, ty: Type, op: Op, place: Option<PlaceId>) -> (Instruction, Operand) {
        let result = self.new_value(ty.clone());
        (Instruction { result: Some(result), ty, op, place }, Operand::Value(result))
    }

    /// The type of an operand of this body.
    pub fn type_of(&self, operand: &Operand) -> Type {
        match operand {
            Operand::Value(value) => self.types[value.0 as usize].clone(),
            Operand::Const(constant) => constant.ty(),
        }
    }
}

/// A parameter of a function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Param {
    /// Its type.
    pub ty: Type,
    /// Its name in the source, if it is known.
    pub name: Option<Rc<str>>,
    /// What is said about it.
    pub attributes: ParamAttributes,
}

/// A function.
#[derive(Debug)]
pub struct Function {
    /// Its name at link time.
    pub name: Rc<str>,
    /// What it takes.
    pub params: Vec<Param>,
    /// What it gives.
    pub result: Type,
    /// How a narrow result is widened.
    pub result_extension: Option<Extension>,
    /// Whether it takes more than it names.
    pub variadic: bool,
    /// Whether only its module sees it.
    pub internal: bool,
    /// What it touches in memory, as declared.
    pub memory: Effects,
    /// Whether it never comes back.
    pub noreturn: bool,
    /// Its code.
    pub code: Code,
    /// What it is, for a reader of the residual program; empty if there is nothing to say.
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

/// The code of a function, as far as it is there.
#[derive(Debug)]
pub enum Code {
    /// It is only declared.
    Declared,
    /// Its text, read when it is first asked for (by [`Module::body`]).
    Unread(Unread),
    /// It is there.
    Body(Rc<Body>),
}

/// A global variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Global {
    /// Its name at link time.
    pub name: Rc<str>,
    /// Its type.
    pub ty: Type,
    /// What it holds at first; none if it is defined elsewhere.
    pub initial: Option<Const>,
    /// Whether it is never written.
    pub constant: bool,
    /// Whether only its module sees it.
    pub internal: bool,
    /// Whether each thread has its own.
    pub thread_local: bool,
    /// What its address is a multiple of.
    pub align: u64,
}

/// Another name for something.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Alias {
    /// The name at link time.
    pub name: Rc<str>,
    /// What it names: a function, or a place in a global variable.
    pub target: Const,
}

/// A program or a part of one.
#[derive(Debug, Default)]
pub struct Module {
    /// What messages call it: the file that it was read from.
    pub name: Rc<str>,
    /// Its functions.
    pub functions: Vec<Function>,
    /// Its global variables.
    pub globals: Vec<Global>,
    /// Further names, for other modules; the code of this one refers to what they name.
    pub aliases: Vec<Alias>,
    /// Names whose definition here gives way to another module's when they are linked, or whose address may be null if
    /// they are only declared here (`weak`, `linkonce`, `common`, `available_externally`, `extern_weak`).
    pub weak: HashSet<Rc<str>>,
    /// Names whose definition here says nothing, because a program may run with another one that is different. Aliases
    /// of which this is so have a declaration beside them, and that is what the code refers to.
    pub replaceable: HashSet<Rc<str>>,
    /// Places that instructions refer to.
    pub places: Rc<Places>,
}

impl Module {
    /// A function by its name at link time.
    pub fn function(&self, name: &str) -> Option<FunctionId> {
        self.functions.iter().position(|f| &*f.name == name).map(|at| FunctionId(at as u32))
    }

    /// A function by its name, declared if it isn't there.
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
}
