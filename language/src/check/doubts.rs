//! Keeps definitions and bodies that are not wholly known, because of an error in them or elsewhere, from the checks
//! that look at whole components. To those, everything missing would look like another error.

use std::collections::HashSet;

use crate::program::{Block, ComponentId, InterfaceId};
use crate::source::Span;

use super::declarations::DeclaredInterface;
use super::definitions::Definitions;
use super::diagnostics::Diagnostics;

/// The interfaces with errors; their protocols cannot be followed.
pub(super) fn faulty_interfaces(
    declared: &[DeclaredInterface],
    diagnostics: &Diagnostics,
) -> HashSet<InterfaceId> {
    let mut errors: Vec<Span> = diagnostics.spans().collect();
    errors.sort();
    let is_faulty = |declared: &&DeclaredInterface| {
        let whole = declared.tree.span;
        let first = errors.partition_point(|&error| error < Span { end: 0, ..whole });
        errors[first..]
            .iter()
            .take_while(|error| error.start <= whole.end && error.file == whole.file)
            .any(|&error| contains(whole, error))
    };
    declared.iter().filter(is_faulty).map(|declared| declared.id).collect()
}

/// Empties the bodies of `doubtful` components and of all others that are not wholly known. No component needs to know
/// more of another one than its header.
pub(super) fn leave_out(
    definitions: &mut Definitions,
    mut doubtful: HashSet<ComponentId>,
    diagnostics: &Diagnostics,
) {
    let all = (0..definitions.declared.components.len() as u32).map(ComponentId);
    doubtful.extend(all.filter(|&id| is_doubtful(definitions, id)));
    let by_place = components_by_place(definitions);
    let around = |error| component_around(definitions, &by_place, error);
    doubtful.extend(diagnostics.spans().filter_map(around));
    let program = &mut definitions.program;
    for id in &doubtful {
        let component = &mut program.components[id.index()];
        (component.begin, component.activity, component.finally) = (None, None, None);
        component.implementations.clear();
    }
    for (procedure, declared) in program.procedures.iter_mut().zip(&definitions.declared.procedures) {
        let is_doubtful = match procedure.component {
            Some(component) => doubtful.contains(&component),
            None => diagnostics.spans().any(|error| contains(declared.tree.span, error)),
        };
        if is_doubtful {
            procedure.body = Block::default();
        }
    }
}

/// Whether a component lacks a part, or follows a protocol that is not known.
fn is_doubtful(known: &Definitions, id: ComponentId) -> bool {
    let component = &known.program.components[id.index()];
    let mut interfaces = component.offers.iter().chain(&component.requires).map(|facet| facet.interface);
    known.gaps.components.contains(&id)
        || known.declared.components[id.index()].lost
        || interfaces.any(|id| known.gaps.interfaces.contains(&id))
}

/// All components by where their text begins: those in others behind them.
fn components_by_place(known: &Definitions) -> Vec<(Span, ComponentId)> {
    let spans = known.declared.components.iter().map(|declared| declared.tree.span);
    let mut all: Vec<_> = spans.zip((0..).map(ComponentId)).collect();
    all.sort_by_key(|(span, _)| (span.file, span.start));
    all
}

/// The innermost component in whose text a place is: the last that begins before it, or one around that.
fn component_around(
    known: &Definitions,
    by_place: &[(Span, ComponentId)],
    place: Span,
) -> Option<ComponentId> {
    let before = by_place.partition_point(|(span, _)| (span.file, span.start) <= (place.file, place.start));
    let mut next = by_place[..before].last().map(|&(_, id)| id);
    while let Some(id) = next {
        if contains(known.declared.components[id.index()].tree.span, place) {
            return Some(id);
        }
        next = known.program.components[id.index()].outer;
    }
    None
}

fn contains(whole: Span, part: Span) -> bool {
    whole.file == part.file && whole.start <= part.start && part.end <= whole.end
}
