//! Exported interfaces, as requests find them.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use drystone_component::{Interface, Side};
use drystone_runtime::far::{Far, Waker};
use hyper::body::Bytes;

use super::admission::Admission;
use super::held::Holdings;
use super::mapping::Mapping;
use super::style::Style;

/// See the head of this file.
pub(super) struct Export {
    /// Without a `/` at its end.
    pub(super) path: String,
    pub(super) interface: &'static Interface,
    pub(super) style: Style,
    /// What `openapi.json` says; empty: there is no such file.
    pub(super) description: Bytes,
    /// Most bytes of a request or a WebSocket's message.
    pub(super) limit: usize,
    pub(super) admission: Admission,
    pub(super) mapping: Mapping,
    /// How many requests are unanswered.
    pub(super) open: Cell<usize>,
    /// New communications; `None`: no more are accepted.
    arrived: RefCell<Option<VecDeque<Box<dyn Far>>>>,
    listener: RefCell<Option<Waker>>,
}

impl Export {
    pub(super) fn new(
        path: String,
        interface: &'static Interface,
        style: Style,
        description: String,
        (limit, admission, mapping): (usize, Admission, Mapping),
    ) -> Export {
        Export {
            path,
            interface,
            style,
            description: description.into(),
            limit,
            admission,
            mapping,
            open: Cell::default(),
            arrived: RefCell::new(Some(VecDeque::new())),
            listener: RefCell::default(),
        }
    }

    /// The listener is woken when a communication begins.
    pub(super) fn attach(&self, listener: Waker) {
        *self.listener.borrow_mut() = Some(listener);
    }

    /// The next communication, in order of arrival.
    pub(super) fn accept(&self) -> Option<Box<dyn Far>> {
        self.arrived.borrow_mut().as_mut()?.pop_front()
    }

    /// No more communications are accepted. Those that wait are lost.
    pub(super) fn close(&self) {
        let arrived = self.arrived.take();
        drop(arrived);
    }

    /// A communication begins; it is lost if no more are accepted.
    pub(super) fn bring(&self, far: Box<dyn Far>) {
        match &mut *self.arrived.borrow_mut() {
            Some(arrived) => arrived.push_back(far),
            None => return,
        }
        let listener = self.listener.borrow().clone();
        if let Some(listener) = listener {
            listener.wake();
        }
    }

    /// The number of a client's message.
    pub(super) fn message(&self, name: &str) -> Option<usize> {
        let messages = self.interface.messages.get();
        messages.iter().position(|message| message.sender == Side::Client && message.name.get() == name)
    }
}

/// The exports at one address, each below a path of its own.
#[derive(Default)]
pub(super) struct Exports {
    exports: RefCell<Vec<Rc<Export>>>,
    pub(super) holdings: Holdings,
}

impl Exports {
    /// Adds an interface.
    ///
    /// # Errors
    /// The path is taken.
    pub(super) fn add(&self, export: &Rc<Export>) -> Result<(), String> {
        let exports = &mut *self.exports.borrow_mut();
        let is_taken = |other: &Rc<Export>| other.path == export.path && !are_halves(other, export);
        if exports.iter().any(is_taken) {
            return Err("the name is taken in this program".into());
        }
        exports.push(export.clone());
        // The longest path that fits is the one that counts.
        exports.sort_by_key(|export| std::cmp::Reverse(export.path.len()));
        Ok(())
    }

    /// Removes an interface; whether none is left.
    pub(super) fn withdraw(&self, export: &Rc<Export>) -> bool {
        let exports = &mut *self.exports.borrow_mut();
        exports.retain(|other| !Rc::ptr_eq(other, export));
        exports.is_empty()
    }

    /// The other half of a WebSocket.
    pub(super) fn other_half(&self, export: &Export) -> Option<Rc<Export>> {
        let exports = self.exports.borrow();
        exports.iter().find(|other| other.path == export.path && are_halves(other, export)).cloned()
    }

    /// The export to which a path belongs, and the rest of the path, without the `/` before it.
    pub(super) fn find(&self, path: &str) -> Option<(Rc<Export>, String)> {
        let exports = self.exports.borrow();
        exports.iter().find_map(|export| {
            let rest = path.strip_prefix(&export.path)?;
            let rest = if rest.is_empty() { rest } else { rest.strip_prefix('/')? };
            Some((export.clone(), rest.to_string()))
        })
    }
}

/// Whether two exports are the two halves of a WebSocket, if they have the same path.
fn are_halves(one: &Export, other: &Export) -> bool {
    matches!(
        (&one.style, &other.style),
        (Style::Incoming, Style::Outgoing) | (Style::Outgoing, Style::Incoming)
    )
}
