//! What is known when a program is specialised: the entry, the arguments, the memory that they reach, what has run
//! before. A small TOML file, or built in Rust.
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

/// What is known of a program when it is specialised.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Context {
    /// The function to be specialised.
    pub entry: String,
    /// What the residual function is called.
    pub name: Option<String>,
    /// Functions without arguments that have run before, in their order.
    #[serde(default)]
    pub initialisers: Vec<String>,
    /// Functions that are not unfolded.
    #[serde(default)]
    pub keep: Vec<String>,
    /// What is known of parameters, by name or position.
    #[serde(default)]
    pub argument: BTreeMap<String, Argument>,
    /// What is known of global variables, by name.
    #[serde(default)]
    pub global: BTreeMap<String, GlobalVariable>,
    /// How much may be spent.
    #[serde(default)]
    pub budget: Budget,
}

/// What is known of a parameter of the entry.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Argument {
    /// Its value, if it is a known integer.
    pub value: Option<i128>,
    /// A function or global variable that it points to.
    pub symbol: Option<String>,
    /// Bytes that it points to.
    pub size: Option<u64>,
    /// What the pointer is a multiple of.
    pub align: Option<u64>,
    /// Whether nothing else that the program reaches points there.
    #[serde(default)]
    pub unaliased: bool,
    /// Bytes that are known there.
    #[serde(default)]
    pub contents: Vec<Content>,
}

/// A known value in memory.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Content {
    /// Bytes from the start.
    pub at: u64,
    /// Its type.
    #[serde(rename = "type")]
    pub ty: ContentType,
    /// The integer; 0 for `ptr` is the null pointer.
    pub value: Option<i128>,
    /// The function or global variable that a `ptr` points to.
    pub symbol: Option<String>,
    /// Bytes from the start of the symbol.
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
    /// The bits that a value takes.
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
    /// The bytes that it takes.
    pub fn bytes(&self) -> u64 {
        u64::from(self.ty.bits()) / 8
    }
}

/// What is known of a global variable.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GlobalVariable {
    /// Whether it keeps the value that it has after the initialisers, but for what the entry itself changes in it.
    #[serde(default)]
    pub constant: bool,
    /// Whether the residual program may have one of its own, although the original one has another under the same name:
    /// for variables that only their module sees (`static`), and that nothing but the entry uses.
    #[serde(default)]
    pub owned: bool,
    /// Whether it is used only while the entry runs: it holds nothing before, and is not read afterwards.
    #[serde(default)]
    pub temporary: bool,
}

/// How much may be spent before generic code is kept.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Budget {
    /// Instructions evaluated in one attempt.
    pub instructions: u64,
    /// Instructions of the residual program.
    pub residual: usize,
    /// Attempts, each of which generalises one more loop or function.
    pub attempts: u32,
    /// Versions of one place of the program that differ in what is known.
    pub variants: usize,
    /// Rounds of a loop that is left on a known and on an unknown condition.
    pub rounds: u32,
    /// Activations of one function within one another, as long as an unknown condition decides over them.
    pub recursion: usize,
    /// Calls within one another.
    pub depth: usize,
    /// Bytes that what is known may take, on all paths together.
    pub memory: u64,
    /// Seconds of the processor's time until generic code is kept, however far the evaluation has come.
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

/// Why a context could not be read.
#[derive(Debug)]
pub struct ContextError(String);

impl fmt::Display for ContextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the context can't be read: {}", self.0)
    }
}

impl std::error::Error for ContextError {}

impl Context {
    /// A context of which only the entry is known.
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

    /// A context from the text of a TOML file.
    pub fn read(text: &str) -> Result<Context, ContextError> {
        toml::from_str(text).map_err(|error| ContextError(error.to_string()))
    }

    /// What the residual function is called.
    pub fn residual_name(&self) -> String {
        self.name.clone().unwrap_or_else(|| format!("{}_special", self.entry))
    }
}
