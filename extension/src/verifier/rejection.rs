//! Rejections: why a program is refused, in words for people.

use alloc::{boxed::Box, format, string::String};
use core::fmt::{self, Display};

use super::contract::{Contract, Memory, Region};
use super::number::Number;
use super::value::{Kind, Value};
use crate::bytecode::{Program, Register};

/// Why a program is refused: the instruction, what is known there, and what would help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection(Box<(usize, String)>);

impl Rejection {
    pub(super) fn new(program: &Program, at: usize, what: impl Display) -> Rejection {
        let instruction = program.at(at).map(|it| format!(", `{it}`")).unwrap_or_default();
        Rejection(Box::new((at, format!("instruction {at}{instruction}: {what}"))))
    }

    /// The slot of the refused instruction.
    pub fn slot(&self) -> usize {
        self.0.0
    }
}

impl Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.0.1)
    }
}

impl core::error::Error for Rejection {}

/// Describes a value.
pub(super) struct Words<'a>(pub &'a Value, pub &'a Contract);

impl Display for Words<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Words(value, contract) = self;
        let name = |region: Region| contract.memory(region).name;
        match value.kind {
            Kind::Unset => write!(f, "perhaps never set"),
            Kind::Mixed => {
                write!(f, "of unknown kind (it depends on the path, or what it points to has moved)")
            }
            Kind::Number => Range(value.number).fmt(f),
            Kind::Stack(_) => write!(f, "a stack frame's end{}", Plus(value.number)),
            Kind::Region(region) => write!(f, "the start of {}{}", name(region), Plus(value.number)),
            Kind::RegionOrNull(region) => {
                write!(f, "the start of {}{}, or null", name(region), Plus(value.number))
            }
            Kind::End(region) => write!(f, "the end of {}", name(region)),
            Kind::Map => write!(f, "a table"),
            Kind::Code => write!(f, "a function's address"),
        }
    }
}

/// Describes a number.
pub(super) struct Range(pub Number);

impl Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let number = self.0;
        if let Some(constant) = number.constant() {
            write!(f, "{}", constant as i64)
        } else if number.signed_least >= 0 || number.signed_least > i64::MIN && number.signed_most < i64::MAX
        {
            write!(f, "a number from {} to {}", number.signed_least, number.signed_most)
        } else if number.most < u64::MAX || number.least > 0 {
            write!(f, "a number from {} to {}", number.least, number.most)
        } else if number.signed_least > i64::MIN {
            write!(f, "a number of at least {}", number.signed_least)
        } else if number.signed_most < i64::MAX {
            write!(f, "a number of at most {}", number.signed_most)
        } else {
            write!(f, "any number")
        }
    }
}

/// Describes a distance.
struct Plus(Number);

impl Display for Plus {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.0.constant() {
            Some(0) => Ok(()),
            Some(distance) => {
                let distance = distance as i64;
                write!(f, " {} {}", if distance < 0 { '-' } else { '+' }, distance.unsigned_abs())
            }
            None => write!(f, " plus {}", Range(self.0)),
        }
    }
}

/// Describes a number of bytes.
pub(super) struct Bytes(pub i64);

impl Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{} byte{}", self.0, if self.0 == 1 { "" } else { "s" })
    }
}

/// Describes the value of a register: "r1 is the start of the packet + 14".
pub(super) struct Holds<'a>(pub Register, pub &'a Value, pub &'a Contract);

impl Display for Holds<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{} is {}", self.0, Words(self.1, self.2))
    }
}

/// Describes the fields of memory.
pub(super) struct Fields<'a>(pub &'a Memory);

impl Display for Fields<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        for (index, field) in self.0.fields.iter().enumerate() {
            let before = if index == 0 { "" } else { ", " };
            write!(f, "{before}{} at {}", field.size.bytes(), field.offset)?;
        }
        Ok(())
    }
}
