//! Operations on the store, and their results.

/// A key, or a value.
pub type Bytes = Vec<u8>;

/// What may be done with the store: see `interfaces.dry`.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the interface says it")]
pub enum Operation {
    Get { key: Bytes },
    Set { key: Bytes, x: Bytes, lifetime: i64 },
    Create { key: Bytes, x: Bytes, lifetime: i64 },
    Delete { key: Bytes },
    Add { key: Bytes, n: i64 },
    Exchange { key: Bytes, old: Bytes, x: Bytes },
    Expire { key: Bytes, lifetime: i64 },
    Remaining { key: Bytes },
    Next { after: Bytes, prefix: Bytes, most: i64 },
}

/// What has come of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the interface says it")]
pub enum Outcome {
    Value(Bytes),
    Entry(Bytes, Bytes),
    Number(i64),
    Other(Bytes),
    Done,
    Missing,
    Refused(String),
}

/// Bytes of a key at most.
const LONGEST_KEY: usize = 1024;
/// Bytes of a value at most.
const LARGEST_VALUE: usize = 16 * 1024 * 1024;

impl Operation {
    /// Whether it leaves everything as it is.
    pub fn only_reads(&self) -> bool {
        matches!(self, Operation::Get { .. } | Operation::Remaining { .. } | Operation::Next { .. })
    }

    /// Why it can't be done, whatever is stored.
    pub fn complaint(&self) -> Option<String> {
        let (key, size) = match self {
            Operation::Next { .. } => return None,
            Operation::Set { key, x, .. }
            | Operation::Create { key, x, .. }
            | Operation::Exchange { key, x, .. } => (key, x.len()),
            Operation::Get { key }
            | Operation::Delete { key }
            | Operation::Add { key, .. }
            | Operation::Expire { key, .. }
            | Operation::Remaining { key } => (key, 0),
        };
        if key.is_empty() || key.len() > LONGEST_KEY {
            return Some(format!("a key has 1 to {LONGEST_KEY} bytes"));
        }
        (size > LARGEST_VALUE).then(|| format!("a value has {LARGEST_VALUE} bytes at most"))
    }

    /// How many records it looks at.
    pub fn work(&self) -> i64 {
        if let Operation::Next { most, .. } = self { *most } else { 1 }
    }

    /// About how many bytes it holds.
    pub fn size(&self) -> usize {
        match self {
            Operation::Set { key, x, .. } | Operation::Create { key, x, .. } => key.len() + x.len(),
            Operation::Exchange { key, old, x } => key.len() + old.len() + x.len(),
            Operation::Next { after, prefix, .. } => after.len() + prefix.len(),
            Operation::Get { key }
            | Operation::Delete { key }
            | Operation::Add { key, .. }
            | Operation::Expire { key, .. }
            | Operation::Remaining { key } => key.len(),
        }
    }
}

impl Outcome {
    /// About how many bytes it holds.
    pub fn size(&self) -> usize {
        match self {
            Outcome::Value(x) | Outcome::Other(x) => x.len(),
            Outcome::Entry(key, x) => key.len() + x.len(),
            Outcome::Number(_) | Outcome::Done | Outcome::Missing | Outcome::Refused(_) => 0,
        }
    }
}

/// Bytes of all outcomes of a batch at most, where the last may take more.
const LARGEST_OUTCOMES: usize = 32 * 1024 * 1024;

/// The outcomes of a batch.
#[derive(Debug)]
pub struct Outcomes {
    all: Vec<Outcome>,
    size: usize,
    largest: usize,
}

impl Default for Outcomes {
    fn default() -> Outcomes {
        Outcomes::of(LARGEST_OUTCOMES)
    }
}

impl Outcomes {
    /// None, with room for so many bytes.
    pub fn of(largest: usize) -> Outcomes {
        Outcomes { all: Vec::new(), size: 0, largest }
    }

    /// Whether there may be more of them that hold something.
    pub fn has_room(&self) -> bool {
        self.size < self.largest
    }

    /// One more.
    pub fn push(&mut self, outcome: Outcome) {
        self.size += outcome.size();
        self.all.push(outcome);
    }

    /// They.
    pub fn into_all(self) -> Vec<Outcome> {
        self.all
    }
}
