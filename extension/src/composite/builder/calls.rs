//! Communications: calls by the names of their messages.

use alloc::format;
use alloc::rc::Rc;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use drystone_component::wire::Description;
use drystone_component::{Protocol, Side, Type};

use super::commands::sequence;
use super::draft::Builder;
use super::expressions::{Element, Expr, line};
use super::variables::{Typed, Var};
use crate::composite::program::{Action, Argument, Call, Pattern, Travels};
use crate::composite::tree::{Command, Expression};
use crate::composite::value::Value;

/// The client's end of a communication with a server.
#[derive(Clone, Debug)]
pub struct Communication {
    builder: Builder,
    number: u32,
    interface: Rc<Description>,
}

/// A value to send: in a variable, or an expression that is evaluated first.
#[derive(Debug)]
pub struct Given {
    ty: Type,
    what: What,
}

#[derive(Debug)]
enum What {
    Place(Argument),
    Value(Expression),
}

/// A variable or an element that takes a received value.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    ty: Type,
    argument: Result<Argument, u32>,
}

impl<T: Typed> From<Var<T>> for Place {
    fn from(variable: Var<T>) -> Place {
        Place { ty: T::TYPE, argument: Ok(variable.number.into()) }
    }
}

/// The index must be a variable: it is read when the message has come.
impl<T: Typed> From<Element<T>> for Place {
    fn from(it: Element<T>) -> Place {
        let argument =
            it.index_variable.map(|index| Argument { variable: it.array.number, index: Some(index) });
        Place { ty: T::TYPE, argument: argument.ok_or(it.location) }
    }
}

impl<T: Typed> From<Expr<T>> for Given {
    fn from(value: Expr<T>) -> Given {
        Given { ty: T::TYPE, what: What::Value(value.tree) }
    }
}

impl<T: Typed> From<Var<T>> for Given {
    fn from(variable: Var<T>) -> Given {
        Given { ty: T::TYPE, what: What::Place(variable.number.into()) }
    }
}

impl<T: Typed> From<Element<T>> for Given {
    fn from(it: Element<T>) -> Given {
        match Place::from(it.clone()).argument {
            Ok(argument) => Given { ty: T::TYPE, what: What::Place(argument) },
            Err(_) => Expr::from(it).into(),
        }
    }
}

impl From<i64> for Given {
    fn from(value: i64) -> Given {
        Expr::from(value).into()
    }
}

/// The values of a message that is sent: a tuple of variables, elements, expressions and INTEGERs.
pub trait Gives {
    /// One after the other.
    fn given(self) -> Vec<Given>;
}

/// Where the values of a message go: a tuple of variables and elements.
pub trait Takes {
    /// One after the other.
    fn places(self) -> Vec<Place>;
}

macro_rules! tuples {
    ($(($($name:ident),*))*) => { $(
        #[allow(non_snake_case)]
        impl<$($name: Into<Given>),*> Gives for ($($name,)*) {
            fn given(self) -> Vec<Given> {
                let ($($name,)*) = self;
                Vec::from([$($name.into()),*])
            }
        }

        #[allow(non_snake_case)]
        impl<$($name: Into<Place>),*> Takes for ($($name,)*) {
            fn places(self) -> Vec<Place> {
                let ($($name,)*) = self;
                Vec::from([$($name.into()),*])
            }
        }
    )* };
}

tuples! { () (A) (A, B) (A, B, C) (A, B, C, D) (A, B, C, D, E) (A, B, C, D, E, F) }

impl Builder {
    /// A communication with a server of this interface.
    pub fn communication(&self, interface: &Description) -> Communication {
        let number = self.with(|program| program.add_communication(interface.fingerprint()));
        Communication { builder: self.clone(), number, interface: Rc::new(interface.clone()) }
    }
}

