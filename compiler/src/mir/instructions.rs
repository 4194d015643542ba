//! Instructions: what a block does between its suspension point and its terminator.

use drystone_language::program::{AnyType, ComponentId, InterfaceId, ProcedureId, VariableId};
use drystone_runtime::layout::Fault;

use super::{Address, Base, EntryPoint, LocationId, Reg, RegType};

/// Arithmetic that cannot fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Op {
    Add,
    Subtract,
    Min,
    Max,
    And,
    Or,
    Xor,
    /// As those above, it wraps around.
    Multiply,
    /// Left, or right by a negative number; zeros come in. By 64 or more it gives 0.
    Shift,
    /// Left, or right by a negative number.
    Rotate,
    AddReal,
    SubtractReal,
    MultiplyReal,
    DivideReal,
    MinReal,
    MaxReal,
    /// Of integers; unsigned ones beside.
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    LessUnsigned,
    EqualReal,
    NotEqualReal,
    LessReal,
    LessEqualReal,
    GreaterReal,
    GreaterEqualReal,
}

impl Op {
    /// Whether it gives 0 or 1.
    pub fn compares(self) -> bool {
        use Op::*;
        match self {
            Equal | NotEqual | Less | LessEqual | Greater | GreaterEqual | LessUnsigned => true,
            EqualReal | NotEqualReal | LessReal | LessEqualReal | GreaterReal | GreaterEqualReal => true,
            Add | Subtract | Min | Max | And | Or | Xor | Multiply | Shift | Rotate => false,
            AddReal | SubtractReal | MultiplyReal | DivideReal | MinReal | MaxReal => false,
        }
    }

    /// The types of its operands and of its result.
    pub fn types(self) -> (RegType, RegType) {
        use Op::*;
        match self {
            Add | Subtract | Min | Max | And | Or | Xor | Multiply | Shift | Rotate => {
                (RegType::Int, RegType::Int)
            }
            Equal | NotEqual | Less | LessEqual | Greater | GreaterEqual | LessUnsigned => {
                (RegType::Int, RegType::Int)
            }
            AddReal | SubtractReal | MultiplyReal | DivideReal | MinReal | MaxReal => {
                (RegType::Real, RegType::Real)
            }
            EqualReal | NotEqualReal | LessReal | LessEqualReal | GreaterReal | GreaterEqualReal => {
                (RegType::Real, RegType::Int)
            }
        }
    }
}

/// Arithmetic on integers that may overflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Checked {
    Add,
    Subtract,
    Multiply,
    /// Rounds towards minus infinity.
    Div,
    /// Has the sign of the divisor.
    Mod,
}

/// One-operand instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Unary {
    NegateReal,
    SquareRoot,
    Floor,
    IntToReal,
    /// The operand is known to be in range.
    RealToInt,
}

impl Unary {
    /// The types of its operand and of its result.
    pub fn types(self) -> (RegType, RegType) {
        match self {
            Unary::NegateReal | Unary::SquareRoot | Unary::Floor => (RegType::Real, RegType::Real),
            Unary::IntToReal => (RegType::Int, RegType::Real),
            Unary::RealToInt => (RegType::Real, RegType::Int),
        }
    }
}

/// Something in the program's read-only data or code, resolved at emission.
#[derive(Clone, Debug, PartialEq)]
pub enum Symbol {
    /// `component::Interface`
    Interface(InterfaceId),
    /// `component::Template`
    Template(ComponentId),
    /// `component::Collection` of a collection variable.
    Collection(VariableId),
    /// `component::AnyType`
    Any(AnyType),
    /// The `ArrayHead` without elements that stands for arrays that were not made.
    NoArray,
    /// A text literal with its head.
    Text(Vec<u8>),
    /// The table of owned variables in the frame of this body or procedure, without temporaries.
    Owned,
    /// The `component::Frame` of a procedure variant.
    Frame(usize),
    /// The `component::Procedure` of a procedure that a crate carries.
    Procedure(ProcedureId),
}

/// How an operation at a suspension point reaches its communication.
#[derive(Clone, Debug, PartialEq)]
pub enum Reach {
    /// The process is the service: the communication is the process block.
    Service,
    /// A required slot of the own component, at an offset in the instance.
    Required(u32),
    /// A required slot of the own component, one of several.
    Indexed {
        /// Of their table's address, in the instance.
        offset: u32,
        /// Which one, from 1.
        k: Reg,
    },
    /// An offered slot at an offset in the instance that a register points to.
    Held {
        /// The instance.
        instance: Reg,
        /// Of the slot in it.
        offset: u32,
    },
    /// An offered slot of an instance, both in registers.
    HeldSlot {
        /// The instance.
        instance: Reg,
        /// The slot's address.
        slot: Reg,
    },
}

