//! The scope of a statement: variables and buffers that it can name, and what it may do.

/// Bytes that a statement can read and perhaps write.
#[derive(Clone, Debug)]
pub struct Buffer {
    /// An expression for the address of the first byte.
    pub name: String,
    /// How many bytes there are at least.
    pub size: usize,
    /// What they are part of.
    pub object: Object,
    /// Whether they may be written.
    pub writable: bool,
}

/// What a buffer is part of, as far as the function that names it can tell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Object {
    /// A variable of this function.
    Local(usize),
    /// A global variable.
    Global(usize),
    /// Something of a caller, or a global variable.
    Given,
    /// Anything.
    Anything,
}

impl Buffer {
    /// Whether two buffers surely have no byte in common.
    pub fn is_apart_from(&self, other: &Buffer) -> bool {
        match (self.object, other.object) {
            (Object::Anything, _) | (_, Object::Anything) => false,
            (Object::Local(a), Object::Local(b)) | (Object::Global(a), Object::Global(b)) => a != b,
            (Object::Local(_), _) | (_, Object::Local(_)) => true,
            _ => false,
        }
    }

    /// The rest of it from some byte on.
    pub fn from(&self, at: usize) -> Buffer {
        let name = if at == 0 { self.name.clone() } else { format!("({} + {at})", self.name) };
        Buffer { name, size: self.size - at, ..*self }
    }
}

/// What the statements of a block can name.
#[derive(Clone)]
pub struct Scope {
    /// Words that usually follow from what is known.
    pub known: Vec<String>,
    /// Words of whatever origin.
    pub words: Vec<String>,
    /// Those of them that may be assigned to.
    pub variables: Vec<String>,
    /// Buffers, all of them filled.
    pub buffers: Vec<Buffer>,
    /// Functions of levels below this one may be called.
    pub level: usize,
    /// How many loops there are around.
    pub loops: usize,
    /// Whether the function may be left here.
    pub may_return: bool,
}

impl Scope {
    /// The scope of a function's body, which has the configuration as `config`.
    pub fn of_level(level: usize) -> Scope {
        Scope {
            known: Vec::new(),
            words: Vec::new(),
            variables: Vec::new(),
            buffers: Vec::new(),
            level,
            loops: 0,
            may_return: true,
        }
    }

    /// Adds a variable.
    pub fn declare(&mut self, name: &str) {
        self.words.push(name.to_string());
        self.variables.push(name.to_string());
    }
}
