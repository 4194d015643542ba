//! Blocks and instructions.

use super::constants::Untyped;
use super::names::Names;
use super::text::{attributes, comment, effects, put};
use crate::ir::{
    Access, Block, BlockId, Body, CallAttributes, Instruction, Module, Op, Operand, Terminator, Type,
};
use std::fmt::{self, Debug, Display, Formatter};

/// Writes the blocks of a function.
pub(super) fn print(text: &mut String, module: &Module, body: &Body, names: &Names) {
    let printer = Printer { module, body, names };
    for (position, block) in body.blocks.iter().enumerate() {
        if position > 0 {
            text.push('\n');
        }
        comment(text, &block.comment);
        // The first label is omitted: no block jumps to the entry, and a comment may precede it.
        if position > 0 {
            put(text, format_args!("{}:\n", names.blocks[position]));
        }
        printer.block(text, block);
    }
}

struct Printer<'a> {
    module: &'a Module,
    body: &'a Body,
    names: &'a Names,
}

/// An operand, with or without its type.
struct Value<'a>(&'a Printer<'a>, &'a Operand, Style);

#[derive(Clone, Copy)]
enum Style {
    Bare,
    Typed,
}

impl Display for Value<'_> {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        let Value(printer, operand, style) = self;
        if let Style::Typed = style {
            write!(f, "{} ", printer.body.type_of(operand))?;
        }
        match operand {
            Operand::Value(value) => f.write_str(&printer.names.values[value.0 as usize]),
            Operand::Const(constant) => write!(f, "{}", Untyped(printer.module, constant)),
        }
    }
}

/// LLVM's word for an operation, a relation or a conversion: its name in lower case.
fn word(name: &dyn Debug) -> String {
    format!("{name:?}").to_lowercase()
}

