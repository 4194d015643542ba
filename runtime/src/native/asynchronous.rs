//! Serves a client by asynchronous code: a session.
//!
//! # Safety
//! See [`Turn`]: a session's process runs while it has its turn.

use alloc::boxed::Box;
use alloc::rc::Rc;
use core::cell::Cell;
use core::future::Future;
use core::marker::PhantomData;
use core::{mem, ptr};

use super::here::{Activity, Here};
use super::session::{End, Place, Protocol, Server};
use super::turn::{Outcome, Serve, Serving, Turn};
use crate::layout::{Communication, PLATFORM};

impl Serving {
    /// Serves the client by asynchronous code, which may end where the protocol may.
    pub fn session<P: Protocol, F: Future<Output = ()> + 'static>(
        act: impl FnOnce(Server<P>) -> F + 'static,
    ) -> Serving {
        let begin: Begin = Box::new(|end| Box::pin(act(Server(end, PhantomData))));
        Serving { serve: Box::new(Session::Begins(begin)), declaration: P::DECLARATION }
    }
}

type Begin = Box<dyn FnOnce(End) -> Activity>;

/// A session that is served by asynchronous code.
enum Session {
    Begins(Begin),
    Runs(Runs),
    Ended,
}

struct Runs {
    activity: Activity,
    here: Rc<Here>,
    /// Null when the process has ended.
    communication: Rc<Cell<*mut Communication>>,
    /// The last run has left it waiting for the platform.
    is_parked: bool,
}

impl Serve for Session {
    fn begin(&mut self, turn: &Turn, here: &Rc<Here>) {
        if let Session::Begins(begin) = mem::replace(self, Session::Ended) {
            let communication = Rc::new(Cell::new(turn.communication()));
            let place = Place::Service(communication.clone());
            let end = End { here: here.clone(), place, interface: turn.binding.interface };
            let activity = here.within(turn.worker, turn.process, || begin(end));
            *self = Session::Runs(Runs { activity, here: here.clone(), communication, is_parked: false });
        }
    }

    fn run(&mut self, turn: &Turn) -> Outcome {
        let Session::Runs(Runs { activity, here, is_parked, .. }) = self else { return Outcome::Ended };
        if mem::take(is_parked) {
            turn.forget();
            // What it waits for is for a client that has gone.
            if turn.client_closed() && !turn.has_request() {
                return Outcome::Ended;
            }
        }
        // SAFETY: the process has its turn, and is alive after it.
        unsafe {
            let has_ended = here.poll(turn.worker, turn.process, activity);
            *is_parked = (*turn.process).status == PLATFORM;
            if has_ended { Outcome::Ended } else { Outcome::Waits }
        }
    }
}

impl Drop for Runs {
    fn drop(&mut self) {
        self.communication.set(ptr::null_mut());
    }
}
