//! The messages of each side as an enum, and sessions that send and receive them.

use drystone_language::ast::Direction;
use drystone_language::program::{Interface, Message, Type};

use crate::names::{Types, is_text, is_whole, method, name, snake};

/// The messages of one side, with their numbers.
fn of(interface: &Interface, direction: Direction) -> Vec<(usize, &Message)> {
    let all = interface.messages.iter().enumerate();
    all.filter(|(_, message)| message.direction == direction).collect()
}

/// `<'a>` where a text is lent.
pub fn lifetime<'m>(messages: impl IntoIterator<Item = &'m Message>, lifetime: &str) -> String {
    let has_text = messages.into_iter().any(|m| m.parameters.iter().any(|(_, ty)| is_text(ty)));
    if has_text { format!("<{lifetime}>") } else { String::new() }
}

/// `{ x, y }`, or nothing.
pub fn pattern(message: &Message) -> String {
    let fields: Vec<String> = message.parameters.iter().map(|(field, _)| name(field)).collect();
    if fields.is_empty() { String::new() } else { format!(" {{ {} }}", fields.join(", ")) }
}

/// A message as interfaces declare it.
pub fn spelled(message: &Message) -> String {
    let direction = if message.direction == Direction::In { "IN" } else { "OUT" };
    let names: Vec<&str> = message.parameters.iter().map(|(name, _)| name.as_str()).collect();
    let parameters = if names.is_empty() { String::new() } else { format!("({})", names.join(", ")) };
    format!("`{direction} {}{parameters}`", message.name)
}

/// `{ x: Text<'a>, y: i64 }`, or nothing.
pub fn fields(types: Types<'_>, message: &Message, visible: &str) -> String {
    let field = |(field, ty)| format!("/// As declared.\n{visible}{}: {}, ", name(field), types.owned(ty));
    let fields: String = message.parameters.iter().map(|(n, t)| field((n.as_str(), t))).collect();
    if fields.is_empty() { String::new() } else { format!(" {{\n{fields}}}") }
}

/// `In` and `Out`, and the implementations that tie them to the interface.
pub fn both(types: Types<'_>, interface: &Interface) -> String {
    let (sent, answered) = (of(interface, Direction::In), of(interface, Direction::Out));
    let lifetimes = [&sent, &answered].map(|side| lifetime(side.iter().map(|(_, m)| *m), "'a"));
    let protocol = format!(
        "/// The interface itself.\n\
         #[derive(Debug)]\n\
         pub enum Interface {{}}\n\
         impl native::Protocol for Interface {{\n\
         const DECLARATION: &'static native::Declaration = &DECLARATION;\n\
         type In<'a> = In{};\ntype Out<'a> = Out{};\n}}\n",
        lifetimes[0], lifetimes[1]
    );
    protocol
        + &side(types, "In", "What clients send.", &sent)
        + &side(types, "Out", "What servers send.", &answered)
}

fn side(types: Types<'_>, side: &str, about: &str, messages: &[(usize, &Message)]) -> String {
    let every = || messages.iter().map(|(_, message)| *message);
    let (declared, meant) = (lifetime(every(), "'a"), lifetime(every(), "'_"));
    let variants: String = every()
        .map(|m| format!("/// {}\n{}{},\n", spelled(m), name(&m.name), fields(types, m, "")))
        .collect();
    let mut text = format!("/// {about}\n#[derive(Debug)]\npub enum {side}{declared} {{\n{variants}}}\n");
    let arms = |arm: &dyn Fn(usize, &Message) -> String| -> String {
        messages.iter().map(|&(number, message)| arm(number, message)).collect()
    };
    let number = arms(&|number, m| format!("{side}::{}{} => {number},\n", name(&m.name), ignored(m)));
    let put = arms(&|_, m| {
        // Values are numbered, because parameters may have any name, also one of this code's.
        let numbered = m.parameters.iter().enumerate();
        let fields: Vec<String> =
            numbered.clone().map(|(i, (field, _))| format!("{}: p{i}", name(field))).collect();
        let fields = if fields.is_empty() { String::new() } else { format!(" {{ {} }}", fields.join(", ")) };
        let put = |(i, (_, ty)): (usize, &(String, Type))| {
            let lent = if is_whole(ty) { "&" } else { "" };
            format!("to.{}({lent}p{i});\n", method(ty))
        };
        let puts: String = numbered.map(put).collect();
        format!("{side}::{}{fields} => {{\n{puts}}}\n", name(&m.name))
    });
    let take = arms(&|number, m| {
        let takes: String = m
            .parameters
            .iter()
            .map(|(field, ty)| format!("{}: from.{}(), ", name(field), method(ty)))
            .collect();
        let values = if takes.is_empty() { String::new() } else { format!(" {{ {takes}}}") };
        format!("{number} => {side}::{}{values},\n", name(&m.name))
    });
    text += &format!(
        "impl native::Message for {side}{meant} {{\n\
         fn number(&self) -> usize {{\nmatch *self {{\n{number}}}\n}}\n\
         fn put(self, to: &mut native::Putting<'_>) {{\nmatch self {{\n{put}}}\n}}\n\
         fn take(number: usize, mut from: native::Taking<'_>) -> Option<Self> {{\n\
         Some(match number {{\n{take}_ => return None,\n}})\n}}\n}}\n"
    );
    text
}

