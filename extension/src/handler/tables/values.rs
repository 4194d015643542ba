//! Memory of the values of tables.

/// Values, each aligned to a word.
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

/// How many words of 8 bytes hold so many bytes.
fn words(bytes: usize) -> usize {
    bytes.div_ceil(8)
}
