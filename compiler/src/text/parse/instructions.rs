//! Reads suspension points, instructions and the ends of blocks.

use std::fmt::Debug;

use drystone_language::ast::Direction;
use drystone_language::program::{AnyType, Cardinality, Facet, InterfaceId, LockMode, Pattern, VariableId};
use drystone_runtime::layout::Fault;

use super::{Cursor, Read};
use crate::awaited::Dependence;
use crate::entries;
use crate::mir::*;
use crate::text::Names;

/// What stands in a line of a block.
pub(super) enum Line {
    Point(SuspensionPoint),
    Inst(Inst),
    End(Terminator),
}

impl Names {
    pub(super) fn line_of_block(&mut self, line: &mut Cursor) -> Read<Line> {
        if line.is_numbered("r") {
            return self.with_result(line);
        }
        let first = line.peek();
        if entry_named(first).is_some() {
            return self.call(line, None);
        }
        line.eat(first);
        match first {
            "goto" => Ok(Line::End(Terminator::Goto(line.block()?))),
            "if" => {
                let condition = line.reg()?;
                line.expect("goto")?;
                let yes = line.block()?;
                line.expect("else")?;
                Ok(Line::End(Terminator::Branch { condition, yes, no: line.block()? }))
            }
            "return" if line.is_at_end() => Ok(Line::End(Terminator::Return(None))),
            "return" => Ok(Line::End(Terminator::Return(Some(line.reg()?)))),
            "finish" => Ok(Line::End(Terminator::Finish(self.location(line)?))),
            "answer" => Ok(Line::End(Terminator::Answer(line.reg()?))),
            "unreachable" => Ok(Line::End(Terminator::Unreachable)),
            "call" => self.call_procedure(line, None),
            "lock" | "unlock" | "home" | "await" => {
                let op = operation(first, line)?;
                Ok(Line::Point(SuspensionPoint { op, location: self.location(line)? }))
            }
            _ => Ok(Line::Inst(self.without_result(first, line)?)),
        }
    }

    /// An instruction that gives nothing, behind its first word.
    fn without_result(&mut self, first: &str, line: &mut Cursor) -> Read<Inst> {
        Ok(match first {
            "store" => {
                let value = line.reg()?;
                line.expect("to")?;
                Inst::Store { to: address(line)?, value }
            }
            "require" => {
                let reg = line.reg()?;
                line.expect("else")?;
                Inst::Require(reg, fault(line)?, self.location(line)?)
            }
            "fail" => Inst::Fail(fault(line)?, self.location(line)?),
            "watch" => {
                let (variable, collection, keys) = self.element(line)?;
                Inst::Watch { variable, collection, keys }
            }
            "wrote" => {
                let (variable, collection, keys) = self.element(line)?;
                Inst::Wrote { variable, collection, keys }
            }
            "sent" => {
                let (interface, message) = self.message(line)?;
                line.expect("with")?;
                Inst::Sent { payload: payload(line)?, interface, message }
            }
            "received" => {
                let (interface, message) = self.message(line)?;
                line.expect("with")?;
                Inst::Received { payload: payload(line)?, interface, message }
            }
            other => return Err(format!("{other:?} begins no instruction")),
        })
    }

    /// `r1 = ..` or `r1, r2 = ..`
    fn with_result(&mut self, line: &mut Cursor) -> Read<Line> {
        let to = line.reg()?;
        if line.eat(",") {
            let payload = Payload { communication: to, word: line.reg()? };
            line.expect("=")?;
            return self.message_moves(line, payload);
        }
        line.expect("=")?;
        let first = line.peek();
        if entry_named(first).is_some() {
            return self.call(line, Some(to));
        }
        if line.eat("call") {
            return self.call_procedure(line, Some(to));
        }
        if line.eat("select") {
            return self.select(line, to);
        }
        if !line.is_next("test") && !line.is_next("input") {
            return Ok(Line::Inst(self.value(to, line)?));
        }
        line.eat(first);
        let (interface, side, question, reach) = self.asked(line)?;
        let op = match first {
            "test" => SuspensionOp::Test { reach, interface, side, question, to },
            _ => match question {
                Question::Is(pattern) => SuspensionOp::Input { reach, interface, side, pattern, to },
                Question::Which => return Err("INPUT asks whether one thing comes next".into()),
            },
        };
        Ok(Line::Point(SuspensionPoint { op, location: self.location(line)? }))
    }

