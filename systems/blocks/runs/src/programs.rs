//! A client's programs and runs, and its requests.
//!
//! A request is short: a run that isn't finished when its slice ends returns, and the client resumes it. Between slices
//! nothing refers to the run. Programs are trees only: checking a tree takes time linear in its size, while verifying
//! bytecode may take too long for a kernel that isn't interrupted, or for a server's call.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cell::RefCell;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

use drystone_extension::composite::{
    Allowance, Code, Executor, Hash, Limits, Prepared, Program, Refusal, Run, Step, VarTable, Why,
};

use crate::calls::Calls;
use crate::interface::interface;
use crate::runner::Runner;

const LIMITS: Limits = Limits { program: 4096, words: 1024, texts: 64 };
/// About how many bytes of programs are interpreted between two looks at the clock.
const AT_ONCE: usize = 6000;
/// Bytes of texts that a run may hold.
const TEXTS: usize = 1 << 16;
/// Most programs and most runs of a client, and the size of the cache.
const MOST: usize = 8;
const REMEMBERED: usize = 32;
/// Bytes of values, and of an error's sentence, at most.
const VALUES: usize = 8192 + 64;
const SENTENCE: usize = 256;

/// A program that was accepted.
struct Known<R> {
    prepared: Arc<Prepared<Calls<R>>>,
    /// The rounds that surely fit into a short time, as one round takes no longer than the program is long.
    rounds: u64,
}

impl<R> Clone for Known<R> {
    fn clone(&self) -> Known<R> {
        Known { prepared: self.prepared.clone(), rounds: self.rounds }
    }
}

/// A run; its place is empty while it is in a slice.
struct Kept<R> {
    run: Option<Box<Run<Calls<R>>>>,
    /// See [`Known`].
    rounds: u64,
    cancelled: Arc<AtomicBool>,
}

/// A client's programs and runs.
pub struct Programs<R> {
    known: RefCell<Vec<Known<R>>>,
    runs: RefCell<[Option<Kept<R>>; MOST]>,
}

/// Accepted programs of all clients, by hash.
pub struct Cache<R>(RefCell<Vec<(Hash, Known<R>)>>);

impl<R> Cache<R> {
    /// The empty cache.
    pub const fn new() -> Cache<R> {
        Cache(RefCell::new(Vec::new()))
    }

    fn find(&self, hash: &Hash) -> Option<Known<R>> {
        self.0.borrow().iter().find(|known| known.0 == *hash).map(|known| known.1.clone())
    }

    /// Adds a program. A full cache evicts the oldest that no client has.
    fn add(&self, hash: Hash, program: Known<R>) {
        let mut cache = self.0.borrow_mut();
        if cache.len() >= REMEMBERED {
            let unused = cache.iter().position(|(_, known)| Arc::strong_count(&known.prepared) == 1);
            cache.remove(unused.unwrap_or(0));
        }
        cache.push((hash, program));
    }
}

impl<R> Default for Cache<R> {
    fn default() -> Cache<R> {
        Cache::new()
    }
}

/// Bytes of the client's memory.
fn read(runner: impl Runner, from: u64, count: u64, most: usize) -> Option<Vec<u8>> {
    let count = usize::try_from(count).ok().filter(|&count| count <= most)?;
    let mut bytes = alloc::vec![0; count];
    // For no bytes, any address will do.
    (count == 0 || runner.read(from, &mut bytes)).then_some(bytes)
}

fn prepare<R: Runner>(bytes: &[u8]) -> Result<Known<R>, Refusal> {
    let program = Program::decode(bytes, &LIMITS)?;
    if let Code::Bytecode(_) = program.code {
        return Err(
            "trees only are taken, which can be checked in no time: send that which was compiled".into()
        );
    }
    // This checks the program itself, before its interfaces are compared.
    let prepared = Prepared::new(program, &LIMITS, Executor::Tree)?;
    prepared.program().check_interfaces(&[&interface()])?;
    let rounds = (AT_ONCE / bytes.len()).max(1) as u64;
    Ok(Known { prepared: Arc::new(prepared), rounds })
}

/// A client's request to run a program: six words.
#[derive(Clone, Copy)]
struct Request {
    at: u64,
    /// Address and length of the values for the program's variables.
    values: [u64; 2],
    /// Address and capacity of the place for its results.
    results: [u64; 2],
    /// The limit of rounds, or how many more.
    rounds: u64,
}

impl Request {
    fn read(runner: impl Runner, at: u64) -> Option<Request> {
        let mut bytes = [0; 40];
        if !runner.read(at, &mut bytes) {
            return None;
        }
        let word =
            |index: usize| bytes[8 * index..].first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
        Some(Request { at, values: [word(0), word(1)], results: [word(2), word(3)], rounds: word(4) })
    }

    /// Writes the answer behind the request: the run's number, the bytes of its results, and which error happened
    /// where.
    fn answer(&self, runner: impl Runner, words: [u64; 3]) -> bool {
        let mut bytes = [0; 24];
        for (to, word) in bytes.chunks_exact_mut(8).zip(words) {
            to.copy_from_slice(&word.to_le_bytes());
        }
        runner.write(self.at + 40, &bytes)
    }
}

/// The state of a run, as its client is told. In all but the second state the results have been written.
const ENDED: i64 = 0;
const UNFINISHED: i64 = 1;
const FAILED: i64 = 2;
const BUDGET: i64 = 3;
const CANCELLED: i64 = 4;

/// A client's requests; `None`: the request is refused.
impl<R: Runner> Programs<R> {
    /// No programs and no runs.
    pub const fn new() -> Programs<R> {
        Programs { known: RefCell::new(Vec::new()), runs: RefCell::new([const { None }; MOST]) }
    }