impl<'a> Printer<'a> {
    fn bare(&'a self, operand: &'a Operand) -> Value<'a> {
        Value(self, operand, Style::Bare)
    }

    fn typed(&'a self, operand: &'a Operand) -> Value<'a> {
        Value(self, operand, Style::Typed)
    }

    fn label(&self, block: &BlockId) -> String {
        format!("%{}", self.names.blocks[block.0 as usize])
    }

    fn block(&self, text: &mut String, block: &Block) {
        for instruction in &block.instructions {
            self.instruction(text, instruction);
        }
        text.push_str("  ");
        self.terminator(text, &block.terminator);
        text.push('\n');
    }

    fn terminator(&self, text: &mut String, terminator: &Terminator) {
        match terminator {
            Terminator::Return(None) => text.push_str("ret void"),
            Terminator::Return(Some(value)) => put(text, format_args!("ret {}", self.typed(value))),
            Terminator::Jump(to) => put(text, format_args!("br label {}", self.label(to))),
            Terminator::Branch(condition, yes, no) => {
                let (yes, no) = (self.label(yes), self.label(no));
                put(text, format_args!("br {}, label {yes}, label {no}", self.typed(condition)));
            }
            Terminator::Switch(value, default, cases) => {
                put(text, format_args!("switch {}, label {} [", self.typed(value), self.label(default)));
                let ty = self.body.type_of(value);
                for (case, to) in cases {
                    put(text, format_args!("\n    {ty} {case}, label {}", self.label(to)));
                }
                text.push_str("\n  ]");
            }
            Terminator::Unreachable => text.push_str("unreachable"),
        }
    }

    fn instruction(&self, text: &mut String, instruction: &Instruction) {
        let name = instruction.result.map(|value| &*self.names.values[value.0 as usize]);
        if let Op::Address { base, offset, terms } = &instruction.op {
            return self.address(text, name.unwrap_or_default(), base, *offset, terms);
        }
        text.push_str("  ");
        if let Some(name) = name {
            put(text, format_args!("{name} = "));
        }
        self.op(text, &instruction.op, &instruction.ty);
        text.push('\n');
    }

    fn op(&self, text: &mut String, op: &Op, ty: &Type) {
        let out = text;
        match op {
            Op::Binary(binary, a, b) => {
                put(out, format_args!("{} {}, {}", word(binary), self.typed(a), self.bare(b)));
            }
            Op::FNeg(a) => put(out, format_args!("fneg {}", self.typed(a))),
            Op::Compare(relation, a, b) => {
                put(out, format_args!("icmp {} {}, {}", word(relation), self.typed(a), self.bare(b)));
            }
            Op::FloatCompare(relation, a, b) => {
                put(out, format_args!("fcmp {} {}, {}", word(relation), self.typed(a), self.bare(b)));
            }
            Op::Cast(cast, a) => put(out, format_args!("{} {} to {ty}", word(cast), self.typed(a))),
            Op::Select(condition, a, b) => {
                put(
                    out,
                    format_args!("select {}, {}, {}", self.typed(condition), self.typed(a), self.typed(b)),
                );
            }
            Op::Freeze(a) => put(out, format_args!("freeze {}", self.typed(a))),
            Op::Load { from, align, access } => {
                let (before, behind) = bound(*access);
                put(out, format_args!("load{before} {ty}, {}{behind}, align {align}", self.typed(from)));
            }
            Op::Store { value, to, align, access } => {
                let (before, behind) = bound(*access);
                let (value, to) = (self.typed(value), self.typed(to));
                put(out, format_args!("store{before} {value}, {to}{behind}, align {align}"));
            }
            Op::Alloca { size, count, align } => {
                let count = self.typed(count);
                put(out, format_args!("alloca [{size} x i8], {count}, align {align}"));
            }
            Op::Address { .. } => unreachable!("written by `instruction`"),
            Op::Call { callee, args, variadic, attributes } => {
                self.call(out, ty, callee, args, *variadic, attributes);
            }
            Op::Phi(incoming) => {
                put(out, format_args!("phi {ty}"));
                for (position, (value, from)) in incoming.iter().enumerate() {
                    let comma = if position > 0 { "," } else { "" };
                    put(out, format_args!("{comma} [ {}, {} ]", self.bare(value), self.label(from)));
                }
            }
            Op::ExtractValue(whole, path) => {
                put(out, format_args!("extractvalue {}{}", self.typed(whole), Path(path)));
            }
            Op::InsertValue(whole, part, path) => {
                let (whole, part) = (self.typed(whole), self.typed(part));
                put(out, format_args!("insertvalue {whole}, {part}{}", Path(path)));
            }
            Op::ExtractElement(vector, index) => {
                put(out, format_args!("extractelement {}, {}", self.typed(vector), self.typed(index)));
            }
            Op::InsertElement(vector, part, index) => {
                let (vector, part, index) = (self.typed(vector), self.typed(part), self.typed(index));
                put(out, format_args!("insertelement {vector}, {part}, {index}"));
            }
            Op::Shuffle(a, b, order) => {
                put(out, format_args!("shufflevector {}, {}, ", self.typed(a), self.typed(b)));
                shuffle_order(out, order);
            }
            Op::AtomicUpdate(operation, to, value) => {
                put(
                    out,
                    format_args!("atomicrmw {operation} {}, {} seq_cst", self.typed(to), self.typed(value)),
                );
            }
            Op::CompareExchange(at, expected, new) => {
                let (at, expected, new) = (self.typed(at), self.typed(expected), self.typed(new));
                put(out, format_args!("cmpxchg {at}, {expected}, {new} seq_cst seq_cst"));
            }
            Op::Fence => out.push_str("fence seq_cst"),
        }
    }

    fn call(
        &self,
        text: &mut String,
        ty: &Type,
        callee: &Operand,
        args: &[Operand],
        variadic: Option<usize>,
        said: &CallAttributes,
    ) {
        put(text, format_args!("call {ty} "));
        if let Some(named) = variadic {
            text.push('(');
            for arg in args.iter().take(named) {
                put(text, format_args!("{}, ", self.body.type_of(arg)));
            }
            text.push_str("...) ");
        }
        put(text, format_args!("{}(", self.bare(callee)));
        for (position, arg) in args.iter().enumerate() {
            put(text, format_args!("{}{}", if position > 0 { ", " } else { "" }, self.body.type_of(arg)));
            if let Some(said) = said.params.get(position) {
                attributes(text, said);
            }
            put(text, format_args!(" {}", self.bare(arg)));
        }
        text.push(')');
        if said.noreturn {
            text.push_str(" noreturn");
        }
        if let Some(memory) = said.memory {
            effects(text, memory);
        }
    }

    /// Writes an address as one `getelementptr` through arrays of bytes: `[4 x i8]` for an index scaled by four, and
    /// finally the constant offset in bytes.
    fn address(&self, text: &mut String, name: &str, base: &Operand, offset: i64, terms: &[(Operand, i64)]) {
        let mut indices = Vec::new();
        for (position, (index, scale)) in terms.iter().enumerate().filter(|(_, (_, scale))| *scale != 0) {
            if *scale > 0 {
                indices.push((self.typed(index).to_string(), *scale));
                continue;
            }
            // No type has a negative size, so the index is multiplied first.
            let scaled = format!("%\"{} by {scale}, {position}\"", name.trim_matches(['%', '"']));
            let mut wide = self.bare(index).to_string();
            if self.body.type_of(index) != Type::WORD {
                put(
                    text,
                    format_args!(
                        "  {}.wide\" = sext {} to i64\n",
                        &scaled[..scaled.len() - 1],
                        self.typed(index)
                    ),
                );
                wide = format!("{}.wide\"", &scaled[..scaled.len() - 1]);
            }
            put(text, format_args!("  {scaled} = mul i64 {wide}, {scale}\n"));
            indices.push((format!("i64 {scaled}"), 1));
        }
        let (mut ty, mut path, mut size) = (String::from("i8"), String::new(), 1);
        if offset != 0 || indices.is_empty() {
            path = format!(", i64 {offset}");
        }
        for (position, (index, scale)) in indices.iter().rev().enumerate() {
            match position {
                0 if path.is_empty() && *scale == 1 => {}
                // An array of the inner type, whose length makes its size equal to the index's scale.
                _ if scale % size == 0 => ty = format!("[{} x {ty}]", scale / size),
                _ => {
                    ty = format!("<{{ [0 x {ty}], [{scale} x i8] }}>");
                    path.insert_str(0, ", i32 0");
                }
            }
            path.insert_str(0, &format!(", {index}"));
            size = *scale;
        }
        put(text, format_args!("  {name} = getelementptr {ty}, {}{path}\n", self.typed(base)));
    }
}

/// The words before the type and after the address of an access.
fn bound(access: Access) -> (&'static str, &'static str) {
    match access {
        Access::Plain => ("", ""),
        Access::Volatile => (" volatile", ""),
        Access::Atomic => (" atomic", " seq_cst"),
    }
}

fn shuffle_order(text: &mut String, order: &[i32]) {
    put(text, format_args!("<{} x i32> <", order.len()));
    for (position, from) in order.iter().enumerate() {
        let comma = if position > 0 { ", " } else { "" };
        match from {
            0.. => put(text, format_args!("{comma}i32 {from}")),
            _ => put(text, format_args!("{comma}i32 undef")),
        }
    }
    text.push('>');
}

struct Path<'a>(&'a [u32]);

impl Display for Path<'_> {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        self.0.iter().try_for_each(|index| write!(f, ", {index}"))
    }
}
