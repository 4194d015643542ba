//! Measures pipes: copy, Internet checksum and byte swap in one pass, beside three passes, C, and `memcpy` (Table IV of
//! *ASHs* (Wallach)).

use std::arch::x86_64::{_mm_clflush, _mm_lfence, _mm_mfence, _rdtsc};
use std::cell::RefCell;
use std::hint::black_box;
use std::mem::transmute;
use std::time::Instant;

use drystone_extension::pipe::{Handle, Mode, Pass, Pipe, Pipes, Registers, ready};

use super::effort::Effort;
use crate::object::Object;
use crate::peers;
use crate::row::Row;
use crate::row::Tell;
use crate::statistics::{percentile, rounded, sorted};
use crate::turns::{Turn, by_turns};

/// The paper's ratio of three passes to one.
const SEPARATE: f64 = 1.6;
/// The greatest ratio to hand-written C.
const BY_HAND: f64 = 1.05;
/// The greatest ratio to copying alone.
const COPYING: f64 = 2.0;

type Copying = unsafe extern "C" fn(*mut u8, *const u8, usize);
type Integrated = unsafe extern "C" fn(*mut u8, *const u8, usize) -> u32;
type Summing = unsafe extern "C" fn(*const u8, usize) -> u32;
type Swapping = unsafe extern "C" fn(*mut u8, usize);

/// The functions in C.
#[derive(Clone, Copy)]
struct C {
    copy: Copying,
    sum: Summing,
    swap: Swapping,
    integrated: Integrated,
    plain: Integrated,
}

impl C {
    fn compiled() -> Result<C, String> {
        let options = ["-O3", "-mavx2", "-shared", "-fPIC"];
        let library = peers::c("clang-19", &options, "handlers/pass.c", "pass.so")?;
        let object = Object::open(&library)?;
        let function = |name| object.find(name).ok_or_else(|| format!("there is no {name}"));
        let [copy, sum, swap, integrated, plain] =
            ["copy", "sum", "swap", "integrated", "integrated_plain"].map(function);
        // SAFETY: the file that the library was just made of defines them so.
        unsafe {
            Ok(C {
                copy: transmute::<*const u8, Copying>(copy?),
                sum: transmute::<*const u8, Summing>(sum?),
                swap: transmute::<*const u8, Swapping>(swap?),
                integrated: transmute::<*const u8, Integrated>(integrated?),
                plain: transmute::<*const u8, Integrated>(plain?),
            })
        }
    }
}

/// A compiled list of pipes, with its registers.
struct Compiled {
    pass: Pass,
    registers: RefCell<Registers>,
    first: Option<Handle>,
}

impl Compiled {
    fn new(pipes: Vec<Pipe>, mode: Mode) -> Result<Compiled, String> {
        let mut list = Pipes::new();
        let first = pipes.into_iter().map(|pipe| list.add(pipe)).collect::<Vec<_>>().first().copied();
        let pass = list.compile(mode).map_err(|error| error.to_string())?;
        Ok(Compiled { registers: RefCell::new(pass.registers()), pass, first })
    }

    fn run(&self, from: &[u8], to: &mut [u8]) {
        self.pass.run(from, to, &mut self.registers.borrow_mut()).expect("there is room");
    }

    /// The checksum of its first pipe, which is reset.
    fn sum(&self) -> u32 {
        let (mut registers, first) = (self.registers.borrow_mut(), self.first.expect("it has one"));
        let sum = registers.export(first).expect("it has a register");
        registers.import(first, 0).expect("it has a register");
        sum as u32
    }
}

/// The state of the cache before a measurement.
#[derive(Clone, Copy, PartialEq)]
enum Cache {
    Warm,
    Flushed,
    /// Emptied before each pass.
    Apart,
}

/// Source and destination begin with a cache line, and their distance is no multiple of 4096 bytes: otherwise
/// processors take one for the other for a while (4K aliasing).
struct Data {
    memory: Vec<u8>,
    source: usize,
    size: usize,
}

impl Data {
    fn new(size: usize) -> Data {
        let mut memory: Vec<u8> = (0..2 * size + 8192 + 2048).map(|at| (at * 7) as u8).collect();
        let source = memory.as_ptr().align_offset(4096);
        memory[source + size..].fill(0);
        Data { memory, source, size }
    }

    fn halves(&mut self) -> (&[u8], &mut [u8]) {
        let (source, rest) = self.memory[self.source..].split_at_mut(self.size);
        let gap = (rest.as_ptr().align_offset(4096) % 4096 + 2048) % 4096;
        (source, &mut rest[gap..][..self.size])
    }
}

