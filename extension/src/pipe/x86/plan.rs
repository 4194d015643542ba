//! Plans the stages of the loop, through which a unit of data goes.
//!
//! Neighbouring pipes that can be vectorised are one stage: each vector goes through all of them in its register. Any
//! other pipe is a stage of its own, which reads words in order from memory; they are in the first-level cache, because
//! the stage before has just written them.

use alloc::{vec, vec::Vec};

use super::forms::{Form, Output, form};
use crate::pipe::body::{Body, Operation};
use crate::pipe::code::{MOST_UNIT, SHORTEST};
use crate::pipe::{Features, Gauge, Mode, Pipe, Pipes, Stride, Vectors};

/// The source or the destination of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Where {
    Source,
    Destination,
    /// One of two buffers in the frame.
    Buffer(u8),
}

/// A stage of the loop, for each unit.
#[derive(Debug)]
pub(super) struct Stage {
    pub kind: Kind,
    pub from: Where,
    pub to: Option<Where>,
    /// Bytes of input.
    pub bytes: usize,
}

#[derive(Debug)]
pub(super) enum Kind {
    /// These pipes, on vectors. No pipes: a copy.
    Vectors(Vec<usize>),
    /// One pipe, on words of this gauge; and a body in place of its own.
    Words(usize, Gauge, Option<Body>),
}

/// The plan of the loop.
#[derive(Debug)]
pub(super) struct Plan {
    pub stages: Vec<Stage>,
    /// Of each pipe; `None`: it isn't vectorised.
    pub forms: Vec<Option<Form>>,
    /// Bytes of a vector; 8 where general registers take the place of vectors.
    pub vector: usize,
    /// Bytes of the source in a unit.
    pub unit: usize,
    /// Bytes of the output of a unit.
    pub out: usize,
    /// How many units are processed in a round.
    pub units: usize,
    pub source: Option<Stride>,
    pub destination: Option<Stride>,
}

/// Bytes of a unit with stages of words.
const UNIT_OF_WORDS: usize = 64;
/// Bytes of a buffer.
pub(super) const BUFFER: usize = 256;

impl Plan {
    pub fn new(list: &Pipes, mode: Mode, features: Features) -> Plan {
        Plan::with(list, mode, features.vectors, UNIT_OF_WORDS)
    }

    /// The plan for data behind the last whole unit: with the shortest units, in general registers. `None` if data has
    /// gaps or its length changes.
    pub fn narrow(list: &Pipes, mode: Mode) -> Option<Plan> {
        let has_gaps = [list.source, list.destination].into_iter().flatten().any(|it| it.gap != 0);
        let is_plain = !has_gaps && !list.pipes.iter().any(Pipe::changes_length);
        is_plain.then(|| Plan::with(list, mode, Vectors::None, SHORTEST))
    }

    fn with(list: &Pipes, mode: Mode, vectors: Vectors, unit_of_words: usize) -> Plan {
        let vector = match vectors {
            Vectors::None => 8,
            Vectors::Bits128 => 16,
            Vectors::Bits256 => 32,
        };
        let pipes = &list.pipes;
        let forms: Vec<Option<Form>> = pipes.iter().map(|pipe| form(pipe, vectors)).collect();
        let does = |pipe: &Pipe| pipe.modifies() || !pipe.body.steps.is_empty();
        let has_words = pipes.iter().zip(&forms).any(|(pipe, form)| does(pipe) && form.is_none());
        let change = pipes.iter().find(|it| it.changes_length());
        let mut unit = match change {
            Some(pipe) => vector * (pipe.input.bytes() / pipe.output.bytes()).max(1),
            None if has_words => unit_of_words,
            None => vector,
        };
        let mut strides = [list.source, list.destination].map(|it| it.filter(|it| it.gap != 0));
        if let Some(strided) = direct(strides, unit, change.is_some(), vectors) {
            unit = strided;
        } else {
            strides = [None; 2];
        }
        let mut plan = Plan {
            stages: Vec::new(),
            forms,
            vector,
            unit,
            out: change.map_or(unit, |pipe| unit / pipe.input.bytes() * pipe.output.bytes()),
            units: 1,
            source: strides[0],
            destination: strides[1],
        };
        plan.lay(pipes, mode, does);
        let steps: usize = pipes.iter().map(|pipe| pipe.body.steps.len()).sum();
        if !has_words {
            plan.units = ((8 * vector / unit).max(1)).min(64 / (steps + 1)).max(1);
        }
        plan
    }

