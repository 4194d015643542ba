//! An HTTP request as a communication with a service of this program, with one call and its answer.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use drystone_component::Interface;
use drystone_component::calls::Call;
use drystone_runtime::far::{Arrival, Far, Filling, Outgoing, Waker};

use super::json;
use super::task::Handle;
use drystone_net::datum::{Datum, data};

/// What became of a request.
pub(super) enum Answer {
    /// A message, by its number, as JSON.
    Message(usize, Vec<u8>),
    /// The message was taken, and isn't answered.
    Taken,
    /// The service has ended without an answer.
    Failed,
}

/// See the head of this file.
pub(super) struct Exchange {
    interface: &'static Interface,
    call: Call,
    state: RefCell<State>,
    /// The connection's.
    task: Handle,
}

struct State {
    /// The request, until the service takes it.
    request: Option<Vec<Datum<'static>>>,
    answer: Option<Answer>,
    pump: Option<Waker>,
    /// Whether and how it has ended.
    over: End,
}

#[derive(Clone, Copy, PartialEq)]
enum End {
    No,
    Answered,
    Gone,
}

impl Exchange {
    /// The service's half, and a future of the answer for the client.
    pub(super) fn begin(
        interface: &'static Interface,
        call: Call,
        request: Vec<Datum<'static>>,
        task: Handle,
    ) -> (Box<dyn Far>, Waiting) {
        let state = State { request: Some(request), answer: None, pump: None, over: End::No };
        let exchange = Rc::new(Exchange { interface, call, state: RefCell::new(state), task });
        (Box::new(Served(exchange.clone())), Waiting(exchange))
    }

    fn answer(&self, answer: Answer) {
        {
            let state = &mut *self.state.borrow_mut();
            if state.over != End::No {
                return;
            }
            state.over = End::Answered;
            state.answer = Some(answer);
        }
        self.task.run();
    }
}

struct Served(Rc<Exchange>);

impl Far for Served {
    fn attach(&mut self, pump: Waker) {
        self.0.state.borrow_mut().pump = Some(pump);
    }

    fn has_room(&mut self) -> bool {
        true
    }

    fn send(&mut self, message: usize, values: Outgoing<'_>) {
        let number = message;
        let message = &self.0.interface.messages.get()[number];
        let mut out = Vec::with_capacity(128);
        json::write(&mut out, message, data(message.parameters.get(), *values));
        self.0.answer(Answer::Message(number, out));
    }

    fn receive(&mut self) -> Arrival {
        let state = self.0.state.borrow();
        match state.over {
            End::Gone => Arrival::Lost("an HTTP client has gone".into()),
            End::Answered => Arrival::Closed,
            End::No if state.request.is_some() => Arrival::Message(self.0.call.message),
            End::No => Arrival::Nothing,
        }
    }

    fn take(&mut self, values: &mut Filling<'_>) -> Result<(), String> {
        let request = self.0.state.borrow_mut().request.take().ok_or("there is no request")?;
        request.iter().try_for_each(|value| values.put(value.value()))?;
        if self.0.call.answers.is_empty() {
            self.0.answer(Answer::Taken);
        }
        Ok(())
    }

    fn close(&mut self) {}
}

impl Drop for Served {
    fn drop(&mut self) {
        self.0.state.borrow_mut().pump = None;
        self.0.answer(Answer::Failed);
    }
}

/// A future of the answer. The communication is lost when it is dropped before that.
pub(super) struct Waiting(Rc<Exchange>);

impl Future for Waiting {
    type Output = Answer;

    fn poll(self: Pin<&mut Waiting>, _: &mut Context<'_>) -> Poll<Answer> {
        let answer = self.0.state.borrow_mut().answer.take();
        answer.map_or(Poll::Pending, Poll::Ready)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let pump = {
            let state = &mut *self.0.state.borrow_mut();
            if state.over != End::No {
                return;
            }
            state.over = End::Gone;
            state.pump.take()
        };
        if let Some(pump) = pump {
            pump.wake();
        }
    }
}
