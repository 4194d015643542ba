//! Interfaces: their messages with types, their protocols as automata, and which declarations are the same
//! interface: those with the same name, the same messages and the same protocol.

use std::collections::{BTreeMap, HashMap};

use crate::ast;
use crate::automaton;
use crate::program::{Facet, Interface, InterfaceId, Message, State, Type};
use crate::source::{Diagnostic, Span};

use super::Checker;
use super::predeclared::SYSTEM_FILE;
use super::scopes::ScopeId;

/// One declaration of an interface.
pub(super) struct Declared<'a> {
    pub(super) tree: &'a ast::Interface,
    scope: ScopeId,
    messages: Vec<DeclaredMessage>,
    states: Vec<State>,
    /// The interface that it declares. Until all are known, types name the declaration itself.
    pub(super) id: InterfaceId,
}

struct DeclaredMessage {
    message: Message,
    /// Where it is first mentioned.
    span: Span,
    /// Some parameter's type is not known.
    untyped: bool,
}

impl<'a> Declared<'a> {
    pub(super) fn new(tree: &'a ast::Interface, scope: ScopeId) -> Self {
        Declared { tree, scope, messages: Vec::new(), states: Vec::new(), id: InterfaceId(u32::MAX) }
    }

    /// Declared by the system, not by the program.
    pub(super) fn is_predeclared(&self) -> bool {
        self.tree.name.span.file == SYSTEM_FILE
    }
}

/// What tells two declarations of one name apart: the Rust trait, or messages without their parameters' names, and the
/// automaton. A mentioned interface counts as the class that it is known to be in.
#[derive(PartialEq, Eq, Hash)]
struct Shape {
    class: usize,
    native: Option<String>,
    messages: Vec<(bool, String, Vec<String>)>,
    states: Vec<(Vec<(usize, usize)>, bool)>,
}

impl<'a> Checker<'a> {
    /// Gives every interface declaration its messages, automaton and [`InterfaceId`].
    pub(super) fn resolve_interfaces(&mut self) {
        for index in 0..self.interface_declarations.len() {
            self.interface_declarations[index].id = InterfaceId(index as u32);
        }
        for index in 0..self.interface_declarations.len() {
            self.resolve_protocol(index);
        }
        let classes = self.interface_classes();
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
            let declared = &mut self.interface_declarations[index];
            let span = if declared.is_predeclared() { Span::default() } else { declared.tree.name.span };
            let mut messages = Vec::new();
            for (number, mut declared) in std::mem::take(&mut declared.messages).into_iter().enumerate() {
                for (_, ty) in &mut declared.message.parameters {
                    rename(ty, &ids);
                }
                if declared.untyped {
                    self.untyped_messages.insert((InterfaceId(id as u32), number));
                }
                messages.push(declared.message);
            }
            self.program.interfaces.push(Interface {
                name: declared.tree.name.text.clone(),
                span,
                messages,
                states: std::mem::take(&mut declared.states),
                native: declared.tree.native.as_ref().map(|native| native.path.clone()),
            });
        }
        for (declared, id) in self.interface_declarations.iter_mut().zip(ids) {
            declared.id = id;
        }
    }

    fn resolve_protocol(&mut self, index: usize) {
        let tree = self.interface_declarations[index].tree;
        let mut indices = HashMap::new();
        if let Some(protocol) = &tree.protocol {
            self.resolve_messages(index, protocol, &mut indices);
        }
        let compiled = automaton::compile(tree.protocol.as_ref(), &mut |message| {
            indices.get(&(message.direction, message.name.text.as_str())).copied().unwrap_or(0)
        });
        match compiled {
            Ok(states) => self.interface_declarations[index].states = states,
            Err(errors) => self.errors.extend(errors),
        }
    }

    fn resolve_messages(
        &mut self,
        index: usize,
        protocol: &'a ast::Protocol,
        indices: &mut HashMap<(ast::Direction, &'a str), usize>,
    ) {
        match protocol {
            ast::Protocol::Choice(parts) | ast::Protocol::Sequence(parts) => {
                for part in parts {
                    self.resolve_messages(index, part, indices);
                }
            }
            ast::Protocol::Optional(part, _)
            | ast::Protocol::Repeated(part, _)
            | ast::Protocol::Group(part, _) => self.resolve_messages(index, part, indices),
            ast::Protocol::Message(tree) => {
                let declared = self.resolve_message(self.interface_declarations[index].scope, tree);
                let messages = &mut self.interface_declarations[index].messages;
                let key = (tree.direction, tree.name.text.as_str());
                let Some(&earlier) = indices.get(&key) else {
                    indices.insert(key, messages.len());
                    messages.push(declared);
                    return;
                };
                let earlier = &messages[earlier];
                let types = |declared: &DeclaredMessage| -> Vec<Type> {
                    declared.message.parameters.iter().map(|(_, ty)| ty.clone()).collect()
                };
                if !earlier.untyped && !declared.untyped && types(earlier) != types(&declared) {
                    let error = Diagnostic::new(
                        "message-differs",
                        tree.span,
                        format!("message {} is mentioned with other parameters before", tree.name.text),
                    );
                    let first = earlier.span;
                    self.report(
                        error
                            .label("differs")
                            .note(first, "first mentioned here")
                            .help("every mention of a message repeats its parameters; or use another name"),
                    );
                }
            }
        }
    }

    fn resolve_message(&mut self, scope: ScopeId, tree: &'a ast::Message) -> DeclaredMessage {
        let mut parameters: Vec<(String, Type)> = Vec::new();
        let mut untyped = false;
        for section in &tree.parameters {
            let ty = self.resolve_type(scope, &section.ty);
            untyped |= ty.is_none();
            for name in &section.names {
                if parameters.iter().any(|(earlier, _)| *earlier == name.text) {
                    let note = "this message already has a parameter of that name".into();
                    self.duplicate(name, tree.name.span, note);
                }
                parameters.push((name.text.clone(), ty.clone().unwrap_or(Type::Integer)));
            }
        }
        let message = Message { name: tree.name.text.clone(), direction: tree.direction, parameters };
        DeclaredMessage { message, span: tree.span, untyped }
    }

    /// A class for each declaration; those of one class are one interface. Starts with one class for each name
    /// and splits until the members of each look alike, so that interfaces may mention each other.
    fn interface_classes(&self) -> Vec<usize> {
        let mut classes = vec![0; self.interface_declarations.len()];
        let mut count = 0;
        loop {
            let mut shapes: HashMap<(&str, Shape), usize> = HashMap::new();
            let mut next = Vec::new();
            for (index, declared) in self.interface_declarations.iter().enumerate() {
                let shape = self.shape(declared, classes[index], &classes);
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

    fn shape(&self, declared: &Declared<'a>, class: usize, classes: &[usize]) -> Shape {
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
        let messages = declared.messages.iter().map(|DeclaredMessage { message, .. }| {
            let types = message.parameters.iter().map(|(_, ty)| signature(ty)).collect();
            (message.direction == ast::Direction::In, message.name.clone(), types)
        });
        let states = declared.states.iter().map(|state| (state.transitions.clone(), state.may_end));
        let native = declared.tree.native.as_ref().map(|native| native.path.clone());
        Shape { class, native, messages: messages.collect(), states: states.collect() }
    }
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
