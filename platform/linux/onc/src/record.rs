//! Records over TCP (RFC 5531, section 11): a message is one or more fragments, each with its length before it.

/// The bit of a fragment's head that marks a record's last fragment.
const LAST: u32 = 1 << 31;

/// Bytes of a fragment's head.
const HEAD: usize = 4;

/// Makes records of bytes as they come.
pub(super) struct Records {
    /// Most bytes of a record. Memory is taken for bytes that have come, not for announced lengths.
    limit: usize,
    /// Bytes as they came. Those before `read` have been used.
    bytes: Vec<u8>,
    read: usize,
    /// The fragments before the last of a record that has several.
    begun: Vec<u8>,
    /// `begun` is the record that was given last.
    given: bool,
}

/// What [`Records::next`] finds.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Record<'a> {
    /// More bytes are needed.
    Incomplete,
    /// A whole record.
    Whole(&'a [u8]),
    /// A record that is larger than the limit.
    TooLarge,
}

impl Records {
    /// Records have so many bytes at most.
    pub(super) fn new(limit: usize) -> Records {
        Records { limit, bytes: Vec::new(), read: 0, begun: Vec::new(), given: false }
    }

    /// More bytes have come.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        if self.read == self.bytes.len() {
            self.bytes.clear();
            self.read = 0;
        } else if self.read > self.bytes.len() / 2 {
            self.bytes.drain(..self.read);
            self.read = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// The next record, until this is called again.
    pub(super) fn next(&mut self) -> Record<'_> {
        if std::mem::take(&mut self.given) {
            self.begun.clear();
        }
        loop {
            let rest = &self.bytes[self.read..];
            let Some((head, rest)) = rest.split_first_chunk::<HEAD>() else { return Record::Incomplete };
            let head = u32::from_be_bytes(*head);
            let length = (head & !LAST) as usize;
            if self.begun.len() + length > self.limit {
                return Record::TooLarge;
            }
            if rest.len() < length {
                return Record::Incomplete;
            }
            let from = self.read + HEAD;
            self.read = from + length;
            let is_last = head & LAST != 0;
            if is_last && self.begun.is_empty() {
                return Record::Whole(&self.bytes[from..self.read]);
            }
            self.begun.extend_from_slice(&self.bytes[from..self.read]);
            if is_last {
                self.given = true;
                return Record::Whole(&self.begun);
            }
        }
    }
}

/// Leaves room for a record's head; the result is its place, for [`end`].
pub(super) fn begin(out: &mut Vec<u8>) -> usize {
    out.extend_from_slice(&[0; HEAD]);
    out.len() - HEAD
}

/// Writes the head of the record that was added since [`begin`]: one fragment.
///
/// # Errors
/// It is larger than the limit.
pub(super) fn end(out: &mut [u8], begin: usize, limit: usize) -> Result<(), String> {
    let length = out.len() - begin - HEAD;
    // A fragment's length has 31 bits.
    if length > limit.min(LAST as usize - 1) {
        return Err(format!("a message of {length} bytes is too large: BY Onc(limit: BYTES) allows {limit}"));
    }
    out[begin..begin + HEAD].copy_from_slice(&(length as u32 | LAST).to_be_bytes());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two records, the first and third of several fragments, some of them empty.
    const STREAM: &[u8] = &[
        0, 0, 0, 2, 1, 2, 0, 0, 0, 0, 128, 0, 0, 1, 3, 128, 0, 0, 2, 4, 5, 128, 0, 0, 0, 0, 0, 0, 1, 6, 128,
        0, 0, 0,
    ];

    #[test]
    fn fragments_become_records_however_they_come() {
        for step in 1..=STREAM.len() {
            let mut records = Records::new(9);
            let mut found = Vec::new();
            for bytes in STREAM.chunks(step) {
                records.feed(bytes);
                while let Record::Whole(record) = records.next() {
                    found.push(record.to_vec());
                }
            }
            assert_eq!(found, [&[1, 2, 3][..], &[4, 5], &[], &[6]], "{step} bytes at a time");
        }
    }

    #[test]
    fn what_is_too_large_is_wrong_before_it_has_come() {
        for (limit, wanted) in [(2, Record::TooLarge), (3, Record::Incomplete)] {
            let mut records = Records::new(limit);
            records.feed(&[0, 0, 0, 1, 7, 128, 0, 0, 2, 0]);
            assert_eq!(records.next(), wanted);
            assert_eq!(end(&mut [0; 7], 0, limit).is_ok(), limit == 3);
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let mut out = vec![9];
        let begun = begin(&mut out);
        out.extend_from_slice(b"text");
        end(&mut out, begun, 4).expect("it is small");
        let mut records = Records::new(4);
        records.feed(&out[1..]);
        assert_eq!(records.next(), Record::Whole(b"text"));
        assert_eq!(records.next(), Record::Incomplete);
    }
}
