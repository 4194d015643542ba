//! What gives names a meaning: the traits that a platform implements, and what BY tells them (paper 002, section 3.1,
//! figure 1; section 4.2, figure 6).

mod hints;

use alloc::boxed::Box;
use alloc::string::String;

use drystone_component::{Interface, Name, Template};

pub use self::hints::{Factory, Hints};
use crate::far::{Domain, Exported, Reach};

/// A naming context: a node of the graph of names (section 3.1). It gives names, and knows what those that it gave lead
/// to.
///
/// The program's own is the runtime's, and its components may be contexts too: they are asked by messages, and name
/// what they know by other names. The platform's is its [`Binder`]; in that lie all others that are written in Rust,
/// each under a scheme.
pub trait NamingContext {
    /// Gives an interface a name.
    ///
    /// # Errors
    /// Why it can't be exported so, as a sentence that need not name it: the name is none of this context's or is
    /// taken, a hint means nothing here, or the interface isn't fit for it.
    fn export(
        &mut self,
        interface: &'static Interface,
        name: Name<'_>,
        hints: &Hints<'_>,
    ) -> Result<Box<dyn Exported>, String>;

    /// What a name of this context leads to.
    ///
    /// # Errors
    /// It leads nowhere.
    fn resolve<'n>(&mut self, name: Name<'n>) -> Result<Edge<'_, 'n>, String>;
}

/// Where a name leads from a naming context: an edge of the graph.
pub enum Edge<'c, 'n> {
    /// To another context, which calls it so.
    Context(&'c mut dyn NamingContext, Name<'n>),
    /// To an interface, to which this makes bindings.
    Interface(&'c mut dyn BindingFactory),
    /// To where components can be made, by this.
    Place(&'c mut dyn ResourceManager),
}

/// A binding factory (section 3.1): it makes what joins a client to an interface that is elsewhere.
pub trait BindingFactory {
    /// A binding to what a name leads to, for a client of an interface.
    ///
    /// # Errors
    /// Why there can't be one: as for [`NamingContext::export`].
    fn bind(
        &mut self,
        interface: &'static Interface,
        name: Name<'_>,
        hints: &Hints<'_>,
    ) -> Result<Box<dyn Reach>, String>;
}

/// A resource manager (section 4.2): it makes domains, of what they may use (a thread; a process, and as much memory
/// and time as the hints say), with a component in each. A domain is given back by [`Domain::delete`], the paper's
/// `release`, and what it offers is bound by [`Domain::offered`].
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

/// What a platform knows about names: the context in which all of its naming contexts lie, and the factory of bindings
/// that are composed of several, as BY says.
pub trait Binder: NamingContext + BindingFactory + ResourceManager {
    /// Puts what BY asks for before what reaches something in this program.
    ///
    /// # Errors
    /// A factory isn't known, or not fit for the interface.
    fn compose(
        &mut self,
        reach: Box<dyn Reach>,
        interface: &'static Interface,
        hints: &Hints<'_>,
    ) -> Result<Box<dyn Reach>, String>;

    /// Whether it is the interface of naming contexts, by which a component says what names stand for: `Resolve` with
    /// the rest of a name, and as its answers `Name` with another name, or `Unknown` (in this order).
    fn is_of_contexts(&self, interface: &'static Interface) -> bool;
}

/// Most contexts that one name leads through.
pub(crate) const DEEPEST: usize = 16;

/// Why no name leads through more.
pub(crate) const ROUND: &str = "naming contexts lead round and round";

/// Follows a name from a context to what is none, and gives what the last context calls it.
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
        fn export(
            &mut self,
            _: &'static Interface,
            _: Name<'_>,
            _: &Hints<'_>,
        ) -> Result<Box<dyn Exported>, String> {
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