    /// What a test asks, and over which communication.
    fn asked(&mut self, line: &mut Cursor) -> Read<(InterfaceId, Direction, Question, Reach)> {
        let (interface, question) = self.question(line)?;
        line.expect("as")?;
        let side = match line.word()? {
            "client" => Direction::In,
            "server" => Direction::Out,
            other => return Err(format!("{other:?} is no end of a communication")),
        };
        line.expect("over")?;
        Ok((interface, side, question, reach(line)?))
    }

    fn select(&mut self, line: &mut Cursor, to: Reg) -> Read<Line> {
        let (mut sources, mut awaits) = (vec![self.source(line)?], false);
        while line.eat("or") {
            if line.eat("await") {
                awaits = true;
                break;
            }
            sources.push(self.source(line)?);
        }
        let until = if line.eat("until") { Some(line.reg()?) } else { None };
        awaits |= line.eat("or await");
        let op = SuspensionOp::Select { sources, until, awaits, to };
        Ok(Line::Point(SuspensionPoint { op, location: self.location(line)? }))
    }

    fn source(&mut self, line: &mut Cursor) -> Read<Source> {
        if line.eat("condition") {
            return Ok(Source::Condition(line.reg()?));
        }
        let (interface, side, question, reach) = self.asked(line)?;
        Ok(Source::Arrival { reach, interface, side, question })
    }

    fn message_moves(&mut self, line: &mut Cursor, payload: Payload) -> Read<Line> {
        if line.eat("room for") {
            let (interface, message) = self.message(line)?;
            let location = self.location(line)?;
            return Ok(Line::Inst(Inst::Room { interface, message, payload, location }));
        }
        let sends = line.eat("send");
        if !sends {
            line.expect("receive")?;
        }
        let (interface, message) = self.message(line)?;
        line.expect("over")?;
        let reach = reach(line)?;
        let op = match sends {
            true => SuspensionOp::Send { reach, interface, message, payload },
            false => SuspensionOp::Receive { reach, interface, message, payload },
        };
        Ok(Line::Point(SuspensionPoint { op, location: self.location(line)? }))
    }

    /// A call of an entry point, which is a suspension point if it has a location.
    fn call(&mut self, line: &mut Cursor, to: Option<Reg>) -> Read<Line> {
        let entry = entry_named(line.word()?).expect("it was seen");
        line.expect("(")?;
        let arguments = registers_until(line, ")")?;
        if line.is_at_end() {
            return Ok(Line::Inst(Inst::Call { to, entry, arguments }));
        }
        let op = SuspensionOp::Call { to, entry, arguments };
        Ok(Line::Point(SuspensionPoint { op, location: self.location(line)? }))
    }

    /// A call of a procedure: on the processor's stack, or of one that may wait, which ends the block.
    fn call_procedure(&mut self, line: &mut Cursor, to: Option<Reg>) -> Read<Line> {
        let variant = self.variant(line.word()?)?;
        line.expect("(")?;
        let arguments = registers_until(line, ")")?;
        if to.is_some() || line.is_at_end() {
            return Ok(Line::Inst(Inst::CallNative { to, variant, arguments }));
        }
        let outer = if line.eat("around it") { Some(line.reg()?) } else { None };
        line.expect("at")?;
        let location = line.until_last(" then ")?;
        let location = self.location_named(location)?;
        let then = line.block()?;
        Ok(Line::End(Terminator::CallProcedure { variant, arguments, outer, then, location }))
    }