/// An operation on a source and a destination.
type Deed<'s> = &'s dyn Fn(&[u8], &mut [u8]);

/// Passes over data.
struct Passes {
    data: RefCell<Data>,
    is_cached: bool,
    ticks_of_nothing: f64,
    ticks_per_ns: f64,
}

impl Passes {
    /// Nanoseconds of consecutive passes: the median of many.
    fn time(&self, cache: Cache, passes: &[Deed]) -> f64 {
        let mut data = self.data.borrow_mut();
        let (from, to) = data.halves();
        let rounds = if from.len() > 1 << 20 { 3 } else { 51 };
        let times: Vec<f64> = (0..rounds).map(|_| self.once(cache, passes, from, to)).collect();
        percentile(&sorted(&times), 0.5).unwrap_or(0.0) / self.ticks_per_ns
    }

    /// Ticks of one measurement: for small cached data, of many at once.
    fn once(&self, cache: Cache, passes: &[Deed], from: &[u8], to: &mut [u8]) -> f64 {
        let times = if self.is_cached { (1 << 18) / from.len() } else { 1 };
        let together = if cache == Cache::Apart { 1 } else { passes.len() };
        let mut all = 0.0;
        for part in passes.chunks(together) {
            if cache != Cache::Warm {
                flush(from);
                flush(to);
            }
            let begin = ticks();
            for _ in 0..times {
                part.iter().for_each(|pass| pass(black_box(from), black_box(to)));
            }
            all += (ticks() - begin) as f64 - self.ticks_of_nothing;
        }
        all / times as f64
    }
}

fn flush(data: &[u8]) {
    for line in data.chunks(64) {
        // SAFETY: it only takes the line out of the caches.
        unsafe { _mm_clflush(line.as_ptr()) };
    }
}

fn ticks() -> u64 {
    // SAFETY: every processor has these.
    unsafe {
        _mm_mfence();
        _mm_lfence();
        let now = _rdtsc();
        _mm_lfence();
        now
    }
}

fn ticks_per_ns() -> f64 {
    let (begin, now) = (ticks(), Instant::now());
    while now.elapsed().as_millis() < 50 {}
    (ticks() - begin) as f64 / now.elapsed().as_nanos() as f64
}

/// Measures row after row.
pub fn rows(effort: Effort, tell: Tell) -> Result<(), String> {
    let c = C::compiled()?;
    let headline = [("one pass cached", 4096, Cache::Warm), ("one pass uncached", 4096, Cache::Flushed)];
    let more = [
        ("one pass cached, 1496 bytes", 1496, Cache::Warm),
        ("one pass cached, 64 KiB", 65536, Cache::Warm),
        ("one pass uncached, 64 KiB", 65536, Cache::Flushed),
        ("one pass uncached, 64 MiB", 64 << 20, Cache::Flushed),
    ];
    let more = if effort.is_full { &more[..] } else { &[] };
    for &(name, size, cache) in headline.iter().chain(more) {
        tell(row(effort, c, name, size, cache)?)?;
    }
    Ok(())
}

