//! Encodes and decodes programs, as XDR (`docs/src/composite.md`). A program has only one encoding, so the hash of the
//! bytes identifies it.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use drystone_component::wire::{Reader, put_opaque, put_u32, put_u64};
use drystone_component::{Fingerprint, Type};

use super::check::{COMMAND_DEPTH, EXPRESSION_DEPTH, Limits, too_long};
use super::fault::Fault;
use super::program::*;
use super::table::{put_value, read_value};
use super::tree::{Command, Expression, For, Move, OnError, Operation};
use crate::bytecode::Slot;

/// The first word of a program: "Comp", with the version of the format.
const MAGIC: u32 = 0x436f_6d70;
const VERSION: u32 = 1;

const TYPES: [Type; 5] = [Type::Boolean, Type::Character, Type::Integer, Type::Real, Type::Text];

type Read<T> = Result<T, String>;

impl Program {
    /// Its bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put_u32(&mut out, MAGIC);
        put_u32(&mut out, VERSION);
        put_u32(&mut out, self.communications.len() as u32);
        for fingerprint in &self.communications {
            out.extend_from_slice(&fingerprint.to_bytes());
        }
        put_u32(&mut out, self.variables.len() as u32);
        self.variables.iter().for_each(|variable| put_variable(&mut out, variable));
        put_u32(&mut out, self.calls.len() as u32);
        self.calls.iter().for_each(|call| put_call(&mut out, call));
        match &self.code {
            Code::Tree(tree) => {
                put_u32(&mut out, 0);
                put_command(&mut out, tree);
            }
            Code::Bytecode(slots) => {
                put_u32(&mut out, 1);
                put_u32(&mut out, slots.len() as u32);
                slots.iter().for_each(|slot| out.extend_from_slice(&slot.bytes()));
            }
        }
        out
    }

    /// Decodes untrusted bytes, which must be one program and nothing else. Whether the program makes sense is for
    /// [`Program::check`] to say.
    pub fn decode(bytes: &[u8], limits: &Limits) -> Result<Program, Refusal> {
        if let Some(refusal) = too_long(bytes.len(), limits) {
            return Err(refusal);
        }
        read(bytes).map_err(|what| format!("these bytes are no program: {what}").into())
    }
}

fn read(bytes: &[u8]) -> Read<Program> {
    let mut reader = Reader::new(bytes);
    if reader.word("its beginning")? != MAGIC {
        return Err("they don't begin as one".into());
    }
    match reader.word("its version")? {
        VERSION => {}
        other => return Err(format!("it is of version {other}, and this server knows version {VERSION}")),
    }
    let communications = many(&mut reader, 16, "the communications", |reader| {
        Ok(Fingerprint::from_bytes(reader.array("a fingerprint")?))
    })?;
    let variables = many(&mut reader, 12, "the variables", variable)?;
    let calls = many(&mut reader, 16, "the calls", call)?;
    let code = match reader.word("the form of its code")? {
        0 => Code::Tree(command(&mut reader, 0)?),
        1 => Code::Bytecode(many(&mut reader, 8, "the instructions", |reader| {
            Ok(Slot::read(reader.array("an instruction")?))
        })?),
        other => return Err(format!("there is no form {other} of code")),
    };
    reader.end()?;
    Ok(Program { communications, variables, calls, code })
}

