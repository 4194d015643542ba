//! Expressions and places. An expression may wait: in a receive test, in a function, or for the lock.

use std::rc::Rc;

use drystone_language::program::{
    AnyType, Binary, Component, Expression, ExpressionKind, Facet, Place, PlaceKind, Type,
};

use super::arithmetic;
use super::identity::InstanceId;
use super::messages::Patience;
use super::outcome::Kind;
use super::process::{Process, Step, Walk};
use super::scope::{Location, Scope};
use super::value::{Part, Value};

impl<'p> Process<'_, 'p> {
    /// The value of an expression.
    pub fn evaluate<'a>(&'a self, scope: &'a Rc<Scope>, expression: &'p Expression) -> Walk<'a, Value> {
        let span = expression.span;
        Box::pin(async move {
            Ok(match &expression.kind {
                ExpressionKind::Boolean(x) => Value::Boolean(*x),
                ExpressionKind::Character(x) => Value::Character(*x),
                ExpressionKind::Integer(x) => Value::Integer(*x),
                ExpressionKind::Real(x) => Value::Real(*x),
                ExpressionKind::Text(x) => Value::Text(x.clone()),
                ExpressionKind::Read(place) => {
                    let location = self.locate(scope, place).await?;
                    self.check(location.read(), place.span)?
                }
                ExpressionKind::Call(procedure, arguments) => {
                    let result = self.call(scope, *procedure, arguments, span).await?;
                    result.expect("a function returns a value")
                }
                ExpressionKind::Unary(operator, operand) => {
                    let operand = self.evaluate(scope, operand).await?;
                    self.check(arithmetic::unary(*operator, operand), span)?
                }
                ExpressionKind::Binary(Binary::And, left, right) => {
                    let left = self.evaluate(scope, left).await?.boolean();
                    Value::Boolean(left && self.evaluate(scope, right).await?.boolean())
                }
                ExpressionKind::Binary(Binary::Or, left, right) => {
                    let left = self.evaluate(scope, left).await?.boolean();
                    Value::Boolean(left || self.evaluate(scope, right).await?.boolean())
                }
                ExpressionKind::Binary(operator, left, right) => {
                    let left = self.evaluate(scope, left).await?;
                    let right = self.evaluate(scope, right).await?;
                    self.check(arithmetic::binary(*operator, left, right), span)?
                }
                ExpressionKind::Record(values) => {
                    let mut record = Value::initial(self.world.program, &expression.ty);
                    for (field, value) in values {
                        let value = self.evaluate(scope, value).await?;
                        *record.part(&[Part::Field(*field)]).expect("it has this field") = value;
                    }
                    record
                }
                ExpressionKind::List(elements) => {
                    let mut values = Vec::new();
                    for element in elements {
                        values.push(self.evaluate(scope, element).await?);
                    }
                    Value::Sequence(values)
                }
                ExpressionKind::Builtin(function, arguments) => {
                    let mut values = Vec::new();
                    for argument in arguments {
                        values.push(self.evaluate(scope, argument).await?);
                    }
                    let mut state = self.world.state.borrow_mut();
                    let time = state.time;
                    let result = arithmetic::builtin(*function, &values, time, &mut state.random);
                    drop(state);
                    self.check(result, span)?
                }
                ExpressionKind::Number(text, place) => {
                    let text = self.evaluate(scope, text).await?;
                    let location = self.locate(scope, place).await?;
                    let number = arithmetic::number(text.text(), &place.ty);
                    let spelled = number.is_some();
                    if let Some(number) = number {
                        self.check(location.write(number), place.span)?;
                    }
                    Value::Boolean(spelled)
                }
                ExpressionKind::Count(index) => {
                    let state = self.world.state.borrow();
                    let slots = state.instances[&self.instance].required.keys();
                    Value::Integer(slots.filter(|(of, _)| of == index).count() as i64)
                }
                ExpressionKind::Locked(mode, inner) => {
                    let locked = self.lock(*mode).await;
                    let result = self.evaluate(scope, inner).await;
                    if locked && result.is_ok() {
                        self.unlock();
                    }
                    result?
                }
                ExpressionKind::ReceiveTest(channel, pattern) => {
                    Value::Boolean(self.test(scope, channel, *pattern, Patience::Waits, span).await?)
                }
                ExpressionKind::Input(channel, pattern, limit) => {
                    let patience = match limit {
                        None => Patience::AsksNow,
                        Some(limit) => {
                            let limit = self.evaluate(scope, limit).await?.integer();
                            let now = self.world.state.borrow().time;
                            Patience::Until(now.saturating_add(limit.max(0)))
                        }
                    };
                    Value::Boolean(self.test(scope, channel, *pattern, patience, span).await?)
                }
                ExpressionKind::Await(condition, limit) => {
                    let limit = self.evaluate(scope, limit).await?.integer();
                    Value::Boolean(self.await_until(scope, condition, limit).await?)
                }
                ExpressionKind::Exists(place) => {
                    let location = self.locate(scope, place).await?;
                    Value::Boolean(match location.read() {
                        Ok(Value::Component(content)) => {
                            content.is_some_and(|component| self.world.state.borrow().alive(component))
                        }
                        other => other.is_ok(),
                    })
                }
                ExpressionKind::Fault(place) => {
                    let container = self.locate(scope, place).await?.container();
                    let component = self.check(container, span)?;
                    let state = self.world.state.borrow();
                    match component.and_then(|id| state.instances.get(&id)?.fault) {
                        Some(kind) => fault(kind),
                        None => Value::initial(self.world.program, &expression.ty),
                    }
                }
                ExpressionKind::Offers(place, facets) => {
                    let component = self.located(scope, place).await?;
                    Value::Boolean(contains(&self.world.template(component).offers, facets))
                }
                ExpressionKind::Requires(place, facets) => {
                    let component = self.located(scope, place).await?;
                    Value::Boolean(contains(&self.world.template(component).requires, facets))
                }
                ExpressionKind::Is(place, ty) => {
                    let component = self.located(scope, place).await?;
                    Value::Boolean(self.conforms(component, ty))
                }
            })
        })
    }

    /// The location that a place denotes. Its indices are evaluated now.
    pub fn locate<'a>(&'a self, scope: &'a Rc<Scope>, place: &'p Place) -> Walk<'a, Location> {
        Box::pin(async move {
            let program = self.world.program;
            match &place.kind {
                PlaceKind::Variable(variable) => Ok(scope.location(program, *variable)),
                PlaceKind::Element(variable, indices) => {
                    let mut index = Vec::new();
                    for expression in indices {
                        index.push(self.evaluate(scope, expression).await?.key());
                    }
                    Ok(scope.location(program, *variable).element(index))
                }
                PlaceKind::Character(variable, at) => {
                    let at = self.evaluate(scope, at).await?.integer();
                    Ok(Location { character: Some(at), ..scope.location(program, *variable) })
                }
                PlaceKind::Field(record, field) => {
                    let mut location = self.locate(scope, record).await?;
                    location.parts.push(Part::Field(*field));
                    Ok(location)
                }
                PlaceKind::Item(sequence, index) => {
                    let mut location = self.locate(scope, sequence).await?;
                    location.parts.push(Part::Item(self.evaluate(scope, index).await?.integer()));
                    Ok(location)
                }
                PlaceKind::Guarded(inner) => {
                    let location = self.locate(scope, inner).await?;
                    let component = self.content(&location, place.span)?;
                    if !self.conforms(component, &place.ty) {
                        return Err(self.fail(Kind::WrongType, place.span));
                    }
                    Ok(location)
                }
            }
        })
    }

    async fn located(&self, scope: &Rc<Scope>, place: &'p Place) -> Step<InstanceId> {
        let location = self.locate(scope, place).await?;
        self.content(&location, place.span)
    }

    fn conforms(&self, component: InstanceId, ty: &Type) -> bool {
        let template = self.world.state.borrow().instances[&component].template;
        match ty {
            Type::Component(wanted) => template == Some(*wanted),
            Type::Any(wanted) => offers_and_requires(self.world.template(component), wanted),
            other => unreachable!("checked: {other:?} is no component"),
        }
    }
}

/// Whether the template offers at least, and requires at most, the interfaces that the type names.
fn offers_and_requires(template: &Component, wanted: &AnyType) -> bool {
    contains(&template.offers, &wanted.offers)
        && wanted.requires.as_ref().is_none_or(|allowed| contains(allowed, &template.requires))
}

fn contains(facets: &[Facet], wanted: &[Facet]) -> bool {
    wanted.iter().all(|one| facets.iter().any(|facet| facet.interface == one.interface))
}

/// A record of `Fault`. Nothing is known here of texts of programs, so place and text say no more than that there is
/// one.
fn fault(kind: Kind) -> Value {
    let text = |text: String| Value::Text(text.into_bytes());
    Value::Record(vec![text(kind.to_string()), text(kind.to_string()), text("?".into())])
}
