//! The request/reply form of an interface: its trait, its answer types, and the client's methods.

use std::collections::BTreeMap;

use drystone_component::calls::{Call, Calls};
use drystone_language::program::{Interface, Message, Type};

use crate::messages::{fields, lifetime, pattern, spelled};
use crate::names::{Types, is_text, is_whole, name, snake};

/// Names that a module has, or that generated code needs.
const TAKEN: &[&str] = &[
    "In",
    "Out",
    "Interface",
    "Server",
    "Client",
    "Direct",
    "Adapter",
    "Text",
    "Part",
    "Poll",
    "Box",
    "Ok",
    "Err",
    "Some",
    "None",
    "Option",
    "Result",
    "Self",
];

/// The answer type of a method.
pub struct Answer<'i> {
    /// The type's name in Rust; empty: no answer.
    name: String,
    pub messages: Vec<&'i Message>,
}

impl<'i> Answer<'i> {
    fn of(interface: &'i Interface, call: &Call) -> Answer<'i> {
        let messages: Vec<_> = call.answers.iter().map(|&number| &interface.messages[number]).collect();
        let taken = |name: &str| {
            TAKEN.contains(&name) || name.strip_suffix("Later").unwrap_or(name) == interface.name
        };
        let name = match messages[..] {
            [] => String::new(),
            [only] if only.parameters.is_empty() => String::new(),
            [only] if !taken(&only.name) => only.name.clone(),
            [only] => format!("{}Message", only.name),
            _ => format!("{}Answer", interface.messages[call.message].name),
        };
        Answer { name, messages }
    }

    /// The type, with the lifetime of the texts that it borrows.
    pub fn ty(&self, of: &str) -> String {
        if self.name.is_empty() {
            "()".into()
        } else {
            name(&self.name) + &lifetime(self.messages.iter().copied(), of)
        }
    }

    /// Declares it.
    fn declaration(&self, types: Types<'_>) -> String {
        if self.name.is_empty() {
            return String::new();
        }
        let ty = self.ty("'a");
        match self.messages[..] {
            [only] => {
                format!(
                    "/// {}\n#[derive(Debug)]\npub struct {ty}{}\n",
                    spelled(only),
                    fields(types, only, "pub ")
                )
            }
            _ => {
                let variant = |m: &&Message| {
                    format!("/// {}\n{}{},\n", spelled(m), name(&m.name), fields(types, m, ""))
                };
                let variants: String = self.messages.iter().map(variant).collect();
                format!("/// One of its answers.\n#[derive(Debug)]\npub enum {ty} {{\n{variants}}}\n")
            }
        }
    }

    /// An answer's constructor in Rust, for building and matching.
    fn constructor(&self, message: &Message) -> String {
        match (self.name.as_str(), &self.messages[..]) {
            ("", _) => "()".into(),
            (ty, [_]) => name(ty) + &pattern(message),
            (ty, _) => format!("{}::{}{}", name(ty), name(&message.name), pattern(message)),
        }
    }

    /// Code that turns the answer into the message.
    fn as_message(&self) -> String {
        let arm =
            |m: &&Message| format!("{} => Out::{}{},\n", self.constructor(m), name(&m.name), pattern(m));
        self.messages.iter().map(arm).collect()
    }

    /// Code that turns the message into the answer.
    pub fn of_message(&self) -> String {
        let arm = |m: &&Message| {
            format!("Out::{}{} => Some({}),\n", name(&m.name), pattern(m), self.constructor(m))
        };
        self.messages.iter().map(arm).collect()
    }

    /// The same with owned texts.
    pub fn owned(&self) -> String {
        let arm = |m: &&Message| {
            let own: String = m
                .parameters
                .iter()
                .filter(|(_, ty)| is_text(ty))
                .map(|(field, _)| format!("let {0} = {0}.into_static();\n", name(field)))
                .collect();
            let constructor = self.constructor(m);
            format!("{constructor} => {{\n{own}{constructor}\n}}\n")
        };
        self.messages.iter().map(arm).collect()
    }
}

/// A call with its names and types in Rust.
pub struct Method<'i> {
    pub types: Types<'i>,
    pub number: usize,
    pub message: &'i Message,
    pub answer: Answer<'i>,
}

