//! How tables are changed, and why they can't be.

/// Why something can't be done with a table: as Linux says it, a negative number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i64)]
pub enum Trouble {
    /// There is no such key.
    Missing = -2,
    /// There is no room.
    Full = -7,
    /// There is one already, and it should be new.
    Exists = -17,
    /// It makes no sense for such a table.
    Invalid = -22,
    /// There is no room in the ring.
    NoSpace = -28,
}

/// Whether what is put must be new, or be there already: Linux's `BPF_ANY`, `BPF_NOEXIST`, `BPF_EXIST`.
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
