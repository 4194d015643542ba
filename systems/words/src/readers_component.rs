//! Readers: components that come in messages, require an interface, and have a process of their own.

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::RefCell;
use core::task::Poll;

use drystone_component::Program;
use drystone_kortex::Maker;
use drystone_runtime::native::{Activity, Caller, Component, Design, Kind, Part, Ports, Serving, Waiter};

use crate::interfaces::lexicon::{self, LookAnswer};
use crate::interfaces::readers::{self, Reader, Readers};
use crate::interfaces::reading::{self, GetAnswer, ReadingLater};

/// Makes them.
struct Library {
    kind: &'static Kind,
}

impl Readers for Library {
    fn new(&mut self, text: &[u8]) -> Reader {
        let student = Student { text: text.into(), notes: Rc::default() };
        Reader { r: Part::new(self.kind, student) }
    }
}

/// A reader.
struct Student {
    text: Vec<u8>,
    notes: Rc<RefCell<Notes>>,
}

/// What a reader's process and its services share.
#[derive(Default)]
struct Notes {
    /// The whole text, word by word; or that the lexicon has gone.
    found: Option<Result<Vec<u8>, ()>>,
    /// Who asked before that.
    waiting: Vec<Waiter>,
}

impl Component for Student {
    fn serve(&mut self, _: usize) -> Serving {
        reading::serve(Asked { notes: self.notes.clone() })
    }

    fn begin(&mut self, ports: Ports) -> Activity {
        let lexicon = lexicon::client(&ports, 0);
        let (text, notes) = (core::mem::take(&mut self.text), self.notes.clone());
        Box::pin(async move {
            let found = translate(lexicon, &text).await;
            let waiting = {
                let mut notes = notes.borrow_mut();
                notes.found = Some(found);
                core::mem::take(&mut notes.waiting)
            };
            for waiter in waiting {
                ports.wake(waiter);
            }
        })
    }
}

/// Looks up word after word.
async fn translate(mut lexicon: lexicon::Client, text: &[u8]) -> Result<Vec<u8>, ()> {
    let mut meanings = Vec::new();
    for word in text.split(|&letter| letter == b' ') {
        match lexicon.look(word).await.map_err(|_| ())? {
            LookAnswer::Meaning { x } => meanings.push(x.to_vec()),
            LookAnswer::Unknown => meanings.push(word.to_ascii_uppercase()),
        }
    }
    Ok(meanings.join(&b' '))
}

/// One client of a reader.
struct Asked {
    notes: Rc<RefCell<Notes>>,
}

impl ReadingLater for Asked {
    fn get(&mut self, caller: &Caller) -> Poll<GetAnswer<'_>> {
        let notes = &mut *self.notes.borrow_mut();
        match &notes.found {
            Some(Ok(text)) => Poll::Ready(GetAnswer::Understood { x: caller.text(text) }),
            Some(Err(())) => Poll::Ready(GetAnswer::Lost),
            None => {
                notes.waiting.push(caller.waiter());
                Poll::Pending
            }
        }
    }
}

/// Offers them.
pub fn begin(program: &'static Program) -> Result<Maker, String> {
    let design = Design {
        offers: &[&reading::DECLARATION],
        requires: &[(&lexicon::DECLARATION).into()],
        is_active: true,
    };
    let kind = Kind::of(program, "Reader", design)?;
    Ok(Box::new(move || readers::serve(Library { kind })))
}
