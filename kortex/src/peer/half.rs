//! Communications with the other end of a line.

use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use core::cell::RefMut;
use core::mem;

use drystone_component::wire::{Connection, Handle};
use drystone_runtime::far::{Arrival, Far, Filling, Outgoing, Waker};

use super::line::{Line, one_served_less};
use super::offer::Wanted;
use crate::Expectation;

impl Wanted {
    /// Begins a communication.
    pub fn begin(&self, line: &Rc<dyn Line>) -> Box<dyn Far> {
        let there = self.there.as_bytes();
        let handle = line.peer().connection.borrow_mut().open(there, self.interface, self.capacity);
        line.send_soon();
        Box::new(Half::new(line, handle, &self.name, None))
    }
}

/// A communication with the other end.
pub(super) struct Half {
    line: Rc<dyn Line>,
    handle: Handle,
    name: Rc<str>,
    /// The slot, if the other end has begun the communication.
    slot: Option<usize>,
    /// See [`Line::much`].
    much: usize,
    /// The message that has arrived and was announced, but not taken.
    next: Option<usize>,
    /// Why this side has abandoned the communication.
    broken: Option<String>,
    /// The end has been announced to the other end.
    is_over: bool,
    _may_come: Expectation,
}

impl Half {
    pub(super) fn new(line: &Rc<dyn Line>, handle: Handle, name: &Rc<str>, slot: Option<usize>) -> Half {
        let may_come = line.expected().expect();
        let (line, name, much) = (line.clone(), name.clone(), line.much());
        Half { line, handle, name, slot, much, next: None, broken: None, is_over: false, _may_come: may_come }
    }

    fn connection(&self) -> RefMut<'_, Connection> {
        self.line.peer().connection.borrow_mut()
    }

    fn end(&mut self, end: impl FnOnce(&mut Connection, Handle)) {
        if !mem::replace(&mut self.is_over, true) {
            end(&mut self.connection(), self.handle);
            if let Some(pump) = self.line.peer().pumps.borrow_mut().get_mut(self.handle.index()) {
                *pump = None;
            }
            self.line.send_soon();
        }
    }
}

impl Far for Half {
    fn attach(&mut self, pump: Waker) {
        let pumps = &mut *self.line.peer().pumps.borrow_mut();
        let index = self.handle.index();
        if pumps.len() <= index {
            pumps.resize(index + 1, None);
        }
        pumps[index] = Some(pump);
    }

    fn has_room(&mut self) -> bool {
        self.is_over || self.connection().has_room(self.handle)
    }

    fn send(&mut self, message: usize, values: Outgoing<'_>) {
        if self.is_over {
            return;
        }
        let mut connection = self.connection();
        // If there is output already, the line knows.
        let is_news = !connection.has_output();
        let sent = connection.send(self.handle, message, |out| values.encode(out));
        let is_much = connection.unsent() >= self.much;
        drop(connection);
        match sent {
            Ok(()) => {
                if is_news {
                    self.line.send_soon();
                }
                if is_much {
                    self.line.send_now();
                }
            }
            Err(why) => {
                // Wakes the pump, which then sees that the communication is over.
                self.line.peer().wake_pump(self.handle);
                self.end(|connection, handle| connection.abandon(handle, &why));
                self.broken = Some(why);
            }
        }
    }

    fn receive(&mut self) -> Arrival {
        if self.is_over {
            return Arrival::Lost(format!(
                "{}: {}",
                self.name,
                self.broken.as_deref().unwrap_or("it is over")
            ));
        }
        if let Some(message) = self.next {
            return Arrival::Message(message);
        }
        let arrival = self.connection().arrival(self.handle);
        match arrival {
            Arrival::Message(message) => self.next = Some(message),
            Arrival::Lost(why) => return Arrival::Lost(format!("{}: {why}", self.name)),
            Arrival::Nothing | Arrival::Closed => {}
        }
        arrival
    }

    fn take(&mut self, values: &mut Filling<'_>) -> Result<(), String> {
        let mut connection = self.connection();
        let (taken, next) = connection.take(self.handle, |bytes| values.decode(bytes));
        let owes = connection.owes();
        drop(connection);
        self.next = next;
        // Taken messages make room at the sender, who has to be told. If more messages have arrived, that is told now:
        // no answer will follow soon that could carry it.
        if owes {
            self.line.send_soon();
            if next.is_some() {
                self.line.send_now();
            }
        }
        taken.map_err(|why| {
            self.end(|connection, handle| connection.abandon(handle, &why));
            format!("{}: {why}", self.name)
        })
    }

    fn slot(&self) -> usize {
        self.slot.unwrap_or(1)
    }

    fn close(&mut self) {
        self.end(Connection::close);
    }

    fn was_refused(&self) -> bool {
        !self.is_over && (!self.line.peer().has_spoken.get() || self.connection().was_refused(self.handle))
    }
}

impl Drop for Half {
    fn drop(&mut self) {
        self.end(|connection, handle| connection.abandon(handle, "the other side was ended by force"));
        if self.slot.is_some() {
            one_served_less(&*self.line);
        }
    }
}
