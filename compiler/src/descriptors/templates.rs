//! Descriptions of component templates.

use std::mem::{offset_of, size_of};

use cranelift_module::{DataId, Linkage, Module};
use drystone_component as model;
use drystone_language::program::{self as checked, ComponentId, Program};

use super::blob::Blob;
use super::{BodyCode, Descriptors};
use crate::classify::BodyKey;
use crate::composites::responder;
use crate::layout::{self, Layouts};
use crate::mir::LocationId;

impl Descriptors {
    pub(super) fn declare_template(&mut self, module: &mut impl Module, id: ComponentId) -> DataId {
        module
            .declare_data(&format!("ds_template_{}", id.0), Linkage::Local, false, false)
            .expect("declared the same way each time")
    }

    /// Defines a template with its bodies.
    pub(crate) fn template(
        &mut self,
        module: &mut impl Module,
        program: &Program,
        layouts: &Layouts,
        id: ComponentId,
        bodies: &[BodyCode],
        location: LocationId,
    ) {
        use model::Template as T;
        let component = &program.components[id.index()];
        let instance = &layouts.instances[id.index()];
        let mut blob = Blob::new(size_of::<T>());
        self.string(module, &mut blob, offset_of!(T, name), &component.name);
        blob.u32(offset_of!(T, location), location);
        blob.u32(offset_of!(T, size), instance.size);
        blob.put(offset_of!(T, isolated), &[component.isolated as u8]);
        blob.put(offset_of!(T, virtual_time), &[component.virtual_time as u8]);
        let index_of =
            |key: BodyKey| bodies.iter().position(|body| body.key == key).map_or(T::NO_BODY, |i| i as u32);
        let offered =
            self.offered(module, program, instance, id, |number| index_of(BodyKey::Service(id, number)));
        blob.table(offset_of!(T, offered), offered, component.offers.len());
        let required = self.required(module, program, instance, component);
        blob.table(offset_of!(T, required), required, component.requires.len());
        let entries: Vec<Blob> =
            bodies.iter().map(|body| self.body(module, program, component, body)).collect();
        let table = self.array(module, size_of::<model::Body>(), entries);
        blob.table(offset_of!(T, bodies), table, bodies.len());
        blob.u32(offset_of!(T, main), index_of(BodyKey::Main(id)));
        blob.u32(offset_of!(T, finally), index_of(BodyKey::Finally(id)));
        blob.u32(offset_of!(T, main_process), instance.main_process);
        let owned = layout::owned_by_instance(program, layouts, component);
        self.owned_table(module, program, &mut blob, offset_of!(T, owned), &owned);
        let data = self.declare_template(module, id);
        self.fill(module, data, blob);
    }

    fn offered(
        &mut self,
        module: &mut impl Module,
        program: &Program,
        instance: &layout::InstanceLayout,
        id: ComponentId,
        body_of: impl Fn(usize) -> u32,
    ) -> Option<DataId> {
        let component = &program.components[id.index()];
        use model::Offered as O;
        let mut entries = Vec::new();
        for (index, facet) in component.offers.iter().enumerate() {
            let mut entry = Blob::new(size_of::<O>());
            let interface = self.interface(module, program, facet.interface);
            entry.pointer(offset_of!(O, interface), interface);
            entry.u32(offset_of!(O, offset), instance.offered[index]);
            let implementation = component.implementations.iter().position(|i| i.offered == index);
            entry.u32(offset_of!(O, body), implementation.map_or(O::INWARD, &body_of));
            entry.u32(offset_of!(O, inward), instance.inward[index].unwrap_or(0));
            let limit = facet.cardinality.and_then(|cardinality| cardinality.to);
            entry.u32(offset_of!(O, limit), limit.unwrap_or(u32::MAX));
            entry.put(offset_of!(O, connectable), &[instance.connectable[index] as u8]);
            let handler = implementation.filter(|number| component.implementations[*number].handler);
            let code = handler.map(|number| responder(program, id, number)).unwrap_or_default();
            self.bytes(module, &mut entry, offset_of!(O, handler), &code);
            if let Some((begin, words)) = instance.kept {
                entry.u32(offset_of!(O, kept), begin);
                entry.u32(offset_of!(O, kept_words), words);
            }
            entries.push(entry);
        }
        self.array(module, size_of::<O>(), entries)
    }

    fn required(
        &mut self,
        module: &mut impl Module,
        program: &Program,
        instance: &layout::InstanceLayout,
        component: &checked::Component,
    ) -> Option<DataId> {
        use model::Required as R;
        let mut entries = Vec::new();
        for (index, facet) in component.requires.iter().enumerate() {
            let mut entry = Blob::new(size_of::<R>());
            let interface = self.interface(module, program, facet.interface);
            entry.pointer(offset_of!(R, interface), interface);
            entry.u32(offset_of!(R, offset), instance.required[index]);
            let slots = facet.cardinality.map_or(0, |cardinality| cardinality.to.unwrap_or(u32::MAX).max(1));
            entry.u32(offset_of!(R, slots), slots);
            entries.push(entry);
        }
        self.array(module, size_of::<R>(), entries)
    }

    fn body(
        &mut self,
        module: &mut impl Module,
        program: &Program,
        component: &checked::Component,
        body: &BodyCode,
    ) -> Blob {
        use model::Body as B;
        let mut blob = Blob::new(size_of::<B>());
        blob.function(offset_of!(B, entry), body.entry);
        blob.u32(offset_of!(B, size), self.frames[body.cut].size);
        blob.u32(offset_of!(B, condition), body.shape.condition);
        blob.u32(offset_of!(B, frame), body.shape.frame);
        self.owned(module, program, &mut blob, offset_of!(B, owned), body.cut);
        if let Some(finally) = body.finally {
            blob.function(offset_of!(B, finally), finally);
        }
        if let BodyKey::Service(_, number) = body.key {
            let facet = &component.offers[component.implementations[number].offered];
            let interface = self.interface(module, program, facet.interface);
            blob.pointer(offset_of!(B, interface), interface);
        }
        blob
    }
}
