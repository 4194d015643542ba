//! The server's side of composite calls (the paper's InterpServer): programs that it remembers, the runs of its
//! clients, and whose turn it is. The host brings what clients send, and acts on what each turn gives.

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

/// Instructions of a run's first turn, about.
const FIRST: u64 = 1 << 16;

/// Instructions of a turn, at most, about.
const LONG: u64 = 1 << 21;

/// How a server goes about.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// What no program may exceed.
    pub limits: Limits,
    /// Bytes that programs may take which are remembered, as they are then; those that nobody used for longest are
    /// forgotten first.
    pub remembered: usize,
    /// Bytes that all clients together may hold, besides [`SMALL`] for each of their runs.
    pub held: usize,
    /// Runs of all clients.
    pub runs: usize,
    /// Rounds of a turn, at most: see [`InterpServer::lengthen`].
    pub slice: u64,
    /// A number that nobody can guess: see [`Executor::Jit`].
    pub key: u64,
}

/// What one client may have.
#[derive(Clone, Copy, Debug)]
pub struct Quota {
    /// Rounds of all its runs together; [`InterpServer::allow`] gives more.
    pub rounds: u64,
    /// Bytes of texts that each run may hold.
    pub texts: usize,
    /// Bytes that all its runs may hold together, besides [`SMALL`] for each.
    pub held: usize,
    /// Runs at once, those included that have stopped and are kept.
    pub runs: usize,
}

/// Bytes that each run may hold, whatever others do: so who holds all that there is doesn't keep others from what is
/// small.
pub const SMALL: usize = 64 << 10;

/// A client, as its host numbers it.
pub type ClientId = u64;

/// A run, numbered from 0; numbers aren't used again.
pub type RunId = u64;

/// What became of a run.
#[derive(Debug)]
pub enum Event<S> {
    /// It has done all: the values that come back, as XDR, and its communications. It is gone.
    Ended(Vec<u8>, S),
    /// It has stopped, with such values now. It is kept, until it is resumed or discarded.
    Stopped(Why, Vec<u8>),
}

/// Runs programs for clients, in turns.
pub struct InterpServer<S> {
    settings: Settings,
    programs: BTreeMap<Hash, Known<S>>,
    /// Those, by when they were used last.
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
    /// That has not been tried yet.
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

/// A program that is used so often is compiled to the machine's code.
const OFTEN: u32 = 3;

impl<S: Services> InterpServer<S> {
    /// A server that knows nothing.
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

    /// Takes a program, out of bytes that may be anything, and remembers it by its hash.
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

    /// The same, of what has been prepared of so many bytes with this hash: elsewhere, where it takes long.
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

    /// The program with a hash, if it is remembered; else the client has to send it.
    pub fn program(&self, hash: Hash) -> Option<&Program> {
        self.programs.get(&hash).map(|known| known.prepared.program())
    }

    /// Bytes that the programs take which are remembered.
    pub fn remembered(&self) -> usize {
        self.remembered
    }

    /// Has a program compiled to the machine's code, if it isn't, and as far as that is possible. Others are forgotten
    /// for it.
    fn compile(&mut self, hash: Hash) {
        if let Some(known) = self.programs.get_mut(&hash) {
            self.remembered += known.compile(self.settings.key);
            self.forget_some();
        }
    }

    /// But the last one stays.
    fn forget_some(&mut self) {
        while self.remembered > self.settings.remembered && self.programs.len() > 1 {
            let Some((_, oldest)) = self.by_use.pop_first() else { return };
            if let Some(known) = self.programs.remove(&oldest) {
                self.remembered -= known.bytes;
            }
        }
    }

    /// A client comes, or has another quota from now on.
    pub fn admit(&mut self, client: ClientId, quota: Quota) {
        let known = self.clients.entry(client);
        known.or_insert_with(|| Client { quota, held: Held::default(), ready: VecDeque::new() }).quota =
            quota;
    }

    /// A client that has been admitted wants so many bytes kept for it, such as a program that isn't prepared yet, or
    /// values that it hasn't taken: that counts as a run. It is refused if the client, or all of them, would hold too
    /// much.
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

    /// So many bytes are kept for a client from now on.
    pub fn keep(&mut self, client: ClientId, bytes: usize) {
        self.hold(client, |held| {
            held.runs += 1;
            held.bytes += bytes.saturating_sub(SMALL);
        });
    }

    /// They are kept no more.
    pub fn give_up(&mut self, client: ClientId, bytes: usize) {
        self.hold(client, |held| {
            held.runs -= 1;
            held.bytes -= bytes.saturating_sub(SMALL);
        });
    }

    /// Changes what a client holds, and all of them.
    fn hold(&mut self, client: ClientId, change: impl Fn(&mut Held)) {
        // What a client held that has gone was given up with it.
        let Some(client) = self.clients.get_mut(&client) else { return };
        change(&mut client.held);
        change(&mut self.held);
    }

