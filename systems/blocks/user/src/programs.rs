//! The user's side of programs, run by kernel or server.

use core::mem::size_of_val;

use users::calls::{Number, call, call_anything};

use crate::shipping::{self, By, REFUSED, Request, UNFINISHED};

macro_rules! program {
    ($name:literal) => {
        include_bytes!(concat!(env!("PROGRAMS"), "/", $name))
    };
}

pub static NOTHING: &[u8] = program!("nothing");
pub static FRAMES: &[u8] = program!("frames");
pub static FAULT: &[u8] = program!("fault");
pub static COUNT: &[u8] = program!("count");
pub static ANY: &[u8] = program!("any");
pub static CARELESS: &[u8] = program!("careless");
pub static DEEP: &[u8] = program!("deep");
pub static LONG: &[u8] = program!("long");
pub static BYTECODE: &[u8] = program!("bytecode");

/// More rounds than any run needs.
pub const ENOUGH: u64 = 1 << 40;

impl By {
    /// Ships a program, and returns its number or an error.
    pub fn learn(self, program: &[u8]) -> i64 {
        match self {
            By::Kernel => call(Number::Learn, program.as_ptr() as u64, program.len() as u64),
            By::Server => shipping::learn(program),
        }
    }

    /// Makes a request about a run.
    pub fn ask(self, what: Number, run: u64) -> i64 {
        match self {
            By::Kernel => call(what, run, 0),
            By::Server => shipping::ask(what, run),
        }
    }
}

/// Ships a program to the kernel, and returns its number or an error.
pub fn learn(program: &[u8]) -> i64 {
    By::Kernel.learn(program)
}

/// As [`learn`], with the reason of a refusal.
pub fn learn_or_why<'a>(program: &[u8], why: &'a mut [u8]) -> Result<i64, &'a [u8]> {
    let words = [program.as_ptr() as u64, program.len() as u64, why.as_mut_ptr() as u64, why.len() as u64];
    match call_anything(Number::Learn as u64, words) {
        REFUSED => Err(&[]),
        number @ 0.. => Ok(number),
        told => Err(&why[..(-1 - told) as usize]),
    }
}

/// Integers in the form of programs' values: the highest byte first.
pub fn wire<const N: usize>(values: [i64; N]) -> [[u8; 8]; N] {
    values.map(i64::to_be_bytes)
}

impl Request {
    /// A request to the kernel, with the program's values and a place for its results.
    pub fn new(values: &[[u8; 8]], results: &mut [[u8; 8]]) -> Request {
        Request {
            values: values.as_ptr() as u64,
            values_bytes: size_of_val(values) as u64,
            results: results.as_mut_ptr() as u64,
            room: size_of_val(results) as u64,
            rounds: ENOUGH,
            run: u64::MAX,
            bytes: 0,
            error: 0,
            by: By::Kernel,
        }
    }

    /// As [`Request::new`], to kernel or server.
    pub fn of(by: By, values: &[[u8; 8]], results: &mut [[u8; 8]]) -> Request {
        Request { by, ..Request::new(values, results) }
    }

    /// Begins a run, for one slice.
    #[inline(always)]
    pub fn begin(&mut self, program: i64) -> i64 {
        self.send(Number::Run, program as u64)
    }

    #[inline(always)]
    fn send(&mut self, what: Number, number: u64) -> i64 {
        match self.by {
            By::Kernel => call(what, number, &raw mut *self as u64),
            By::Server => shipping::send(what, number, self),
        }
    }

    /// Begins a run, and resumes it while it is unfinished. Returns its state, and how many calls that took.
    #[inline(always)]
    pub fn run(&mut self, program: i64) -> (i64, u64) {
        let first = self.begin(program);
        if first == UNFINISHED { self.finish() } else { (first, 1) }
    }

    /// Resumes it while it is unfinished.
    pub fn finish(&mut self) -> (i64, u64) {
        (self.values_bytes, self.rounds) = (0, 0);
        let mut calls = 1;
        loop {
            calls += 1;
            match self.go_on() {
                UNFINISHED => {}
                status => return (status, calls),
            }
        }
    }

    /// Resumes it for one slice, perhaps with other values and more rounds.
    pub fn go_on(&mut self) -> i64 {
        self.send(Number::Resume, self.run)
    }

    /// The same, while it is unfinished.
    pub fn go_on_to_its_end(&mut self) -> i64 {
        match self.go_on() {
            UNFINISHED => self.finish().0,
            status => status,
        }
    }

    /// Discards the run.
    pub fn discard(&self) -> i64 {
        self.by.ask(Number::Discard, self.run)
    }
}
