//! Connections: to components, and to names.

use drystone_language::program::*;
use drystone_language::source::Span;

use super::Lower;
use super::places::Target;
use super::temporaries::TextValue;
use crate::entries;
use crate::mir::{EntryPoint, Op, Reg, Symbol};

/// An end of a connection, whose indices have been evaluated.
struct End {
    /// Which of several connections, if the program says so.
    k: Option<Reg>,
    /// The place of the component, if it is not the own one.
    target: Option<Target>,
}

impl Lower<'_, '_> {
    /// Evaluates the indices of an end. Slots are found once the indices of both ends are known, because evaluating
    /// them may delete components.
    fn prepare_end(&mut self, end: &ConnectEnd) -> End {
        match end {
            ConnectEnd::Of { component, index, .. } => {
                let k = index.as_ref().map(|index| self.value(index)).map(|k| self.code.snapshot(k));
                let mut target = self.prepare(component);
                self.hold_target(&mut target);
                End { k, target: Some(target) }
            }
            ConnectEnd::OwnRequired(_, k) => {
                let k = k.as_ref().map(|k| self.value(k)).map(|k| self.code.snapshot(k));
                End { k, target: None }
            }
            ConnectEnd::OwnOffered(_) => End { k: None, target: None },
        }
    }

    /// The slot that a connection starts from.
    fn required_end(&mut self, end: &ConnectEnd, prepared: End, span: Span) -> Reg {
        let k = prepared.k;
        match end {
            ConnectEnd::Of { component, interface, .. } => {
                let target = prepared.target.expect("the place of a component was prepared");
                let instance = self.instance_at(component, target);
                match (k, self.required_offset(&component.ty, *interface)) {
                    (None, Some(offset)) => self.code.add(instance, offset),
                    (k, _) => {
                        let k = k.unwrap_or_else(|| self.code.int(1));
                        self.find_required(instance, *interface, k, span)
                    }
                }
            }
            ConnectEnd::OwnOffered(index) => {
                let inward = self.unit.layouts.instances[self.scope.component().index()].inward[*index];
                let instance = self.code.own_instance();
                self.code.add(
                    instance,
                    inward.expect("an interface that is connected inward has no implementation"),
                )
            }
            ConnectEnd::OwnRequired(index, _) => self.own_required(*index, k, span),
        }
    }

    pub(super) fn own_required(&mut self, index: usize, k: Option<Reg>, span: Span) -> Reg {
        let facet = &self.unit.program.components[self.scope.component().index()].requires[index];
        let instance = self.code.own_instance();
        if facet.cardinality.is_none() {
            let offset = self.unit.layouts.instances[self.scope.component().index()].required[index];
            return self.code.add(instance, offset);
        }
        let k = k.unwrap_or_else(|| self.code.int(1));
        self.find_required(instance, facet.interface, k, span)
    }

    /// The slot that a connection or a name leads to: an offered one, or a required one with bit 0 set.
    fn offered_end(&mut self, end: &ConnectEnd, prepared: End, span: Span) -> Reg {
        match end {
            ConnectEnd::Of { component, interface, .. } => {
                let target = prepared.target.expect("the place of a component was prepared");
                let instance = self.instance_at(component, target);
                match self.offered_offset(&component.ty, *interface) {
                    Some(offset) => self.code.add(instance, offset),
                    None => self.find_offered(instance, *interface, span),
                }
            }
            ConnectEnd::OwnRequired(index, _) => {
                let slot = self.own_required(*index, prepared.k, span);
                let one = self.code.int(1);
                self.code.op(Op::Or, slot, one)
            }
            ConnectEnd::OwnOffered(_) => unreachable!("an own offered interface is a first argument"),
        }
    }

    fn offered_interface(&self, end: &ConnectEnd) -> InterfaceId {
        match end {
            ConnectEnd::Of { interface, .. } => *interface,
            ConnectEnd::OwnRequired(index, _) => {
                self.unit.program.components[self.scope.component().index()].requires[*index].interface
            }
            ConnectEnd::OwnOffered(_) => unreachable!("an own offered interface is a first argument"),
        }
    }

