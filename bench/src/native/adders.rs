//! The component that is called, in three forms, which differ in where its data lies.

use std::cell::Cell;
use std::hint::black_box;
use std::rc::Rc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Instant;

use clap::ValueEnum;
use drystone_runtime::native::Serving;

use super::clock::picoseconds_since;
use super::interfaces::adder::{self, Adder, Sum};

/// The forms (figure 3 of *THINK* (Fassino)).
#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub enum Form {
    /// A single instance: its data is static.
    Once,
    /// A single interface: the interface's pointer leads to its data.
    Single,
    /// Any number of interfaces, each with a pointer to the data.
    General,
}

impl Form {
    /// The name for people.
    pub fn name(self) -> &'static str {
        match self {
            Form::Once => "that exists once",
            Form::Single => "with a single interface",
            Form::General => "in the general case",
        }
    }

    /// The service of a client.
    pub fn serve(self) -> Serving {
        match self {
            Form::Once => adder::serve(Once),
            Form::Single => adder::serve(Single::default()),
            Form::General => adder::serve(General::default()),
        }
    }

    /// Calls the same object through `dyn`.
    pub fn by_dyn(self, calls: u32) -> f64 {
        let mut adder: Box<dyn Adder> = black_box(match self {
            Form::Once => Box::new(Once),
            Form::Single => Box::new(Single::default()),
            Form::General => Box::new(General::default()),
        });
        let start = Instant::now();
        for i in 0..i64::from(calls) {
            black_box(adder.add(i).x);
        }
        picoseconds_since(start, calls)
    }
}

struct Once;

impl Adder for Once {
    fn add(&mut self, x: i64) -> Sum {
        static ADDED: AtomicI64 = AtomicI64::new(0);
        let x = ADDED.load(Ordering::Relaxed) + x;
        ADDED.store(x, Ordering::Relaxed);
        Sum { x }
    }
}

#[derive(Default)]
struct Single {
    added: i64,
}

impl Adder for Single {
    fn add(&mut self, x: i64) -> Sum {
        self.added += x;
        Sum { x: self.added }
    }
}

#[derive(Default)]
struct General {
    added: Rc<Cell<i64>>,
}

impl Adder for General {
    fn add(&mut self, x: i64) -> Sum {
        self.added.set(self.added.get() + x);
        Sum { x: self.added.get() }
    }
}
