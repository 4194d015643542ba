//! Operations on the store, and their outcomes; `interfaces.dry` says what each does.

/// A key, or a value.
pub type Bytes = Vec<u8>;

/// The longest key in bytes.
pub const LONGEST_KEY: usize = 8192;

/// The most bytes of a result at once: longer values come in pieces.
pub const PIECE: usize = 128 * 1024;

/// An operation.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the interface says it")]
pub enum Operation {
    Read(Read),
    Change(Change),
}

/// An operation that only reads.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the interface says it")]
pub enum Read {
    Get {
        key: Bytes,
    },
    Part {
        key: Bytes,
        from: i64,
        to: i64,
    },
    Length {
        key: Bytes,
    },
    Expiry {
        key: Bytes,
    },
    Remaining {
        key: Bytes,
    },
    Next {
        after: Bytes,
        prefix: Bytes,
        most: i64,
    },
    Keys {
        pattern: Bytes,
    },
    Scan {
        place: i64,
        pattern: Bytes,
        most: i64,
    },
    Count,
    Timed,
    Random,
    /// Does nothing, but has an outcome.
    Nothing,
}

/// An operation that may change something.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the interface says it")]
pub enum Change {
    Set { key: Bytes, x: Bytes, only: Only, expires: Expires },
    Swap { key: Bytes, x: Bytes, only: Only, expires: Expires },
    Take { key: Bytes },
    Touch { key: Bytes, expires: Expires },
    Delete { key: Bytes },
    Add { key: Bytes, n: i64 },
    Append { key: Bytes, x: Bytes },
    Overlay { key: Bytes, at: i64, x: Bytes },
    Exchange { key: Bytes, old: Bytes, x: Bytes },
    Expire { key: Bytes, expires: Expires, condition: Condition },
    Rename { key: Bytes, new: Bytes, only: Only },
    Copy { key: Bytes, new: Bytes, only: Only },
    SetAll { pairs: Vec<(Bytes, Bytes)>, only: Only },
    Clear,
    Watch { key: Bytes },
    Unwatch,
}

/// A condition on whether the key exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "they say it")]
pub enum Only {
    Always,
    IfMissing,
    IfThere,
}

impl Only {
    /// From the interface's number.
    pub fn of(number: i64) -> Only {
        match number {
            1 => Only::IfMissing,
            2 => Only::IfThere,
            _ => Only::Always,
        }
    }

    /// Whether the condition holds.
    pub fn allows(self, is_there: bool) -> bool {
        match self {
            Only::Always => true,
            Only::IfMissing => !is_there,
            Only::IfThere => is_there,
        }
    }
}

/// The new expiry time of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expires {
    /// Never.
    Never,
    /// As it did before.
    AsBefore,
    /// In so many milliseconds.
    In(i64),
    /// At that time, in milliseconds since 1970.
    At(i64),
}

impl Expires {
    /// From the interface's numbers.
    pub fn of(how: i64, time: i64) -> Expires {
        match how {
            1 => Expires::AsBefore,
            2 => Expires::In(time),
            3 => Expires::At(time),
            _ => Expires::Never,
        }
    }

    /// The expiry time, in milliseconds since 1970; 0: never.
    pub fn time(self, now: u64, before: u64) -> u64 {
        match self {
            Expires::Never => 0,
            Expires::AsBefore => before,
            Expires::In(lifetime) => now.saturating_add_signed(lifetime).max(1),
            Expires::At(time) => time.max(1) as u64,
        }
    }
}

/// A condition on a record's new expiry time: see `Expire`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Condition(pub i64);

impl Condition {
    /// Whether it holds for the old and new times; 0: never.
    pub fn holds(self, old: u64, new: u64) -> bool {
        let wants = |bit| self.0 & bit != 0;
        !(wants(1) && old != 0
            || wants(2) && old == 0
            || wants(4) && (old == 0 || new <= old)
            || wants(8) && old != 0 && new >= old)
    }
}

/// The outcome of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the interface says it")]
pub enum Outcome {
    Value(Bytes),
    Long(usize),
    Piece(Bytes),
    Entry(Bytes, Bytes),
    Key(Bytes),
    Number(i64),
    Other(Bytes),
    Done,
    Missing,
    Refused(String),
}

impl Operation {
    /// Whether it only reads.
    pub fn only_reads(&self) -> bool {
        matches!(self, Operation::Read(_))
    }

    /// About how many bytes it has.
    pub fn size(&self) -> usize {
        match self {
            Operation::Read(read) => read.size(),
            Operation::Change(change) => change.size(),
        }
    }
}

impl Read {
    /// How many records it looks at; `None`: any number.
    pub fn work(&self) -> Option<i64> {
        match self {
            Read::Next { most, .. } | Read::Scan { most, .. } => Some(*most),
            Read::Keys { .. } => None,
            _ => Some(1),
        }
    }

