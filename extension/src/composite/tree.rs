//! The tree of a program: commands, expressions and operations. They have the semantics of the language's statements
//! and expressions.

use alloc::boxed::Box;
use alloc::vec::Vec;

use drystone_component::Type;

use super::fault::Fault;
use super::value::Text;

/// A command.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// One after the other.
    Sequence(Vec<Command>),
    /// `variable := expression`
    Assign(u32, Expression),
    /// `array[index] := expression`, or a byte of a TEXT. The index is evaluated first; whether it is in range is
    /// checked after the value was evaluated.
    AssignElement {
        /// The array or TEXT.
        variable: u32,
        /// Which element.
        index: Expression,
        /// A value of the elements' type, or a CHARACTER.
        value: Expression,
        /// The location of the error if the index is out of range.
        location: u32,
    },
    /// `IF condition THEN .. ELSE .. END`
    If(Expression, Box<Command>, Box<Command>),
    /// `WHILE condition DO .. END`
    While(Expression, Box<Command>),
    /// `REPEAT .. UNTIL condition`
    Repeat(Box<Command>, Expression),
    /// `FOR variable := from TO to BY by DO .. END`
    For(Box<For>),
    /// Does the call with this number of [`super::Program::calls`].
    Call(u32),
    /// `is := NUMBER(text, variable)`: the variable becomes the number that the text spells, if it spells one.
    Number {
        /// A TEXT.
        text: Expression,
        /// An INTEGER or REAL.
        variable: u32,
        /// A BOOLEAN: whether it does.
        is: u32,
    },
    /// Copies elements from one array to another.
    Move(Box<Move>),
    /// Sets what a failed call does from now on.
    OnError(OnError),
    /// Stops with an error, as `ASSERT` does.
    Fail(Fault, u32),
    /// Ends the program.
    Stop,
}

/// `FOR`: the variable is INTEGER; bounds and step are evaluated once. A body that assigns the variable changes how the
/// loop goes on. The variable never goes past the bound.
#[derive(Clone, Debug, PartialEq)]
pub struct For {
    /// The counter.
    pub variable: u32,
    /// Its first value, which it gets even if the body never runs.
    pub from: Expression,
    /// Its bound.
    pub to: Expression,
    /// The step: not 0.
    pub by: Expression,
    /// The body.
    pub body: Command,
    /// The location of the error if the step is 0.
    pub location: u32,
}

/// Off++'s `Move(from, to, i, o, size, n)`: `n` items of `size` elements; item k is taken from `from_at + k *
/// from_step` and goes to `to_at + k * to_step`, one after the other; where they go they must not lie over each other.
/// All numbers are INTEGERs, evaluated in the order in which they stand here.
#[derive(Clone, Debug, PartialEq)]
pub struct Move {
    /// An array.
    pub from: u32,
    /// An array of the same type, perhaps the same one.
    pub to: u32,
    /// The element where the first item begins.
    pub from_at: Expression,
    /// The distance from one item to the next.
    pub from_step: Expression,
    /// The element where the first item goes.
    pub to_at: Expression,
    /// The distance from where one item goes to where the next one goes.
    pub to_step: Expression,
    /// Elements of each item.
    pub size: Expression,
    /// How many items.
    pub count: Expression,
    /// The location of the error if an element is out of range. Nothing is copied then.
    pub location: u32,
}

/// What a call does if it fails: because its communication is lost, or the protocol doesn't allow it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnError {
    /// It stops the program (AbortOnError). This is the initial state.
    Abort,
    /// The program continues, and can ask [`Expression::Failed`] (DoNotAbortOnError).
    Continue,
}

/// An expression. It has no side effect, so one that has to wait in the middle can be evaluated again from its
/// beginning.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    /// BOOLEAN
    Boolean(bool),
    /// CHARACTER
    Character(u8),
    /// INTEGER
    Integer(i64),
    /// REAL
    Real(f64),
    /// TEXT
    Text(Text),
    /// The value of a variable.
    Variable(u32),
    /// `array[index]`
    Element(u32, Box<Expression>, u32),
    /// An operation. The number is the location for errors.
    Apply(Operation, Vec<Expression>, u32),
    /// A test of a communication ([`super::Action::Test`], [`super::Action::Input`]): a number of
    /// [`super::Program::calls`].
    Test(u32),
    /// Whether the last call failed.
    Failed,
}

