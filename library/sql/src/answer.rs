//! What a client is answered: a message, and its values as XDR.

use drystone_component::wire::{put_opaque, put_u32, put_u64};

use crate::failure::Failure;
use crate::request::Value;

/// An answer.
pub struct Answer {
    /// Its message.
    pub message: &'static str,
    /// Its values.
    pub values: Vec<u8>,
}

/// Bytes of all rows of an answer at most.
pub const MOST: usize = 64 << 20;

impl Answer {
    pub fn done() -> Answer {
        Answer { message: "Done", values: Vec::new() }
    }

    pub fn changed(rows: i64, id: i64) -> Answer {
        let mut values = Vec::with_capacity(16);
        put_u64(&mut values, rows as u64);
        put_u64(&mut values, id as u64);
        Answer { message: "Changed", values }
    }

    pub fn failed(failure: &Failure) -> Answer {
        let mut values = Vec::new();
        put_opaque(&mut values, failure.code.as_bytes());
        put_opaque(&mut values, failure.why.as_bytes());
        Answer { message: "Failed", values }
    }
}

impl From<Result<Answer, Failure>> for Answer {
    fn from(result: Result<Answer, Failure>) -> Answer {
        result.unwrap_or_else(|failure| Answer::failed(&failure))
    }
}

/// The names of an answer's columns, as it has them.
pub struct Columns {
    names: Vec<u8>,
    count: usize,
}

impl Columns {
    pub fn new<'c>(names: impl ExactSizeIterator<Item = &'c str>) -> Columns {
        let (count, mut array) = (names.len(), Vec::new());
        put_u32(&mut array, count as u32);
        names.for_each(|name| put_opaque(&mut array, name.as_bytes()));
        let mut names = Vec::with_capacity(array.len() + 4);
        put_opaque(&mut names, &array);
        Columns { names, count }
    }
}

/// Rows, one after another.
pub struct Rows {
    values: Vec<u8>,
    /// Where the length and the number of the rows stand.
    start: usize,
    columns: usize,
    count: usize,
    most: usize,
    /// Bytes at most.
    room: usize,
}

impl Rows {
    /// None yet, of these columns, and at most so many in so many bytes.
    pub fn new(columns: &Columns, most: usize, room: usize) -> Rows {
        let mut values = Vec::with_capacity(512);
        values.extend(&columns.names);
        let start = values.len();
        values.extend([0; 8]);
        Rows { values, start, columns: columns.count, count: 0, most, room }
    }

    /// The next row begins: a [`Rows::put`] for each column follows.
    ///
    /// # Errors
    /// There are too many.
    pub fn begin(&mut self) -> Result<(), Failure> {
        if self.count == self.most {
            let why = format!(
                "there are more than {} rows: ask for fewer (LIMIT), or allow more by the option rows",
                self.most
            );
            return Err(Failure::new(Failure::LIMIT, why));
        }
        self.count += 1;
        put_u32(&mut self.values, self.columns as u32);
        Ok(())
    }

    /// The next value of the row.
    ///
    /// # Errors
    /// It has no room.
    pub fn put(&mut self, value: Value<'_>) -> Result<(), Failure> {
        let (integer, real, text) = match value {
            Value::Null => (0, 0.0, &[][..]),
            Value::Integer(x) => (x, 0.0, &[][..]),
            Value::Real(x) => (0, x, &[][..]),
            Value::Text(x) | Value::Bytes(x) => (0, 0.0, x),
        };
        if self.values.len() + text.len() > self.room {
            let why =
                format!("{} rows take more than {} MB: ask for fewer (LIMIT)", self.count, self.room >> 20);
            return Err(Failure::new(Failure::LIMIT, why));
        }
        let mut numbers = [0; 24];
        numbers[..8].copy_from_slice(&value.kind().to_be_bytes());
        numbers[8..16].copy_from_slice(&integer.to_be_bytes());
        numbers[16..].copy_from_slice(&real.to_bits().to_be_bytes());
        self.values.extend_from_slice(&numbers);
        put_opaque(&mut self.values, text);
        Ok(())
    }

    pub fn answer(mut self) -> Answer {
        let length = self.values.len() - self.start - 4;
        self.values[self.start..][..4].copy_from_slice(&(length as u32).to_be_bytes());
        self.values[self.start + 4..][..4].copy_from_slice(&(self.count as u32).to_be_bytes());
        Answer { message: "Rows", values: self.values }
    }
}
