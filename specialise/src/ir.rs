//! The code that the specialiser reads and writes: LLVM's, as far as C needs it, with opaque pointers and with every
//! address already computed to bytes. The residual program is made of the same types, so that what comes out can be
//! printed as LLVM IR, as C, or handed to Cranelift, and specialised again.
//!
//! It refuses to know names of types, metadata other than places, and the flags that only an optimiser reads (`nsw`,
//! `nuw`, `exact`, `inbounds`, fast-math): leaving them out never changes what a defined program computes.

use std::cell::RefCell;
use std::collections::HashSet;
use std::rc::Rc;

/// A type; named structures are written out, which always ends because pointers are opaque.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Type {
    /// No value.
    Void,
    /// An integer of so many bits.
    Int(u32),
    /// 32-bit IEEE floating point.
    Float,
    /// 64-bit IEEE floating point.
    Double,
    /// A pointer, 8 bytes.
    Ptr,
    /// So many elements of one type.
    Array(u64, Rc<Type>),
    /// Fields in their order.
    Struct {
        /// The types of the fields.
        fields: Rc<[Type]>,
        /// Whether the fields follow each other without padding.
        packed: bool,
    },
    /// A vector of so many elements; code with vectors is read and printed, but not evaluated.
    Vector(u32, Rc<Type>),
}

/// Size and alignment in bytes of a type on x86-64 (System V).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    /// Bytes from one element of an array of this type to the next (LLVM's "alloc size").
    pub size: u64,
    /// The alignment that the ABI asks for.
    pub align: u64,
}

impl Type {
    /// The type of a pointer-sized integer.
    pub const WORD: Type = Type::Int(64);

    /// How a value of this type lies in memory.
    pub fn layout(&self) -> Layout {
        match self {
            Type::Void => Layout { size: 0, align: 1 },
            Type::Int(bits) => {
                let bytes = u64::from(bits.div_ceil(8)).next_power_of_two();
                let align = bytes.min(16);
                Layout { size: u64::from(bits.div_ceil(8)).next_multiple_of(align), align }
            }
            Type::Float => Layout { size: 4, align: 4 },
            Type::Double | Type::Ptr => Layout { size: 8, align: 8 },
            Type::Array(count, element) => {
                let element = element.layout();
                Layout { size: element.size * count, align: element.align }
            }
            Type::Struct { fields, packed } => {
                let align =
                    if *packed { 1 } else { fields.iter().map(|f| f.layout().align).max().unwrap_or(1) };
                let end =
                    self.offsets().last().map_or(0, |last| last + fields[fields.len() - 1].layout().size);
                Layout { size: end.next_multiple_of(align), align }
            }
            Type::Vector(count, element) => {
                let bytes = (u64::from(*count) * element.bits()).div_ceil(8).next_power_of_two();
                Layout { size: bytes, align: bytes }
            }
        }
    }

    /// Bytes that a load or a store of this type touches (LLVM's "store size").
    pub fn store_size(&self) -> u64 {
        match self {
            Type::Int(bits) => u64::from(bits.div_ceil(8)),
            _ => self.layout().size,
        }
    }

    /// Bits of a scalar.
    pub fn bits(&self) -> u64 {
        match self {
            Type::Int(bits) => u64::from(*bits),
            _ => self.layout().size * 8,
        }
    }

    /// Where the fields of a structure begin, in bytes; nothing for other types.
    pub fn offsets(&self) -> Vec<u64> {
        let Type::Struct { fields, packed } = self else { return Vec::new() };
        let mut end = 0u64;
        fields
            .iter()
            .map(|field| {
                let layout = field.layout();
                let offset = if *packed { end } else { end.next_multiple_of(layout.align) };
                end = offset + layout.size;
                offset
            })
            .collect()
    }

    /// Whether a value of this type is an integer, a float or a pointer.
    pub fn is_scalar(&self) -> bool {
        matches!(self, Type::Int(_) | Type::Float | Type::Double | Type::Ptr)
    }
}

/// A function of a [`Module`], by position.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct FunctionId(pub u32);

/// A global variable of a [`Module`], by position.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct GlobalId(pub u32);

/// A block of a [`Body`], by position; block 0 is the entry.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct BlockId(pub u32);

/// A value of a function: a parameter or the result of an instruction. Parameters come first, in their order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct ValueId(pub u32);

/// A value that is known before the program runs.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Const {
    /// An integer of so many bits (at most 128), zero-extended.
    Int {
        /// Its width.
        bits: u32,
        /// Its value; bits beyond the width are zero.
        value: u128,
    },
    /// A 32-bit float, by its bits.
    Float(u32),
    /// A 64-bit float, by its bits.
    Double(u64),
    /// The null pointer.
    Null,
    /// Any value of a type, `undef` and `poison` alike.
    Undef(Type),
    /// A type's value of zero bytes.
    Zero(Type),
    /// So many bytes into a global variable.
    Global(GlobalId, i64),
    /// The address of a function.
    Function(FunctionId),
    /// A structure, array or vector of these.
    Aggregate(Type, Rc<[Const]>),
    /// An array of bytes.
    Bytes(Rc<[u8]>),
    /// An address as an integer (`ptrtoint`); bits.
    Address(u32, Rc<Const>),
    /// An integer as an address (`inttoptr`).
    Pointer(Rc<Const>),
}

