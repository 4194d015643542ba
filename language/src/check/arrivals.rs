//! CASE over what arrives: each branch takes a message and declares variables for its parameters, which live for that
//! branch. Whether the protocol lets those messages come there is checked by conformance.

use crate::ast;
use crate::program::{
    Arrival, Block, Channel, Expression, ExpressionKind, InterfaceId, Place, PlaceKind, Statement,
    StatementKind, Type, VariableId,
};
use crate::source::{Diagnostic, Span};

use super::body::BodyChecker;
use super::channels::{Act, End};

impl BodyChecker<'_> {
    /// `CASE channel? OF message(variables): block | FINISH: block .. ELSE block END`
    pub(super) fn arrivals(
        &mut self,
        channel: Option<&ast::Designator>,
        branches: &[(ast::Arrival, ast::Block)],
        otherwise: Option<&ast::Block>,
        span: Span,
    ) -> Option<StatementKind> {
        let channel = self.channel(channel, span.word("CASE"));
        let known = channel.as_ref().map(|(channel, end)| (channel.interface, *end));
        let mut checked: Vec<Option<Arrival>> = Vec::new();
        for (tree, block) in branches {
            let arrival = self.arrival(known, tree, block);
            let same = |earlier: &&Arrival| arrival.as_ref().is_some_and(|it| it.message == earlier.message);
            if let Some(earlier) = checked.iter().flatten().find(same) {
                let earlier = earlier.span;
                let error = Diagnostic::new("case-label", tree.span, "this has a branch already");
                self.report(error.label("a second branch").note(earlier, "the first branch is here"));
            }
            checked.push(arrival);
        }
        let otherwise = otherwise.map(|block| self.block(block));
        let branches = checked.into_iter().collect::<Option<Vec<_>>>()?;
        let (channel, _): (Channel, End) = channel?;
        if branches.iter().all(|branch| branch.message.is_none()) {
            self.no_branches(span, "CASE s? OF Value(x): .. | Failed: .. END");
            return None;
        }
        Some(StatementKind::Arrivals { channel, branches, otherwise })
    }

    /// A branch that takes a message, or stands for the end.
    pub(super) fn arrival(
        &mut self,
        known: Option<(InterfaceId, End)>,
        tree: &ast::Arrival,
        block: &ast::Block,
    ) -> Option<Arrival> {
        let name = match &tree.pattern {
            ast::Pattern::Message(name) => name,
            _ => {
                let block = self.block(block);
                return Some(Arrival { message: None, targets: Vec::new(), span: tree.span, block });
            }
        };
        self.different(&tree.variables);
        let found = known.and_then(|(interface, end)| {
            let message = self.message(interface, name, end, Act::Receive)?;
            let parameters = self.parameters(interface, message, tree.variables.len(), tree.span)?;
            Some((message, parameters))
        });
        let Some((message, parameters)) = found else {
            // What the branch does with its variables can't be judged.
            return None;
        };
        let variables = tree.variables.iter().cloned().zip(parameters.into_iter().map(|(_, ty)| ty));
        let variables: Vec<(ast::Name, Type)> = variables.collect();
        let places = variables.clone();
        self.in_branch(variables, |checker, ids| {
            let mut block = checker.block(block);
            checker.empty_at_end(ids, &mut block);
            let targets = places.into_iter().zip(ids).map(|((name, ty), &id)| Place {
                kind: PlaceKind::Variable(id),
                ty,
                span: name.span,
            });
            Some(Arrival { message: Some(message), targets: targets.collect(), span: tree.span, block })
        })
    }

    /// The variables of a branch have different names.
    fn different(&mut self, names: &[ast::Name]) {
        for (index, name) in names.iter().enumerate() {
            if let Some(earlier) = names[..index].iter().find(|earlier| earlier.text == name.text) {
                self.duplicate(name, earlier.span);
            }
        }
    }

    /// Lets a branch delete the components that its variables hold at its end.
    fn empty_at_end(&self, variables: &[VariableId], block: &mut Block) {
        let leaves = block
            .statements
            .last()
            .is_some_and(|last| matches!(last.kind, StatementKind::Exit | StatementKind::Return(_)));
        if !leaves {
            block.statements.extend(self.emptied(variables));
        }
    }

    /// A statement that leaves branches with these variables.
    pub(super) fn emptied_before(
        &self,
        variables: &[VariableId],
        leaving: StatementKind,
        span: Span,
    ) -> StatementKind {
        let mut statements = self.emptied(variables);
        if statements.is_empty() {
            return leaving;
        }
        statements.push(Statement { kind: leaving, span });
        StatementKind::Block(Block { lock: None, statements })
    }

    /// Deletes the components that variables hold, the last one first.
    fn emptied(&self, variables: &[VariableId]) -> Vec<Statement> {
        let containers = variables.iter().rev().map(|&id| (id, self.variable(id)));
        let containers = containers.filter(|(_, variable)| variable.ty.is_component());
        containers
            .map(|(id, variable)| {
                let span = variable.span;
                let place = Place { kind: PlaceKind::Variable(id), ty: variable.ty.clone(), span };
                let delete = Statement { kind: StatementKind::DeleteComponent(place.clone()), span };
                let is_full = Expression { kind: ExpressionKind::Exists(place), ty: Type::Boolean, span };
                let emptied = Block { lock: None, statements: vec![delete] };
                Statement { kind: StatementKind::If(vec![(is_full, emptied)], None), span }
            })
            .collect()
    }
}
