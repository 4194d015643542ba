//! MIR, the form between the checked program and machine code: a body or procedure as a graph of blocks over virtual
//! registers. An operation that may wait begins a block of its own (a *suspension point*).
//!
//! `lower` makes it, `lookups` and `invariants` improve it, `segments` cuts it into one function for each resume point,
//! `emit` translates it. `verify` says when it makes sense, `text` how it is written.

mod instructions;

use std::fmt;

use drystone_language::ast::Direction;
use drystone_language::program::{InterfaceId, LockMode, Pattern, ProcedureId, VariableId};
pub use drystone_runtime::entry_points::{EntryPoint, Failure, Machine};

pub use instructions::*;

use crate::awaited::Dependence;

/// A virtual register: a local variable or a temporary. Not in single-assignment form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reg(pub u32);

/// Index of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockId(pub u32);

/// Index into the program's table of locations, for run-time errors.
pub type LocationId = u32;

/// What a register holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegType {
    /// INTEGER, CHARACTER, BOOLEAN (0 or 1) or a pointer.
    Int,
    /// REAL.
    Real,
}

/// Where a piece of memory lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Base {
    /// The process block: the frame of a body.
    Process,
    /// The frame of the procedure that runs (or its place on the processor's stack).
    Frame,
    /// The component.
    Instance,
    /// What a register points to.
    Reg(Reg),
}

/// A word or byte in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// Where it lies.
    pub base: Base,
    /// Bytes from there.
    pub offset: i32,
    /// One byte instead of eight.
    pub byte: bool,
}

/// An operation that may wait: the first instruction of its block. Tried again when the process is resumed there.
#[derive(Clone, Debug)]
pub struct SuspensionPoint {
    /// What it does.
    pub op: SuspensionOp,
    /// For run-time errors, and for reports of where processes wait.
    pub location: LocationId,
}

/// Operations at suspension points.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum SuspensionOp {
    /// Makes room for a message: its words follow the communication's head.
    Send {
        /// Over which communication.
        reach: Reach,
        /// Its interface.
        interface: InterfaceId,
        /// The message.
        message: usize,
        /// Is set to the communication, and its word once the message counts as sent (0: left to the runtime).
        payload: Payload,
    },
    /// Waits for a message: its words follow the communication's head.
    Receive {
        /// Over which communication.
        reach: Reach,
        /// Its interface.
        interface: InterfaceId,
        /// The message.
        message: usize,
        /// Is set to the communication, and its word once the message counts as taken (-1: left to the runtime).
        payload: Payload,
    },
    /// A receive test; `to` becomes the answer.
    Test {
        /// Over which communication.
        reach: Reach,
        /// Its interface.
        interface: InterfaceId,
        /// The end that asks: [`Direction::In`] if its messages go `IN`, that is, the client.
        side: Direction,
        /// What is asked.
        question: Question,
        /// The answer.
        to: Reg,
    },
    /// A receive test that does not wait.
    Input {
        /// Over which communication.
        reach: Reach,
        /// Its interface.
        interface: InterfaceId,
        /// See [`SuspensionOp::Test`].
        side: Direction,
        /// What is asked.
        pattern: Pattern,
        /// The answer: 0 or 1.
        to: Reg,
    },
    /// Waits for the first of several things. `to` becomes its index; their number if the time is up first; one more
    /// if the process awaits a condition next ([`SuspensionOp::Await`]), and watches the others until then.
    Select {
        /// What it waits for.
        sources: Vec<Source>,
        /// When the time is up.
        until: Option<Reg>,
        /// It doesn't wait itself, because the process awaits a condition, too.
        awaits: bool,
        /// Which was the first.
        to: Reg,
    },
    /// Takes the component's lock.
    Lock(LockMode),
    /// Releases the component's lock.
    Unlock {
        /// How it is held.
        mode: LockMode,
        /// What may have been written meanwhile, see [`crate::awaited`].
        written: u64,
    },
    /// Makes sure that what follows runs on the home worker of the process.
    Home,
    /// Releases the lock until the condition holds.
    Await {
        /// Entry block of its function.
        condition: BlockId,
        /// When it has to be tested again.
        dependence: Dependence,
        /// What may have been written when the lock is released, see [`crate::awaited`].
        written: u64,
    },
    /// The same for a condition that may take long to test: the process has tested it itself, and does so again when it
    /// is its turn.
    AwaitTested {
        /// Whether the condition holds.
        holds: Reg,
        /// Where the process tests it.
        again: BlockId,
        /// As for [`SuspensionOp::Await`].
        dependence: Dependence,
        /// As for [`SuspensionOp::Await`].
        written: u64,
    },
    /// Any other operation: an entry point.
    Call { to: Option<Reg>, entry: &'static EntryPoint, arguments: Vec<Reg> },
}

