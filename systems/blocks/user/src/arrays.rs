//! The user's side of arrays of calls.

use counting::measure;
use users::calls::{self, Number, call};
use users::say;

/// Words that an array shares with the kernel.
pub const WORDS: usize = 512;

/// An array that is registered with the kernel.
pub struct Array {
    number: u64,
    words: *mut u64,
}

/// A command of an array: a call's number, and the word that receives its answer.
pub const fn command(number: u64, answer: u64) -> u64 {
    number | answer << 32
}

impl Array {
    /// Registers commands under a number from 24 on.
    pub fn new(number: u64, commands: &[u64]) -> Result<Array, i64> {
        Array::keep(number, commands, 0)
    }

    /// As [`Array::new`]; the kernel also calls it on page faults, with the address in the given word.
    pub fn handling(number: u64, word: u64, commands: &[u64]) -> Result<Array, i64> {
        Array::keep(number, commands, 1 + word)
    }

    fn keep(number: u64, commands: &[u64], handles: u64) -> Result<Array, i64> {
        let (from, count) = (commands.as_ptr() as u64, commands.len() as u64);
        let at = calls::call_anything(Number::Keep as u64, [number, from, count, handles]);
        if at > 0 { Ok(Array { number, words: at as *mut u64 }) } else { Err(at) }
    }

    /// Gives its number back.
    pub fn give_back(&self) -> i64 {
        call(Number::GiveBack, self.number, 0)
    }

    /// A word of it.
    pub fn get(&self, word: usize) -> u64 {
        assert!(word < WORDS);
        // SAFETY: a word of a page that is there for ever.
        unsafe { self.words.add(word).read_volatile() }
    }

    /// Sets a word for the next call.
    #[inline(always)]
    pub fn set(&self, word: usize, value: u64) {
        assert!(word < WORDS);
        // SAFETY: likewise.
        unsafe { self.words.add(word).write_volatile(value) };
    }

    /// Sets the arguments of a call.
    pub fn pass(&self, call: usize, words: [u64; 4]) {
        (0..4).for_each(|index| self.set(4 * call + index, words[index]));
    }

    /// Makes all of its calls, and returns how many weren't made.
    #[inline(always)]
    pub fn call(&self) -> i64 {
        // SAFETY: a number as any.
        unsafe { calls::user_call(self.number, 0, 0, 0, 0) }
    }
}

/// For each measure the number of calls, and the number of the array.
pub const COUNTS: [(usize, u64); 3] = [(1, 24), (10, 25), (100, 26)];

/// Measures a call by itself, and within an array.
pub fn measures() {
    for (count, number) in COUNTS {
        let single = measure_each(count, || _ = call(Number::Nothing, 0, 0));
        let nothing = [command(Number::Nothing as u64, 400); 100];
        let keep = counting::now();
        let array = Array::new(number, &nothing[..count]).expect("it is kept");
        let keep = counting::now() - keep;
        assert_eq!((array.call(), array.get(400)), (0, 42));
        say!("single calls {count} {single}");
        say!("interp {count} {}", measure(|| _ = array.call()));
        say!("keep an array of {count} {keep}");
    }
}

#[inline(always)]
fn measure_each(count: usize, something: impl Fn()) -> u64 {
    measure(|| {
        for _ in 0..count {
            something();
        }
    })
}
