//! Generates valid programs from any bytes: each byte decides something; without further bytes the simplest choice is
//! taken. Small bytes mean simple choices, so that failures shrink to simple programs.

use drystone_component::{Fingerprint, Type};
use drystone_extension::composite::*;

/// Bytes of which a program is made.
pub struct Bytes<'a> {
    rest: &'a [u8],
    program: Program,
    location: u32,
}

const TYPES: [Type; 5] = [Type::Boolean, Type::Character, Type::Integer, Type::Real, Type::Text];
/// Single variables of each type.
const SINGLE: u32 = 3;
/// Elements of an array; there is one of each type behind them.
const ELEMENTS: u32 = 4;

/// A program.
pub fn program(bytes: &[u8]) -> Program {
    let program = Program {
        communications: vec![Fingerprint::of("a"), Fingerprint::of("b")],
        variables: Vec::new(),
        calls: Vec::new(),
        code: Code::Tree(Command::Stop),
    };
    let mut bytes = Bytes { rest: bytes, program, location: 100 };
    for ty in TYPES {
        for length in [None, None, None, Some(ELEMENTS)] {
            let travels = match bytes.choose(4) {
                0 => Travels::Both,
                1 => Travels::In,
                2 => Travels::Out,
                _ if length.is_some() => Travels::Not(Value::initial(ty)),
                _ => Travels::Not(bytes.value(ty)),
            };
            bytes.program.add_variable(ty, length, travels);
        }
    }
    let tree = bytes.sequence(4);
    bytes.program.code = Code::Tree(tree);
    bytes.program
}

/// Values for the variables that get some.
pub fn fill(bytes: &[u8], table: &mut VarTable, variables: &[Variable]) {
    let program = Program {
        communications: Vec::new(),
        variables: Vec::new(),
        calls: Vec::new(),
        code: Code::Tree(Command::Stop),
    };
    let mut bytes = Bytes { rest: bytes, program, location: 0 };
    for (number, variable) in variables.iter().enumerate().filter(|(_, it)| it.travels_in()) {
        for index in 0..variable.count() {
            let value = bytes.value(variable.ty);
            table.set(number as u32, index, value).unwrap();
        }
    }
}

