//! A running program is looked at and changed over a Unix socket (`drystone run --control SOCKET`). A client writes one line
//! of JSON and reads one:
//!
//! * `{"inspect": N}`: the program as it is now, at most N components;
//! * `{"rebind": {"path": .., "interface": .., "slot": 1, "name": .., "by": ..}}`: a connection gets another binding, as
//!   soon as its protocol allows; the answer is `{}` when it has, or `{"error": ..}` if it can't be done.
//!
//! # Soundness
//!
//! The runtime calls questions with its home worker, on whose thread this runs, while the scheduler has control.

use std::cell::{Cell, RefCell};
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::rc::{Rc, Weak};
use std::time::Instant;

use drystone_kortex::composed::Monitors;
use drystone_runtime::binding::{Rebind, rebind};
use drystone_runtime::inspect::{BindingView, Component, Next, Snapshot, inspect};
use drystone_runtime::layout::Worker;
use mio::net::{UnixListener, UnixStream};
use serde_json::{Value, json};

use crate::bindings::entry::BREATH;
use crate::questions::Questions;
use crate::reactor::{Drain, Handler, Reactor};
use crate::reason::reason;

/// Longest request.
const LONGEST: usize = 64 * 1024;

/// The socket; its file goes with it.
pub(crate) struct Control {
    me: Weak<Control>,
    path: PathBuf,
    shared: Rc<Shared>,
    listener: RefCell<UnixListener>,
    source: usize,
}

struct Shared {
    reactor: Rc<Reactor>,
    monitors: Rc<Monitors>,
    questions: Rc<Questions>,
}

impl Control {
    /// Listens.
    ///
    /// # Errors
    /// Why the socket can't be made.
    pub(crate) fn new(
        path: &Path,
        reactor: Rc<Reactor>,
        monitors: Rc<Monitors>,
        questions: &Rc<Questions>,
    ) -> Result<Rc<Control>, String> {
        let failed = |error: io::Error| format!("{}: {}", path.display(), reason(&error));
        // What a program left there that was killed.
        if is_left(path) {
            fs::remove_file(path).map_err(failed)?;
        }
        let mut listener = UnixListener::bind(path).map_err(failed)?;
        let source = reactor.watch(&mut listener).map_err(failed)?;
        questions.expect();
        let shared = Rc::new(Shared { reactor: reactor.clone(), monitors, questions: questions.clone() });
        let (path, listener) = (path.into(), RefCell::new(listener));
        let control = Rc::new_cyclic(|me| Control { me: me.clone(), path, shared, listener, source });
        reactor.handle(source, control.clone());
        Ok(control)
    }

    /// It has ended.
    pub(crate) fn end(&self) {
        self.shared.reactor.unwatch(self.source, &mut *self.listener.borrow_mut());
        let _ = fs::remove_file(&self.path);
    }
}

/// Whether it is a socket to which nobody listens; who has too much to do just now to be connected to does.
fn is_left(path: &Path) -> bool {
    let is_socket = fs::metadata(path).is_ok_and(|found| found.file_type().is_socket());
    let connected = UnixStream::connect(path);
    is_socket && connected.is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
}

impl Handler for Control {
    fn ready(&self) {
        loop {
            let accepted = self.listener.borrow().accept();
            let Err(error) = accepted.and_then(|(stream, _)| self.admit(stream)) else { continue };
            match error.kind() {
                io::ErrorKind::WouldBlock => return,
                // It has gone before it was accepted.
                io::ErrorKind::ConnectionAborted | io::ErrorKind::Interrupted => {}
                _ => {
                    self.shared.reactor.at(Instant::now() + BREATH, Rc::new(Knock(self.me.clone())));
                    return;
                }
            }
        }
    }
}

/// The system may have room for another connection now.
struct Knock(Weak<Control>);

impl Handler for Knock {
    fn ready(&self) {
        if let Some(control) = self.0.upgrade() {
            control.ready();
        }
    }
}

impl Control {
    fn admit(&self, mut stream: UnixStream) -> io::Result<()> {
        let source = self.shared.reactor.watch(&mut stream)?;
        let client = Client {
            shared: self.shared.clone(),
            source,
            stream: RefCell::new(stream),
            request: RefCell::default(),
            has_asked: Cell::default(),
            answer: RefCell::default(),
            gone: Cell::new(false),
        };
        let client = Rc::new_cyclic(|me| Ready { me: me.clone(), client });
        self.shared.reactor.handle(source, client);
        Ok(())
    }
}

/// A client's connection.
struct Client {
    shared: Rc<Shared>,
    source: usize,
    stream: RefCell<UnixStream>,
    request: RefCell<Vec<u8>>,
    /// Its request is whole.
    has_asked: Cell<bool>,
    /// What it hasn't read yet.
    answer: RefCell<Vec<u8>>,
    /// It isn't watched any more, and its source is another's; what it has asked may still be under way.
    gone: Cell<bool>,
}

struct Ready {
    me: Weak<Ready>,
    client: Client,
}

impl Handler for Ready {
    fn ready(&self) {
        let Some(me) = self.me.upgrade() else { return };
        match self.client.read() {
            Ok(None) => {}
            Ok(Some(request)) => self.client.shared.questions.ask(move |worker| me.act(worker, &request)),
            Err(_) => self.client.leave(),
        }
    }
}

impl Ready {
    fn act(&self, worker: *mut Worker, request: &[u8]) {
        let what = match Request::read(request) {
            Some(Request::Inspect(most)) => return self.answer(self.client.shared.look(worker, most)),
            Some(Request::Rebind(what)) => what,
            None => {
                return self.answer(json!({"error": "a request is {\"inspect\": N} or {\"rebind\": {..}}"}));
            }
        };
        let Some(me) = self.me.upgrade() else { return };
        let told = move |outcome: Result<(), String>| {
            me.answer(outcome.map_or_else(|why| json!({ "error": why }), |()| json!({})));
        };
        // SAFETY: see the head of this file.
        unsafe { rebind(worker, what, Box::new(told)) }
    }

