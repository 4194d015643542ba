//! A client that ships composite calls, one after the other: who wants to have several run at once is several clients.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

use drystone_component::wire::{Arrival, Connection, Handle, Reader, put_opaque, put_u64};
use drystone_extension::composite::{Event, Failure, Hash, Quota, Refusal, RunId, VarTable, Why};

use super::port::Ports;
use super::{Kept, QUOTA, Server};
use drystone_extension::composite::shipping::{
    BUDGET, CANCELLED, ENDED, REFUSED, RESUME, RUN, STOPPED, UNKNOWN,
};
use drystone_kortex::peer::{ClientId, Line, Shipper};
use drystone_reactor::Expectation;

/// How a program is named that the server knows.
const BYTES_OF_HASH: usize = 32;

/// No program has more communications.
const MOST_NAMES: u32 = 4096;

/// See the head of this file.
pub(super) struct Session {
    pub(super) me: Weak<Session>,
    line: Weak<dyn Line>,
    composites: Rc<Server>,
    pub(super) client: ClientId,
    handle: Handle,
    /// The run that begins when its program is remembered.
    asked: RefCell<Option<Asked>>,
    run: Cell<Option<RunId>>,
    /// What runs waits for the client to resume it.
    is_stopped: Cell<bool>,
    /// What the client gets as soon as it takes more.
    owed: RefCell<Option<(Reply, Kept)>>,
    _may_come: Expectation,
}

/// What the client gets.
enum Reply {
    Ended(Vec<u8>),
    Stopped { fault: i64, location: i64, why: String, table: Vec<u8> },
    Unknown,
    Refused(String),
}

impl Session {
    pub(super) fn new(
        line: &Rc<dyn Line>,
        composites: &Rc<Server>,
        client: ClientId,
        handle: Handle,
    ) -> Rc<Session> {
        let may_come = line.expected().expect();
        let (line, composites) = (Rc::downgrade(line), composites.clone());
        Rc::new_cyclic(|me| Session {
            me: me.clone(),
            line,
            composites,
            client,
            handle,
            asked: RefCell::default(),
            run: Cell::new(None),
            is_stopped: Cell::new(false),
            owed: RefCell::default(),
            _may_come: may_come,
        })
    }

    fn begin(&self, request: Request) {
        match request {
            Request::Run(program, asked) => {
                self.asked.replace(Some(asked));
                self.find(&program);
            }
            Request::Resume { table, rounds } => self.answer(self.resume(&table, rounds)),
        }
    }

    /// Finds the program that these bytes are, or are the hash of.
    fn find(&self, program: &[u8]) {
        let Ok(hash) = <[u8; BYTES_OF_HASH]>::try_from(program) else {
            return self.composites.remember(self, program);
        };
        let is_known = self.composites.server.borrow().program(Hash(hash)).is_some();
        if is_known {
            return self.remembered(Ok(Hash(hash)));
        }
        self.asked.take();
        self.reply(Reply::Unknown);
    }

    /// Bytes of what is to be the run's beginning.
    pub(super) fn asked_bytes(&self) -> usize {
        let asked = self.asked.borrow();
        let Some(Asked { names, table, .. }) = &*asked else { return 0 };
        table.len() + names.iter().map(|name| name.len() + size_of::<Vec<u8>>()).sum::<usize>()
    }

    /// What it has asked for begins: this is its program.
    pub(super) fn remembered(&self, program: Result<Hash, Refusal>) {
        let (Some(asked), Some(line)) = (self.asked.take(), self.line.upgrade()) else { return };
        self.answer(program.and_then(|program| self.start(&line, program, &asked)));
    }

    /// It goes on, or is refused.
    fn answer(&self, begun: Result<(), Refusal>) {
        match begun {
            Ok(()) => self.run.get().into_iter().for_each(|run| self.composites.begin(run)),
            Err(Refusal(why)) => {
                self.forget();
                self.is_stopped.set(false);
                self.reply(Reply::Refused(why));
            }
        }
    }

    /// Starts a run of a program.
    fn start(&self, line: &Rc<dyn Line>, program: Hash, asked: &Asked) -> Result<(), Refusal> {
        let find = |name: &Vec<u8>| {
            let missing = || format!("nothing is exported as {}", String::from_utf8_lossy(name)).into();
            line.find(name).ok_or_else(missing)
        };
        let offers = asked.names.iter().map(find).collect::<Result<Vec<_>, Refusal>>()?;
        let interfaces: Vec<_> = offers.iter().map(|(offer, _)| offer.interface()).collect();
        let ports = Ports::new(self.me.clone(), line.expected(), offers);
        let server = &mut *self.composites.server.borrow_mut();
        server.admit(self.client, Quota { rounds: asked.rounds, ..QUOTA });
        let run = server.start(self.client, program, &asked.table, &interfaces, ports)?;
        self.composites.sessions.borrow_mut().insert(run, self.me.clone());
        self.run.set(Some(run));
        Ok(())
    }