/// A vector: its length is the next word, and each element takes at least `size` bytes.
fn many<T>(
    reader: &mut Reader<'_>,
    size: usize,
    what: &str,
    mut one: impl FnMut(&mut Reader<'_>) -> Read<T>,
) -> Read<Vec<T>> {
    let count = reader.word(what)? as usize;
    if count > reader.left() / size {
        return Err(format!("{what} are more than follow"));
    }
    (0..count).map(|_| one(reader)).collect()
}

fn flag(reader: &mut Reader<'_>, what: &str) -> Read<bool> {
    match reader.word(what)? {
        word @ 0..=1 => Ok(word == 1),
        _ => Err(format!("{what} is neither 0 nor 1")),
    }
}

fn put_variable(out: &mut Vec<u8>, variable: &Variable) {
    put_u32(out, variable.ty as u32);
    put_u32(out, variable.length.unwrap_or(0));
    match &variable.travels {
        Travels::Not(value) => {
            put_u32(out, 0);
            put_value(out, value);
        }
        Travels::In => put_u32(out, 1),
        Travels::Out => put_u32(out, 2),
        Travels::Both => put_u32(out, 3),
    }
}

fn variable(reader: &mut Reader<'_>) -> Read<Variable> {
    let ty = reader.word("the type of a variable")?;
    let ty = *TYPES.get(ty as usize).ok_or_else(|| format!("there is no type {ty} of variables"))?;
    let length = reader.word("the length of a variable")?;
    let travels = match reader.word("how a variable travels")? {
        0 => Travels::Not(read_value(reader, ty)?),
        1 => Travels::In,
        2 => Travels::Out,
        3 => Travels::Both,
        other => return Err(format!("variables don't travel in way {other}")),
    };
    Ok(Variable { ty, length: (length > 0).then_some(length), travels })
}

fn put_call(out: &mut Vec<u8>, call: &Call) {
    put_u32(out, call.communication);
    put_u32(out, call.location);
    let (kind, number, arguments) = match &call.action {
        Action::Send { message, arguments } => (0, *message, Some(arguments)),
        Action::Receive { message, results } => (1, *message, Some(results)),
        Action::Test(pattern) => (2, pattern_number(*pattern), None),
        Action::Input(pattern) => (3, pattern_number(*pattern), None),
        Action::Close => (4, 0, None),
    };
    put_u32(out, kind);
    put_u32(out, number);
    if let Some(arguments) = arguments {
        put_u32(out, arguments.len() as u32);
        for argument in arguments {
            put_u32(out, argument.variable);
            put_u32(out, argument.index.unwrap_or(NONE));
        }
    }
}

/// In the place of a variable: none.
const NONE: u32 = u32::MAX;
/// In the place of a message: no message has this number.
const ANY: u32 = u32::MAX;
const FINISH: u32 = u32::MAX - 1;

fn pattern_number(pattern: Pattern) -> u32 {
    match pattern {
        Pattern::Message(number) => number,
        Pattern::Any => ANY,
        Pattern::Finish => FINISH,
    }
}

fn call(reader: &mut Reader<'_>) -> Read<Call> {
    let communication = reader.word("the communication of a call")?;
    let location = reader.word("the location of a call")?;
    let kind = reader.word("the kind of a call")?;
    let number = reader.word("the message of a call")?;
    let pattern = match number {
        ANY => Pattern::Any,
        FINISH => Pattern::Finish,
        number => Pattern::Message(number),
    };
    let mut arguments = || {
        many(reader, 8, "the arguments of a call", |reader| {
            let variable = reader.word("an argument")?;
            let index = reader.word("the index of an argument")?;
            Ok(Argument { variable, index: (index != NONE).then_some(index) })
        })
    };
    let action = match kind {
        0 => Action::Send { message: number, arguments: arguments()? },
        1 => Action::Receive { message: number, results: arguments()? },
        2 => Action::Test(pattern),
        3 => Action::Input(pattern),
        4 if number == 0 => Action::Close,
        4 => return Err("a call that closes has a message".into()),
        other => return Err(format!("there is no kind {other} of calls")),
    };
    Ok(Call { communication, action, location })
}

fn put_command(out: &mut Vec<u8>, command: &Command) {
    match command {
        Command::Sequence(commands) => {
            put_words(out, &[0, commands.len() as u32]);
            commands.iter().for_each(|command| put_command(out, command));
        }
        Command::Assign(variable, value) => {
            put_words(out, &[1, *variable]);
            put_expression(out, value);
        }
        Command::AssignElement { variable, index, value, location } => {
            put_words(out, &[2, *variable, *location]);
            put_expression(out, index);
            put_expression(out, value);
        }
        Command::If(condition, yes, no) => {
            put_u32(out, 3);
            put_expression(out, condition);
            put_command(out, yes);
            put_command(out, no);
        }
        Command::While(condition, body) => {
            put_u32(out, 4);
            put_expression(out, condition);
            put_command(out, body);
        }
        Command::Repeat(body, condition) => {
            put_u32(out, 5);
            put_expression(out, condition);
            put_command(out, body);
        }
        Command::For(it) => {
            put_words(out, &[6, it.variable, it.location]);
            [&it.from, &it.to, &it.by].into_iter().for_each(|number| put_expression(out, number));
            put_command(out, &it.body);
        }
        Command::Call(call) => put_words(out, &[7, *call]),
        Command::Number { text, variable, is } => {
            put_words(out, &[8, *variable, *is]);
            put_expression(out, text);
        }
        Command::Move(it) => {
            put_words(out, &[9, it.from, it.to, it.location]);
            let numbers = [&it.from_at, &it.from_step, &it.to_at, &it.to_step, &it.size, &it.count];
            numbers.into_iter().for_each(|number| put_expression(out, number));
        }
        Command::OnError(what) => put_words(out, &[10, (*what == OnError::Continue).into()]),
        Command::Fail(fault, location) => put_words(out, &[11, *fault as u32, *location]),
        Command::Stop => put_u32(out, 12),
    }
}

fn put_words(out: &mut Vec<u8>, words: &[u32]) {
    words.iter().for_each(|word| put_u32(out, *word));
}

fn command(reader: &mut Reader<'_>, depth: usize) -> Read<Command> {
    if depth > COMMAND_DEPTH {
        return Err(format!("commands are nested more than {COMMAND_DEPTH} deep"));
    }
    let inner = |reader: &mut Reader<'_>| command(reader, depth + 1);
    Ok(match reader.word("a command")? {
        0 => Command::Sequence(many(reader, 4, "the commands of a sequence", inner)?),
        1 => Command::Assign(reader.word("a variable")?, expression(reader, 0)?),
        2 => {
            let (variable, location) = (reader.word("a variable")?, reader.word("a location")?);
            let (index, value) = (expression(reader, 0)?, expression(reader, 0)?);
            Command::AssignElement { variable, index, value, location }
        }
        3 => Command::If(expression(reader, 0)?, Box::new(inner(reader)?), Box::new(inner(reader)?)),
        4 => Command::While(expression(reader, 0)?, Box::new(inner(reader)?)),
        5 => {
            let condition = expression(reader, 0)?;
            Command::Repeat(Box::new(inner(reader)?), condition)
        }
        6 => {
            let (variable, location) = (reader.word("a variable")?, reader.word("a location")?);
            let [from, to, by] = [expression(reader, 0)?, expression(reader, 0)?, expression(reader, 0)?];
            Command::For(Box::new(For { variable, from, to, by, body: inner(reader)?, location }))
        }
        7 => Command::Call(reader.word("a call")?),
        8 => {
            let (variable, is) = (reader.word("a variable")?, reader.word("a variable")?);
            Command::Number { text: expression(reader, 0)?, variable, is }
        }
        9 => {
            let (from, to) = (reader.word("an array")?, reader.word("an array")?);
            let location = reader.word("a location")?;
            let mut number = || expression(reader, 0);
            Command::Move(Box::new(Move {
                from,
                to,
                from_at: number()?,
                from_step: number()?,
                to_at: number()?,
                to_step: number()?,
                size: number()?,
                count: number()?,
                location,
            }))
        }
        10 => match flag(reader, "what errors do")? {
            false => Command::OnError(OnError::Abort),
            true => Command::OnError(OnError::Continue),
        },
        11 => {
            let fault = reader.word("an error")?;
            let fault = Fault::from_number(fault).ok_or_else(|| format!("there is no error {fault}"))?;
            Command::Fail(fault, reader.word("a location")?)
        }
        12 => Command::Stop,
        other => return Err(format!("there is no command {other}")),
    })
}

fn put_expression(out: &mut Vec<u8>, expression: &Expression) {
    match expression {
        Expression::Boolean(it) => put_words(out, &[0, (*it).into()]),
        Expression::Character(it) => put_words(out, &[1, (*it).into()]),
        Expression::Integer(it) => {
            put_u32(out, 2);
            put_u64(out, *it as u64);
        }
        Expression::Real(it) => {
            put_u32(out, 3);
            put_u64(out, it.to_bits());
        }
        Expression::Text(text) => {
            put_u32(out, 4);
            put_opaque(out, text);
        }
        Expression::Variable(variable) => put_words(out, &[5, *variable]),
        Expression::Element(variable, index, location) => {
            put_words(out, &[6, *variable, *location]);
            put_expression(out, index);
        }
        Expression::Apply(operation, operands, location) => {
            put_words(out, &[7, operation.number(), *location]);
            operands.iter().for_each(|operand| put_expression(out, operand));
        }
        Expression::Test(call) => put_words(out, &[8, *call]),
        Expression::Failed => put_u32(out, 9),
    }
}

fn expression(reader: &mut Reader<'_>, depth: usize) -> Read<Expression> {
    if depth > EXPRESSION_DEPTH {
        return Err(format!("expressions are nested more than {EXPRESSION_DEPTH} deep"));
    }
    let tag = reader.word("an expression")?;
    Ok(match tag {
        0..=4 => match read_value(reader, TYPES[tag as usize])? {
            super::Value::Boolean(it) => Expression::Boolean(it),
            super::Value::Character(it) => Expression::Character(it),
            super::Value::Integer(it) => Expression::Integer(it),
            super::Value::Real(it) => Expression::Real(it),
            super::Value::Text(it) => Expression::Text(it),
        },
        5 => Expression::Variable(reader.word("a variable")?),
        6 => {
            let (variable, location) = (reader.word("an array")?, reader.word("a location")?);
            Expression::Element(variable, Box::new(expression(reader, depth + 1)?), location)
        }
        7 => {
            let operation = reader.word("an operation")?;
            let operation = Operation::from_number(operation)
                .ok_or_else(|| format!("there is no operation {operation}"))?;
            let location = reader.word("a location")?;
            let operands = operation.signature().0.iter().map(|_| expression(reader, depth + 1));
            Expression::Apply(operation, operands.collect::<Read<_>>()?, location)
        }
        8 => Expression::Test(reader.word("a call")?),
        9 => Expression::Failed,
        other => return Err(format!("there is no expression {other}")),
    })
}
