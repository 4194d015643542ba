//! The server's side of composite calls: a cache of programs, the runs of each client, and their scheduling
//! (InterpServer in *composite calls*). The host passes in what clients send, and acts on the outcome of each turn.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::sync::atomic::Ordering;

use drystone_component::Protocol;

use super::check::{Limits, too_long};
use super::prepared::{Executor, Prepared};
use super::program::{Hash, Program, Refusal};
use super::run::{Allowance, Run, Step, Why};
use super::services::Services;
use super::table::VarTable;

/// Instructions of a run's first turn, approximately.
const FIRST: u64 = 1 << 16;

/// Instructions of the longest turn, approximately.
const LONG: u64 = 1 << 21;

/// Limits of a server.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Limits of each program.
    pub limits: Limits,
    /// The size of the program cache in bytes, counted as the programs are in memory. The least recently used ones are
    /// evicted first.
    pub remembered: usize,
    /// Bytes that all clients together may hold, besides [`SMALL`] for each of their runs.
    pub held: usize,
    /// Runs of all clients together.
    pub runs: usize,
    /// Rounds of a turn, at most: see [`InterpServer::lengthen`].
    pub slice: u64,
    /// A number that nobody can guess: see [`Executor::Jit`].
    pub key: u64,
}

/// What one client may use.
#[derive(Clone, Copy, Debug)]
pub struct Quota {
    /// Rounds of loops of all its runs together; [`InterpServer::allow`] adds more.
    pub rounds: u64,
    /// Bytes of texts that each run may hold.
    pub texts: usize,
    /// Bytes that all its runs may hold together, besides [`SMALL`] for each.
    pub held: usize,
    /// Runs at once, those included that have stopped and are kept.
    pub runs: usize,
}

/// Bytes that each run may always hold, so that small runs get by even if a client has used up all other memory.
pub const SMALL: usize = 64 << 10;

/// A client, as its host numbers it.
pub type ClientId = u64;

/// The number of a run. Numbers aren't reused.
pub type RunId = u64;

/// What became of a run.
#[derive(Debug)]
pub enum Event<S> {
    /// It has finished: the values that go back, as XDR, and its communications. The server has forgotten it.
    Ended(Vec<u8>, S),
    /// It has stopped, and these are the values now. It is kept until it is resumed or discarded.
    Stopped(Why, Vec<u8>),
}

/// Runs programs for clients, in turns.
pub struct InterpServer<S> {
    settings: Settings,
    programs: BTreeMap<Hash, Known<S>>,
    /// The programs, by when they were used last.
    by_use: BTreeMap<u64, Hash>,
    /// Bytes of all of them.
    remembered: usize,
    clock: u64,
    clients: BTreeMap<ClientId, Client>,
    /// Clients with runs that can go on.
    turns: VecDeque<ClientId>,
    runs: BTreeMap<RunId, Active<S>>,
    next: RunId,
    /// What all clients hold.
    held: Held,
}

/// What a client holds, or all of them.
#[derive(Clone, Copy, Default)]
struct Held {
    runs: usize,
    /// Besides [`SMALL`] for each run.
    bytes: usize,
}

struct Known<S> {
    prepared: Arc<Prepared<S>>,
    bytes: usize,
    last_used: u64,
    uses: u32,
    /// Compilation hasn't been tried yet.
    may_be_compiled: bool,
}

struct Client {
    quota: Quota,
    held: Held,
    ready: VecDeque<RunId>,
}

struct Active<S> {
    client: ClientId,
    hash: Hash,
    run: Run<S>,
    is_ready: bool,
    /// Bytes that it holds besides [`SMALL`].
    held: usize,
    /// Rounds of its next turn.
    slice: u64,
}

/// After so many uses, a program is compiled to machine code.
const OFTEN: u32 = 3;

impl<S: Services> InterpServer<S> {
    /// A server without programs and clients.
    pub fn new(settings: Settings) -> InterpServer<S> {
        InterpServer {
            settings,
            programs: BTreeMap::new(),
            by_use: BTreeMap::new(),
            remembered: 0,
            clock: 0,
            clients: BTreeMap::new(),
            turns: VecDeque::new(),
            runs: BTreeMap::new(),
            next: 0,
            held: Held::default(),
        }
    }