/// A pattern that ignores all values.
fn ignored(message: &Message) -> &'static str {
    if message.parameters.is_empty() { "" } else { " { .. }" }
}

/// `Server` and `Client`, with a method to send each message; a client that makes calls has those instead.
pub fn sessions(types: Types<'_>, interface: &Interface, makes_calls: bool) -> String {
    let server = sends(types, &of(interface, Direction::Out), "Out");
    let client = match makes_calls {
        true => String::new(),
        false => format!("impl Client {{\n{}}}\n", sends(types, &of(interface, Direction::In), "In")),
    };
    format!(
        "/// The server's side of a communication.\n\
         pub struct Server(native::Server<Interface>);\n\
         impl ::core::ops::Deref for Server {{\n\
         type Target = native::Server<Interface>;\n\
         fn deref(&self) -> &Self::Target {{\n&self.0\n}}\n}}\n\
         impl ::core::ops::DerefMut for Server {{\n\
         fn deref_mut(&mut self) -> &mut Self::Target {{\n&mut self.0\n}}\n}}\n\
         impl Server {{\n{server}}}\n\
         /// Serves a client by asynchronous code.\n\
         pub fn session<F: ::core::future::Future<Output = ()> + 'static>(\n\
         act: impl FnOnce(Server) -> F + 'static) -> native::Serving {{\n\
         native::Serving::session(|server| act(Server(server)))\n}}\n\
         /// The client's side: a port of the component.\n\
         pub struct Client {{\nsession: native::Client<Interface>,\ndirect: Direct,\n}}\n\
         impl ::core::ops::Deref for Client {{\n\
         type Target = native::Client<Interface>;\n\
         fn deref(&self) -> &Self::Target {{\n&self.session\n}}\n}}\n\
         impl ::core::ops::DerefMut for Client {{\n\
         fn deref_mut(&mut self) -> &mut Self::Target {{\n&mut self.session\n}}\n}}\n\
         /// The port of the interface that stands at `required` in the kind's list.\n\
         pub fn client(ports: &native::Ports, required: usize) -> Client {{\n\
         Client {{ session: ports.client(required), direct: Direct::default() }}\n}}\n\
         /// The k-th port of one with a cardinality, from 1.\n\
         pub fn client_at(ports: &native::Ports, required: usize, k: usize) -> Client {{\n\
         Client {{ session: ports.client_at(required, k), direct: Direct::default() }}\n}}\n\
         {client}"
    )
}

fn sends(types: Types<'_>, messages: &[(usize, &Message)], side: &str) -> String {
    let send = |(_, message): &(usize, &Message)| {
        let parameters: String = message
            .parameters
            .iter()
            .map(|(field, ty)| match is_text(ty) {
                true => format!(", {}: impl Into<Text<'a>>", name(field)),
                false => format!(", {}: {}", name(field), types.owned(ty)),
            })
            .collect();
        let has_text = message.parameters.iter().any(|(_, ty)| is_text(ty));
        let values: String = message
            .parameters
            .iter()
            .map(|(field, ty)| {
                format!(
                    "{0}{1}, ",
                    name(field),
                    if is_text(ty) { format!(": {}.into()", name(field)) } else { String::new() }
                )
            })
            .collect();
        let values = if values.is_empty() { String::new() } else { format!(" {{ {values}}}") };
        let session = if side == "In" { "session" } else { "0" };
        format!(
            "/// Sends {}.\npub async fn send_{}{}(&mut self{parameters}) {{\n\
             self.{session}.send({side}::{}{values}).await\n}}\n",
            spelled(message),
            snake(&message.name).trim_start_matches("r#").trim_end_matches('_'),
            if has_text { "<'a>" } else { "" },
            name(&message.name),
        )
    };
    messages.iter().map(send).collect()
}