/// The kind of values that are compared. All but REAL and TEXT are integers in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// BOOLEAN (FALSE before TRUE), CHARACTER or INTEGER: two of one type.
    Word,
    /// REAL, by IEEE: a NaN is unequal to all and neither less nor greater.
    Real,
    /// TEXT, byte by byte; a prefix is less.
    Text,
}

/// The possible orders of two values, a bit each: a comparison is a set of them.
pub(super) mod order {
    pub const LESS: u64 = 1;
    pub const EQUAL: u64 = 2;
    pub const GREATER: u64 = 4;
    pub const UNORDERED: u64 = 8;

    /// Of two values.
    pub fn of(order: Option<core::cmp::Ordering>) -> u64 {
        order.map_or(UNORDERED, |order| 1 << (order as i8 + 1))
    }
}

/// Comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

impl Comparison {
    /// All of them, by number.
    pub const ALL: [Comparison; 6] = {
        use Comparison::*;
        [Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual]
    };

    /// The orders for which it holds.
    pub(super) fn orders(self) -> u64 {
        use order::*;
        match self {
            Comparison::Equal => EQUAL,
            Comparison::NotEqual => LESS | GREATER | UNORDERED,
            Comparison::Less => LESS,
            Comparison::LessEqual => LESS | EQUAL,
            Comparison::Greater => GREATER,
            Comparison::GreaterEqual => GREATER | EQUAL,
        }
    }
}

