//! Why a module can't be compiled to machine code.

use drystone_specialise::ir::{Module, PlaceId};
use std::fmt;

/// Why a module can't become machine code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NativeError {
    /// The function or the global variable, if it is one's fault.
    pub item: Option<String>,
    /// The instruction in it, and where it stands in the source if that is known.
    pub instruction: Option<String>,
    /// What can't be done, and what to do about it.
    pub reason: String,
}

impl fmt::Display for NativeError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "no machine code")?;
        if let Some(item) = &self.item {
            write!(f, " for {item}")?;
        }
        if let Some(instruction) = &self.instruction {
            write!(f, ", {instruction}")?;
        }
        write!(f, ": {}", self.reason)
    }
}

impl std::error::Error for NativeError {}

/// A reason that doesn't know yet where it arose.
#[derive(Debug)]
pub(crate) struct Refusal(pub String);

impl Refusal {
    /// It is about the module as a whole.
    pub fn at_large(self) -> NativeError {
        NativeError { item: None, instruction: None, reason: self.0 }
    }

    /// It is about a global variable.
    pub fn in_global(self, name: &str) -> NativeError {
        NativeError { item: Some(format!("the variable `{name}`")), instruction: None, reason: self.0 }
    }

    /// It is about a function, or an instruction in it.
    pub fn in_function(self, name: &str, instruction: Option<String>) -> NativeError {
        NativeError { item: Some(format!("the function `{name}`")), instruction, reason: self.0 }
    }
}

impl From<cranelift_module::ModuleError> for Refusal {
    fn from(error: cranelift_module::ModuleError) -> Refusal {
        Refusal(format!("Cranelift: {error:?}"))
    }
}

/// What comes of an attempt to translate something.
pub(crate) type Attempt<T> = Result<T, Refusal>;

/// An attempt that failed.
pub(crate) fn refuse<T>(reason: impl Into<String>) -> Attempt<T> {
    Err(Refusal(reason.into()))
}

/// A place in the source as text.
pub(crate) fn place(module: &Module, place: Option<PlaceId>) -> Option<String> {
    let place = place.filter(|place| (place.0 as usize) < module.places.count())?;
    let place = module.place(place);
    Some(format!("{}:{}", place.file, place.line))
}
