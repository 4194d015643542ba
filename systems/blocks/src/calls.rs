//! What programs can call: what their domain can, by its table.

use alloc::format;

use drystone_component::wire::Source;
use drystone_extension::composite::{Answer, Arguments, Pattern, Results, Services, Value};
use kortex_binding::{Domain, REFUSED};
use kortex_hal::time;

use crate::arrays;

/// The numbers that programs may call: all but that by which a thread ends (0), by which a handler ends (15), and those that run programs: one
/// can't run others.
fn may_call(number: u64) -> bool {
    (1..15).contains(&number)
        || (arrays::FIRST as u64..kortex_binding::domain::CALLS as u64).contains(&number)
}

/// The domain's table, for a run.
pub struct Calls {
    domain: &'static Domain,
    /// What the last call has answered, until that is received.
    answer: Option<i64>,
    /// When the run's slice is over, by the processor's counter.
    pub until: u64,
}

impl Calls {
    pub fn new(domain: &'static Domain) -> Calls {
        Calls { domain, answer: None, until: 0 }
    }
}

impl Services for Calls {
    fn send(&mut self, _: u32, _: u32, values: Arguments<'_>) -> Answer<()> {
        if self.answer.is_some() {
            return Answer::Lost("a call's answer wasn't received before the next call".into());
        }
        // A call may have taken long: then the next one is of another slice.
        if time::counter() > self.until {
            return Answer::Waits;
        }
        let [number, a, b, c, d] = [0, 1, 2, 3, 4].map(|index| values.integer(index) as u64);
        if !may_call(number) {
            return Answer::Lost(format!("no program can make the call {number}"));
        }
        // SAFETY: on the kernel stack of the thread whose run this is, in its domain; it isn't among those that end.
        match unsafe { self.domain.call(number as usize, [a, b, c, d]) } {
            REFUSED => Answer::Lost(format!("the call {number} was refused")),
            answer => {
                self.answer = Some(answer);
                Answer::Ready(())
            }
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
