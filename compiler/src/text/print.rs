//! Writes MIR.

mod instructions;

use std::fmt::Write;

use drystone_component::Kind;

use super::{Head, Heads, Names};
use crate::mir::{Block, BlockId, Code, LocationId, Loop, OwnedSlot, Reg, RegType};

pub(super) struct Printer<'n> {
    pub(super) names: &'n Names,
}

impl Printer<'_> {
    /// A body or procedure, by its number.
    pub(super) fn piece(&self, number: usize, code: &Code, heads: &Heads) -> String {
        let mut text = self.signature(number, code) + "\n";
        let mut line = |indentation: usize, line: &str| {
            writeln!(text, "{:indentation$}{line}", "").expect("a string takes everything");
        };
        for declared in [registers(code), frames(code), self.owned(code)] {
            if !declared.is_empty() {
                line(2, &declared);
            }
        }
        code.loops.iter().enumerate().for_each(|(number, it)| line(2, &declared_loop(number, it)));
        for (id, block) in code.reachable() {
            if code.finally == Some(id) {
                line(2, "FINALLY");
            }
            line(2, &block_header(id, block, heads.get(&id)));
            if let Some(point) = &block.suspension {
                let (operation, location) = (self.suspension(&point.op), self.location(point.location));
                line(4, &format!("{operation} at {location}"));
            }
            block.instructions.iter().for_each(|instruction| line(4, &self.instruction(instruction)));
            line(4, &self.end(&block.end));
        }
        text
    }

    fn signature(&self, number: usize, code: &Code) -> String {
        let (name, size) = (&self.names.pieces[number], code.frame_size);
        if code.procedure.is_none() {
            return format!("body {name} in {size} bytes");
        }
        let parameters: Vec<String> = code.parameters.iter().map(|&reg| parameter(code, reg)).collect();
        let result = code.result.map(|ty| format!(": {}", type_name(ty))).unwrap_or_default();
        let how = if code.native { "on the stack in" } else { "in" };
        format!("procedure {name}({}){result} {how} {size} bytes", parameters.join(", "))
    }

    fn variant(&self, variant: usize) -> &str {
        &self.names.pieces[self.names.bodies + variant]
    }

    fn location(&self, location: LocationId) -> &str {
        &self.names.locations[location as usize]
    }

    /// What the frame owns.
    fn owned(&self, code: &Code) -> String {
        let slot = |slot: &OwnedSlot| {
            let variable = slot.variable.map(|id| format!(" of {}", self.names.variables[id.index()]));
            format!("{}{} in [frame+{}]", kind_name(slot.kind), variable.unwrap_or_default(), slot.offset)
        };
        let owned: Vec<String> = code.owned.iter().map(slot).collect();
        if owned.is_empty() { String::new() } else { format!("owns {}", owned.join(", ")) }
    }
}

fn parameter(code: &Code, reg: Reg) -> String {
    match code.parameter_slots.iter().find(|(other, _)| *other == reg) {
        Some((_, slot)) => format!("{reg} in [frame+{slot}]"),
        None => reg.to_string(),
    }
}

/// Where procedures find frames and conditions in the process.
fn frames(code: &Code) -> String {
    let offsets = [("frames", code.shape.frame), ("conditions", code.shape.condition)];
    let present = offsets.iter().filter(|(_, offset)| *offset != 0);
    present.map(|(what, offset)| format!("{what} at [process+{offset}]")).collect::<Vec<_>>().join(", ")
}

fn declared_loop(number: usize, it: &Loop) -> String {
    let mut text = format!("loop {number}");
    let mut add = |part: String| text += &part;
    if let Some(outer) = it.outer {
        add(format!(" in loop {outer}"));
    }
    add(format!(", header {}", it.header));
    if let Some(counter) = &it.counter {
        let (variable, first, last) = (counter.variable, counter.first, counter.last);
        add(format!(", counts {variable} from {first} to {last} by {}", counter.step));
        add(format!(", before {}, next {}", counter.before, counter.next));
    }
    if it.writes {
        add(", writes".to_string());
    }
    text
}

/// What a block is besides its instructions.
fn block_header(id: BlockId, block: &Block, head: Option<&Head>) -> String {
    let mut parts = Vec::new();
    if let Some(number) = block.in_loop.filter(|_| block.header_of != block.in_loop) {
        parts.push(format!("in loop {number}"));
    }
    if let Some(number) = block.header_of {
        parts.push(format!("header of loop {number}"));
    }
    if block.entry {
        parts.push("entry".to_string());
    }
    if block.looks {
        parts.push("looks at the time slice".to_string());
    }
    parts.extend(head.map(segment));
    if parts.is_empty() { format!("{id}:") } else { format!("{id}: {}", parts.join("; ")) }
}

fn segment(head: &Head) -> String {
    let mut text = if head.is_condition { "condition" } else { "segment" }.to_string();
    let mut add = |what: &str, of: Vec<String>| {
        if !of.is_empty() {
            text += &format!(" {what} {}", of.join(", "));
        }
    };
    let saved = head.saved.iter().map(|(reg, slot)| match slot {
        Some(slot) => format!("{reg} in [frame+{slot}]"),
        None => format!("{reg} nowhere"),
    });
    add("with", saved.collect());
    add("trying", head.trying.iter().map(BlockId::to_string).collect());
    text
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

fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Word => "word",
        Kind::Byte => "byte",
        Kind::Text => "text",
        Kind::Component => "component",
        Kind::Collection => "collection",
    }
}

fn type_name(ty: RegType) -> &'static str {
    match ty {
        RegType::Int => "int",
        RegType::Real => "real",
    }
}

/// Registers with commas between them.
pub(crate) fn list(registers: &[Reg]) -> String {
    registers.iter().map(Reg::to_string).collect::<Vec<_>>().join(", ")
}
