//! Writes bodies as expressions in Rust.

use core::cell::RefCell;
use core::ops::{Add, BitAnd, BitOr, BitXor, Mul, Not, Shl, Shr, Sub};

use super::body::*;
use super::compose::Composer;
use super::{Gauge, Refusal};

/// Writes a pipe's body. The first error is reported in the end.
#[derive(Debug)]
pub struct Writer {
    composer: RefCell<Composer>,
    input: Gauge,
    output: RefCell<Option<Value>>,
    refusal: RefCell<Option<Refusal>>,
}

/// A value of a body.
#[derive(Clone, Copy, Debug)]
pub struct Word<'w> {
    writer: &'w Writer,
    /// `None` after an error.
    value: Option<Value>,
}

/// A register of a body.
#[derive(Clone, Copy, Debug)]
pub struct Held<'w> {
    writer: &'w Writer,
    number: u8,
}

/// A table of a body.
#[derive(Clone, Copy, Debug)]
pub struct Entries<'w> {
    writer: &'w Writer,
    number: u8,
}

impl Writer {
    pub(super) fn new(input: Gauge) -> Writer {
        Writer {
            composer: RefCell::default(),
            input,
            output: RefCell::default(),
            refusal: RefCell::default(),
        }
    }

    pub(super) fn finish(self) -> Result<Body, Refusal> {
        match self.refusal.into_inner() {
            Some(refusal) => Err(refusal),
            None => self.composer.into_inner().finish(self.output.into_inner()),
        }
    }

    pub(super) fn width_of_output(&self) -> Option<Gauge> {
        let output = *self.output.borrow();
        output.map(|it| self.composer.borrow().width(it))
    }

    /// The input word.
    pub fn input(&self) -> Word<'_> {
        self.word(|it| it.input(self.input))
    }

    /// A number.
    pub fn number(&self, width: Gauge, number: u64) -> Word<'_> {
        self.word(|it| it.constant(width, number))
    }

    /// Sets the output word. Without it the pipe passes words through unchanged.
    pub fn output(&self, word: Word) {
        *self.output.borrow_mut() = word.value;
    }

    /// Adds a register. The pipe's first one is number 0.
    pub fn register(&self, register: Register) -> Held<'_> {
        Held { writer: self, number: self.done(|it| it.register(register)).unwrap_or(0) }
    }

    /// Adds a table. The pipe's first one is number 0.
    pub fn table(&self, entries: u32) -> Entries<'_> {
        Entries { writer: self, number: self.done(|it| it.table(Table { entries })).unwrap_or(0) }
    }

    fn done<T>(&self, step: impl FnOnce(&mut Composer) -> Result<T, Refusal>) -> Option<T> {
        let result = step(&mut self.composer.borrow_mut());
        result.map_err(|refusal| self.refusal.borrow_mut().get_or_insert(refusal).clone()).ok()
    }

    fn word(&self, step: impl FnOnce(&mut Composer) -> Result<Value, Refusal>) -> Word<'_> {
        Word { writer: self, value: self.done(step) }
    }
}

impl<'w> Held<'w> {
    /// Its value before this word.
    pub fn value(self) -> Word<'w> {
        self.writer.word(|it| it.read_register(self.number))
    }

    /// Sets its value from the next word on.
    pub fn becomes(self, word: Word) {
        if let Some(value) = word.value {
            self.writer.done(|it| it.update(self.number, value));
        }
    }
}

