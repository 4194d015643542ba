//! Resolves interfaces: types their messages, compiles their protocols to automata, and finds the declarations that are
//! the same interface. Two declarations are, if they have the same name, messages and protocol.

use std::collections::{BTreeMap, HashMap};

use crate::ast;
use crate::automaton;
use crate::program::{Facet, Interface, InterfaceId, Message, State, Type};
use crate::source::{Diagnostic, Span};

use super::declarations::DeclaredInterface;
use super::definitions::Definitions;
use super::diagnostics::Diagnostics;
use super::symbols::ScopeId;

/// Messages of the system's interfaces that earlier texts of these don't have. Any state that the client may send in
/// has them, and they change none.
const ADDED: [(&str, &str); 1] = [("Output", "Limit")];

/// The contents of one declaration.
#[derive(Clone, Default)]
struct Contents {
    messages: Vec<DeclaredMessage>,
    states: Vec<State>,
}

#[derive(Clone)]
struct DeclaredMessage {
    message: Message,
    /// Its first mention in the protocol.
    span: Span,
    /// Some parameter's type is not known.
    untyped: bool,
}

/// Distinguishes declarations of one name: by the Rust trait, the messages without the names of their parameters, and
/// the automaton. An interface that is mentioned in a type is represented by its class so far.
#[derive(PartialEq, Eq, Hash)]
struct Shape {
    class: usize,
    native: Option<String>,
    messages: Vec<(bool, String, Vec<String>)>,
    states: Vec<(Vec<(usize, usize)>, bool)>,
}

/// Gives every interface declaration its messages, automaton and [`InterfaceId`].
pub(super) fn resolve(definitions: &mut Definitions, diagnostics: &mut Diagnostics) {
    for (index, declared) in definitions.declared.interfaces.iter_mut().enumerate() {
        declared.id = InterfaceId(index as u32);
    }
    let mut contents = Vec::new();
    for declared in &definitions.declared.interfaces {
        contents.push(contents_of(declared, definitions, diagnostics));
    }
    renew(&definitions.declared.interfaces, &mut contents);
    let classes = interface_classes(&definitions.declared.interfaces, &contents);
    let mut first_of_class = HashMap::new();
    let mut ids = Vec::new();
    let mut kept = Vec::new();
    for (index, class) in classes.into_iter().enumerate() {
        let id = *first_of_class.entry(class).or_insert_with(|| {
            kept.push(index);
            InterfaceId(kept.len() as u32 - 1)
        });
        ids.push(id);
    }
    for (id, index) in kept.into_iter().enumerate() {
        let declared = &definitions.declared.interfaces[index];
        let Contents { messages: found, states } = std::mem::take(&mut contents[index]);
        let span = if declared.is_predeclared() { Span::default() } else { declared.tree.name.span };
        let mut messages = Vec::new();
        for (number, mut declared) in found.into_iter().enumerate() {
            for (_, ty) in &mut declared.message.parameters {
                rename(ty, &ids);
            }
            declared.message.values = definitions.program.values_of(&declared.message.parameters);
            if declared.untyped {
                definitions.gaps.messages.insert((InterfaceId(id as u32), number));
            }
            messages.push(declared.message);
        }
        definitions.program.interfaces.push(Interface {
            name: declared.tree.name.text.clone(),
            span,
            messages,
            states,
            native: declared.tree.native.as_ref().map(|native| native.path.clone()),
            capacity: 1,
        });
    }
    for (declared, id) in definitions.declared.interfaces.iter_mut().zip(ids) {
        declared.id = id;
        let known = &mut definitions.program.interfaces[id.index()].capacity;
        *known = capacity_of(declared.tree, diagnostics).max(*known);
    }
}

/// How many messages a buffer holds, as one declaration says.
fn capacity_of(tree: &ast::Interface, diagnostics: &mut Diagnostics) -> usize {
    let Some((number, span)) = tree.capacity else { return 1 };
    if tree.native.is_some() {
        let message = format!("{} is a Rust trait, and has no messages", tree.name.text);
        diagnostics.report(Diagnostic::new("capacity", span, message));
    }
    let fits = |capacity: &usize| (1..=Interface::MOST_CAPACITY).contains(capacity);
    usize::try_from(number).ok().filter(fits).unwrap_or_else(|| {
        let most = Interface::MOST_CAPACITY;
        let message = format!("a buffer holds 1 to {most} messages, and not {number}");
        let help = "each communication has the memory for so many, used or not";
        diagnostics.report(Diagnostic::new("capacity", span, message).help(help));
        1
    })
}

