//! The traits by which a platform gives names a meaning, and the [`Hints`] that BY passes to them (*THINK*, Fassino).
//!
//! * A [`NamingContext`] is a node of the graph of names; names lead from it along an [`Edge`].
//! * A [`BindingFactory`] joins a client to an interface elsewhere; a [`ResourceManager`] makes a component elsewhere.
//! * A [`Binder`] is all of a platform.

mod hints;

use alloc::boxed::Box;
use alloc::string::String;

use drystone_component::{Interface, Name, Template};

pub use self::hints::{Factory, Hints};
use crate::far::{Domain, Exported, Reach};

/// An end of a connection by name: the interface, its name, and what BY says of the binding.
#[derive(Clone, Copy)]
pub struct Endpoint<'a> {
    /// The interface that a client wants, or that is exported.
    pub interface: &'static Interface,
    /// Its name, in the context that is asked.
    pub name: Name<'a>,
    /// How it is to be reached.
    pub hints: &'a Hints<'a>,
}

impl<'a> Endpoint<'a> {
    /// The same, by its name in another context.
    pub fn named(self, name: Name<'a>) -> Endpoint<'a> {
        Endpoint { name, ..self }
    }
}

/// A naming context: a node of the graph of names. It gives names, and knows where they lead.
///
/// The program's own context is the runtime's. Its components may be contexts too: they are asked by messages, and
/// answer by other names. The platform's context is its [`Binder`], in which all others that are written in Rust lie,
/// each under a scheme.
pub trait NamingContext {
    /// Gives an interface a name.
    ///
    /// # Errors
    /// Why that can't be, as a sentence that need not name it: the name isn't one of this context's or is taken, a hint
    /// means nothing here, or the interface isn't fit for it.
    fn export(&mut self, endpoint: Endpoint<'_>) -> Result<Box<dyn Exported>, String>;

    /// What a name of this context leads to.
    ///
    /// # Errors
    /// It leads nowhere.
    fn resolve<'n>(&mut self, name: Name<'n>) -> Result<Edge<'_, 'n>, String>;
}

/// Where a name leads from a naming context: an edge of the graph.
pub enum Edge<'c, 'n> {
    /// To another context, and the name there.
    Context(&'c mut dyn NamingContext, Name<'n>),
    /// To an interface: this makes bindings to it.
    Interface(&'c mut dyn BindingFactory),
    /// To a place where this makes components.
    Place(&'c mut dyn ResourceManager),
}

/// A binding factory: it makes what joins a client to an interface that is elsewhere.
pub trait BindingFactory {
    /// A binding to what a name leads to, for a client.
    ///
    /// # Errors
    /// Why there can't be one: as for [`NamingContext::export`].
    fn bind(&mut self, endpoint: Endpoint<'_>) -> Result<Box<dyn Reach>, String>;
}

/// A resource manager: it makes domains, with a component in each, of the resources that it manages (a thread; a
/// process with as much memory and time as the hints say). [`Domain::delete`] gives a domain back (*THINK*'s
/// `release`), and [`Domain::offered`] binds what its component offers.
pub trait ResourceManager {
    /// Makes a component of a template in a domain of that name.
    ///
    /// # Errors
    /// Why that can't be.
    fn create(
        &mut self,
        template: &'static Template,
        name: Name<'_>,
        hints: &Hints<'_>,
    ) -> Result<Box<dyn Domain>, String>;
}

/// All that a platform knows about names: the context in which its naming contexts lie, and the factory of composed
/// bindings, as BY says.
pub trait Binder: NamingContext + BindingFactory + ResourceManager {
    /// Puts what BY asks for before a way to something in this program.
    ///
    /// # Errors
    /// A factory isn't known, or not fit for the interface.
    fn compose(
        &mut self,
        reach: Box<dyn Reach>,
        interface: &'static Interface,
        hints: &Hints<'_>,
    ) -> Result<Box<dyn Reach>, String>;

    /// Whether it is the interface of components that are naming contexts: `Resolve` with the rest of a name, answered
    /// by `Name` with another name, or `Unknown` (in this order).
    fn is_of_contexts(&self, interface: &'static Interface) -> bool;
}

/// Most contexts through which one name may lead.
pub(crate) const DEEPEST: usize = 16;

/// Why no name leads through more.
pub(crate) const ROUND: &str = "naming contexts lead round and round";

/// Follows a name from context to context, to what is no context; gives that, and the name in the last context.
///
/// # Errors
/// It leads nowhere.
pub fn follow<'c, 'n>(
    context: &'c mut dyn NamingContext,
    name: Name<'n>,
) -> Result<(Edge<'c, 'n>, Name<'n>), String> {
    let mut now = (context, name);
    for _ in 0..DEEPEST {
        now = match now.0.resolve(now.1)? {
            Edge::Context(context, name) => (context, name),
            leaf => return Ok((leaf, now.1)),
        };
    }
    Err(ROUND.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `a:in/x` is `a:x` in the context that lies within, `a:here` a place, `a:round` itself.
    #[derive(Default)]
    struct Nested(Option<Box<Nested>>);

    impl NamingContext for Nested {
        fn export(&mut self, _: Endpoint<'_>) -> Result<Box<dyn Exported>, String> {
            Err("nothing is exported here".into())
        }

        fn resolve<'n>(&mut self, name: Name<'n>) -> Result<Edge<'_, 'n>, String> {
            match (name.rest(), self.0.is_some()) {
                ("round", _) => Ok(Edge::Context(self, name)),
                ("here", _) => Ok(Edge::Place(self)),
                (rest, true) if rest.starts_with("in/") => {
                    Ok(Edge::Context(&mut **self.0.as_mut().unwrap(), name.within(3)))
                }
                _ => Err("no such name".into()),
            }
        }
    }

    impl ResourceManager for Nested {
        fn create(
            &mut self,
            _: &'static Template,
            _: Name<'_>,
            _: &Hints<'_>,
        ) -> Result<Box<dyn Domain>, String> {
            Err("nothing is made here".into())
        }
    }

    fn led(text: &str) -> String {
        let mut context = Nested(Some(Box::new(Nested(Some(Box::default())))));
        let name = Name::decode(text.as_bytes()).unwrap();
        match follow(&mut context, name) {
            Ok((Edge::Place(_), last)) => alloc::format!("{} in {}", last.rest(), last.context()),
            Ok(_) => "elsewhere".into(),
            Err(why) => why,
        }
    }

    #[test]
    fn a_name_leads_through_contexts_within_contexts() {
        assert_eq!(led("a:here"), "here in a");
        assert_eq!(led("a:in/in/here"), "here in a:in/in");
        assert_eq!(led("a:in/in/in/here"), "no such name");
        assert_eq!(led("a:in/out"), "no such name");
        assert_eq!(led("a:in/round"), ROUND);
    }
}
