//! Containers: reading them, and putting components into them.

use std::rc::Rc;

use drystone_language::program::VariableId;
use drystone_language::source::Span;

use super::identity::InstanceId;
use super::outcome::Kind;
use super::process::{Process, Step};
use super::scope::{Location, Scope};
use super::value::{Key, Value};

impl Process<'_, '_> {
    /// The living component in a container.
    pub fn content(&self, location: &Location, span: Span) -> Step<InstanceId> {
        let content = self.check(location.container(), span)?;
        let alive = content.filter(|&component| self.world.state.borrow().alive(component));
        alive.ok_or_else(|| self.fail(Kind::EmptyContainer, span))
    }

    /// Fails if the container has a living component.
    pub fn check_empty(&self, location: &Location, span: Span) -> Step<()> {
        let content = self.check(location.container(), span)?;
        match content.filter(|&component| self.world.state.borrow().alive(component)) {
            Some(_) => Err(self.fail(Kind::FullContainer, span)),
            None => Ok(()),
        }
    }

    /// Puts a component into an empty container.
    pub fn place(&self, location: &Location, component: InstanceId, span: Span) -> Step<()> {
        self.check_empty(location, span)?;
        self.check(location.write(Value::Component(Some(component))), span)?;
        let variable = &self.world.program.variables[location.variable.index()].name;
        let name = match &location.element {
            None => variable.clone(),
            Some(index) => {
                let index: Vec<_> = index.iter().map(Key::shown).collect();
                format!("{variable}[{}]", index.join(", "))
            }
        };
        let mut state = self.world.state.borrow_mut();
        if let Some(placed) = state.instances.get_mut(&component) {
            placed.parent = Some(location.scope.instance);
            placed.name = name;
        }
        Ok(())
    }

    /// `DELETE` of a whole collection, in ascending order.
    pub async fn delete_collection(&self, scope: &Rc<Scope>, variable: VariableId, span: Span) -> Step<()> {
        let location = scope.location(self.world.program, variable);
        if self.world.program.variables[variable.index()].ty.is_component() {
            let mut index = location.next_index(None);
            while let Some(here) = index {
                let element = location.element(here.clone());
                if let Ok(Some(component)) = element.container()
                    && self.world.state.borrow().alive(component)
                {
                    self.delete_instance(component, span).await?;
                }
                element.clear_container();
                index = location.next_index(Some(&here));
            }
        }
        location.clear_collection();
        Ok(())
    }
}
