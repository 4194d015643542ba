//! Runs of programs: each call of [`Run::resume`] runs one for a slice; in between it is a plain value.

use alloc::boxed::Box;
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::sync::atomic::{AtomicBool, Ordering};

use super::helpers::WAITS;
use super::host::{Failure, Host, Texts};
use super::prepared::{Body, Prepared};
use super::program::{Code, Refusal};
use super::services::Services;
use super::table::VarTable;
use super::value::Value;
use super::walk::{Halt, Position, Walk};
use crate::engine::{Context, Memory, State, Stop};

/// What a run may use.
#[derive(Clone, Copy, Debug)]
pub struct Allowance {
    /// Rounds of loops. A call costs one too, and so does work on 64 bytes of texts.
    pub rounds: u64,
    /// Bytes of texts that it may hold at once.
    pub texts: usize,
}

/// How a slice ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A call can't be done yet. Resume it when something has changed.
    Waits,
    /// Its slice is used up.
    Yields,
    /// It has finished.
    Ended,
    /// It has stopped, but can be resumed: after an error it repeats the failed command, with the variables' values of
    /// then.
    Stopped(Why),
}

/// Why a run has stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// An error.
    Failed(Failure),
    /// Its rounds are used up.
    Budget,
    /// Somebody cancelled it.
    Cancelled,
}

/// For people. Without the location, which means something to the program's author alone.
impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Why::Failed(Failure { fault, detail, .. }) if detail.is_empty() => write!(f, "{fault}"),
            Why::Failed(Failure { fault, detail, .. }) => write!(f, "{fault}: {detail}"),
            Why::Budget => f.write_str("its budget is spent"),
            Why::Cancelled => f.write_str("it was cancelled"),
        }
    }
}

/// An execution of a program: its variables, its communications and its position.
pub struct Run<S> {
    prepared: Arc<Prepared<S>>,
    memory: Memory,
    host: Host<S>,
    place: Place,
    /// What is left of its rounds.
    rounds: u64,
    cancelled: Arc<AtomicBool>,
    has_ended: bool,
}

/// The position of a run.
enum Place {
    Tree(Vec<Position>),
    /// Whether it continues behind the call that reported an error.
    Bytecode(Box<State>, bool),
}

impl<S: Services> Run<S> {
    /// A run at the program's beginning. The table must have the program's layout ([`Prepared::layout`]), and its texts
    /// fit the allowance.
    pub fn new(
        prepared: Arc<Prepared<S>>,
        table: VarTable,
        services: S,
        allowance: Allowance,
    ) -> Result<Run<S>, Refusal> {
        let VarTable { layout, memory, texts } = table;
        if !Arc::ptr_eq(&layout, &prepared.layout) {
            return Err("the variable table is another program's".into());
        }
        let texts = Texts::new(texts, allowance.texts);
        if texts.are_too_many() {
            let most = allowance.texts;
            return Err(format!(
                "the texts in the variable table have more than the {most} bytes that are allowed"
            )
            .into());
        }
        let place = match prepared.body {
            Body::Tree => Place::Tree(Vec::new()),
            Body::Bytecode(..) => {
                let arguments = [Memory::BEGIN, memory.size() as u64, 0, 0, 0];
                Place::Bytecode(Box::new(State::new(arguments, 0)), false)
            }
        };
        let host = Host::new(services, texts, prepared.calls.clone());
        let (rounds, cancelled) = (allowance.rounds, Arc::default());
        Ok(Run { prepared, memory, host, place, rounds, cancelled, has_ended: false })
    }

    /// Runs for at most so many rounds, and at least one. Its debt is paid first, for time that has already passed.
    pub fn resume(&mut self, slice: u64) -> Step {
        if self.has_ended {
            return Step::Ended;
        }
        if self.cancelled.load(Ordering::Relaxed) {
            return Step::Stopped(Why::Cancelled);
        }
        let paid = self.host.debt.min(self.rounds);
        self.rounds -= paid;
        self.host.debt -= paid;
        if self.rounds == 0 {
            return Step::Stopped(Why::Budget);
        }
        let given = self.rounds.min(slice.max(1));
        let (left, halt) = self.go_on(given);
        self.rounds -= given - left;
        match halt {
            Halt::Waits => Step::Waits,
            Halt::Budget if self.rounds > 0 => Step::Yields,
            Halt::Budget => Step::Stopped(Why::Budget),
            Halt::Cancelled => Step::Stopped(Why::Cancelled),
            Halt::Failed(failure) => Step::Stopped(Why::Failed(failure)),
            Halt::Ended => {
                self.has_ended = true;
                Step::Ended
            }
        }
    }