    /// What gives a register its value without calling anything.
    fn value(&mut self, to: Reg, line: &mut Cursor) -> Read<Inst> {
        if line.is_numbered("r") {
            return Ok(Inst::Copy { to, from: line.reg()? });
        }
        if let Some(constant) = constant(to, line) {
            return Ok(constant);
        }
        if line.eat("checked") {
            let operator = named(&CHECKED, line)?;
            let (a, b) = two(line)?;
            return Ok(Inst::Checked { to, operator, a, b, location: self.location(line)? });
        }
        if line.eat("load") {
            return Ok(Inst::Load { to, from: address(line)? });
        }
        if line.eat("word") {
            let word = line.number()?;
            line.expect("of record")?;
            return Ok(Inst::Word { to, record: line.reg()?, word });
        }
        if line.eat("count of sequence") {
            return Ok(Inst::Count { to, sequence: line.reg()? });
        }
        if line.eat("place of") {
            let index = line.reg()?;
            line.expect("in sequence at")?;
            let cell = line.reg()?;
            return Ok(Inst::Place { to, cell, index, location: self.location(line)? });
        }
        if line.eat("length of text") {
            return Ok(Inst::Length { to, text: line.reg()? });
        }
        if line.eat("bytes of text") {
            return Ok(Inst::Bytes { to, text: line.reg()? });
        }
        if line.eat("address of") {
            return Ok(Inst::Address { to, of: address(line)? });
        }
        if line.eat("result") {
            return Ok(Inst::Result(to));
        }
        if line.eat("words") {
            return Ok(Inst::Words(to, registers(line)?));
        }
        if line.eat("find") {
            return self.find(to, line);
        }
        if let Some(symbol) = self.symbol(line)? {
            return Ok(Inst::Symbol(to, symbol));
        }
        if ["process", "frame", "instance"].iter().any(|base| line.is_next(base)) {
            return Ok(Inst::Base(to, base(line)?));
        }
        let mut ahead = line.clone();
        if let Ok(operator) = named(&UNARY, &mut ahead) {
            *line = ahead;
            return Ok(Inst::Unary { to, operator, from: line.reg()? });
        }
        let op = named(&OPS, line)?;
        let (a, b) = two(line)?;
        Ok(Inst::Op { to, op, a, b })
    }

    fn find(&mut self, to: Reg, line: &mut Cursor) -> Read<Inst> {
        let (variable, collection, keys) = self.element(line)?;
        let by_text = line.eat("by text");
        line.expect("else")?;
        let absent = if line.eat("0") {
            IfAbsent::Null
        } else if line.eat("made") {
            IfAbsent::Make(self.location(line)?)
        } else {
            IfAbsent::Fault(fault(line)?, self.location(line)?)
        };
        Ok(Inst::Find { to, variable, collection, keys, by_text, absent })
    }

    fn element(&mut self, line: &mut Cursor) -> Read<(VariableId, Address, Vec<Reg>)> {
        let variable = self.variable(line.word()?);
        line.expect("[")?;
        let keys = registers_until(line, "]")?;
        line.expect("of")?;
        Ok((variable, address(line)?, keys))
    }

    fn symbol(&mut self, line: &mut Cursor) -> Read<Option<Symbol>> {
        Ok(Some(if line.eat("interface") {
            Symbol::Interface(self.interface(line.word()?))
        } else if line.eat("template") {
            Symbol::Template(self.component(line.word()?))
        } else if line.eat("collection") {
            Symbol::Collection(self.variable(line.word()?))
        } else if line.eat("ANY(") {
            Symbol::Any(self.any(line)?)
        } else if line.eat("no array") {
            Symbol::NoArray
        } else if line.eat("text") {
            Symbol::Text(line.literal()?)
        } else if line.eat("what the frame owns") {
            Symbol::Owned
        } else if line.eat("frame of") {
            Symbol::Frame(self.piece(line.word()?)?)
        } else if line.eat("native") {
            Symbol::Procedure(self.procedure(line.word()?))
        } else {
            return Ok(None);
        }))
    }

    /// `ANY(offers)` or `ANY(offers | requires)`, behind its parenthesis.
    fn any(&mut self, line: &mut Cursor) -> Read<AnyType> {
        let offers = self.facets(line)?;
        let requires = if line.eat("|") { Some(self.facets(line)?) } else { None };
        line.expect(")")?;
        Ok(AnyType { offers, requires })
    }

