//! Programs with loops and conditions: composite calls (`docs/src/composite.md`) that a process has the kernel run, by one call. What they call
//! is what their process can.
//!
//! The kernel isn't interrupted while one runs, so that is never long: a run that has more to do comes back unfinished, and its process calls
//! again. Between two such slices the thread is a user's as always: it is preempted, told by signals, and ended, and nothing of the kernel has to
//! know that it has a run. Trees only are taken: to check one takes as long as it is, while to prove bytecode may take too long for a kernel that
//! isn't interrupted.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cell::RefCell;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

use drystone_extension::composite::{
    Allowance, Code, Executor, Hash, Limits, Prepared, Program, Refusal, Run, Step, VarTable, Why,
};
use kortex_binding::{REFUSED, memory};
use kortex_hal::time;

use microkernel::Process;
use microkernel::methods::of;

use crate::Host;
use crate::calls::Calls;
use crate::heap::has_room;
use crate::interface::interface;

const LIMITS: Limits = Limits { program: 4096, words: 1024, texts: 64 };
/// Bytes of texts that a run may hold.
const TEXTS: usize = 1 << 16;
/// So many programs and runs a process may have, and so many programs the kernel remembers for whoever has their hashes.
const MOST: usize = 8;
const REMEMBERED: usize = 32;
/// Bytes of values, and of what is told about errors.
const VALUES: usize = 8192 + 64;
const SENTENCE: usize = 256;

type Known = Arc<Prepared<Calls>>;

/// A run: it isn't here while it goes on.
struct Kept {
    run: Option<Box<Run<Calls>>>,
    cancelled: Arc<AtomicBool>,
}

/// Of a process.
pub struct Programs {
    known: RefCell<Vec<Known>>,
    runs: RefCell<[Option<Kept>; MOST]>,
    /// Beats of the processor's counter for which one runs at once.
    slice: u64,
}

impl Programs {
    pub const fn new(slice: u64) -> Programs {
        Programs { known: RefCell::new(Vec::new()), runs: RefCell::new([const { None }; MOST]), slice }
    }

    /// Forgets all of it.
    pub fn release_all(&self) {
        self.runs.take();
        self.known.take();
    }

    /// The number of a program of its own.
    fn add(&self, program: Known) -> i64 {
        let mut known = self.known.borrow_mut();
        if let Some(number) = known.iter().position(|it| Arc::ptr_eq(it, &program)) {
            return number as i64;
        }
        if known.len() == MOST {
            return REFUSED;
        }
        known.push(program);
        known.len() as i64 - 1
    }
}

/// Programs by their hashes, whoever sent them.
pub struct Cache(RefCell<Vec<(Hash, Known)>>);

// SAFETY: there is one processor, and the kernel isn't interrupted.
unsafe impl Sync for Cache {}

static CACHE: Cache = Cache(RefCell::new(Vec::new()));

impl Cache {
    fn find(&self, hash: &Hash) -> Option<Known> {
        self.0.borrow().iter().find(|known| known.0 == *hash).map(|known| known.1.clone())
    }

    /// The oldest that nobody has is forgotten when there are too many.
    fn add(&self, hash: Hash, program: Known) {
        let mut cache = self.0.borrow_mut();
        if cache.len() >= REMEMBERED {
            let unused = cache.iter().position(|(_, known)| Arc::strong_count(known) == 1);
            cache.remove(unused.unwrap_or(0));
        }
        cache.push((hash, program));
    }
}

/// Bytes of a user's.
fn read(from: u64, count: u64, most: usize) -> Option<Vec<u8>> {
    let count = usize::try_from(count).ok().filter(|&count| count <= most)?;
    let mut bytes = alloc::vec![0; count];
    // Nothing is nowhere.
    (count == 0 || memory::read(from, &mut bytes).is_ok()).then_some(bytes)
}

