//! The table of source locations that code refers to, for run-time errors.

use std::collections::HashMap;

use drystone_component as model;
use drystone_language::source::{Lines, SourceFile, Span};

use crate::mir::LocationId;

/// The locations that code refers to, each once.
pub struct Locations<'a> {
    lines: Vec<Lines<'a>>,
    numbers: HashMap<(u32, u32), LocationId>,
    pub table: Vec<model::Location>,
    /// Names that stand at locations, by their numbers; the first is empty.
    pub names: Vec<String>,
    names_numbers: HashMap<String, u32>,
}

impl<'a> Locations<'a> {
    pub(super) fn new(files: &'a [SourceFile]) -> Locations<'a> {
        Locations {
            lines: files.iter().map(|file| Lines::of(&file.text)).collect(),
            numbers: HashMap::new(),
            table: Vec::new(),
            names: vec![String::new()],
            names_numbers: HashMap::from([(String::new(), 0)]),
        }
    }

    /// Notes the name that stands at a location, for error messages.
    pub fn name(&mut self, span: Span, name: &str) {
        let location = self.number(span) as usize;
        let number = match self.names_numbers.get(name) {
            Some(&number) => number,
            None => {
                let number = self.names.len() as u32;
                self.names.push(name.to_string());
                self.names_numbers.insert(name.to_string(), number);
                number
            }
        };
        self.table[location].name = number;
    }

    /// The number of a location.
    pub fn number(&mut self, span: Span) -> LocationId {
        *self.numbers.entry((span.file, span.start)).or_insert_with(|| {
            let (line, column) =
                self.lines.get(span.file as usize).map_or((0, 0), |lines| lines.line_column(span.start));
            self.table.push(model::Location { file: span.file, line, column, name: 0 });
            (self.table.len() - 1) as LocationId
        })
    }
}
