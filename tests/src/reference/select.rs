//! SELECT: waits for the first of several things. It looks at all of them whenever anything happens anywhere, and takes
//! any of those that are there.

use std::rc::Rc;

use drystone_language::program::{Alternative, Block, InterfaceId, Pattern};
use drystone_language::source::Span;

use super::identity::Event;
use super::messages::{Patience, Use};
use super::monitor::Awaiter;
use super::outcome::Kind;
use super::process::{Process, Step, Stop};
use super::scope::Scope;

/// What a branch waits for, its designators evaluated.
enum Source<'p> {
    Arrival(Use, InterfaceId, Pattern),
    Other(&'p Alternative),
}

impl<'p> Process<'_, 'p> {
    /// Takes the message of a branch, if it is for one; gives its block.
    pub async fn select(
        &self,
        scope: &Rc<Scope>,
        alternatives: &'p [Alternative],
        span: Span,
    ) -> Step<&'p Block> {
        let mut deadline = None;
        for alternative in alternatives {
            if let Alternative::After(limit, _) = alternative {
                let limit = self.evaluate(scope, limit).await?.integer();
                deadline = Some(self.world.state.borrow().time.saturating_add(limit.max(0)));
            }
        }
        loop {
            let mut sources = Vec::new();
            for alternative in alternatives {
                sources.push(self.source(scope, alternative).await?);
            }
            let mut ready = Vec::new();
            for (index, source) in sources.iter().enumerate() {
                let is_there = match source {
                    Source::Other(Alternative::Await(condition, _)) => {
                        self.evaluate(scope, condition).await?.boolean()
                    }
                    Source::Other(_) => false,
                    Source::Arrival(..) => self.has_come(source, span).await?,
                };
                ready.extend(is_there.then_some(index));
            }
            if !ready.is_empty() {
                let chosen = ready[self.world.state.borrow_mut().random.below(ready.len())];
                return self.take(scope, &alternatives[chosen], &sources[chosen]).await;
            }
            self.refuse_to_wait(&sources, span).await?;
            if deadline.is_some_and(|deadline| self.world.state.borrow().time >= deadline) {
                let is_time = |it: &&Alternative| matches!(it, Alternative::After(..));
                return Ok(alternatives.iter().find(is_time).expect("it has a deadline").block());
            }
            self.wait_for_one(scope, &sources, deadline, span).await?;
        }
    }

    async fn source(&self, scope: &Rc<Scope>, alternative: &'p Alternative) -> Step<Source<'p>> {
        let Alternative::Arrival(channel, branch) = alternative else {
            return Ok(Source::Other(alternative));
        };
        let used = self.channel(scope, channel, branch.span).await?;
        let pattern = branch.message.map_or(Pattern::Finish, Pattern::Message);
        Ok(Source::Arrival(used, channel.interface, pattern))
    }

    async fn has_come(&self, source: &Source<'p>, span: Span) -> Step<bool> {
        match source {
            &Source::Arrival(used, interface, pattern) => {
                self.test_over(used, interface, pattern, Patience::AsksNow, span).await
            }
            Source::Other(_) => Ok(false),
        }
    }

    async fn take(
        &self,
        scope: &Rc<Scope>,
        alternative: &'p Alternative,
        source: &Source<'p>,
    ) -> Step<&'p Block> {
        if let (
            &Source::Arrival(used, interface, Pattern::Message(message)),
            Alternative::Arrival(_, branch),
        ) = (source, alternative)
        {
            self.receive_over(scope, used, interface, message, &branch.targets, branch.span).await?;
        }
        Ok(alternative.block())
    }

    /// A message that no branch takes is an error, and so is a wait for what can't come.
    async fn refuse_to_wait(&self, sources: &[Source<'p>], span: Span) -> Step<()> {
        let mut may_come = sources.iter().any(|source| matches!(source, Source::Other(_)));
        for source in sources {
            let &Source::Arrival(used, interface, _) = source else { continue };
            if self.has_come(&Source::Arrival(used, interface, Pattern::Any), span).await? {
                return Err(self.fail(Kind::ProtocolViolation, span));
            }
            may_come |= !self.has_come(&Source::Arrival(used, interface, Pattern::Finish), span).await?;
        }
        match sources.first() {
            _ if may_come => Ok(()),
            Some(&Source::Arrival(Use::Service(id), ..)) if self.is_left(id) => Err(self.stop()),
            _ => Err(self.fail(Kind::ProtocolViolation, span)),
        }
    }

    /// Waits until one of them may be there. If one is a condition, the lock is given up meanwhile.
    async fn wait_for_one(
        &self,
        scope: &Rc<Scope>,
        sources: &[Source<'p>],
        deadline: Option<i64>,
        span: Span,
    ) -> Result<(), Stop> {
        let conditions: Vec<_> = sources
            .iter()
            .filter_map(|source| match source {
                Source::Other(Alternative::Await(condition, _)) => Some(condition),
                _ => None,
            })
            .collect();
        if conditions.is_empty() {
            self.wait_for_anything(deadline).await;
            return Ok(());
        }
        let mode = self.held_lock().expect("checked: AWAIT stands in a block with the lock");
        for condition in conditions {
            let awaiter = Awaiter { process: self.id, mode, scope: scope.clone(), condition };
            self.world.state.borrow_mut().monitor(self.instance).awaiting.push(awaiter);
        }
        self.unlock();
        while self.held_lock().is_none() {
            self.wait_for_anything(deadline).await;
            let mut is_there = deadline.is_some_and(|deadline| self.world.state.borrow().time >= deadline);
            for source in sources {
                is_there |= self.has_come(source, span).await?;
            }
            if is_there {
                self.stop_awaiting(mode);
            }
        }
        Ok(())
    }

    async fn wait_for_anything(&self, deadline: Option<i64>) {
        match deadline.filter(|&deadline| self.world.state.borrow().time < deadline) {
            Some(deadline) => self.wait_until(Event::Anything, deadline).await,
            None => self.wait(Event::Anything).await,
        }
    }
}
