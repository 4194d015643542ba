//! What is not known wholly, because something in it is wrong or depends on something wrong elsewhere. It is kept
//! from the checks that look at whole components, to which everything missing would look like another error.

use crate::program::{Block, ComponentId, InterfaceId};
use crate::source::Span;

use super::Checker;

impl<'a> Checker<'a> {
    /// Notes which interfaces have errors; the protocols of these cannot be followed.
    pub(super) fn find_faulty_interfaces(&mut self) {
        let mut errors: Vec<Span> = self.errors.iter().map(|error| error.span).collect();
        errors.sort();
        for declared in &self.interface_declarations {
            let whole = declared.tree.span;
            let first = errors.partition_point(|&error| error < Span { end: 0, ..whole });
            if errors[first..]
                .iter()
                .take_while(|error| error.start <= whole.end && error.file == whole.file)
                .any(|&error| contains(whole, error))
            {
                self.faulty_interfaces.insert(declared.id);
            }
        }
    }

    /// Something of the component around the present place is left out.
    pub(super) fn doubt(&mut self) {
        self.doubtful.extend(self.context.component);
    }

    /// Empties all components that are not known wholly. Others need to know no more of them than their headers.
    pub(super) fn leave_out_doubtful(&mut self) {
        let all = (0..self.components.len() as u32).map(ComponentId);
        let incomplete: Vec<ComponentId> = all.filter(|&id| self.is_doubtful(id)).collect();
        self.doubtful.extend(incomplete);
        let by_place = self.components_by_place();
        for error in &self.errors {
            self.doubtful.extend(self.component_around(&by_place, error.span));
        }
        for id in &self.doubtful {
            let component = &mut self.program.components[id.index()];
            (component.begin, component.activity, component.finally) = (None, None, None);
            component.implementations.clear();
        }
        for (procedure, declared) in self.program.procedures.iter_mut().zip(&self.procedures) {
            let doubtful = match procedure.component {
                Some(component) => self.doubtful.contains(&component),
                None => self.errors.iter().any(|error| contains(declared.tree.span, error.span)),
            };
            if doubtful {
                procedure.body = Block::default();
            }
        }
    }

    /// Whether a component lacks a part, or follows a protocol that is not known.
    fn is_doubtful(&self, id: ComponentId) -> bool {
        let (declared, component) = (&self.components[id.index()], &self.program.components[id.index()]);
        let mut interfaces = component.offers.iter().chain(&component.requires).map(|facet| facet.interface);
        declared.incomplete
            || declared.lost
            || interfaces.any(|id: InterfaceId| self.faulty_interfaces.contains(&id))
    }

    /// All components by where their text begins: those in others behind them.
    fn components_by_place(&self) -> Vec<(Span, ComponentId)> {
        let spans = self.components.iter().map(|declared| declared.tree.span);
        let mut all: Vec<_> = spans.zip((0..).map(ComponentId)).collect();
        all.sort_by_key(|(span, _)| (span.file, span.start));
        all
    }

    /// The innermost component in whose text a place is: the last that begins before it, or one around that.
    fn component_around(&self, by_place: &[(Span, ComponentId)], place: Span) -> Option<ComponentId> {
        let before =
            by_place.partition_point(|(span, _)| (span.file, span.start) <= (place.file, place.start));
        let mut next = by_place[..before].last().map(|&(_, id)| id);
        while let Some(id) = next {
            if contains(self.components[id.index()].tree.span, place) {
                return Some(id);
            }
            next = self.program.components[id.index()].outer;
        }
        None
    }
}

fn contains(whole: Span, part: Span) -> bool {
    whole.file == part.file && whole.start <= part.start && part.end <= whole.end
}
