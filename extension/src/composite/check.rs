//! Checks a program by itself: that the variables and calls it names exist, that types fit, and that nothing is too
//! large or nested too deep. Errors give the number of the command, counted from 0 in the order of the program's
//! encoding.

use alloc::format;
use alloc::string::{String, ToString};

use drystone_component::Type;

use super::program::{Action, Argument, Code, Program, Refusal, Travels, Variable};
use super::table::Layout;
use super::tree::{Command, Expression, Kind, Operation};
use super::value::Value;

/// Limits of programs.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of an encoded program.
    pub program: usize,
    /// Words of its variables: one for each value that is not a TEXT.
    pub words: u32,
    /// Its TEXTs.
    pub texts: u32,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { program: 1 << 20, words: 1 << 17, texts: 1 << 12 }
    }
}

/// The greatest depth of nested commands.
pub const COMMAND_DEPTH: usize = 64;
/// The greatest depth of nested expressions.
pub const EXPRESSION_DEPTH: usize = 48;

impl Program {
    /// Checks a program by itself. The verifier checks bytecode later, in [`super::Prepared::new`].
    pub fn check(&self, limits: &Limits) -> Result<(), Refusal> {
        for (number, variable) in self.variables.iter().enumerate() {
            check_variable(variable).map_err(|what| format!("variable {number}: {what}"))?;
        }
        let layout = Layout::of(self).filter(|it| it.words() <= limits.words && it.texts() <= limits.texts);
        if layout.is_none() {
            let Limits { words, texts, .. } = limits;
            return Err(format!(
                "its variables are more than {words} values or {texts} TEXTs: use shorter arrays, or several programs"
            )
            .into());
        }
        for (number, call) in self.calls.iter().enumerate() {
            if call.communication as usize >= self.communications.len() {
                let there = self.communications.len();
                return Err(format!(
                    "call {number}: there is no communication {}; there are {there}",
                    call.communication
                )
                .into());
            }
            for argument in call.arguments() {
                self.check_argument(*argument).map_err(|what| format!("call {number}: {what}"))?;
            }
        }
        match &self.code {
            Code::Tree(tree) => Checker { program: self, number: 0 }.command(tree, 0),
            Code::Bytecode(_) => Ok(()),
        }
    }

    fn check_argument(&self, argument: Argument) -> Result<(), String> {
        let variable = self.variable(argument.variable)?;
        match (argument.index, variable.length) {
            (None, None) => Ok(()),
            (Some(index), Some(_)) => match self.variable(index)? {
                Variable { ty: Type::Integer, length: None, .. } => Ok(()),
                _ => Err(format!("variable {index} is to say which element, but isn't one INTEGER")),
            },
            (None, Some(_)) => Err(format!(
                "variable {} is an array; say which element by an INTEGER variable",
                argument.variable
            )),
            (Some(_), None) => {
                Err(format!("variable {} is no array, so it has no elements", argument.variable))
            }
        }
    }

    fn variable(&self, number: u32) -> Result<&Variable, String> {
        let there = self.variables.len();
        self.variables
            .get(number as usize)
            .ok_or_else(|| format!("there is no variable {number}; there are {there}"))
    }
}

fn check_variable(variable: &Variable) -> Result<(), String> {
    match &variable.travels {
        _ if !variable.ty.is_plain() => Err(format!("{} can't be shipped", variable.ty)),
        _ if variable.length == Some(0) => Err("an array of no elements; leave it out".into()),
        Travels::Not(value) if value.ty() != variable.ty => {
            Err(format!("it is {}, but begins as {}", variable.ty, value.ty()))
        }
        Travels::Not(value) if variable.length.is_some() && *value != Value::initial(variable.ty) => {
            Err("an array that doesn't travel begins with zeros; assign them in a loop".into())
        }
        _ => Ok(()),
    }
}

struct Checker<'a> {
    program: &'a Program,
    /// Commands so far.
    number: usize,
}

type Checked<T = ()> = Result<T, Refusal>;

