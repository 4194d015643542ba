//! The names of what MIR refers to by number.

use std::collections::HashMap;

use drystone_language::program::Variable;
use drystone_language::source::SourceFile;

use crate::classify::is_held;
use crate::lower::Unit;
use crate::mir::Code;

/// Each table is indexed by the number of what it names.
#[derive(Debug, Default)]
pub struct Names {
    pub(super) interfaces: Vec<String>,
    /// Those of each interface.
    pub(super) messages: Vec<Vec<String>>,
    pub(super) components: Vec<String>,
    /// Procedures that crates carry.
    pub(super) procedures: Vec<String>,
    /// Collections, and other variables that a frame owns.
    pub(super) variables: Vec<String>,
    /// `line:column`, with the file before it if that is not the program's first.
    pub(super) locations: Vec<String>,
    /// Bodies, then procedure variants: the name that their functions have, too.
    pub(super) pieces: Vec<String>,
    /// How many of them are bodies.
    pub(super) bodies: usize,
}

impl Names {
    /// The names of a program whose code has been lowered.
    pub(super) fn of<'c>(
        unit: &Unit,
        files: &[SourceFile],
        codes: impl Iterator<Item = &'c Code>,
        bodies: usize,
    ) -> Names {
        let program = unit.program;
        let location = |it: &drystone_component::Location| {
            let at = format!("{}:{}", it.line, it.column);
            match files.get(it.file as usize) {
                Some(file) if it.file > 0 => format!("{}:{at}", file.path),
                _ => at,
            }
        };
        Names {
            interfaces: told_apart(program.interfaces.iter().map(|interface| Some(&*interface.name))),
            messages: program
                .interfaces
                .iter()
                .map(|interface| interface.messages.iter().map(|message| message.name.clone()).collect())
                .collect(),
            components: told_apart(program.components.iter().map(|component| Some(&*component.name))),
            procedures: told_apart(program.procedures.iter().map(|procedure| procedure.native.as_deref())),
            variables: told_apart(
                program.variables.iter().map(|variable| is_mentioned(variable).then_some(&*variable.name)),
            ),
            locations: unit.locations.table.iter().map(location).collect(),
            pieces: codes.enumerate().map(|(number, code)| format!("{}${number}", code.name)).collect(),
            bodies,
        }
    }
}

/// Whether MIR may refer to a variable by its number.
fn is_mentioned(variable: &Variable) -> bool {
    variable.collection.is_some() || is_held(&variable.ty) || variable.ty.is_component()
}

/// Numbers names that occur again. What has no name is not mentioned.
fn told_apart<'n>(names: impl Iterator<Item = Option<&'n str>>) -> Vec<String> {
    let mut occurred: HashMap<&str, usize> = HashMap::new();
    names
        .map(|name| {
            let Some(name) = name else { return String::new() };
            let times = occurred.entry(name).or_default();
            *times += 1;
            if *times == 1 { name.to_string() } else { format!("{name}#{times}") }
        })
        .collect()
}
