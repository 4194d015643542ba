//! An HTTP request as a communication with a service of this program: what the client sends, and what is answered.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;

use drystone_component::Interface;
use drystone_runtime::far::{Arrival, Far, Filling, Outgoing, Waker};

use super::json;
use super::task::Handle;
use drystone_net::datum::{Datum, data};

/// Most messages of a service that wait for its client.
const MOST_WAITING: usize = 8;

/// What became of a request.
pub(super) enum Answer {
    /// A message, by its number, as JSON.
    Message(usize, Vec<u8>),
    /// A message of the library's `Http`, by its number.
    Values(usize, Vec<Datum<'static>>),
    /// The message was taken, and isn't answered.
    Taken,
    /// The service has ended without an answer, or before its end.
    Failed,
}

/// What an exchange consists of.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Form {
    /// One message of each side, the service's as JSON.
    Call,
    /// One message of the client alone.
    Notice,
    /// Messages of the library's `Http`.
    Plain,
}

/// See the head of this file.
pub(super) struct Exchange {
    interface: &'static Interface,
    form: Form,
    state: RefCell<State>,
    /// The connection's.
    task: Handle,
}

struct State {
    /// The client's message that the service hasn't taken.
    inbox: Option<(usize, Vec<Datum<'static>>)>,
    /// The service's that the client hasn't taken.
    outbox: VecDeque<Answer>,
    pump: Option<Waker>,
    client: Client,
}

#[derive(Clone, Copy, PartialEq)]
enum Client {
    Talks,
    /// All is said.
    Done,
    Gone,
}

impl Exchange {
    /// The service's half, and the client's, which has sent a message.
    pub(super) fn begin(
        interface: &'static Interface,
        form: Form,
        request: (usize, Vec<Datum<'static>>),
        task: Handle,
    ) -> (Box<dyn Far>, Asking) {
        let state =
            State { inbox: Some(request), outbox: VecDeque::new(), pump: None, client: Client::Talks };
        let exchange = Rc::new(Exchange { interface, form, state: RefCell::new(state), task });
        (Box::new(Served(exchange.clone())), Asking(exchange))
    }

    fn answer(&self, answer: Answer, is_last: bool) {
        {
            let state = &mut *self.state.borrow_mut();
            if state.client != Client::Talks {
                return;
            }
            if is_last {
                state.client = Client::Done;
            }
            state.outbox.push_back(answer);
        }
        self.task.run();
    }

    fn wake(&self) {
        let pump = self.state.borrow().pump.clone();
        if let Some(pump) = pump {
            pump.wake();
        }
    }
}

struct Served(Rc<Exchange>);

impl Far for Served {
    fn attach(&mut self, pump: Waker) {
        self.0.state.borrow_mut().pump = Some(pump);
    }

    fn has_room(&mut self) -> bool {
        self.0.state.borrow().outbox.len() < MOST_WAITING
    }

    fn send(&mut self, message: usize, values: Outgoing<'_>) {
        let number = message;
        let message = &self.0.interface.messages.get()[number];
        let values = data(message.parameters.get(), *values);
        if self.0.form == Form::Plain {
            let is_last = !matches!(message.name.get(), "Begin" | "Continue" | "Chunk");
            return self.0.answer(Answer::Values(number, values.map(Datum::into_owned).collect()), is_last);
        }
        let mut out = Vec::with_capacity(128);
        json::write(&mut out, message, values);
        self.0.answer(Answer::Message(number, out), true);
    }

    fn receive(&mut self) -> Arrival {
        let state = self.0.state.borrow();
        match (state.client, &state.inbox) {
            (Client::Gone, _) => Arrival::Lost("an HTTP client has gone".into()),
            (_, Some((message, _))) => Arrival::Message(*message),
            (Client::Done, None) => Arrival::Closed,
            (Client::Talks, None) => Arrival::Nothing,
        }
    }

    fn take(&mut self, values: &mut Filling<'_>) -> Result<(), String> {
        let taken = self.0.state.borrow_mut().inbox.take();
        let (_, request) = taken.ok_or("there is no request")?;
        request.iter().try_for_each(|value| values.put(value.value()))?;
        match self.0.form {
            Form::Call => {}
            Form::Notice => self.0.answer(Answer::Taken, true),
            // More may be sent.
            Form::Plain => self.0.task.run(),
        }
        Ok(())
    }

    fn close(&mut self) {}
}

impl Drop for Served {
    fn drop(&mut self) {
        self.0.state.borrow_mut().pump = None;
        self.0.answer(Answer::Failed, true);
    }
}

/// The client's half. The communication is lost when it is dropped before the last answer.
pub(super) struct Asking(Rc<Exchange>);

impl Asking {
    /// The next answer.
    pub(super) async fn answer(&self) -> Answer {
        poll_fn(|_| self.poll_answer()).await
    }

    /// The same, for what is polled.
    pub(super) fn poll_answer(&self) -> Poll<Answer> {
        let (answer, was_full) = {
            let state = &mut *self.0.state.borrow_mut();
            let was_full = state.outbox.len() == MOST_WAITING;
            (state.outbox.pop_front(), was_full)
        };
        if was_full {
            self.0.wake();
        }
        answer.map_or(Poll::Pending, Poll::Ready)
    }

    /// Sends one more message, when the last one was taken; `false`: the service has ended.
    pub(super) async fn say(&self, message: usize, values: Vec<Datum<'static>>) -> bool {
        let is_ready = |state: &State| state.inbox.is_none() || state.client != Client::Talks;
        poll_fn(|_| if is_ready(&self.0.state.borrow()) { Poll::Ready(()) } else { Poll::Pending }).await;
        {
            let state = &mut *self.0.state.borrow_mut();
            if state.client != Client::Talks {
                return false;
            }
            state.inbox = Some((message, values));
        }
        self.0.wake();
        true
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        {
            let state = &mut *self.0.state.borrow_mut();
            if state.client != Client::Talks {
                return;
            }
            state.client = Client::Gone;
        }
        self.0.wake();
    }
}
