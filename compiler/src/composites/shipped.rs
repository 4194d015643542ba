//! A block as the program that is shipped to the server (`extension::composite`). The checker has refused blocks that
//! cannot be written so.

use std::collections::HashMap;

use drystone_component::{self as model, Fingerprint};
use drystone_extension::composite::{
    self as composite, Action, Argument as Cell, Call, Code, Command, Expression as Tree, Fault, For as Loop,
    Kind, Operation, Text, Value,
};
use drystone_language::handlers;
use drystone_language::program::*;
use drystone_language::source::Span;

use crate::descriptors::model_type;

/// The program of a block, as it is sent. `locate` gives the number that errors use for a location; 0 stands for none.
pub fn encoded(
    program: &Program,
    composite: &Composite,
    block: &Block,
    span: Span,
    locate: &mut dyn FnMut(Span) -> u32,
) -> Vec<u8> {
    let communications = |channel: &Channel| composite.number_of(channel).map(|number| number as u32);
    let mut maker = Maker::new(program, &communications, locate);
    for channel in &composite.channels {
        maker.made.add_communication(Fingerprint::of(&program.identity(channel.interface)));
    }
    for &(id, travels) in &composite.variables {
        let first = maker.made.variables.len() as u32;
        for ty in maker.values_in(&program.variables[id.index()].ty) {
            let travels = match travels {
                Travels::In => composite::Travels::In,
                Travels::Out => composite::Travels::Out,
                Travels::Both => composite::Travels::Both,
                Travels::Not => composite::Travels::Not(initial(&ty)),
            };
            maker.made.add_variable(held_as(&ty), None, travels);
        }
        maker.numbers.insert(id, first);
    }
    let mut commands = maker.block(block);
    for communication in 0..composite.channels.len() as u32 {
        commands.push(maker.call(communication, Action::Close, span));
    }
    maker.made.code = Code::Tree(Command::Sequence(commands));
    maker.made.encode()
}

/// An implementation as a handler (*ASHs*): the instructions of its code.
pub fn responder(program: &Program, component: ComponentId, number: usize) -> Vec<u8> {
    let kept = handlers::kept(program, component);
    let component = &program.components[component.index()];
    let implementation = &component.implementations[number];
    let id = component.offers[implementation.offered].interface;
    let (interface, fingerprint) = (&program.interfaces[id.index()], Fingerprint::of(&program.identity(id)));
    let service = |channel: &Channel| matches!(channel.kind, ChannelKind::Service).then_some(0);
    let nowhere = &mut |_| 0;
    let mut maker = Maker::new(program, &service, nowhere);
    maker.has_room = false;
    maker.made.add_communication(fingerprint);
    for id in kept.iter().chain(&implementation.variables) {
        let number = maker.own_variable(&program.variables[id.index()].ty);
        maker.numbers.insert(*id, number);
    }
    maker.made.code = Code::Tree(Command::Sequence(maker.block(&implementation.body)));
    let types = |message: &Message| message.values.iter().map(|(_, ty)| model_type(ty)).collect();
    let messages: Vec<_> = interface.messages.iter().map(types).collect();
    let responder =
        composite::Responder { form: fingerprint.head(), kept: kept.len() as u32, messages: &messages };
    let slots = maker.made.respond(&responder, &composite::Limits::default());
    slots.expect("the checker lets no other be a handler").iter().flat_map(|slot| slot.bytes()).collect()
}

struct Maker<'a> {
    program: &'a Program,
    /// The number of the communication of a channel.
    communications: &'a dyn Fn(&Channel) -> Option<u32>,
    made: composite::Program,
    /// Of the block's variables. A record's values have variables of their own, which follow one another.
    numbers: HashMap<VariableId, u32>,
    /// Of those in which what a message takes is computed: by its place and type.
    spare: HashMap<(usize, model::Type), u32>,
    /// Constants have variables of their own: there is room.
    has_room: bool,
    /// What is done before the expression that is being made.
    first: Vec<Command>,
    locate: &'a mut dyn FnMut(Span) -> u32,
}

