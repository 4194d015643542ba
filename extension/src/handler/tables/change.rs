//! Modes and errors of changes to tables.

/// Why an operation on a table fails: Linux's negative error numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i64)]
pub enum Trouble {
    /// The key isn't there.
    Missing = -2,
    /// The table is full.
    Full = -7,
    /// The key is there already, and should be new.
    Exists = -17,
    /// This kind of table doesn't have the operation.
    Invalid = -22,
    /// The ring is full.
    NoSpace = -28,
}

/// Whether a key that is put must be new, or be there already: Linux's `BPF_ANY`, `BPF_NOEXIST`, `BPF_EXIST`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Put {
    /// Either.
    Any,
    /// New.
    New,
    /// There.
    There,
}

impl Put {
    /// By Linux's number.
    pub fn from_number(number: u64) -> Option<Put> {
        [Put::Any, Put::New, Put::There].get(usize::try_from(number).ok()?).copied()
    }
}
