//! Sequences: their elements, and the statements that put elements in, take them out and sort them.

use crate::ast;
use crate::program::{
    Block, Builtin, Expression, ExpressionKind, Place, PlaceKind, Statement, StatementKind, Type, VariableId,
};
use crate::source::{Diagnostic, Span};

use super::body::BodyChecker;
use super::conversions::literal;
use super::places::as_designator;

impl BodyChecker<'_> {
    /// `[a, b, c]` with elements of that type.
    pub(super) fn list(
        &mut self,
        elements: &[ast::Expression],
        element: &Type,
        span: Span,
    ) -> Option<Expression> {
        let values: Vec<_> = elements.iter().map(|tree| self.expression_of(tree, element)).collect();
        let kind = ExpressionKind::List(values.into_iter().collect::<Option<_>>()?);
        Some(Expression { kind, ty: Type::Sequence(Box::new(element.clone())), span })
    }

    /// The same where no type is expected: that of the first element is.
    pub(super) fn list_alone(&mut self, elements: &[ast::Expression], span: Span) -> Option<Expression> {
        let Some((first, others)) = elements.split_first() else {
            let error = Diagnostic::new("sequence-type", span, "what does this sequence consist of?");
            self.report(
                error.label("empty").help("assign it to a variable: VARIABLE s: SEQUENCE OF INTEGER;"),
            );
            return None;
        };
        let first = self.expression(first)?;
        let ty = first.ty.clone();
        let rest: Vec<_> = others.iter().map(|tree| self.expression_of(tree, &ty)).collect();
        let mut values = vec![first];
        values.extend(rest.into_iter().collect::<Option<Vec<_>>>()?);
        Some(Expression { kind: ExpressionKind::List(values), ty: Type::Sequence(Box::new(ty)), span })
    }

    /// Refuses a whole collection where a sequence is assigned.
    pub(super) fn no_sequence(&mut self, target: &ast::Designator) -> Option<()> {
        let Some(id) = self.whole_collection(target) else { return Some(()) };
        let (name, ty) = (&target.name.text, self.known.type_name(&self.variable(id).ty));
        let message = format!("{name} is a collection, and this is a sequence");
        let error = Diagnostic::new("type-mismatch", target.span, message);
        let error = error.note(self.variable(id).span, "declared here");
        self.report(
            error.help(format!(
                "declare it {name}: SEQUENCE OF {ty}, or assign its elements: {name}[1] := .."
            )),
        );
        None
    }

    /// The place of a sequence that a statement changes.
    pub(super) fn sequence_to_change(&mut self, name: &str, tree: &ast::Expression) -> Option<(Place, Type)> {
        let Some(designator) = as_designator(tree) else {
            let message = format!("{name} changes a variable");
            self.report(Diagnostic::new("variable-argument", tree.span, message).label("a value"));
            return None;
        };
        if let Some(id) = self.whole_collection(&designator) {
            let message = format!("{name} is for sequences, and {} is a collection", designator.name.text);
            let error = Diagnostic::new("argument-type", tree.span, message);
            let error = error.note(self.variable(id).span, "declared here");
            self.report(error.help("elements of a collection are assigned, and deleted by DELETE(a[i])"));
            return None;
        }
        let place = self.target(&designator)?;
        let Type::Sequence(element) = &place.ty else {
            let given = self.known.type_name(&place.ty);
            let message = format!("{name} changes a sequence, not {given}");
            let error = Diagnostic::new("argument-type", tree.span, message).label(format!("is {given}"));
            self.report(error.help("VARIABLE s: SEQUENCE OF INTEGER; declares one"));
            return None;
        };
        let element = (**element).clone();
        Some((place, element))
    }

    /// `APPEND(s, x)`
    pub(super) fn append(
        &mut self,
        name: &ast::Name,
        trees: &[&ast::Expression],
        span: Span,
    ) -> Option<StatementKind> {
        let [sequence, value] = trees else {
            self.wrong_count(&name.text, 2, trees.len(), span, None);
            return None;
        };
        let (place, element) = self.sequence_to_change(&name.text, sequence)?;
        Some(StatementKind::Insert(place, None, self.expression_of(value, &element)?))
    }

    /// `INSERT(s, i, x)`
    pub(super) fn insert(
        &mut self,
        name: &ast::Name,
        trees: &[&ast::Expression],
        span: Span,
    ) -> Option<StatementKind> {
        let [sequence, index, value] = trees else {
            self.wrong_count(&name.text, 3, trees.len(), span, None);
            return None;
        };
        let (place, element) = self.sequence_to_change(&name.text, sequence)?;
        let index = self.expression_of(index, &Type::Integer);
        let value = self.expression_of(value, &element)?;
        Some(StatementKind::Insert(place, Some(index?), value))
    }

    /// `REMOVE(s, i)`
    pub(super) fn remove(
        &mut self,
        name: &ast::Name,
        trees: &[&ast::Expression],
        span: Span,
    ) -> Option<StatementKind> {
        let [sequence, index] = trees else {
            self.wrong_count(&name.text, 2, trees.len(), span, None);
            return None;
        };
        let (place, _) = self.sequence_to_change(&name.text, sequence)?;
        Some(StatementKind::Remove(place, self.expression_of(index, &Type::Integer)?))
    }

    /// `SORT(s)`
    pub(super) fn sort(
        &mut self,
        name: &ast::Name,
        trees: &[&ast::Expression],
        span: Span,
    ) -> Option<StatementKind> {
        let [sequence] = trees else {
            self.wrong_count(&name.text, 1, trees.len(), span, None);
            return None;
        };
        let (place, element) = self.sequence_to_change(&name.text, sequence)?;
        if !has_order(&element) {
            let given = self.known.type_name(&element);
            let message = format!("elements of type {given} have no order");
            let error = Diagnostic::new("argument-type", sequence.span, message);
            self.report(error.help("SORT(x OF s, key) sorts by what is computed from each element x"));
            return None;
        }
        let read = self.read(place.clone())?;
        Some(StatementKind::Assign(place, sorted(read.clone(), read, span)))
    }

    /// `SORT(x OF s, key)`: collects the keys, and sorts by them.
    pub(super) fn sort_by(
        &mut self,
        element: &ast::Name,
        sequence: &ast::Designator,
        key: &ast::Expression,
        span: Span,
    ) -> Option<StatementKind> {
        let tree =
            ast::Expression { kind: ast::ExpressionKind::Designator(sequence.clone()), span: sequence.span };
        let (place, ty) = self.sequence_to_change("SORT", &tree)?;
        self.in_branch([(element.clone(), ty)], |checker, ids| {
            let each = checker.variable_place(ids[0], element.span);
            let key = checker.expression(key)?;
            if !has_order(&key.ty) {
                let given = checker.known.type_name(&key.ty);
                let message = format!("a key of type {given} has no order");
                let error = Diagnostic::new("argument-type", key.span, message).label(format!("is {given}"));
                checker.report(error.help("a key is an INTEGER, REAL, CHARACTER, BOOLEAN or TEXT"));
                return None;
            }
            let keys = Type::Sequence(Box::new(key.ty.clone()));
            let hidden = [hidden("sorted", place.ty.clone(), span), hidden("keys", keys, span)];
            checker.in_branch(hidden, |checker, ids| {
                let [whole, keys] = [0, 1].map(|index| checker.variable_place(ids[index], span));
                let read = checker.read(place.clone())?;
                let begin = StatementKind::Assign(whole.clone(), read);
                let collect = StatementKind::Insert(keys.clone(), None, key);
                let visit =
                    checker.visit(&whole, vec![each], vec![Statement { kind: collect, span }], span)?;
                let [sequence, by] = [checker.read(whole.clone())?, checker.read(keys.clone())?];
                let put = StatementKind::Assign(place, sorted(sequence, by, span));
                let ends = [emptied(whole), emptied(keys)];
                Some(together([begin, visit, put].into_iter().chain(ends), span))
            })
        })
    }

    /// `FOREACH i [, x] OF s DO .. END`: visits the elements that there are at the beginning.
    pub(super) fn foreach_item(
        &mut self,
        variables: &[ast::Designator],
        sequence: Place,
        body: &ast::Block,
        span: Span,
    ) -> Option<StatementKind> {
        let Type::Sequence(element) = &sequence.ty else { unreachable!("it is a sequence") };
        let types = [Type::Integer, (**element).clone()];
        let reported = self.reported();
        let places: Vec<_> = variables
            .iter()
            .enumerate()
            .map(|(k, tree)| self.loop_variable(tree, types.get(k).unwrap_or(&types[0])))
            .collect();
        if let [only] = variables {
            let name = &only.name.text;
            let help = format!(
                "declare it before BEGIN: VARIABLE {name}: INTEGER; it is the index. FOREACH i, {name} OF gives the \
                 elements, too"
            );
            self.explain(reported, "unknown-name", &help);
        }
        // The loops in its body have other variables.
        let own = [hidden("visited", sequence.ty.clone(), span), hidden("number", Type::Integer, span)];
        self.in_branch(own, |checker, ids| {
            let body = checker.loop_body(body);
            let places = places.into_iter().collect::<Option<Vec<_>>>()?;
            if !(1..=2).contains(&places.len()) {
                let message = format!("a sequence has one index, {} variables given", places.len());
                let error = Diagnostic::new("loop-variable", span, message);
                checker.report(error.help("a variable for the index, and perhaps one more for the element"));
                return None;
            }
            for ((place, ty), what) in places.iter().zip(&types).zip(["the index", "an element"]) {
                if place.ty != *ty {
                    let (wanted, given) = (checker.known.type_name(ty), checker.known.type_name(&place.ty));
                    let message = format!("{what} of this sequence is {wanted}, the variable is {given}");
                    let mut error = Diagnostic::new("loop-variable", place.span, message);
                    if let [only] = &places[..]
                        && only.ty == types[1]
                    {
                        error =
                            error.help("the index comes first: FOREACH i, x OF s, where x is the element");
                    }
                    checker.report(error.label(format!("is {given}")));
                    return None;
                }
            }
            let [whole, number] = [0, 1].map(|index| checker.variable_place(ids[index], span));
            let begin = StatementKind::Assign(whole.clone(), checker.read(sequence)?);
            let visit = checker.visit_all(&whole, number, places, body, span)?;
            Some(together([begin, visit, emptied(whole)], span))
        })
    }

    /// Visits each element of a sequence in a variable, which is assigned to the last of the places.
    fn visit(
        &mut self,
        whole: &Place,
        mut places: Vec<Place>,
        statements: Vec<Statement>,
        span: Span,
    ) -> Option<StatementKind> {
        let own = [hidden("place", Type::Integer, span), hidden("number", Type::Integer, span)];
        self.in_branch(own, |checker, ids| {
            let [place, number] = [0, 1].map(|index| checker.variable_place(ids[index], span));
            places.insert(0, place);
            checker.visit_all(whole, number, places, Block { lock: None, statements }, span)
        })
    }

    /// A loop over all indices, which `number` goes through; it assigns the index, and the element if there is a place
    /// for it.
    fn visit_all(
        &mut self,
        whole: &Place,
        number: Place,
        places: Vec<Place>,
        body: Block,
        span: Span,
    ) -> Option<StatementKind> {
        let Type::Sequence(element) = &whole.ty else { unreachable!("it is a sequence") };
        let index = self.read(number.clone())?;
        let item = PlaceKind::Item(Box::new(whole.clone()), Box::new(index.clone()));
        let item = Place { kind: item, ty: (**element).clone(), span };
        let values = [index, self.read(item)?];
        let assigned = places
            .into_iter()
            .zip(values)
            .map(|(place, value)| Statement { kind: StatementKind::Assign(place, value), span });
        let mut statements: Vec<Statement> = assigned.collect();
        statements.extend(body.statements);
        let count = ExpressionKind::Builtin(Builtin::Elements, vec![self.read(whole.clone())?]);
        let count = Expression { kind: count, ty: Type::Integer, span };
        let one = literal(ExpressionKind::Integer(1), span);
        let last = ExpressionKind::Builtin(Builtin::SubtractWrap, vec![count, one.clone()]);
        Some(StatementKind::For {
            variable: number,
            from: literal(ExpressionKind::Integer(0), span),
            to: Expression { kind: last, ty: Type::Integer, span },
            by: one,
            body: Block { lock: body.lock, statements },
        })
    }

    fn variable_place(&self, id: VariableId, span: Span) -> Place {
        Place { kind: PlaceKind::Variable(id), ty: self.variable(id).ty.clone(), span }
    }
}

/// A variable that the program can't name.
fn hidden(name: &str, ty: Type, span: Span) -> (ast::Name, Type) {
    (ast::Name { text: format!("({name})"), span }, ty)
}

fn sorted(sequence: Expression, keys: Expression, span: Span) -> Expression {
    let ty = sequence.ty.clone();
    Expression { kind: ExpressionKind::Builtin(Builtin::Sorted, vec![sequence, keys]), ty, span }
}

/// Lets a hidden variable hold its sequence no longer, which may be changed in its place then.
fn emptied(place: Place) -> StatementKind {
    let (ty, span) = (place.ty.clone(), place.span);
    let empty = Expression { kind: ExpressionKind::List(Vec::new()), ty, span };
    StatementKind::Assign(place, empty)
}

fn together(kinds: impl IntoIterator<Item = StatementKind>, span: Span) -> StatementKind {
    let statements = kinds.into_iter().map(|kind| Statement { kind, span }).collect();
    StatementKind::Block(Block { lock: None, statements })
}

/// Whether values of the type have an order.
fn has_order(ty: &Type) -> bool {
    matches!(ty, Type::Integer | Type::Real | Type::Character | Type::Boolean | Type::Text)
}