    /// A run may hold as much as its client, and all of them, have left.
    fn limit(&mut self, run: RunId) {
        let Some(active) = self.runs.get_mut(&run) else { return };
        let Some(client) = self.clients.get(&active.client) else { return };
        let left = |most: usize, held: Held| (most + active.held).saturating_sub(held.bytes);
        let left = left(client.quota.held, client.held).min(left(self.settings.held, self.held));
        let (_, others) = active.run.bytes();
        active.run.limit_texts(client.quota.texts.min((SMALL + left).saturating_sub(others)));
    }

    /// Counts what a run holds.
    fn count(&mut self, run: RunId) {
        let Some(active) = self.runs.get_mut(&run) else { return };
        let (texts, others) = active.run.bytes();
        let now = (texts + others).saturating_sub(SMALL);
        let before = core::mem::replace(&mut active.held, now);
        let client = active.client;
        self.hold(client, |held| held.bytes = held.bytes + now - before);
    }

    /// A client may use so many rounds more.
    pub fn allow(&mut self, client: ClientId, rounds: u64) {
        if let Some(client) = self.clients.get_mut(&client) {
            client.quota.rounds = client.quota.rounds.saturating_add(rounds);
        }
    }

    /// A client has gone, and all its runs with it: gives their communications.
    pub fn dismiss(&mut self, client: ClientId) -> Vec<S> {
        if let Some(Client { held, .. }) = self.clients.remove(&client) {
            self.held.runs -= held.runs;
            self.held.bytes -= held.bytes;
        }
        self.turns.retain(|it| *it != client);
        let gone = self.runs.extract_if(.., |_, active| active.client == client);
        gone.map(|(_, active)| active.run.into_parts().1).collect()
    }

    /// Begins a run of a program that is remembered, with the values that the client sent, over communications of such
    /// interfaces.
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
        // It was just used, so it isn't forgotten.
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

    /// Something has changed that a run may have waited for.
    pub fn wake(&mut self, run: RunId) {
        let Some(active) = self.runs.get_mut(&run).filter(|active| !active.is_ready) else { return };
        let Some(client) = self.clients.get_mut(&active.client) else { return };
        active.is_ready = true;
        if client.ready.is_empty() {
            self.turns.push_back(active.client);
        }
        client.ready.push_back(run);
    }

    /// Has a run stop at its next turn. It may be resumed nevertheless.
    pub fn cancel(&mut self, run: RunId) {
        if let Some(active) = self.runs.get_mut(&run) {
            active.run.cancel_flag().store(true, Ordering::Relaxed);
            self.wake(run);
        }
    }

    /// Has a run go on that has stopped.
    pub fn resume(&mut self, run: RunId) {
        if let Some(active) = self.runs.get_mut(&run) {
            active.run.cancel_flag().store(false, Ordering::Relaxed);
            self.count(run);
            self.wake(run);
        }
    }

    /// A run, to look at its variables or to change them, or its communications.
    pub fn run(&mut self, run: RunId) -> Option<&mut Run<S>> {
        self.limit(run);
        self.runs.get_mut(&run).map(|active| &mut active.run)
    }

    /// Whose run it is.
    pub fn client_of(&self, run: RunId) -> Option<ClientId> {
        self.runs.get(&run).map(|active| active.client)
    }

    /// Ends a run wherever it is: gives its communications.
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

    /// Whether nothing can go on.
    pub fn is_idle(&self) -> bool {
        self.turns.is_empty()
    }

    /// One run of the client whose turn it is goes on for a slice. Gives which one, and what became of it, if it isn't
    /// to have another turn or waits. None if nothing can go on.
    pub fn turn(&mut self) -> Option<(RunId, Option<Event<S>>)> {
        let id = self.turns.pop_front()?;
        let client = self.clients.get_mut(&id)?;
        let run = client.ready.pop_front()?;
        if !client.ready.is_empty() {
            self.turns.push_back(id);
        }
        Some((run, self.go_on(run)))
    }

    /// Something has changed that a run may have waited for: it goes on for a slice before it is its turn, because it
    /// has only waited, while others compute.
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

    /// A run's last turn took too long by the host's clock: the next ones are shorter.
    pub fn shorten(&mut self, run: RunId) {
        if let Some(active) = self.runs.get_mut(&run) {
            active.slice = (active.slice / 2).max(1);
        }
    }

    /// A run's turns may be longer. Only one that has used the last one up shows how long they take.
    pub fn lengthen(&mut self, run: RunId) {
        if let Some(active) = self.runs.get_mut(&run).filter(|active| active.is_ready) {
            let most = self.settings.slice.min(LONG / active.run.prepared().round()).max(1);
            active.slice = (active.slice * 2).min(most);
        }
    }

    /// A slice for a run that isn't among those which are ready.
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
            // It takes long.
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
    /// Has it compiled, and gives how many bytes more it takes.
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
