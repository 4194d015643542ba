//! Where each numbered metadata node stands in the file.

/// Where the numbered metadata of a file stands, in the order of the numbers.
#[derive(Debug, Default)]
pub(super) struct Numbered(Vec<(u32, usize)>);

impl Numbered {
    pub(super) fn add(&mut self, number: u32, at: usize) {
        self.0.push((number, at));
    }

    /// To be called when all have been added.
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