    fn go_on(&mut self, given: u64) -> (u64, Halt) {
        let Run { prepared, memory, host, place, cancelled, .. } = self;
        match (place, &prepared.body, &prepared.program().code) {
            (Place::Tree(positions), _, Code::Tree(tree)) => {
                let layout = &prepared.layout;
                let mut walk = Walk { host, memory, layout, positions, budget: given, made: 0, cancelled };
                let halt = walk.command(tree).err().unwrap_or(Halt::Ended);
                (walk.budget, halt)
            }
            (Place::Bytecode(state, is_behind), Body::Bytecode(_, engine), _) => {
                if core::mem::take(is_behind) {
                    state.answer(0);
                }
                state.set_budget(given);
                let mut context = Context::new((**state).clone(), memory, host).cancelled_by(cancelled);
                let result = engine.run(&mut context);
                (**state).clone_from(context.state());
                let halt = match result {
                    Ok(_) => Halt::Ended,
                    Err(Stop::Budget) => Halt::Budget,
                    Err(Stop::Cancelled) => Halt::Cancelled,
                    Err(Stop::Helper(WAITS)) => Halt::Waits,
                    Err(stop) => match host.failure.take() {
                        Some(failure) => {
                            *is_behind = core::mem::take(&mut host.goes_on_behind);
                            Halt::Failed(failure)
                        }
                        None => Halt::Failed(Failure::of_engine(stop)),
                    },
                };
                (state.budget(), halt)
            }
            _ => unreachable!("a run is where its program's form has places"),
        }
    }

    /// Moves the run to another engine. Fails if that one has another program.
    pub fn go_on_with(&mut self, prepared: Arc<Prepared<S>>) -> Result<(), Refusal> {
        match (&self.prepared.body, &prepared.body) {
            (Body::Bytecode(mine, _), Body::Bytecode(other, _)) if Arc::ptr_eq(mine, other) => {
                self.prepared = prepared;
                Ok(())
            }
            _ => Err("a run can go on only with the program that it began with".into()),
        }
    }
}

impl<S> Run<S> {
    /// The program.
    pub fn prepared(&self) -> &Arc<Prepared<S>> {
        &self.prepared
    }

    /// Allows so many more rounds.
    pub fn allow(&mut self, rounds: u64) {
        self.rounds = self.rounds.saturating_add(rounds);
    }

    /// What is left of its allowance.
    pub fn rounds(&self) -> u64 {
        self.rounds.saturating_sub(self.host.debt)
    }

    /// Rounds that it has used beyond its allowance.
    pub(super) fn debt(&self) -> u64 {
        self.host.debt
    }

    /// Bytes that it takes, approximately: of its texts, and of everything else, the program included.
    pub(super) fn bytes(&self) -> (usize, usize) {
        let slots = size_of_val(&*self.host.texts.slots);
        let others =
            size_of::<Run<S>>() + size_of::<State>() + slots + self.memory.bytes() + self.prepared.bytes();
        (self.host.texts.bytes(), others)
    }

    /// Changes how many bytes of texts it may hold.
    pub(super) fn limit_texts(&mut self, most: usize) {
        self.host.texts.most = most;
    }

    /// Takes back what is left of its rounds. Its debt remains.
    pub(super) fn take_rounds(&mut self) -> u64 {
        core::mem::take(&mut self.rounds)
    }

    /// The flag that cancels the run. Any thread may set it. The run stops soon after, and whenever it is resumed while
    /// the flag is set.
    pub fn cancel_flag(&self) -> &Arc<AtomicBool> {
        &self.cancelled
    }

    /// The value of a variable, or of an element of an array, as it is now.
    pub fn get(&self, variable: u32, index: u32) -> Option<Value> {
        super::table::get(&self.prepared.layout, &self.memory, &self.host.texts.slots, variable, index)
    }

    /// Changes the value of a variable, or of an element of an array.
    pub fn set(&mut self, variable: u32, index: u32, value: Value) -> Result<(), Refusal> {
        let cell = self.prepared.layout.find(variable, index, value.ty())?;
        match value {
            Value::Text(text) => {
                let set = self.host.texts.set(cell.place as u64, text);
                set.map_err(|fault| Refusal(format!("{fault}: the text is too long")))
            }
            other => {
                super::table::set_word(&mut self.memory, cell.place, other.word());
                Ok(())
            }
        }
    }

    /// The values that come back, as XDR, as they are now.
    pub fn encode_out(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let which = super::Variable::travels_out;
        super::table::encode(&self.prepared.layout, &self.memory, &self.host.texts.slots, which, &mut out);
        out
    }

    /// Its communications.
    pub fn services(&mut self) -> &mut S {
        &mut self.host.services
    }

    /// Ends the run. Returns its variables and its communications.
    pub fn into_parts(self) -> (VarTable, S) {
        let Run { prepared, memory, host, .. } = self;
        (VarTable { layout: prepared.layout.clone(), memory, texts: host.texts.slots }, host.services)
    }
}

impl Failure {
    /// What the verifier's contract excludes.
    fn of_engine(stop: Stop) -> Failure {
        let fault = super::Fault::AssertionFailed;
        Failure { fault, location: 0, detail: format!("{stop}") }
    }
}