    pub(super) fn connect(
        &mut self,
        from: &ConnectEnd,
        to: &ConnectEnd,
        by: Option<&Expression>,
        span: Span,
    ) {
        let (first, second) = (self.prepare_end(from), self.prepare_end(to));
        let by = by.map(|by| self.held_text(by));
        let slot = self.required_end(from, first, span);
        let target = self.offered_end(to, second, span);
        let location = self.location(span);
        let at = self.code.int(location as i64);
        let Some(by) = by else {
            self.code.suspending_call(&entries::CONNECT, vec![slot, target, at], location);
            return;
        };
        let interface = self.leaving_interface(self.offered_interface(to));
        self.code.suspending_call(&entries::CONNECT_BY, vec![slot, target, interface, by.reg, at], location);
        self.code.drop_text(by);
    }

    pub(super) fn bind(
        &mut self,
        required: &ConnectEnd,
        interface: InterfaceId,
        name: &Expression,
        by: &Expression,
        span: Span,
    ) {
        let prepared = self.prepare_end(required);
        let (name, by) = (self.held_text(name), self.held_text(by));
        let slot = self.required_end(required, prepared, span);
        self.by_name(&entries::BIND, slot, interface, name, by, span);
    }

    pub(super) fn export(
        &mut self,
        offered: &ConnectEnd,
        interface: InterfaceId,
        name: &Expression,
        by: &Expression,
        span: Span,
    ) {
        let prepared = self.prepare_end(offered);
        let (name, by) = (self.held_text(name), self.held_text(by));
        let target = self.offered_end(offered, prepared, span);
        self.by_name(&entries::EXPORT, target, interface, name, by, span);
    }

    fn by_name(
        &mut self,
        entry: &'static EntryPoint,
        end: Reg,
        interface: InterfaceId,
        name: TextValue,
        by: TextValue,
        span: Span,
    ) {
        let interface = self.leaving_interface(interface);
        let location = self.location(span);
        let at = self.code.int(location as i64);
        self.code.suspending_call(entry, vec![end, interface, name.reg, by.reg, at], location);
        self.code.drop_text(by);
        self.code.drop_text(name);
    }

    /// `NEW(place) AT domain`
    pub(super) fn new_component_at(
        &mut self,
        place: &Place,
        template: ComponentId,
        domain: &Expression,
        by: &Expression,
    ) {
        let mut target = self.prepare(place);
        self.hold_target(&mut target);
        let (domain, by) = (self.held_text(domain), self.held_text(by));
        let container = self.container_or_make(&target, place.span);
        let holder = self.holder(place, &target);
        let component = &self.unit.program.components[template.index()];
        let facets = component.offers.iter().chain(&component.requires);
        self.unit.leaving.extend(facets.map(|facet| facet.interface));
        let template = self.code.symbol(Symbol::Template(template));
        let at = self.location(place.span);
        let number = self.code.int(at as i64);
        let arguments = vec![container, template, holder, domain.reg, by.reg, number];
        self.code.suspending_call(&entries::NEW_AT, arguments, at);
        self.code.drop_text(by);
        self.code.drop_text(domain);
        self.code.drop_target(&target);
    }

    /// An interface whose messages may leave the program.
    pub(super) fn leaving_interface(&mut self, interface: InterfaceId) -> Reg {
        self.unit.leaving.insert(interface);
        self.code.symbol(Symbol::Interface(interface))
    }

    /// A text that stays as it is until it is dropped.
    fn held_text(&mut self, text: &Expression) -> TextValue {
        let text = self.text(text);
        self.code.own(text)
    }

    pub(super) fn disconnect(&mut self, end: &ConnectEnd, span: Span) {
        let prepared = self.prepare_end(end);
        let slot = self.required_end(end, prepared, span);
        let location = self.location(span);
        let at = self.code.int(location as i64);
        self.code.suspending_call(&entries::DISCONNECT, vec![slot, at], location);
    }
}
