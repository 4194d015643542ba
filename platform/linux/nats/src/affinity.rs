//! Server affinity: a client stays with the server that it was given first, until a communication with that is lost.
//! All its communications with the name, and the blocks that it ships, go over the same line.

use std::cell::RefCell;
use std::rc::Rc;

use drystone_kortex::peer::{Composites, Line, Wanted};
use drystone_runtime::far::{Arrival, Far, Filling, Outgoing, Waker};

use super::peer_stream::PeerStream;
use super::session::Session;
use super::users::Stream;

/// See the head of this file.
pub(super) struct Affinity {
    session: Rc<Session>,
    name: Rc<str>,
    /// The line to the server; `None`: a server is to be asked for.
    stream: RefCell<Option<Rc<PeerStream>>>,
}

impl Affinity {
    /// With a server of this name, which is not asked for yet.
    pub(super) fn new(session: Rc<Session>, name: &Rc<str>) -> Rc<Affinity> {
        Rc::new(Affinity { session, name: name.clone(), stream: RefCell::default() })
    }

    /// Begins a communication with the server.
    pub(super) fn begin(self: &Rc<Affinity>, wanted: &Wanted) -> impl Far + use<> {
        let stream = self.stream();
        let line: Rc<dyn Line> = stream.clone();
        let is_for_name = wanted.there == self.name;
        Communication { far: wanted.begin(&line), affinity: self.clone(), stream, is_for_name }
    }

    /// What ships blocks to that server.
    pub(super) fn composites(&self) -> Option<&Rc<dyn Composites>> {
        self.session.composites.as_ref()
    }

    /// Tells this server from others of the same name, also from earlier ones.
    pub(super) fn number(&self) -> usize {
        Rc::as_ptr(&self.stream()).addr()
    }

    fn stream(&self) -> Rc<PeerStream> {
        let stream = &mut *self.stream.borrow_mut();
        stream.take_if(|stream| stream.is_over());
        stream.get_or_insert_with(|| PeerStream::dial(&self.session, &self.name)).clone()
    }

    /// A communication over this line was lost: another server may still have what this one has lost.
    fn doubt(&self, doubtful: &Rc<PeerStream>) {
        let left = self.stream.borrow_mut().take_if(|stream| Rc::ptr_eq(stream, doubtful));
        drop(left);
    }
}

/// A communication with the server.
struct Communication {
    far: Box<dyn Far>,
    affinity: Rc<Affinity>,
    stream: Rc<PeerStream>,
    /// It is with what the name means, not with the composite service.
    is_for_name: bool,
}

impl Far for Communication {
    fn attach(&mut self, pump: Waker) {
        self.far.attach(pump);
    }

    fn has_room(&mut self) -> bool {
        self.far.has_room()
    }

    fn send(&mut self, message: usize, values: Outgoing<'_>) {
        self.far.send(message, values);
    }

    fn receive(&mut self) -> Arrival {
        let arrival = self.far.receive();
        // A server that takes no blocks may have what the name means all the same.
        if matches!(arrival, Arrival::Lost(_)) && (self.is_for_name || !self.far.was_refused()) {
            self.affinity.doubt(&self.stream);
        }
        arrival
    }

    fn take(&mut self, values: &mut Filling<'_>) -> Result<(), String> {
        self.far.take(values)
    }

    fn close(&mut self) {
        self.far.close();
    }

    fn was_refused(&self) -> bool {
        self.far.was_refused()
    }
}
