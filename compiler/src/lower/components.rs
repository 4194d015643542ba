//! Containers, and the components in them: made, deleted, moved, sent and received.

use drystone_component::Kind;
use drystone_language::program::*;
use drystone_language::source::Span;
use drystone_runtime::layout::Fault;

use super::Lower;
use super::places::Target;
use super::temporaries::TextValue;
use crate::entries;
use crate::mir::{Address, Base, Inst, Op, Reg, RegType, Symbol, Terminator};

impl Lower<'_, '_> {
    /// The component in a container, which must not be empty.
    pub(super) fn instance_in(&mut self, place: &Place) -> Reg {
        let target = self.prepare(place);
        self.instance_at(place, target)
    }

    /// The same, for a place that has been prepared.
    pub(super) fn instance_at(&mut self, place: &Place, target: Target) -> Reg {
        let instance = self.load_target(&target, &place.ty, place.span);
        self.code.drop_target(&target);
        let at = self.location(place.span);
        self.code.inst(Inst::Require(instance, Fault::EmptyContainer, at));
        if let PlaceKind::Guarded(_) = place.kind {
            let fits = self.has_type(instance, &place.ty, place.span);
            self.code.inst(Inst::Require(fits, Fault::WrongType, at));
        }
        instance
    }

    fn has_type(&mut self, instance: Reg, ty: &Type, span: Span) -> Reg {
        let at = self.location_register(span);
        match ty {
            Type::Component(template) => {
                let template = self.code.symbol(Symbol::Template(*template));
                self.code.call(&entries::IS, vec![instance, template, at])
            }
            Type::Any(any) => {
                let any = self.code.symbol(Symbol::Any(any.clone()));
                self.code.call(&entries::CONFORMS, vec![instance, any, at])
            }
            _ => unreachable!("a guard names a component type"),
        }
    }

    pub(super) fn conforms(&mut self, place: &Place, any: AnyType) -> Reg {
        let instance = self.instance_in(place);
        self.has_type(instance, &Type::Any(any), place.span)
    }

    pub(super) fn requires(&mut self, place: &Place, facets: &[Facet]) -> Reg {
        let instance = self.instance_in(place);
        let any = AnyType { offers: Vec::new(), requires: Some(facets.to_vec()) };
        let any = self.code.symbol(Symbol::Any(any));
        let at = self.location_register(place.span);
        self.code.call(&entries::REQUIRES, vec![instance, any, at])
    }

    /// `EXISTS(x)`
    pub(super) fn exists(&mut self, place: &Place) -> Reg {
        if place.ty.is_component() {
            let instance = self.held_in(place);
            return self.code.call(&entries::EXISTS, vec![instance]);
        }
        let target = self.prepare(place);
        let cell = self.find(&target);
        self.code.drop_target(&target);
        let zero = self.code.int(0);
        self.code.op(Op::NotEqual, cell, zero)
    }

    /// `FAULT(x)`
    pub(super) fn fault(&mut self, place: &Place) -> TextValue {
        let instance = self.held_in(place);
        let fault = self.code.call(&entries::FAULT, vec![instance]);
        self.code.keep(fault)
    }

    /// The instance that a container holds, dead or alive; null if there is none, or no such element.
    fn held_in(&mut self, place: &Place) -> Reg {
        let target = self.prepare(place);
        if !matches!(target, Target::Element { .. } | Target::Named(_)) {
            return self.load_target(&target, &place.ty, place.span);
        }
        let cell = self.find(&target);
        self.code.drop_target(&target);
        let held = self.code.snapshot(cell);
        let zero = self.code.int(0);
        let there = self.code.op(Op::NotEqual, cell, zero);
        let (load, done) = (self.code.new_block(), self.code.new_block());
        self.code.end(Terminator::Branch { condition: there, yes: load, no: done });
        self.code.start(load);
        let instance =
            self.code.load(Address { base: Base::Reg(cell), offset: 0, byte: false }, RegType::Int);
        self.code.inst(Inst::Copy { to: held, from: instance });
        self.code.go(done);
        self.code.start(done);
        held
    }

