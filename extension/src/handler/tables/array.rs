//! Arrays: values by index.

use super::values::Values;

/// A fixed number of values, initially zeros.
#[derive(Debug)]
pub struct Array {
    values: Values,
    entries: usize,
}

impl Array {
    pub(super) fn new(bytes: usize, entries: usize) -> Array {
        Array { values: Values::new(bytes, entries), entries }
    }

    /// How many values there are.
    pub fn entries(&self) -> usize {
        self.entries
    }

    pub(super) fn value_bytes(&self) -> usize {
        self.values.bytes
    }

    /// A value.
    pub fn get(&mut self, number: usize) -> Option<&mut [u8]> {
        (number < self.entries).then(|| self.values.get(number))
    }
}
