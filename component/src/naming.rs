//! Names, naming contexts, binding factories, domains and resources: the paper's core framework (paper 002, sections 3.1
//! and 4.2, Figures 1 and 6) as types. What an interface is to those who name and bind it is left open: `I` is what stands
//! under names, `E` the end of a binding that a client gets.
//!
//! Names are relative to contexts, and contexts form a graph: an edge leads from a context to an interface or to another
//! context, and is labelled by a name in the first. There may be cycles, and many ways to one interface. [`Graph`] is such
//! contexts in memory; others, with conventions of their own, hang in it as nodes.
//!
//! Whoever makes something of names says why it can't in a sentence that begins with the name.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::RefCell;

/// A name, which means something in the context that gave it.
pub struct Name<I> {
    context: Rc<dyn NamingContext<I>>,
    bytes: Box<[u8]>,
}

impl<I> Name<I> {
    /// For contexts: a name of theirs.
    pub fn new(context: Rc<dyn NamingContext<I>>, bytes: &[u8]) -> Name<I> {
        Name { context, bytes: bytes.into() }
    }

    /// The context that it is relative to (`getNC`).
    pub fn context(&self) -> &Rc<dyn NamingContext<I>> {
        &self.context
    }

    /// Its form outside the program (`toByte`); [`NamingContext::decode`] of the same context makes it a name again.
    pub fn to_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// What stands under it now.
    ///
    /// # Errors
    /// Nothing does.
    pub fn resolve(&self) -> Result<Node<I>, String> {
        self.context.resolve(&self.bytes)
    }
}

impl<I> Clone for Name<I> {
    fn clone(&self) -> Name<I> {
        Name { context: self.context.clone(), bytes: self.bytes.clone() }
    }
}

/// A set of names with a convention of its own.
pub trait NamingContext<I> {
    /// Makes a name for an interface, and what it takes to be found by it. The hint says what the name should be, and
    /// whatever else the context wants to know.
    ///
    /// # Errors
    /// It is taken, or the context does not give such names.
    fn export(self: Rc<Self>, interface: I, hint: &[u8]) -> Result<Name<I>, String>;

    /// The name whose bytes these are (`byteToName`). That something stands under it is not said.
    ///
    /// # Errors
    /// The context does not give such names.
    fn decode(self: Rc<Self>, bytes: &[u8]) -> Result<Name<I>, String>;

    /// What a name, as bytes, leads to from here.
    ///
    /// # Errors
    /// Nothing; or something of which this context does not know what it is.
    fn resolve(&self, bytes: &[u8]) -> Result<Node<I>, String>;
}

/// A node of a naming graph.
pub enum Node<I> {
    /// More names.
    Context(Rc<dyn NamingContext<I>>),
    /// An interface of a component.
    Interface(I),
}

/// Makes bindings, of one kind.
pub trait BindingFactory<I, E> {
    /// A binding with what stands under a name: the end of it that the client uses. The hint is what the client wishes
    /// (BY in the component language).
    ///
    /// # Errors
    /// Why there can be none. That the other side is not there may turn out later.
    fn bind(&self, name: &Name<I>, hint: &[u8]) -> Result<E, String>;
}

/// Something of which there is not any number.
pub trait Resource {
    /// Whoever had it needs it no more.
    fn release(&self);
}

/// Makes resources out of lower ones, and allocates them by binding to them (section 4.2).
pub trait ResourceManager<I, E>: BindingFactory<I, E> {
    /// Makes a resource.
    ///
    /// # Errors
    /// There is nothing left to make it of.
    fn create(&self, hint: &[u8]) -> Result<Rc<dyn Resource>, String>;
}

/// A boundary of resources, protection and isolation, in which components live: `T` says what component, `C` is what the
/// creator has of it.
pub trait Domain<T, C> {
    /// Makes a component there.
    ///
    /// # Errors
    /// The domain has no room for it, or is not there any more.
    fn create(&self, template: T, hint: &[u8]) -> Result<C, String>;
}

/// Most labels of a path: more are a mistake, or lead round and round.
const LONGEST: usize = 256;

/// Naming contexts in memory, which may refer to each other in any way. Contexts come and go while the program runs.
pub struct Graph<I> {
    contexts: RefCell<Vec<Edges<I>>>,
}

/// What leads from a context, by labels.
type Edges<I> = BTreeMap<Box<[u8]>, Edge<I>>;

/// Where a label leads.
enum Edge<I> {
    /// A context of the same graph.
    Inner(usize),
    /// A context of another kind.
    Foreign(Rc<dyn NamingContext<I>>),
    Interface(I),
}

impl<I: Clone + 'static> Graph<I> {
    /// With one empty context.
    #[expect(clippy::new_ret_no_self, reason = "what one has of a graph are its contexts")]
    pub fn new() -> Context<I> {
        let graph = Graph { contexts: RefCell::new(Vec::from([BTreeMap::new()])) };
        Context { graph: Rc::new(graph), number: 0 }
    }
}