    /// The address of a container, which must be there.
    pub(super) fn container(&mut self, target: &Target, span: Span) -> Reg {
        match target {
            Target::Memory(address) => self.code.address(*address),
            Target::Element { .. } | Target::Named(_) => self.find_present(target, span),
            Target::Register(_) | Target::Character(..) | Target::Field(..) | Target::Item(..) => {
                unreachable!("a component lies in memory")
            }
        }
    }

    /// The address of a container; an absent element is made.
    pub(super) fn container_or_make(&mut self, target: &Target, span: Span) -> Reg {
        match target {
            Target::Element { .. } | Target::Named(_) => self.find_or_make(target, span),
            _ => self.container(target, span),
        }
    }

    /// The holder of components in a container: the instance, or this process.
    pub(super) fn holder(&mut self, place: &Place, target: &Target) -> Reg {
        let variable = self.unit.variable(place.variable());
        let instance = self.code.own_instance();
        if matches!(variable.owner, Owner::Component(_)) {
            return instance;
        }
        let process = self.code.base(Base::Process);
        let one = self.code.int(1);
        let holder = self.code.op(Op::Or, process, one);
        if variable.parameter != Some(Passing::Reference) {
            return holder;
        }
        let variable = match target {
            Target::Named(word) => self.code.variable_behind(*word),
            _ => self.container(target, place.span),
        };
        let size = match self.scope.template {
            Some(template) => self.code.int(self.unit.layouts.instances[template.index()].size as i64),
            None => self.code.call(&entries::INSTANCE_SIZE, vec![instance]),
        };
        let distance = self.code.op(Op::Subtract, variable, instance);
        let inside = self.code.op(Op::LessUnsigned, distance, size);
        let (replace, done) = (self.code.new_block(), self.code.new_block());
        self.code.end(Terminator::Branch { condition: inside, yes: replace, no: done });
        self.code.start(replace);
        self.code.inst(Inst::Copy { to: holder, from: instance });
        self.code.go(done);
        self.code.start(done);
        holder
    }

    pub(super) fn new_component(&mut self, place: &Place, template: ComponentId) {
        let target = self.prepare(place);
        let container = self.container_or_make(&target, place.span);
        let holder = self.holder(place, &target);
        let template = self.code.symbol(Symbol::Template(template));
        let at = self.location(place.span);
        let number = self.code.int(at as i64);
        self.code.suspending_call(&entries::NEW, vec![container, template, holder, number], at);
        self.code.drop_target(&target);
    }

    pub(super) fn delete_component(&mut self, place: &Place, span: Span) {
        let mut target = self.prepare(place);
        self.hold_target(&mut target);
        let instance = self.load_target(&target, &place.ty, place.span);
        self.require_component(instance, place.span);
        let at = self.location(span);
        let number = self.code.int(at as i64);
        self.code.suspending_call(&entries::DELETE, vec![instance, number], at);
        self.empty(&target);
        self.code.drop_target(&target);
    }

    /// Faults if there is no component, or if a fault has ended it.
    fn require_component(&mut self, instance: Reg, span: Span) {
        let exists = self.code.call(&entries::EXISTS, vec![instance]);
        let at = self.location(span);
        self.code.inst(Inst::Require(exists, Fault::EmptyContainer, at));
    }

    /// Empties a container whose component is gone: a dynamic element is removed, any other container becomes null.
    fn empty(&mut self, target: &Target) {
        match target {
            Target::Element { variable, collection, keys } if !self.is_array(*variable) => {
                self.remove(*variable, *collection, keys);
            }
            Target::Named(word) => self.code.empty_named(*word),
            Target::Element { .. } => {
                let cell = self.find(target);
                let (clear, done) = (self.code.new_block(), self.code.new_block());
                self.code.end(Terminator::Branch { condition: cell, yes: clear, no: done });
                self.code.start(clear);
                let zero = self.code.int(0);
                self.code.store(Address { base: Base::Reg(cell), offset: 0, byte: false }, zero);
                self.code.go(done);
                self.code.start(done);
            }
            Target::Memory(address) => {
                let zero = self.code.int(0);
                self.code.store(*address, zero);
            }
            Target::Register(_) | Target::Character(..) | Target::Field(..) | Target::Item(..) => {
                unreachable!("a component lies in memory")
            }
        }
    }

