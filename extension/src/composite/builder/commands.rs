//! Functions that make commands.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::draft::Builder;
use super::expressions::{Element, Expr, line};
use super::variables::{Array, Typed, Var};
use crate::composite::fault::Fault;
use crate::composite::tree::{Command, Expression, For, Move, OnError};
use crate::composite::value::Text;

/// One after the other.
pub fn sequence(commands: impl Into<Vec<Command>>) -> Command {
    Command::Sequence(commands.into())
}

/// `IF condition THEN .. END`
pub fn if_(condition: impl Into<Expr<bool>>, then: Command) -> Command {
    if_else(condition, then, sequence([]))
}

/// `IF condition THEN .. ELSE .. END`
pub fn if_else(condition: impl Into<Expr<bool>>, then: Command, otherwise: Command) -> Command {
    Command::If(condition.into().tree, Box::new(then), Box::new(otherwise))
}

/// `WHILE condition DO .. END`
pub fn while_(condition: impl Into<Expr<bool>>, body: Command) -> Command {
    Command::While(condition.into().tree, Box::new(body))
}

/// `REPEAT .. UNTIL condition`
pub fn repeat_until(body: Command, condition: impl Into<Expr<bool>>) -> Command {
    Command::Repeat(Box::new(body), condition.into().tree)
}

/// `FOR variable := from TO to DO .. END`
#[track_caller]
pub fn for_(
    variable: Var<i64>,
    from: impl Into<Expr<i64>>,
    to: impl Into<Expr<i64>>,
    body: Command,
) -> Command {
    let (from, to, by) = (from.into().tree, to.into().tree, Expression::Integer(1));
    Command::For(Box::new(For { variable: variable.number, from, to, by, body, location: line() }))
}

/// Runs the body so many times (Off++'s `Repeat`).
#[track_caller]
pub fn repeat(builder: &Builder, times: impl Into<Expr<i64>>, body: Command) -> Command {
    for_(builder.local(), 1, times, body)
}

/// From here on a call that fails stops the program (AbortOnError). This is the initial state.
pub fn abort_on_error() -> Command {
    Command::OnError(OnError::Abort)
}

/// From here on the program continues after a call that fails, and can ask whether it did ([`super::failed`];
/// DoNotAbortOnError).
pub fn do_not_abort_on_error() -> Command {
    Command::OnError(OnError::Continue)
}

/// Stops with an error unless the condition holds.
#[track_caller]
pub fn assert_(condition: impl Into<Expr<bool>>) -> Command {
    let location = line();
    if_else(condition, sequence([]), Command::Fail(Fault::AssertionFailed, location))
}

/// Ends the program.
pub fn stop() -> Command {
    Command::Stop
}

/// Copies `count` items of `size` elements each (Off++'s `Move`). Source and target are each an array, the element
/// where the first item begins, and the distance from one item to the next.
#[track_caller]
pub fn strided<T>(
    (from, from_at, from_step): (Array<T>, i64, i64),
    (to, to_at, to_step): (Array<T>, i64, i64),
    size: impl Into<Expr<i64>>,
    count: impl Into<Expr<i64>>,
) -> Command {
    let [from_at, from_step, to_at, to_step] = [from_at, from_step, to_at, to_step].map(Expression::Integer);
    let (size, count) = (size.into().tree, count.into().tree);
    Command::Move(Box::new(Move {
        from: from.number,
        to: to.number,
        from_at,
        from_step,
        to_at,
        to_step,
        size,
        count,
        location: line(),
    }))
}

impl<T: Typed> Var<T> {
    /// `self := value`
    pub fn set(self, value: impl Into<Expr<T>>) -> Command {
        Command::Assign(self.number, value.into().tree)
    }
}

impl<T: Typed> Element<T> {
    /// `array[index] := value`
    pub fn set(self, value: impl Into<Expr<T>>) -> Command {
        let (variable, index, value) = (self.array.number, self.index, value.into().tree);
        Command::AssignElement { variable, index, value, location: self.location }
    }
}

impl Var<Text> {
    /// `self[index] := byte`
    #[track_caller]
    pub fn set_byte(self, index: impl Into<Expr<i64>>, byte: impl Into<Expr<u8>>) -> Command {
        let (index, value) = (index.into().tree, byte.into().tree);
        Command::AssignElement { variable: self.number, index, value, location: line() }
    }

    /// `is := NUMBER(self, number)`
    pub fn read_integer(self, number: Var<i64>, is: Var<bool>) -> Command {
        Command::Number { text: Expr::from(self).tree, variable: number.number, is: is.number }
    }

    /// The same for a REAL.
    pub fn read_real(self, number: Var<f64>, is: Var<bool>) -> Command {
        Command::Number { text: Expr::from(self).tree, variable: number.number, is: is.number }
    }
}
