//! `Records`: a client of the store.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::ffi::OsStr;
use std::mem::take;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::rc::Rc;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::task::Poll;

use drystone_component::Program;
use drystone_kortex::Maker;
use drystone_runtime::native::Caller;
use drystone_runtime::platform::Bell;

use crate::operation::{Operation, Outcome};
use crate::records::{self, Committed, OpenAnswer, RecordsLater, ResultAnswer};
use crate::store::Store;

/// What one client has asked for.
struct Session {
    store: Rc<RefCell<Option<Store>>>,
    /// Rings when that is done which takes time; made when it is first needed.
    bell: Option<Rc<dyn Bell>>,
    operations: Vec<Operation>,
    /// While they are being done on another thread.
    outcomes: Option<Receiver<Vec<Outcome>>>,
    results: VecDeque<Outcome>,
}

impl Session {
    fn collect(&mut self, operation: Operation) -> Poll<()> {
        self.operations.push(operation);
        Poll::Ready(())
    }

    /// Begins what has to wait for the disk, or takes long; the results of anything else are there at once.
    fn begin(&mut self, caller: &Caller) {
        let operations = take(&mut self.operations);
        let store = self.store.borrow();
        let Some(store) = &*store else {
            return self
                .results
                .extend(operations.iter().map(|_| Outcome::Refused("the store isn't open".into())));
        };
        if operations.iter().all(Operation::only_reads)
            && let Some(outcomes) = store.read_now(&operations)
        {
            return self.results.extend(outcomes);
        }
        self.bell = self.bell.take().or_else(|| caller.bell());
        let bell = self.bell.as_ref().expect("a platform with files has threads");
        self.outcomes = Some(store.begin(operations, bell.ringer()));
    }

    /// Whether nothing is done for this client any more.
    fn is_done(&mut self) -> bool {
        let Some(outcomes) = &self.outcomes else { return true };
        match outcomes.try_recv() {
            Ok(outcomes) => self.results.extend(outcomes),
            Err(TryRecvError::Empty) => return false,
            // Each operation has a result: what is taken beyond them is refused.
            Err(TryRecvError::Disconnected) => {}
        }
        self.outcomes = None;
        true
    }
}

impl RecordsLater for Session {
    fn open(&mut self, _: &Caller, file: &[u8]) -> Poll<OpenAnswer<'_>> {
        let store = &mut *self.store.borrow_mut();
        if store.is_some() {
            return Poll::Ready(OpenAnswer::Failed { reason: b"the store is open already"[..].into() });
        }
        Poll::Ready(match Store::open(Path::new(OsStr::from_bytes(file))) {
            Ok(open) => {
                *store = Some(open);
                OpenAnswer::Opened
            }
            Err(reason) => OpenAnswer::Failed { reason: reason.into_bytes().into() },
        })
    }

    fn get(&mut self, _: &Caller, key: &[u8]) -> Poll<()> {
        self.collect(Operation::Get { key: key.into() })
    }

    fn set(&mut self, _: &Caller, key: &[u8], x: &[u8], lifetime: i64) -> Poll<()> {
        self.collect(Operation::Set { key: key.into(), x: x.into(), lifetime })
    }

    fn create(&mut self, _: &Caller, key: &[u8], x: &[u8], lifetime: i64) -> Poll<()> {
        self.collect(Operation::Create { key: key.into(), x: x.into(), lifetime })
    }

    fn delete(&mut self, _: &Caller, key: &[u8]) -> Poll<()> {
        self.collect(Operation::Delete { key: key.into() })
    }

    fn add(&mut self, _: &Caller, key: &[u8], n: i64) -> Poll<()> {
        self.collect(Operation::Add { key: key.into(), n })
    }

    fn exchange(&mut self, _: &Caller, key: &[u8], old: &[u8], x: &[u8]) -> Poll<()> {
        self.collect(Operation::Exchange { key: key.into(), old: old.into(), x: x.into() })
    }

    fn expire(&mut self, _: &Caller, key: &[u8], lifetime: i64) -> Poll<()> {
        self.collect(Operation::Expire { key: key.into(), lifetime })
    }

    fn remaining(&mut self, _: &Caller, key: &[u8]) -> Poll<()> {
        self.collect(Operation::Remaining { key: key.into() })
    }

    fn next(&mut self, _: &Caller, after: &[u8], prefix: &[u8], most: i64) -> Poll<()> {
        self.collect(Operation::Next { after: after.into(), prefix: prefix.into(), most })
    }

    fn forget(&mut self, _: &Caller) -> Poll<()> {
        self.operations.clear();
        Poll::Ready(())
    }

    fn commit(&mut self, caller: &Caller) -> Poll<Committed> {
        if self.outcomes.is_none() {
            self.results.clear();
            self.begin(caller);
        }
        if self.is_done() {
            return Poll::Ready(Committed { results: self.results.len() as i64 });
        }
        if let Some(bell) = &self.bell {
            bell.wait(caller.waiter());
        }
        Poll::Pending
    }

    fn result(&mut self, caller: &Caller) -> Poll<ResultAnswer<'_>> {
        let outcome = self.results.pop_front();
        Poll::Ready(match outcome {
            Some(Outcome::Value(x)) => ResultAnswer::Value { x: caller.text(&x) },
            Some(Outcome::Entry(key, x)) => {
                ResultAnswer::Entry { key: caller.text(&key), x: caller.text(&x) }
            }
            Some(Outcome::Number(n)) => ResultAnswer::Number { n },
            Some(Outcome::Other(x)) => ResultAnswer::Other { x: caller.text(&x) },
            Some(Outcome::Done) => ResultAnswer::Done,
            Some(Outcome::Missing) => ResultAnswer::Missing,
            Some(Outcome::Refused(reason)) => {
                ResultAnswer::Refused { reason: caller.text(reason.as_bytes()) }
            }
            None => ResultAnswer::Refused { reason: b"there is no more result"[..].into() },
        })
    }
}

/// Offers it.
pub fn begin(_: &'static Program) -> Result<Maker, String> {
    let store = Rc::<RefCell<Option<Store>>>::default();
    Ok(Box::new(move || {
        let store = store.clone();
        let session =
            Session { store, bell: None, operations: Vec::new(), outcomes: None, results: VecDeque::new() };
        records::serve(session)
    }))
}
