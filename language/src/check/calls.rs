//! Calls as expressions: of procedures, of predeclared functions, and of types as conversions.

use crate::ast;
use crate::program::{
    Argument, Builtin, Expression, ExpressionKind, Passing, PlaceKind, ProcedureId, RecordId, Type,
    VariableId,
};
use crate::source::{Diagnostic, Span};

use super::body::BodyChecker;
use super::builtins::{builtin, whole};
use super::conversions::{convert, literal};
use super::expressions::COUNTED;
use super::places::as_designator;
use super::predeclared::{Basic, Extreme, Function, Predeclared};
use super::scopes::Found;
use super::symbols::Symbol;

impl BodyChecker<'_> {
    /// `Name(arguments)` as an expression.
    pub(super) fn call(&mut self, call: &ast::Call) -> Option<Expression> {
        let (symbol, declared) = self.symbol(&call.name)?;
        if let Symbol::Record(id) = symbol {
            return self.record(id, call);
        }
        if let Some((Some(label), _)) = call.arguments.iter().find(|(label, _)| label.is_some()) {
            let error =
                Diagnostic::new("named-argument", label.span, "the arguments of a function have no names");
            self.report(error.label("only the fields of records and the options after BY do"));
            return None;
        }
        let arguments: Vec<&ast::Expression> = call.arguments.iter().map(|(_, value)| value).collect();
        let span = call.span;
        match symbol {
            Symbol::Procedure(id) => self.function_call(id, &arguments, span),
            Symbol::Predeclared(predeclared) => match predeclared {
                Predeclared::Type(basic) => self.conversion(basic, &call.name, &arguments, span),
                Predeclared::Real(function) => {
                    let argument = self.fixed(&call.name, &arguments, &[Type::Real], span)?;
                    Some(builtin(function, argument, Type::Real, span))
                }
                Predeclared::Integer(function, operands) => {
                    let types = vec![Type::Integer; operands];
                    let arguments = self.fixed(&call.name, &arguments, &types, span)?;
                    Some(builtin(function, arguments, Type::Integer, span))
                }
                Predeclared::Extreme(extreme) => self.extreme(extreme, &call.name, &arguments, span),
                Predeclared::Function(function) => self.predeclared(function, &call.name, &arguments, span),
                Predeclared::Statement(_) => {
                    let message = format!("{} is a statement and gives no value", call.name.text);
                    self.report(Diagnostic::new("no-result", span, message).label("a value belongs here"));
                    None
                }
                Predeclared::Truth(_) | Predeclared::Pi => self.not_callable(&call.name, symbol, declared),
            },
            Symbol::Variable(_) | Symbol::Constant(_) | Symbol::Template(_) | Symbol::Record(_) => {
                self.not_callable(&call.name, symbol, declared)
            }
        }
    }

    pub(super) fn not_callable<T>(&mut self, name: &ast::Name, symbol: Symbol, declared: Span) -> Option<T> {
        let message = format!("{} is {} and cannot be called", name.text, symbol.describe());
        let error = Diagnostic::new("not-callable", name.span, message).label("called");
        self.report(error.note(declared, "declared here"));
        None
    }

    /// A call whose result is used.
    pub(super) fn function_call(
        &mut self,
        id: ProcedureId,
        arguments: &[&ast::Expression],
        span: Span,
    ) -> Option<Expression> {
        let arguments = self.arguments(id, arguments, span);
        let procedure = &self.known.program.procedures[id.index()];
        let Some(ty) = procedure.result.clone() else {
            if self.known.declared.procedures[id.index()].tree.result.is_none() {
                let message = format!("{} gives no value", procedure.name);
                let error = Diagnostic::new("no-result", span, message).label("a value belongs here");
                let help = format!("to give one, declare it PROCEDURE {}(..): Type", procedure.name);
                let declared = procedure.span;
                self.report(error.note(declared, "has no result type").help(help));
            }
            return None;
        };
        let kind = ExpressionKind::Call(id, arguments?);
        Some(Expression { kind, ty, span })
    }

    /// The arguments of a procedure, checked against its parameters.
    pub(super) fn arguments(
        &mut self,
        id: ProcedureId,
        trees: &[&ast::Expression],
        span: Span,
    ) -> Option<Vec<Argument>> {
        let procedure = &self.known.program.procedures[id.index()];
        let parameters = &procedure.parameters;
        if parameters.len() != trees.len() {
            self.wrong_count(&procedure.name, parameters.len(), trees.len(), span, Some(procedure.span));
            return None;
        }
        let pairs = parameters.iter().copied().zip(trees);
        let arguments: Vec<_> = pairs.map(|(parameter, tree)| self.argument(parameter, tree)).collect();
        let arguments = arguments.into_iter().collect::<Option<Vec<_>>>()?;
        (!self.known.gaps.procedures.contains(&id)).then_some(arguments)
    }

    /// Reports a wrong number of arguments.
    pub(super) fn wrong_count(
        &mut self,
        name: &str,
        wanted: usize,
        given: usize,
        span: Span,
        declared: Option<Span>,
    ) {
        let number = match wanted {
            0 => "no arguments".into(),
            1 => "1 argument".into(),
            n => format!("{n} arguments"),
        };
        let mut error =
            Diagnostic::new("argument-count", span, format!("{name} takes {number}, {given} given"));
        if let Some(declared) = declared {
            error = error.note(declared, "declared here");
        }
        self.report(error);
    }

    fn argument(&mut self, parameter: VariableId, tree: &ast::Expression) -> Option<Argument> {
        let variable = &self.known.program.variables[parameter.index()];
        let (name, ty, declared, passing) = (&variable.name, &variable.ty, variable.span, variable.parameter);
        let untyped = self.known.gaps.variables.contains(&parameter);
        let is_any_value = self.known.takes_any_value(parameter);
        if passing == Some(Passing::Value) {
            if is_any_value {
                return self.expression(tree).map(Argument::Value);
            }
            // A component as value parameter was reported where it is declared.
            if ty.is_component() {
                return None;
            }
            return match untyped {
                true => self.expression(tree).and(None),
                false => self.expression_of(tree, ty).map(Argument::Value),
            };
        }
        let Some(designator) = as_designator(tree) else {
            let error =
                Diagnostic::new("variable-argument", tree.span, "a VARIABLE parameter needs a variable");
            let error = error.label("a value").note(declared, format!("parameter {name}"));
            self.report(error.help("put the value into a variable and pass that"));
            return None;
        };
        let place = self.target(&designator)?;
        if untyped {
            return None;
        }
        let part = match place.kind {
            PlaceKind::Character(..) => Some("a character of a text"),
            PlaceKind::Field(..) => Some("a field of a record"),
            PlaceKind::Item(..) => Some("an element of a sequence"),
            _ => None,
        };
        if let Some(part) = part {
            let message = format!("{part} cannot be passed as VARIABLE");
            let error = Diagnostic::new("variable-argument", tree.span, message);
            let error = error.note(declared, format!("parameter {name}"));
            let wanted = self.known.type_name(ty);
            self.report(error.help(format!("pass a variable of type {wanted} and assign it back")));
            return None;
        }
        if is_any_value && place.ty.is_component() {
            let message = format!("{name} is a value, and a component is none");
            let error = Diagnostic::new("component-as-value", tree.span, message).label("a component");
            self.report(error.note(declared, format!("parameter {name}")));
            return None;
        }
        if is_any_value {
            return Some(Argument::Place(place));
        }
        if place.ty != *ty {
            let (wanted, given) = (self.known.type_name(ty), self.known.type_name(&place.ty));
            let message = format!("VARIABLE parameter {name} is {wanted}, the variable is {given}");
            let error = Diagnostic::new("variable-argument", tree.span, message).label(format!("is {given}"));
            let error = error.note(declared, format!("parameter {name}"));
            self.report(error.help("the variable itself is passed, so the types must be the same"));
            return None;
        }
        Some(Argument::Place(place))
    }

    /// Arguments of fixed types.
    pub(super) fn fixed(
        &mut self,
        name: &ast::Name,
        trees: &[&ast::Expression],
        types: &[Type],
        span: Span,
    ) -> Option<Vec<Expression>> {
        if trees.len() != types.len() {
            self.wrong_count(&name.text, types.len(), trees.len(), span, None);
            return None;
        }
        let pairs = trees.iter().zip(types);
        let arguments: Vec<_> = pairs.map(|(tree, ty)| self.expression_of(tree, ty)).collect();
        arguments.into_iter().collect()
    }

    fn predeclared(
        &mut self,
        function: Function,
        name: &ast::Name,
        trees: &[&ast::Expression],
        span: Span,
    ) -> Option<Expression> {
        let (chosen, types, ty): (_, &[Type], _) = match function {
            Function::Time => (Builtin::Time, &[], Type::Integer),
            Function::Length => (Builtin::Length, &[Type::Text], Type::Integer),
            Function::Random => (Builtin::Random, &[Type::Integer, Type::Integer], Type::Integer),
            Function::Slice => (Builtin::Slice, &[Type::Text, Type::Integer, Type::Integer], Type::Text),
            Function::Find => (Builtin::Find, &[Type::Text, Type::Text, Type::Integer], Type::Integer),
            Function::Number => return self.number(name, trees, span),
            Function::Count => return self.count(name, trees, span),
            Function::Fault => return self.fault(name, trees, span),
            Function::Await => {
                let mut arguments =
                    self.fixed(name, trees, &[Type::Boolean, Type::Integer], span)?.into_iter();
                let (condition, limit) = arguments.next().zip(arguments.next())?;
                let kind = ExpressionKind::Await(Box::new(condition), Box::new(limit));
                return Some(Expression { kind, ty: Type::Boolean, span });
            }
        };
        if let (Function::Slice, [sequence, from, n]) = (function, trees) {
            return self.slice(sequence, from, n, span);
        }
        if let (Function::Length, [tree]) = (function, trees)
            && let Some(designator) = as_designator(tree)
        {
            self.one_value("LENGTH is of a text", &designator)?;
        }
        let arguments = self.fixed(name, trees, types, span)?;
        Some(builtin(chosen, arguments, ty, span))
    }

    /// `SLICE(t, from, n)` of a text or a sequence.
    fn slice(
        &mut self,
        whole: &ast::Expression,
        from: &ast::Expression,
        n: &ast::Expression,
        span: Span,
    ) -> Option<Expression> {
        let whole = self.expression(whole);
        let from = self.expression_of(from, &Type::Integer);
        let (from, n) = (from, self.expression_of(n, &Type::Integer));
        let whole = whole?;
        let (function, whole) = match whole.ty {
            Type::Sequence(_) => (Builtin::Part, whole),
            _ => (Builtin::Slice, self.converted(whole, &Type::Text)?),
        };
        let ty = whole.ty.clone();
        Some(builtin(function, vec![whole, from?, n?], ty, span))
    }

    /// `NUMBER(t, x)`
    fn number(&mut self, name: &ast::Name, trees: &[&ast::Expression], span: Span) -> Option<Expression> {
        let [text, target] = trees else {
            self.wrong_count(&name.text, 2, trees.len(), span, None);
            return None;
        };
        let text = self.expression_of(text, &Type::Text);
        let place = match as_designator(target) {
            Some(designator) => self.target(&designator)?,
            None => {
                let error = Diagnostic::new("variable-argument", target.span, "NUMBER sets a variable");
                self.report(error.label("a value"));
                return None;
            }
        };
        if !matches!(place.ty, Type::Integer | Type::Real) {
            let given = self.known.type_name(&place.ty);
            let message = format!("NUMBER sets an INTEGER or REAL variable, not {given}");
            self.report(
                Diagnostic::new("variable-argument", target.span, message).label(format!("is {given}")),
            );
            return None;
        }
        let kind = ExpressionKind::Number(Box::new(text?), place);
        Some(Expression { kind, ty: Type::Boolean, span })
    }

    /// `FAULT(x)`
    fn fault(&mut self, name: &ast::Name, trees: &[&ast::Expression], span: Span) -> Option<Expression> {
        let [tree] = trees else {
            self.wrong_count(&name.text, 1, trees.len(), span, None);
            return None;
        };
        let Some(designator) = as_designator(tree) else {
            let error = Diagnostic::new("not-a-component", tree.span, "FAULT asks for a component");
            self.report(
                error.label("a value").help("FAULT(x) is the error that has ended the component in x"),
            );
            return None;
        };
        self.one_value("FAULT asks for one component", &designator)?;
        let place = self.component_place(&designator)?;
        Some(Expression { kind: ExpressionKind::Fault(place), ty: Type::Record(RecordId::FAULT), span })
    }

    /// `COUNT(required)`, or of a sequence
    fn count(&mut self, name: &ast::Name, trees: &[&ast::Expression], span: Span) -> Option<Expression> {
        let [tree] = trees else {
            self.wrong_count(&name.text, 1, trees.len(), span, None);
            return None;
        };
        match as_designator(tree) {
            Some(designator)
                if designator.bare().is_none_or(|name| self.is_sequence(name))
                    && self.whole_collection(&designator).is_none() =>
            {
                let sequence = self.expression(tree)?;
                self.elements(sequence, span)
            }
            Some(designator) if designator.bare().is_some() => {
                let name = designator.name;
                if let Some(declared) = self.only_a_variable(&name) {
                    let message = format!(
                        "COUNT is for a sequence or a required interface, and {} is neither",
                        name.text
                    );
                    let error = Diagnostic::new("not-required", tree.span, message);
                    let help = format!("LENGTH(t) is the length of a text; {COUNTED}");
                    self.report(error.note(declared, "declared here").help(help));
                    return None;
                }
                let (index, _) = self.own_required(&name)?;
                Some(Expression { kind: ExpressionKind::Count(index), ty: Type::Integer, span })
            }
            _ => {
                let sequence = self.expression(tree)?;
                self.elements(sequence, span)
            }
        }
    }

    /// Whether a name is that of a variable for sequences, and of nothing else that COUNT takes.
    fn is_sequence(&self, name: &ast::Name) -> bool {
        match self.variable_and_field(name) {
            Some(_) => true,
            None => self.variable_named(name).is_some_and(|id| {
                let variable = self.variable(id);
                variable.collection.is_none() && matches!(variable.ty, Type::Sequence(_))
            }),
        }
    }

    /// The number of elements of a sequence.
    fn elements(&mut self, sequence: Expression, span: Span) -> Option<Expression> {
        if !matches!(sequence.ty, Type::Sequence(_)) {
            let given = self.known.type_name(&sequence.ty);
            let message = format!("COUNT takes a sequence or a required interface, not {given}");
            let error = Diagnostic::new("not-required", sequence.span, message).label(format!("is {given}"));
            self.report(error.help("LENGTH(t) is the length of a text"));
            return None;
        }
        let kind = ExpressionKind::Builtin(Builtin::Elements, vec![sequence]);
        Some(Expression { kind, ty: Type::Integer, span })
    }

    /// The declaration of a variable of this name, unless a required interface has the name too.
    fn only_a_variable(&self, name: &ast::Name) -> Option<Span> {
        let component = &self.known.program.components[self.component()?.index()];
        match self.lookup(name) {
            Found::Symbol(Symbol::Variable(_), declared) => {
                self.known.facet_named(&component.requires, name).is_none().then_some(declared)
            }
            _ => None,
        }
    }

    /// `MIN(T)`, `MAX(T)`, `MIN(a, b)`, `MAX(a, b)`
    fn extreme(
        &mut self,
        extreme: Extreme,
        name: &ast::Name,
        trees: &[&ast::Expression],
        span: Span,
    ) -> Option<Expression> {
        let least = extreme == Extreme::Least;
        if let [tree] = trees
            && let Some(designator) = as_designator(tree)
            && let Some(name) = designator.bare()
            && let Some(ty) = self.type_by_name(name)
        {
            let kind = match ty {
                Type::Boolean => ExpressionKind::Boolean(!least),
                Type::Character => ExpressionKind::Character(if least { 0 } else { 255 }),
                Type::Integer => ExpressionKind::Integer(if least { i64::MIN } else { i64::MAX }),
                Type::Real => ExpressionKind::Real(if least { f64::MIN } else { f64::MAX }),
                _ => {
                    let message = format!("{} has no least and greatest value", name.text);
                    self.report(Diagnostic::new("argument-type", tree.span, message));
                    return None;
                }
            };
            return Some(literal(kind, span));
        }
        let [left, right] = trees else {
            self.wrong_count(&name.text, 2, trees.len(), span, None);
            return None;
        };
        let left = self.expression(left);
        let (left, right) = (left, self.expression(right));
        let (left, right) = (left?, right?);
        let whole = left.ty == Type::Integer && right.ty == Type::Integer;
        let ty = if whole { Type::Integer } else { Type::Real };
        let function = match (whole, least) {
            (true, true) => Builtin::MinInteger,
            (true, false) => Builtin::MaxInteger,
            (false, true) => Builtin::MinReal,
            (false, false) => Builtin::MaxReal,
        };
        let left = self.converted(left, &ty);
        let (left, right) = (left, self.converted(right, &ty));
        Some(builtin(function, vec![left?, right?], ty, span))
    }

    /// `CHARACTER(n)`, `INTEGER(x)`, `REAL(n)`, `TEXT(x)`
    fn conversion(
        &mut self,
        to: Basic,
        name: &ast::Name,
        trees: &[&ast::Expression],
        span: Span,
    ) -> Option<Expression> {
        let [tree] = trees else {
            self.wrong_count(&name.text, 1, trees.len(), span, None);
            return None;
        };
        let argument = self.expression(tree)?;
        let ty = to.ty();
        let mut argument = convert(argument, &ty);
        if argument.ty == ty {
            return Some(Expression { span, ..argument });
        }
        if to == Basic::Integer {
            argument = convert(argument, &Type::Character);
        }
        let function = match (&argument.ty, to) {
            (Type::Integer, Basic::Character) => Builtin::IntegerToCharacter,
            (Type::Character, Basic::Integer) => Builtin::CharacterToInteger,
            (Type::Boolean, Basic::Integer) => Builtin::BooleanToInteger,
            (Type::Real, Basic::Integer) => Builtin::RealToInteger,
            (Type::Integer, Basic::Text) => Builtin::IntegerToText,
            (Type::Real, Basic::Text) => Builtin::RealToText,
            (Type::Boolean, Basic::Text) => Builtin::BooleanToText,
            _ => {
                self.mismatch(&argument, &ty);
                return None;
            }
        };
        if function == Builtin::IntegerToCharacter
            && let ExpressionKind::Integer(code) = argument.kind
            && u8::try_from(code).is_err()
        {
            let message = format!("{code} is not the number of a character");
            self.report(Diagnostic::new("constant-overflow", span, message).help("characters are 0 to 255"));
            return None;
        }
        if function == Builtin::RealToInteger
            && let ExpressionKind::Real(value) = argument.kind
            && whole(value).is_none()
        {
            let error = Diagnostic::new("constant-overflow", span, "the value does not fit into an INTEGER");
            self.report(error.label("computed at compile time"));
            return None;
        }
        Some(builtin(function, vec![argument], ty, span))
    }
}
