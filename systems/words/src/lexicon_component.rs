//! A dictionary: an interface of requests and replies is a trait, and each call a method.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::RefCell;

use drystone_component::Program;
use drystone_kortex::Maker;

use crate::interfaces::lexicon::{self, Lexicon, LookAnswer, Number};

/// One client's view of the dictionary, which all share.
#[derive(Clone, Default)]
pub struct Dictionary {
    words: Rc<RefCell<BTreeMap<Vec<u8>, Vec<u8>>>>,
}

impl Lexicon for Dictionary {
    fn define(&mut self, word: &[u8], meaning: &[u8]) {
        self.words.borrow_mut().insert(word.into(), meaning.into());
    }

    fn look(&mut self, word: &[u8]) -> LookAnswer<'_> {
        match self.words.borrow().get(word) {
            Some(meaning) => LookAnswer::Meaning { x: meaning.clone().into() },
            None => LookAnswer::Unknown,
        }
    }

    fn count(&mut self) -> Number {
        Number { n: self.words.borrow().len() as i64 }
    }
}

/// Offers it.
pub fn begin(_: &'static Program) -> Result<Maker, String> {
    let dictionary = Dictionary::default();
    Ok(Box::new(move || lexicon::serve(dictionary.clone())))
}
