//! Programs that the kernel runs, or the server.

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

/// So many rounds are enough.
pub const ENOUGH: u64 = 1 << 40;

impl By {
    /// Has it know a program: its number, or what it says.
    pub fn learn(self, program: &[u8]) -> i64 {
        match self {
            By::Kernel => call(Number::Learn, program.as_ptr() as u64, program.len() as u64),
            By::Server => shipping::learn(program),
        }
    }

    /// Asks it for something that is done with a run.
    pub fn ask(self, what: Number, run: u64) -> i64 {
        match self {
            By::Kernel => call(what, run, 0),
            By::Server => shipping::ask(what, run),
        }
    }
}

/// Has the kernel know a program: its number, or what the kernel says.
pub fn learn(program: &[u8]) -> i64 {
    By::Kernel.learn(program)
}

/// The same, and why not.
pub fn learn_or_why<'a>(program: &[u8], why: &'a mut [u8]) -> Result<i64, &'a [u8]> {
    let words = [program.as_ptr() as u64, program.len() as u64, why.as_mut_ptr() as u64, why.len() as u64];
    match call_anything(Number::Learn as u64, words) {
        REFUSED => Err(&[]),
        number @ 0.. => Ok(number),
        told => Err(&why[..(-1 - told) as usize]),
    }
}

/// Whole numbers as programs get and give them: the highest byte first.
pub fn wire<const N: usize>(values: [i64; N]) -> [[u8; 8]; N] {
    values.map(i64::to_be_bytes)
}

impl Request {
    /// With values that the program gets and a place for those that it gives.
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

    /// The same, for who may be somebody else.
    pub fn of(by: By, values: &[[u8; 8]], results: &mut [[u8; 8]]) -> Request {
        Request { by, ..Request::new(values, results) }
    }

    /// Begins a run, for a slice.
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

    /// Begins a run, and has it go on as long as it only isn't finished: how that ended, and how many calls that took.
    #[inline(always)]
    pub fn run(&mut self, program: i64) -> (i64, u64) {
        let first = self.begin(program);
        if first == UNFINISHED { self.finish() } else { (first, 1) }
    }

    /// Has it go on until something else is the case.
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

    /// Has it go on for a slice, perhaps with other values and more rounds.
    pub fn go_on(&mut self) -> i64 {
        self.send(Number::Resume, self.run)
    }

    /// The same, until something else is the case.
    pub fn go_on_to_its_end(&mut self) -> i64 {
        match self.go_on() {
            UNFINISHED => self.finish().0,
            status => status,
        }
    }

    /// Forgets it.
    pub fn discard(&self) -> i64 {
        self.by.ask(Number::Discard, self.run)
    }
}
