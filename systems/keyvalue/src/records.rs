//! Implements `Records`: serves one client of the store.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::ffi::OsStr;
use std::mem::take;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::task::{Poll, ready};

use drystone_component::Program;
use drystone_kortex::Maker;
use drystone_runtime::native::Caller;
use drystone_runtime::platform::Bell;

use crate::interfaces::records::{self, ExecuteAnswer, OpenAnswer, RecordsLater, ResultAnswer};
use crate::operation::{Bytes, Change, Condition, Expires, Only, Operation, Outcome, Read};
use crate::store::{Found, Search, Store};
use crate::watch::Watch;
use crate::writer::{Answer, Load};

/// The session of one client.
struct Session {
    store: Rc<RefCell<Option<Store>>>,
    /// Rings when pending work is done; made when it is first needed.
    bell: Option<Rc<dyn Bell>>,
    watch: Option<Arc<Watch>>,
    /// Pairs for the next `SetAll`.
    pairs: Vec<(Bytes, Bytes)>,
    operations: Vec<Operation>,
    work: Work,
    results: VecDeque<Outcome>,
    load: Option<Load>,
}

/// The state of a client's operations.
enum Work {
    /// Nothing is running; these operations haven't begun.
    None(Vec<Operation>),
    /// Changes are being written; these operations follow.
    Writes(Receiver<Answer>, Vec<Operation>),
    /// A search is running on the reader; these operations follow.
    Reads(Receiver<Found>, Vec<Operation>),
    /// A search has given outcomes and pauses; these operations follow.
    Pauses(Search, Vec<Operation>),
}

/// The outcome of operations that are done together.
enum Whole {
    Executed,
    Changed,
    Spoiled(String),
}

impl Session {
    fn read(&mut self, read: Read) -> Poll<()> {
        self.operations.push(Operation::Read(read));
        Poll::Ready(())
    }

    fn change(&mut self, change: Change) -> Poll<()> {
        self.operations.push(Operation::Change(change));
        Poll::Ready(())
    }

    fn bell(&mut self, caller: &Caller) -> Rc<dyn Bell> {
        self.bell.get_or_insert_with(|| caller.bell().expect("a platform with files has threads")).clone()
    }

    /// Waits for a thread of the store's.
    fn wait<T>(&self, caller: &Caller) -> Poll<T> {
        if let Some(bell) = &self.bell {
            bell.wait(caller.waiter());
        }
        Poll::Pending
    }

    /// Begins with the first operations.
    fn begin(&mut self, mut operations: Vec<Operation>, caller: &Caller) {
        let bell = self.bell(caller);
        let store = self.store.clone();
        let store = store.borrow();
        let Some(store) = &*store else {
            return self.results.extend(operations.iter().map(|_| closed()));
        };
        let rest = operations.split_off(first_run(&operations));
        let reads: Option<Vec<Read>> = operations
            .iter()
            .map(|operation| match operation {
                Operation::Read(read) => Some(read.clone()),
                Operation::Change(_) => None,
            })
            .collect();
        self.work = match reads {
            None => Work::Writes(store.write(operations, false, self.watch.clone(), bell.ringer()), rest),
            Some(reads) => {
                let found = store.read(reads);
                self.take(found, rest)
            }
        };
    }

    /// Takes a search's outcomes; returns the next state.
    fn take(&mut self, found: Found, rest: Vec<Operation>) -> Work {
        self.results.extend(found.outcomes);
        match found.rest {
            Some(search) => Work::Pauses(search, rest),
            None => Work::None(rest),
        }
    }

    /// Continues until there are outcomes, or the client has no more work.
    fn until_some(&mut self, caller: &Caller) -> Poll<()> {
        while self.results.is_empty() {
            self.load = None;
            match std::mem::replace(&mut self.work, Work::None(Vec::new())) {
                Work::None(operations) if operations.is_empty() => return Poll::Ready(()),
                Work::None(operations) => self.begin(operations, caller),
                Work::Pauses(search, rest) => {
                    let ring = self.bell(caller).ringer();
                    let store = self.store.borrow();
                    let store = store.as_ref().expect("it is open");
                    self.work = Work::Reads(store.read_on(search, ring), rest);
                }
                Work::Reads(come, rest) => match come.try_recv() {
                    Ok(found) => self.work = self.take(found, rest),
                    Err(TryRecvError::Empty) => {
                        self.work = Work::Reads(come, rest);
                        return self.wait(caller);
                    }
                    // Each operation has an outcome, so further requests for one are refused.
                    Err(TryRecvError::Disconnected) => {}
                },
                Work::Writes(come, rest) => match come.try_recv() {
                    Ok(Answer::Done(outcomes, mut left, load)) => {
                        self.results.extend(outcomes);
                        self.load = Some(load);
                        left.extend(rest);
                        self.work = Work::None(left);
                    }
                    Ok(Answer::Changed | Answer::Spoiled(_)) => {
                        unreachable!("that is said of what is done together")
                    }
                    Err(TryRecvError::Empty) => {
                        self.work = Work::Writes(come, rest);
                        return self.wait(caller);
                    }
                    Err(TryRecvError::Disconnected) => {}
                },
            }
        }
        Poll::Ready(())
    }