impl<'a> Maker<'a> {
    fn new(
        program: &'a Program,
        communications: &'a dyn Fn(&Channel) -> Option<u32>,
        locate: &'a mut dyn FnMut(Span) -> u32,
    ) -> Maker<'a> {
        let made = composite::Program {
            communications: Vec::new(),
            variables: Vec::new(),
            calls: Vec::new(),
            code: Code::Tree(Command::Stop),
        };
        let (numbers, spare, first) = Default::default();
        Maker { program, communications, made, numbers, spare, has_room: true, first, locate }
    }

    fn block(&mut self, block: &Block) -> Vec<Command> {
        block.statements.iter().flat_map(|statement| self.statement(statement)).collect()
    }

    fn sequence(&mut self, block: &Block) -> Command {
        Command::Sequence(self.block(block))
    }

    /// An expression, and what is done before it.
    fn whole(&mut self, expression: &Expression) -> (Vec<Command>, Tree) {
        let tree = self.expression(expression);
        (std::mem::take(&mut self.first), tree)
    }

    fn statement(&mut self, statement: &Statement) -> Vec<Command> {
        use StatementKind::*;
        let span = statement.span;
        match &statement.kind {
            Assign(target, value) if matches!(target.ty, Type::Record(_)) => {
                self.assign_record(target, value)
            }
            Assign(target, value) => {
                let (mut commands, value) = self.whole(value);
                commands.push(self.assign(target, value));
                commands
            }
            Increase(target, by) => self.change(target, Operation::Add, by, span),
            Decrease(target, by) => self.change(target, Operation::Subtract, by, span),
            NewText(target, length) => {
                let location = (self.locate)(span);
                let zeros = Tree::Apply(Operation::Zeros, vec![self.expression(length)], location);
                vec![self.assign(target, zeros)]
            }
            Send { channel, message, arguments } => {
                let mut commands = Vec::new();
                let mut given = Vec::new();
                arguments.iter().for_each(|argument| self.argument(argument, &mut given, &mut commands));
                let arguments = given;
                let action = Action::Send { message: *message as u32, arguments };
                commands.push(self.call(self.communication(channel), action, span));
                commands
            }
            Receive { channel, message, targets } => {
                let mut commands = Vec::new();
                let results = targets.iter().flat_map(|target| self.results(target, &mut commands)).collect();
                let action = Action::Receive { message: *message as u32, results };
                commands.insert(0, self.call(self.communication(channel), action, span));
                commands
            }
            If(branches, otherwise) => {
                let rest = otherwise.as_ref().map_or_else(Vec::new, |block| self.block(block));
                branches.iter().rev().fold(rest, |rest, (condition, block)| {
                    let (mut commands, condition) = self.whole(condition);
                    let block = self.sequence(block);
                    commands.push(Command::If(condition, block.into(), Command::Sequence(rest).into()));
                    commands
                })
            }
            Case(value, branches, otherwise) => {
                let (mut commands, tree) = self.whole(value);
                let at = value.span;
                let value = self.chosen_by(tree, value, &mut commands);
                let rest = match otherwise {
                    Some(block) => self.sequence(block),
                    None => Command::Fail(Fault::NoBranch, (self.locate)(at)),
                };
                commands.push(branches.iter().rev().fold(rest, |rest, (labels, block)| {
                    let block = self.sequence(block);
                    let is_labelled = labels.iter().map(|label| has_label(&value, label)).collect();
                    Command::If(any(is_labelled), block.into(), rest.into())
                }));
                commands
            }
            Arrivals { channel, branches, otherwise } => {
                let communication = self.communication(channel);
                let last = Arrival::last_of(branches);
                let rest = match otherwise {
                    Some(block) => self.sequence(block),
                    None => self.arrived(communication, &branches[last]),
                };
                let tested = branches.iter().enumerate();
                let tested = tested.filter(|(index, _)| otherwise.is_some() || *index != last);
                let chain = tested.rev().fold(rest, |rest, (_, branch)| {
                    let pattern = branch.message.map_or(Pattern::Finish, Pattern::Message);
                    let test = self.add_call(communication, Action::Test(asked(pattern)), span);
                    let block = self.arrived(communication, branch);
                    Command::If(Tree::Test(test), block.into(), rest.into())
                });
                vec![chain]
            }
            While(condition, body) => {
                let (first, condition) = self.whole(condition);
                let mut again = self.block(body);
                again.extend(first.iter().cloned());
                let mut commands = first;
                commands.push(Command::While(condition, Command::Sequence(again).into()));
                commands
            }
            Repeat(body, condition) => {
                let mut again = self.block(body);
                let (first, condition) = self.whole(condition);
                again.extend(first);
                vec![Command::Repeat(Command::Sequence(again).into(), condition)]
            }
            For { variable, from, to, by, body } => {
                let location = (self.locate)(span);
                let [from, to, by] = [from, to, by].map(|bound| self.expression(bound));
                let body = self.sequence(body);
                let variable = self.number(variable);
                vec![Command::For(Box::new(Loop { variable, from, to, by, body, location }))]
            }
            Block(block) => self.block(block),
            Return(None) => vec![Command::Stop],
            Assert(condition, _) => {
                let location = (self.locate)(span);
                let (mut commands, condition) = self.whole(condition);
                let nothing = Command::Sequence(Vec::new()).into();
                let fail = Command::Fail(Fault::AssertionFailed, location).into();
                commands.push(Command::If(condition, nothing, fail));
                commands
            }
            other => unreachable!("the checker lets no {other:?} be shipped"),
        }
    }

    /// The value of CASE, which is evaluated once.
    fn chosen_by(&mut self, tree: Tree, value: &Expression, before: &mut Vec<Command>) -> (Tree, Type) {
        if matches!(tree, Tree::Variable(_)) {
            return (tree, value.ty.clone());
        }
        let variable = self.spare_variable(usize::MAX, &value.ty);
        before.push(Command::Assign(variable, tree));
        (Tree::Variable(variable), value.ty.clone())
    }

    /// Takes the message of a branch, and does what the branch does.
    fn arrived(&mut self, communication: u32, branch: &Arrival) -> Command {
        let mut commands = Vec::new();
        if let Some(message) = branch.message {
            let results = branch.targets.iter().flat_map(|target| self.numbers_of(target)).map(Cell::from);
            let results = results.collect();
            let action = Action::Receive { message: message as u32, results };
            commands.push(self.call(communication, action, branch.span));
        }
        commands.extend(self.block(&branch.block));
        Command::Sequence(commands)
    }

    fn change(&mut self, target: &Place, operation: Operation, by: &Expression, span: Span) -> Vec<Command> {
        let (location, variable) = ((self.locate)(span), self.number(target));
        let operands = vec![Tree::Variable(variable), self.expression(by)];
        vec![Command::Assign(variable, Tree::Apply(operation, operands, location))]
    }

    fn assign(&mut self, target: &Place, value: Tree) -> Command {
        match &target.kind {
            PlaceKind::Character(id, index) => Command::AssignElement {
                variable: self.numbers[id],
                index: self.expression(index),
                value,
                location: (self.locate)(target.span),
            },
            _ => Command::Assign(self.number(target), value),
        }
    }

    /// Assigns a record. What may depend on its old values is computed before the first of them changes.
    fn assign_record(&mut self, target: &Place, value: &Expression) -> Vec<Command> {
        let values = self.values(value);
        let mut commands = std::mem::take(&mut self.first);
        let (numbers, types) = (self.numbers_of(target), self.values_in(&target.ty));
        let mut last = Vec::new();
        for (index, (value, number)) in values.into_iter().zip(numbers.clone()).enumerate() {
            let value = match value {
                Tree::Variable(other) if !numbers.contains(&other) => Tree::Variable(other),
                value if constant_of(&value).is_some() => value,
                value => {
                    let spare = self.spare_variable(index, &types[index]);
                    commands.push(Command::Assign(spare, value));
                    Tree::Variable(spare)
                }
            };
            last.push(Command::Assign(number, value));
        }
        commands.extend(last);
        commands
    }

    /// Of a variable, or of a field that is no record.
    fn number(&self, place: &Place) -> u32 {
        match &place.kind {
            PlaceKind::Variable(id) => self.numbers[id],
            PlaceKind::Field(record, field) => {
                let Type::Record(id) = &record.ty else { unreachable!("a field is a record's") };
                let before = &self.program.records[id.index()].fields[..*field];
                self.number(record) + self.program.values_of(before).len() as u32
            }
            other => unreachable!("the checker lets no {other:?} be shipped"),
        }
    }

    /// Of the values of a variable or field.
    fn numbers_of(&self, place: &Place) -> std::ops::Range<u32> {
        let first = self.number(place);
        first..first + self.values_in(&place.ty).len() as u32
    }

    /// The types of the values that a value consists of.
    fn values_in(&self, ty: &Type) -> Vec<Type> {
        let values = self.program.values_of(&[(String::new(), ty.clone())]);
        values.into_iter().map(|(_, ty)| ty).collect()
    }

    fn communication(&self, channel: &Channel) -> u32 {
        (self.communications)(channel).expect("the checker knows all of them")
    }

    fn call(&mut self, communication: u32, action: Action, span: Span) -> Command {
        Command::Call(self.add_call(communication, action, span))
    }

    fn add_call(&mut self, communication: u32, action: Action, span: Span) -> u32 {
        let location = (self.locate)(span);
        self.made.add_call(Call { communication, action, location })
    }

    /// What a message takes is added to `given`; `before` is done before it is sent.
    fn argument(&mut self, argument: &Argument, given: &mut Vec<Cell>, before: &mut Vec<Command>) {
        let Argument::Value(value) = argument else {
            unreachable!("the checker lets no component be shipped")
        };
        let values = self.values(value);
        before.append(&mut self.first);
        for (tree, ty) in values.into_iter().zip(self.values_in(&value.ty)) {
            let variable = match tree {
                Tree::Variable(variable) => variable,
                tree => match constant_of(&tree).filter(|_| self.has_room) {
                    Some(constant) => {
                        self.made.add_variable(held_as(&ty), None, composite::Travels::Not(constant))
                    }
                    None => {
                        let variable = self.spare_variable(given.len(), &ty);
                        before.push(Command::Assign(variable, tree));
                        variable
                    }
                },
            };
            given.push(variable.into());
        }
    }

    /// Where what a message brings goes; `then` is done when it has come.
    fn results(&mut self, target: &Place, then: &mut Vec<Command>) -> Vec<Cell> {
        if let PlaceKind::Variable(_) | PlaceKind::Field(..) = &target.kind {
            return self.numbers_of(target).map(Cell::from).collect();
        }
        let variable = self.own_variable(&target.ty);
        then.push(self.assign(target, Tree::Variable(variable)));
        vec![variable.into()]
    }

    fn spare_variable(&mut self, place: usize, ty: &Type) -> u32 {
        let key = (place, held_as(ty));
        let variable = self.spare.get(&key).copied().unwrap_or_else(|| self.own_variable(ty));
        self.spare.insert(key, variable);
        variable
    }

    fn own_variable(&mut self, ty: &Type) -> u32 {
        self.made.add_variable(held_as(ty), None, composite::Travels::Not(initial(ty)))
    }

    /// The values of an expression: of a record those of its fields.
    fn values(&mut self, expression: &Expression) -> Vec<Tree> {
        let Type::Record(id) = &expression.ty else { return vec![self.expression(expression)] };
        match &expression.kind {
            ExpressionKind::Read(place) => self.numbers_of(place).map(Tree::Variable).collect(),
            ExpressionKind::Record(given) => {
                let given: HashMap<usize, Vec<Tree>> =
                    given.iter().map(|(field, value)| (*field, self.values(value))).collect();
                let fields = self.program.records[id.index()].fields.iter().enumerate();
                let value = |(field, (_, ty)): (usize, &(String, Type))| match given.get(&field) {
                    Some(values) => values.clone(),
                    None => self.values_in(ty).iter().map(|ty| constant(initial(ty))).collect(),
                };
                fields.flat_map(value).collect()
            }
            ExpressionKind::Locked(_, inner) => self.values(inner),
            other => unreachable!("the checker lets no {other:?} be shipped"),
        }
    }

    fn expression(&mut self, expression: &Expression) -> Tree {
        use ExpressionKind::*;
        match &expression.kind {
            Boolean(value) => Tree::Boolean(*value),
            Character(value) => Tree::Character(*value),
            Integer(value) => Tree::Integer(*value),
            Real(value) => Tree::Real(*value),
            ExpressionKind::Text(value) => Tree::Text(composite::Text::from(value.clone())),
            List(_) => constant(initial(&expression.ty)),
            Read(place) => match &place.kind {
                PlaceKind::Character(id, index) => {
                    let text = Tree::Variable(self.numbers[id]);
                    let operands = vec![text, self.expression(index)];
                    Tree::Apply(Operation::ByteOf, operands, (self.locate)(place.span))
                }
                _ => Tree::Variable(self.number(place)),
            },
            Unary(operator, operand) => {
                let operation = match operator {
                    self::Unary::Not => Operation::Not,
                    self::Unary::NegateInteger => Operation::Negate,
                    self::Unary::NegateReal => Operation::NegateReal,
                };
                self.apply(operation, &[&**operand], expression.span)
            }
            Binary(operator, left, right) => {
                self.apply(binary(*operator, &left.ty), &[&**left, &**right], expression.span)
            }
            Builtin(self::Builtin::Counted, arguments) => {
                let location = (self.locate)(expression.span);
                let text = self.expression(&arguments[0]);
                let apply = |operation, operands| Tree::Apply(operation, operands, location);
                let length = apply(Operation::Length, vec![text.clone()]);
                let length = apply(Operation::IntegerToText, vec![length]);
                let colon = Tree::Text(composite::Text::from(&b":"[..]));
                let head = apply(Operation::Concatenate, vec![length, colon]);
                apply(Operation::Concatenate, vec![head, text])
            }
            Builtin(self::Builtin::Elements, arguments) => elements(&self.expression(&arguments[0])),
            Builtin(function, arguments) => {
                let arguments: Vec<_> = arguments.iter().collect();
                self.apply(builtin(*function), &arguments, expression.span)
            }
            Number(text, place) => {
                let (text, variable) = (self.expression(text), self.number(place));
                let is = self.own_variable(&Type::Boolean);
                self.first.push(Command::Number { text, variable, is });
                Tree::Variable(is)
            }
            Locked(_, inner) => self.expression(inner),
            ReceiveTest(channel, pattern) => {
                let action = Action::Test(asked(*pattern));
                Tree::Test(self.add_call(self.communication(channel), action, expression.span))
            }
            Input(channel, pattern, None) => {
                let action = Action::Input(asked(*pattern));
                Tree::Test(self.add_call(self.communication(channel), action, expression.span))
            }
            other => unreachable!("the checker lets no {other:?} be shipped"),
        }
    }

    fn apply(&mut self, operation: Operation, operands: &[&Expression], span: Span) -> Tree {
        let operands = operands.iter().map(|operand| self.expression(operand)).collect();
        Tree::Apply(operation, operands, (self.locate)(span))
    }
}

