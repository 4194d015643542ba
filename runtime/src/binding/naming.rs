//! What gives names a meaning (paper 002, section 3.1, figure 1; section 4.2, figure 6).

use alloc::boxed::Box;
use alloc::string::String;

use drystone_component::{Interface, Name, Template};

use super::hints::Hints;
use crate::far::{Domain, Exported, Reach};

/// A naming context: a node of the graph of names (section 3.1). It gives names, and knows what those that it gave lead
/// to.
///
/// The program's own is the runtime's, and its components may be contexts too: they are asked by messages, and name
/// what they know by other names. The platform's is its [`Binder`](super::Binder); in that lie all others that are
/// written in Rust, each under a scheme.
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

/// Most contexts that one name leads through.
pub(super) const DEEPEST: usize = 16;

/// Why no name leads through more.
pub(super) const ROUND: &str = "naming contexts lead round and round";

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
