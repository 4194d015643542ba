//! The facts given for a specialisation: the entry, its arguments, the memory that these reach, the initialisers that
//! have run. A small TOML file, or built in Rust.
//!
//! ```toml
//! entry = "encode"                # the function to be specialised
//! name = "encode_fast"            # what the residual function is called; by default the entry's name and `_special`
//! initialisers = ["init"]         # functions without arguments that have run before: memory is as they left it
//! keep = ["log"]                  # functions that stay calls
//!
//! [argument.buffer]               # a parameter, by its name or its position from 0
//! size = 400                      # bytes that it points to
//! align = 8                       # what the pointer is a multiple of
//! unaliased = true                # nothing else that the program reaches points there
//! contents = [{ at = 0, type = "i32", value = 7 }, { at = 8, type = "ptr", symbol = "table" }]
//!
//! [argument.count]
//! value = 100                     # a known integer
//!
//! [global.options]
//! constant = true                 # keeps the value that it has after the initialisers
//!
//! [global.sequence]
//! owned = true                    # a `static` variable of which the residual program may have its own
//!
//! [global.scratch]
//! temporary = true                # holds nothing before the entry, and nobody reads it afterwards
//!
//! [budget]
//! instructions = 20_000_000       # evaluated before giving up
//! ```

use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt;

/// The facts given for a specialisation.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Context {
    /// The function to be specialised.
    pub entry: String,
    /// The name of the residual function.
    pub name: Option<String>,
    /// Functions without arguments that have run before, in order.
    #[serde(default)]
    pub initialisers: Vec<String>,
    /// Functions that are not unfolded.
    #[serde(default)]
    pub keep: Vec<String>,
    /// Facts about parameters, by name or position.
    #[serde(default)]
    pub argument: BTreeMap<String, Argument>,
    /// Facts about global variables, by name.
    #[serde(default)]
    pub global: BTreeMap<String, GlobalVariable>,
    /// The limits of the specialisation.
    #[serde(default)]
    pub budget: Budget,
}

/// Facts about a parameter of the entry.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Argument {
    /// Its value, if it is a known integer.
    pub value: Option<i128>,
    /// A function or global variable that it points to.
    pub symbol: Option<String>,
    /// The number of bytes that it points to.
    pub size: Option<u64>,
    /// The alignment of the pointer.
    pub align: Option<u64>,
    /// Whether no other pointer that the program reaches points to this memory.
    #[serde(default)]
    pub unaliased: bool,
    /// The known bytes of this memory.
    #[serde(default)]
    pub contents: Vec<Content>,
}

/// A known value in memory.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Content {
    /// The offset from the start, in bytes.
    pub at: u64,
    /// Its type.
    #[serde(rename = "type")]
    pub ty: ContentType,
    /// The integer; 0 for `ptr` is the null pointer.
    pub value: Option<i128>,
    /// The function or global variable that a `ptr` points to.
    pub symbol: Option<String>,
    /// The offset from the start of the symbol, in bytes.
    #[serde(default)]
    pub offset: i64,
}

/// The types of known values in memory.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the names are LLVM's")]
pub enum ContentType {
    I8,
    I16,
    I32,
    I64,
    Ptr,
}

impl ContentType {
    /// The size of a value in bits.
    pub fn bits(self) -> u32 {
        match self {
            ContentType::I8 => 8,
            ContentType::I16 => 16,
            ContentType::I32 => 32,
            ContentType::I64 | ContentType::Ptr => 64,
        }
    }
}

impl Content {
    /// The size of the value in bytes.
    pub fn bytes(&self) -> u64 {
        u64::from(self.ty.bits()) / 8
    }
}

/// Facts about a global variable.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GlobalVariable {
    /// Whether the variable keeps its value from the initialisers, except for changes by the entry itself.
    #[serde(default)]
    pub constant: bool,
    /// Whether the residual program may have its own copy of the variable, separate from the original program's. For
    /// variables that only their module sees (`static`), and that only the entry uses.
    #[serde(default)]
    pub owned: bool,
    /// Whether it is used only while the entry runs: it holds nothing before, and is not read afterwards.
    #[serde(default)]
    pub temporary: bool,
}

/// The limits after which generic code is kept.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Budget {
    /// Instructions evaluated in one attempt.
    pub instructions: u64,
    /// Instructions of the residual program.
    pub residual: usize,
    /// Attempts, each of which generalises one more loop or function.
    pub attempts: u32,
    /// Versions of one place of the program that differ in the known facts.
    pub variants: usize,
    /// Rounds of a loop that has an exit on an unknown condition besides one on a known condition.
    pub rounds: u32,
    /// Nested activations of one function while an unknown condition controls the recursion.
    pub recursion: usize,
    /// Nested calls.
    pub depth: usize,
    /// Bytes of memory for the facts on all paths.
    pub memory: u64,
    /// Seconds of processor time, after which generic code is kept.
    pub seconds: u64,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget {
            instructions: 20_000_000,
            residual: 1_000_000,
            attempts: 400,
            variants: 16,
            rounds: 32,
            recursion: 2,
            depth: 200,
            memory: 2_000_000_000,
            seconds: 10,
        }
    }
}

/// The reason why a context could not be read.
#[derive(Debug)]
pub struct ContextError(String);

impl fmt::Display for ContextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the context can't be read: {}", self.0)
    }
}

impl std::error::Error for ContextError {}

impl Context {
    /// A context in which only the entry is given.
    pub fn new(entry: &str) -> Context {
        Context {
            entry: entry.to_owned(),
            name: None,
            initialisers: Vec::new(),
            keep: Vec::new(),
            argument: BTreeMap::new(),
            global: BTreeMap::new(),
            budget: Budget::default(),
        }
    }

    /// Reads a context from the text of a TOML file.
    pub fn read(text: &str) -> Result<Context, ContextError> {
        toml::from_str(text).map_err(|error| ContextError(error.to_string()))
    }

    /// The name of the residual function.
    pub fn residual_name(&self) -> String {
        self.name.clone().unwrap_or_else(|| format!("{}_special", self.entry))
    }
}
