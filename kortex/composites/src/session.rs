//! A session: a client that ships blocks over one communication, one run after the other. A client that wants several
//! runs at once begins several communications.

use alloc::boxed::Box;
use alloc::format;
use alloc::rc::{Rc, Weak};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cell::{Cell, RefCell};

use drystone_component::wire::{Arrival, Connection, Handle};
use drystone_extension::composite::shipping::{RESUME, RUN};
use drystone_extension::composite::{Event, Hash, Quota, Refusal, RunId, VarTable};
use drystone_kortex::Expectation;
use drystone_kortex::peer::{ClientId, ClientLine, Shipper};

use super::engine::{Client, Engine, Kept, QUOTA};
use super::messages::{Beginning, Reply, Request};
use super::ports::{Ports, Runs};
use super::preparing::{Preparing, Sender};

/// A program of exactly this length is taken as the hash of one that the service should know.
const BYTES_OF_HASH: usize = 32;

/// The service's side of the communication.
pub(crate) struct Session {
    me: Weak<Session>,
    line: Box<dyn ClientLine>,
    client: ClientId,
    engine: Rc<Engine>,
    preparing: Rc<Preparing>,
    /// The input of the run that begins when its program is remembered.
    asked: RefCell<Option<Beginning>>,
    run: Cell<Option<RunId>>,
    /// The run waits for the client to resume it.
    is_stopped: Cell<bool>,
    /// A reply that the line has no room for yet.
    owed: RefCell<Option<(Reply, Kept)>>,
    _may_come: Expectation,
}

impl Session {
    /// A session for a client, which it reaches over a line.
    pub(crate) fn new(
        line: Box<dyn ClientLine>,
        client: ClientId,
        engine: &Rc<Engine>,
        preparing: &Rc<Preparing>,
    ) -> Rc<Session> {
        Rc::new_cyclic(|me| Session {
            me: me.clone(),
            client,
            engine: engine.clone(),
            preparing: preparing.clone(),
            asked: RefCell::default(),
            run: Cell::new(None),
            is_stopped: Cell::new(false),
            owed: RefCell::default(),
            _may_come: line.expected().expect(),
            line,
        })
    }

    fn begin(&self, request: Request) {
        match request {
            Request::Run(program, beginning) => {
                let bytes = beginning.bytes();
                self.asked.replace(Some(beginning));
                self.find(&program, bytes);
            }
            Request::Resume { table, rounds } => self.answer(self.resume(&table, rounds)),
        }
    }

    /// Finds the program that these bytes are, or are the hash of. Its run's input takes `bytes` bytes.
    fn find(&self, program: &[u8], bytes: usize) {
        if let Ok(hash) = <[u8; BYTES_OF_HASH]>::try_from(program) {
            let is_known = self.engine.server().program(Hash(hash)).is_some();
            if is_known {
                return self.remembered(Ok(Hash(hash)));
            }
            self.asked.take();
            return self.reply(Reply::Unknown);
        }
        let remembered = self.preparing.remember(program, self.client, bytes, self.me.clone());
        remembered.into_iter().for_each(|program| self.remembered(program));
    }

    /// Answers a request to run: the run goes on, or is refused.
    fn answer(&self, begun: Result<(), Refusal>) {
        match begun {
            Ok(()) => self.run.get().into_iter().for_each(|run| self.engine.begin(run)),
            Err(Refusal(why)) => {
                self.forget();
                self.is_stopped.set(false);
                self.reply(Reply::Refused(why));
            }
        }
    }

