//! The mid-level form as text, as it stands before emission: for people, and for tests of what becomes of a program.
//!
//! A body or procedure has its number behind its name, as in the symbols of its functions. Under it stand the blocks
//! that can be reached; where a segment begins, what the process has saved for it.

mod instructions;

use std::fmt::Write;

use drystone_component::Kind;
use drystone_language::source::SourceFile;

use crate::generate::Lowered;
use crate::mir::{Block, BlockId, Code, LocationId, Reg, RegType};
use crate::segments::{Cut, Segment};

/// Everything that a program can run.
pub fn print(lowered: &Lowered, files: &[SourceFile]) -> String {
    let printer = Printer { lowered, files };
    let codes: Vec<String> = (0..lowered.cuts.len()).map(|number| printer.code(number)).collect();
    codes.join("\n")
}

struct Printer<'p> {
    lowered: &'p Lowered<'p>,
    files: &'p [SourceFile],
}

impl Printer<'_> {
    fn code(&self, number: usize) -> String {
        let cut = &self.lowered.cuts[number];
        let mut text = self.header(number) + "\n";
        for line in [registers(&cut.code), owned(&cut.code)].into_iter().filter(|line| !line.is_empty()) {
            line_in(&mut text, 2, &line);
        }
        for (id, block) in cut.code.reachable() {
            if cut.code.finally == Some(id) {
                line_in(&mut text, 2, "FINALLY");
            }
            line_in(&mut text, 2, &block_header(cut, id, block));
            if let Some(point) = &block.suspension {
                line_in(
                    &mut text,
                    4,
                    &format!("{} at {}", self.suspension(&point.op), self.location(point.location)),
                );
            }
            for instruction in &block.instructions {
                line_in(&mut text, 4, &self.instruction(instruction));
            }
            line_in(&mut text, 4, &self.end(&block.end));
        }
        text
    }

    fn header(&self, number: usize) -> String {
        let code = &self.lowered.cuts[number].code;
        let size = code.frame_size;
        if code.procedure.is_none() {
            return format!("body {} in {size} bytes", self.name(number));
        }
        let result = match code.result {
            Some(ty) => format!(": {}", type_name(ty)),
            None => String::new(),
        };
        let how = if code.native { "on the stack in " } else { "in " };
        format!("procedure {}({}){result} {how}{size} bytes", self.name(number), list(&code.parameters))
    }

    /// The name of a piece of code, which its functions have too.
    fn name(&self, number: usize) -> String {
        format!("{}${number}", self.lowered.cuts[number].code.name)
    }

    fn variant(&self, variant: usize) -> String {
        self.name(self.lowered.keys.len() + variant)
    }

    fn location(&self, location: LocationId) -> String {
        let location = &self.lowered.unit.locations.table[location as usize];
        let at = format!("{}:{}", location.line, location.column);
        match self.files.get(location.file as usize) {
            Some(file) if location.file > 0 => format!("{}:{at}", file.path),
            _ => at,
        }
    }
}

fn line_in(text: &mut String, indentation: usize, line: &str) {
    writeln!(text, "{:indentation$}{line}", "").expect("a string takes everything");
}

/// What a block is besides its instructions.
fn block_header(cut: &Cut, id: BlockId, block: &Block) -> String {
    let mut header = format!("{id}:");
    match (block.header_of, block.in_loop) {
        (Some(number), _) => write!(header, " begins loop {number}, may end the time slice"),
        (None, Some(number)) => write!(header, " in loop {number}"),
        (None, None) => Ok(()),
    }
    .expect("a string takes everything");
    if block.looks {
        header += " may end the time slice";
    }
    if let Some(segment) = cut.segment_at(id) {
        header += &segment_header(cut, segment);
    }
    header
}

fn segment_header(cut: &Cut, segment: &Segment) -> String {
    let kind = if segment.is_condition { "condition" } else { "segment" };
    let saved = cut.live[&segment.entry].iter().map(|reg| match cut.slots.get(reg) {
        Some(slot) => format!("{reg} in [frame+{slot}]"),
        None => format!("{reg} nowhere"),
    });
    let mut header = format!(" {kind}");
    let mut add = |what: &str, of: Vec<String>| {
        if !of.is_empty() {
            header += &format!(" {what} {}", of.join(", "));
        }
    };
    add("with", saved.collect());
    let mut tried: Vec<BlockId> = segment.inlined.iter().copied().collect();
    tried.sort();
    add("trying", tried.iter().map(BlockId::to_string).collect());
    header
}

/// The types of the registers, neighbours together.
fn registers(code: &Code) -> String {
    let mut groups: Vec<String> = Vec::new();
    let mut first = 0;
    for group in code.registers.chunk_by(|a, b| a == b) {
        let last = first + group.len() - 1;
        let range = if first == last { format!("r{first}") } else { format!("r{first}..r{last}") };
        groups.push(format!("{range}: {}", type_name(group[0])));
        first = last + 1;
    }
    groups.join(", ")
}

/// What the frame owns.
fn owned(code: &Code) -> String {
    let owned: Vec<String> = code
        .owned
        .iter()
        .map(|slot| {
            let kind = match slot.kind {
                Kind::Text => "text",
                Kind::Component => "component",
                Kind::Collection => "collection",
                Kind::Word | Kind::Byte => "word",
            };
            format!("{kind} in [frame+{}]", slot.offset)
        })
        .collect();
    if owned.is_empty() { String::new() } else { format!("owns {}", owned.join(", ")) }
}

fn type_name(ty: RegType) -> &'static str {
    match ty {
        RegType::Int => "int",
        RegType::Real => "real",
    }
}

fn list(registers: &[Reg]) -> String {
    registers.iter().map(Reg::to_string).collect::<Vec<_>>().join(", ")
}
