//! Statements: each `await` is a place where the process may wait or be preempted.

use std::rc::Rc;

use drystone_language::program::{
    Argument, Block, Expression, Passing, Place, PlaceKind, Procedure, ProcedureId, Statement, StatementKind,
    Type, VariableId,
};
use drystone_language::source::Span;

use super::carried;
use super::identity::Event;
use super::names::is_name;
use super::outcome::{End, Kind};
use super::process::{Process, Step, Stop, Walk};
use super::scope::Scope;
use super::value::{Key, Value};

/// How a statement ends.
pub(super) enum Flow {
    Next,
    /// The innermost loop is left.
    Exit,
    Return(Option<Value>),
}

impl<'p> Process<'_, 'p> {
    /// A block, with its lock.
    pub fn block<'a>(&'a self, scope: &'a Rc<Scope>, block: &'p Block) -> Walk<'a, Flow> {
        Box::pin(async move {
            let locked = match block.lock {
                Some(mode) => self.lock(mode).await,
                None => false,
            };
            let mut result = Ok(Flow::Next);
            for statement in &block.statements {
                self.pause(statement.span).await;
                result = self.statement(scope, statement).await;
                if !matches!(result, Ok(Flow::Next)) {
                    break;
                }
            }
            if locked && result.is_ok() {
                self.unlock();
            }
            result
        })
    }

    fn statement<'a>(&'a self, scope: &'a Rc<Scope>, statement: &'p Statement) -> Walk<'a, Flow> {
        let span = statement.span;
        Box::pin(async move {
            match &statement.kind {
                StatementKind::Assign(place, value) => {
                    let location = self.locate(scope, place).await?;
                    let value = self.evaluate(scope, value).await?;
                    self.check(location.write(value), place.span)?;
                }
                StatementKind::Send { channel, message, arguments } => {
                    self.send(scope, channel, *message, arguments, span).await?;
                }
                StatementKind::Receive { channel, message, targets } => {
                    self.receive(scope, channel, *message, targets, span).await?;
                }
                StatementKind::Call(procedure, arguments) => {
                    self.call(scope, *procedure, arguments, span).await?;
                }
                StatementKind::If(branches, otherwise) => {
                    for (condition, block) in branches {
                        if self.evaluate(scope, condition).await?.boolean() {
                            return self.block(scope, block).await;
                        }
                    }
                    if let Some(block) = otherwise {
                        return self.block(scope, block).await;
                    }
                }
                StatementKind::Case(value, branches, otherwise) => {
                    let key = self.evaluate(scope, value).await?.key();
                    let chosen = branches.iter().find(|(labels, _)| key.has_one_of(labels));
                    match (chosen, otherwise) {
                        (Some((_, block)), _) | (None, Some(block)) => return self.block(scope, block).await,
                        (None, None) => return Err(self.fail(Kind::NoBranch, value.span)),
                    }
                }
                StatementKind::Arrivals { channel, branches, otherwise } => {
                    let chosen = self.arrival(scope, channel, branches, otherwise.is_some(), span).await?;
                    if let Some(block) = chosen.map(|branch| &branch.block).or(otherwise.as_ref()) {
                        return self.block(scope, block).await;
                    }
                }
                StatementKind::Select(alternatives) => {
                    let block = self.select(scope, alternatives, span).await?;
                    return self.block(scope, block).await;
                }
                StatementKind::While(condition, body) => {
                    while self.evaluate(scope, condition).await?.boolean() {
                        self.pause(span).await;
                        match self.block(scope, body).await? {
                            Flow::Next => {}
                            Flow::Exit => break,
                            returned => return Ok(returned),
                        }
                    }
                }
                StatementKind::Repeat(body, until) => loop {
                    self.pause(span).await;
                    match self.block(scope, body).await? {
                        Flow::Next => {}
                        Flow::Exit => break,
                        returned => return Ok(returned),
                    }
                    if self.evaluate(scope, until).await?.boolean() {
                        break;
                    }
                },
                StatementKind::For { variable, from, to, by, body } => {
                    return self.run_for(scope, variable, [from, to, by], body).await;
                }
                StatementKind::Foreach { variables, element, collection, body } => {
                    let variables = variables.iter().chain(element).collect();
                    return self.run_foreach(scope, variables, *collection, body).await;
                }
                StatementKind::Block(block) => return self.block(scope, block).await,
                StatementKind::Composite(id, block) => {
                    let flow = self.block(scope, block).await?;
                    self.leave(scope, &self.world.program.composites[id.index()].channels, span).await?;
                    return Ok(flow);
                }
                StatementKind::Exit => return Ok(Flow::Exit),
                StatementKind::Return(value) => {
                    let value = match value {
                        Some(value) => Some(self.evaluate(scope, value).await?),
                        None => None,
                    };
                    return Ok(Flow::Return(value));
                }
                StatementKind::NewComponent(place, template) => {
                    let location = self.locate(scope, place).await?;
                    self.check_empty(&location, place.span)?;
                    let instance = location.scope.instance;
                    let component = self.world.make(*template, instance, String::new());
                    self.place(&location, component, place.span)?;
                }
                StatementKind::NewComponentAt { target, template, domain, by } => {
                    let location = self.locate(scope, target).await?;
                    let domain = self.evaluate(scope, domain).await?;
                    self.evaluate(scope, by).await?;
                    if !is_name(domain.text()) {
                        return Err(self.fail(Kind::BindingRefused, target.span));
                    }
                    // The domain does not change any result.
                    self.check_empty(&location, target.span)?;
                    let component = self.world.make(*template, location.scope.instance, String::new());
                    self.place(&location, component, target.span)?;
                }
                StatementKind::NewElement(place) => {
                    let location = self.locate(scope, place).await?;
                    if location.exists() {
                        return Err(self.fail(Kind::FullContainer, place.span));
                    }
                    self.check(location.write(Value::initial(self.world.program, &place.ty)), place.span)?;
                }
                StatementKind::NewText(place, length) => {
                    let location = self.locate(scope, place).await?;
                    let count = self.evaluate(scope, length).await?.integer();
                    let count =
                        usize::try_from(count).map_err(|_| self.fail(Kind::InvalidArgument, length.span))?;
                    self.check(location.write(Value::Text(vec![0; count])), place.span)?;
                }
                StatementKind::NewSequence(place, length) => {
                    let count = self.evaluate(scope, length).await?.integer();
                    let count = usize::try_from(count).map_err(|_| self.fail(Kind::InvalidArgument, span))?;
                    let Type::Sequence(element) = &place.ty else { unreachable!("it is a sequence") };
                    let zeros = vec![Value::initial(self.world.program, element); count];
                    let location = self.locate(scope, place).await?;
                    self.check(location.write(Value::Sequence(zeros)), place.span)?;
                }
                StatementKind::Insert(place, index, value) => {
                    let location = self.locate(scope, place).await?;
                    let index = match index {
                        Some(index) => Some(self.evaluate(scope, index).await?.integer()),
                        None => None,
                    };
                    let value = self.evaluate(scope, value).await?;
                    let mut whole = self.check(location.read(), place.span)?;
                    let elements = whole.sequence();
                    let index = index.map_or(Some(elements.len()), |index| usize::try_from(index).ok());
                    let index = index.filter(|&index| index <= elements.len()).ok_or(Kind::IndexOutOfBounds);
                    elements.insert(self.check(index, span)?, value);
                    self.check(location.write(whole), place.span)?;
                }
                StatementKind::Remove(place, index) => {
                    let location = self.locate(scope, place).await?;
                    let index = self.evaluate(scope, index).await?.integer();
                    let mut whole = self.check(location.read(), place.span)?;
                    let elements = whole.sequence();
                    let index = usize::try_from(index).ok().filter(|&index| index < elements.len());
                    elements.remove(self.check(index.ok_or(Kind::IndexOutOfBounds), span)?);
                    self.check(location.write(whole), place.span)?;
                }
                StatementKind::NewArray(variable, sizes) => {
                    let mut bounds = Vec::new();
                    for size in sizes {
                        bounds.push(self.evaluate(scope, size).await?.integer());
                    }
                    let initial = Value::initial(
                        self.world.program,
                        &self.world.program.variables[variable.index()].ty,
                    );
                    let location = scope.location(self.world.program, *variable);
                    self.check(location.make_array(bounds, initial), span)?;
                }
                StatementKind::DeleteComponent(place) => {
                    let location = self.locate(scope, place).await?;
                    let component = self.content(&location, place.span)?;
                    self.delete_instance(component, span).await?;
                    location.clear_container();
                }
                StatementKind::DeleteElement(place) => {
                    let location = self.locate(scope, place).await?;
                    self.check(location.remove(), place.span)?;
                }
                StatementKind::DeleteCollection(variable) => {
                    self.delete_collection(scope, *variable, span).await?;
                }
                StatementKind::Move(from, to) => {
                    let source = self.locate(scope, from).await?;
                    let target = self.locate(scope, to).await?;
                    let component = self.content(&source, from.span)?;
                    self.check_empty(&target, to.span)?;
                    source.clear_container();
                    self.place(&target, component, to.span)?;
                }
                StatementKind::Connect(required, offered, by) => {
                    self.connect(scope, required, offered, by.as_ref(), span).await?;
                }
                StatementKind::Bind { required, interface, name, by } => {
                    self.bind(scope, required, *interface, [name, by], span).await?;
                }
                StatementKind::Export { offered, interface, name, by } => {
                    self.export(scope, offered, *interface, [name, by], span).await?;
                }
                StatementKind::Disconnect(required) => {
                    let link = self.link(scope, required, span).await?;
                    self.close_over(link, span).await?;
                    self.world.disconnect(link);
                }
                StatementKind::Await(condition) => self.await_condition(scope, condition).await?,
                StatementKind::Increase(place, amount) => {
                    self.change_by(scope, place, amount, i64::checked_add, span).await?;
                }
                StatementKind::Decrease(place, amount) => {
                    self.change_by(scope, place, amount, i64::checked_sub, span).await?;
                }
                StatementKind::Assert(condition, number) => {
                    if !self.evaluate(scope, condition).await?.boolean() {
                        if let Some(number) = number {
                            self.evaluate(scope, number).await?;
                        }
                        return Err(self.fail(Kind::AssertionFailed, span));
                    }
                }
                StatementKind::Halt(status) => {
                    let status = self.evaluate(scope, status).await?.integer();
                    self.world.end(End::Halted(status));
                    return Err(Stop::Failed);
                }
                StatementKind::Write(value) => {
                    let written = self.evaluate(scope, value).await?.written();
                    self.world.state.borrow_mut().outcome.output.extend(written);
                }
                StatementKind::WriteHex(value) => {
                    let value = self.evaluate(scope, value).await?.integer();
                    let written = format!("{value:X}").into_bytes();
                    self.world.state.borrow_mut().outcome.output.extend(written);
                }
                StatementKind::WriteLine => self.world.state.borrow_mut().outcome.output.push(b'\n'),
                StatementKind::Passivate(duration) => {
                    let duration = self.evaluate(scope, duration).await?.integer();
                    self.sleep(duration).await;
                }
            }
            Ok(Flow::Next)
        })
    }

    async fn run_for(
        &self,
        scope: &Rc<Scope>,
        variable: &'p Place,
        [from, to, by]: [&'p Expression; 3],
        body: &'p Block,
    ) -> Step<Flow> {
        let location = self.locate(scope, variable).await?;
        let mut next = self.evaluate(scope, from).await?.integer();
        let last = self.evaluate(scope, to).await?.integer();
        let step = self.evaluate(scope, by).await?.integer();
        if step == 0 {
            return Err(self.fail(Kind::InvalidArgument, by.span));
        }
        // As in Oberon, the variable has its first value even if nothing is done.
        self.check(location.write(Value::Integer(next)), variable.span)?;
        while if step > 0 { next <= last } else { next >= last } {
            self.pause(variable.span).await;
            self.check(location.write(Value::Integer(next)), variable.span)?;
            match self.block(scope, body).await? {
                Flow::Next => {}
                Flow::Exit => break,
                returned => return Ok(returned),
            }
            // As in Oberon, a body that assigns to the variable changes the loop's progress.
            match self.check(location.read(), variable.span)?.integer().checked_add(step) {
                Some(following) => next = following,
                None => break,
            }
        }
        Ok(Flow::Next)
    }

    async fn run_foreach(
        &self,
        scope: &Rc<Scope>,
        variables: Vec<&'p Place>,
        collection: VariableId,
        body: &'p Block,
    ) -> Step<Flow> {
        let walked = scope.location(self.world.program, collection);
        let mut index: Option<Vec<Key>> = None;
        while let Some(next) = walked.next_index(index.as_ref()) {
            index = Some(next.clone());
            let element = walked.element(next.clone()).read();
            if let Ok(Value::Component(Some(component))) = element
                && !self.world.state.borrow().alive(component)
            {
                continue;
            }
            let values = next.iter().map(Key::value).chain(element);
            for (value, place) in values.zip(&variables) {
                let location = self.locate(scope, place).await?;
                self.check(location.write(value), place.span)?;
            }
            self.pause(variables.first().map_or(Span::default(), |place| place.span)).await;
            match self.block(scope, body).await? {
                Flow::Next => {}
                Flow::Exit => break,
                returned => return Ok(returned),
            }
        }
        Ok(Flow::Next)
    }

    /// Calls a procedure. At its end, the components that it holds are deleted.
    pub fn call<'a>(
        &'a self,
        scope: &'a Rc<Scope>,
        id: ProcedureId,
        arguments: &'p [Argument],
        span: Span,
    ) -> Walk<'a, Option<Value>> {
        Box::pin(async move {
            let program = self.world.program;
            let procedure = &program.procedures[id.index()];
            if let Some(name) = &procedure.native {
                let forms = self.forms_of_any(procedure, arguments);
                return self.call_carried(scope, (name, &forms), arguments, span).await;
            }
            let mut around = Some(scope);
            while let Some(inner) = around.filter(|inner| inner.owner != procedure.owner) {
                around = inner.around.as_ref();
            }
            let own = Scope::new(
                program,
                drystone_language::program::Owner::Procedure(id),
                around.cloned(),
                self.instance,
                &procedure.variables,
            );
            for (&parameter, argument) in procedure.parameters.iter().zip(arguments) {
                let by_reference = program.variables[parameter.index()].parameter == Some(Passing::Reference);
                match argument {
                    Argument::Value(value) => own.bind_value(parameter, self.evaluate(scope, value).await?),
                    Argument::Place(place) => {
                        let location = self.locate(scope, place).await?;
                        // If a parameter is passed on, only its name is: nothing reads the element.
                        let named = matches!(place.kind, PlaceKind::Variable(_));
                        if !(by_reference && (named || place.ty.is_component())) {
                            self.check(location.read(), place.span)?;
                        }
                        own.bind_reference(parameter, location);
                    }
                }
            }
            self.nest(1, span)?;
            let result = self.block(&own, &procedure.body).await;
            if matches!(result, Err(Stop::Failed)) {
                return Err(Stop::Failed);
            }
            self.release(&own, &procedure.variables, procedure.span).await?;
            self.nest(-1, span)?;
            match result? {
                Flow::Return(value) => Ok(value),
                Flow::Next | Flow::Exit if procedure.result.is_some() => {
                    Err(self.fail(Kind::MissingReturn, procedure.span))
                }
                Flow::Next | Flow::Exit => Ok(None),
            }
        })
    }

    /// The form of each argument that stands for `ANY`.
    fn forms_of_any(&self, procedure: &Procedure, arguments: &[Argument]) -> Vec<Option<String>> {
        let program = self.world.program;
        let parameters = procedure.parameters.iter().map(|id| &program.variables[id.index()].ty);
        let form = |(ty, argument): (&Type, &Argument)| match argument {
            _ if !ty.is_bare_any() => None,
            Argument::Value(value) => Some(program.form(&value.ty)),
            Argument::Place(place) => Some(program.form(&place.ty)),
        };
        parameters.zip(arguments).map(form).collect()
    }

    /// Calls a procedure of a crate: what it leaves in its VARIABLE parameters is assigned from left to right.
    async fn call_carried(
        &self,
        scope: &Rc<Scope>,
        (name, forms): (&str, &[Option<String>]),
        arguments: &'p [Argument],
        span: Span,
    ) -> Step<Option<Value>> {
        let (mut values, mut locations) = (Vec::new(), Vec::new());
        for (index, argument) in arguments.iter().enumerate() {
            values.push(match argument {
                Argument::Value(value) => self.evaluate(scope, value).await?,
                Argument::Place(place) => {
                    locations.push((index, self.locate(scope, place).await?, place.span));
                    Value::Boolean(false)
                }
            });
        }
        for (index, location, at) in &locations {
            values[*index] = self.check(location.read(), *at)?;
        }
        let result = self.check(carried::call(name, &mut values, forms), span)?;
        for (index, location, at) in &locations {
            self.check(location.write(values[*index].clone()), *at)?;
        }
        Ok(result)
    }

    fn nest(&self, change: isize, span: Span) -> Step<()> {
        let depth = {
            let mut state = self.world.state.borrow_mut();
            let Some(record) = state.processes.get_mut(&self.id) else { return Ok(()) };
            record.depth = record.depth.saturating_add_signed(change);
            record.depth
        };
        if depth > self.world.options.max_depth { Err(self.fail(Kind::StackLimit, span)) } else { Ok(()) }
    }

    async fn change_by(
        &self,
        scope: &Rc<Scope>,
        place: &'p Place,
        amount: &'p Expression,
        change: fn(i64, i64) -> Option<i64>,
        span: Span,
    ) -> Step<()> {
        let location = self.locate(scope, place).await?;
        let amount = self.evaluate(scope, amount).await?.integer();
        let old = self.check(location.read(), place.span)?.integer();
        let new = self.check(change(old, amount).ok_or(Kind::Overflow), span)?;
        self.check(location.write(Value::Integer(new)), place.span)
    }

    async fn sleep(&self, duration: i64) {
        let until = {
            let mut state = self.world.state.borrow_mut();
            let until = (state.time.saturating_add(duration.max(0)), state.fresh());
            state.sleeping.insert(until, self.id);
            until
        };
        while self.world.state.borrow().sleeping.contains_key(&until) {
            self.wait(Event::Own(self.id)).await;
        }
    }
}