    /// Drops all programs and runs.
    pub fn release_all(&self) {
        self.runs.take();
        self.known.take();
    }

    /// Takes a program of `count` bytes, and returns its number. If it is refused, the reason is written to `why`, and
    /// -1 minus its length is returned.
    pub fn learn(
        &self,
        runner: R,
        cache: &Cache<R>,
        [from, count]: [u64; 2],
        [why, room]: [u64; 2],
    ) -> Option<i64> {
        let bytes = R::has_room().then(|| read(runner, from, count, LIMITS.program))??;
        let hash = Hash::of(&bytes);
        let prepare = || prepare(&bytes).inspect(|known| cache.add(hash, known.clone()));
        match cache.find(&hash).map_or_else(prepare, Ok) {
            Ok(known) => self.add(known),
            Err(refusal) => {
                let sentence = refusal.0.as_bytes();
                let told = &sentence[..sentence.len().min(SENTENCE).min(room as usize)];
                // If there is no room for the reason, it is left out.
                runner.write(why, told).then_some(-1 - told.len() as i64)
            }
        }
    }

    /// The number of a cached program, by its hash.
    pub fn know(&self, runner: R, cache: &Cache<R>, from: u64) -> Option<i64> {
        let mut hash = [0; 32];
        let is_there = R::has_room() && runner.read(from, &mut hash);
        self.add(cache.find(&Hash(hash)).filter(|_| is_there)?)
    }

    /// Adds a program to the client's own, and returns its number.
    fn add(&self, program: Known<R>) -> Option<i64> {
        let mut known = self.known.borrow_mut();
        if let Some(number) = known.iter().position(|it| Arc::ptr_eq(&it.prepared, &program.prepared)) {
            return Some(number as i64);
        }
        if known.len() == MOST {
            return None;
        }
        known.push(program);
        Some(known.len() as i64 - 1)
    }

    /// Runs a program.
    pub fn run(&self, runner: R, program: u64, request: u64) -> Option<i64> {
        let request = Request::read(runner, request).filter(|_| R::has_room())?;
        let Known { prepared, rounds } = self.known.borrow().get(program as usize)?.clone();
        let number = self.runs.borrow().iter().position(Option::is_none)?;
        let mut table = VarTable::new(prepared.layout().clone());
        table.decode_in(&read(runner, request.values[0], request.values[1], VALUES)?).ok()?;
        let allowance = Allowance { rounds: request.rounds, texts: TEXTS };
        let run = Run::new(prepared, table, Calls::new(runner), allowance).ok()?;
        let cancelled = run.cancel_flag().clone();
        self.runs.borrow_mut()[number] = Some(Kept { run: None, rounds, cancelled });
        self.slice(runner, number, Box::new(run), rounds, request)
    }

    /// Resumes a run that isn't finished or has stopped.
    pub fn go_on(&self, runner: R, run: u64, request: u64) -> Option<i64> {
        let number = run as usize;
        let request = Request::read(runner, request).filter(|_| R::has_room())?;
        let values = match request.values[1] {
            0 => None,
            count => Some(read(runner, request.values[0], count, VALUES)?),
        };
        // Another thread of the client may have it in a slice.
        let (mut run, rounds) = {
            let mut runs = self.runs.borrow_mut();
            let kept = runs.get_mut(number)?.as_mut()?;
            (kept.run.take()?, kept.rounds)
        };
        run.allow(request.rounds);
        if values.is_some_and(|values| change(&mut run, &values).is_err()) {
            self.keep(number, run);
            return None;
        }
        run.services().runner = runner;
        self.slice(runner, number, run, rounds, request)
    }

    fn keep(&self, number: usize, run: Box<Run<Calls<R>>>) {
        if let Some(kept) = &mut self.runs.borrow_mut()[number] {
            kept.run = Some(run);
        }
    }

    /// Runs until the program stops or the slice is over.
    fn slice(
        &self,
        runner: R,
        number: usize,
        mut run: Box<Run<Calls<R>>>,
        rounds: u64,
        request: Request,
    ) -> Option<i64> {
        let step = loop {
            match run.resume(rounds) {
                Step::Yields if !runner.is_over() => {}
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
        let has_room = fits && (results.is_empty() || runner.write(request.results[0], &results));
        let is_told = request.answer(runner, [number as u64, results.len() as u64, error]);
        if status == ENDED && has_room && is_told {
            self.runs.borrow_mut()[number] = None;
        } else {
            if status == CANCELLED {
                // The request to cancel is done.
                run.cancel_flag().store(false, Relaxed);
            }
            self.keep(number, run);
        }
        (has_room && is_told).then_some(status)
    }

    /// Stops a run when its next slice begins; if it waits for another domain, when that has answered.
    pub fn cancel(&self, run: u64) -> Option<i64> {
        let runs = self.runs.borrow();
        runs.get(run as usize)?.as_ref()?.cancelled.store(true, Relaxed);
        Some(0)
    }

    /// Drops a run that has stopped or isn't finished.
    pub fn discard(&self, run: u64) -> Option<i64> {
        let mut runs = self.runs.borrow_mut();
        let kept = runs.get_mut(run as usize)?;
        kept.take_if(|kept| kept.run.is_some()).map(|_| 0)
    }
}

impl<R: Runner> Default for Programs<R> {
    fn default() -> Programs<R> {
        Programs::new()
    }
}

/// Assigns the program's input variables.
fn change<R: Runner>(run: &mut Run<Calls<R>>, values: &[u8]) -> Result<(), Refusal> {
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