    fn facets(&mut self, line: &mut Cursor) -> Read<Vec<Facet>> {
        let mut facets = Vec::new();
        if line.is_next("|") || line.is_next(")") {
            return Ok(facets);
        }
        line.list(|line| {
            let interface = self.interface(line.word()?);
            let mut cardinality = None;
            if line.eat("[") {
                let from = line.number()?;
                line.expect("..")?;
                let to = if line.eat("*") { None } else { Some(line.number()?) };
                line.expect("]")?;
                cardinality = Some(Cardinality { from, to });
            }
            facets.push(Facet { interface, cardinality });
            Ok(())
        })?;
        Ok(facets)
    }

    fn question(&mut self, line: &mut Cursor) -> Read<(InterfaceId, Question)> {
        if line.eat("next of") {
            return Ok((self.interface(line.word()?), Question::Which));
        }
        let (interface, pattern) = self.pattern(line)?;
        Ok((interface, Question::Is(pattern)))
    }

    fn pattern(&mut self, line: &mut Cursor) -> Read<(InterfaceId, Pattern)> {
        if line.eat("any of") {
            return Ok((self.interface(line.word()?), Pattern::Any));
        }
        if line.eat("finish of") {
            return Ok((self.interface(line.word()?), Pattern::Finish));
        }
        let (interface, message) = self.message(line)?;
        Ok((interface, Pattern::Message(message)))
    }
}

/// An operation on the component's lock, or one that goes home, behind its first word.
fn operation(first: &str, line: &mut Cursor) -> Read<SuspensionOp> {
    match first {
        "lock" => Ok(SuspensionOp::Lock(lock(line)?)),
        "unlock" => {
            let mode = lock(line)?;
            line.expect("having written")?;
            Ok(SuspensionOp::Unlock { mode, written: line.hexadecimal()? })
        }
        "home" => Ok(SuspensionOp::Home),
        _ if line.is_numbered("b") => {
            let condition = line.block()?;
            let (dependence, written) = waits(line)?;
            Ok(SuspensionOp::Await { condition, dependence, written })
        }
        _ => {
            let holds = line.reg()?;
            line.expect("as tested from")?;
            let again = line.block()?;
            let (dependence, written) = waits(line)?;
            Ok(SuspensionOp::AwaitTested { holds, again, dependence, written })
        }
    }
}

fn waits(line: &mut Cursor) -> Read<(Dependence, u64)> {
    line.expect(",")?;
    let common = line.eat("everybody's");
    if !common {
        line.expect("its own")?;
    }
    line.expect(", depending on")?;
    let bits = line.hexadecimal()?;
    let watches = line.eat("and elements");
    line.expect(", having written")?;
    Ok((Dependence { bits, watches, common }, line.hexadecimal()?))
}

fn lock(line: &mut Cursor) -> Read<LockMode> {
    match line.word()? {
        "exclusive" => Ok(LockMode::Exclusive),
        "shared" => Ok(LockMode::Shared),
        other => Err(format!("a lock is not held {other:?}")),
    }
}

fn reach(line: &mut Cursor) -> Read<Reach> {
    if line.eat("its service") {
        return Ok(Reach::Service);
    }
    line.expect("[")?;
    if line.eat("instance") {
        line.expect("+")?;
        let offset = line.number()?;
        line.expect("]")?;
        if !line.eat("[") {
            return Ok(Reach::Required(offset));
        }
        let k = line.reg()?;
        line.expect("]")?;
        return Ok(Reach::Indexed { offset, k });
    }
    let reg = line.reg()?;
    if line.eat("]") {
        line.expect("of")?;
        return Ok(Reach::HeldSlot { instance: line.reg()?, slot: reg });
    }
    line.expect("+")?;
    let offset = line.number()?;
    line.expect("]")?;
    Ok(Reach::Held { instance: reg, offset })
}

fn base(line: &mut Cursor) -> Read<Base> {
    if line.is_numbered("r") {
        return Ok(Base::Reg(line.reg()?));
    }
    match line.word()? {
        "process" => Ok(Base::Process),
        "frame" => Ok(Base::Frame),
        "instance" => Ok(Base::Instance),
        other => Err(format!("nothing lies in {other:?}")),
    }
}