    fn lay(&mut self, pipes: &[Pipe], mode: Mode, does: impl Fn(&Pipe) -> bool) {
        let mut kinds: Vec<Kind> = Vec::new();
        for (at, pipe) in pipes.iter().enumerate().filter(|(_, pipe)| does(pipe)) {
            match (&self.forms[at], kinds.last_mut()) {
                (Some(_), Some(Kind::Vectors(all))) => all.push(at),
                (Some(_), _) => kinds.push(Kind::Vectors(vec![at])),
                (None, _) => {
                    let (gauge, body) =
                        wide_crc(pipe).map_or((pipe.input, None), |it| (Gauge::Bits64, Some(it)));
                    kinds.push(Kind::Words(at, gauge, body));
                }
            }
        }
        let is_strided = self.source.is_some() || self.destination.is_some();
        let is_words = |kind: Option<&Kind>| matches!(kind, Some(Kind::Words(..)));
        if self.source.is_some() && is_words(kinds.first()) {
            kinds.insert(0, Kind::Vectors(Vec::new()));
        }
        let modifies = |kind: &Kind| match kind {
            Kind::Vectors(all) => all.iter().any(|&at| pipes[at].modifies()),
            Kind::Words(at, ..) => pipes[*at].modifies(),
        };
        let mut last = kinds.iter().rposition(modifies);
        if mode == Mode::Write {
            // The stage that writes to the destination: the last one that modifies words, or one behind it that can
            // copy.
            let behind = last.map_or(0, |last| last);
            let can = |kind: &Kind| matches!(kind, Kind::Vectors(_)) || modifies(kind);
            last = (behind..kinds.len()).find(|&at| can(&kinds[at]));
            if last.is_none() || self.destination.is_some() && is_words(last.map(|at| &kinds[at])) {
                kinds.push(Kind::Vectors(Vec::new()));
                last = Some(kinds.len() - 1);
            }
        }
        let mut from = Where::Source;
        let mut bytes = self.unit;
        let count = kinds.len();
        for (at, kind) in kinds.into_iter().enumerate() {
            let change = match &kind {
                Kind::Vectors(all) => all.iter().map(|&at| &pipes[at]).find(|it| it.changes_length()),
                Kind::Words(at, ..) => Some(&pipes[*at]).filter(|it| it.changes_length()),
            };
            let buffer = match from {
                // A buffer can't be overwritten while words of another width are read from it.
                Where::Buffer(0) if change.is_some() => Where::Buffer(1),
                Where::Buffer(buffer) => Where::Buffer(buffer),
                _ => Where::Buffer(0),
            };
            let gathers = is_strided && self.source.is_some() && from == Where::Source && at + 1 < count;
            let to = if mode == Mode::Write && last == Some(at) {
                Some(Where::Destination)
            } else {
                (modifies(&kind) || gathers).then_some(buffer)
            };
            self.stages.push(Stage { kind, from, to, bytes });
            if let Some(pipe) = change {
                bytes = bytes / pipe.input.bytes() * pipe.output.bytes();
            }
            from = to.unwrap_or(from);
        }
        if self.destination.is_some() {
            self.dont_read_back();
        }
    }

    /// Has stages of words read from a copy, instead of from a destination with gaps.
    fn dont_read_back(&mut self) {
        let Some(at) = self.stages.iter().position(|it| it.to == Some(Where::Destination)) else { return };
        if self.stages[at + 1..].iter().all(|it| it.from != Where::Destination) {
            return;
        }
        let writes = self.stages[at].from;
        let buffer = if writes == Where::Buffer(0) { Where::Buffer(1) } else { Where::Buffer(0) };
        self.stages[at].to = Some(buffer);
        let mut bytes = self.out;
        for stage in &mut self.stages[at + 1..] {
            stage.from = buffer;
            bytes = stage.bytes;
        }
        let kind = Kind::Vectors(Vec::new());
        self.stages.push(Stage { kind, from: buffer, to: Some(Where::Destination), bytes });
    }

    /// Bytes of a unit that a vectorised pipe gets.
    pub fn bytes_at(&self, pipe: usize) -> usize {
        let has = |it: &&Stage| matches!(&it.kind, Kind::Vectors(all) if all.contains(&pipe));
        let Some(stage) = self.stages.iter().find(has) else { return 0 };
        let Kind::Vectors(all) = &stage.kind else { return 0 };
        let joined =
            |&at: &usize| matches!(&self.forms[at], Some(it) if matches!(it.output, Output::Joined(..)));
        let before = all.iter().take_while(|at| **at != pipe);
        stage.bytes << before.filter(|at| joined(at)).count()
    }

    /// Whether any stage takes words.
    pub fn has_words(&self) -> bool {
        self.stages.iter().any(|it| matches!(it.kind, Kind::Words(..)))
    }

    /// Bytes of buffers in the frame.
    pub fn buffers(&self) -> usize {
        let is_any = self.stages.iter().any(|it| matches!(it.to, Some(Where::Buffer(_))));
        let is_one = self.unit == self.out && self.stages.iter().all(|it| it.to != Some(Where::Buffer(1)));
        match (is_any, is_one) {
            (false, _) => 0,
            (true, true) => self.unit,
            (true, false) => 2 * BUFFER,
        }
    }
}

/// Bytes of a unit if code can read and write around the gaps: rows are vectors, or halves of vectors.
fn direct(strides: [Option<Stride>; 2], unit: usize, changes: bool, vectors: Vectors) -> Option<usize> {
    let mut unit = unit;
    for stride in strides.into_iter().flatten() {
        let near = stride.gap <= 1 << 20;
        if changes || vectors == Vectors::None || !near || !matches!(stride.run, 16 | 32 | 64 | 128 | 256) {
            return None;
        }
        unit = unit.max(stride.run);
    }
    (unit <= MOST_UNIT).then_some(unit)
}

/// The body on words of 64 bits of a pipe that only updates a CRC32C, which doesn't depend on the width of words.
fn wide_crc(pipe: &Pipe) -> Option<Body> {
    let body = &pipe.body;
    let [(register, value)] = body.updates[..] else { return None };
    let Operation::Crc32c(sum, word) = body.step(value).operation else { return None };
    let is = body.step(sum).operation == Operation::Register(register)
        && body.step(word).operation == Operation::Input
        && body.steps.len() == 3
        && body.output.is_none();
    if !is {
        return None;
    }
    let mut wide = Body::clone(body);
    wide.steps[usize::from(word.0)].width = Gauge::Bits64;
    Some(wide)
}
