//! Frames: messages as devices deliver them.

/// Bytes of the longest message.
pub const LONGEST: u32 = 1 << 16;

/// A message in a buffer, with room before and behind it.
#[derive(Debug)]
pub struct Frame<'a> {
    buffer: &'a mut [u8],
    begin: usize,
    end: usize,
}

impl<'a> Frame<'a> {
    /// The message from `begin` to `end` of a buffer.
    ///
    /// # Panics
    /// If `begin..end` isn't within the buffer.
    pub fn new(buffer: &'a mut [u8], begin: usize, end: usize) -> Frame<'a> {
        assert!(begin <= end && end <= buffer.len(), "a frame of {begin}..{end} in {} bytes", buffer.len());
        Frame { buffer, begin, end }
    }

    /// The message.
    pub fn bytes(&self) -> &[u8] {
        &self.buffer[self.begin..self.end]
    }

    /// The message.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.buffer[self.begin..self.end]
    }

    /// Where the message is in its buffer.
    pub fn range(&self) -> core::ops::Range<usize> {
        self.begin..self.end
    }

    /// Moves the beginning of the message (positive: it becomes shorter). Returns whether there is room.
    pub fn adjust_head(&mut self, by: isize) -> bool {
        let begin = self.begin.checked_add_signed(by).filter(|begin| *begin < self.end);
        begin.inspect(|begin| self.begin = *begin).is_some()
    }

    /// Moves the end of the message (positive: zeros are appended). Returns whether there is room.
    pub fn adjust_tail(&mut self, by: isize) -> bool {
        let end =
            self.end.checked_add_signed(by).filter(|end| *end > self.begin && *end <= self.buffer.len());
        if let Some(end) = end {
            if end > self.end {
                self.buffer[self.end..end].fill(0);
            }
            self.end = end;
        }
        end.is_some()
    }

    /// Puts the message back to where it was, with these bytes.
    pub(super) fn restore(&mut self, range: core::ops::Range<usize>, bytes: &[u8]) {
        (self.begin, self.end) = (range.start, range.end);
        self.bytes_mut().copy_from_slice(bytes);
    }
}
