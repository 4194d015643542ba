//! CASE over a value: its labels are constants, and no value has two branches.

use std::collections::{BTreeMap, HashMap};

use crate::ast;
use crate::program::{Block, Expression, ExpressionKind, Label, StatementKind, Type};
use crate::source::{Diagnostic, Span};

use super::body::BodyChecker;
use super::conversions::is_literal;

/// The labels so far.
#[derive(Default)]
struct Labels {
    /// The last number of each range, and its place, by its first number.
    numbers: BTreeMap<i64, (i64, Span)>,
    texts: HashMap<Vec<u8>, Span>,
}

impl Labels {
    /// Adds a label; gives the place of one that has a value in common with it.
    fn add(&mut self, label: &Label, span: Span) -> Option<Span> {
        match label {
            Label::Numbers(from, to) => {
                let below = self.numbers.range(..=to).next_back().filter(|(_, (last, _))| last >= from);
                let earlier = below.map(|(_, (_, span))| *span);
                self.numbers.entry(*from).or_insert((*to, span));
                earlier
            }
            Label::Text(text) => {
                let earlier = self.texts.get(text).copied();
                self.texts.entry(text.clone()).or_insert(span);
                earlier
            }
        }
    }
}

impl BodyChecker<'_> {
    /// `CASE value OF labels: block | .. ELSE block END`
    pub(super) fn case(
        &mut self,
        value: &ast::Expression,
        branches: &[(Vec<ast::Label>, ast::Block)],
        otherwise: Option<&ast::Block>,
        span: Span,
    ) -> Option<StatementKind> {
        let value = self.expression(value).and_then(|value| self.value_of_case(value));
        let mut known = Labels::default();
        let mut checked = Vec::new();
        for (labels, block) in branches {
            let labels: Vec<_> = labels
                .iter()
                .map(|label| {
                    let ty = &value.as_ref()?.ty;
                    self.label(label, ty, &mut known)
                })
                .collect();
            let labels: Option<Vec<Label>> = labels.into_iter().collect();
            checked.push(labels.zip(Some(self.block(block))));
        }
        let otherwise: Option<Block> = otherwise.map(|block| self.block(block));
        if branches.is_empty() {
            self.no_branches(span, "CASE n OF 1, 3..5: .. | 7: .. ELSE .. END");
            return None;
        }
        Some(StatementKind::Case(value?, checked.into_iter().collect::<Option<_>>()?, otherwise))
    }

    pub(super) fn no_branches(&mut self, span: Span, example: &str) {
        let error = Diagnostic::new("case-branches", span.word("CASE"), "this CASE has no branches");
        self.report(error.help(format!("write {example}")));
    }

    fn value_of_case(&mut self, value: Expression) -> Option<Expression> {
        if matches!(value.ty, Type::Integer | Type::Character | Type::Boolean | Type::Text) {
            return Some(value);
        }
        let given = self.known.type_name(&value.ty);
        let message = format!("CASE chooses by an INTEGER, CHARACTER, BOOLEAN or TEXT, not by a {given}");
        let error = Diagnostic::new("case-type", value.span, message).label(format!("is {given}"));
        self.report(error.help("write IF .. THEN .. ELSIF .. THEN .. ELSE .. END"));
        None
    }

    fn label(&mut self, tree: &ast::Label, ty: &Type, known: &mut Labels) -> Option<Label> {
        let from = self.constant_label(&tree.from, ty);
        let to = tree.to.as_ref().map(|to| self.constant_label(to, ty));
        let span = tree.to.as_ref().map_or(tree.from.span, |to| tree.from.span.to(to.span));
        let label = match (from?, to) {
            (ExpressionKind::Text(text), None) => Label::Text(text),
            (first, None) => Label::Numbers(number(&first)?, number(&first)?),
            (first, Some(last)) => self.range(number(&first), number(&last?), ty, span)?,
        };
        if let Some(earlier) = known.add(&label, span) {
            let error = Diagnostic::new("case-label", span, "this value has a branch already");
            self.report(error.label("a second branch").note(earlier, "the first branch is here"));
            return None;
        }
        Some(label)
    }

    fn range(&mut self, from: Option<i64>, to: Option<i64>, ty: &Type, span: Span) -> Option<Label> {
        if !matches!(ty, Type::Integer | Type::Character) {
            let message = format!("a label of type {} is one value, not a range", self.known.type_name(ty));
            self.report(Diagnostic::new("case-label", span, message).help("write each value: a, b"));
            return None;
        }
        let (from, to) = (from?, to?);
        if from > to {
            let error = Diagnostic::new("case-label", span, "this range is empty");
            self.report(error.label("ends before it begins").help("the smaller value comes first: 3..5"));
            return None;
        }
        Some(Label::Numbers(from, to))
    }

    fn constant_label(&mut self, tree: &ast::Expression, ty: &Type) -> Option<ExpressionKind> {
        let value = self.expression_of(tree, ty)?;
        if !is_literal(&value) {
            let error = Diagnostic::new("not-constant", value.span, "a label of CASE is a constant");
            let help = "labels are made of literals, constants and operators; else write IF";
            self.report(error.label("known only when the program runs").help(help));
            return None;
        }
        Some(value.kind)
    }
}

/// The number of a constant that is no TEXT.
fn number(constant: &ExpressionKind) -> Option<i64> {
    match constant {
        ExpressionKind::Integer(value) => Some(*value),
        ExpressionKind::Character(code) => Some((*code).into()),
        ExpressionKind::Boolean(value) => Some((*value).into()),
        _ => None,
    }
}