macro_rules! operations {
    ($($(#[$doc:meta])* $name:ident = $number:literal ($($operand:ident),*) -> $result:ident,)*) => {
        /// The operators and functions of the language, each for one type.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Operation {
            $($(#[$doc])* $name,)*
            /// BOOLEAN: the comparison of two values of a kind.
            Compare(Comparison, Kind),
        }

        impl Operation {
            /// All of them.
            pub fn all() -> impl Iterator<Item = Operation> {
                let kinds = [Kind::Word, Kind::Real, Kind::Text].into_iter();
                let compare = kinds.flat_map(|kind| Comparison::ALL.map(|it| Operation::Compare(it, kind)));
                [$(Operation::$name),*].into_iter().chain(compare)
            }

            /// Its number in encoded programs.
            pub fn number(self) -> u32 {
                match self {
                    $(Operation::$name => $number,)*
                    Operation::Compare(comparison, kind) => 64 + 6 * kind as u32 + comparison as u32,
                }
            }

            /// The one with a number.
            pub fn from_number(number: u32) -> Option<Operation> {
                match number {
                    $($number => Some(Operation::$name),)*
                    64..=81 => {
                        let kind = [Kind::Word, Kind::Real, Kind::Text][(number as usize - 64) / 6];
                        Some(Operation::Compare(Comparison::ALL[(number as usize - 64) % 6], kind))
                    }
                    _ => None,
                }
            }

            /// The types of its operands and of its result. [`Kind::Word`], which compares two values of any one type,
            /// has INTEGER here.
            pub fn signature(self) -> (&'static [Type], Type) {
                match self {
                    $(Operation::$name => (&[$(Type::$operand),*], Type::$result),)*
                    Operation::Compare(_, Kind::Word) => (&[Type::Integer, Type::Integer], Type::Boolean),
                    Operation::Compare(_, Kind::Real) => (&[Type::Real, Type::Real], Type::Boolean),
                    Operation::Compare(_, Kind::Text) => (&[Type::Text, Type::Text], Type::Boolean),
                }
            }
        }
    };
}

operations! {
    /// The right side is evaluated only if the left one is TRUE.
    And = 0 (Boolean, Boolean) -> Boolean,
    /// The right side is evaluated only if the left one is FALSE.
    Or = 1 (Boolean, Boolean) -> Boolean,
    /// `~`
    Not = 2 (Boolean) -> Boolean,
    /// Overflow is an error, as for all arithmetic on INTEGERs that isn't said to wrap.
    Negate = 3 (Integer) -> Integer,
    /// `+`
    Add = 4 (Integer, Integer) -> Integer,
    /// `-`
    Subtract = 5 (Integer, Integer) -> Integer,
    /// `*`
    Multiply = 6 (Integer, Integer) -> Integer,
    /// Floors.
    Div = 7 (Integer, Integer) -> Integer,
    /// The remainder of `Div`: it has the sign of the divisor.
    Mod = 8 (Integer, Integer) -> Integer,
    /// The smaller one.
    Min = 9 (Integer, Integer) -> Integer,
    /// The greater one.
    Max = 10 (Integer, Integer) -> Integer,
    /// `-`
    NegateReal = 11 (Real) -> Real,
    /// `+`
    AddReal = 12 (Real, Real) -> Real,
    /// `-`
    SubtractReal = 13 (Real, Real) -> Real,
    /// `*`
    MultiplyReal = 14 (Real, Real) -> Real,
    /// `/`
    DivideReal = 15 (Real, Real) -> Real,
    /// NaN if one is; -0.0 before 0.0.
    MinReal = 16 (Real, Real) -> Real,
    /// NaN if one is; 0.0 after -0.0.
    MaxReal = 17 (Real, Real) -> Real,
    /// `SQRT`
    Sqrt = 18 (Real) -> Real,
    /// `SIN`
    Sin = 19 (Real) -> Real,
    /// `COS`
    Cos = 20 (Real) -> Real,
    /// `TAN`
    Tan = 21 (Real) -> Real,
    /// `ARCSIN`
    Arcsin = 22 (Real) -> Real,
    /// `ARCCOS`
    Arccos = 23 (Real) -> Real,
    /// `ARCTAN`
    Arctan = 24 (Real) -> Real,
    /// `CHARACTER(n)`; outside 0 to 255 is an error.
    IntegerToCharacter = 25 (Integer) -> Character,
    /// `INTEGER(c)`
    CharacterToInteger = 26 (Character) -> Integer,
    /// `INTEGER(b)`
    BooleanToInteger = 27 (Boolean) -> Integer,
    /// `INTEGER(r)`: floors. It is an error if the result is no INTEGER.
    RealToInteger = 28 (Real) -> Integer,
    /// `REAL(n)`
    IntegerToReal = 29 (Integer) -> Real,
    /// `TEXT(c)`
    CharacterToText = 30 (Character) -> Text,
    /// `TEXT(n)`
    IntegerToText = 31 (Integer) -> Text,
    /// `TEXT(r)`
    RealToText = 32 (Real) -> Text,
    /// `TEXT(b)`
    BooleanToText = 33 (Boolean) -> Text,
    /// `LENGTH(t)`
    Length = 34 (Text) -> Integer,
    /// `t[i]`; an index out of range is an error.
    ByteOf = 35 (Text, Integer) -> Character,
    /// `SLICE(t, from, n)`; a part out of range is an error.
    Slice = 36 (Text, Integer, Integer) -> Text,
    /// `a + b`
    Concatenate = 37 (Text, Text) -> Text,
    /// `FIND(t, part, from)`: -1 if it isn't there.
    Find = 38 (Text, Text, Integer) -> Integer,
    /// `NEW(t, n)`: n bytes 0X; a negative number is an error.
    Zeros = 39 (Integer) -> Text,
    /// `BITAND(a, b)`. This and those below can't fail.
    BitAnd = 40 (Integer, Integer) -> Integer,
    /// `BITOR(a, b)`
    BitOr = 41 (Integer, Integer) -> Integer,
    /// `BITXOR(a, b)`
    BitXor = 42 (Integer, Integer) -> Integer,
    /// `BITNOT(a)`
    BitNot = 43 (Integer) -> Integer,
    /// `SHIFT(x, n)`: left by n, or right by -n; zeros come in.
    Shift = 44 (Integer, Integer) -> Integer,
    /// `ROTATE(x, n)`: left by n, or right by -n.
    Rotate = 45 (Integer, Integer) -> Integer,
    /// `ADDWRAP(a, b)`
    AddWrap = 46 (Integer, Integer) -> Integer,
    /// `SUBWRAP(a, b)`
    SubtractWrap = 47 (Integer, Integer) -> Integer,
    /// `MULWRAP(a, b)`
    MultiplyWrap = 48 (Integer, Integer) -> Integer,
}

impl Operation {
    /// Whether it can fail.
    pub fn may_fail(self) -> bool {
        use Operation::*;
        matches!(self, Negate | Add | Subtract | Multiply | Div | Mod | IntegerToCharacter | RealToInteger)
            || matches!(self, ByteOf | Slice | Find)
            || self.signature().1 == Type::Text
    }
}
