//! Received bytes that weren't asked for yet, to be taken by lines or by number.

use alloc::vec::Vec;

use memchr::memchr;

/// A buffer that takes no memory while it is empty: there may be one for each of very many connections.
#[derive(Debug, Default)]
pub struct Lines {
    bytes: Vec<u8>,
    /// Bytes before this have been taken.
    start: usize,
    /// There is no line end before this.
    searched: usize,
    /// Nothing more will come.
    pub ended: bool,
}

impl Lines {
    /// Adds received bytes.
    pub fn append(&mut self, more: &[u8]) {
        if self.start == self.bytes.len() {
            self.bytes.clear();
            (self.start, self.searched) = (0, 0);
        } else if self.start > self.bytes.len() / 2 {
            self.bytes.drain(..self.start);
            self.searched -= self.start;
            self.start = 0;
        }
        self.bytes.extend_from_slice(more);
    }

    /// How many bytes there are.
    pub fn len(&self) -> usize {
        self.bytes.len() - self.start
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes a whole line, if there is one, without its end: `\n` or `\r\n`.
    pub fn line(&mut self) -> Option<&[u8]> {
        let Some(length) = memchr(b'\n', &self.bytes[self.searched..]) else {
            self.searched = self.bytes.len();
            return None;
        };
        let (start, end) = (self.start, self.searched + length);
        (self.start, self.searched) = (end + 1, end + 1);
        let line = &self.bytes[start..end];
        Some(line.strip_suffix(b"\r").unwrap_or(line))
    }

    /// Takes at most `most` bytes; `None`: there are none.
    pub fn rest(&mut self, most: usize) -> Option<&[u8]> {
        if self.is_empty() {
            return None;
        }
        let start = self.start;
        self.start += self.len().min(most);
        self.searched = self.searched.max(self.start);
        Some(&self.bytes[start..self.start])
    }

    /// Frees the memory if nothing is left.
    pub fn tidy(&mut self) {
        if self.is_empty() {
            self.bytes = Vec::new();
            (self.start, self.searched) = (0, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_without_their_ends() {
        let mut lines = Lines::default();
        lines.append(b"one\r\ntwo\n\nthr");
        assert_eq!(lines.line(), Some(&b"one"[..]));
        assert_eq!(lines.line(), Some(&b"two"[..]));
        assert_eq!(lines.line(), Some(&b""[..]));
        assert_eq!(lines.line(), None);
        lines.append(b"ee\nrest");
        assert_eq!(lines.line(), Some(&b"three"[..]));
        assert_eq!(lines.line(), None);
        assert_eq!(lines.rest(2), Some(&b"re"[..]));
        assert_eq!(lines.rest(9), Some(&b"st"[..]));
        assert_eq!(lines.rest(9), None);
    }

    #[test]
    fn bytes_and_lines_mix() {
        let mut lines = Lines::default();
        for _ in 0..1000 {
            lines.append(b"ab\ncd\n");
            assert_eq!(lines.rest(1), Some(&b"a"[..]));
            assert_eq!(lines.line(), Some(&b"b"[..]));
            assert_eq!(lines.line(), Some(&b"cd"[..]));
            lines.tidy();
        }
        assert_eq!(lines.len(), 0);
    }
}
