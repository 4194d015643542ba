//! A communication with a database: requests go to its pool, and each is answered.

use std::cell::RefCell;
use std::rc::Rc;

use drystone_component::Interface;
use drystone_runtime::far::{Arrival, Far, Filling, Outgoing, Reach, Waker};

use crate::answer::Answer;
use crate::connection::Connection;
use crate::pool::{Pool, Session};
use crate::request::Asked;

/// A database to which a name is bound.
pub struct Bound {
    pub interface: &'static Interface,
    pub pool: Rc<Pool>,
}

impl Reach for Bound {
    fn begin(&mut self) -> Box<dyn Far> {
        Box::new(Client { interface: self.interface, pool: self.pool.clone(), session: Rc::default() })
    }
}

/// See the head of this file.
struct Client {
    interface: &'static Interface,
    pool: Rc<Pool>,
    session: Rc<RefCell<Session>>,
}

impl Far for Client {
    fn attach(&mut self, pump: Waker) {
        self.session.borrow_mut().pump = Some(pump);
    }

    fn has_room(&mut self) -> bool {
        true
    }

    fn send(&mut self, message: usize, values: Outgoing<'_>) {
        let mut asked = Asked {
            message: self.interface.messages.get()[message].name.get(),
            values: Vec::with_capacity(256),
        };
        match values.encode(&mut asked.values) {
            Ok(()) => self.pool.ask(&self.session, asked),
            Err(why) => self.session.borrow_mut().answer = Some(Answer::failed(&why.into())),
        }
    }

    fn receive(&mut self) -> Arrival {
        match &self.session.borrow().answer {
            Some(Answer { message, .. }) => {
                let mut messages = self.interface.messages.get().iter();
                let number = messages.position(|known| known.name.get() == *message);
                Arrival::Message(number.expect("the interface is Sql's"))
            }
            None => Arrival::Nothing,
        }
    }

    fn take(&mut self, values: &mut Filling<'_>) -> Result<(), String> {
        let answer = self.session.borrow_mut().answer.take().ok_or("there is no answer")?;
        values.decode(&answer.values)
    }

    fn close(&mut self) {}
}

impl Drop for Client {
    fn drop(&mut self) {
        let pinned: Option<Box<dyn Connection>> = {
            let session = &mut *self.session.borrow_mut();
            session.has_ended = true;
            session.pump = None;
            session.pinned.take()
        };
        if let Some(connection) = pinned {
            self.pool.run(&self.session, Some(connection), Asked::rollback());
        }
    }
}