/// A program may declare the system's interfaces itself. Where it does so by an earlier text, it means what the system
/// has now.
fn renew(declared: &[DeclaredInterface], contents: &mut [Contents]) {
    for (name, added) in ADDED {
        let named = |&index: &usize| declared[index].tree.name.text == name;
        let all: Vec<usize> = (0..declared.len()).filter(named).collect();
        let Some(&system) = all.iter().find(|&&index| declared[index].is_predeclared()) else { continue };
        let earlier = contents[system].without(added);
        for index in all {
            if contents[index].is_same(&earlier) {
                contents[index] = contents[system].clone();
            }
        }
    }
}

impl Contents {
    /// The same without a message that leaves each state as it is.
    fn without(&self, message: &str) -> Contents {
        let left_out = self.messages.iter().position(|it| it.message.name == message);
        let mut earlier = self.clone();
        let Some(left_out) = left_out else { return earlier };
        earlier.messages.remove(left_out);
        for state in &mut earlier.states {
            state.transitions.retain(|&(message, _)| message != left_out);
            for (message, _) in &mut state.transitions {
                *message -= usize::from(*message > left_out);
            }
        }
        earlier
    }

    /// Whether messages and automaton are the same, as far as no other interface is mentioned.
    fn is_same(&self, other: &Contents) -> bool {
        let messages = |contents: &Contents| -> Vec<(ast::Direction, String, Vec<Type>)> {
            let messages = contents.messages.iter().map(|declared| &declared.message);
            let types = |message: &Message| message.parameters.iter().map(|(_, ty)| ty.clone()).collect();
            messages.map(|message| (message.direction, message.name.clone(), types(message))).collect()
        };
        messages(self) == messages(other) && self.states == other.states
    }
}

/// Reads one declaration.
fn contents_of(
    declared: &DeclaredInterface,
    definitions: &Definitions,
    diagnostics: &mut Diagnostics,
) -> Contents {
    let protocol = declared.tree.protocol.as_ref();
    let mut reader = Reader {
        definitions,
        scope: declared.scope,
        diagnostics,
        messages: Vec::new(),
        indices: HashMap::new(),
    };
    if let Some(protocol) = protocol {
        reader.protocol(protocol);
    }
    let Reader { messages, indices, .. } = reader;
    let compiled = automaton::compile(protocol, &mut |message| {
        indices.get(&(message.direction, message.name.text.as_str())).copied().unwrap_or(0)
    });
    let states = compiled.unwrap_or_else(|errors| {
        diagnostics.extend(errors);
        Vec::new()
    });
    Contents { messages, states }
}

/// Collects the messages that a protocol mentions.
struct Reader<'d, 't> {
    definitions: &'d Definitions<'d>,
    /// Where the interface is declared.
    scope: ScopeId,
    diagnostics: &'d mut Diagnostics,
    messages: Vec<DeclaredMessage>,
    /// The message of each direction and name: an index into `messages`.
    indices: HashMap<(ast::Direction, &'t str), usize>,
}

impl<'t> Reader<'_, 't> {
    fn protocol(&mut self, protocol: &'t ast::Protocol) {
        match protocol {
            ast::Protocol::Choice(parts) | ast::Protocol::Sequence(parts) => {
                parts.iter().for_each(|part| self.protocol(part));
            }
            ast::Protocol::Optional(part, _)
            | ast::Protocol::Repeated(part, _)
            | ast::Protocol::Group(part, _) => self.protocol(part),
            ast::Protocol::Message(tree) => self.mention(tree),
        }
    }

