//! Blocks and statements, except those with files of their own.

use crate::ast::{self, StatementKind as Tree};
use crate::program::{Block, Expression, ExpressionKind, Place, PlaceKind, Statement, StatementKind, Type};
use crate::source::{Diagnostic, Span};

use super::body::BodyChecker;
use super::conversions::{constant_integer, literal};
use super::places::as_designator;
use super::predeclared::{Action, Predeclared};
use super::scopes::Found;
use super::symbols::Symbol;

impl BodyChecker<'_> {
    /// A block with its statements.
    pub(super) fn block(&mut self, tree: &ast::Block) -> Block {
        let mut composite = None;
        let lock = self.lock_mode(&tree.attributes, |checker, attribute| match attribute.text.as_str() {
            "COMPOSITE" => composite = Some(attribute.span),
            _ => checker.unknown_attribute(attribute, "a block may be {EXCLUSIVE}, {SHARED} or {COMPOSITE}"),
        });
        let mut statements = Vec::new();
        for tree in &tree.statements {
            match self.deeper(tree.span, |checker| checker.statement(tree)) {
                Some(kind) => statements.push(Statement { kind, span: tree.span }),
                None => self.doubt(),
            }
        }
        match composite {
            None => Block { lock, statements },
            Some(attribute) => {
                let whole = Block { lock: None, statements };
                let shipped = self.composite(attribute, whole);
                let statements = shipped.map(|kind| Statement { kind, span: tree.span });
                Block { lock, statements: statements.into_iter().collect() }
            }
        }
    }

    /// What a loop repeats.
    pub(super) fn loop_body(&mut self, tree: &ast::Block) -> Block {
        self.in_loop(|checker| checker.block(tree))
    }

    fn condition(&mut self, tree: &ast::Expression) -> Option<Expression> {
        self.expression_of(tree, &Type::Boolean)
    }

    fn statement(&mut self, tree: &ast::Statement) -> Option<StatementKind> {
        let span = tree.span;
        match &tree.kind {
            Tree::Assign(target, value) => self.assign(target, value),
            Tree::Send { channel, message, arguments } => {
                self.send(channel.as_ref(), message, arguments, span)
            }
            Tree::Receive { channel, message, targets } => {
                self.receive(channel.as_ref(), message, targets, span)
            }
            Tree::Call(name, arguments) => self.call_statement(name, arguments, span),
            Tree::If(branches, otherwise) => {
                let mut checked = Vec::new();
                for (condition, block) in branches {
                    let condition = self.condition(condition);
                    checked.push(condition.zip(Some(self.block(block))));
                }
                let otherwise = otherwise.as_ref().map(|block| self.block(block));
                Some(StatementKind::If(checked.into_iter().collect::<Option<_>>()?, otherwise))
            }
            Tree::Case(value, branches, otherwise) => self.case(value, branches, otherwise.as_ref(), span),
            Tree::Arrivals { channel, branches, otherwise } => {
                self.arrivals(channel.as_ref(), branches, otherwise.as_ref(), span)
            }
            Tree::While(condition, body) => {
                let condition = self.condition(condition);
                let body = self.loop_body(body);
                Some(StatementKind::While(condition?, body))
            }
            Tree::Repeat(body, condition) => {
                let body = self.loop_body(body);
                Some(StatementKind::Repeat(body, self.condition(condition)?))
            }
            Tree::For { variable, from, to, by, body } => {
                self.for_loop(variable, from, to, by.as_ref(), body, span)
            }
            Tree::Foreach { variables, collection, body } => self.foreach(variables, collection, body, span),
            Tree::Block(block) => Some(StatementKind::Block(self.block(block))),
            Tree::Return(value) => self.return_statement(value.as_ref(), span),
            Tree::New { target, ty, arguments, at: None, .. } => {
                self.new_statement(target, ty.as_ref(), arguments, span)
            }
            Tree::New { target, ty, arguments, at: Some(domain), by } => {
                let made = self.new_statement(target, ty.as_ref(), arguments, span);
                self.made_at(made, domain, by, span)
            }
            Tree::Delete(target) => self.delete_statement(target, span),
            Tree::Sort { element, sequence, key } => self.sort_by(element, sequence, key, span),
            Tree::Move(from, to) => self.move_statement(from, to, span),
            Tree::Connect { required, to, by } => self.connect(required, to, by, span),
            Tree::Disconnect(required) => self.disconnect(required),
            Tree::Export { offered, name, by } => self.export(offered, name, by, span),
            Tree::Select(branches) => self.select(branches, span),
            Tree::Await(condition) => self.condition(condition).map(StatementKind::Await),
        }
    }

    fn assign(&mut self, target: &ast::Designator, value: &ast::Expression) -> Option<StatementKind> {
        if matches!(value.kind, ast::ExpressionKind::List(_)) {
            self.no_sequence(target)?;
        }
        let place = self.target(target);
        let Some(place) = place else {
            self.expression(value);
            return None;
        };
        if place.ty.is_component() {
            let error = Diagnostic::new("component-assigned", place.span, "a component cannot be assigned");
            let help = match &value.kind {
                ast::ExpressionKind::Call(call) if call.name.text == "NEW" => {
                    "NEW(x) makes a component in its place, x"
                }
                _ => "a component is moved: use MOVE(from, to)",
            };
            self.report(error.label("holds a component").help(help));
            return None;
        }
        let value = self.expression_of(value, &place.ty)?;
        Some(StatementKind::Assign(place, value))
    }

    fn for_loop(
        &mut self,
        variable: &ast::Designator,
        from: &ast::Expression,
        to: &ast::Expression,
        by: Option<&ast::Expression>,
        body: &ast::Block,
        span: Span,
    ) -> Option<StatementKind> {
        let place = self.loop_variable(variable, &Type::Integer);
        if let Some(place) = &place
            && place.ty != Type::Integer
        {
            let given = self.known.type_name(&place.ty);
            let message = format!("the variable of a FOR loop is INTEGER, not {given}");
            self.report(Diagnostic::new("loop-variable", place.span, message).label(format!("is {given}")));
        }
        let from = self.expression_of(from, &Type::Integer);
        let to = self.expression_of(to, &Type::Integer);
        let by = match by {
            Some(by) => self.expression_of(by, &Type::Integer),
            None => Some(literal(ExpressionKind::Integer(1), span)),
        };
        if let Some(step) = by.as_ref().filter(|by| constant_integer(by) == Some(0)) {
            let error = Diagnostic::new("loop-step", step.span, "a loop with step 0 never ends");
            self.report(error.help("the step is positive to count up, negative to count down"));
        }
        let body = self.loop_body(body);
        Some(StatementKind::For { variable: place?, from: from?, to: to?, by: by?, body })
    }

    /// The variable of a loop, which is declared like any other.
    pub(super) fn loop_variable(&mut self, tree: &ast::Designator, ty: &Type) -> Option<Place> {
        let reported = self.reported();
        let place = self.target(tree);
        let help =
            format!("declare it before BEGIN: VARIABLE {}: {};", tree.name.text, self.known.type_name(ty));
        self.explain(reported, "unknown-name", &help);
        place
    }

    fn foreach(
        &mut self,
        variables: &[ast::Designator],
        collection: &ast::Designator,
        body: &ast::Block,
        span: Span,
    ) -> Option<StatementKind> {
        let id = match self.whole_collection(collection) {
            Some(id) => (!self.known.gaps.variables.contains(&id)).then_some(id),
            None => match self.foreach_sequence(collection) {
                Some(sequence) => return self.foreach_item(variables, sequence, body, span),
                None => None,
            },
        };
        let declared = id.map(|id| self.variable(id).clone());
        let types = declared.iter().flat_map(|declared| {
            let indices = declared.collection.iter().flat_map(|collection| &collection.indices);
            indices.chain([&declared.ty])
        });
        let types: Vec<&Type> = types.collect();
        let places = variables.iter().enumerate().map(|(k, variable)| {
            let ty = types.get(k).map_or(&Type::Integer, |ty| ty);
            self.loop_variable(variable, ty)
        });
        let places: Vec<_> = places.collect();
        let body = self.loop_body(body);
        let (mut variables, collection) = (places.into_iter().collect::<Option<Vec<_>>>()?, id?);
        let declared = declared.as_ref()?;
        let (name, place) = (&declared.name, declared.span);
        let indices = types.len() - 1;
        if ![indices, types.len()].contains(&variables.len()) {
            let given = variables.len();
            let message = format!("{name} has {indices} indices, {given} variables given");
            let error = Diagnostic::new("loop-variable", span, message).note(place, "declared here");
            self.report(error.help("a variable for each index, and perhaps one more for the element"));
            return None;
        }
        for (number, (variable, ty)) in variables.iter().zip(&types).enumerate() {
            let what = if number < indices { "this index" } else { "an element" };
            if number == indices && ty.is_component() {
                let message = format!("{what} of {name} is a component, and stays where it is");
                let error = Diagnostic::new("loop-variable", variable.span, message);
                let error = error.note(place, "declared here");
                self.report(error.help("leave this variable out, and reach the component by its index"));
                return None;
            }
            if variable.ty != **ty {
                let (wanted, given) = (self.known.type_name(ty), self.known.type_name(&variable.ty));
                let message = format!("{what} of {name} is {wanted}, the variable is {given}");
                let error = Diagnostic::new("loop-variable", variable.span, message);
                self.report(error.label(format!("is {given}")).note(place, "declared here"));
                return None;
            }
        }
        let element = variables.drain(indices..).next();
        Some(StatementKind::Foreach { variables, element, collection, body })
    }

    /// The sequence that a designator names.
    fn foreach_sequence(&mut self, tree: &ast::Designator) -> Option<Place> {
        let place = self.place(tree)?;
        if matches!(place.ty, Type::Sequence(_)) {
            return Some(place);
        }
        let message = "FOREACH visits a collection or a sequence, this is one value";
        let error = Diagnostic::new("not-a-collection", place.span, message).label("no collection");
        self.report(error.help("name the collection without an index"));
        None
    }

    fn return_statement(&mut self, value: Option<&ast::Expression>, span: Span) -> Option<StatementKind> {
        self.returns();
        let procedure = self.procedure();
        let expected =
            procedure.and_then(|id| self.known.declared.procedures[id.index()].tree.result.as_ref());
        match (value, expected) {
            (None, None) if procedure.is_none() => {
                let left = self.all_bound();
                Some(self.emptied_before(&left, StatementKind::Return(None), span))
            }
            (None, None) => Some(StatementKind::Return(None)),
            (None, Some(_)) => {
                let error = Diagnostic::new("return-value", span, "a function returns a value");
                self.report(error.label("without value").help("write RETURN value"));
                None
            }
            (Some(value), None) => {
                let error = Diagnostic::new("return-value", value.span, "there is no result to return here");
                self.report(error.help("only a procedure with a result type returns a value"));
                None
            }
            (Some(value), Some(_)) => {
                let ty = procedure.and_then(|id| self.known.program.procedures[id.index()].result.clone());
                // A component as result was reported where it is declared.
                if ty.as_ref().is_some_and(Type::is_component) {
                    return None;
                }
                match ty {
                    Some(ty) => {
                        self.expression_of(value, &ty).map(|value| StatementKind::Return(Some(value)))
                    }
                    None => self.expression(value).and(None),
                }
            }
        }
    }

    fn call_statement(
        &mut self,
        name: &ast::Name,
        arguments: &[ast::Expression],
        span: Span,
    ) -> Option<StatementKind> {
        let arguments: Vec<&ast::Expression> = arguments.iter().collect();
        let is_test = matches!(name.text.as_str(), "EXISTS" | "INPUT");
        if is_test && matches!(self.lookup(name), Found::Nothing) {
            self.unused_result(name, span, &format!("ask it in a condition: IF {}(..) THEN", name.text));
            return None;
        }
        let (symbol, declared) = self.symbol(name)?;
        match symbol {
            Symbol::Procedure(id) => {
                self.arguments(id, &arguments, span).map(|arguments| StatementKind::Call(id, arguments))
            }
            Symbol::Predeclared(Predeclared::Statement(action)) => {
                self.action(action, name, &arguments, span)
            }
            Symbol::Predeclared(
                Predeclared::Function(_)
                | Predeclared::Real(_)
                | Predeclared::Integer(..)
                | Predeclared::Extreme(_)
                | Predeclared::Type(_),
            ) => {
                self.unused_result(name, span, "assign it to a variable");
                None
            }
            _ => self.not_callable(name, symbol, declared),
        }
    }

    /// `EXIT`
    fn exit(&mut self, span: Span) -> Option<StatementKind> {
        if !self.is_in_loop() {
            let error =
                Diagnostic::new("exit-without-loop", span, "EXIT leaves a loop, and there is none here");
            self.report(
                error.label("in no loop").help("RETURN leaves a procedure, or what a component does"),
            );
            return None;
        }
        let left = self.bound_in_loop();
        Some(self.emptied_before(&left, StatementKind::Exit, span))
    }

    fn unused_result(&mut self, name: &ast::Name, span: Span, help: &str) {
        let error = Diagnostic::new("unused-result", span, format!("the value of {} is not used", name.text));
        self.report(error.label("a function, not a statement").help(help));
    }

    fn action(
        &mut self,
        action: Action,
        name: &ast::Name,
        arguments: &[&ast::Expression],
        span: Span,
    ) -> Option<StatementKind> {
        let one = |checker: &mut Self, ty: Type| {
            checker.fixed(name, arguments, &[ty], span).and_then(|mut arguments| arguments.pop())
        };
        match action {
            Action::Halt => one(self, Type::Integer).map(StatementKind::Halt),
            Action::WriteHex => one(self, Type::Integer).map(StatementKind::WriteHex),
            Action::Passivate => one(self, Type::Integer).map(StatementKind::Passivate),
            Action::WriteLine => {
                self.fixed(name, arguments, &[], span)?;
                Some(StatementKind::WriteLine)
            }
            Action::Exit => {
                self.fixed(name, arguments, &[], span)?;
                self.exit(span)
            }
            Action::Write => match arguments {
                [value] => {
                    let value = self.expression(value)?;
                    if matches!(value.ty, Type::Sequence(_)) {
                        let message = format!("{} writes one value, and this is a sequence", name.text);
                        let error = Diagnostic::new("argument-type", value.span, message);
                        self.report(error.label("a sequence").help("write its elements, one after another"));
                        return None;
                    }
                    if matches!(value.ty, Type::Record(_)) {
                        let given = self.known.type_name(&value.ty);
                        let message = format!("{given} is a record, and {} writes one value", name.text);
                        let error = Diagnostic::new("argument-type", value.span, message);
                        self.report(error.label("a record").help("write its fields, one after another"));
                        return None;
                    }
                    Some(StatementKind::Write(value))
                }
                _ => {
                    self.wrong_count(&name.text, 1, arguments.len(), span, None);
                    None
                }
            },
            Action::Assert => {
                let types = [Type::Boolean, Type::Integer];
                let expected = if arguments.len() == 1 { &types[..1] } else { &types };
                let mut checked = self.fixed(name, arguments, expected, span)?.into_iter();
                Some(StatementKind::Assert(checked.next()?, checked.next()))
            }
            Action::Append => self.append(name, arguments, span),
            Action::Insert => self.insert(name, arguments, span),
            Action::Remove => self.remove(name, arguments, span),
            Action::Sort => self.sort(name, arguments, span),
            Action::Increase | Action::Decrease => self.step(action, name, arguments, span),
        }
    }

    /// `INC(x [, n])`, `DEC(x [, n])`
    fn step(
        &mut self,
        action: Action,
        name: &ast::Name,
        arguments: &[&ast::Expression],
        span: Span,
    ) -> Option<StatementKind> {
        let (target, by) = match arguments {
            [target] => (target, None),
            [target, by] => (target, Some(by)),
            _ => {
                self.wrong_count(&name.text, 2, arguments.len(), span, None);
                return None;
            }
        };
        let Some(designator) = as_designator(target) else {
            let message = format!("{} changes a variable", name.text);
            self.report(Diagnostic::new("variable-argument", target.span, message).label("a value"));
            return None;
        };
        let place = self.target(&designator);
        let by = match by {
            Some(by) => self.expression_of(by, &Type::Integer),
            None => Some(literal(ExpressionKind::Integer(1), span)),
        };
        let (place, by) = (place?, by?);
        if place.ty != Type::Integer || matches!(place.kind, PlaceKind::Guarded(_)) {
            let given = self.known.type_name(&place.ty);
            let message = format!("{} counts an INTEGER variable, not {given}", name.text);
            let error = Diagnostic::new("variable-argument", target.span, message);
            self.report(error.label(format!("is {given}")));
            return None;
        }
        if action == Action::Increase {
            return Some(StatementKind::Increase(place, by));
        }
        Some(match constant_integer(&by).and_then(i64::checked_neg) {
            Some(negative) => {
                StatementKind::Increase(place, literal(ExpressionKind::Integer(negative), by.span))
            }
            None => StatementKind::Decrease(place, by),
        })
    }
}
