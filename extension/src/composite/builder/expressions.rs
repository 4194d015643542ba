//! Expressions, from Rust's operators and some methods.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::marker::PhantomData;
use core::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};
use core::panic::Location;

use super::variables::{Array, Typed, Var};
use crate::composite::tree::{Comparison, Expression, Kind, Operation};
use crate::composite::value::{Text, Value};

/// An expression of type `T`.
#[derive(Clone, Debug)]
pub struct Expr<T> {
    pub(super) tree: Expression,
    ty: PhantomData<T>,
}

impl<T> Expr<T> {
    /// Wraps a tree, which should have this type: [`super::Builder::program`] checks it.
    pub fn of_tree(tree: Expression) -> Expr<T> {
        Expr { tree, ty: PhantomData }
    }

    /// Its tree.
    pub fn into_tree(self) -> Expression {
        self.tree
    }
}

/// An element of an array.
#[derive(Clone, Debug)]
pub struct Element<T> {
    pub(super) array: Array<T>,
    pub(super) index: Expression,
    /// The index's variable, if the index is one: then messages can use the element without a temporary.
    pub(super) index_variable: Option<u32>,
    pub(super) location: u32,
}

impl<T> Array<T> {
    /// One of its elements, counted from 0.
    #[track_caller]
    pub fn at(self, index: impl Into<Expr<i64>>) -> Element<T> {
        let index = index.into().tree;
        let index_variable = if let Expression::Variable(number) = index { Some(number) } else { None };
        Element { array: self, index, index_variable, location: line() }
    }
}

impl<T> From<Var<T>> for Expr<T> {
    fn from(variable: Var<T>) -> Expr<T> {
        Expr::of_tree(Expression::Variable(variable.number))
    }
}

impl<T> From<Element<T>> for Expr<T> {
    fn from(it: Element<T>) -> Expr<T> {
        Expr::of_tree(Expression::Element(it.array.number, Box::new(it.index), it.location))
    }
}

impl<T: Typed> From<T> for Expr<T> {
    fn from(value: T) -> Expr<T> {
        Expr::of_tree(match value.value() {
            Value::Boolean(it) => Expression::Boolean(it),
            Value::Character(it) => Expression::Character(it),
            Value::Integer(it) => Expression::Integer(it),
            Value::Real(it) => Expression::Real(it),
            Value::Text(it) => Expression::Text(it),
        })
    }
}

/// A TEXT.
pub fn text(text: &str) -> Expr<Text> {
    Text::from(text.as_bytes()).into()
}

/// Whether the last call failed: see [`super::do_not_abort_on_error`].
pub fn failed() -> Expr<bool> {
    Expr::of_tree(Expression::Failed)
}

/// The line of Rust that calls a function of the builder.
#[track_caller]
pub(super) fn line() -> u32 {
    Location::caller().line()
}

fn apply<T>(operation: Operation, operands: impl Into<Vec<Expression>>, location: u32) -> Expr<T> {
    Expr::of_tree(Expression::Apply(operation, operands.into(), location))
}

macro_rules! operators {
    ($($type:ty: $($trait:ident $method:ident $operation:ident)*;)*) => { $( $(
        operators!(@ Var<$type>, $type, $trait, $method, $operation);
        operators!(@ Expr<$type>, $type, $trait, $method, $operation);
        operators!(@ Element<$type>, $type, $trait, $method, $operation);
    )* )* };
    (@ $left:ty, $type:ty, $trait:ident, $method:ident, $operation:ident) => {
        impl<R: Into<Expr<$type>>> $trait<R> for $left {
            type Output = Expr<$type>;

            #[track_caller]
            fn $method(self, right: R) -> Expr<$type> {
                apply(Operation::$operation, [Expr::from(self).tree, right.into().tree], line())
            }
        }
    };
}

operators! {
    i64: Add add Add Sub sub Subtract Mul mul Multiply;
    f64: Add add AddReal Sub sub SubtractReal Mul mul MultiplyReal Div div DivideReal;
    bool: BitAnd bitand And BitOr bitor Or;
    Text: Add add Concatenate;
}

