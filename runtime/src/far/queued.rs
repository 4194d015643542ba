//! A visitor as a far client whose messages a pump moves, because something stands between it and the server: they are
//! queued here.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::rc::Rc;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cell::RefCell;

use drystone_component::Interface;
use drystone_component::wire::{Sink, Source, encode, hand_over};

use super::{
    Arrival, Far, Filling, LOST, Letter, Next, Outgoing, Said, Seat, Visitor, Waker, begins, goes_on,
    is_next, too_late,
};

/// Most messages that may have come for the visitor and not been taken.
const CAPACITY: usize = 16;

/// A visitor of this interface as a far client.
pub fn as_far(mut visitor: Box<dyn Visitor>, interface: &'static Interface) -> Box<dyn Far> {
    let state = RefCell::new(State {
        state: 0,
        said: None,
        has_more: false,
        come: VecDeque::new(),
        ended: None,
        left: None,
        pump: None,
    });
    let queue = Rc::new(Queue { interface, state });
    visitor.sit(queue.clone());
    Box::new(Queued { visitor, queue })
}

/// What lies between a visitor and the pump.
struct Queue {
    interface: &'static Interface,
    state: RefCell<State>,
}

struct State {
    /// The protocol's, as the visitor knows it.
    state: u16,
    /// A message of the visitor that the pump has not taken yet.
    said: Option<(usize, Vec<u8>)>,
    /// The visitor has more to say, and waits until that is taken.
    has_more: bool,
    /// Messages for the visitor.
    come: VecDeque<(usize, Letter)>,
    /// The server has ended; an error: why it is lost.
    ended: Option<Result<(), String>>,
    /// The visitor has left; an error: where it may not.
    left: Option<Result<(), String>>,
    pump: Option<Waker>,
}

impl State {
    fn wake_pump(&self) {
        self.pump.as_ref().inspect(|pump| pump.wake());
    }
}

impl Seat for Queue {
    fn next(&self) -> Next {
        let state = self.state.borrow();
        match (state.come.front(), &state.ended) {
            (Some((message, _)), _) => Next::Message(*message),
            (None, Some(ended)) => Next::Over(ended.clone()),
            _ if self.interface.state(state.state) & Interface::SERVER_SENDS == 0 => Next::Nothing,
            _ => Next::Unknown,
        }
    }

    fn say(&self, message: usize, values: &dyn Source) -> Result<Said, String> {
        let state = &mut *self.state.borrow_mut();
        if let Some(ended) = &state.ended {
            return match begins(self.interface, message) {
                true => Ok(Said::Anew),
                false => Err(too_late(self.interface, message, ended.clone())),
            };
        }
        if !goes_on(self.interface, state.state, message)? {
            return Ok(Said::Anew);
        }
        if state.said.is_some() {
            state.has_more = true;
            return Ok(Said::Waits);
        }
        let mut bytes = Vec::new();
        encode(self.interface.messages.get()[message].types(), values, &mut bytes)?;
        state.said = Some((message, bytes));
        state.state = self.interface.next(state.state, message).unwrap_or(state.state);
        state.wake_pump();
        Ok(Said::Done)
    }

    fn take(&self, message: usize, values: &mut dyn Sink) -> Result<bool, String> {
        if !is_next(self.interface, message, self.next())? {
            return Ok(false);
        }
        let state = &mut *self.state.borrow_mut();
        let Some((_, mut letter)) = state.come.pop_front() else { return Ok(false) };
        if state.come.len() + 1 == CAPACITY {
            state.wake_pump();
        }
        state.state = self.interface.next(state.state, message).unwrap_or(state.state);
        hand_over(self.interface.messages.get()[message].types(), &letter.as_outgoing(), values)?;
        Ok(true)
    }

    fn may_leave(&self) -> bool {
        let state = self.state.borrow();
        state.ended.is_some() || self.interface.state(state.state) & Interface::MAY_END != 0
    }

    fn leave(&self) {
        let left = match self.may_leave() {
            true => Ok(()),
            false => Err("it has left where the protocol goes on".to_string()),
        };
        let state = &mut *self.state.borrow_mut();
        state.left = Some(left);
        state.wake_pump();
    }
}

/// The visitor, as the pump sees it.
struct Queued {
    visitor: Box<dyn Visitor>,
    queue: Rc<Queue>,
}

impl Queued {
    fn end(&mut self, how: Result<(), String>) {
        let is_news = {
            let state = &mut *self.queue.state.borrow_mut();
            let is_news = state.ended.is_none() && state.left.is_none();
            state.ended.get_or_insert_with(|| how.clone());
            is_news
        };
        if is_news {
            self.visitor.over(how);
        }
    }
}

impl Far for Queued {
    fn attach(&mut self, pump: Waker) {
        self.queue.state.borrow_mut().pump = Some(pump);
        self.visitor.go_on();
    }

    fn has_room(&mut self) -> bool {
        let state = self.queue.state.borrow();
        // What comes when it has left is dropped.
        state.left.is_some() || state.come.len() < CAPACITY
    }

    fn send(&mut self, message: usize, values: Outgoing<'_>) {
        if self.queue.state.borrow().left.is_some() {
            return;
        }
        self.queue.state.borrow_mut().come.push_back((message, values.into_letter()));
        self.visitor.go_on();
    }

    fn receive(&mut self) -> Arrival {
        let state = self.queue.state.borrow();
        match (&state.said, &state.left) {
            (Some((message, _)), _) => Arrival::Message(*message),
            (None, None) => Arrival::Nothing,
            (None, Some(Ok(()))) => Arrival::Closed,
            (None, Some(Err(why))) => Arrival::Lost(why.clone()),
        }
    }

    fn take(&mut self, values: &mut Filling<'_>) -> Result<(), String> {
        let said = self.queue.state.borrow_mut().said.take();
        let (_, said) = said.ok_or("there is no message")?;
        let taken = values.decode(&said);
        if core::mem::take(&mut self.queue.state.borrow_mut().has_more) {
            self.visitor.go_on();
        }
        taken
    }

    fn slot(&self) -> usize {
        self.visitor.slot()
    }

    fn close(&mut self) {
        self.end(Ok(()));
    }
}

impl Drop for Queued {
    fn drop(&mut self) {
        self.end(Err(LOST.to_string()));
    }
}
