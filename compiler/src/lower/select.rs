//! Waiting for the first of several things.

use drystone_language::source::Span;

use super::Lower;
use crate::entries;
use crate::mir::{Reg, RegType, Source, SuspensionOp};

impl Lower<'_, '_> {
    /// Waits for the first of several things, until a time, see [`SuspensionOp::Select`]; gives its index.
    pub(super) fn select_among(
        &mut self,
        sources: Vec<Source>,
        until: Option<Reg>,
        awaits: bool,
        span: Span,
    ) -> Reg {
        let to = self.code.reg(RegType::Int);
        let location = self.location(span);
        self.code.suspend(SuspensionOp::Select { sources, until, awaits, to }, location);
        to
    }

    /// When a wait is over that begins now and takes so many units of time at most.
    pub(super) fn time_limit(&mut self, limit: Reg, span: Span) -> Reg {
        let location = self.location(span);
        self.code.suspend(SuspensionOp::Home, location);
        self.code.call(&entries::LIMIT, vec![limit])
    }
}
