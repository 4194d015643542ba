//! The index of a book: records and sequences are structs and vectors.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use drystone_component::Program;
use drystone_kortex::Maker;
use drystone_runtime::native::Text;

use crate::interfaces::Entry;
use crate::interfaces::index::{self, FindAnswer, Index};

/// One client's index.
#[derive(Default)]
struct Pages(BTreeMap<Vec<u8>, Entry>);

impl Index for Pages {
    fn add(&mut self, entry: &Entry) {
        let known = self.0.entry(entry.word.to_vec()).or_insert_with(|| entry.clone());
        known.pages.extend(&entry.pages);
        known.pages.sort_unstable();
        known.pages.dedup();
    }

    fn find(&mut self, words: &[Text<'static>]) -> FindAnswer<'_> {
        let find = |word: &Text<'static>| self.0.get(&word[..]).cloned().ok_or_else(|| word.clone());
        match words.iter().map(find).collect() {
            Ok(entries) => FindAnswer::Found { entries },
            Err(word) => FindAnswer::Missing { word },
        }
    }
}

/// Offers it.
pub fn begin(_: &'static Program) -> Result<Maker, String> {
    Ok(Box::new(|| index::serve(Pages::default())))
}
