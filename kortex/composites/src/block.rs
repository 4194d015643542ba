//! A block of calls (`{COMPOSITE}`) of one of this program's own clients, shipped to the program that serves its calls.
//! The values that the client sends to its block travel with the block; the results go back to the client.
//!
//! A refused block runs here instead, and is shipped again less and less often (exponential back-off).

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cell::{Cell, RefCell};

use drystone_component::Message;
use drystone_component::wire::{put_opaque, put_u32};
use drystone_extension::composite::{self, Hash, shipping};
use drystone_runtime::binding::shipment::{ENDED, FAILED, REFUSED};
use drystone_runtime::far::{Arrival, Far, Filling, Harbour, Letters, Outgoing, Reach, Shipment, Waker};
use drystone_runtime::layout::Fault;
use drystone_runtime::native::Value;

/// Rounds that a run is granted at first. When they are used up, it is granted as many again.
const ROUNDS: i64 = 1_000_000_000;

/// A block, as its clients are bound to it.
pub(crate) struct Block {
    /// Begins communications with the composite service there.
    service: Rc<RefCell<Box<dyn Reach>>>,
    shipped: Rc<Shipped>,
    /// See [`Harbour`].
    program: String,
    number: usize,
    names: String,
}

/// What is shipped.
struct Shipped {
    program: Vec<u8>,
    hash: Hash,
    /// The names of the exports that its communications lead to, as they are sent.
    names: Vec<u8>,
    /// Whether the other side is believed to remember the program by its hash.
    is_known: Cell<bool>,
    refusals: Refusals,
}

/// Exponential back-off: after a refusal the block runs here once before it is shipped again, after the next one twice,
/// then four times. The reason for the refusal may pass.
#[derive(Default)]
struct Refusals {
    in_a_row: Cell<u32>,
    /// Runs still to be done here before the block is shipped again.
    here: Cell<u64>,
}

impl Refusals {
    fn add(&self) {
        let before = self.in_a_row.replace(self.in_a_row.get() + 1);
        self.here.set(1 << before.min(32));
    }

    /// The block was accepted.
    fn end(&self) {
        self.in_a_row.set(0);
    }

    /// Whether this run may be shipped.
    fn may_be_shipped(&self) -> bool {
        let here = self.here.get();
        self.here.set(here.saturating_sub(1));
        here == 0
    }
}

impl Block {
    /// A block that is shipped to a composite service, which is reached beside the interfaces at the harbour.
    pub(crate) fn new(service: Box<dyn Reach>, harbour: Harbour<'_>, shipment: Shipment<'_>) -> Block {
        let mut names = Vec::new();
        put_u32(&mut names, shipment.names.len() as u32);
        shipment.names.iter().for_each(|name| put_opaque(&mut names, name.as_bytes()));
        let program = shipment.program.to_vec();
        let (is_known, refusals) = Default::default();
        let shipped = Shipped { hash: Hash::of(&program), program, names, is_known, refusals };
        Block {
            service: Rc::new(RefCell::new(service)),
            shipped: Rc::new(shipped),
            program: harbour.program.to_string(),
            number: harbour.number,
            names: shipment.names.join(", "),
        }
    }
}

impl Reach for Block {
    fn begin(&mut self) -> Box<dyn Far> {
        Box::new(Communication {
            service: self.service.clone(),
            block: self.shipped.clone(),
            far: None,
            pump: None,
            sent: None,
            answer: None,
        })
    }

    fn harbour(&self) -> Option<Harbour<'_>> {
        let Block { program, number, names, .. } = self;
        Some(Harbour {
            program,
            number: *number,
            name: names,
            is_open: self.shipped.refusals.may_be_shipped(),
        })
    }
}

/// A client's communication with its block.
struct Communication {
    service: Rc<RefCell<Box<dyn Reach>>>,
    block: Rc<Shipped>,
    /// The communication with the service. `None` before the first run, and after a run that was left unfinished.
    far: Option<Box<dyn Far>>,
    pump: Option<Waker>,
    /// What the client has sent and has no answer to yet.
    sent: Option<Sent>,
    /// The answer, once it is there.
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

/// A message of the service, by its number.
fn message(number: usize) -> &'static Message {
    &shipping::INTERFACE.messages.get()[number]
}

impl Communication {
    fn far(&mut self) -> &mut Box<dyn Far> {
        let Communication { service, pump, .. } = self;
        self.far.get_or_insert_with(|| {
            let mut far = service.borrow_mut().begin();
            pump.iter().for_each(|pump| far.attach(pump.clone()));
            far
        })
    }

    /// Sends the block, or its hash, and its values.
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

    /// Takes a message of the service. `None`: another one follows.
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
                    // Otherwise the run would wait at the service to be resumed.
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
        Some(composite::Fault::NoBranch) => Fault::NoBranch,
    };
    // The sentence begins with the fault's name, which the runtime adds again.
    let name = known.map_or_else(String::new, |fault| fault.to_string());
    let why = said.strip_prefix(&name).map(|rest| rest.trim_start_matches(": ")).unwrap_or(&said);
    Answer::Failed { fault, location: values.integer(1), why: why.to_string() }
}

impl Far for Communication {
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
            // Nothing was sent, so nothing runs at the service.
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
                // The other program has no composite service.
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
    fn a_block_that_is_refused_is_shipped_ever_more_seldom() {
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