fn address(line: &mut Cursor) -> Read<Address> {
    let byte = line.eat("byte");
    line.expect("[")?;
    let base = base(line)?;
    let offset = if line.is_next("]") { 0 } else { line.number()? };
    line.expect("]")?;
    Ok(Address { base, offset, byte })
}

fn payload(line: &mut Cursor) -> Read<Payload> {
    let (communication, word) = two(line)?;
    Ok(Payload { communication, word })
}

fn two(line: &mut Cursor) -> Read<(Reg, Reg)> {
    let first = line.reg()?;
    line.expect(",")?;
    Ok((first, line.reg()?))
}

fn registers(line: &mut Cursor) -> Read<Vec<Reg>> {
    let mut registers = Vec::new();
    line.list(|line| {
        registers.push(line.reg()?);
        Ok(())
    })?;
    Ok(registers)
}

fn registers_until(line: &mut Cursor, end: &str) -> Read<Vec<Reg>> {
    let mut registers = Vec::new();
    line.list_until(end, |line| {
        registers.push(line.reg()?);
        Ok(())
    })?;
    Ok(registers)
}

/// A number, if the rest of the line is one: a real one has a point or an exponent, or is none.
fn constant(to: Reg, line: &mut Cursor) -> Option<Inst> {
    let mut ahead = line.clone();
    let text = ahead.remainder();
    let int = || Some(Inst::Int(to, text.parse().ok()?));
    let real = || Some(Inst::Real(to, text.parse().ok()?));
    let constant = int().or_else(real)?;
    *line = ahead;
    Some(constant)
}

fn fault(line: &mut Cursor) -> Read<Fault> {
    named(&FAULTS, line)
}

fn entry_named(name: &str) -> Option<&'static EntryPoint> {
    entries::ALL.iter().copied().find(|entry| entry.name == name)
}

/// One of these, which are printed by their names.
fn named<T: Copy + Debug>(all: &[T], line: &mut Cursor) -> Read<T> {
    let name = line.word()?;
    let found = all.iter().copied().find(|one| format!("{one:?}") == name);
    found.ok_or_else(|| format!("{name:?} is not known here"))
}

// The last of each says how many there are: a new one is missed here by the compiler of Rust.

const OPS: [Op; Op::GreaterEqualReal as usize + 1] = [
    Op::Add,
    Op::Subtract,
    Op::Min,
    Op::Max,
    Op::And,
    Op::Or,
    Op::Xor,
    Op::Multiply,
    Op::Shift,
    Op::Rotate,
    Op::AddReal,
    Op::SubtractReal,
    Op::MultiplyReal,
    Op::DivideReal,
    Op::MinReal,
    Op::MaxReal,
    Op::Equal,
    Op::NotEqual,
    Op::Less,
    Op::LessEqual,
    Op::Greater,
    Op::GreaterEqual,
    Op::LessUnsigned,
    Op::EqualReal,
    Op::NotEqualReal,
    Op::LessReal,
    Op::LessEqualReal,
    Op::GreaterReal,
    Op::GreaterEqualReal,
];

const CHECKED: [Checked; Checked::Mod as usize + 1] =
    [Checked::Add, Checked::Subtract, Checked::Multiply, Checked::Div, Checked::Mod];

const UNARY: [Unary; Unary::RealToInt as usize + 1] =
    [Unary::NegateReal, Unary::SquareRoot, Unary::Floor, Unary::IntToReal, Unary::RealToInt];

const FAULTS: [Fault; Fault::NoBranch as usize + 1] = [
    Fault::Overflow,
    Fault::DivisionByZero,
    Fault::IndexOutOfBounds,
    Fault::MissingElement,
    Fault::EmptyContainer,
    Fault::FullContainer,
    Fault::AssertionFailed,
    Fault::ProtocolViolation,
    Fault::OutOfMemory,
    Fault::StackLimit,
    Fault::Deadlock,
    Fault::InvalidConversion,
    Fault::MissingReturn,
    Fault::WrongType,
    Fault::InvalidArgument,
    Fault::ConnectionCycle,
    Fault::BindingRefused,
    Fault::NoBranch,
];
