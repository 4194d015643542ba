//! SELECT: what its branches wait for. Whether the protocols let their messages come there is checked by conformance.

use crate::ast;
use crate::program::{
    Alternative, Arrival, Channel, ChannelKind, PlaceKind, StatementKind, Type, VariableId,
};
use crate::source::{Diagnostic, Span};

use super::body::BodyChecker;

/// A communication that a name alone tells from others.
#[derive(PartialEq)]
enum Known {
    Service,
    Required(usize),
    Held(VariableId, usize),
}

impl BodyChecker<'_> {
    /// `SELECT channel?message(variables): block | AWAIT(condition): block | AFTER limit: block END`
    pub(super) fn select(
        &mut self,
        branches: &[(ast::Alternative, ast::Block)],
        span: Span,
    ) -> Option<StatementKind> {
        let mut checked: Vec<Option<Alternative>> = Vec::new();
        let mut time = None;
        for (tree, block) in branches {
            let alternative = match tree {
                ast::Alternative::Arrival(channel, arrival) => {
                    self.arrives(channel.as_ref(), arrival, block, &checked)
                }
                ast::Alternative::Await(condition) => {
                    let condition = self.expression_of(condition, &Type::Boolean);
                    let block = self.block(block);
                    condition.map(|condition| Alternative::Await(condition, block))
                }
                ast::Alternative::After(limit) => {
                    if let Some(earlier) = time.replace(limit.span) {
                        let error =
                            Diagnostic::new("case-label", limit.span, "this SELECT has a time already");
                        self.report(error.label("a second time").note(earlier, "the first is here"));
                    }
                    let limit = self.expression_of(limit, &Type::Integer);
                    let block = self.block(block);
                    limit.map(|limit| Alternative::After(limit, block))
                }
            };
            checked.push(alternative);
        }
        let alternatives = checked.into_iter().collect::<Option<Vec<_>>>()?;
        if alternatives.iter().all(|it| matches!(it, Alternative::After(..))) {
            let error =
                Diagnostic::new("case-branches", span.word("SELECT"), "this SELECT waits for nothing");
            self.report(error.help("write SELECT a?Get(key): .. | AFTER 1000: .. END, or PASSIVATE(n)"));
            return None;
        }
        Some(StatementKind::Select(alternatives))
    }

    fn arrives(
        &mut self,
        channel: Option<&ast::Designator>,
        tree: &ast::Arrival,
        block: &ast::Block,
        earlier: &[Option<Alternative>],
    ) -> Option<Alternative> {
        let channel = self.channel(channel, tree.span);
        let known = channel.as_ref().map(|(channel, end)| (channel.interface, *end));
        let arrival = self.arrival(known, tree, block);
        let (channel, _) = channel?;
        let arrival = arrival?;
        if let Some(first) = earlier.iter().flatten().find_map(|it| same(it, &channel, &arrival)) {
            let error = Diagnostic::new("case-label", tree.span, "this has a branch already");
            self.report(error.label("a second branch").note(first, "the first branch is here"));
        }
        Some(Alternative::Arrival(channel, arrival))
    }
}

/// The place of another branch, if that is for the same message of the same communication.
fn same(other: &Alternative, channel: &Channel, arrival: &Arrival) -> Option<Span> {
    let Alternative::Arrival(others, other) = other else { return None };
    let is_same = known(others).is_some_and(|it| Some(it) == known(channel))
        && others.interface == channel.interface
        && other.message == arrival.message;
    is_same.then_some(other.span)
}

fn known(channel: &Channel) -> Option<Known> {
    match &channel.kind {
        ChannelKind::Service => Some(Known::Service),
        ChannelKind::Required(index, None) => Some(Known::Required(*index)),
        ChannelKind::Required(..) => None,
        ChannelKind::Held(place) => match place.kind {
            PlaceKind::Variable(id) => Some(Known::Held(id, channel.interface.index())),
            _ => None,
        },
    }
}