    /// Decodes a program from untrusted bytes, and caches it under its hash.
    pub fn remember(&mut self, bytes: &[u8]) -> Result<Hash, Refusal> {
        if let Some(refusal) = too_long(bytes.len(), &self.settings.limits) {
            return Err(refusal);
        }
        let hash = Hash::of(bytes);
        if !self.programs.contains_key(&hash) {
            self.add(hash, bytes.len(), Prepared::of(bytes, &self.settings.limits)?);
        }
        Ok(hash)
    }

    /// Caches a program that was prepared elsewhere (which may take long) from so many bytes with this hash.
    pub fn learn(&mut self, hash: Hash, bytes: usize, prepared: Prepared<S>) {
        if !self.programs.contains_key(&hash) {
            self.add(hash, bytes, prepared);
        }
    }

    fn add(&mut self, hash: Hash, bytes: usize, prepared: Prepared<S>) {
        self.clock += 1;
        let bytes = bytes + prepared.bytes();
        self.remembered += bytes;
        let prepared = Arc::new(prepared);
        let known = Known { prepared, bytes, last_used: self.clock, uses: 0, may_be_compiled: true };
        self.programs.insert(hash, known);
        self.by_use.insert(self.clock, hash);
        self.forget_some();
    }

    /// The program with a hash, if it is cached; else the client has to send it.
    pub fn program(&self, hash: Hash) -> Option<&Program> {
        self.programs.get(&hash).map(|known| known.prepared.program())
    }

    /// Bytes that cached programs take.
    pub fn remembered(&self) -> usize {
        self.remembered
    }

    /// Compiles a program to machine code, unless it is or can't be. May evict other programs.
    fn compile(&mut self, hash: Hash) {
        if let Some(known) = self.programs.get_mut(&hash) {
            self.remembered += known.compile(self.settings.key);
            self.forget_some();
        }
    }

    /// Evicts the least recently used programs, keeping one.
    fn forget_some(&mut self) {
        while self.remembered > self.settings.remembered && self.programs.len() > 1 {
            let Some((_, oldest)) = self.by_use.pop_first() else { return };
            if let Some(known) = self.programs.remove(&oldest) {
                self.remembered -= known.bytes;
            }
        }
    }

    /// Admits a client, or changes its quota.
    pub fn admit(&mut self, client: ClientId, quota: Quota) {
        let known = self.clients.entry(client);
        known.or_insert_with(|| Client { quota, held: Held::default(), ready: VecDeque::new() }).quota =
            quota;
    }

    /// Whether bytes may be reserved for a client: for a program that isn't prepared yet, say, or for values that the
    /// client hasn't taken. A reservation counts as a run. The error says which limit it would exceed.
    pub fn may_keep(&self, client: ClientId, bytes: usize) -> Result<(), Refusal> {
        let client = self.clients.get(&client).ok_or("the server doesn't know this client")?;
        let (most, all) = (&client.quota, &self.settings);
        let more = bytes.saturating_sub(SMALL);
        if client.held.runs >= most.runs {
            let most = most.runs;
            return Err(format!("a client may have {most} runs at once; discard one that has stopped").into());
        }
        if self.held.runs >= all.runs {
            return Err(format!("the server has {} runs, and may have no more", all.runs).into());
        }
        if more > most.held.saturating_sub(client.held.bytes) {
            return Err(format!("the client's runs may hold {} bytes together", most.held).into());
        }
        if more > all.held.saturating_sub(self.held.bytes) {
            return Err(format!("the server holds {} bytes for runs, and may hold no more", all.held).into());
        }
        Ok(())
    }

    /// Reserves bytes for a client, as [`InterpServer::may_keep`] has allowed.
    pub fn keep(&mut self, client: ClientId, bytes: usize) {
        self.hold(client, |held| {
            held.runs += 1;
            held.bytes += bytes.saturating_sub(SMALL);
        });
    }

    /// Ends a reservation of so many bytes.
    pub fn give_up(&mut self, client: ClientId, bytes: usize) {
        self.hold(client, |held| {
            held.runs -= 1;
            held.bytes -= bytes.saturating_sub(SMALL);
        });
    }

    /// Changes what is counted for a client, and for all together.
    fn hold(&mut self, client: ClientId, change: impl Fn(&mut Held)) {
        // The reservations of a removed client ended with it.
        let Some(client) = self.clients.get_mut(&client) else { return };
        change(&mut client.held);
        change(&mut self.held);
    }