/// One of the things that a process waits for.
#[derive(Clone, Debug)]
pub enum Source {
    /// Something comes over a communication.
    Arrival {
        /// Over which communication.
        reach: Reach,
        /// Its interface.
        interface: InterfaceId,
        /// See [`SuspensionOp::Test`].
        side: Direction,
        /// What comes; [`Question::Which`]: anything, or the other side has closed.
        question: Question,
    },
    /// Something holds already.
    Condition(Reg),
}

/// What a test asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// Whether this comes next: 0 or 1.
    Is(Pattern),
    /// What comes next: one more than the number of the message, or 0 if the other side has closed.
    Which,
}

/// How a block ends.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum Terminator {
    /// Continues with a block.
    Goto(BlockId),
    /// Continues with `yes` if the condition is not 0, else with `no`.
    Branch { condition: Reg, yes: BlockId, no: BlockId },
    /// Calls a procedure that may wait. It returns to `then`, whose first instruction may take the result.
    CallProcedure {
        /// Index among the program's procedure variants.
        variant: usize,
        /// Values of its parameters.
        arguments: Vec<Reg>,
        /// The frame of the procedure around it, if it uses that.
        outer: Option<Reg>,
        /// The block that it returns to.
        then: BlockId,
        /// For errors.
        location: LocationId,
    },
    /// The end of a procedure (what it owned is dropped).
    Return(Option<Reg>),
    /// The end of a body (what it owned is dropped).
    Finish(LocationId),
    /// The end of a condition function: 0 or 1.
    Answer(Reg),
    /// Never reached: an instruction before it faults.
    Unreachable,
}

/// A basic block.
#[derive(Clone, Debug)]
pub struct Block {
    /// The operation that it begins with, if that may wait.
    pub suspension: Option<SuspensionPoint>,
    /// In order.
    pub instructions: Vec<Inst>,
    /// Its end.
    pub end: Terminator,
    /// The innermost loop that it belongs to.
    pub in_loop: Option<usize>,
    /// It is the header of this loop: time slices are checked here.
    pub header_of: Option<usize>,
    /// A segment begins here although it is no suspension point: the entry, a return from a procedure, after an array
    /// was made.
    pub entry: bool,
    /// The segment that begins here checks the time slice, because long straight-line code leads to it.
    pub looks: bool,
}

/// A loop of the source.
#[derive(Clone, Debug)]
pub struct Loop {
    /// The loop around it.
    pub outer: Option<usize>,
    /// Its first block.
    pub header: BlockId,
    /// How it counts, if it is a FOR loop whose variable is in a register.
    pub counter: Option<Counter>,
    /// The loop, or a procedure on the processor's stack that it calls, writes to standard output. It must be
    /// interruptible while nobody reads the output.
    pub writes: bool,
}

/// How a FOR loop counts.
#[derive(Clone, Debug)]
pub struct Counter {
    /// The loop's variable.
    pub variable: Reg,
    /// Where it begins.
    pub first: Reg,
    /// What it does not go past.
    pub last: Reg,
    /// What is added to it, which is not 0.
    pub step: i64,
    /// The block before the loop, which evaluates the bounds.
    pub before: BlockId,
    /// The block that adds the step; it is reached only if that does not go past `last`.
    pub next: BlockId,
}

/// A procedure in one of the contexts that it is used in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Variant {
    /// Which procedure.
    pub procedure: ProcedureId,
    /// The lock that its callers hold.
    pub lock: Option<LockMode>,
    /// Where the process that runs it keeps what frames and conditions need.
    pub shape: Shape,
    /// Runs on the processor's stack.
    pub native: bool,
}

/// Offsets in a process block that procedures must know (0: absent).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Shape {
    /// Of the pointer to the innermost frame.
    pub frame: u32,
    /// Of the pointer to the condition function.
    pub condition: u32,
}

/// Something in a frame that is freed with it.
#[derive(Clone, Debug)]
pub struct OwnedSlot {
    /// Offset from the start of the process block or procedure frame.
    pub offset: u32,
    /// The declared variable, or `None` for a temporary of that kind.
    pub variable: Option<VariableId>,
    /// Text, Component or Collection.
    pub kind: drystone_component::Kind,
}

