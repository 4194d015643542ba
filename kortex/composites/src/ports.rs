//! The communications of a run. To the component that serves one, the run is a visitor.

use alloc::boxed::Box;
use alloc::format;
use alloc::rc::{Rc, Weak};
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::{Cell, OnceCell, RefCell};

use drystone_component::Interface;
use drystone_extension::composite::{Answer, Arguments, Pattern, Results, Services};
use drystone_kortex::peer::Offer;
use drystone_kortex::{Expectation, Expected};
use drystone_runtime::far::{Next, Said, Seat, Visitor};

/// Most communications of a run that the program has left and their servers haven't.
const LEFT: usize = 64;

/// The owner of a run and its communications.
pub(crate) trait Runs {
    /// Something has changed for the run.
    fn go_on(&self);
}

/// The communications of a run.
pub(crate) struct Ports {
    run: Weak<dyn Runs>,
    expected: Expected,
    /// The export that each communication leads to, and the slot for its client.
    offers: Vec<(Rc<Offer>, usize)>,
    /// The communications that have begun.
    begun: Vec<Option<Rc<Port>>>,
    /// Counts the communications that their servers haven't left yet.
    alive: Rc<()>,
}

/// A communication that has begun.
#[derive(Default)]
struct Port {
    /// Sends and receives messages, once a server has accepted the communication.
    seat: OnceCell<Rc<dyn Seat>>,
    /// How the server's side has ended. An error says why the communication is lost.
    ended: RefCell<Option<Result<(), String>>>,
    /// The program knows that the communication is lost.
    is_told: Cell<bool>,
    /// The program has left the communication.
    has_left: Cell<bool>,
}

impl Port {
    fn next(&self) -> Next {
        match (&*self.ended.borrow(), self.seat.get()) {
            (Some(ended), _) => Next::Over(ended.clone()),
            (None, Some(seat)) => seat.next(),
            (None, None) => Next::Unknown,
        }
    }

    /// Tells the program once that the communication is lost.
    fn tell(&self) -> Result<(), String> {
        match self.next() {
            Next::Over(Err(why)) if !self.is_told.replace(true) => Err(why),
            _ => Ok(()),
        }
    }

    /// The seat; `None` until a server has accepted the communication. An error says how the communication has ended.
    fn seat(&self) -> Result<Option<&Rc<dyn Seat>>, Result<(), String>> {
        match &*self.ended.borrow() {
            Some(ended) => Err(ended.clone()),
            None => Ok(self.seat.get()),
        }
    }

    /// Whether the program may leave the communication now.
    fn may_leave(&self) -> bool {
        self.ended.borrow().is_some() || self.seat.get().is_none_or(|seat| seat.may_leave())
    }

    fn leave(&self) {
        self.has_left.set(true);
        self.seat.get().inspect(|seat| seat.leave());
    }
}

impl Ports {
    /// The communications of a run with these exports. Each begins when it is first used.
    pub(crate) fn new(run: Weak<dyn Runs>, expected: &Expected, offers: Vec<(Rc<Offer>, usize)>) -> Ports {
        let begun = offers.iter().map(|_| None).collect();
        Ports { run, expected: expected.clone(), offers, begun, alive: Rc::default() }
    }