/// Takes a program: its number. If it can't be taken and there is room for a sentence, why.
pub unsafe extern "C" fn learn<K: Host>(this: *const (), from: u64, count: u64, why: u64, room: u64) -> i64 {
    if !has_room() {
        return REFUSED;
    }
    let Some(bytes) = read(from, count, LIMITS.program) else { return REFUSED };
    // SAFETY: bound so.
    let process = unsafe { of::<K>(this) };
    let hash = Hash::of(&bytes);
    let prepare = || prepare(&bytes).inspect(|known| CACHE.add(hash, known.clone()));
    match CACHE.find(&hash).map_or_else(prepare, Ok) {
        Ok(known) => process.part.programs.add(known),
        Err(refusal) => {
            let sentence = refusal.0.as_bytes();
            let told = &sentence[..sentence.len().min(SENTENCE).min(room as usize)];
            // If there is no room, nobody wants to know.
            let is_told = memory::write(why, told).is_ok();
            if is_told { -1 - told.len() as i64 } else { REFUSED }
        }
    }
}

fn prepare(bytes: &[u8]) -> Result<Known, Refusal> {
    let program = Program::decode(bytes, &LIMITS)?;
    if let Code::Bytecode(_) = program.code {
        return Err(
            "the kernel takes trees only, which it can check in no time: send that which was compiled".into(),
        );
    }
    // Which checks it by itself, before it is compared with anything.
    let prepared = Prepared::new(program, &LIMITS, Executor::Tree)?;
    prepared.program().check_interfaces(&[&interface()])?;
    Ok(Arc::new(prepared))
}

/// The number of a program that the kernel remembers, by its hash.
pub unsafe extern "C" fn know<K: Host>(this: *const (), from: u64, _: u64, _: u64, _: u64) -> i64 {
    let mut hash = [0; 32];
    if !has_room() || memory::read(from, &mut hash).is_err() {
        return REFUSED;
    }
    // SAFETY: bound so.
    let process = unsafe { of::<K>(this) };
    CACHE.find(&Hash(hash)).map_or(REFUSED, |known| process.part.programs.add(known))
}

/// What a process says when it has a program run, in words.
#[derive(Clone, Copy)]
struct Request {
    at: u64,
    /// Where the values are that the program gets, and how many bytes.
    values: [u64; 2],
    /// Where the values go that it gives, and how many bytes there is room for.
    results: [u64; 2],
    /// How many rounds it may take (more).
    rounds: u64,
}

impl Request {
    fn read(at: u64) -> Option<Request> {
        let mut bytes = [0; 40];
        memory::read(at, &mut bytes).ok()?;
        let word =
            |index: usize| bytes[8 * index..].first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
        Some(Request { at, values: [word(0), word(1)], results: [word(2), word(3)], rounds: word(4) })
    }

    /// Tells behind that which run it is, how many bytes it gives, and which error where.
    fn answer(&self, words: [u64; 3]) -> bool {
        let mut bytes = [0; 24];
        for (to, word) in bytes.chunks_exact_mut(8).zip(words) {
            to.copy_from_slice(&word.to_le_bytes());
        }
        memory::write(self.at + 40, &bytes).is_ok()
    }
}

/// How far a run came, as its process is told. What has come from values is there in all cases but the second.
const ENDED: i64 = 0;
const UNFINISHED: i64 = 1;
const FAILED: i64 = 2;
const BUDGET: i64 = 3;
const CANCELLED: i64 = 4;

/// Runs a program.
pub unsafe extern "C" fn run<K: Host>(this: *const (), program: u64, request: u64, _: u64, _: u64) -> i64 {
    // SAFETY: bound so.
    let process = unsafe { of::<K>(this) };
    begin(process, program, request)
        .map_or(REFUSED, |(number, run, request)| go_on_with(process, number, run, request))
}

fn begin<K: Host>(
    process: &'static Process<K>,
    program: u64,
    request: u64,
) -> Option<(usize, Box<Run<Calls>>, Request)> {
    let request = Request::read(request).filter(|_| has_room())?;
    let prepared = process.part.programs.known.borrow().get(program as usize)?.clone();
    let number = process.part.programs.runs.borrow().iter().position(Option::is_none)?;
    let mut table = VarTable::new(prepared.layout().clone());
    table.decode_in(&read(request.values[0], request.values[1], VALUES)?).ok()?;
    let allowance = Allowance { rounds: request.rounds, texts: TEXTS };
    let run = Run::new(prepared, table, Calls::new(&process.domain), allowance).ok()?;
    let cancelled = run.cancel_flag().clone();
    process.part.programs.runs.borrow_mut()[number] = Some(Kept { run: None, cancelled });
    Some((number, Box::new(run), request))
}

