//! Rust's maps as peers of collections: the operations of `programs/collections.dry`, on the same keys in the same
//! order, with the same output.

use std::borrow::Borrow;
use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;
use std::hint::black_box;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};

use crate::memory;

/// What is measured, and how often.
#[derive(Args)]
pub struct Trial {
    map: Type,
    /// Of keys, as in the program.
    #[arg(long)]
    kind: u64,
    #[arg(long)]
    factor: u64,
    #[arg(long)]
    n: u64,
    #[arg(long)]
    touched: u64,
    #[arg(long)]
    step: u64,
    #[arg(long)]
    rounds: u64,
    /// So many maps at once, for their memory; 0: times.
    #[arg(long, default_value_t = 0)]
    alive: u64,
}

/// Of `std::collections`.
#[derive(Clone, Copy, ValueEnum)]
enum Type {
    Btreemap,
    Hashmap,
}

/// The range of keys, as in the program.
const KEYS: u64 = 1 << 40;
const HALF: u64 = 1 << 20;

/// The operations of both maps.
trait Map<K>: Default {
    fn insert(&mut self, key: K, value: u64);
    fn get(&self, key: &K) -> u64;
    /// The sum of all elements, added in ascending order of the keys.
    fn visit(&self) -> u64;
    fn remove(&mut self, key: &K);
}

impl<K: Ord> Map<K> for BTreeMap<K, u64> {
    fn insert(&mut self, key: K, value: u64) {
        self.insert(key, value);
    }

    fn get(&self, key: &K) -> u64 {
        self[key]
    }

    fn visit(&self) -> u64 {
        self.iter().map(|(key, value)| black_box((key, value)).1).sum()
    }

    fn remove(&mut self, key: &K) {
        self.remove(key);
    }
}

impl<K: Hash + Ord> Map<K> for HashMap<K, u64> {
    fn insert(&mut self, key: K, value: u64) {
        self.insert(key, value);
    }

    fn get(&self, key: &K) -> u64 {
        self[key]
    }

    fn visit(&self) -> u64 {
        let mut all: Vec<_> = self.iter().collect();
        all.sort_unstable();
        all.into_iter().map(|element| black_box(element).1).sum()
    }

    fn remove(&mut self, key: &K) {
        self.remove(key);
    }
}

impl Trial {
    /// Prints a line of JSON, like the child that runs the program.
    pub fn run(self) -> Result<(), String> {
        let result = match self.kind {
            0 => self.with_keys(|number| number),
            1 => self.with_keys(|number| (number / HALF, number % HALF)),
            _ => self.with_texts(),
        }?;
        println!("{}", serde_json::json!({"result": result, "peak": memory::peak()?}));
        Ok(())
    }

    fn with_keys<K: Hash + Ord + Clone>(&self, key: impl Fn(u64) -> K) -> Result<String, String> {
        let key = |i| key(self.number(i));
        if self.alive > 0 { self.memory(key) } else { self.times(key) }
    }

    /// Where times are measured, texts are made beforehand.
    fn with_texts(&self) -> Result<String, String> {
        let key = |i| self.number(i).to_string();
        if self.alive > 0 {
            return self.memory(key);
        }
        let texts: Vec<String> = (0..self.n).map(key).collect();
        self.times::<String, _>(|i| &texts[i as usize])
    }

    /// The number that an element's key is made of.
    fn number(&self, i: u64) -> u64 {
        i * self.factor % KEYS
    }

    fn times<K: Hash + Ord + Clone, B: Borrow<K>>(&self, key: impl Fn(u64) -> B) -> Result<String, String> {
        match self.map {
            Type::Btreemap => self.times_of::<K, B, BTreeMap<K, u64>>(key),
            Type::Hashmap => self.times_of::<K, B, HashMap<K, u64>>(key),
        }
    }

    fn times_of<K: Clone, B: Borrow<K>, M: Map<K>>(&self, key: impl Fn(u64) -> B) -> Result<String, String> {
        let mut times = [Duration::ZERO; 6];
        let mut visited = 0;
        for _ in 0..self.rounds {
            let mut map = M::default();
            let mut j = 0;
            let mut next = || {
                j = (j + self.step) % self.n;
                j
            };
            let mut look_up = |map: &M| {
                for _ in 0..self.touched {
                    let j = next();
                    assert_eq!(map.get(key(j).borrow()), j);
                }
            };
            let mut start = Instant::now();
            let mut done = |phase: usize| {
                times[phase] += start.elapsed();
                start = Instant::now();
            };
            (0..self.n).for_each(|i| map.insert(key(i).borrow().clone(), i));
            done(0);
            look_up(&map);
            done(1);
            visited += map.visit();
            done(2);
            visited += map.visit();
            done(3);
            look_up(&map);
            done(4);
            for _ in 0..self.touched {
                map.remove(key(next()).borrow());
            }
            done(5);
        }
        assert_eq!(visited, self.n * (self.n - 1) * self.rounds, "everything was visited twice");
        let (n, touched) = (self.n, self.touched);
        let names = ["insert", "lookup", "first visit", "visit", "lookup in order", "delete"];
        let operations = [n, touched, n, n, touched, touched];
        let lines = names.iter().zip(operations).zip(times).map(|((name, operations), time)| {
            format!("{name} {}\n", time.as_secs_f64() * 1e9 / (operations * self.rounds) as f64)
        });
        Ok(lines.collect())
    }

    fn memory<K: Hash + Ord + Clone>(&self, key: impl Fn(u64) -> K) -> Result<String, String> {
        match self.map {
            Type::Btreemap => self.memory_of::<K, BTreeMap<K, u64>>(key),
            Type::Hashmap => self.memory_of::<K, HashMap<K, u64>>(key),
        }
    }

    fn memory_of<K, M: Map<K>>(&self, key: impl Fn(u64) -> K) -> Result<String, String> {
        let before = memory::resident()?;
        let maps = (0..self.alive).map(|_| {
            let mut map = M::default();
            (0..self.n).for_each(|i| map.insert(key(i), i));
            map
        });
        let maps: Vec<M> = maps.collect();
        let bytes = memory::resident()? - before;
        drop(maps);
        Ok(format!("bytes {}\n", bytes / (self.n * self.alive) as f64))
    }
}