    /// Adds a message at its first mention. At each other mention, its parameters must be the same.
    fn mention(&mut self, tree: &'t ast::Message) {
        let declared = self.message(tree);
        let key = (tree.direction, tree.name.text.as_str());
        let Some(&earlier) = self.indices.get(&key) else {
            self.indices.insert(key, self.messages.len());
            self.messages.push(declared);
            return;
        };
        let earlier = &self.messages[earlier];
        let types = |declared: &DeclaredMessage| -> Vec<Type> {
            declared.message.parameters.iter().map(|(_, ty)| ty.clone()).collect()
        };
        if !earlier.untyped && !declared.untyped && types(earlier) != types(&declared) {
            let message = format!("message {} is mentioned with other parameters before", tree.name.text);
            let error = Diagnostic::new("message-differs", tree.span, message).label("differs");
            self.diagnostics.report(
                error
                    .note(earlier.span, "first mentioned here")
                    .help("every mention of a message repeats its parameters; or use another name"),
            );
        }
    }

    fn message(&mut self, tree: &ast::Message) -> DeclaredMessage {
        let mut parameters: Vec<(String, Type)> = Vec::new();
        let mut untyped = false;
        for section in &tree.parameters {
            let ty = self.definitions.resolve_type(self.scope, &section.ty, self.diagnostics);
            untyped |= ty.is_none();
            for name in &section.names {
                if parameters.iter().any(|(earlier, _)| *earlier == name.text) {
                    let note = "this message already has a parameter of that name".into();
                    self.diagnostics.duplicate(name, tree.name.span, note);
                }
                parameters.push((name.text.clone(), ty.clone().unwrap_or(Type::Integer)));
            }
        }
        let (name, values) = (tree.name.text.clone(), Vec::new());
        let message = Message { name, direction: tree.direction, parameters, values };
        DeclaredMessage { message, span: tree.span, untyped }
    }
}

/// Gives each declaration a class; the declarations of one class are one interface. Starts with one class for each
/// name, and splits classes until the members of each have the same shape. So interfaces may mention one another.
fn interface_classes(declared: &[DeclaredInterface], contents: &[Contents]) -> Vec<usize> {
    let mut classes = vec![0; declared.len()];
    let mut count = 0;
    loop {
        let mut shapes: HashMap<(&str, Shape), usize> = HashMap::new();
        let mut next = Vec::new();
        for (index, (declared, contents)) in declared.iter().zip(contents).enumerate() {
            let shape = shape(declared, contents, classes[index], &classes);
            let fresh = shapes.len();
            next.push(*shapes.entry((&declared.tree.name.text, shape)).or_insert(fresh));
        }
        let found = shapes.len();
        classes = next;
        if found == count {
            return classes;
        }
        count = found;
    }
}

fn shape(declared: &DeclaredInterface, contents: &Contents, class: usize, classes: &[usize]) -> Shape {
    let signature = |ty: &Type| match ty {
        Type::Component(id) => format!("component {}", id.0),
        Type::Any(any) => {
            let list = |facets: &[Facet]| {
                let facets: BTreeMap<usize, String> = facets
                    .iter()
                    .map(|facet| (classes[facet.interface.index()], format!("{:?}", facet.cardinality)))
                    .collect();
                format!("{facets:?}")
            };
            format!("any {} {:?}", list(&any.offers), any.requires.as_deref().map(list))
        }
        basic => format!("{basic:?}"),
    };
    let messages = contents.messages.iter().map(|DeclaredMessage { message, .. }| {
        let types = message.parameters.iter().map(|(_, ty)| signature(ty)).collect();
        (message.direction == ast::Direction::In, message.name.clone(), types)
    });
    let states = contents.states.iter().map(|state| (state.transitions.clone(), state.may_end));
    let native = declared.tree.native.as_ref().map(|native| native.path.clone());
    Shape { class, native, messages: messages.collect(), states: states.collect() }
}

/// Replaces declarations by the interfaces that they declare.
fn rename(ty: &mut Type, ids: &[InterfaceId]) {
    if let Type::Any(any) = ty {
        for facets in [Some(&mut any.offers), any.requires.as_mut()].into_iter().flatten() {
            for facet in facets.iter_mut() {
                facet.interface = ids[facet.interface.index()];
            }
            facets.sort_by_key(|facet| facet.interface);
        }
    }
}