/// A context of a [`Graph`]. Its names are paths of labels with `/` between them.
pub struct Context<I> {
    graph: Rc<Graph<I>>,
    number: usize,
}

impl<I> Clone for Context<I> {
    fn clone(&self) -> Context<I> {
        Context { graph: self.graph.clone(), number: self.number }
    }
}

impl<I: Clone + 'static> Context<I> {
    /// Makes a context of the same graph; no label leads there yet.
    pub fn another(&self) -> Context<I> {
        let mut contexts = self.graph.contexts.borrow_mut();
        contexts.push(BTreeMap::new());
        Context { graph: self.graph.clone(), number: contexts.len() - 1 }
    }

    /// A label here leads to that context, which may be this one.
    ///
    /// # Errors
    /// The label is taken, or is none.
    pub fn add(&self, label: &[u8], context: &Context<I>) -> Result<(), String> {
        if Rc::ptr_eq(&self.graph, &context.graph) {
            self.edge(label, Edge::Inner(context.number))
        } else {
            self.mount(label, Rc::new(context.clone()))
        }
    }

    /// A label here leads to a context of any kind.
    ///
    /// # Errors
    /// The label is taken, or is none.
    pub fn mount(&self, label: &[u8], context: Rc<dyn NamingContext<I>>) -> Result<(), String> {
        self.edge(label, Edge::Foreign(context))
    }

    /// Nothing stands under a label any more; whether something did.
    pub fn remove(&self, label: &[u8]) -> bool {
        self.graph.contexts.borrow_mut()[self.number].remove(label).is_some()
    }

    /// The labels that lead from here.
    pub fn labels(&self) -> Vec<Box<[u8]>> {
        self.graph.contexts.borrow()[self.number].keys().cloned().collect()
    }

    fn edge(&self, label: &[u8], edge: Edge<I>) -> Result<(), String> {
        if label.is_empty() || label.contains(&b'/') {
            return Err(format!("{}: this is no label", shown(label)));
        }
        let edges = &mut self.graph.contexts.borrow_mut()[self.number];
        if edges.contains_key(label) {
            return Err(format!("{}: this name is taken", shown(label)));
        }
        edges.insert(label.into(), edge);
        Ok(())
    }
}

impl<I: Clone + 'static> NamingContext<I> for Context<I> {
    fn export(self: Rc<Self>, interface: I, hint: &[u8]) -> Result<Name<I>, String> {
        self.edge(hint, Edge::Interface(interface))?;
        Ok(Name::new(self, hint))
    }

    fn decode(self: Rc<Self>, bytes: &[u8]) -> Result<Name<I>, String> {
        match bytes.split(|&byte| byte == b'/').take(LONGEST + 1).count() <= LONGEST {
            true => Ok(Name::new(self, bytes)),
            false => Err(format!("{}: a name of more than {LONGEST} labels", shown(bytes))),
        }
    }

    fn resolve(&self, bytes: &[u8]) -> Result<Node<I>, String> {
        let contexts = self.graph.contexts.borrow();
        let (mut number, mut rest) = (self.number, bytes);
        for _ in 0..LONGEST {
            let end = rest.iter().position(|&byte| byte == b'/');
            let label = &rest[..end.unwrap_or(rest.len())];
            let behind = end.map(|end| &rest[end + 1..]);
            let edge = contexts[number].get(label);
            match (edge.ok_or_else(|| format!("{}: no such name", shown(bytes)))?, behind) {
                (Edge::Inner(next), Some(behind)) => (number, rest) = (*next, behind),
                (Edge::Inner(next), None) => {
                    let context = Context { graph: self.graph.clone(), number: *next };
                    return Ok(Node::Context(Rc::new(context)));
                }
                (Edge::Foreign(context), Some(behind)) => {
                    let context = context.clone();
                    drop(contexts);
                    return context.resolve(behind);
                }
                (Edge::Foreign(context), None) => return Ok(Node::Context(context.clone())),
                (Edge::Interface(interface), None) => return Ok(Node::Interface(interface.clone())),
                (Edge::Interface(_), Some(_)) => {
                    return Err(format!("{}: {} is no context", shown(bytes), shown(label)));
                }
            }
        }
        Err(format!("{}: a name of more than {LONGEST} labels", shown(bytes)))
    }
}

/// As much of a name as fits into a line.
fn shown(name: &[u8]) -> String {
    let most = 200;
    let text = String::from_utf8_lossy(&name[..name.len().min(most)]);
    let dots = if name.len() > most { ".." } else { "" };
    text.chars().map(|c| if c.is_control() { '\u{FFFD}' } else { c }).chain(dots.chars()).collect()
}