    /// Whether no earlier operation or outcome is left.
    fn is_idle(&self) -> bool {
        !matches!(self.work, Work::Writes(..) | Work::Reads(..))
    }

    /// Executes the collected operations, all or none.
    fn whole(&mut self, caller: &Caller) -> Poll<Whole> {
        if self.is_idle() {
            self.results.clear();
            self.pairs.clear();
            let operations = take(&mut self.operations);
            let ring = self.bell(caller).ringer();
            let Some(store) = &*self.store.borrow() else {
                return Poll::Ready(Whole::Spoiled("the store isn't open".into()));
            };
            self.work = Work::Writes(store.write(operations, true, self.watch.clone(), ring), Vec::new());
        }
        let Work::Writes(come, _) = &self.work else {
            return Poll::Ready(Whole::Spoiled("something else is being done".into()));
        };
        let answer = match come.try_recv() {
            Err(TryRecvError::Empty) => return self.wait(caller),
            answer => answer,
        };
        self.work = Work::None(Vec::new());
        Poll::Ready(match answer {
            Ok(Answer::Done(outcomes, _, load)) => {
                self.results.extend(outcomes);
                self.load = Some(load);
                Whole::Executed
            }
            Ok(Answer::Changed) => Whole::Changed,
            Ok(Answer::Spoiled(reason)) => Whole::Spoiled(reason),
            Err(_) => Whole::Spoiled("the store is gone".into()),
        })
    }
}

/// How many operations run together: the leading reads, or the leading operations that don't scan all keys.
fn first_run(operations: &[Operation]) -> usize {
    let reads = operations.iter().take_while(|operation| operation.only_reads()).count();
    if reads == operations.len() {
        return reads;
    }
    let is_long = |operation: &Operation| matches!(operation, Operation::Read(read) if read.work().is_none());
    match operations.iter().position(is_long) {
        Some(0) => reads,
        Some(first) => first,
        None => operations.len(),
    }
}

fn closed() -> Outcome {
    Outcome::Refused("the store isn't open".into())
}