impl Communication {
    /// `!Message(values)`
    #[track_caller]
    pub fn send(&self, message: &str, values: impl Gives) -> Command {
        let location = line();
        let given = values.given();
        let types: Vec<Type> = given.iter().map(|value| value.ty).collect();
        let Some(message) = self.find(message, Side::Client, &types, location) else { return sequence([]) };
        let mut commands = Vec::new();
        let mut arguments = Vec::new();
        for Given { ty, what } in given {
            arguments.push(match what {
                What::Place(argument) => argument,
                What::Value(value) => {
                    let travels = Travels::Not(Value::initial(ty));
                    let variable = self.builder.with(|program| program.add_variable(ty, None, travels));
                    commands.push(Command::Assign(variable, value));
                    variable.into()
                }
            });
        }
        let call = self.add(Action::Send { message, arguments }, location);
        commands.push(Command::Call(call));
        if commands.len() == 1 { Command::Call(call) } else { sequence(commands) }
    }

    /// `?Message(places)`
    #[track_caller]
    pub fn receive(&self, message: &str, places: impl Takes) -> Command {
        let location = line();
        let places = places.places();
        let types: Vec<Type> = places.iter().map(|place| place.ty).collect();
        let Some(message) = self.find(message, Side::Server, &types, location) else { return sequence([]) };
        let mut results = Vec::new();
        for place in places {
            match place.argument {
                Ok(argument) => results.push(argument),
                Err(line) => {
                    let what = "a message's value goes to an element whose index is a variable; assign it to one first";
                    self.builder.report(line, what.to_string());
                }
            }
        }
        Command::Call(self.add(Action::Receive { message, results }, location))
    }

    /// A request and its reply: `!Request(values); ?Reply(places)`
    #[track_caller]
    pub fn call(&self, request: &str, values: impl Gives, reply: &str, places: impl Takes) -> Command {
        sequence([self.send(request, values), self.receive(reply, places)])
    }

    /// `?Message`: whether the next message is this one; waits until that is known.
    #[track_caller]
    pub fn is_next(&self, message: &str) -> Expr<bool> {
        let location = line();
        match self.number_of(message, Side::Server, location) {
            Some(message) => self.test(Pattern::Message(message), location),
            None => false.into(),
        }
    }

    /// `?FINISH`: whether the other side has closed; waits until that is known.
    #[track_caller]
    pub fn has_finished(&self) -> Expr<bool> {
        self.test(Pattern::Finish, line())
    }

    /// Ends the communication, where the protocol allows that. The next message that is sent begins another one.
    #[track_caller]
    pub fn close(&self) -> Command {
        Command::Call(self.add(Action::Close, line()))
    }

    fn test(&self, pattern: Pattern, location: u32) -> Expr<bool> {
        Expr::of_tree(Expression::Test(self.add(Action::Test(pattern), location)))
    }

    fn add(&self, action: Action, location: u32) -> u32 {
        let call = Call { communication: self.number, action, location };
        self.builder.with(|program| program.add_call(call))
    }

    /// The number of the message with this name, if it carries values of these types.
    fn find(&self, name: &str, sender: Side, types: &[Type], location: u32) -> Option<u32> {
        let number = self.number_of(name, sender, location)?;
        let wanted: Vec<Type> = self.interface.types(number as usize).collect();
        // A sequence is held by a TEXT.
        let held = wanted.iter().map(|ty| if *ty == Type::Sequence { Type::Text } else { *ty });
        if held.eq(types.iter().copied()) {
            return Some(number);
        }
        let spelled = |types: &[Type]| {
            let types: Vec<String> = types.iter().map(Type::to_string).collect();
            format!("({})", types.join(", "))
        };
        let what = format!("{name} carries {}, not {}", spelled(&wanted), spelled(types));
        self.builder.report(location, what);
        None
    }

    fn number_of(&self, name: &str, sender: Side, location: u32) -> Option<u32> {
        let messages = self.interface.described();
        let found = messages.iter().position(|message| message.name == name && message.sender == sender);
        if found.is_none() {
            let all: Vec<String> = messages.iter().map(|message| message.to_string()).collect();
            let who = if sender == Side::Client { "clients send" } else { "the server sends" };
            let what = format!(
                "{} has no message {name} that {who}; it has {}",
                self.interface.name(),
                all.join(", ")
            );
            self.builder.report(location, what);
        }
        found.map(|number| number as u32)
    }
}