    fn size(&self) -> usize {
        match self {
            Read::Get { key }
            | Read::Part { key, .. }
            | Read::Length { key }
            | Read::Expiry { key }
            | Read::Remaining { key } => key.len(),
            Read::Next { after, prefix, .. } => after.len() + prefix.len(),
            Read::Keys { pattern } | Read::Scan { pattern, .. } => pattern.len(),
            Read::Count | Read::Timed | Read::Random | Read::Nothing => 0,
        }
    }
}

impl Change {
    /// Why the operation is invalid, whatever is stored, if values have at most `largest` bytes.
    pub fn complaint(&self, largest: usize) -> Option<String> {
        let pair = |key: &Bytes, x: &Bytes| complaint(key, x.len(), largest);
        match self {
            Change::Set { key, x, .. }
            | Change::Swap { key, x, .. }
            | Change::Append { key, x }
            | Change::Overlay { key, x, .. }
            | Change::Exchange { key, x, .. } => pair(key, x),
            Change::Add { key, .. } | Change::Watch { key } => complaint(key, 0, largest),
            Change::Rename { new, .. } | Change::Copy { new, .. } => complaint(new, 0, largest),
            Change::SetAll { pairs, .. } => pairs.iter().find_map(|(key, x)| pair(key, x)),
            Change::Take { .. }
            | Change::Touch { .. }
            | Change::Delete { .. }
            | Change::Expire { .. }
            | Change::Clear
            | Change::Unwatch => None,
        }
    }

    fn size(&self) -> usize {
        match self {
            Change::Set { key, x, .. }
            | Change::Swap { key, x, .. }
            | Change::Append { key, x }
            | Change::Overlay { key, x, .. } => key.len() + x.len(),
            Change::Exchange { key, old, x } => key.len() + old.len() + x.len(),
            Change::Rename { key, new, .. } | Change::Copy { key, new, .. } => key.len() + new.len(),
            Change::SetAll { pairs, .. } => pairs.iter().map(|(key, x)| key.len() + x.len()).sum(),
            Change::Take { key }
            | Change::Touch { key, .. }
            | Change::Delete { key }
            | Change::Add { key, .. }
            | Change::Expire { key, .. }
            | Change::Watch { key } => key.len(),
            Change::Clear | Change::Unwatch => 0,
        }
    }
}

/// Why no value of that size can be stored under that key.
fn complaint(key: &[u8], size: usize, largest: usize) -> Option<String> {
    if key.len() > LONGEST_KEY {
        return Some(format!("a key has at most {LONGEST_KEY} bytes"));
    }
    (size > largest).then(|| format!("a value has at most {largest} bytes"))
}

/// The error for a value that would become too long, in Redis' words.
pub const TOO_LONG: &str = "string exceeds maximum allowed size (proto-max-bulk-len)";

impl Outcome {
    /// About how many bytes it has.
    pub fn size(&self) -> usize {
        match self {
            Outcome::Value(x) | Outcome::Other(x) | Outcome::Piece(x) | Outcome::Key(x) => x.len(),
            Outcome::Entry(key, x) => key.len() + x.len(),
            Outcome::Refused(reason) => reason.len(),
            Outcome::Number(_) | Outcome::Long(_) | Outcome::Done | Outcome::Missing => 0,
        }
    }
}

/// Outcomes, and about how many bytes they have.
#[derive(Debug, Default)]
pub struct Outcomes {
    all: Vec<Outcome>,
    size: usize,
}

/// The size counted for a small outcome, so that many of them add up.
const LEAST: usize = size_of::<Outcome>();

impl Outcomes {
    /// Adds an outcome.
    pub fn push(&mut self, outcome: Outcome) {
        self.size += outcome.size() + LEAST;
        self.all.push(outcome);
    }

    /// Adds a value, in pieces if it is long.
    pub fn push_value(&mut self, x: Bytes) {
        if x.len() <= PIECE {
            return self.push(Outcome::Value(x));
        }
        self.push(Outcome::Long(x.len()));
        x.chunks(PIECE).for_each(|piece| self.push(Outcome::Piece(piece.into())));
    }

    /// Adds more outcomes.
    pub fn append(&mut self, more: Outcomes) {
        self.size += more.size;
        self.all.extend(more.all);
    }

    /// About how many bytes they have.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Whether there are enough for now.
    pub fn is_full(&self) -> bool {
        self.size >= PIECE
    }

    /// The outcomes.
    pub fn into_all(self) -> Vec<Outcome> {
        self.all
    }
}

/// For each of `count` operations the outcome that it is refused.
pub fn refused(count: usize, reason: &str) -> Vec<Outcome> {
    vec![Outcome::Refused(reason.into()); count]
}
