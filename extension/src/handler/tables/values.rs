//! The memory of tables.

/// Values, each in words of its own, so that they are aligned.
#[derive(Debug)]
pub(super) struct Values {
    words: alloc::boxed::Box<[u64]>,
    pub(super) bytes: usize,
}

impl Values {
    pub(super) fn new(bytes: usize, count: usize) -> Values {
        Values { words: alloc::vec![0; words(bytes) * count].into(), bytes }
    }

    pub(super) fn get(&mut self, index: usize) -> &mut [u8] {
        let size = words(self.bytes);
        let words = &mut self.words[index * size..][..size];
        &mut bytemuck::cast_slice_mut(words)[..self.bytes]
    }
}

/// Numbers of 8 bytes that hold so many bytes.
fn words(bytes: usize) -> usize {
    bytes.div_ceil(8)
}
