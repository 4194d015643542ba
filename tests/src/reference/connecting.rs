//! `CONNECT` and `EXPORT`, and the evaluation of their arguments and those of `DISCONNECT`.

use std::rc::Rc;

use drystone_language::program::{ConnectEnd, Expression, Facet, InterfaceId};
use drystone_language::source::Span;

use super::identity::{Event, InstanceId};
use super::links::{Link, Target};
use super::names::Waiting;
use super::outcome::Kind;
use super::process::{Process, Step};
use super::scope::{Location, Scope};

/// An end of a connection with evaluated indices.
struct End {
    k: i64,
    component: Option<Location>,
}

impl End {
    fn component(&self) -> &Location {
        self.component.as_ref().expect("the place of a component was prepared")
    }
}

impl<'p> Process<'_, 'p> {
    /// `CONNECT(required, offered)`; a new connection takes the place of an old one.
    pub async fn connect(
        &self,
        scope: &Rc<Scope>,
        required: &'p ConnectEnd,
        offered: &'p ConnectEnd,
        by: Option<&'p Expression>,
        span: Span,
    ) -> Step<()> {
        let (first, second) = (self.prepare(scope, required).await?, self.prepare(scope, offered).await?);
        if let Some(by) = by {
            self.evaluate(scope, by).await?;
        }
        let link = self.link_of(required, &first, span)?;
        let target = self.target_of(offered, &second, span)?;
        self.close_over(link, span).await?;
        self.world.disconnect(link);
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

    /// `CONNECT(required, name)`
    pub async fn bind(
        &self,
        scope: &Rc<Scope>,
        required: &'p ConnectEnd,
        interface: InterfaceId,
        [name, by]: [&'p Expression; 2],
        span: Span,
    ) -> Step<()> {
        let end = self.prepare(scope, required).await?;
        let name = self.evaluate(scope, name).await?.text().to_vec();
        self.evaluate(scope, by).await?;
        let link = self.link_of(required, &end, span)?;
        self.close_over(link, span).await?;
        self.world.disconnect(link);
        if !self.world.state.borrow().alive(link.instance()) {
            return Ok(());
        }
        self.check(self.world.connect_to_name(Waiting { name, link, interface, span }), span)
    }

    /// `EXPORT(offered, name)`
    pub async fn export(
        &self,
        scope: &Rc<Scope>,
        offered: &'p ConnectEnd,
        interface: InterfaceId,
        [name, by]: [&'p Expression; 2],
        span: Span,
    ) -> Step<()> {
        let end = self.prepare(scope, offered).await?;
        let name = self.evaluate(scope, name).await?.text().to_vec();
        self.evaluate(scope, by).await?;
        let target = self.target_of(offered, &end, span)?;
        self.check(self.world.export(name, target, interface), span)
    }

    fn target_of(&self, end: &'p ConnectEnd, prepared: &End, span: Span) -> Step<Target> {
        match end {
            ConnectEnd::Of { component, interface, .. } => {
                let server = self.content(prepared.component(), component.span)?;
                self.facet(&self.world.template(server).offers, *interface, span)?;
                Ok(Target::Offered(server, *interface))
            }
            ConnectEnd::OwnRequired(index, _) => {
                self.check_slot(self.instance, *index, prepared.k, span)?;
                Ok(Target::Required(self.instance, *index, prepared.k))
            }
            ConnectEnd::OwnOffered(_) => {
                unreachable!("checked: the second argument is no own offered interface")
            }
        }
    }

    /// The argument of `DISCONNECT`.
    pub async fn link(&self, scope: &Rc<Scope>, end: &'p ConnectEnd, span: Span) -> Step<Link> {
        let prepared = self.prepare(scope, end).await?;
        self.link_of(end, &prepared, span)
    }

    /// Evaluates the indices of an end.
    async fn prepare(&self, scope: &Rc<Scope>, end: &'p ConnectEnd) -> Step<End> {
        let (k, component) = match end {
            ConnectEnd::OwnOffered(_) => (&None, None),
            ConnectEnd::OwnRequired(_, k) => (k, None),
            ConnectEnd::Of { component, index, .. } => (index, Some(component)),
        };
        let k = match k {
            Some(k) => self.evaluate(scope, k).await?.integer(),
            None => 1,
        };
        let component = match component {
            Some(component) => Some(self.locate(scope, component).await?),
            None => None,
        };
        Ok(End { k, component })
    }

    fn link_of(&self, end: &'p ConnectEnd, prepared: &End, span: Span) -> Step<Link> {
        let k = prepared.k;
        match end {
            ConnectEnd::OwnOffered(index) => Ok(Link::Inward(self.instance, *index)),
            ConnectEnd::OwnRequired(index, _) => {
                self.check_slot(self.instance, *index, k, span)?;
                Ok(Link::Required(self.instance, *index, k))
            }
            ConnectEnd::Of { component, interface, .. } => {
                let of = self.content(prepared.component(), component.span)?;
                let facet = self.facet(&self.world.template(of).requires, *interface, span)?;
                self.check_slot(of, facet, k, span)?;
                Ok(Link::Required(of, facet, k))
            }
        }
    }

    /// The index of an interface among those of a component. A component in an `ANY` may lack it, and have another
    /// interface with the same name.
    fn facet(&self, facets: &[Facet], interface: InterfaceId, span: Span) -> Step<usize> {
        let facet = facets.iter().position(|facet| facet.interface == interface);
        facet.ok_or_else(|| self.fail(Kind::WrongType, span))
    }

    /// The index k of a required interface of the process's own component.
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
