//! The error in a body, and its place.

use crate::ir::{BlockId, Body, Function, Instruction, Operand, ValueId};
use crate::print::Names;
use std::cell::OnceCell;
use std::fmt;
use std::rc::Rc;

/// A function whose body is not well-formed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Malformed {
    /// Its name at link time.
    pub function: Rc<str>,
    /// The error.
    pub fault: Fault,
}

/// The error in a body, and its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// The place, in words: a block has its name in the printed text.
    pub place: String,
    /// The error at this place.
    pub what: String,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "the function `{}` is not well-formed: {}", self.function, self.fault)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}

impl std::error::Error for Malformed {}

/// A place in a body.
#[derive(Clone, Copy)]
pub(super) enum Place {
    /// An instruction of a block, by its position.
    Instruction(BlockId, usize),
    /// The terminator of a block.
    Terminator(BlockId),
}

/// The body that is verified.
pub(super) struct Subject<'a> {
    pub(super) function: &'a Function,
    pub(super) body: &'a Body,
    /// The names of its values and blocks, computed when a message needs them.
    names: OnceCell<Names>,
}

impl<'a> Subject<'a> {
    pub(super) fn new(function: &'a Function, body: &'a Body) -> Subject<'a> {
        Subject { function, body, names: OnceCell::new() }
    }

    /// All instructions with their places.
    pub(super) fn instructions(&self) -> impl Iterator<Item = (Place, &'a Instruction)> {
        self.body.blocks.iter().enumerate().flat_map(|(block, code)| {
            let place = move |index| Place::Instruction(BlockId(block as u32), index);
            code.instructions.iter().enumerate().map(move |(index, instruction)| (place(index), instruction))
        })
    }

    /// The name of a value. All results must be known to be values of the body.
    pub(super) fn value(&self, value: ValueId) -> &str {
        &self.names().values[value.0 as usize]
    }

    /// The name of an operand; for a constant only "a constant".
    pub(super) fn operand(&self, operand: &Operand) -> &str {
        match operand {
            Operand::Value(value) => self.value(*value),
            Operand::Const(_) => "a constant",
        }
    }

    /// The name of a block.
    pub(super) fn block(&self, block: BlockId) -> String {
        self.names()
            .blocks
            .get(block.0 as usize)
            .map_or_else(|| format!("#{}", block.0), |name| format!("%{name}"))
    }

    fn names(&self) -> &Names {
        self.names.get_or_init(|| Names::of(self.function, self.body))
    }

    /// An error in the body as a whole.
    pub(super) fn fault_of_body(&self, what: impl Into<String>) -> Fault {
        Fault { place: "the body".into(), what: what.into() }
    }

    /// An error at a place.
    pub(super) fn fault(&self, place: Place, what: impl Into<String>) -> Fault {
        let place = match place {
            Place::Instruction(block, index) => {
                let instruction = &self.body.blocks[block.0 as usize].instructions[index];
                let name = instruction.result.map(|value| format!("{} = ", self.value(value)));
                let word = instruction.op.word();
                format!(
                    "block {}, instruction {index}, `{}{word}`",
                    self.block(block),
                    name.unwrap_or_default()
                )
            }
            Place::Terminator(block) => format!("the end of block {}", self.block(block)),
        };
        Fault { place, what: what.into() }
    }
}
