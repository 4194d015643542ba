//! Ships the blocks of this program's own clients (`{COMPOSITE}`): what they send by the interface of their block goes
//! to who takes composite calls in the other program, and what comes from there goes back.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use drystone_component::Message;
use drystone_component::wire::{put_opaque, put_u32};
use drystone_extension::composite::{self, Hash, shipping};
use drystone_runtime::binding::shipment::{ENDED, FAILED, REFUSED};
use drystone_runtime::far::{Arrival, Far, Filling, Harbour, Letters, Outgoing, Reach, Shipment, Waker};
use drystone_runtime::layout::Fault;
use drystone_runtime::native::Value;

use super::interface;

/// Rounds that are asked for at once: when they are over, as many more.
const ROUNDS: i64 = 1_000_000_000;

/// What ships a block to a place.
pub(in crate::bindings) struct Ships {
    /// Begins to talk to who takes composite calls there.
    reach: Rc<RefCell<Box<dyn Reach>>>,
    block: Rc<Block>,
    program: String,
    number: usize,
    list: String,
}

/// What is shipped.
struct Block {
    program: Vec<u8>,
    hash: Hash,
    /// Its names, as they are sent.
    names: Vec<u8>,
    /// The other side has had it once.
    is_known: Cell<bool>,
    refusals: Refusals,
}

/// A block that was refused is done here instead: once, and then twice as often each time, because what it was refused
/// for may pass.
#[derive(Default)]
struct Refusals {
    in_a_row: Cell<u32>,
    /// So many times more.
    here: Cell<u64>,
}

impl Refusals {
    fn add(&self) {
        let before = self.in_a_row.replace(self.in_a_row.get() + 1);
        self.here.set(1 << before.min(32));
    }

    /// It was taken.
    fn end(&self) {
        self.in_a_row.set(0);
    }

    /// Whether it may be shipped this time.
    fn may_be_shipped(&self) -> bool {
        let here = self.here.get();
        self.here.set(here.saturating_sub(1));
        here == 0
    }
}

impl Ships {
    /// Ships to who is reached so, by the interface of composite calls, and stands beside what is reached at the
    /// harbour.
    pub(in crate::bindings) fn new(
        reach: Box<dyn Reach>,
        harbour: Harbour<'_>,
        shipment: Shipment<'_>,
    ) -> Ships {
        let mut names = Vec::new();
        put_u32(&mut names, shipment.names.len() as u32);
        shipment.names.iter().for_each(|name| put_opaque(&mut names, name.as_bytes()));
        let program = shipment.program.to_vec();
        let (is_known, refusals) = Default::default();
        let block = Block { hash: Hash::of(&program), program, names, is_known, refusals };
        Ships {
            reach: Rc::new(RefCell::new(reach)),
            block: Rc::new(block),
            program: harbour.program.to_string(),
            number: harbour.number,
            list: shipment.names.join(", "),
        }
    }
}

impl Reach for Ships {
    fn begin(&mut self) -> Box<dyn Far> {
        Box::new(Shipped {
            reach: self.reach.clone(),
            block: self.block.clone(),
            far: None,
            pump: None,
            sent: None,
            answer: None,
        })
    }

    fn harbour(&self) -> Option<Harbour<'_>> {
        let Ships { program, number, list, .. } = self;
        Some(Harbour { program, number: *number, name: list, is_open: self.block.refusals.may_be_shipped() })
    }
}

/// The communication of a block's client.
struct Shipped {
    reach: Rc<RefCell<Box<dyn Reach>>>,
    block: Rc<Block>,
    /// With who takes composite calls; none before the first, and after one that was left in its midst.
    far: Option<Box<dyn Far>>,
    pump: Option<Waker>,
    /// What was asked for and isn't answered.
    sent: Option<Sent>,
    /// What has become of it.
    answer: Option<Answer>,
}

struct Sent {
    letters: Letters,
    table: Vec<u8>,
}

enum Answer {
    Ended(Vec<u8>),
    Refused,
    Failed { fault: Fault, location: i64, why: String },
}

impl Answer {
    fn message(&self) -> usize {
        match self {
            Answer::Ended(_) => ENDED,
            Answer::Refused => REFUSED,
            Answer::Failed { .. } => FAILED,
        }
    }
}

fn message(number: usize) -> &'static Message {
    &interface().messages.get()[number]
}

impl Shipped {
    fn far(&mut self) -> &mut Box<dyn Far> {
        let Shipped { reach, pump, .. } = self;
        self.far.get_or_insert_with(|| {
            let mut far = reach.borrow_mut().begin();
            pump.iter().for_each(|pump| far.attach(pump.clone()));
            far
        })
    }

    /// Sends the block, or what it is known by, and its values.
    fn run(&mut self, by_hash: bool) -> Result<(), String> {
        let block = self.block.clone();
        let Some(Sent { letters, table }) = &self.sent else { return Ok(()) };
        let program = if by_hash { &block.hash.0[..] } else { &block.program };
        let values =
            [program, &block.names, table].map(Value::Text).into_iter().chain([Value::Integer(ROUNDS)]);
        let mut letter = letters.of(message(shipping::RUN), values)?;
        self.far().send(shipping::RUN, letter.as_outgoing());
        Ok(())
    }