    /// What was stopped goes on, with more rounds, and with other values if there are any.
    fn resume(&self, table: &[u8], rounds: u64) -> Result<(), Refusal> {
        let server = &mut *self.composites.server.borrow_mut();
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

    /// Something has changed for what runs.
    pub(super) fn go_on(&self) {
        if self.goes_on() {
            self.run.get().into_iter().for_each(|run| self.composites.wake(run));
        }
    }

    /// Nothing has stopped that only the client can resume.
    pub(super) fn goes_on(&self) -> bool {
        !self.is_stopped.get()
    }

    /// What became of the run.
    pub(super) fn tell(&self, event: Event<Ports>) {
        match event {
            Event::Ended(table, ports) => {
                self.forget();
                drop(ports);
                self.reply(Reply::Ended(table));
            }
            Event::Stopped(why, table) => {
                self.is_stopped.set(true);
                self.reply(stopped(&why, table));
            }
        }
    }

    fn forget(&self) {
        self.run.take().inspect(|run| self.composites.forget(*run));
    }

    fn reply(&self, reply: Reply) {
        let Some(line) = self.line.upgrade() else { return };
        if !line.peer().has_room(self.handle) {
            let kept = self.composites.keep(self.client, reply.bytes());
            self.owed.replace(Some((reply, kept)));
            return;
        }
        line.peer().reply(&line, self.handle, reply.number(), |out| {
            reply.encode(out);
            Ok(())
        });
        line.send_soon();
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.forget();
    }
}

impl Shipper for Session {
    fn hear(&self, connection: &RefCell<Connection>) -> bool {
        let owed = self.owed.take();
        owed.into_iter().for_each(|(reply, _)| self.reply(reply));
        loop {
            let arrival = connection.borrow_mut().arrival(self.handle);
            let message = match arrival {
                Arrival::Nothing => return true,
                Arrival::Message(message) => message,
                Arrival::Closed | Arrival::Lost(_) => {
                    connection.borrow_mut().close(self.handle);
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
            let (request, _) = connection.borrow_mut().take(self.handle, take);
            let begun = request.map(|request| self.begin(request));
            if let Err(why) = begun {
                connection.borrow_mut().abandon(self.handle, &why);
                return false;
            }
        }
    }
}

fn stopped(why: &Why, table: Vec<u8>) -> Reply {
    let (fault, location) = match why {
        Why::Failed(Failure { fault, location, .. }) => (*fault as i64, i64::from(*location)),
        Why::Budget => (BUDGET, 0),
        Why::Cancelled => (CANCELLED, 0),
    };
    Reply::Stopped { fault, location, why: why.to_string(), table }
}

impl Reply {
    fn number(&self) -> usize {
        match self {
            Reply::Ended(_) => ENDED,
            Reply::Stopped { .. } => STOPPED,
            Reply::Unknown => UNKNOWN,
            Reply::Refused(_) => REFUSED,
        }
    }

    /// Bytes that it takes.
    fn bytes(&self) -> usize {
        match self {
            Reply::Ended(table) => table.len(),
            Reply::Stopped { why, table, .. } => why.len() + table.len(),
            Reply::Unknown => 0,
            Reply::Refused(why) => why.len(),
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Reply::Ended(table) => put_opaque(out, table),
            Reply::Stopped { fault, location, why, table } => {
                put_u64(out, *fault as u64);
                put_u64(out, *location as u64);
                put_opaque(out, why.as_bytes());
                put_opaque(out, table);
            }
            Reply::Unknown => {}
            Reply::Refused(why) => put_opaque(out, why.as_bytes()),
        }
    }
}

/// What a client wants.
enum Request {
    /// A run of this program, which may be a hash.
    Run(Vec<u8>, Asked),
    Resume {
        table: Vec<u8>,
        rounds: u64,
    },
}

/// A run that is asked for.
struct Asked {
    names: Vec<Vec<u8>>,
    table: Vec<u8>,
    rounds: u64,
}

impl Request {
    fn run(bytes: &[u8]) -> Result<Request, String> {
        let mut reader = Reader::new(bytes);
        let program = reader.opaque("program")?.to_vec();
        let names = names(reader.opaque("names")?)?;
        let table = reader.opaque("table")?.to_vec();
        let rounds = rounds(&mut reader)?;
        reader.end()?;
        Ok(Request::Run(program, Asked { names, table, rounds }))
    }

    fn resume(bytes: &[u8]) -> Result<Request, String> {
        let mut reader = Reader::new(bytes);
        let table = reader.opaque("table")?.to_vec();
        let rounds = rounds(&mut reader)?;
        reader.end()?;
        Ok(Request::Resume { table, rounds })
    }
}

fn rounds(reader: &mut Reader<'_>) -> Result<u64, String> {
    let rounds = reader.hyper("rounds")? as i64;
    u64::try_from(rounds).map_err(|_| "rounds is below 0".to_string())
}

/// What the program's communications lead to.
fn names(bytes: &[u8]) -> Result<Vec<Vec<u8>>, String> {
    let mut reader = Reader::new(bytes);
    let mut names = Vec::new();
    let count = reader.word("the number of names")?;
    if count > MOST_NAMES {
        return Err(format!(
            "a program talks over {MOST_NAMES} communications at most, and there are {count}"
        ));
    }
    for _ in 0..count {
        names.push(reader.opaque("a name")?.to_vec());
    }
    reader.end()?;
    Ok(names)
}