/// A body or procedure variant.
#[derive(Clone, Debug)]
pub struct Code {
    /// For symbols and messages.
    pub name: String,
    /// Runs on the processor's stack.
    pub native: bool,
    /// Its blocks; the first is the entry.
    pub blocks: Vec<Block>,
    /// Types of its registers.
    pub registers: Vec<RegType>,
    /// Its loops.
    pub loops: Vec<Loop>,
    /// Parameters, in order; a procedure that uses an outer frame has that pointer first if it is native.
    pub parameters: Vec<Reg>,
    /// Parameters that are variables in memory: the caller stores them in these slots. The slots of all other
    /// parameters are assigned with those of registers that outlive a segment.
    pub parameter_slots: Vec<(Reg, u32)>,
    /// Type of the result.
    pub result: Option<RegType>,
    /// Bytes of the frame: its head, variables in memory, owned temporaries, and, once it is cut, slots of registers.
    pub frame_size: u32,
    /// What the frame owns.
    pub owned: Vec<OwnedSlot>,
    /// The process's offsets.
    pub shape: Shape,
    /// Which procedure it is (whose frame is its own); none for a body (whose frame is the process).
    pub procedure: Option<ProcedureId>,
    /// Where the FINALLY of a service begins: the runtime comes there from anywhere, so nothing is live but what lies
    /// in memory.
    pub finally: Option<BlockId>,
}

impl fmt::Display for Reg {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "r{}", self.0)
    }
}

impl fmt::Display for BlockId {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "b{}", self.0)
    }
}

impl Code {
    /// A body without registers, whose first block is still empty.
    pub fn new(name: String, native: bool, frame_size: u32, owned: Vec<OwnedSlot>, shape: Shape) -> Code {
        Code {
            name,
            native,
            blocks: vec![Block { entry: true, ..Block::new() }],
            registers: Vec::new(),
            loops: Vec::new(),
            parameters: Vec::new(),
            parameter_slots: Vec::new(),
            result: None,
            frame_size,
            owned,
            shape,
            procedure: None,
            finally: None,
        }
    }

    /// A block.
    pub fn block(&self, id: BlockId) -> &Block {
        &self.blocks[id.0 as usize]
    }

    /// The blocks at which control enters.
    pub fn entries(&self) -> Vec<BlockId> {
        [BlockId(0)].into_iter().chain(self.finally).collect()
    }

    /// The blocks that can be reached from the entries, in order.
    pub fn reachable(&self) -> impl Iterator<Item = (BlockId, &Block)> {
        let mut reached = vec![false; self.blocks.len()];
        let mut open = self.entries();
        while let Some(id) = open.pop() {
            if !std::mem::replace(&mut reached[id.0 as usize], true) {
                open.extend(self.block(id).successors());
            }
        }
        let numbered = self.blocks.iter().enumerate().zip(reached).filter(|(_, reached)| *reached);
        numbered.map(|((index, block), _)| (BlockId(index as u32), block))
    }

    /// Whether a loop is `outer` or lies inside it.
    pub fn is_inside(&self, mut inner: Option<usize>, outer: usize) -> bool {
        while let Some(current) = inner {
            if current == outer {
                return true;
            }
            inner = self.loops[current].outer;
        }
        false
    }
}

impl Block {
    /// A block that does nothing so far, in no loop.
    pub fn new() -> Block {
        Block {
            suspension: None,
            instructions: Vec::new(),
            end: Terminator::Unreachable,
            in_loop: None,
            header_of: None,
            entry: false,
            looks: false,
        }
    }

    /// Blocks that may follow in the same code (conditions count as followers of their AWAIT, so that what they
    /// read is kept alive).
    pub fn successors(&self) -> Vec<BlockId> {
        let mut blocks = match &self.end {
            Terminator::Goto(next) | Terminator::CallProcedure { then: next, .. } => vec![*next],
            Terminator::Branch { yes, no, .. } => vec![*yes, *no],
            _ => Vec::new(),
        };
        blocks.extend(self.condition());
        blocks.extend(self.tested_again());
        blocks
    }

    /// Blocks that control goes to without a call or a wait.
    pub fn goes_to(&self) -> impl Iterator<Item = BlockId> + use<> {
        let (first, second) = match self.end {
            Terminator::Goto(to) => (Some(to), None),
            Terminator::Branch { yes, no, .. } => (Some(yes), Some(no)),
            _ => (None, None),
        };
        first.into_iter().chain(second)
    }

    /// Whether a segment must begin there.
    pub fn must_begin(&self) -> bool {
        self.suspension.is_some() || self.entry
    }

    /// Where the process tests the condition that it awaits, if it does so itself.
    pub fn tested_again(&self) -> Option<BlockId> {
        match &self.suspension {
            Some(SuspensionPoint { op: SuspensionOp::AwaitTested { again, .. }, .. }) => Some(*again),
            _ => None,
        }
    }

    /// The entry of the function that tests the condition that it awaits.
    pub fn condition(&self) -> Option<BlockId> {
        match &self.suspension {
            Some(SuspensionPoint { op: SuspensionOp::Await { condition, .. }, .. }) => Some(*condition),
            _ => None,
        }
    }
}