impl Bytes<'_> {
    fn next(&mut self) -> u8 {
        let (first, rest) = self.rest.split_first().unwrap_or((&0, &[]));
        self.rest = rest;
        *first
    }

    fn choose(&mut self, count: u32) -> u32 {
        u32::from(self.next()) % count
    }

    fn location(&mut self) -> u32 {
        self.location += 1;
        // Some locations are no numbers of 31 bits.
        if self.location.is_multiple_of(3) { u32::MAX - self.location } else { self.location }
    }

    fn value(&mut self, ty: Type) -> Value {
        match ty {
            Type::Boolean => Value::Boolean(self.choose(2) == 1),
            Type::Character => Value::Character(self.next()),
            Type::Integer => Value::Integer(self.integer()),
            Type::Real => Value::Real(match self.choose(8) {
                0 => 0.0,
                1 => 1.5,
                2 => -2.25e10,
                3 => f64::NAN,
                4 => f64::INFINITY,
                5 => -0.0,
                6 => 9_223_372_036_854_775_807.0,
                _ => f64::from(self.next()) / 7.0,
            }),
            _ => {
                let length = self.choose(6);
                let bytes: Vec<u8> = (0..length).map(|_| b'0' + self.next() % 4).collect();
                Value::Text(bytes.into())
            }
        }
    }

    fn integer(&mut self) -> i64 {
        match self.choose(12) {
            0..=4 => self.choose(6).into(),
            5 => -1,
            6 => i64::MAX,
            7 => i64::MIN,
            8 => i64::from(i32::MAX) + i64::from(self.choose(3)),
            9 => i64::from(i32::MIN) - i64::from(self.choose(3)),
            10 => -i64::from(self.next()),
            _ => 1 << self.choose(63),
        }
    }

    fn variable(&mut self, ty: Type) -> u32 {
        let number = TYPES.iter().position(|it| *it == ty).unwrap() as u32;
        number * (SINGLE + 1) + self.choose(SINGLE)
    }

    fn array(ty: Type) -> u32 {
        let number = TYPES.iter().position(|it| *it == ty).unwrap() as u32;
        number * (SINGLE + 1) + SINGLE
    }

    fn ty(&mut self) -> Type {
        TYPES[self.choose(5) as usize]
    }

    fn sequence(&mut self, depth: u32) -> Command {
        let count = 1 + self.choose(5);
        Command::Sequence((0..count).map(|_| self.command(depth)).collect())
    }

    fn command(&mut self, depth: u32) -> Command {
        let kind = self.choose(if depth == 0 { 12 } else { 20 });
        match kind {
            0..=4 => {
                let ty = self.ty();
                Command::Assign(self.variable(ty), self.expression(ty, 4))
            }
            5 => {
                // What is put behind a text.
                let text = self.variable(Type::Text);
                let mut value = Expression::Variable(text);
                for _ in 0..=self.choose(3) {
                    let operands = vec![value, self.expression(Type::Text, 2)];
                    value = Expression::Apply(Operation::Concatenate, operands, self.location());
                }
                Command::Assign(text, value)
            }
            6 | 7 => {
                let ty = self.ty();
                let (variable, ty) = match self.choose(3) {
                    0 => (self.variable(Type::Text), Type::Character),
                    _ => (Self::array(ty), ty),
                };
                let (index, value) = (self.expression(Type::Integer, 2), self.expression(ty, 3));
                Command::AssignElement { variable, index, value, location: self.location() }
            }
            8 => Command::Call(self.say()),
            9 => match self.choose(4) {
                0 => Command::OnError(OnError::Continue),
                1 => Command::OnError(OnError::Abort),
                2 => Command::Stop,
                _ => Command::Fail(Fault::ALL[self.choose(8) as usize], self.location()),
            },
            10 => {
                let ty = if self.choose(2) == 0 { Type::Integer } else { Type::Real };
                let (text, variable) = (self.expression(Type::Text, 2), self.variable(ty));
                Command::Number { text, variable, is: self.variable(Type::Boolean) }
            }
            11 => self.move_elements(),
            12 | 13 => {
                let condition = self.expression(Type::Boolean, 4);
                Command::If(condition, Box::new(self.sequence(depth - 1)), Box::new(self.sequence(depth - 1)))
            }
            14..=16 => {
                let (counter, less, count) = self.counter();
                let mut condition = less;
                if kind == 16 {
                    let other = self.expression(Type::Boolean, 3);
                    condition = Expression::Apply(Operation::And, vec![condition, other], 0);
                }
                let body = self.sequence(depth - 1);
                let body = Command::Sequence(vec![body, count]);
                let start = Command::Assign(counter, Expression::Integer(0));
                if kind == 15 {
                    let done = Expression::Apply(Operation::Not, vec![condition], 0);
                    Command::Sequence(vec![start, Command::Repeat(Box::new(body), done)])
                } else {
                    Command::Sequence(vec![start, Command::While(condition, Box::new(body))])
                }
            }
            _ => {
                let variable = self.program.add_variable(Type::Integer, None, Travels::Out);
                let bound = |bytes: &mut Self| match bytes.choose(5) {
                    0 => Expression::Integer(i64::from(bytes.choose(7)) - 3),
                    1 => Expression::Integer(i64::MAX - i64::from(bytes.choose(3))),
                    2 => Expression::Integer(i64::MIN + i64::from(bytes.choose(3))),
                    3 => Expression::Variable(bytes.variable(Type::Integer)),
                    _ => bytes.expression(Type::Integer, 2),
                };
                let (from, to) = (bound(self), bound(self));
                let by = match self.choose(4) {
                    0 => Expression::Integer(1),
                    1 => Expression::Integer(-2),
                    2 => Expression::Integer(1 << 61),
                    _ => self.expression(Type::Integer, 2),
                };
                let (body, location) = (self.sequence(depth - 1), self.location());
                Command::For(Box::new(For { variable, from, to, by, body, location }))
            }
        }
    }

    /// A variable that counts a few rounds, the condition that there are more, and the command that counts.
    fn counter(&mut self) -> (u32, Expression, Command) {
        let counter = self.program.add_variable(Type::Integer, None, Travels::Out);
        let limit = Expression::Integer(1 + i64::from(self.choose(4)));
        let less = Operation::Compare(Comparison::Less, Kind::Word);
        let less = Expression::Apply(less, vec![Expression::Variable(counter), limit], 0);
        let next = vec![Expression::Variable(counter), Expression::Integer(1)];
        (counter, less, Command::Assign(counter, Expression::Apply(Operation::Add, next, 7)))
    }

    fn move_elements(&mut self) -> Command {
        let array = Self::array(self.ty());
        let mut number = || match self.choose(3) {
            0 => Expression::Integer(i64::from(self.choose(4)) - 1),
            1 => Expression::Integer(1),
            _ => self.expression(Type::Integer, 2),
        };
        let [from_at, from_step, to_at, to_step, size, count] = std::array::from_fn(|_| number());
        let location = self.location();
        Command::Move(Box::new(Move {
            from: array,
            to: array,
            from_at,
            from_step,
            to_at,
            to_step,
            size,
            count,
            location,
        }))
    }

    fn arguments(&mut self) -> Vec<Argument> {
        let count = self.choose(4);
        let argument = |bytes: &mut Self| {
            let ty = bytes.ty();
            match bytes.choose(3) {
                0 => {
                    let index = Some(bytes.variable(Type::Integer));
                    Argument { variable: Self::array(ty), index }
                }
                _ => bytes.variable(ty).into(),
            }
        };
        (0..count).map(|_| argument(self)).collect()
    }

    fn say(&mut self) -> u32 {
        let message = self.choose(3);
        let action = match self.choose(5) {
            0 | 1 => Action::Send { message, arguments: self.arguments() },
            2 | 3 => Action::Receive { message, results: self.arguments() },
            _ => Action::Close,
        };
        let (communication, location) = (self.choose(2), self.location());
        self.program.add_call(Call { communication, action, location })
    }

    fn test(&mut self) -> u32 {
        let pattern = match self.choose(3) {
            0 => Pattern::Message(self.choose(3)),
            1 => Pattern::Any,
            _ => Pattern::Finish,
        };
        let action = if self.choose(2) == 0 { Action::Test(pattern) } else { Action::Input(pattern) };
        let communication = self.choose(2);
        self.program.add_call(Call { communication, action, location: 0 })
    }

    fn expression(&mut self, ty: Type, depth: u32) -> Expression {
        match self.choose(if depth == 0 { 2 } else { 8 }) {
            0 => Expression::Variable(self.variable(ty)),
            1 => match self.value(ty) {
                Value::Boolean(it) => Expression::Boolean(it),
                Value::Character(it) => Expression::Character(it),
                Value::Integer(it) => Expression::Integer(it),
                Value::Real(it) => Expression::Real(it),
                Value::Text(it) => Expression::Text(it),
            },
            2 => {
                let index = self.expression(Type::Integer, depth - 1);
                Expression::Element(Self::array(ty), Box::new(index), self.location())
            }
            3 if ty == Type::Boolean => match self.choose(3) {
                0 => Expression::Failed,
                _ => Expression::Test(self.test()),
            },
            _ => {
                let all: Vec<Operation> = Operation::all().filter(|it| it.signature().1 == ty).collect();
                let operation = all[self.choose(all.len() as u32) as usize];
                let operands = match operation {
                    Operation::Compare(_, Kind::Word) => {
                        let ty = [Type::Integer, Type::Boolean, Type::Character][self.choose(3) as usize];
                        (0..2).map(|_| self.expression(ty, depth - 1)).collect()
                    }
                    // Texts of any length would take all the memory.
                    Operation::Zeros => vec![Expression::Integer(i64::from(self.choose(5)) - 1)],
                    _ => operation.signature().0.iter().map(|ty| self.expression(*ty, depth - 1)).collect(),
                };
                Expression::Apply(operation, operands, self.location())
            }
        }
    }
}