/// Whether the value of CASE has a label. None of the comparisons fails.
fn has_label((value, ty): &(Tree, Type), label: &Label) -> Tree {
    let compare = |comparison, constant| {
        let operation = binary(Binary::Compare(comparison), ty);
        Tree::Apply(operation, vec![value.clone(), constant], 0)
    };
    let number = |number: i64| match ty {
        Type::Boolean => Tree::Boolean(number != 0),
        Type::Character => Tree::Character(number as u8),
        _ => Tree::Integer(number),
    };
    match label {
        Label::Text(text) => compare(Comparison::Equal, Tree::Text(composite::Text::from(text.clone()))),
        Label::Numbers(first, last) if first == last => compare(Comparison::Equal, number(*first)),
        Label::Numbers(first, last) => {
            let above = compare(Comparison::GreaterEqual, number(*first));
            let below = compare(Comparison::LessEqual, number(*last));
            Tree::Apply(Operation::And, vec![above, below], 0)
        }
    }
}

/// Whether one of these is TRUE, without much nesting.
fn any(mut conditions: Vec<Tree>) -> Tree {
    let half = conditions.split_off(conditions.len() / 2);
    if conditions.is_empty() {
        return half.into_iter().next().expect("a branch has a label");
    }
    Tree::Apply(Operation::Or, vec![any(conditions), any(half)], 0)
}