    fn interface(&self, communication: u32) -> &'static Interface {
        self.offers[communication as usize].0.interface()
    }

    /// The communication, which begins now if it can and hasn't; `None`: it can't yet.
    ///
    /// # Errors
    /// The interface isn't exported any more.
    fn port(&mut self, communication: u32) -> Result<Option<Rc<Port>>, String> {
        let (offer, slot) = &self.offers[communication as usize];
        let begun = &mut self.begun[communication as usize];
        if let Some(port) = begun {
            return Ok(Some(port.clone()));
        }
        if offer.is_over() {
            return Err(format!("{} is not exported any more", offer.name()));
        }
        if Rc::strong_count(&self.alive) > self.offers.len() + LEFT {
            return Ok(None);
        }
        let port = Rc::<Port>::default();
        *begun = Some(port.clone());
        let (may_come, alive) = (self.expected.expect(), self.alive.clone());
        offer.visit(Box::new(Visits {
            port: port.clone(),
            slot: *slot,
            run: self.run.clone(),
            _may_come: may_come,
            alive: Some(alive),
        }));
        Ok(Some(port))
    }

    /// Ends this communication for the program, if it has begun.
    fn end(&mut self, communication: usize) {
        self.begun[communication].take().inspect(|port| port.leave());
    }

    /// [`Services::send`]; an error says why the communication is lost.
    fn say(
        &mut self,
        communication: u32,
        message: usize,
        values: Arguments<'_>,
    ) -> Result<Answer<()>, String> {
        loop {
            let Some(port) = self.port(communication)? else { return Ok(Answer::Waits) };
            let said = match port.seat() {
                Ok(Some(seat)) => seat.say(message, &values),
                Ok(None) => Ok(Said::Waits),
                Err(ended) if self.interface(communication).next(0, message).is_none() => {
                    // The message can't begin another communication, so it is dropped.
                    return ended.map(Answer::Ready);
                }
                Err(_) => Ok(Said::Anew),
            };
            match said {
                Ok(Said::Done) => return Ok(Answer::Ready(())),
                Ok(Said::Waits) => return Ok(Answer::Waits),
                Ok(Said::Anew) => {
                    port.tell()?;
                    self.end(communication as usize);
                }
                Err(why) => {
                    let _ = port.tell();
                    return Err(why);
                }
            }
        }
    }

    /// [`Services::receive`]; an error says why the communication is lost.
    fn hear(
        &mut self,
        communication: u32,
        message: usize,
        results: &mut Results<'_>,
    ) -> Result<Answer<()>, String> {
        let Some(port) = self.port(communication)? else { return Ok(Answer::Waits) };
        let taken = match port.seat() {
            Ok(Some(seat)) => seat.take(message, results),
            Ok(None) => Ok(false),
            Err(Err(why)) => Err(why),
            Err(Ok(())) => {
                let name = self.interface(communication).messages.get()[message].name.get();
                Err(format!("{name} is received where the server has ended"))
            }
        };
        match taken {
            Ok(true) => Ok(Answer::Ready(())),
            Ok(false) => Ok(Answer::Waits),
            Err(why) => {
                let _ = port.tell();
                Err(why)
            }
        }
    }

    /// [`Services::test`]; an error says why the communication is lost.
    fn ask(&mut self, communication: u32, pattern: Pattern) -> Result<Answer<bool>, String> {
        let interface = self.interface(communication);
        // A test need not begin a communication in which the server has nothing to say first.
        let is_begun = self.begun[communication as usize].is_some();
        if !is_begun && interface.state(0) & Interface::SERVER_SENDS == 0 {
            return Ok(Answer::Ready(false));
        }
        let Some(port) = self.port(communication)? else { return Ok(Answer::Waits) };
        let next = port.next();
        Ok(match pattern {
            _ if next == Next::Unknown => Answer::Waits,
            Pattern::Message(message) => Answer::Ready(next == Next::Message(message as usize)),
            Pattern::Any => Answer::Ready(matches!(next, Next::Message(_))),
            Pattern::Finish => Answer::Ready(matches!(next, Next::Over(_))),
        })
    }
}

impl Drop for Ports {
    fn drop(&mut self) {
        (0..self.begun.len()).for_each(|communication| self.end(communication));
    }
}

impl Services for Ports {
    fn send(&mut self, communication: u32, message: u32, values: Arguments<'_>) -> Answer<()> {
        self.say(communication, message as usize, values).unwrap_or_else(Answer::Lost)
    }

    fn receive(&mut self, communication: u32, message: u32, results: &mut Results<'_>) -> Answer<()> {
        self.hear(communication, message as usize, results).unwrap_or_else(Answer::Lost)
    }

    fn test(&mut self, communication: u32, pattern: Pattern) -> Answer<bool> {
        self.ask(communication, pattern).unwrap_or_else(Answer::Lost)
    }

    fn input(&mut self, communication: u32, pattern: Pattern) -> bool {
        self.test(communication, pattern) == Answer::Ready(true)
    }

    fn close(&mut self, communication: u32) -> Answer<()> {
        let port = self.begun[communication as usize].as_ref();
        if !port.is_none_or(|port| port.may_leave()) {
            return Answer::Lost("it is closed where the protocol goes on".into());
        }
        self.end(communication as usize);
        Answer::Ready(())
    }
}

/// The same communication, as its server sees it.
struct Visits {
    port: Rc<Port>,
    slot: usize,
    run: Weak<dyn Runs>,
    _may_come: Expectation,
    alive: Option<Rc<()>>,
}

impl Visitor for Visits {
    fn sit(&mut self, seat: Rc<dyn Seat>) {
        if self.port.has_left.get() {
            seat.leave();
        }
        let _ = self.port.seat.set(seat);
    }

    fn go_on(&mut self) {
        if let Some(run) = self.run.upgrade() {
            run.go_on();
        }
    }

    fn over(&mut self, how: Result<(), String>) {
        self.alive = None;
        self.port.ended.borrow_mut().get_or_insert(how);
        self.go_on();
    }

    fn slot(&self) -> usize {
        self.slot
    }
}

impl Drop for Visits {
    fn drop(&mut self) {
        self.over(Err("the server has ended it, or the protocol was violated".into()));
    }
}