    /// Sets how much a run may hold: what its client, and all together, have left.
    fn limit(&mut self, run: RunId) {
        let Some(active) = self.runs.get_mut(&run) else { return };
        let Some(client) = self.clients.get(&active.client) else { return };
        let left = |most: usize, held: Held| (most + active.held).saturating_sub(held.bytes);
        let left = left(client.quota.held, client.held).min(left(self.settings.held, self.held));
        let (_, others) = active.run.bytes();
        active.run.limit_texts(client.quota.texts.min((SMALL + left).saturating_sub(others)));
    }

    /// Updates what is counted for a run.
    fn count(&mut self, run: RunId) {
        let Some(active) = self.runs.get_mut(&run) else { return };
        let (texts, others) = active.run.bytes();
        let now = (texts + others).saturating_sub(SMALL);
        let before = core::mem::replace(&mut active.held, now);
        let client = active.client;
        self.hold(client, |held| held.bytes = held.bytes + now - before);
    }

    /// Allows a client so many more rounds.
    pub fn allow(&mut self, client: ClientId, rounds: u64) {
        if let Some(client) = self.clients.get_mut(&client) {
            client.quota.rounds = client.quota.rounds.saturating_add(rounds);
        }
    }

    /// Removes a client with all its runs. Returns their communications.
    pub fn dismiss(&mut self, client: ClientId) -> Vec<S> {
        if let Some(Client { held, .. }) = self.clients.remove(&client) {
            self.held.runs -= held.runs;
            self.held.bytes -= held.bytes;
        }
        self.turns.retain(|it| *it != client);
        let gone = self.runs.extract_if(.., |_, active| active.client == client);
        gone.map(|(_, active)| active.run.into_parts().1).collect()
    }

    /// Begins a run of a cached program, with the values that the client sent, over communications of these interfaces.
    pub fn start<P: Protocol>(
        &mut self,
        client: ClientId,
        hash: Hash,
        values: &[u8],
        interfaces: &[&P],
        services: S,
    ) -> Result<RunId, Refusal> {
        self.may_keep(client, values.len())?;
        let texts = self.clients[&client].quota.texts;
        let known = self.programs.get_mut(&hash);
        let known =
            known.ok_or_else(|| format!("the program {hash} isn't known here any more; send it again"))?;
        known.prepared.program().check_interfaces(interfaces)?;
        self.clock += 1;
        self.by_use.remove(&known.last_used);
        self.by_use.insert(self.clock, hash);
        (known.last_used, known.uses) = (self.clock, known.uses.saturating_add(1));
        if known.uses == OFTEN {
            self.compile(hash);
        }
        // It was just used, so it isn't evicted.
        let prepared = self.programs[&hash].prepared.clone();
        let mut table = VarTable::new(prepared.layout().clone());
        table.decode_in(values)?;
        let allowance = Allowance { rounds: 0, texts };
        let slice = self.settings.slice.min(FIRST / prepared.round()).max(1);
        let run = Run::new(prepared, table, services, allowance)?;
        let (texts, others) = run.bytes();
        self.may_keep(client, texts + others)?;
        self.keep(client, texts + others);
        let (id, held) = (self.next, (texts + others).saturating_sub(SMALL));
        self.next += 1;
        self.runs.insert(id, Active { client, hash, run, is_ready: false, held, slice });
        self.wake(id);
        Ok(id)
    }

    /// Wakes a run: something has changed that it may be waiting for.
    pub fn wake(&mut self, run: RunId) {
        let Some(active) = self.runs.get_mut(&run).filter(|active| !active.is_ready) else { return };
        let Some(client) = self.clients.get_mut(&active.client) else { return };
        active.is_ready = true;
        if client.ready.is_empty() {
            self.turns.push_back(active.client);
        }
        client.ready.push_back(run);
    }

    /// Has a run stop at its next turn. It can still be resumed.
    pub fn cancel(&mut self, run: RunId) {
        if let Some(active) = self.runs.get_mut(&run) {
            active.run.cancel_flag().store(true, Ordering::Relaxed);
            self.wake(run);
        }
    }

    /// Resumes a run that has stopped.
    pub fn resume(&mut self, run: RunId) {
        if let Some(active) = self.runs.get_mut(&run) {
            active.run.cancel_flag().store(false, Ordering::Relaxed);
            self.count(run);
            self.wake(run);
        }
    }

    /// A run: its variables and communications can be looked at, and changed.
    pub fn run(&mut self, run: RunId) -> Option<&mut Run<S>> {
        self.limit(run);
        self.runs.get_mut(&run).map(|active| &mut active.run)
    }