impl Const {
    /// An integer, cut to its width.
    pub fn int(bits: u32, value: u128) -> Const {
        let mask = if bits >= 128 { u128::MAX } else { (1 << bits) - 1 };
        Const::Int { bits, value: value & mask }
    }

    /// The type of this constant.
    pub fn ty(&self) -> Type {
        match self {
            Const::Int { bits, .. } | Const::Address(bits, _) => Type::Int(*bits),
            Const::Float(_) => Type::Float,
            Const::Double(_) => Type::Double,
            Const::Null | Const::Global(..) | Const::Function(_) | Const::Pointer(_) => Type::Ptr,
            Const::Undef(ty) | Const::Zero(ty) | Const::Aggregate(ty, _) => ty.clone(),
            Const::Bytes(bytes) => Type::Array(bytes.len() as u64, Rc::new(Type::Int(8))),
        }
    }
}

/// What an instruction works on.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Operand {
    /// A value of the function.
    Value(ValueId),
    /// A constant.
    Const(Const),
}

impl Operand {
    /// The integer that it is known to be, zero-extended.
    pub fn known_int(&self) -> Option<u128> {
        match self {
            Operand::Const(Const::Int { value, .. }) => Some(*value),
            Operand::Const(Const::Zero(Type::Int(_))) => Some(0),
            _ => None,
        }
    }
}

/// Arithmetic on two values of one type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "the names are LLVM's")]
pub enum Binary {
    Add,
    Sub,
    Mul,
    UDiv,
    SDiv,
    URem,
    SRem,
    Shl,
    LShr,
    AShr,
    And,
    Or,
    Xor,
    FAdd,
    FSub,
    FMul,
    FDiv,
    FRem,
}

/// A comparison of integers or pointers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "the names are LLVM's")]
pub enum Compare {
    Eq,
    Ne,
    Ugt,
    Uge,
    Ult,
    Ule,
    Sgt,
    Sge,
    Slt,
    Sle,
}

/// A comparison of floats; the `O` ones are false and the `U` ones true when an operand is not a number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "the names are LLVM's")]
pub enum FloatCompare {
    False,
    Oeq,
    Ogt,
    Oge,
    Olt,
    Ole,
    One,
    Ord,
    Ueq,
    Ugt,
    Uge,
    Ult,
    Ule,
    Une,
    Uno,
    True,
}

/// A conversion between types.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "the names are LLVM's")]
pub enum Cast {
    Trunc,
    ZExt,
    SExt,
    FpTrunc,
    FpExt,
    FpToUi,
    FpToSi,
    UiToFp,
    SiToFp,
    PtrToInt,
    IntToPtr,
    BitCast,
}

/// How a memory access is bound to others.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Access {
    /// It may be moved, merged or left out.
    Plain,
    /// It happens as it stands.
    Volatile,
    /// It is atomic (of whatever ordering): a barrier. The residual program keeps it sequentially consistent.
    Atomic,
}

/// What an instruction does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Op {
    /// Arithmetic.
    Binary(Binary, Operand, Operand),
    /// Floating-point negation.
    FNeg(Operand),
    /// A comparison of integers or pointers; gives `i1`.
    Compare(Compare, Operand, Operand),
    /// A comparison of floats; gives `i1`.
    FloatCompare(FloatCompare, Operand, Operand),
    /// A conversion to the type of the instruction.
    Cast(Cast, Operand),
    /// The second if the first (`i1`) is true, else the third.
    Select(Operand, Operand, Operand),
    /// The same value, but fixed if it was undefined.
    Freeze(Operand),
    /// A value of the instruction's type from an address.
    Load {
        /// Where from.
        from: Operand,
        /// What the address is a multiple of.
        align: u64,
        /// Whether it may be moved.
        access: Access,
    },
    /// Puts a value at an address.
    Store {
        /// What.
        value: Operand,
        /// Where.
        to: Operand,
        /// What the address is a multiple of.
        align: u64,
        /// Whether it may be moved.
        access: Access,
    },
    /// Room on the stack until the function returns: `count` times `size` bytes.
    Alloca {
        /// Bytes of one element.
        size: u64,
        /// How many.
        count: Operand,
        /// What the address is a multiple of.
        align: u64,
    },
    /// An address: `base + offset + sum of index * scale`, in bytes; indices are sign-extended to 64 bits.
    Address {
        /// Where it starts.
        base: Operand,
        /// Bytes from there.
        offset: i64,
        /// Index and bytes for each step of it.
        terms: Vec<(Operand, i64)>,
    },
    /// Calls a function; intrinsics are functions whose name begins with `llvm.`.
    Call {
        /// The function's address; `Const::Function` if it is known.
        callee: Operand,
        /// What it is given.
        args: Vec<Operand>,
        /// Whether the type of the function takes more arguments than it names, and how many it names.
        variadic: Option<usize>,
        /// What the call site says about arguments and result, over what the function's declaration says.
        attributes: Rc<CallAttributes>,
    },
    /// The value that belongs to the block control came from. Phis stand first in a block.
    Phi(Vec<(Operand, BlockId)>),
    /// A field of a structure or array held as a value.
    ExtractValue(Operand, Vec<u32>),
    /// The same aggregate with one field changed: aggregate, value, path.
    InsertValue(Operand, Operand, Vec<u32>),
    /// An element of a vector.
    ExtractElement(Operand, Operand),
    /// The same vector with one element changed: vector, element, index.
    InsertElement(Operand, Operand, Operand),
    /// Elements of two vectors in a new order; -1 is undefined.
    Shuffle(Operand, Operand, Vec<i32>),
    /// `atomicrmw`: LLVM's name of the operation, address, operand.
    AtomicUpdate(Rc<str>, Operand, Operand),
    /// `cmpxchg`: address, expected, new; gives a structure of the old value and whether it was replaced.
    CompareExchange(Operand, Operand, Operand),
    /// A fence.
    Fence,
}

