//! Folders: made and removed, one at a time. A folder that is removed must be empty.

use std::fs;
use std::io;
use std::rc::Rc;

use crate::interfaces::folders::{Folders, MakeAnswer, RemoveAnswer};
use crate::names::Names;
use drystone_reactor::reason;

/// A client of Folders.
pub(crate) struct Keeper(pub(crate) Rc<Names>);

impl Folders for Keeper {
    fn make(&mut self, name: &[u8]) -> MakeAnswer<'_> {
        match self.0.path(name).and_then(fs::create_dir) {
            Ok(()) => MakeAnswer::Done,
            Err(error) => MakeAnswer::Failed { reason: why(&error) },
        }
    }

    fn remove(&mut self, name: &[u8]) -> RemoveAnswer<'_> {
        match self.0.path(name).and_then(fs::remove_dir) {
            Ok(()) => RemoveAnswer::Done,
            Err(error) => RemoveAnswer::Failed { reason: why(&error) },
        }
    }
}

fn why(error: &io::Error) -> drystone_runtime::native::Text<'static> {
    reason(error).into()
}