    /// The client of a run.
    pub fn client_of(&self, run: RunId) -> Option<ClientId> {
        self.runs.get(&run).map(|active| active.client)
    }

    /// Ends a run wherever it is. Returns its communications.
    pub fn discard(&mut self, run: RunId) -> Option<S> {
        let active = self.runs.remove(&run)?;
        if let Some(client) = self.clients.get_mut(&active.client) {
            client.ready.retain(|it| *it != run);
            if client.ready.is_empty() {
                self.turns.retain(|it| *it != active.client);
            }
        }
        self.hold(active.client, |held| {
            held.runs -= 1;
            held.bytes -= active.held;
        });
        Some(active.run.into_parts().1)
    }

    /// Whether no run can continue.
    pub fn is_idle(&self) -> bool {
        self.turns.is_empty()
    }

    /// Gives a slice to one run of the client whose turn it is. Returns that run, and the event if it has finished or
    /// stopped. `None` if no run can continue.
    pub fn turn(&mut self) -> Option<(RunId, Option<Event<S>>)> {
        let id = self.turns.pop_front()?;
        let client = self.clients.get_mut(&id)?;
        let run = client.ready.pop_front()?;
        if !client.ready.is_empty() {
            self.turns.push_back(id);
        }
        Some((run, self.go_on(run)))
    }

    /// Wakes a run, and gives it a slice at once, before its turn: it has only waited, while others computed.
    pub fn turn_of(&mut self, run: RunId) -> Option<Event<S>> {
        let active = self.runs.get_mut(&run)?;
        if active.is_ready {
            let id = active.client;
            let client = self.clients.get_mut(&id)?;
            client.ready.retain(|it| *it != run);
            if client.ready.is_empty() {
                self.turns.retain(|it| *it != id);
            }
        }
        self.go_on(run)
    }

    /// Shortens the next turns of a run: its last one took too long by the host's clock.
    pub fn shorten(&mut self, run: RunId) {
        if let Some(active) = self.runs.get_mut(&run) {
            active.slice = (active.slice / 2).max(1);
        }
    }

    /// Lengthens the next turns of a run, if it has used up its last one: else nothing is known of how long a whole
    /// turn takes.
    pub fn lengthen(&mut self, run: RunId) {
        if let Some(active) = self.runs.get_mut(&run).filter(|active| active.is_ready) {
            let most = self.settings.slice.min(LONG / active.run.prepared().round()).max(1);
            active.slice = (active.slice * 2).min(most);
        }
    }

    /// Gives a slice to a run that isn't queued.
    fn go_on(&mut self, run: RunId) -> Option<Event<S>> {
        self.limit(run);
        let active = self.runs.get_mut(&run)?;
        let id = active.client;
        let client = self.clients.get_mut(&id)?;
        let slice = active.slice;
        let given = client.quota.rounds.min(slice.saturating_add(active.run.debt()));
        active.run.allow(given);
        let step = active.run.resume(slice);
        client.quota.rounds -= given - active.run.take_rounds();
        let has_more = match step {
            Step::Yields => true,
            Step::Stopped(Why::Budget) => client.quota.rounds > 0,
            _ => false,
        };
        active.is_ready = has_more;
        if has_more {
            if client.ready.is_empty() {
                self.turns.push_back(id);
            }
            client.ready.push_back(run);
            // A long run: compile its program.
            let hash = active.hash;
            self.compile(hash);
            if let (Some(known), Some(active)) = (self.programs.get(&hash), self.runs.get_mut(&run)) {
                let _ = active.run.go_on_with(known.prepared.clone());
            }
        }
        self.count(run);
        let active = self.runs.get_mut(&run)?;
        match step {
            Step::Waits => None,
            _ if has_more => None,
            Step::Ended => {
                let values = active.run.encode_out();
                self.discard(run).map(|services| Event::Ended(values, services))
            }
            Step::Stopped(why) => Some(Event::Stopped(why, active.run.encode_out())),
            Step::Yields => None,
        }
    }
}

impl<S: Services> Known<S> {
    /// Compiles it. Returns how many bytes more it takes then.
    fn compile(&mut self, key: u64) -> usize {
        if self.may_be_compiled && self.prepared.is_interpreted() {
            self.may_be_compiled = false;
            if let Ok(Some(compiled)) = self.prepared.with(Executor::Jit(key)) {
                let more = compiled.bytes().saturating_sub(self.prepared.bytes());
                self.prepared = Arc::new(compiled);
                self.bytes += more;
                return more;
            }
        }
        0
    }
}