impl RecordsLater for Session {
    fn open(&mut self, _: &Caller, file: &[u8], largest: i64, cache: i64) -> Poll<OpenAnswer<'_>> {
        let store = &mut *self.store.borrow_mut();
        if store.is_some() {
            return Poll::Ready(OpenAnswer::Failed { reason: b"the store is open already"[..].into() });
        }
        let size = |n: i64| usize::try_from(n).unwrap_or(0);
        Poll::Ready(match Store::open(Path::new(OsStr::from_bytes(file)), size(largest), size(cache)) {
            Ok(open) => {
                *store = Some(open);
                OpenAnswer::Opened
            }
            Err(reason) => OpenAnswer::Failed { reason: reason.into_bytes().into() },
        })
    }

    fn get(&mut self, _: &Caller, key: &[u8]) -> Poll<()> {
        self.read(Read::Get { key: key.into() })
    }

    fn part(&mut self, _: &Caller, key: &[u8], from: i64, to: i64) -> Poll<()> {
        self.read(Read::Part { key: key.into(), from, to })
    }

    fn length(&mut self, _: &Caller, key: &[u8]) -> Poll<()> {
        self.read(Read::Length { key: key.into() })
    }

    fn expiry(&mut self, _: &Caller, key: &[u8]) -> Poll<()> {
        self.read(Read::Expiry { key: key.into() })
    }

    fn remaining(&mut self, _: &Caller, key: &[u8]) -> Poll<()> {
        self.read(Read::Remaining { key: key.into() })
    }

    fn next(&mut self, _: &Caller, after: &[u8], prefix: &[u8], most: i64) -> Poll<()> {
        self.read(Read::Next { after: after.into(), prefix: prefix.into(), most })
    }

    fn keys(&mut self, _: &Caller, pattern: &[u8]) -> Poll<()> {
        self.read(Read::Keys { pattern: pattern.into() })
    }

    fn scan(&mut self, _: &Caller, place: i64, pattern: &[u8], most: i64) -> Poll<()> {
        self.read(Read::Scan { place, pattern: pattern.into(), most })
    }

    fn count(&mut self, _: &Caller) -> Poll<()> {
        self.read(Read::Count)
    }

    fn timed(&mut self, _: &Caller) -> Poll<()> {
        self.read(Read::Timed)
    }

    fn random(&mut self, _: &Caller) -> Poll<()> {
        self.read(Read::Random)
    }

    fn set(&mut self, _: &Caller, key: &[u8], x: &[u8], only: i64, how: i64, time: i64) -> Poll<()> {
        let (only, expires) = (Only::of(only), Expires::of(how, time));
        self.change(Change::Set { key: key.into(), x: x.into(), only, expires })
    }

    fn swap(&mut self, _: &Caller, key: &[u8], x: &[u8], only: i64, how: i64, time: i64) -> Poll<()> {
        let (only, expires) = (Only::of(only), Expires::of(how, time));
        self.change(Change::Swap { key: key.into(), x: x.into(), only, expires })
    }

    fn take(&mut self, _: &Caller, key: &[u8]) -> Poll<()> {
        self.change(Change::Take { key: key.into() })
    }

    fn touch(&mut self, _: &Caller, key: &[u8], how: i64, time: i64) -> Poll<()> {
        self.change(Change::Touch { key: key.into(), expires: Expires::of(how, time) })
    }

    fn delete(&mut self, _: &Caller, key: &[u8]) -> Poll<()> {
        self.change(Change::Delete { key: key.into() })
    }

    fn add(&mut self, _: &Caller, key: &[u8], n: i64) -> Poll<()> {
        self.change(Change::Add { key: key.into(), n })
    }

    fn append(&mut self, _: &Caller, key: &[u8], x: &[u8]) -> Poll<()> {
        self.change(Change::Append { key: key.into(), x: x.into() })
    }

    fn overlay(&mut self, _: &Caller, key: &[u8], at: i64, x: &[u8]) -> Poll<()> {
        self.change(Change::Overlay { key: key.into(), at, x: x.into() })
    }

    fn exchange(&mut self, _: &Caller, key: &[u8], old: &[u8], x: &[u8]) -> Poll<()> {
        self.change(Change::Exchange { key: key.into(), old: old.into(), x: x.into() })
    }

    fn expire(&mut self, _: &Caller, key: &[u8], how: i64, time: i64, condition: i64) -> Poll<()> {
        let (expires, condition) = (Expires::of(how, time), Condition(condition));
        self.change(Change::Expire { key: key.into(), expires, condition })
    }

    fn rename(&mut self, _: &Caller, key: &[u8], new: &[u8], only: i64) -> Poll<()> {
        self.change(Change::Rename { key: key.into(), new: new.into(), only: Only::of(only) })
    }

    fn copy(&mut self, _: &Caller, key: &[u8], new: &[u8], only: i64) -> Poll<()> {
        self.change(Change::Copy { key: key.into(), new: new.into(), only: Only::of(only) })
    }

    fn pair(&mut self, _: &Caller, key: &[u8], x: &[u8]) -> Poll<()> {
        self.pairs.push((key.into(), x.into()));
        Poll::Ready(())
    }

    fn set_all(&mut self, _: &Caller, only: i64) -> Poll<()> {
        let pairs = take(&mut self.pairs);
        self.change(Change::SetAll { pairs, only: Only::of(only) })
    }

    fn clear(&mut self, _: &Caller) -> Poll<()> {
        self.change(Change::Clear)
    }

    fn watch(&mut self, _: &Caller, key: &[u8]) -> Poll<()> {
        if let Some(store) = &*self.store.borrow() {
            self.watch.get_or_insert_with(|| store.watch());
        }
        self.change(Change::Watch { key: key.into() })
    }

    fn unwatch(&mut self, _: &Caller) -> Poll<()> {
        // Without a watch the writer needn't be asked.
        if self.watch.is_some() { self.change(Change::Unwatch) } else { self.read(Read::Nothing) }
    }

    fn forget(&mut self, _: &Caller) -> Poll<()> {
        self.operations.clear();
        self.pairs.clear();
        Poll::Ready(())
    }

    fn commit(&mut self, caller: &Caller) -> Poll<()> {
        if self.is_idle() {
            self.results.clear();
            self.pairs.clear();
            self.work = Work::None(take(&mut self.operations));
        }
        self.until_some(caller)
    }

    fn execute(&mut self, caller: &Caller) -> Poll<ExecuteAnswer<'_>> {
        let answer = ready!(self.whole(caller));
        Poll::Ready(match answer {
            Whole::Executed => ExecuteAnswer::Executed,
            Whole::Changed => ExecuteAnswer::Changed,
            Whole::Spoiled(reason) => ExecuteAnswer::Spoiled { reason: caller.text(reason.as_bytes()) },
        })
    }

    fn result(&mut self, caller: &Caller) -> Poll<ResultAnswer<'_>> {
        ready!(self.until_some(caller));
        let outcome = self.results.pop_front();
        Poll::Ready(match outcome {
            Some(Outcome::Value(x)) => ResultAnswer::Value { x: caller.text(&x) },
            Some(Outcome::Long(length)) => ResultAnswer::Long { length: length as i64 },
            Some(Outcome::Piece(x)) => ResultAnswer::Piece { x: caller.text(&x) },
            Some(Outcome::Entry(key, x)) => {
                ResultAnswer::Entry { key: caller.text(&key), x: caller.text(&x) }
            }
            Some(Outcome::Key(key)) => ResultAnswer::Key { key: caller.text(&key) },
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
        let session = Session {
            store: store.clone(),
            bell: None,
            watch: None,
            pairs: Vec::new(),
            operations: Vec::new(),
            work: Work::None(Vec::new()),
            results: VecDeque::new(),
            load: None,
        };
        records::serve(session)
    }))
}