fn row(effort: Effort, c: C, name: &str, size: usize, cache: Cache) -> Result<Row, String> {
    let nothing = sorted(&[(); 301].map(|()| -(ticks() as f64 - ticks() as f64)));
    let bench = Passes {
        data: RefCell::new(Data::new(size)),
        is_cached: cache == Cache::Warm,
        ticks_of_nothing: nothing[nothing.len() / 2],
        ticks_per_ns: ticks_per_ns(),
    };
    let one = Compiled::new(vec![ready::internet_checksum(), ready::swap32()], Mode::Write)?;
    let copy = Compiled::new(vec![], Mode::Write)?;
    let summing = Compiled::new(vec![ready::internet_checksum()], Mode::Read)?;
    let swap = Compiled::new(vec![ready::swap32()], Mode::Write)?;

    let integrated = |from: &[u8], to: &mut [u8]| {
        one.run(from, to);
        black_box(one.sum());
    };
    // SAFETY: source and destination are of equal length.
    let by_c = |function: Integrated, from: &[u8], to: &mut [u8]| unsafe {
        function(to.as_mut_ptr(), from.as_ptr(), from.len())
    };
    let in_c = |from: &[u8], to: &mut [u8]| _ = black_box(by_c(c.integrated, from, to));
    let plain = |from: &[u8], to: &mut [u8]| _ = black_box(by_c(c.plain, from, to));
    let memcpy = |from: &[u8], to: &mut [u8]| to.copy_from_slice(from);
    let copied = |from: &[u8], to: &mut [u8]| copy.run(from, to);
    let summed = |_: &[u8], to: &mut [u8]| {
        summing.pass.read(to, &mut summing.registers.borrow_mut()).expect("it can be read");
    };
    let swapped = |_: &[u8], to: &mut [u8]| {
        swap.pass.run_in_place(to, &mut swap.registers.borrow_mut()).expect("it can be written");
    };
    let copied_in_c =
        // SAFETY: source and destination are of equal length.
        |from: &[u8], to: &mut [u8]| unsafe { (c.copy)(to.as_mut_ptr(), from.as_ptr(), from.len()) };
    let summed_in_c = |_: &[u8], to: &mut [u8]| {
        // SAFETY: it reads the bytes of `to`.
        black_box(unsafe { (c.sum)(to.as_ptr(), to.len()) });
    };
    let swapped_in_c = |_: &[u8], to: &mut [u8]| {
        // SAFETY: it changes the bytes of `to`.
        unsafe { (c.swap)(to.as_mut_ptr(), to.len()) }
    };

    let passes: [Deed; 3] = [&copied, &summed, &swapped];
    let passes_in_c: [Deed; 3] = [&copied_in_c, &summed_in_c, &swapped_in_c];
    same_work(&bench, (&one, &integrated), c.integrated, &[&passes, &passes_in_c])?;

    let alone: [(&str, [Deed; 1]); 4] =
        [("drystone", [&integrated]), ("c", [&in_c]), ("c-plain", [&plain]), ("memcpy", [&memcpy])];
    let mut contenders: Vec<(&str, Cache, &[Deed])> =
        alone.iter().map(|(name, pass)| (*name, cache, &pass[..])).collect();
    contenders.extend([("passes", cache, &passes[..]), ("c-passes", cache, &passes_in_c[..])]);
    if cache == Cache::Flushed {
        contenders.push(("passes-apart", Cache::Apart, &passes));
        contenders.push(("c-passes-apart", Cache::Apart, &passes_in_c));
    }
    let timed = |&(_, cache, passes): &(_, Cache, &[Deed])| bench.time(cache, passes);
    let measures: Vec<_> = contenders.iter().map(|contender| move || Ok(timed(contender))).collect();
    let turns: Vec<Turn> =
        contenders.iter().zip(&measures).map(|((name, ..), measure)| (*name, measure as _)).collect();
    let mut figures = by_turns(effort.rounds, effort.budget, &turns);
    let drystone = figures.remove("drystone").flatten();
    let of = |name: &str| figures.get(name).copied().flatten().map(|figure| figure.value);
    let separate = of("passes-apart").or(of("passes"));
    let limits = [
        separate.map(|it| it / SEPARATE),
        of("c").map(|it| it * BY_HAND),
        of("memcpy").map(|it| it * COPYING),
    ];
    let target = limits.into_iter().flatten().min_by(f64::total_cmp).map(rounded);
    Ok(Row { drystone, peers: figures, target, ..Row::new(name.into(), "ns") })
}

/// Checks that all give the same bytes and the same sum.
fn same_work(
    bench: &Passes,
    (one, integrated): (&Compiled, Deed),
    in_c: Integrated,
    others: &[&[Deed; 3]],
) -> Result<(), String> {
    let mut data = bench.data.borrow_mut();
    let (from, to) = data.halves();
    one.run(from, to);
    let (sum, wanted) = (one.sum(), to.to_vec());
    // SAFETY: both have as many bytes.
    let other = unsafe { in_c(to.as_mut_ptr(), from.as_ptr(), from.len()) };
    if fold(sum) != fold(other) || to != wanted {
        return Err(format!("C comes to {other:x}, the pipes to {sum:x}"));
    }
    for passes in others {
        to.fill(0);
        passes.iter().for_each(|pass| pass(from, to));
        if to != wanted {
            return Err("three passes come to other bytes than one".into());
        }
    }
    integrated(from, to);
    if to == wanted { Ok(()) } else { Err("the pipes come to other bytes".into()) }
}

/// Folds a sum to the checksum's 16 bits.
fn fold(sum: u32) -> u16 {
    let sum = (sum >> 16) + (sum & 0xffff);
    ((sum >> 16) + sum) as u16
}