    pub(super) fn move_component(&mut self, from: &Place, to: &Place) {
        let mut source = self.prepare(from);
        self.hold_target(&mut source);
        let target = self.prepare(to);
        if matches!(from.kind, PlaceKind::Guarded(_)) {
            self.instance_in(from);
        }
        let present = self.container(&source, from.span);
        let instance =
            self.code.load(Address { base: Base::Reg(present), offset: 0, byte: false }, RegType::Int);
        self.require_component(instance, from.span);
        let at = self.location(to.span);
        let to_container = self.container_or_make(&target, to.span);
        let from_container = self.container(&source, from.span);
        let holder = self.holder(to, &target);
        let number = self.code.int(at as i64);
        self.code.suspending_call(&entries::MOVE, vec![from_container, to_container, holder, number], at);
        if matches!(source, Target::Element { .. } | Target::Named(_)) {
            self.empty(&source);
        }
        self.code.drop_target(&source);
        self.code.drop_target(&target);
    }

    /// Takes a component out of its container, to be sent; it is owned by a temporary then.
    pub(super) fn depart(&mut self, place: &Place) -> u32 {
        if matches!(place.kind, PlaceKind::Guarded(_)) {
            self.instance_in(place);
        }
        let target = self.prepare(place);
        let container = self.container(&target, place.span);
        let at = self.location(place.span);
        let number = self.code.int(at as i64);
        let instance = self.code.suspending_call(&entries::DEPART, vec![container, number], at);
        let slot = self.code.take_slot(Kind::Component);
        let address = self.code.slot(slot);
        self.code.store(address, instance);
        if matches!(target, Target::Element { .. } | Target::Named(_)) {
            self.empty(&target);
        }
        self.code.drop_target(&target);
        slot
    }

    /// Puts a received component, owned by a temporary, into its container.
    pub(super) fn arrive(&mut self, target: &Target, place: &Place, slot: u32) {
        let container = self.container_or_make(target, place.span);
        let holder = self.holder(place, target);
        let address = self.code.slot(slot);
        let instance = self.code.load(address, RegType::Int);
        let at = self.location(place.span);
        let number = self.code.int(at as i64);
        self.code.suspending_call(&entries::ARRIVE, vec![instance, container, holder, number], at);
        self.code.take_from_slot(slot, Kind::Component);
    }

    /// Offset of an offered slot, if the static type is a template.
    pub(super) fn offered_offset(&self, ty: &Type, interface: InterfaceId) -> Option<u32> {
        let Type::Component(id) = ty else { return None };
        let component = &self.unit.program.components[id.index()];
        let index = component.offers.iter().position(|facet| facet.interface == interface)?;
        Some(self.unit.layouts.instances[id.index()].offered[index])
    }

    pub(super) fn required_offset(&self, ty: &Type, interface: InterfaceId) -> Option<u32> {
        let Type::Component(id) = ty else { return None };
        let component = &self.unit.program.components[id.index()];
        let index = component.requires.iter().position(|facet| facet.interface == interface)?;
        component.requires[index]
            .cardinality
            .is_none()
            .then(|| self.unit.layouts.instances[id.index()].required[index])
    }

    pub(super) fn find_offered(&mut self, instance: Reg, interface: InterfaceId, span: Span) -> Reg {
        let interface = self.code.symbol(Symbol::Interface(interface));
        let at = self.location_register(span);
        self.code.call(&entries::FIND_OFFERED, vec![instance, interface, at])
    }

    pub(super) fn find_required(&mut self, instance: Reg, interface: InterfaceId, k: Reg, span: Span) -> Reg {
        let interface = self.code.symbol(Symbol::Interface(interface));
        let location = self.location(span);
        let at = self.code.int(location as i64);
        self.code.suspending_call(&entries::FIND_REQUIRED, vec![instance, interface, k, at], location)
    }
}
