//! A door within a program: a near client that enters comes out as a far client at the other side. Bindings are made of
//! it that put something between two local components; it is also the plainest far side there is.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::rc::{Rc, Weak};
use alloc::string::String;
use core::cell::RefCell;
use core::mem::take;

use super::{Arrival, Exported, Far, Filling, Letter, Outgoing, Reach, Waker};

/// Both sides of a new door. Each end of a communication through it keeps at most `capacity` messages for the other.
pub fn door(capacity: usize) -> (Entrance, Door) {
    let waiting = Rc::new(RefCell::new(Waiting::default()));
    let threshold = Rc::new(Threshold { waiting: Rc::downgrade(&waiting), capacity: capacity.max(1) });
    let door = Door { waiting, threshold: Rc::downgrade(&threshold) };
    (Entrance(threshold), door)
}

/// Clients that have entered and were not accepted yet.
#[derive(Default)]
struct Waiting {
    clients: VecDeque<Box<dyn Far>>,
    listener: Option<Waker>,
}

/// The near clients' side. When the last copy is gone, no client can come any more.
#[derive(Clone)]
pub struct Entrance(Rc<Threshold>);

struct Threshold {
    waiting: Weak<RefCell<Waiting>>,
    capacity: usize,
}

impl Drop for Threshold {
    fn drop(&mut self) {
        if let Some(waiting) = self.waiting.upgrade()
            && let Some(listener) = &waiting.borrow().listener
        {
            listener.wake();
        }
    }
}

/// The other side.
pub struct Door {
    waiting: Rc<RefCell<Waiting>>,
    threshold: Weak<Threshold>,
}

impl Exported for Door {
    fn attach(&mut self, listener: Waker) {
        self.waiting.borrow_mut().listener = Some(listener);
    }

    fn accept(&mut self) -> Option<Box<dyn Far>> {
        self.waiting.borrow_mut().clients.pop_front()
    }

    fn is_over(&self) -> bool {
        self.threshold.strong_count() == 0 && self.waiting.borrow().clients.is_empty()
    }
}

impl Reach for Entrance {
    fn begin(&mut self) -> Box<dyn Far> {
        let ways = self.enter(VecDeque::new());
        Box::new(Half { ways, side: CLIENT, entrance: Some(self.clone()) })
    }
}

impl Entrance {
    /// A client enters that has already sent these messages.
    fn enter(&self, said: VecDeque<Message>) -> Rc<RefCell<Ways>> {
        let ways = Rc::new(RefCell::new(Ways { capacity: self.0.capacity, ends: Default::default() }));
        ways.borrow_mut().ends[CLIENT].sent = said;
        let Some(waiting) = self.0.waiting.upgrade() else {
            ways.borrow_mut().ends[SERVER].is_gone = true;
            return ways;
        };
        let waiting = &mut *waiting.borrow_mut();
        waiting.clients.push_back(Box::new(Half { ways: ways.clone(), side: SERVER, entrance: None }));
        if let Some(listener) = &waiting.listener {
            listener.wake();
        }
        ways
    }
}

const CLIENT: usize = 0;
const SERVER: usize = 1;

type Message = (usize, Letter);

/// What one end has done.
#[derive(Default)]
struct End {
    /// Messages that the other has not taken yet.
    sent: VecDeque<Message>,
    has_closed: bool,
    is_gone: bool,
    pump: Option<Waker>,
}

struct Ways {
    capacity: usize,
    ends: [End; 2],
}

impl Ways {
    fn wake(&self, side: usize) {
        if let Some(pump) = &self.ends[side].pump {
            pump.wake();
        }
    }
}

struct Half {
    ways: Rc<RefCell<Ways>>,
    side: usize,
    /// The client's.
    entrance: Option<Entrance>,
}

impl Half {
    /// The server has ended before it took all messages. The rest begins another communication, as between neighbours.
    fn enter_again(&mut self) {
        let Some(entrance) = &self.entrance else { return };
        let (said, pump) = {
            let client = &mut self.ways.borrow_mut().ends[CLIENT];
            (take(&mut client.sent), client.pump.clone())
        };
        self.ways = entrance.enter(said);
        self.ways.borrow_mut().ends[CLIENT].pump = pump;
    }
}

impl Far for Half {
    fn attach(&mut self, pump: Waker) {
        self.ways.borrow_mut().ends[self.side].pump = Some(pump);
    }

    fn has_room(&mut self) -> bool {
        let ways = self.ways.borrow();
        ways.ends[self.side].sent.len() < ways.capacity || ways.ends[1 - self.side].is_gone
    }

    fn send(&mut self, message: usize, values: Outgoing<'_>) {
        let mut ways = self.ways.borrow_mut();
        ways.ends[self.side].sent.push_back((message, values.into_letter()));
        ways.wake(1 - self.side);
    }

    fn receive(&mut self) -> Arrival {
        let other = 1 - self.side;
        {
            let ways = self.ways.borrow();
            let End { sent, has_closed, is_gone, .. } = &ways.ends[other];
            match (sent.front(), has_closed, is_gone) {
                (Some((message, _)), ..) => return Arrival::Message(*message),
                (None, false, false) => return Arrival::Nothing,
                (None, false, true) => return Arrival::Lost("the other side has ended by force".into()),
                (None, true, _) if ways.ends[self.side].sent.is_empty() || self.side == SERVER => {
                    return Arrival::Closed;
                }
                (None, true, _) => {}
            }
        }
        // If no client can enter any more, the new communication is lost at once.
        self.enter_again();
        self.receive()
    }

    fn take(&mut self, values: &mut Filling<'_>) -> Result<(), String> {
        let mut ways = self.ways.borrow_mut();
        let (_, letter) = ways.ends[1 - self.side].sent.pop_front().ok_or("there is no message")?;
        ways.wake(1 - self.side);
        values.put_letter(letter)
    }

    fn close(&mut self) {
        self.ways.borrow_mut().ends[self.side].has_closed = true;
    }
}

impl Drop for Half {
    fn drop(&mut self) {
        let mut ways = self.ways.borrow_mut();
        ways.ends[self.side].is_gone = true;
        ways.wake(1 - self.side);
    }
}