impl<'i> Method<'i> {
    fn new(types: Types<'i>, interface: &'i Interface, call: &Call) -> Method<'i> {
        let message = &interface.messages[call.message];
        Method { types, number: call.message, message, answer: Answer::of(interface, call) }
    }

    pub fn name(&self) -> String {
        snake(&self.message.name)
    }

    /// `, x: &[u8], y: i64`
    pub fn parameters(&self) -> String {
        let parameter = |(field, ty): &(String, _)| format!(", {}: {}", name(field), self.types.lent(ty));
        self.message.parameters.iter().map(parameter).collect()
    }

    /// `x, y`
    pub fn arguments(&self) -> String {
        let names: Vec<String> = self.message.parameters.iter().map(|(field, _)| name(field)).collect();
        names.join(", ")
    }

    /// `(&mut self, x: &[u8]) -> Answer<'_>`, with `ty` as the answer's type.
    fn signature(&self, caller: &str, ty: &str) -> String {
        let text = if self.answer.ty("").contains('<') { "<'s>" } else { "" };
        let me = if text.is_empty() { "&mut self" } else { "&'s mut self" };
        format!("fn {}{text}({me}{caller}{}) -> {ty}", self.name(), self.parameters())
    }

    pub fn about(&self) -> String {
        let answers: Vec<String> = self.answer.messages.iter().map(|message| spelled(message)).collect();
        let answered = if answers.is_empty() {
            "it is not answered".into()
        } else {
            format!("answered by {}", answers.join(" or "))
        };
        format!("/// {}, {answered}.\n", spelled(self.message))
    }

    /// Its line in the trait.
    fn declared(&self) -> String {
        format!("{}{};\n", self.about(), self.signature("", &self.answer.ty("'s")))
    }

    /// Its line in the trait of objects that may wait.
    fn declared_later(&self) -> String {
        let ty = format!("Poll<{}>", self.answer.ty("'s"));
        format!("{}{};\n", self.about(), self.signature(CALLER, &ty))
    }

    /// Its method in the implementation of the waiting trait for objects that answer at once.
    fn at_once(&self, interface: &str) -> String {
        let ty = format!("Poll<{}>", self.answer.ty("'s"));
        let arguments =
            if self.arguments().is_empty() { String::new() } else { ", ".to_string() + &self.arguments() };
        format!(
            "{} {{\nPoll::Ready({}::{}(self{arguments}))\n}}\n",
            self.signature(CALLER, &ty),
            name(interface),
            self.name(),
        )
    }

    /// The code that serves its request.
    fn served(&self) -> String {
        let values: String = self
            .message
            .parameters
            .iter()
            .map(|(_, ty)| match ty {
                Type::Text => ", request.lent()".into(),
                _ if is_whole(ty) => format!(", &request.value::<{}>()", self.types.owned(ty)),
                _ => format!(", request.{}()", crate::names::method(ty)),
            })
            .collect();
        let answered = if self.answer.messages.is_empty() {
            "reply.none();".into()
        } else {
            format!(
                "let message = match answer {{\n{}}};\n\
                 reply.send(message.number(), |to| message.put(to));",
                self.answer.as_message()
            )
        };
        format!(
            "{} => match self.0.{}(caller{values}) {{\n\
             Poll::Pending => Poll::Pending,\n\
             Poll::Ready(answer) => {{\n{answered}\nPoll::Ready(())\n}}\n}}\n",
            self.number,
            self.name(),
        )
    }
}

const CALLER: &str = ", caller: &native::Caller";

/// The form of an interface.
pub fn text(types: Types<'_>, interface: &Interface, calls: &Calls) -> String {
    let methods: Vec<Method> = calls.calls.iter().map(|call| Method::new(types, interface, call)).collect();
    let each = |text: fn(&Method) -> String| -> String { methods.iter().map(text).collect() };
    // Several calls may have the same answer.
    let answers: BTreeMap<&str, String> = methods
        .iter()
        .map(|method| (method.answer.name.as_str(), method.answer.declaration(types)))
        .collect();
    let name = &interface.name;
    let (plain, later) = (crate::names::name(name), format!("{name}Later"));
    answers.into_values().collect::<String>()
        + &format!(
            "/// A server of the interface: a method for each call.\n\
             pub trait {plain}: 'static {{\n{declared}}}\n\
             /// The same where an answer may have to wait for the platform: after `Poll::Pending` the \
             method is called\n\
             /// again, with the same request, when the caller's waiter is woken. (A component in the \
             request is given the\n\
             /// first time only.)\n\
             pub trait {later}: 'static {{\n{declared_later}\
             #[doc(hidden)]\nfn __at_once(&mut self) -> Option<&mut dyn {plain}> {{\nNone\n}}\n}}\n\
             impl<T: {plain}> {later} for T {{\n{at_once}\
             fn __at_once(&mut self) -> Option<&mut dyn {plain}> {{\nSome(self)\n}}\n}}\n\
             /// Serves a client by an object.\n\
             pub fn serve(object: impl {later}) -> native::Serving {{\n\
             native::Serving::calls(Adapter(Box::new(object)))\n}}\n\
             type Box<T> = native::Boxed<T>;\n\
             type Direct = native::Direct<dyn {plain}, dyn {later}>;\n\
             struct Adapter(Box<dyn {later}>);\n\
             impl native::Answers for Adapter {{\n\
             const DECLARATION: &'static native::Declaration = &DECLARATION;\n\
             fn answer(&mut self, caller: &native::Caller, number: usize,\n\
             mut request: native::Request<'_>, reply: native::Reply<'_>) -> Poll<()> {{\n\
             match number {{\n{served}_ => unreachable!(\"the client sends no other message\"),\n}}\n}}\n\
             fn object(&mut self) -> &mut dyn ::core::any::Any {{\n&mut self.0\n}}\n}}\n\
             impl native::Asks for Client {{\n\
             type Protocol = Interface;\ntype AtOnce = dyn {plain};\ntype Later = dyn {later};\n\
             fn parts(&mut self) -> (&mut native::Client<Interface>, &mut Direct) {{\n\
             (&mut self.session, &mut self.direct)\n}}\n\
             fn at_once(object: &mut dyn {later}) -> Option<&mut dyn {plain}> {{\nobject.__at_once()\n}}\n}}\n\
             {kinds}\
             impl Client {{\n{asked}}}\n",
            declared = each(|method| method.declared()),
            declared_later = each(|method| method.declared_later()),
            at_once = methods.iter().map(|method| method.at_once(name)).collect::<String>(),
            served = each(|method| method.served()),
            kinds = each(|method| method.declared_kind()),
            asked = methods.iter().map(|method| method.asked(&methods)).collect::<String>(),
        )
}