    fn refused(&self) -> Answer {
        self.block.refusals.add();
        Answer::Refused
    }

    /// Takes an answer; none where it isn't the last one.
    fn hear(&mut self, number: usize) -> Result<Option<Answer>, String> {
        let (Some(far), Some(sent)) = (&mut self.far, &self.sent) else { return Ok(None) };
        let mut letter = sent.letters.filled(message(number), |values| far.take(values))?;
        let values = letter.as_outgoing();
        self.block.is_known.set(!matches!(number, shipping::UNKNOWN | shipping::REFUSED));
        Ok(Some(match number {
            shipping::ENDED => {
                self.block.refusals.end();
                Answer::Ended(values.text(0).to_vec())
            }
            shipping::UNKNOWN => {
                self.run(false)?;
                return Ok(None);
            }
            shipping::STOPPED => match values.integer(0) {
                shipping::BUDGET => {
                    let more = [Value::Text(b""), Value::Integer(ROUNDS)];
                    let mut letter = sent.letters.of(message(shipping::RESUME), more)?;
                    far.send(shipping::RESUME, letter.as_outgoing());
                    return Ok(None);
                }
                shipping::CANCELLED => return Err("the block was cancelled".into()),
                fault => {
                    let answer = failed(fault, &values);
                    // It would wait there to be resumed.
                    self.far = None;
                    answer
                }
            },
            _ => self.refused(),
        }))
    }
}

fn failed(number: i64, values: &Outgoing<'_>) -> Answer {
    let said = String::from_utf8_lossy(values.text(2)).into_owned();
    let known = u32::try_from(number).ok().and_then(composite::Fault::from_number);
    let fault = match known {
        Some(composite::Fault::Overflow) => Fault::Overflow,
        Some(composite::Fault::DivisionByZero) => Fault::DivisionByZero,
        Some(composite::Fault::IndexOutOfBounds) => Fault::IndexOutOfBounds,
        Some(composite::Fault::AssertionFailed) | None => Fault::AssertionFailed,
        Some(composite::Fault::ProtocolViolation) => Fault::ProtocolViolation,
        Some(composite::Fault::OutOfMemory) => Fault::OutOfMemory,
        Some(composite::Fault::InvalidConversion) => Fault::InvalidConversion,
        Some(composite::Fault::InvalidArgument) => Fault::InvalidArgument,
    };
    // What is said begins with the fault's name, which is said here anyway.
    let name = known.map_or_else(String::new, |fault| fault.to_string());
    let why = said.strip_prefix(&name).map(|rest| rest.trim_start_matches(": ")).unwrap_or(&said);
    Answer::Failed { fault, location: values.integer(1), why: why.to_string() }
}

impl Far for Shipped {
    fn attach(&mut self, pump: Waker) {
        self.pump = Some(pump);
    }

    fn has_room(&mut self) -> bool {
        self.far().has_room()
    }

    fn send(&mut self, _: usize, values: Outgoing<'_>) {
        let mut table = Vec::new();
        let encoded = values.encode(&mut table);
        self.sent = Some(Sent { letters: values.letters(), table });
        self.answer = None;
        if encoded.and_then(|()| self.run(self.block.is_known.get())).is_err() {
            // Nothing was sent, so that nothing of it runs.
            self.answer = Some(self.refused());
            self.pump.iter().for_each(Waker::wake);
        }
    }

    fn receive(&mut self) -> Arrival {
        loop {
            if let Some(answer) = &self.answer {
                return Arrival::Message(answer.message());
            }
            let Some(far) = &mut self.far else { return Arrival::Nothing };
            let arrival = far.receive();
            if matches!(arrival, Arrival::Lost(_)) && far.was_refused() && self.sent.is_some() {
                // Nobody takes composite calls there.
                self.far = None;
                self.answer = Some(self.refused());
                continue;
            }
            let Arrival::Message(number) = arrival else { return arrival };
            match self.hear(number) {
                Ok(answer) => self.answer = answer,
                Err(why) => return Arrival::Lost(why),
            }
        }
    }

    fn take(&mut self, values: &mut Filling<'_>) -> Result<(), String> {
        self.sent = None;
        match self.answer.take() {
            Some(Answer::Ended(table)) => values.decode(&table),
            Some(Answer::Failed { fault, location, why }) => {
                values.put(Value::Integer(fault as i64))?;
                values.put(Value::Integer(location))?;
                values.put(Value::Text(why.as_bytes()))
            }
            Some(Answer::Refused) => Ok(()),
            None => Err("there is no message".into()),
        }
    }

    fn close(&mut self) {
        if let Some(far) = &mut self.far {
            far.close();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_refused_is_shipped_ever_more_seldom() {
        let refusals = Refusals::default();
        let mut shipped = Vec::new();
        for time in 0..100 {
            if refusals.may_be_shipped() {
                shipped.push(time);
                refusals.add();
            }
        }
        assert_eq!(shipped, [0, 2, 5, 10, 19, 36, 69]);
        refusals.end();
        for _ in 0..64 {
            refusals.may_be_shipped();
        }
        refusals.add();
        assert_eq!([refusals.may_be_shipped(), refusals.may_be_shipped()], [false, true]);
    }
}