/// Has a run go on that isn't finished or has stopped.
pub unsafe extern "C" fn go_on<K: Host>(this: *const (), run: u64, request: u64, _: u64, _: u64) -> i64 {
    // SAFETY: bound so.
    let process = unsafe { of::<K>(this) };
    let number = run as usize;
    let Some(request) = Request::read(request).filter(|_| has_room()) else { return REFUSED };
    let values = match request.values[1] {
        0 => None,
        count => match read(request.values[0], count, VALUES) {
            None => return REFUSED,
            values => values,
        },
    };
    // Another thread of the process may be at it.
    let taken =
        process.part.programs.runs.borrow_mut().get_mut(number).and_then(|kept| kept.as_mut()?.run.take());
    let Some(mut run) = taken else { return REFUSED };
    run.allow(request.rounds);
    if values.is_some_and(|values| change(&mut run, &values).is_err()) {
        keep(process, number, run);
        return REFUSED;
    }
    go_on_with(process, number, run, request)
}

/// Gives the variables other values that a program gets.
fn change(run: &mut Run<Calls>, values: &[u8]) -> Result<(), Refusal> {
    let layout = run.prepared().layout().clone();
    let mut table = VarTable::new(layout.clone());
    table.decode_in(values)?;
    for (number, variable) in
        layout.variables().iter().enumerate().filter(|(_, variable)| variable.travels_in())
    {
        for index in 0..variable.count() {
            if let Some(value) = table.get(number as u32, index) {
                run.set(number as u32, index, value)?;
            }
        }
    }
    Ok(())
}

fn keep<K: Host>(process: &Process<K>, number: usize, run: Box<Run<Calls>>) {
    if let Some(kept) = &mut process.part.programs.runs.borrow_mut()[number] {
        kept.run = Some(run);
    }
}

/// For a slice.
fn go_on_with<K: Host>(
    process: &'static Process<K>,
    number: usize,
    mut run: Box<Run<Calls>>,
    request: Request,
) -> i64 {
    /// A round takes no longer than what is written in a program, which isn't much: so many are short in any case.
    const ROUNDS: u64 = 16;
    let until = time::counter() + process.part.programs.slice;
    run.services().until = until;
    let step = loop {
        match run.resume(ROUNDS) {
            Step::Yields if time::counter() < until => {}
            step => break step,
        }
    };
    let (status, error) = match &step {
        Step::Ended => (ENDED, 0),
        Step::Waits | Step::Yields => (UNFINISHED, 0),
        Step::Stopped(Why::Budget) => (BUDGET, 0),
        Step::Stopped(Why::Cancelled) => (CANCELLED, 0),
        Step::Stopped(Why::Failed(failure)) => {
            (FAILED, u64::from(failure.location) << 8 | failure.fault as u64)
        }
    };
    let results = if status == UNFINISHED { Vec::new() } else { run.encode_out() };
    let fits = results.len() as u64 <= request.results[1];
    let has_room = fits && (results.is_empty() || memory::write(request.results[0], &results).is_ok());
    let is_told = request.answer([number as u64, results.len() as u64, error]);
    if status == ENDED && has_room && is_told {
        process.part.programs.runs.borrow_mut()[number] = None;
    } else {
        if status == CANCELLED {
            // It has been heard.
            run.cancel_flag().store(false, Relaxed);
        }
        keep(process, number, run);
    }
    if has_room && is_told { status } else { REFUSED }
}

/// Stops a run when its next slice begins, or, if it is waiting for another domain, when that has answered.
pub unsafe extern "C" fn cancel<K: Host>(this: *const (), run: u64, _: u64, _: u64, _: u64) -> i64 {
    // SAFETY: bound so.
    let runs = unsafe { of::<K>(this) }.part.programs.runs.borrow();
    match runs.get(run as usize) {
        Some(Some(kept)) => {
            kept.cancelled.store(true, Relaxed);
            0
        }
        _ => REFUSED,
    }
}

/// Forgets a run that has stopped or isn't finished.
pub unsafe extern "C" fn discard<K: Host>(this: *const (), run: u64, _: u64, _: u64, _: u64) -> i64 {
    // SAFETY: bound so.
    let mut runs = unsafe { of::<K>(this) }.part.programs.runs.borrow_mut();
    match runs.get_mut(run as usize) {
        Some(kept) if kept.as_ref().is_some_and(|kept| kept.run.is_some()) => {
            *kept = None;
            0
        }
        _ => REFUSED,
    }
}