/// How many elements a sequence has: the first word of its bytes.
fn elements(sequence: &Tree) -> Tree {
    let apply = |operation, operands| Tree::Apply(operation, operands, 0);
    let [a, b, c, d] = [24, 16, 8, 0].map(|bits| {
        let byte = apply(Operation::ByteOf, vec![sequence.clone(), Tree::Integer(3 - bits / 8)]);
        let byte = apply(Operation::CharacterToInteger, vec![byte]);
        apply(Operation::Multiply, vec![byte, Tree::Integer(1 << bits)])
    });
    let high = apply(Operation::Add, vec![a, b]);
    let low = apply(Operation::Add, vec![c, d]);
    apply(Operation::Add, vec![high, low])
}

/// The type of the variable that holds a value which is no record. A sequence is held as it is in messages.
fn held_as(ty: &Type) -> model::Type {
    match model_type(ty) {
        model::Type::Sequence => model::Type::Text,
        plain => plain,
    }
}

/// What a variable begins with.
fn initial(ty: &Type) -> Value {
    match ty {
        Type::Sequence(_) => Value::Text(Text::from(&[0; 4][..])),
        plain => Value::initial(model_type(plain)),
    }
}

fn constant(value: Value) -> Tree {
    match value {
        Value::Boolean(value) => Tree::Boolean(value),
        Value::Character(value) => Tree::Character(value),
        Value::Integer(value) => Tree::Integer(value),
        Value::Real(value) => Tree::Real(value),
        Value::Text(value) => Tree::Text(value),
    }
}

