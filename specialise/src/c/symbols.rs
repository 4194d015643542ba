//! C names of functions and global variables, and the set of those that the text needs.

use std::collections::BTreeSet;

use super::names::Names;
use crate::ir::{Code, Const, Function, FunctionId, Global, GlobalId, Module, Op, Operand, Type};

/// The C names of a module's functions and global variables.
pub(super) struct Symbols {
    functions: Vec<String>,
    globals: Vec<String>,
    shapes: Vec<Shape>,
    constants: Vec<bool>,
    /// The functions that are printed or declared.
    pub needed_functions: BTreeSet<u32>,
    /// The global variables that are printed or declared.
    pub needed_globals: BTreeSet<u32>,
}

/// The form in which a global variable is declared.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// As one object of its type.
    Object,
    /// As an array of its elements.
    Array,
    /// As an array of bytes, because its type isn't known.
    Bytes,
    /// As a structure of its parts.
    Parts,
}

fn shape(global: &Global) -> Shape {
    match &global.ty {
        Type::Int(bits) if bits.is_power_of_two() && (8..=128).contains(bits) => Shape::Object,
        Type::Float | Type::Double | Type::Ptr => Shape::Object,
        Type::Array(1.., element) => match **element {
            Type::Int(8 | 16 | 32 | 64) | Type::Float | Type::Double | Type::Ptr => Shape::Array,
            _ if global.initial.is_none() => Shape::Bytes,
            _ => Shape::Parts,
        },
        _ if global.initial.is_none() => Shape::Bytes,
        _ => Shape::Parts,
    }
}

impl Symbols {
    /// Names everything that the functions visible from outside can reach.
    pub fn of(module: &Module, names: &mut Names) -> Result<Symbols, String> {
        let mut symbols = Symbols {
            functions: vec![String::new(); module.functions.len()],
            globals: vec![String::new(); module.globals.len()],
            shapes: module.globals.iter().map(shape).collect(),
            constants: module
                .globals
                .iter()
                .map(|global| global.constant && global.initial.is_some())
                .collect(),
            needed_functions: BTreeSet::new(),
            needed_globals: BTreeSet::new(),
        };
        symbols.reach(module)?;
        // External names come first, because the linker needs them unchanged.
        for internal in [false, true] {
            for &at in &symbols.needed_functions {
                let function = &module.functions[at as usize];
                if function.internal == internal && !function.name.starts_with("llvm.") {
                    let is_main = &*function.name == "main" && !internal;
                    let is_library =
                        matches!(function.code, Code::Declared) && super::library::known(function).is_some();
                    let keeps_name = is_main || is_library;
                    symbols.functions[at as usize] =
                        if keeps_name { function.name.to_string() } else { names.take(&function.name) };
                }
            }
            for &at in &symbols.needed_globals {
                let global = &module.globals[at as usize];
                if global.internal == internal {
                    let name = global.name.trim_start_matches('.');
                    symbols.globals[at as usize] = names.take(if name == "str" { "text" } else { name });
                }
            }
        }
        Ok(symbols)
    }

    fn reach(&mut self, module: &Module) -> Result<(), String> {
        let mut pending: Vec<FunctionId> = Vec::new();
        for (at, function) in module.functions.iter().enumerate() {
            if !function.internal && !matches!(function.code, Code::Declared) {
                self.needed_functions.insert(at as u32);
                pending.push(FunctionId(at as u32));
            }
        }
        while let Some(id) = pending.pop() {
            let Some(body) = module.body(id).map_err(|unsupported| unsupported.to_string())? else {
                continue;
            };
            let mut constants: Vec<&Const> = Vec::new();
            for block in &body.blocks {
                for instruction in &block.instructions {
                    constants.extend(instruction.op.operands().filter_map(constant));
                }
                constants.extend(block.terminator.operand().and_then(constant));
            }
            while let Some(constant) = constants.pop() {
                match constant {
                    Const::Global(id, _) if self.needed_globals.insert(id.0) => {
                        constants.extend(&module.globals[id.0 as usize].initial);
                    }
                    Const::Function(id) if self.needed_functions.insert(id.0) => pending.push(*id),
                    Const::Aggregate(_, members) => constants.extend(members.iter()),
                    Const::Address(_, inner) | Const::Pointer(inner) => constants.push(inner),
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// The name of a function.
    pub fn function(&self, id: FunctionId) -> &str {
        &self.functions[id.0 as usize]
    }

    /// The name of a global variable.
    pub fn global(&self, id: GlobalId) -> &str {
        &self.globals[id.0 as usize]
    }

    /// Whether a global variable is declared as bytes, its type unknown.
    pub fn is_bytes(&self, id: GlobalId) -> bool {
        self.shapes[id.0 as usize] == Shape::Bytes
    }

    /// Whether a global variable is declared as a structure whose parts follow from its contents.
    pub fn is_parts(&self, id: GlobalId) -> bool {
        self.shapes[id.0 as usize] == Shape::Parts
    }

    /// The address of a global variable, with whatever pointer type results.
    pub fn bare(&self, id: GlobalId) -> String {
        let name = self.global(id);
        match self.shapes[id.0 as usize] {
            Shape::Array | Shape::Bytes => name.to_string(),
            Shape::Object | Shape::Parts => format!("&{name}"),
        }
    }

    /// The address of a global variable for a parameter of type `void *`.
    pub fn argument(&self, id: GlobalId) -> String {
        let bare = self.bare(id);
        if self.constants[id.0 as usize] { format!("(void *){bare}") } else { bare }
    }

    /// An address as a `void *`.
    pub fn pointer(&self, constant: &Const) -> Result<String, String> {
        match constant {
            Const::Global(id, 0) => Ok(format!("(void *){}", self.bare(*id))),
            Const::Global(id, offset) => {
                let sign = if *offset < 0 { '-' } else { '+' };
                Ok(format!("(void *){} {sign} {}", self.bare(*id), offset.unsigned_abs()))
            }
            Const::Function(id) if self.function(*id).is_empty() => Err("the address of an intrinsic".into()),
            Const::Function(id) => Ok(format!("(void *){}", self.function(*id))),
            Const::Null => Ok("NULL".into()),
            _ => Err("a constant that is no address".into()),
        }
    }
}

fn constant(operand: &Operand) -> Option<&Const> {
    match operand {
        Operand::Const(constant) => Some(constant),
        Operand::Value(_) => None,
    }
}

/// The function that an operation calls by name.
pub(super) fn called(op: &Op) -> Option<FunctionId> {
    match op {
        Op::Call { callee: Operand::Const(Const::Function(id)), .. } => Some(*id),
        _ => None,
    }
}

/// Whether a C name differs from the one at link time.
pub(super) fn is_renamed(function: &Function, name: &str) -> bool {
    is_renamed_to(&function.name, name)
}

/// Whether a C name differs from the one at link time.
pub(super) fn is_renamed_to(name: &str, c_name: &str) -> bool {
    name != c_name
}
