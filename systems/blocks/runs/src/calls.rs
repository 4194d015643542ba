//! The calls that programs make, in the protocol of the [interface](crate::interface).

use alloc::format;

use drystone_component::wire::Source;
use drystone_extension::composite::{Answer, Arguments, Pattern, Results, Services, Value};

use crate::runner::Runner;

/// The calls of one run.
pub struct Calls<R> {
    /// Makes them, for the present slice.
    pub(crate) runner: R,
    /// The last call's answer, until the program receives it.
    answer: Option<i64>,
}

impl<R> Calls<R> {
    pub(crate) fn new(runner: R) -> Calls<R> {
        Calls { runner, answer: None }
    }
}

impl<R: Runner> Services for Calls<R> {
    fn send(&mut self, _: u32, _: u32, values: Arguments<'_>) -> Answer<()> {
        if self.answer.is_some() {
            return Answer::Lost("a call's answer wasn't received before the next call".into());
        }
        // If a call took long, the next one waits for another slice.
        if self.runner.is_over() {
            return Answer::Waits;
        }
        let [number, a, b, c, d] = [0, 1, 2, 3, 4].map(|index| values.integer(index) as u64);
        if !self.runner.may_call(number) {
            return Answer::Lost(format!("no program can make the call {number}"));
        }
        self.answer = self.runner.call(number, [a, b, c, d]);
        match self.answer {
            Some(_) => Answer::Ready(()),
            None => Answer::Lost(format!("the call {number} was refused")),
        }
    }

    fn receive(&mut self, _: u32, _: u32, results: &mut Results<'_>) -> Answer<()> {
        match self.answer.take() {
            None => Answer::Lost("there is no answer without a call".into()),
            Some(answer) => match results.put(Value::Integer(answer)) {
                Ok(()) => Answer::Ready(()),
                Err(why) => Answer::Lost(why),
            },
        }
    }

    fn test(&mut self, communication: u32, pattern: Pattern) -> Answer<bool> {
        Answer::Ready(self.input(communication, pattern))
    }

    fn input(&mut self, _: u32, pattern: Pattern) -> bool {
        pattern != Pattern::Finish && self.answer.is_some()
    }

    fn close(&mut self, _: u32) -> Answer<()> {
        self.answer = None;
        Answer::Ready(())
    }
}