impl<'w> Entries<'w> {
    /// The entry at an index, modulo the number of entries.
    pub fn at(self, index: Word<'w>) -> Word<'w> {
        match index.value {
            Some(index) => self.writer.word(|it| it.read(self.number, index)),
            None => index,
        }
    }

    /// Changes an entry.
    pub fn set(self, index: Word<'w>, value: Word<'w>) {
        let _ = index.with(value, |it, index, value| it.write(self.number, index, value));
    }
}

/// An operand: a word, or a number of the same width.
pub trait Operand<'w> {
    /// The operand as a word.
    fn beside(self, word: Word<'w>) -> Word<'w>;
}

impl<'w> Operand<'w> for Word<'w> {
    fn beside(self, _: Word<'w>) -> Word<'w> {
        self
    }
}

impl<'w> Operand<'w> for u64 {
    fn beside(self, word: Word<'w>) -> Word<'w> {
        word.then(|it, value| it.constant(it.width(value), self))
    }
}

impl<'w> Word<'w> {
    fn then(self, step: impl FnOnce(&mut Composer, Value) -> Result<Value, Refusal>) -> Word<'w> {
        match self.value {
            Some(value) => self.writer.word(|it| step(it, value)),
            None => self,
        }
    }

    fn with(
        self,
        other: Word<'w>,
        step: impl FnOnce(&mut Composer, Value, Value) -> Result<Value, Refusal>,
    ) -> Word<'w> {
        match other.value {
            Some(second) => self.then(|it, first| step(it, first, second)),
            None => other,
        }
    }

    /// An operation, for those without an operator in Rust.
    pub fn binary(self, operation: Binary, other: impl Operand<'w>) -> Word<'w> {
        self.with(other.beside(self), |it, a, b| it.binary(operation, a, b))
    }

    /// The sum plus its carry.
    pub fn end_around_add(self, other: impl Operand<'w>) -> Word<'w> {
        self.binary(Binary::EndAroundAdd, other)
    }

    /// Rotates left.
    pub fn rotated(self, bits: impl Operand<'w>) -> Word<'w> {
        self.binary(Binary::RotateLeft, bits)
    }

    /// The bytes in reverse order.
    pub fn swapped(self) -> Word<'w> {
        self.then(|it, value| it.swap(value))
    }

    /// Extends it with zeros.
    pub fn widened(self, width: Gauge) -> Word<'w> {
        self.then(|it, value| it.widen(value, width))
    }

    /// The low bits.
    pub fn narrowed(self, width: Gauge) -> Word<'w> {
        self.then(|it, value| it.narrow(value, width))
    }

    /// Concatenates it with another word, in the high bits of a word twice as wide.
    pub fn joined(self, high: Word<'w>) -> Word<'w> {
        self.with(high, |it, low, high| it.join(low, high))
    }

    /// Selects: `yes` if the comparison with another word holds, else `no`.
    pub fn select(
        self,
        comparison: Comparison,
        other: impl Operand<'w>,
        then: Word<'w>,
        or: impl Operand<'w>,
    ) -> Word<'w> {
        let (other, or) = (other.beside(self), or.beside(then));
        let (Some(b), Some(x), Some(y)) = (other.value, then.value, or.value) else {
            return Word { value: None, ..self };
        };
        self.then(|it, a| it.select(comparison, [a, b, x, y]))
    }

    /// Updates it, as a CRC32C that isn't complemented, by another word.
    pub fn crc32c(self, word: Word<'w>) -> Word<'w> {
        self.with(word, |it, sum, word| it.crc32c(sum, word))
    }

    /// Updates it, as an Adler-32, by another byte.
    pub fn adler32(self, byte: Word<'w>) -> Word<'w> {
        self.with(byte, |it, sum, byte| it.adler32(sum, byte))
    }
}

impl<'w> Not for Word<'w> {
    type Output = Word<'w>;

    fn not(self) -> Word<'w> {
        self.then(|it, value| it.not(value))
    }
}

macro_rules! operators {
    ($($trait:ident $method:ident $operation:ident)*) => {
        $(impl<'w, O: Operand<'w>> $trait<O> for Word<'w> {
            type Output = Word<'w>;

            fn $method(self, other: O) -> Word<'w> {
                self.binary(Binary::$operation, other)
            }
        })*
    };
}

operators! {
    Add add Add
    Sub sub Sub
    Mul mul Mul
    BitAnd bitand And
    BitOr bitor Or
    BitXor bitxor Xor
    Shl shl ShiftLeft
    Shr shr ShiftRight
}