/// What a call site or a declaration says about arguments and result.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CallAttributes {
    /// For each parameter.
    pub params: Vec<ParamAttributes>,
    /// What the call touches in memory, if the call site says so.
    pub memory: Option<Effects>,
    /// Whether the call never comes back.
    pub noreturn: bool,
}

/// What is said about a parameter.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ParamAttributes {
    /// The callee gets a copy of so many bytes, aligned so, of what the pointer points to.
    pub byval: Option<(u64, u64)>,
    /// The pointer is where a structure is returned; its size and alignment.
    pub sret: Option<(u64, u64)>,
    /// Nothing else points there while the function runs.
    pub noalias: bool,
    /// The callee doesn't keep the pointer.
    pub nocapture: bool,
    /// The callee doesn't write through the pointer.
    pub readonly: bool,
    /// The callee doesn't read through the pointer.
    pub writeonly: bool,
    /// How an integer narrower than 32 bits is widened by the caller.
    pub extension: Option<Extension>,
    /// What the pointer is a multiple of, if it is said.
    pub align: Option<u64>,
}

/// How a narrow integer is passed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "the names are LLVM's")]
pub enum Extension {
    Zero,
    Sign,
}

/// What memory a function touches.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Effects {
    /// None at all: its result depends on its arguments only (`memory(none)`, `readnone`).
    None,
    /// It reads.
    Read,
    /// It reads what its arguments point to, nothing else.
    ReadArguments,
    /// It reads and writes what its arguments point to, nothing else.
    Arguments,
    /// It touches memory that the program can't see, and nothing else (`memory(inaccessiblemem: ..)`).
    Inaccessible,
    /// What its arguments point to and memory that the program can't see.
    ArgumentsOrInaccessible,
    /// Anything.
    Any,
}

/// A place in the source text; [`Module::place`] tells it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct PlaceId(pub u32);

/// A place in the source text.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Place {
    /// The file as the compiler was given it.
    pub file: Rc<str>,
    /// From 1; 0 if the compiler gives none.
    pub line: u32,
    /// From 1.
    pub column: u32,
    /// The function of the source text it stands in (not the one that it was inlined into).
    pub function: Rc<str>,
    /// Where that was inlined by the compiler.
    pub inlined_at: Option<PlaceId>,
}

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

/// The code of a function, as far as it is there.
#[derive(Debug)]
pub enum Code {
    /// It is only declared.
    Declared,
    /// Its text, read when it is first asked for (by [`Module::body`]).
    Unread(crate::parse::UnreadBody),
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

/// Places in the source text, shared by all that refer to them; more are added as bodies are read.
#[derive(Debug, Default)]
pub struct Places(RefCell<Vec<Place>>);

impl Places {
    /// Adds a place.
    pub fn add(&self, place: Place) -> PlaceId {
        let mut places = self.0.borrow_mut();
        places.push(place);
        PlaceId(places.len() as u32 - 1)
    }

    /// A place that was added.
    pub fn get(&self, id: PlaceId) -> Place {
        self.0.borrow()[id.0 as usize].clone()
    }

    /// How many there are so far.
    pub fn count(&self) -> usize {
        self.0.borrow().len()
    }
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
    /// Names whose definition here may be replaced by another module's, or whose address may be null if they are only
    /// declared here (`weak`, `linkonce`, `common`, `extern_weak`).
    pub weak: HashSet<Rc<str>>,
    /// Places that instructions refer to.
    pub places: Rc<Places>,
}

impl Module {
    /// A function by its name at link time.
    pub fn function(&self, name: &str) -> Option<FunctionId> {
        self.functions.iter().position(|f| &*f.name == name).map(|at| FunctionId(at as u32))
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

impl Body {
    /// The type of an operand of this body.
    pub fn type_of(&self, operand: &Operand) -> Type {
        match operand {
            Operand::Value(value) => self.types[value.0 as usize].clone(),
            Operand::Const(constant) => constant.ty(),
        }
    }
}
