//! Evaluates expressions of the tree: to words, or to TEXTs.

use drystone_component::Type;

use super::{Halt, Walk, fail};
use crate::composite::fault::Fault;
use crate::composite::host::cost;
use crate::composite::operate;
use crate::composite::services::Services;
use crate::composite::table::word;
use crate::composite::tree::{Expression, Kind, Operation, order};
use crate::composite::value::Text;

/// Why an operation has no value: an operand has none, or the operation itself fails.
enum Why {
    Inside(Halt),
    Itself(Fault),
}

impl Why {
    fn at(self, location: u32) -> Halt {
        match self {
            Why::Inside(halt) => halt,
            Why::Itself(fault) => fail(fault, location),
        }
    }
}

impl From<Halt> for Why {
    fn from(halt: Halt) -> Why {
        Why::Inside(halt)
    }
}

impl From<Fault> for Why {
    fn from(fault: Fault) -> Why {
        Why::Itself(fault)
    }
}

impl<S: Services> Walk<'_, S> {
    /// The value of an expression that isn't a TEXT, as the word in which it is kept.
    pub(super) fn word(&mut self, expression: &Expression) -> Result<u64, Halt> {
        Ok(match expression {
            Expression::Boolean(it) => u64::from(*it),
            Expression::Character(it) => u64::from(*it),
            Expression::Integer(it) => *it as u64,
            Expression::Real(it) => it.to_bits(),
            Expression::Variable(variable) => self.get(*variable),
            Expression::Element(variable, index, location) => {
                let index = self.word(index)?;
                let place = self.place(*variable, index, *location)?;
                word(self.memory, place)
            }
            Expression::Apply(operation, operands, location) => {
                self.apply(*operation, operands).map_err(|stop| stop.at(*location))?
            }
            Expression::Test(call) => self.call(*call)?,
            Expression::Failed => self.host.failed.into(),
            Expression::Text(_) => unreachable!("checked: it is no TEXT"),
        })
    }

    fn apply(&mut self, operation: Operation, operands: &[Expression]) -> Result<u64, Why> {
        use Operation::*;
        Ok(match operation {
            And => u64::from(self.word(&operands[0])? != 0 && self.word(&operands[1])? != 0),
            Or => u64::from(self.word(&operands[0])? != 0 || self.word(&operands[1])? != 0),
            Not => u64::from(self.word(&operands[0])? == 0),
            CharacterToInteger | BooleanToInteger => self.word(&operands[0])?,
            IntegerToReal => (self.word(&operands[0])? as i64 as f64).to_bits(),
            IntegerToCharacter => {
                u8::try_from(self.word(&operands[0])?).map_err(|_| Fault::InvalidConversion)?.into()
            }
            RealToInteger => operate::real_to_integer(f64::from_bits(self.word(&operands[0])?))? as u64,
            Compare(comparison, Kind::Text) => {
                let (a, b) = (self.text(&operands[0])?, self.text(&operands[1])?);
                self.pay(cost(a.len().min(b.len())));
                u64::from(operate::order_of_texts(&a, &b) & comparison.orders() != 0)
            }
            Compare(comparison, kind) => {
                let (a, b) = (self.word(&operands[0])?, self.word(&operands[1])?);
                let order = match kind {
                    Kind::Real => operate::order_of_reals(f64::from_bits(a), f64::from_bits(b)),
                    _ => order::of(Some((a as i64).cmp(&(b as i64)))),
                };
                u64::from(order & comparison.orders() != 0)
            }
            Length => self.text(&operands[0])?.len() as u64,
            ByteOf => {
                let text = self.text(&operands[0])?;
                operate::byte_of(&text, self.word(&operands[1])? as i64)?.into()
            }
            Find => {
                let (text, part) = (self.text(&operands[0])?, self.text(&operands[1])?);
                let from = self.word(&operands[2])? as i64;
                self.pay(cost(text.len() + part.len()));
                operate::find(&text, &part, from)? as u64
            }
            _ => {
                let a = self.word(&operands[0])?;
                let b = operands.get(1).map_or(Ok(0), |b| self.word(b))?;
                match operation.signature().1 {
                    Type::Real => operate::real(operation, f64::from_bits(a), f64::from_bits(b)).to_bits(),
                    _ => operate::integer(operation, a as i64, b as i64)? as u64,
                }
            }
        })
    }

    /// The value of an expression that is a TEXT.
    pub(super) fn text(&mut self, expression: &Expression) -> Result<Text, Halt> {
        match expression {
            Expression::Text(text) => Ok(text.clone()),
            Expression::Variable(variable) => {
                Ok(self.host.texts.get(self.layout.place(*variable).into()).clone())
            }
            Expression::Element(variable, index, location) => {
                let index = self.word(index)?;
                let slot = self.place(*variable, index, *location)?;
                Ok(self.host.texts.get(slot as u64).clone())
            }
            Expression::Apply(operation, operands, location) => {
                self.make_text(*operation, operands).map_err(|stop| stop.at(*location))
            }
            _ => unreachable!("checked: it is a TEXT"),
        }
    }

    fn make_text(&mut self, operation: Operation, operands: &[Expression]) -> Result<Text, Why> {
        let most = self.host.texts.most;
        let text = match operation {
            Operation::Concatenate => {
                let (a, b) = (self.text(&operands[0])?, self.text(&operands[1])?);
                // Appends in place if the text isn't shared.
                let copied = if a.is_shared() { a.len() } else { 0 };
                self.make(copied.saturating_add(b.len()))?;
                a.joined(&b)
            }
            Operation::Slice => {
                let text = self.text(&operands[0])?;
                let (from, count) = (self.word(&operands[1])? as i64, self.word(&operands[2])? as i64);
                self.make(usize::try_from(count).unwrap_or(0).min(text.len()))?;
                operate::slice(&text, from, count)?
            }
            Operation::Zeros => {
                let zeros = operate::zeros(self.word(&operands[0])? as i64, most)?;
                self.make(zeros.len())?;
                zeros
            }
            _ => operate::written(operation, self.word(&operands[0])?),
        };
        self.pay(cost(text.len()));
        Ok(text)
    }

    /// Intermediate texts of a command take no more memory than texts of variables may.
    pub(super) fn make(&mut self, bytes: usize) -> Result<(), Fault> {
        self.made = self.made.saturating_add(bytes);
        if self.made > self.host.texts.most { Err(Fault::OutOfMemory) } else { Ok(()) }
    }
}