impl Checker<'_> {
    fn command(&mut self, command: &Command, depth: usize) -> Checked {
        let number = self.number;
        self.number += 1;
        if depth > COMMAND_DEPTH {
            return Err(format!(
                "command {number} is nested more than {COMMAND_DEPTH} deep; use a longer sequence instead"
            )
            .into());
        }
        let (name, checked) = match command {
            Command::Sequence(commands) => {
                return commands.iter().try_for_each(|command| self.command(command, depth + 1));
            }
            Command::Assign(variable, value) => ("an assignment", self.assign(*variable, value)),
            Command::AssignElement { variable, index, value, .. } => {
                ("an assignment to an element", self.assign_element(*variable, index, value))
            }
            Command::If(condition, ..) => ("an IF", self.wants(condition, Type::Boolean, "its condition")),
            Command::While(condition, _) => {
                ("a WHILE", self.wants(condition, Type::Boolean, "its condition"))
            }
            Command::Repeat(_, condition) => {
                ("a REPEAT", self.wants(condition, Type::Boolean, "its condition"))
            }
            Command::For(it) => ("a FOR", {
                let bounds = [(&it.from, "its first value"), (&it.to, "its bound"), (&it.by, "its step")];
                self.single(it.variable, Type::Integer).and_then(|()| {
                    bounds.iter().try_for_each(|(it, what)| self.wants(it, Type::Integer, what))
                })
            }),
            Command::Call(call) => ("a call", self.call(*call, false)),
            Command::Number { text, variable, is } => ("a NUMBER", {
                let target = self.program.variable(*variable).and_then(|it| match it {
                    Variable { ty: Type::Integer | Type::Real, length: None, .. } => Ok(()),
                    _ => Err(format!("variable {variable} is to be a number, but isn't one INTEGER or REAL")),
                });
                target
                    .and_then(|()| self.single(*is, Type::Boolean))
                    .and_then(|()| self.wants(text, Type::Text, "what is read"))
            }),
            Command::Move(it) => ("a Move", {
                let numbers = [&it.from_at, &it.from_step, &it.to_at, &it.to_step, &it.size, &it.count];
                self.arrays(it.from, it.to).and_then(|()| {
                    numbers.iter().try_for_each(|it| self.wants(it, Type::Integer, "each of its numbers"))
                })
            }),
            Command::OnError(_) | Command::Fail(..) | Command::Stop => return Ok(()),
        };
        checked.map_err(|what| format!("command {number}, {name}: {what}"))?;
        match command {
            Command::If(_, yes, no) => {
                self.command(yes, depth + 1)?;
                self.command(no, depth + 1)
            }
            Command::While(_, body) | Command::Repeat(body, _) => self.command(body, depth + 1),
            Command::For(it) => self.command(&it.body, depth + 1),
            _ => Ok(()),
        }
    }

    fn assign(&self, variable: u32, value: &Expression) -> Result<(), String> {
        let Variable { ty, length, .. } = self.program.variable(variable)?;
        if length.is_some() {
            return Err(format!("variable {variable} is an array; assign its elements"));
        }
        self.wants(value, *ty, "its value")
    }

    fn assign_element(&self, variable: u32, index: &Expression, value: &Expression) -> Result<(), String> {
        let ty = match self.program.variable(variable)? {
            Variable { ty, length: Some(_), .. } => *ty,
            Variable { ty: Type::Text, .. } => Type::Character,
            _ => return Err(format!("variable {variable} is neither an array nor a TEXT")),
        };
        self.wants(index, Type::Integer, "its index")?;
        self.wants(value, ty, "its value")
    }

    fn single(&self, variable: u32, ty: Type) -> Result<(), String> {
        match self.program.variable(variable)? {
            it if it.ty == ty && it.length.is_none() => Ok(()),
            _ => Err(format!("variable {variable} is to be one {ty}, and isn't")),
        }
    }

    fn arrays(&self, from: u32, to: u32) -> Result<(), String> {
        let (from_array, to_array) = (self.program.variable(from)?, self.program.variable(to)?);
        for (number, it) in [(from, from_array), (to, to_array)] {
            if it.length.is_none() {
                return Err(format!("variable {number} is no array"));
            }
        }
        if from_array.ty == to_array.ty {
            return Ok(());
        }
        Err(format!(
            "variables {from} and {to} hold {} and {}; both must be the same",
            from_array.ty, to_array.ty
        ))
    }

    fn call(&self, call: u32, has_value: bool) -> Result<(), String> {
        let there = self.program.calls.len();
        let it = self.program.calls.get(call as usize);
        let it = it.ok_or_else(|| format!("there is no call {call}; there are {there}"))?;
        match (matches!(it.action, Action::Test(_) | Action::Input(_)), has_value) {
            (true, false) => Err(format!("call {call} is a test; use it in an expression")),
            (false, true) => Err(format!("call {call} is no test, so it has no value; make it a command")),
            _ => Ok(()),
        }
    }

    fn wants(&self, expression: &Expression, ty: Type, what: &str) -> Result<(), String> {
        let found = self.ty(expression, 0)?;
        if found == ty { Ok(()) } else { Err(format!("{what} is {found} where {ty} is needed")) }
    }

    /// The type of an expression, which is checked.
    fn ty(&self, expression: &Expression, depth: usize) -> Result<Type, String> {
        if depth > EXPRESSION_DEPTH {
            return Err(format!(
                "an expression is nested more than {EXPRESSION_DEPTH} deep; assign a part of it to a variable first"
            ));
        }
        Ok(match expression {
            Expression::Boolean(_) | Expression::Failed => Type::Boolean,
            Expression::Character(_) => Type::Character,
            Expression::Integer(_) => Type::Integer,
            Expression::Real(_) => Type::Real,
            Expression::Text(_) => Type::Text,
            Expression::Variable(variable) => match self.program.variable(*variable)? {
                Variable { ty, length: None, .. } => *ty,
                _ => return Err(format!("variable {variable} is an array; only its elements have values")),
            },
            Expression::Element(variable, index, _) => {
                let Variable { ty, length: Some(_), .. } = self.program.variable(*variable)? else {
                    return Err(format!("variable {variable} is no array; ByteOf takes a TEXT's bytes"));
                };
                match self.ty(index, depth + 1)? {
                    Type::Integer => *ty,
                    other => return Err(format!("an index is {other} where INTEGER is needed")),
                }
            }
            Expression::Apply(operation, operands, _) => self.apply(*operation, operands, depth)?,
            Expression::Test(call) => {
                self.call(*call, true)?;
                Type::Boolean
            }
        })
    }

    fn apply(&self, operation: Operation, operands: &[Expression], depth: usize) -> Result<Type, String> {
        let (wanted, result) = operation.signature();
        if operands.len() != wanted.len() {
            return Err(format!("{operation:?} takes {} operands, not {}", wanted.len(), operands.len()));
        }
        if let (Operation::Compare(_, Kind::Word), [a, b]) = (operation, operands) {
            let (a, b) = (self.ty(a, depth + 1)?, self.ty(b, depth + 1)?);
            return match a {
                Type::Real | Type::Text => {
                    Err(format!("{a} is compared as a number; each kind has comparisons of its own"))
                }
                _ if a != b => Err(format!("{a} is compared with {b}; convert one of them")),
                _ => Ok(result),
            };
        }
        for (number, (operand, ty)) in operands.iter().zip(wanted).enumerate() {
            let found = self.ty(operand, depth + 1)?;
            if found != *ty {
                return Err(format!("operand {number} of {operation:?} is {found} where {ty} is needed"));
            }
        }
        Ok(result)
    }
}

/// The error of a limit on bytes.
pub(super) fn too_long(length: usize, limits: &Limits) -> Option<Refusal> {
    let what = || {
        let most = limits.program.to_string();
        Refusal(format!("the program has {length} bytes, and at most {most} are taken; split it"))
    };
    (length > limits.program).then(what)
}
