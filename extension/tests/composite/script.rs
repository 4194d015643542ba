//! Deterministic services with a log, by which two runs are compared.

use drystone_component::Type;
use drystone_extension::composite::*;

/// Remembers what was done. Everything waits as often as it is told to; some things fail.
#[derive(Clone, Debug, Default)]
pub struct Script {
    /// What was done, in order.
    pub done: Vec<String>,
    /// Everything waits so often before it is done.
    patience: u32,
    waited: u32,
    /// What fails, fails once more when it is tried again.
    failed: bool,
}

impl Script {
    /// Everything waits so often.
    pub fn patient(patience: u32) -> Script {
        Script { patience, ..Script::default() }
    }

    fn waits(&mut self) -> bool {
        self.waited += 1;
        if self.waited <= self.patience {
            return true;
        }
        self.waited = 0;
        false
    }

    /// Whether the next thing fails: every seventh does, twice.
    fn fails(&mut self) -> bool {
        let fails = self.done.len() % 7 == 6;
        if fails && self.failed {
            self.done.push("failed twice".into());
        }
        self.failed = fails && !self.failed;
        fails
    }
}

impl Services for Script {
    fn send(&mut self, communication: u32, message: u32, values: Arguments<'_>) -> Answer<()> {
        if self.waits() {
            return Answer::Waits;
        }
        if self.fails() {
            return Answer::Lost("the other side has gone".into());
        }
        let mut body = Vec::new();
        values.encode(&mut body).unwrap();
        self.done.push(format!("{communication}!{message} {body:?}"));
        Answer::Ready(())
    }

    fn receive(&mut self, communication: u32, message: u32, results: &mut Results<'_>) -> Answer<()> {
        if self.waits() {
            return Answer::Waits;
        }
        if self.fails() {
            return Answer::Lost("the other side has gone".into());
        }
        let number = self.done.len();
        self.done.push(format!("{communication}?{message}"));
        for ty in results.types().to_vec() {
            let value = match ty {
                Type::Boolean => Value::Boolean(number.is_multiple_of(2)),
                Type::Character => Value::Character(number as u8),
                Type::Integer => Value::Integer(number as i64 % 5),
                Type::Real => Value::Real(number as f64 / 2.0),
                _ => Value::Text(format!("{number}").into_bytes().into()),
            };
            results.put(value).unwrap();
        }
        Answer::Ready(())
    }

    fn test(&mut self, _: u32, _: Pattern) -> Answer<bool> {
        if self.waits() { Answer::Waits } else { Answer::Ready(self.done.len() % 3 == 1) }
    }

    fn input(&mut self, communication: u32, _: Pattern) -> bool {
        self.done.len() % 2 == communication as usize
    }

    fn close(&mut self, communication: u32) -> Answer<()> {
        if self.waits() {
            return Answer::Waits;
        }
        self.done.push(format!("{communication} closes"));
        Answer::Ready(())
    }
}
