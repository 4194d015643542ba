//! A data object under construction: bytes, and the addresses that are to stand in them.

use cranelift_module::{DataId, FuncId};

/// A data object while it is put together: bytes, and the places where addresses stand.
pub(super) struct Blob {
    pub(super) bytes: Vec<u8>,
    pub(super) data: Vec<(usize, DataId, i64)>,
    pub(super) functions: Vec<(usize, FuncId)>,
}

impl Blob {
    pub(super) fn new(size: usize) -> Blob {
        Blob { bytes: vec![0; size], data: Vec::new(), functions: Vec::new() }
    }

    pub(super) fn put(&mut self, at: usize, bytes: &[u8]) {
        self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
    }

    pub(super) fn u32(&mut self, at: usize, value: u32) {
        self.put(at, &value.to_le_bytes());
    }

    pub(super) fn u64(&mut self, at: usize, value: u64) {
        self.put(at, &value.to_le_bytes());
    }

    pub(super) fn pointer(&mut self, at: usize, to: DataId) {
        self.data.push((at, to, 0));
    }

    pub(super) fn function(&mut self, at: usize, to: FuncId) {
        self.functions.push((at, to));
    }

    /// A `Str` or `Table`: where its entries are, and how many.
    pub(super) fn table(&mut self, at: usize, entries: Option<DataId>, length: usize) {
        match entries {
            Some(entries) => self.pointer(at, entries),
            None => self.u64(at, 8),
        }
        self.u64(at + 8, length as u64);
    }

    /// Puts another blob into this one.
    pub(super) fn embed(&mut self, at: usize, part: Blob) {
        self.put(at, &part.bytes);
        self.data.extend(part.data.into_iter().map(|(offset, id, addend)| (at + offset, id, addend)));
        self.functions.extend(part.functions.into_iter().map(|(offset, id)| (at + offset, id)));
    }
}
