//! The position of each numbered metadata node in the file.

/// The positions of a file's numbered metadata nodes, sorted by number.
#[derive(Debug, Default)]
pub(super) struct Numbered(Vec<(u32, usize)>);

impl Numbered {
    pub(super) fn add(&mut self, number: u32, at: usize) {
        self.0.push((number, at));
    }

    /// Sorts the nodes; must be called after all have been added.
    pub(super) fn settle(&mut self) {
        if !self.0.is_sorted() {
            self.0.sort();
        }
    }

    pub(super) fn find(&self, number: u32) -> Option<usize> {
        let at = self.0.binary_search_by_key(&number, |(number, _)| *number).ok()?;
        Some(self.0[at].1)
    }
}