fn constant_of(tree: &Tree) -> Option<Value> {
    Some(match tree {
        Tree::Boolean(value) => Value::Boolean(*value),
        Tree::Character(value) => Value::Character(*value),
        Tree::Integer(value) => Value::Integer(*value),
        Tree::Real(value) => Value::Real(*value),
        Tree::Text(value) => Value::Text(Text::clone(value)),
        _ => return None,
    })
}

fn asked(pattern: Pattern) -> composite::Pattern {
    match pattern {
        Pattern::Message(message) => composite::Pattern::Message(message as u32),
        Pattern::Any => composite::Pattern::Any,
        Pattern::Finish => composite::Pattern::Finish,
    }
}

fn binary(operator: Binary, operands: &Type) -> Operation {
    match operator {
        Binary::And => Operation::And,
        Binary::Or => Operation::Or,
        Binary::AddInteger => Operation::Add,
        Binary::SubtractInteger => Operation::Subtract,
        Binary::MultiplyInteger => Operation::Multiply,
        Binary::Div => Operation::Div,
        Binary::Mod => Operation::Mod,
        Binary::AddReal => Operation::AddReal,
        Binary::SubtractReal => Operation::SubtractReal,
        Binary::MultiplyReal => Operation::MultiplyReal,
        Binary::DivideReal => Operation::DivideReal,
        Binary::Concatenate => Operation::Concatenate,
        Binary::Join => unreachable!("the checker lets it not be shipped"),
        Binary::Compare(comparison) => {
            let kind = match operands {
                Type::Real => Kind::Real,
                Type::Text => Kind::Text,
                _ => Kind::Word,
            };
            Operation::Compare(compared(comparison), kind)
        }
    }
}

