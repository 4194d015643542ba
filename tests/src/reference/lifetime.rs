//! Components and processes are made, run and deleted.

use std::rc::Rc;

use drystone_language::program::{ComponentId, Owner, VariableId};
use drystone_language::source::Span;

use super::communications::ServiceEnd;
use super::identity::{CommunicationId, Event, InstanceId, Role, SYSTEM};
use super::links::{Link, Target};
use super::outcome::{End, Kind};
use super::process::{Process, Step, Stop};
use super::scope::{Location, Scope};
use super::system;
use super::world::World;

impl World<'_> {
    /// Makes an instance and starts its `BEGIN`.
    pub fn make(&self, template: ComponentId, parent: InstanceId, name: String) -> InstanceId {
        let component = &self.program.components[template.index()];
        let mut state = self.state.borrow_mut();
        let id = InstanceId(state.fresh());
        let scope = Scope::new(self.program, Owner::Component(template), None, id, &component.variables);
        state.add_instance(Some(template), scope, Some(parent));
        state.instances.get_mut(&id).expect("just made").name = name;
        state.start(id, Role::Body);
        id
    }
}

impl<'p> Process<'_, 'p> {
    /// Runs a process from its first to its last statement.
    pub async fn run(self) {
        let role = self.world.state.borrow().processes[&self.id].role;
        // A process that fails has reported its error already.
        let _ = match role {
            Role::Program => self.run_program().await,
            Role::Body => self.run_body().await,
            Role::Service(id) => self.run_service(id).await,
            Role::Finalizer => self.run_finalizer().await,
        };
    }

    async fn run_program(&self) -> Step<()> {
        if let Some(entry) = self.world.program.entry {
            let template = &self.world.program.components[entry.index()];
            let instance = self.world.make(entry, SYSTEM, template.name.clone());
            for (index, facet) in template.requires.iter().enumerate() {
                let name = &self.world.program.interfaces[facet.interface.index()].name;
                let slots = facet.cardinality.map_or(1, |slots| slots.to.unwrap_or(slots.from.max(1)));
                for k in (1..=i64::from(slots)).filter(|_| system::offers(name)) {
                    let link = Link::Required(instance, index, k);
                    self.world.state.borrow_mut().connect(link, Target::Offered(SYSTEM, facet.interface));
                }
            }
            self.delete_instance(instance, template.span).await?;
        }
        self.world.end(End::Finished);
        Ok(())
    }

    async fn run_body(&self) -> Step<()> {
        let template = self.world.template(self.instance);
        let scope = self.scope();
        if let Some(begin) = &template.begin {
            self.block(&scope, begin).await?;
        }
        self.change(|instance| instance.begun = true);
        if let Some(activity) = &template.activity {
            self.block(&scope, activity).await?;
        }
        self.change(|instance| instance.finished = true);
        Ok(())
    }

    async fn run_service(&self, id: CommunicationId) -> Step<()> {
        if self.instance == SYSTEM {
            system::serve(self, id).await;
            let _ = self.world.end_service(id);
            return Ok(());
        }
        while !self.world.state.borrow().instances[&self.instance].begun {
            self.wait(Event::Instance(self.instance)).await;
        }
        let interface = self.world.state.borrow().communications[&id].interface;
        let template = self.world.template(self.instance);
        let (index, implementation) = template
            .implementations
            .iter()
            .enumerate()
            .find(|(_, one)| template.offers[one.offered].interface == interface)
            .expect("a communication is served by an implementation");
        let around = self.scope();
        let component = self.world.state.borrow().instances[&self.instance].template.expect("not the system");
        let owner = Owner::Implementation(component, index);
        let variables = &implementation.variables;
        let scope = Scope::new(self.world.program, owner, Some(around), self.instance, variables);
        match self.block(&scope, &implementation.body).await {
            Err(Stop::Failed) => return Err(Stop::Failed),
            Ok(_) | Err(Stop::Quiet) => {}
        }
        if let Some(finally) = &implementation.finally {
            if let Err(end) = self.world.begin_ending(id) {
                return self.refuse(end, implementation.span);
            }
            self.block(&scope, finally).await?;
        }
        self.release(&scope, variables, implementation.span).await?;
        self.world.end_service(id).or_else(|end| self.refuse(end, implementation.span))
    }

    /// Reports that a service ends where its protocol does not allow it.
    fn refuse(&self, end: ServiceEnd, span: Span) -> Step<()> {
        match end {
            ServiceEnd::TooEarly => Err(self.fail(Kind::ProtocolViolation, span)),
            ServiceEnd::Unreceived(client, span) => {
                self.world.fail(client, None, Kind::ProtocolViolation, span);
                Ok(())
            }
        }
    }

    /// Runs the component's own part of a deletion.
    async fn run_finalizer(&self) -> Step<()> {
        let template = self.world.template(self.instance);
        let scope = self.scope();
        if let Some(finally) = &template.finally {
            self.block(&scope, finally).await?;
        }
        self.release(&scope, &template.variables, template.span).await?;
        let links: Vec<Link> = {
            let state = self.world.state.borrow();
            let instance = &state.instances[&self.instance];
            let required =
                instance.required.keys().map(|&(index, k)| Link::Required(self.instance, index, k));
            required
                .chain(instance.inward.keys().map(|&offered| Link::Inward(self.instance, offered)))
                .collect()
        };
        for link in links {
            self.close_over(link, template.span).await?;
            self.world.disconnect(link);
        }
        let mut state = self.world.state.borrow_mut();
        state.instances.remove(&self.instance);
        state.wake(Event::Instance(self.instance));
        state.wake(Event::Connections);
        Ok(())
    }

    /// `DELETE` of the component in a container. The caller empties the container.
    pub async fn delete_instance(&self, component: InstanceId, span: Span) -> Step<()> {
        while self.finished(component) == Some(false) {
            self.wait(Event::Instance(component)).await;
        }
        self.leave_held(component);
        self.close_held(component, span)?;
        Box::pin(self.delete_orphans(span)).await?;
        while self.world.serving(component) {
            self.wait(Event::Instance(component)).await;
        }
        if !self.world.state.borrow().alive(component) {
            return Ok(());
        }
        self.world.state.borrow_mut().revoke(component);
        let (links, through) = {
            let state = self.world.state.borrow();
            let instance = &state.instances[&component];
            let links: Vec<Link> = instance.clients.iter().map(|&(_, link)| link).collect();
            let through: Vec<_> = instance
                .communications
                .iter()
                .copied()
                .filter(|id| {
                    let one = &state.communications[id];
                    !one.service_ended && one.path.iter().any(|link| links.contains(link))
                })
                .collect();
            (links, through)
        };
        self.close_all(through, span)?;
        Box::pin(self.delete_orphans(span)).await?;
        for link in links {
            self.world.disconnect(link);
        }
        self.world.state.borrow_mut().start(component, Role::Finalizer);
        while self.finished(component).is_some() {
            self.wait(Event::Instance(component)).await;
        }
        Ok(())
    }

    /// Whether `BEGIN` and `ACTIVITY` have ended; `None` if the component has been freed or is dead.
    fn finished(&self, component: InstanceId) -> Option<bool> {
        let state = self.world.state.borrow();
        state.instances.get(&component).filter(|instance| !instance.dead).map(|instance| instance.finished)
    }

    /// Deletes the components that these variables hold. Each time, deletes the first that has no client among the
    /// rest.
    pub async fn release(&self, scope: &Rc<Scope>, variables: &[VariableId], span: Span) -> Step<()> {
        loop {
            let mut held = scope.held(variables);
            held.retain(|(_, _, instance)| self.world.state.borrow().alive(*instance));
            let free = held.iter().position(|(_, _, server)| {
                let state = self.world.state.borrow();
                !held.iter().any(|(_, _, sibling)| {
                    sibling != server
                        && state.instances[sibling]
                            .required
                            .values()
                            .any(|target| matches!(target, Target::Offered(of, _) if of == server))
                })
            });
            let Some((variable, element, component)) = held.get(free.unwrap_or(0)).cloned() else {
                return Ok(());
            };
            self.delete_instance(component, span).await?;
            Location { scope: scope.clone(), variable, element, parts: Vec::new(), character: None }
                .clear_container();
        }
    }

    /// Deletes components in messages that no process received.
    pub async fn delete_orphans(&self, span: Span) -> Step<()> {
        loop {
            let orphans = std::mem::take(&mut self.world.state.borrow_mut().orphans);
            if orphans.is_empty() {
                return Ok(());
            }
            for orphan in orphans {
                self.delete_instance(orphan, span).await?;
            }
        }
    }

    /// Closes all communications over a connection, which their protocols must allow.
    pub async fn close_over(&self, link: Link, span: Span) -> Step<()> {
        let over = {
            let state = self.world.state.borrow();
            let all = state.communications.iter();
            all.filter(|(_, one)| one.path.contains(&link)).map(|(&id, _)| id).collect()
        };
        self.close_all(over, span)?;
        self.delete_orphans(span).await
    }

    fn scope(&self) -> Rc<Scope> {
        self.world.state.borrow().instances[&self.instance].scope.clone()
    }

    fn change(&self, action: impl FnOnce(&mut super::world::Instance<'p>)) {
        let mut state = self.world.state.borrow_mut();
        if let Some(instance) = state.instances.get_mut(&self.instance) {
            action(instance);
        }
        state.wake(Event::Instance(self.instance));
    }
}
