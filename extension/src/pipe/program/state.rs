//! The state of a program at an instruction, and how states merge where paths meet: values that differ become a
//! selection by the condition that separated the paths. So a program with branches becomes straight-line code, which
//! can be run on many words at once (if-conversion).

use alloc::{collections::BTreeMap, vec::Vec};

use super::super::body::{Comparison, Value};
use super::super::compose::Composer;
use super::super::{Gauge, Refusal};
use crate::bytecode::Register;

/// The value of a register of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Held {
    Nothing,
    /// A number of 64 bits.
    Number(Value),
    /// An address in own memory.
    Own(i64),
    /// An address in the stack.
    Stack(i64),
}

/// A condition that holds: a comparison of two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Test {
    pub comparison: Comparison,
    pub values: [Value; 2],
}

impl Test {
    /// The opposite condition.
    pub fn negated(self) -> Test {
        use Comparison::*;
        let [a, b] = self.values;
        let (comparison, values) = match self.comparison {
            Equal => (NotEqual, [a, b]),
            NotEqual => (Equal, [a, b]),
            Below => (BelowOrEqual, [b, a]),
            BelowOrEqual => (Below, [b, a]),
            SignedLess => (SignedLessOrEqual, [b, a]),
            SignedLessOrEqual => (SignedLess, [b, a]),
        };
        Test { comparison, values }
    }
}

/// The state of a program at an instruction.
#[derive(Clone, Debug)]
pub(super) struct State {
    /// The conditions of the path.
    pub tests: Vec<Test>,
    pub held: [Held; Register::COUNT],
    /// The present values of the pipe's registers.
    pub cells: Vec<Value>,
    pub stack: BTreeMap<i64, Value>,
}

impl State {
    pub fn new(cells: Vec<Value>) -> State {
        State { tests: Vec::new(), held: [Held::Nothing; Register::COUNT], cells, stack: BTreeMap::new() }
    }

    /// Merges the states of two paths that exclude each other. A condition that is needed later becomes a value as wide
    /// as the pipe's words.
    pub fn joined(self, other: &State, composer: &mut Composer, words: Gauge) -> Result<State, Refusal> {
        let is_same = |(mine, theirs): &(&Test, &Test)| mine == theirs;
        let common = self.tests.iter().zip(&other.tests).take_while(is_same).count();
        let State { mut tests, held, cells, stack } = self;
        let [no, yes] = [composer.constant(words, 0)?, composer.constant(words, 1)?];
        let is = |value| Test { comparison: Comparison::NotEqual, values: [value, no] };
        // One condition, for all values that differ.
        let mut mine = tests.split_off(common);
        let theirs = &other.tests[common..];
        let is_all = matches!((&mine[..], theirs), ([one], [another]) if *one == another.negated());
        if mine.len() > 1 {
            mine = Vec::from([is(select(composer, &mine, yes, no)?)]);
        }

        let mut all = [Held::Nothing; Register::COUNT];
        for (both, (mine_holds, theirs_holds)) in all.iter_mut().zip(held.into_iter().zip(other.held)) {
            *both = match (mine_holds, theirs_holds) {
                (Held::Number(x), Held::Number(y)) => Held::Number(select(composer, &mine, x, y)?),
                (x, y) if x == y => x,
                // A merged value is only computed if it is read.
                _ => Held::Nothing,
            };
        }
        let cells = cells.iter().zip(&other.cells).map(|(x, y)| select(composer, &mine, *x, *y));
        let cells = cells.collect::<Result<_, _>>()?;
        let mut together = BTreeMap::new();
        for (at, x) in stack {
            if let Some(y) = other.stack.get(&at) {
                together.insert(at, select(composer, &mine, x, *y)?);
            }
        }

        if !is_all {
            let there = select(composer, theirs, yes, no)?;
            tests.push(is(select(composer, &mine, yes, there)?));
        }
        Ok(State { tests, held: all, cells, stack: together })
    }
}

/// Selects one value if all the conditions hold, else the other.
fn select(composer: &mut Composer, tests: &[Test], then: Value, or: Value) -> Result<Value, Refusal> {
    if then == or {
        return Ok(then);
    }
    tests.iter().rev().try_fold(then, |then, test| {
        let [a, b] = test.values;
        composer.select(test.comparison, [a, b, then, or])
    })
}
