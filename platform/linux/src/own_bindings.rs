//! The `Bindings` interface: a program inspects, replaces and deletes its own bindings.
//!
//! # Soundness
//!
//! Questions are called with the home's worker, on whose thread all of this runs, while the scheduler has control. A
//! process that waits for an answer is forgotten before it ends.

use std::cell::RefCell;
use std::rc::Rc;
use std::task::Poll;

use drystone_runtime::binding::{Rebind, rebind};
use drystone_runtime::inspect::{Snapshot, inspect};
use drystone_runtime::layout::Worker;
use drystone_runtime::native::{Waiter, unpark};

use crate::interfaces::bindings::{In, Server};
use crate::questions::Questions;

/// Serves a client to its end.
pub(crate) async fn attend(mut client: Server, questions: Rc<Questions>) {
    while let Ok(request) = client.receive().await {
        match request {
            In::List => {
                for binding in look(&client, &questions).await.bindings {
                    let [begun, open, lost] = binding.communications.map(|count| count as i64);
                    let (sent, received) = (binding.sent.0 as i64, binding.received.0 as i64);
                    let name = binding.name.as_bytes();
                    let interface = binding.interface.as_bytes();
                    client
                        .send_binding(name, interface, binding.is_export, begun, open, lost, sent, received)
                        .await;
                }
                client.send_end().await;
            }
            In::Connections { component } => {
                let path = component.to_vec();
                let components = look(&client, &questions).await.components;
                let found = components.iter().find(|component| component.path.as_bytes() == path);
                for connection in found.iter().flat_map(|component| &component.requires) {
                    let slot = connection.slot.unwrap_or(1) as i64;
                    let (interface, to) = (connection.interface.as_bytes(), &connection.to);
                    let to = format!("{to}{}", connection.by);
                    client.send_connection(interface, slot, to.as_bytes(), connection.is_open).await;
                }
                client.send_end().await;
            }
            In::Connect { component, interface, slot, name } => {
                let binding = Some((text(&name), String::new()));
                change(&mut client, &questions, of(&component, &interface, slot, binding)).await;
            }
            In::Disconnect { component, interface, slot } => {
                change(&mut client, &questions, of(&component, &interface, slot, None)).await;
            }
        }
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn of(component: &[u8], interface: &[u8], slot: i64, binding: Option<(String, String)>) -> Rebind {
    // An invalid slot number is treated as one that doesn't exist.
    let slot = usize::try_from(slot).unwrap_or(0);
    Rebind { path: text(component), interface: text(interface), slot, binding }
}

async fn look(client: &Server, questions: &Questions) -> Snapshot {
    // SAFETY: see the head of this file.
    answer(client, questions, |worker, told| told(unsafe { inspect(worker, usize::MAX) })).await
}

async fn change(client: &mut Server, questions: &Questions, what: Rebind) {
    if what.interface == "Bindings" {
        // Such a communication would have to end before it could get the answer.
        return client.send_refused(b"a connection to Bindings can be changed from outside only").await;
    }
    // SAFETY: see the head of this file.
    match answer(client, questions, |worker, told| _ = unsafe { rebind(worker, what, told) }).await {
        Ok(()) => client.send_done().await,
        Err(unknown) => client.send_refused(unknown.why.as_bytes()).await,
    }
}

/// Sends the answer to a question.
async fn answer<T: 'static>(
    client: &Server,
    questions: &Questions,
    question: impl FnOnce(*mut Worker, Box<dyn FnOnce(T)>) + 'static,
) -> T {
    let asked = Asked(Rc::default());
    let answer = asked.0.clone();
    questions.ask(move |worker| {
        let told = move |value| {
            let mut answer = answer.borrow_mut();
            answer.value = Some(value);
            if let Some(waiter) = answer.waiter.take() {
                // SAFETY: see the head of this file.
                unsafe { unpark(worker, waiter.process) }
            }
        };
        question(worker, Box::new(told));
    });
    let come = |waiter| {
        let mut answer = asked.0.borrow_mut();
        answer.waiter = Some(waiter);
        answer.value.take().map_or(Poll::Pending, Poll::Ready)
    };
    client.until(come).await
}

struct Answer<T> {
    value: Option<T>,
    waiter: Option<Waiter>,
}

impl<T> Default for Answer<T> {
    fn default() -> Answer<T> {
        Answer { value: None, waiter: None }
    }
}

/// Waits for an answer; forgotten when dropped.
struct Asked<T>(Rc<RefCell<Answer<T>>>);

impl<T> Drop for Asked<T> {
    fn drop(&mut self) {
        self.0.borrow_mut().waiter = None;
    }
}