macro_rules! methods {
    ($(impl $type:ty { $(
        $(#[$doc:meta])* fn $name:ident($($argument:ident: $of:ty),*) -> $result:ty = $operation:expr;
    )* })*) => { $(
        methods!(@ Var $type { $( $(#[$doc])* $name($($argument: $of),*) -> $result = $operation; )* });
        methods!(@ Expr $type { $( $(#[$doc])* $name($($argument: $of),*) -> $result = $operation; )* });
        methods!(@ Element $type { $( $(#[$doc])* $name($($argument: $of),*) -> $result = $operation; )* });
    )* };
    (@ $holder:ident $type:ty { $(
        $(#[$doc:meta])* $name:ident($($argument:ident: $of:ty),*) -> $result:ty = $operation:expr;
    )* }) => {
        impl $holder<$type> { $(
            $(#[$doc])*
            #[track_caller]
            #[allow(clippy::should_implement_trait)]
            pub fn $name(self, $($argument: impl Into<Expr<$of>>),*) -> Expr<$result> {
                apply($operation, [Expr::from(self).tree, $($argument.into().tree),*], line())
            }
        )* }
    };
}

use Operation::Compare;

methods! {
    impl i64 {
        /// `self = other`
        fn eq(other: i64) -> bool = Compare(Comparison::Equal, Kind::Word);
        /// `self # other`
        fn ne(other: i64) -> bool = Compare(Comparison::NotEqual, Kind::Word);
        /// `self < other`
        fn lt(other: i64) -> bool = Compare(Comparison::Less, Kind::Word);
        /// `self <= other`
        fn le(other: i64) -> bool = Compare(Comparison::LessEqual, Kind::Word);
        /// `self > other`
        fn gt(other: i64) -> bool = Compare(Comparison::Greater, Kind::Word);
        /// `self >= other`
        fn ge(other: i64) -> bool = Compare(Comparison::GreaterEqual, Kind::Word);
        /// `self DIV other`: floors, unlike Rust's `/`.
        fn div(other: i64) -> i64 = Operation::Div;
        /// `self MOD other`: has the sign of `other`, unlike Rust's `%`.
        fn modulo(other: i64) -> i64 = Operation::Mod;
        /// The smaller one.
        fn min(other: i64) -> i64 = Operation::Min;
        /// The greater one.
        fn max(other: i64) -> i64 = Operation::Max;
        /// `BITAND(self, other)`
        fn bit_and(other: i64) -> i64 = Operation::BitAnd;
        /// `BITOR(self, other)`
        fn bit_or(other: i64) -> i64 = Operation::BitOr;
        /// `BITXOR(self, other)`
        fn bit_xor(other: i64) -> i64 = Operation::BitXor;
        /// `BITNOT(self)`
        fn bit_not() -> i64 = Operation::BitNot;
        /// `SHIFT(self, by)`: left, or right if it is negative; zeros come in.
        fn shift(by: i64) -> i64 = Operation::Shift;
        /// `ROTATE(self, by)`: left, or right if it is negative.
        fn rotate(by: i64) -> i64 = Operation::Rotate;
        /// `ADDWRAP(self, other)`
        fn add_wrap(other: i64) -> i64 = Operation::AddWrap;
        /// `SUBWRAP(self, other)`
        fn sub_wrap(other: i64) -> i64 = Operation::SubtractWrap;
        /// `MULWRAP(self, other)`
        fn mul_wrap(other: i64) -> i64 = Operation::MultiplyWrap;
        /// `REAL(self)`
        fn to_real() -> f64 = Operation::IntegerToReal;
        /// `CHARACTER(self)`
        fn to_character() -> u8 = Operation::IntegerToCharacter;
        /// `TEXT(self)`
        fn to_text() -> Text = Operation::IntegerToText;
        /// A TEXT of `self` bytes 0X.
        fn zeros() -> Text = Operation::Zeros;
    }
    impl u8 {
        /// `self = other`
        fn eq(other: u8) -> bool = Compare(Comparison::Equal, Kind::Word);
        /// `self < other`
        fn lt(other: u8) -> bool = Compare(Comparison::Less, Kind::Word);
        /// `INTEGER(self)`
        fn to_integer() -> i64 = Operation::CharacterToInteger;
        /// `TEXT(self)`
        fn to_text() -> Text = Operation::CharacterToText;
    }
    impl f64 {
        /// `self = other`
        fn eq(other: f64) -> bool = Compare(Comparison::Equal, Kind::Real);
        /// `self < other`
        fn lt(other: f64) -> bool = Compare(Comparison::Less, Kind::Real);
        /// `self <= other`
        fn le(other: f64) -> bool = Compare(Comparison::LessEqual, Kind::Real);
        /// `self > other`
        fn gt(other: f64) -> bool = Compare(Comparison::Greater, Kind::Real);
        /// `self >= other`
        fn ge(other: f64) -> bool = Compare(Comparison::GreaterEqual, Kind::Real);
        /// `SQRT(self)`
        fn sqrt() -> f64 = Operation::Sqrt;
        /// `INTEGER(self)`: floors.
        fn to_integer() -> i64 = Operation::RealToInteger;
        /// `TEXT(self)`
        fn to_text() -> Text = Operation::RealToText;
    }
    impl Text {
        /// `self = other`
        fn eq(other: Text) -> bool = Compare(Comparison::Equal, Kind::Text);
        /// `self # other`
        fn ne(other: Text) -> bool = Compare(Comparison::NotEqual, Kind::Text);
        /// `self < other`
        fn lt(other: Text) -> bool = Compare(Comparison::Less, Kind::Text);
        /// `LENGTH(self)`
        fn length() -> i64 = Operation::Length;
        /// `self[index]`
        fn byte(index: i64) -> u8 = Operation::ByteOf;
        /// `SLICE(self, from, count)`
        fn slice(from: i64, count: i64) -> Text = Operation::Slice;
        /// `FIND(self, part, from)`
        fn find(part: Text, from: i64) -> i64 = Operation::Find;
    }
}

macro_rules! one_operand {
    ($($type:ty: $trait:ident $method:ident $operation:ident;)*) => { $(
        one_operand!(@ Var<$type>, $type, $trait, $method, $operation);
        one_operand!(@ Expr<$type>, $type, $trait, $method, $operation);
        one_operand!(@ Element<$type>, $type, $trait, $method, $operation);
    )* };
    (@ $left:ty, $type:ty, $trait:ident, $method:ident, $operation:ident) => {
        impl $trait for $left {
            type Output = Expr<$type>;

            #[track_caller]
            fn $method(self) -> Expr<$type> {
                apply(Operation::$operation, [Expr::from(self).tree], line())
            }
        }
    };
}

one_operand! { bool: Not not Not; i64: Neg neg Negate; f64: Neg neg NegateReal; }