    fn answer(&self, answer: Value) {
        let Some(me) = self.me.upgrade().filter(|me| !me.client.gone.get()) else { return };
        let mut bytes = answer.to_string().into_bytes();
        bytes.push(b'\n');
        *self.client.answer.borrow_mut() = bytes;
        self.client.shared.reactor.drain_later(self.client.source, me);
    }
}

impl Drain for Ready {
    fn drain(&self) -> bool {
        let client = &self.client;
        loop {
            let mut answer = client.answer.borrow_mut();
            let written = match answer.is_empty() {
                true => Ok(0),
                false => client.stream.borrow_mut().write(&answer),
            };
            match written {
                Ok(0) => break,
                Ok(count) => drop(answer.drain(..count)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return false,
                Err(_) => break,
            }
        }
        client.leave();
        true
    }

    fn give_up(&self) {
        self.client.leave();
    }
}

impl Client {
    /// The request, when it is whole.
    fn read(&self) -> io::Result<Option<Vec<u8>>> {
        let mut request = self.request.borrow_mut();
        let mut bytes = [0; 4096];
        loop {
            let stream = &mut *self.stream.borrow_mut();
            match stream.read(&mut bytes) {
                // It may still read; else this is an error.
                Ok(0) if self.has_asked.get() => return stream.write(&[]).map(|_| None),
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => request.extend_from_slice(&bytes[..count]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
            if request.ends_with(b"\n") {
                self.has_asked.set(true);
                return Ok(Some(std::mem::take(&mut *request)));
            }
            if request.len() > LONGEST {
                return Err(io::ErrorKind::InvalidData.into());
            }
        }
    }

    fn leave(&self) {
        if self.gone.replace(true) {
            return;
        }
        let _ = self.stream.borrow().shutdown(std::net::Shutdown::Both);
        self.shared.reactor.unwatch(self.source, &mut *self.stream.borrow_mut());
    }
}

/// What a client wants.
pub(crate) enum Request {
    /// So many components at most.
    Inspect(usize),
    Rebind(Rebind),
}

impl Request {
    /// Of what may be anything; `None`: it is none.
    pub(crate) fn read(bytes: &[u8]) -> Option<Request> {
        let request: Value = serde_json::from_slice(bytes).ok()?;
        match request["inspect"].as_u64() {
            Some(most) => Some(Request::Inspect(usize::try_from(most).ok()?)),
            None => rebinding(&request["rebind"]).map(Request::Rebind),
        }
    }
}

fn rebinding(request: &Value) -> Option<Rebind> {
    let text = |name: &str| request[name].as_str().map(String::from);
    Some(Rebind {
        path: text("path")?,
        interface: text("interface")?,
        slot: request["slot"].as_u64().unwrap_or(1) as usize,
        binding: Some((text("name")?, text("by").unwrap_or_default())),
    })
}

impl Shared {
    fn look(&self, worker: *mut Worker, most: usize) -> Value {
        // SAFETY: see the head of this file.
        let Snapshot { components, more, bindings } = unsafe { inspect(worker, most) };
        let monitors = self.monitors.now();
        json!({
            "components": components.iter().map(component).collect::<Vec<_>>(),
            "more": more,
            "bindings": bindings.iter().map(binding).collect::<Vec<_>>(),
            "monitors": monitors.iter().map(|monitor| json!({
                "name": monitor.name,
                "interface": monitor.interface,
                "communications": [monitor.begun, monitor.open, monitor.lost],
                "messages": monitor.messages,
                "nanoseconds": monitor.times.as_slice(),
            })).collect::<Vec<_>>(),
        })
    }
}

fn component(component: &Component) -> Value {
    json!({
        "path": component.path,
        "holder": component.holder,
        "variable": component.variable,
        "template": component.template,
        "place": component.place,
        "offers": component.offers,
        "requires": component.requires.iter().map(|connection| json!({
            "interface": connection.interface,
            "slot": connection.slot,
            "to": connection.to,
            "by": connection.by.trim_start_matches(" BY "),
            "next": next(&connection.next),
            "inward": connection.is_inward,
            "open": connection.is_open,
        })).collect::<Vec<_>>(),
        "processes": component.processes.iter().map(|process| json!({
            "runs": process.what,
            "waits": process.waits_for.trim_start_matches(", which waits "),
            "whom": process.whom,
            "at": process.at.trim_start_matches(" at "),
        })).collect::<Vec<_>>(),
    })
}

fn next(next: &Next) -> Value {
    match next {
        Next::Nothing => Value::Null,
        Next::Offered(path) => json!({"offered": path}),
        Next::Required(path) => json!({"required": path}),
    }
}

fn binding(binding: &BindingView) -> Value {
    json!({
        "name": binding.name,
        "interface": binding.interface,
        "export": binding.is_export,
        "component": binding.component,
        "communications": binding.communications,
        "sent": binding.sent,
        "received": binding.received,
        "why": binding.why,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_is_left_only_if_nobody_listens() {
        let folder = tempfile::tempdir().expect("there are temporary folders");
        let path = folder.path().join("socket");
        let listener = UnixListener::bind(&path).expect("it can be made");
        rustix::net::listen(&listener, 0).expect("it listens");
        let waiting = std::iter::from_fn(|| UnixStream::connect(&path).ok()).take(100).collect::<Vec<_>>();
        assert!(waiting.len() < 100 && !is_left(&path), "{} wait", waiting.len());
        drop(listener);
        assert!(is_left(&path));
    }
}
