//! `CONNECT`, and what its arguments and those of `DISCONNECT` mean.

use std::rc::Rc;

use drystone_language::program::{ConnectEnd, Expression, Facet, InterfaceId};
use drystone_language::source::Span;

use super::Kind;
use super::connections::{Link, Target};
use super::process::{Process, Step};
use super::scope::Scope;
use super::world::{Event, InstanceId};

impl<'p> Process<'_, 'p> {
    /// `CONNECT(required, offered)`; a new connection takes the place of an old one.
    pub async fn connect(
        &self,
        scope: &Rc<Scope>,
        required: &'p ConnectEnd,
        offered: &'p ConnectEnd,
        span: Span,
    ) -> Step<()> {
        let link = self.link(scope, required, span).await?;
        let target = match offered {
            ConnectEnd::Of { component, interface, .. } => {
                let location = self.locate(scope, component).await?;
                let server = self.content(&location, component.span)?;
                self.facet(&self.world.template(server).offers, *interface, span)?;
                Target::Offered(server, *interface)
            }
            ConnectEnd::OwnRequired(index, k) => {
                let k = self.slot(scope, *index, k.as_ref(), span).await?;
                Target::Required(self.instance, *index, k)
            }
            ConnectEnd::OwnOffered(_) => {
                unreachable!("checked: the second argument is no own offered interface")
            }
        };
        self.close_over(link, span).await?;
        self.world.state.borrow_mut().disconnect(link);
        if let Target::Offered(server, interface) = target {
            while self.world.crowded(server, interface) {
                self.wait(Event::Connections).await;
            }
        }
        if self.world.leads_to(target, link) {
            return Err(self.fail(Kind::ConnectionCycle, span));
        }
        self.world.state.borrow_mut().connect(link, target);
        Ok(())
    }

    /// The first argument of `CONNECT`, or that of `DISCONNECT`.
    pub async fn link(&self, scope: &Rc<Scope>, end: &'p ConnectEnd, span: Span) -> Step<Link> {
        match end {
            ConnectEnd::OwnOffered(index) => Ok(Link::Inward(self.instance, *index)),
            ConnectEnd::OwnRequired(index, k) => {
                let k = self.slot(scope, *index, k.as_ref(), span).await?;
                Ok(Link::Required(self.instance, *index, k))
            }
            ConnectEnd::Of { component, interface, index } => {
                let k = match index {
                    Some(k) => self.evaluate(scope, k).await?.integer(),
                    None => 1,
                };
                let location = self.locate(scope, component).await?;
                let of = self.content(&location, component.span)?;
                let facet = self.facet(&self.world.template(of).requires, *interface, span)?;
                self.check_slot(of, facet, k, span)?;
                Ok(Link::Required(of, facet, k))
            }
        }
    }

    /// Where an interface stands among a component's: in an `ANY` may be one that has only another of that name.
    fn facet(&self, facets: &[Facet], interface: InterfaceId, span: Span) -> Step<usize> {
        let facet = facets.iter().position(|facet| facet.interface == interface);
        facet.ok_or_else(|| self.fail(Kind::WrongType, span))
    }

    /// k of a required interface of the process's own component.
    pub async fn slot(
        &self,
        scope: &Rc<Scope>,
        index: usize,
        k: Option<&'p Expression>,
        span: Span,
    ) -> Step<i64> {
        let k = match k {
            Some(k) => self.evaluate(scope, k).await?.integer(),
            None => 1,
        };
        self.check_slot(self.instance, index, k, span)?;
        Ok(k)
    }

    fn check_slot(&self, instance: InstanceId, index: usize, k: i64, span: Span) -> Step<()> {
        let slots = self.world.template(instance).requires[index].cardinality;
        let last = slots.map_or(Some(1), |slots| slots.to);
        let inside = k >= 1 && last.is_none_or(|last| k <= i64::from(last));
        if inside { Ok(()) } else { Err(self.fail(Kind::IndexOutOfBounds, span)) }
    }
}