fn compared(comparison: Comparison) -> composite::Comparison {
    match comparison {
        Comparison::Equal => composite::Comparison::Equal,
        Comparison::NotEqual => composite::Comparison::NotEqual,
        Comparison::Less => composite::Comparison::Less,
        Comparison::LessEqual => composite::Comparison::LessEqual,
        Comparison::Greater => composite::Comparison::Greater,
        Comparison::GreaterEqual => composite::Comparison::GreaterEqual,
    }
}

fn builtin(function: Builtin) -> Operation {
    match function {
        Builtin::Length => Operation::Length,
        Builtin::Sqrt => Operation::Sqrt,
        Builtin::Sin => Operation::Sin,
        Builtin::Cos => Operation::Cos,
        Builtin::Tan => Operation::Tan,
        Builtin::Arcsin => Operation::Arcsin,
        Builtin::Arccos => Operation::Arccos,
        Builtin::Arctan => Operation::Arctan,
        Builtin::MinInteger => Operation::Min,
        Builtin::MaxInteger => Operation::Max,
        Builtin::BitAnd => Operation::BitAnd,
        Builtin::BitOr => Operation::BitOr,
        Builtin::BitXor => Operation::BitXor,
        Builtin::BitNot => Operation::BitNot,
        Builtin::Shift => Operation::Shift,
        Builtin::Rotate => Operation::Rotate,
        Builtin::AddWrap => Operation::AddWrap,
        Builtin::SubtractWrap => Operation::SubtractWrap,
        Builtin::MultiplyWrap => Operation::MultiplyWrap,
        Builtin::MinReal => Operation::MinReal,
        Builtin::MaxReal => Operation::MaxReal,
        Builtin::IntegerToCharacter => Operation::IntegerToCharacter,
        Builtin::CharacterToInteger => Operation::CharacterToInteger,
        Builtin::BooleanToInteger => Operation::BooleanToInteger,
        Builtin::RealToInteger => Operation::RealToInteger,
        Builtin::IntegerToReal => Operation::IntegerToReal,
        Builtin::CharacterToText => Operation::CharacterToText,
        Builtin::IntegerToText => Operation::IntegerToText,
        Builtin::RealToText => Operation::RealToText,
        Builtin::BooleanToText => Operation::BooleanToText,
        Builtin::Slice => Operation::Slice,
        Builtin::Find => Operation::Find,
        Builtin::Counted => unreachable!("it is made of others"),
        Builtin::Time | Builtin::Random | Builtin::Elements | Builtin::Part | Builtin::Sorted => {
            unreachable!("the checker lets them not be shipped")
        }
    }
}