/// A message that is being written or read in its communication: given by a suspension point, taken by the instruction
/// that completes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Payload {
    /// The communication, which holds it.
    pub communication: Reg,
    /// The communication's word once it is complete.
    pub word: Reg,
}

/// Instructions that neither wait nor end a block. `to` is the register that gets the result.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum Inst {
    /// `to := constant`
    Int(Reg, i64),
    /// `to := constant`
    Real(Reg, f64),
    /// `to := from`
    Copy { to: Reg, from: Reg },
    /// `to := a op b`
    Op { to: Reg, op: Op, a: Reg, b: Reg },
    /// `to := a operator b`, faults on overflow (and division by zero).
    Checked { to: Reg, operator: Checked, a: Reg, b: Reg, location: LocationId },
    /// `to := operator from`
    Unary { to: Reg, operator: Unary, from: Reg },
    /// Reads memory; bytes are zero-extended.
    Load { to: Reg, from: Address },
    /// `to :=` a word of a record (0 if the pointer is).
    Word { to: Reg, record: Reg, word: u32 },
    /// `to :=` how many elements a sequence has (0 if the pointer is).
    Count { to: Reg, sequence: Reg },
    /// `to :=` where the element of an index is, in a sequence that a variable holds; `cell` is the variable's address.
    /// Before that, the sequence is copied if it has other holders, since the element is going to be changed.
    Place { to: Reg, cell: Reg, index: Reg, location: LocationId },
    /// `to :=` how many bytes a text has (0 if the pointer is).
    Length { to: Reg, text: Reg },
    /// `to :=` where the first byte of a text is (anything if there is none).
    Bytes { to: Reg, text: Reg },
    /// Writes memory.
    Store { to: Address, value: Reg },
    /// `to :=` the address itself.
    Address { to: Reg, of: Address },
    /// `to :=` the process block, the component.
    Base(Reg, Base),
    /// `to :=` the address of read-only data.
    Symbol(Reg, Symbol),
    /// Faults if the register is 0.
    Require(Reg, Fault, LocationId),
    /// Faults always.
    Fail(Fault, LocationId),
    /// Calls an entry point of the runtime: `name(worker, process, args..)`.
    Call { to: Option<Reg>, entry: &'static EntryPoint, arguments: Vec<Reg> },
    /// Calls a procedure (index among the variants) on the processor's stack; leaves if it has failed. Its outer
    /// frame, if it uses one, is the first argument.
    CallNative { to: Option<Reg>, variant: usize, arguments: Vec<Reg> },
    /// `to :=` the result that a procedure has just left in the worker.
    Result(Reg),
    /// `to :=` the address of an element of the collection variable at an address.
    Find {
        to: Reg,
        variable: VariableId,
        collection: Address,
        keys: Vec<Reg>,
        /// A key is a text: comparing long ones lets other processes run.
        by_text: bool,
        absent: IfAbsent,
    },
    /// In a condition: it reads the element of the collection variable at an address.
    Watch { variable: VariableId, collection: Address, keys: Vec<Reg> },
    /// The element of the collection variable at an address is changed.
    Wrote { variable: VariableId, collection: Address, keys: Vec<Reg> },
    /// `to :=` the address of these words in memory, which may be used until the next such instruction.
    Words(Reg, Vec<Reg>),
    /// A service's answer: makes room for a message where there must be room, see `SuspensionOp::Send`.
    Room {
        /// Its interface.
        interface: InterfaceId,
        /// The message.
        message: usize,
        /// Becomes the communication, and its word once the message counts as sent (0: the runtime shall do it).
        payload: Payload,
        /// For errors.
        location: LocationId,
    },
    /// Completes the message that the last suspension point made room for.
    Sent { payload: Payload, interface: InterfaceId, message: usize },
    /// Completes the receipt of the message that the last suspension point gave: its words have been read.
    Received { payload: Payload, interface: InterfaceId, message: usize },
}

impl Inst {
    /// Whether other processes may run meanwhile: they change nothing that is this process's, but elements may move.
    pub fn lets_others_run(&self) -> bool {
        match self {
            Inst::Call { entry, .. } => entry.lets_others_run,
            Inst::CallNative { .. } | Inst::Find { absent: IfAbsent::Make(_), .. } => true,
            Inst::Find { by_text, .. } => *by_text,
            _ => false,
        }
    }
}

/// What a lookup does if the element is absent (or, in an array, out of bounds, or the array not made).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IfAbsent {
    /// It is an error.
    Fault(Fault, LocationId),
    /// The address is 0.
    Null,
    /// It is made; not in arrays.
    Make(LocationId),
}