    /// Starts a run of a remembered program.
    fn start(&self, program: Hash, beginning: &Beginning) -> Result<(), Refusal> {
        let find = |name: &Vec<u8>| {
            let missing = || format!("nothing is exported as {}", String::from_utf8_lossy(name)).into();
            self.line.find(name).ok_or_else(missing)
        };
        let offers = beginning.names.iter().map(find).collect::<Result<Vec<_>, Refusal>>()?;
        let interfaces: Vec<_> = offers.iter().map(|(offer, _)| offer.interface()).collect();
        let ports = Ports::new(self.me.clone(), self.line.expected(), offers);
        let mut server = self.engine.server();
        server.admit(self.client, Quota { rounds: beginning.rounds, ..QUOTA });
        let run = server.start(self.client, program, &beginning.table, &interfaces, ports)?;
        self.engine.add(run, self.me.clone());
        self.run.set(Some(run));
        Ok(())
    }

    /// Resumes the run that has stopped.
    fn resume(&self, table: &[u8], rounds: u64) -> Result<(), Refusal> {
        let mut server = self.engine.server();
        let Some(id) = self.run.get() else { return Ok(()) };
        let Some(run) = server.run(id) else { return Ok(()) };
        if !table.is_empty() {
            let layout = run.prepared().layout().clone();
            let mut values = VarTable::new(layout.clone());
            values.decode_in(table)?;
            for (number, variable) in layout.variables().iter().enumerate() {
                for index in (0..variable.count()).filter(|_| variable.travels_in()) {
                    if let Some(value) = values.get(number as u32, index) {
                        run.set(number as u32, index, value)?;
                    }
                }
            }
        }
        self.is_stopped.set(false);
        server.admit(self.client, Quota { rounds, ..QUOTA });
        server.resume(id);
        Ok(())
    }

    fn forget(&self) {
        self.run.take().inspect(|run| self.engine.forget(*run));
    }

    /// Sends the reply, now or when the line has room.
    fn reply(&self, reply: Reply) {
        if !self.line.has_room() {
            let kept = self.engine.keep(self.client, reply.bytes());
            self.owed.replace(Some((reply, kept)));
            return;
        }
        self.line.reply(reply.number(), &|out| reply.encode(out));
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.forget();
    }
}

impl Client for Session {
    fn tell(&self, event: Event<Ports>) {
        match event {
            Event::Ended(table, ports) => {
                self.forget();
                drop(ports);
                self.reply(Reply::Ended(table));
            }
            Event::Stopped(why, table) => {
                self.is_stopped.set(true);
                self.reply(Reply::stopped(&why, table));
            }
        }
    }

    fn goes_on(&self) -> bool {
        !self.is_stopped.get()
    }
}

impl Runs for Session {
    fn go_on(&self) {
        if self.goes_on() {
            self.run.get().into_iter().for_each(|run| self.engine.wake(run));
        }
    }
}

impl Sender for Session {
    fn remembered(&self, program: Result<Hash, Refusal>) {
        let Some(beginning) = self.asked.take() else { return };
        self.answer(program.and_then(|program| self.start(program, &beginning)));
    }
}

impl Shipper for Session {
    fn hear(&self, connection: &RefCell<Connection>, handle: Handle) -> bool {
        let owed = self.owed.take();
        owed.into_iter().for_each(|(reply, _)| self.reply(reply));
        loop {
            let arrival = connection.borrow_mut().arrival(handle);
            let message = match arrival {
                Arrival::Nothing => return true,
                Arrival::Message(message) => message,
                Arrival::Closed | Arrival::Lost(_) => {
                    connection.borrow_mut().close(handle);
                    return false;
                }
            };
            if self.owed.borrow().is_some() {
                return true;
            }
            let take = |bytes: &[u8]| match message {
                RUN if self.run.get().is_none() && self.asked.borrow().is_none() => Request::run(bytes),
                RESUME if self.is_stopped.get() => Request::resume(bytes),
                _ => Err("a message has come where the protocol doesn't allow it".to_string()),
            };
            let (request, _) = connection.borrow_mut().take(handle, take);
            if let Err(why) = request.map(|request| self.begin(request)) {
                connection.borrow_mut().abandon(handle, &why);
                return false;
            }
        }
    }
}
